#include "bregmax/divergence/closed_forms.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "bregmax/core/error.hpp"
#include "bregmax/divergence/mahalanobis.hpp"
#include "bregmax/divergence/smoothed_max_affine.hpp"

namespace bregmax {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

Vector vector_of(std::initializer_list<double> values) {
  Vector out(static_cast<Index>(values.size()));
  std::copy(values.begin(), values.end(), out.data());
  return out;
}

double value(const char* name, std::initializer_list<double> point, std::initializer_list<double> reference) {
  return make_closed_form(name)->value(vector_of(point), vector_of(reference));
}

TEST(ClosedForms, MatchNumbersWorkedOutByHand) {
  EXPECT_EQ(value("squared_euclidean", {1, 2}, {4, -2}), 25);
  // 0.5 log(0.5 / 0.25) + 0.5 log(0.5 / 0.75) = 0.5 log(4/3)
  EXPECT_NEAR(value("kl", {0.5, 0.5}, {0.25, 0.75}), 0.5 * std::log(4.0 / 3.0), 1e-15);
  EXPECT_NEAR(value("i_divergence", {2, 1}, {1, 3}), 2 * std::log(2.0) - 1 + std::log(1.0 / 3) + 2, 1e-14);
  EXPECT_NEAR(value("itakura_saito", {2, 3}, {1, 3}), 2 - std::log(2.0) - 1, 1e-15);
  EXPECT_NEAR(value("exponential", {1, 0}, {0, 0}), std::exp(1.0) - 2, 1e-15);
  // X = diag(2, 3), Y = I: tr 5, log det log 6, p 2.
  EXPECT_NEAR(value("logdet", {2, 0, 0, 3}, {1, 0, 0, 1}), 5 - std::log(6.0) - 2, 1e-14);
  // Y = [2 1; 1 2], X = I: Y^-1 = [2 -1; -1 2] / 3, tr 4/3, log det(X Y^-1) = -log 3.
  EXPECT_NEAR(value("logdet", {1, 0, 0, 1}, {2, 1, 1, 2}), 4.0 / 3 + std::log(3.0) - 2, 1e-14);
  Matrix metric(2, 2);
  metric << 1.5, 0.5, 0.5, 1.5;
  EXPECT_EQ(Mahalanobis(metric).value(vector_of({1, 1}), vector_of({0, -1})), 1.5 + 2 * 0.5 * 2 + 1.5 * 4);
}

// For close rows D is half the quadratic form of the Hessian, far below the rounding errors of phi itself.
TEST(ClosedForms, CloseRowsKeepTheirDigits) {
  const double h = std::ldexp(1.0, -30);  // 1 + h and 2 + h are exact
  EXPECT_NEAR(value("squared_euclidean", {1 + h}, {1}) / (h * h), 1, 1e-12);
  EXPECT_NEAR(value("i_divergence", {2 + h}, {2}) / (h * h / 4), 1, 1e-9);
  EXPECT_NEAR(value("itakura_saito", {2 + h}, {2}) / (h * h / 8), 1, 1e-9);
  EXPECT_NEAR(value("exponential", {h}, {0}) / (h * h / 2), 1, 1e-9);
  EXPECT_NEAR(value("logdet", {2 + h, 0, 0, 1}, {2, 0, 0, 1}) / (h * h / 8), 1, 1e-9);
}

TEST(ClosedForms, LogDetOfAlmostSingularPoints) {
  EXPECT_NEAR(value("logdet", {1e-30, 0, 0, 1}, {1, 0, 0, 1}), 30 * std::log(10.0) - 1, 1e-12);
}

TEST(ClosedForms, ExponentialDoesNotOverflowInside) {
  EXPECT_NEAR(value("exponential", {300}, {-300}) / std::exp(300.0), 1, 1e-13);
  // e^x is 0; left is -e^y - e^y (x - y), nearly e^y |x|.
  EXPECT_NEAR(value("exponential", {-1e100}, {300}) / (std::exp(300.0) * 1e100), 1, 1e-13);
}

TEST(ClosedForms, PointsOfKlMayHaveZerosReferencesMayNot) {
  EXPECT_NEAR(value("kl", {0, 1}, {0.5, 0.5}), std::log(2.0), 1e-15);
  EXPECT_THAT(([] {
                value("kl", {0.5, 0.5}, {1, 0});
              }),
              ThrowsMessage<Error>(HasSubstr("reference row 0, feature 1 is 0; kl takes references with entries > 0")));
  EXPECT_THAT(([] {
                value("kl", {0.5, 0.6}, {0.5, 0.5});
              }),
              ThrowsMessage<Error>(HasSubstr("point row 0 sums to 1.1")));
  EXPECT_NEAR(value("kl", {0.5, 0.5000009}, {0.5, 0.5}), 0, 1e-6) << "a sum of 1 up to 1e-6 is accepted";
}

TEST(ClosedForms, MessagesNameRowAndFeature) {
  Matrix rows(2, 2);
  rows << 1, 2, 3, 0;
  EXPECT_THAT(
      [&] { make_closed_form("itakura_saito")->check_points(rows); },
      ThrowsMessage<Error>(HasSubstr("point row 1, feature 1 is 0; itakura_saito takes points with entries > 0")));
  rows(1, 1) = -1;
  EXPECT_THAT([&] { make_closed_form("i_divergence")->check_points(rows); },
              ThrowsMessage<Error>(HasSubstr("point row 1, feature 1 is -1")));
  EXPECT_THAT(([] {
                value("logdet", {1, 0, 0, -1}, {1, 0, 0, 1});
              }),
              ThrowsMessage<Error>(HasSubstr("point row 0 is not a positive definite matrix")));
  EXPECT_THAT(([] {
                value("logdet", {1, 0.5, 0, 1}, {1, 0, 0, 1});
              }),
              ThrowsMessage<Error>(HasSubstr("not a symmetric")));
}

// Rows a million from the origin and one apart: the matrix form keeps the digits because it measures from the mean.
TEST(ClosedForms, MatrixOfFarAwayRowsKeepsItsDigits) {
  Matrix rows(3, 2);
  rows << 1e6, 1e6, 1e6 + 1, 1e6, 1e6, 1e6 + 2;
  Matrix expected(3, 3);
  expected << 0, 1, 4, 1, 0, 5, 4, 5, 0;
  EXPECT_LE((make_closed_form("squared_euclidean")->matrix(rows, rows) - expected).cwiseAbs().maxCoeff(), 1e-8);
  const Mahalanobis identity(Matrix::Identity(2, 2));
  EXPECT_LE((identity.matrix(rows, rows) - expected).cwiseAbs().maxCoeff(), 1e-8);
}

TEST(Mahalanobis, RefusesWhatIsNotPositiveSemidefinite) {
  EXPECT_THROW(Mahalanobis(Matrix(2, 3)), Error);
  EXPECT_THROW(Mahalanobis(Matrix(0, 0)), Error);
  Matrix matrix(2, 2);
  matrix << 1, 2, 2, 1;
  EXPECT_THAT([&] { Mahalanobis{matrix}; }, ThrowsMessage<Error>(HasSubstr("eigenvalue -")));
  matrix << 1, 0.5, 0.4, 1;
  EXPECT_THAT([&] { Mahalanobis{matrix}; }, ThrowsMessage<Error>(HasSubstr("not symmetric")));
  matrix << 1, NAN, NAN, 1;
  EXPECT_THROW(Mahalanobis{matrix}, Error);
  EXPECT_EQ(Mahalanobis(Matrix::Zero(2, 2)).value(vector_of({1, 2}), vector_of({3, 4})), 0);
}

TEST(Factory, KnowsItsNames) {
  for (const std::string& name : closed_form_names()) EXPECT_EQ(make_closed_form(name)->name(), name);
  EXPECT_THAT([] { make_closed_form("euclid"); },
              ThrowsMessage<Error>(HasSubstr("'euclid'; allowed: squared_euclidean, ")));
  EXPECT_EQ(make_max_affine(Matrix::Ones(1, 1), Vector::Ones(1), 0)->name(), "max_affine");
  EXPECT_EQ(make_max_affine(Matrix::Ones(1, 1), Vector::Ones(1), 1)->name(), "smoothed_max_affine");
}

}  // namespace
}  // namespace bregmax
