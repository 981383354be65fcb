// Any bytes either make a model that survives a round trip or are refused with an Error.

#include <cstdint>
#include <cstdlib>
#include <string>

#include "bregmax/core/error.hpp"
#include "bregmax/model/model.hpp"
#include "model/container.hpp"

namespace {

void read_and_write(const std::string& bytes) {
  bregmax::Model model;
  try {
    model = bregmax::deserialize_model(bytes, "fuzz");
  } catch (const bregmax::Error&) {
    return;
  }
  const std::string written = bregmax::serialize_model(model);
  if (bregmax::serialize_model(bregmax::deserialize_model(written, "fuzz")) != written) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string bytes(reinterpret_cast<const char*>(data), size);
  read_and_write(bytes);
  // With the right length and checksum, so that the mutations reach what lies behind them.
  bytes.resize((size + 7) / 8 * 8, ' ');
  bregmax::internal::seal(bytes);
  read_and_write(bytes);
  return 0;
}
