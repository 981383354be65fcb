#pragma once

// For a program that counts its allocations, since it replaces malloc; see allocations.cpp.

#include <gtest/gtest.h>

namespace bregmax::test {

long allocations();  // of the calling thread so far
bool counts_allocations();

class CountedAllocations : public testing::Test {
 protected:
  void SetUp() override {
    if (!counts_allocations()) GTEST_SKIP() << "counting needs the GNU C library";
  }
};

}  // namespace bregmax::test
