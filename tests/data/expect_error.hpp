#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "bregmax/core/error.hpp"

namespace bregmax::testing {

// The message of the Error that `action` throws; any other outcome fails the test.
template <class Action>
std::string error_of(Action action) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << "a message is one line";
    return error.what();
  }
  ADD_FAILURE() << "expected an Error";
  return "";
}

}  // namespace bregmax::testing
