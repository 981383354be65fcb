#include "divergence/streaming.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace bregmax::internal {
namespace {

TEST(Streaming, WritesWhatThePlainLoopWrites) {
  const std::vector<double> values = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  std::vector<int> index(40);
  std::vector<double> source(40), addends(40);
  for (int i = 0; i < 40; ++i) {
    index[static_cast<std::size_t>(i)] = (i * 7) % 13;
    source[static_cast<std::size_t>(i)] = i - 20;
    addends[static_cast<std::size_t>(i)] = (i * 5) % 11;
  }
  for (const bool stream : {false, true}) {
    for (std::size_t offset = 0; offset < 9; ++offset) {  // every alignment within a cache line
      for (std::size_t count = 0; count <= 40; ++count) {
        std::vector<double> gathered(60, -1), added(60, -1);
        gather(values.data(), index.data(), static_cast<Index>(count), gathered.data() + offset, stream);
        add_and_clamp(source.data(), addends.data(), 2.5, static_cast<Index>(count), added.data() + offset, stream);
        finish_streaming();
        for (std::size_t i = 0; i < 60; ++i) {
          const bool written = i >= offset && i < offset + count;
          ASSERT_EQ(gathered[i], written ? values[static_cast<std::size_t>(index[i - offset])] : -1);
          ASSERT_EQ(added[i], written ? std::max(0.0, source[i - offset] + addends[i - offset] + 2.5) : -1);
        }
      }
    }
  }
}

}  // namespace
}  // namespace bregmax::internal
