#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "bregmax/core/error.hpp"
#include "bregmax/core/random.hpp"
#include "bregmax/divergence/mahalanobis.hpp"
#include "bregmax/methods/registry.hpp"
#include "methods/training_rows.hpp"

namespace bregmax {

struct LabelledRows {
  Matrix rows;
  ClassOfRow classes;
};

// `classes` clouds whose centres differ in the first feature only; the other features are noise of the given size.
inline LabelledRows noisy_clouds(Index count, Index features, int classes, double noise, std::uint64_t seed) {
  Random random(seed);
  LabelledRows data{Matrix(count, features), ClassOfRow(static_cast<std::size_t>(count))};
  for (Index i = 0; i < count; ++i) {
    const int row_class = static_cast<int>(i) % classes;
    data.classes[static_cast<std::size_t>(i)] = row_class;
    for (Index f = 0; f < features; ++f) data.rows(i, f) = (f == 0 ? 0.4 : noise) * random.normal();
    data.rows(i, 0) += 2 * row_class;
  }
  return data;
}

// The same rows in the order of their classes.
inline LabelledRows ordered(const LabelledRows& data) {
  auto [rows, classes] = internal::order_by_class(data.rows, data.classes);
  return {rows, classes};
}

inline Matrix random_matrix(Index rows, Index cols, std::uint64_t seed) {
  Random random(seed);
  Matrix out(rows, cols);
  for (double& x : out.reshaped()) x = random.normal();
  return out;
}

inline Learned learn(const std::string& method, const Matrix& rows, const MethodSupervision& supervision,
                     const MethodSettings& settings = {}, const RunControl& control = {}) {
  return learn_with(method_named(method), rows, supervision, settings, control);
}

// What the registry hands to a method: every parameter, those that are not given at their standard value.
inline MethodChoices choices_of(const std::string& name, const std::map<std::string, double>& given = {}) {
  const Method& method = method_named(name);
  MethodChoices choices{given, method.limits, 0};
  for (const MethodParameter& parameter : method.parameters) {
    choices.parameters.emplace(parameter.name, parameter.standard);
  }
  return choices;
}

inline void expect_refused(const std::string& method, const LabelledRows& data,
                           const std::map<std::string, double>& parameters, const char* message) {
  EXPECT_THAT([&] { learn(method, data.rows, data.classes, {.parameters = parameters}); },
              ::testing::ThrowsMessage<Error>(::testing::HasSubstr(message)));
}

// Of methods that take more than two iterations.
inline void expect_limits_and_stops(const std::string& method) {
  const LabelledRows data = noisy_clouds(90, 4, 3, 3, 1);
  const Learned limited = learn(method, data.rows, data.classes, {.max_iterations = 2});
  EXPECT_EQ(limited.report.status, Status::kIterationLimit);
  EXPECT_EQ(limited.report.iterations, 2);
  const std::atomic<bool> stop = true;
  RunControl control;
  control.stop = &stop;
  EXPECT_EQ(learn(method, data.rows, data.classes, {}, control).report.status, Status::kStopped);
}

inline const Matrix& metric_of(const Learned& learned) {
  return dynamic_cast<const Mahalanobis&>(*learned.divergence).metric();
}

}  // namespace bregmax
