#include "optimize/problem/feature_grid.hpp"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "bregmax/core/threads.hpp"
#include "optimize/problem/feature_products.hpp"

namespace bregmax::internal {
namespace {

constexpr double kRounding = 1e-12;

// Counts that leave every kind of remainder, and features beyond one group.
struct Shape {
  Index features, count;
};
const std::vector<Shape> kShapes = {{0, 5}, {1, 1}, {2, 3}, {3, 31}, {4, 32}, {5, 33}, {7, 64}, {10, 69}, {13, 501}};

FeatureRows rows_of(const Matrix& x) { return {x.data(), x.rows(), x.cols(), x.cols()}; }

TEST(FeatureProducts, AreThePlainSums) {
  for (const auto [features, count] : kShapes) {
    SCOPED_TRACE(::testing::Message() << features << " features, " << count << " locations");
    const Matrix x = Matrix::Random(features, count), left = Matrix::Random(features, count);
    const double rounding = kRounding * static_cast<double>(count);
    const Vector anchor = Vector::Random(features), v = Vector::Random(count);
    for (const Instructions use : {Instructions::kAny, best_instructions()}) {
      Matrix difference = Matrix::Constant(features, count, 7), weighted_difference = difference;
      weigh_differences(rows_of(x), anchor.data(), v.data(), {difference.data(), count},
                        {weighted_difference.data(), count}, use);
      EXPECT_EQ(difference, anchor.replicate(1, count) - x);
      EXPECT_EQ(weighted_difference, difference * v.asDiagonal());

      Matrix square = Matrix::Constant(features, features, 7);
      multiply_rows(rows_of(left), rows_of(x), square.data(), use);
      const Matrix expected = left * x.transpose();
      for (Index i = 0; i < features; ++i) {
        for (Index j = 0; j < features; ++j) {
          EXPECT_NEAR(square(i, j), j <= i ? expected(i, j) : 7, rounding);
        }
      }

      if (features == 0) continue;  // nothing to solve
      Matrix lower = Matrix::Random(features, features), solved = left;
      lower.diagonal().array() = lower.diagonal().array().abs() + 1;
      solve_rows(lower.data(), features, count, solved.data(), use);
      const Matrix back = lower.triangularView<Eigen::Lower>() * solved;
      EXPECT_LE((back - left).cwiseAbs().sum(), 1e-9 * (1 + solved.cwiseAbs().sum()));
    }
  }
}

// Pieces by twos, and one that is left over; rows of the grid that are longer than what is looked at.
TEST(FeatureProducts, OfSomePiecesAreThePlainSums) {
  for (const auto [features, count] : kShapes) {
    for (const Index pieces : {1, 2, 5}) {
      SCOPED_TRACE(::testing::Message() << features << " features, " << count << " locations, " << pieces << " pieces");
      const Index stride = count + 3;
      const double rounding = kRounding * static_cast<double>(count);
      const Matrix x = Matrix::Random(features, count), slopes = Matrix::Random(pieces, features);
      const Matrix weight = Matrix::Random(pieces, stride);
      const Vector shift = Vector::Random(pieces), base = Vector::Random(count);
      const PieceRows rows = {pieces, stride, slopes.data(), shift.data()};
      const Matrix products = slopes * x, weight_here = weight.leftCols(count);
      for (const Instructions use : {Instructions::kAny, best_instructions()}) {
        Matrix grid = Matrix::Constant(pieces, stride, 7);
        affine_rows(rows_of(x), rows, base.data(), grid.data(), use);
        Matrix expected = -products - shift.replicate(1, count) + base.transpose().replicate(pieces, 1);
        EXPECT_LE((grid.leftCols(count) - expected).cwiseAbs().sum(), rounding);
        EXPECT_TRUE((grid.rightCols(3).array() == 7).all());

        Vector of_piece = Vector::Ones(pieces), of_location = Vector::Ones(count);
        Matrix weighted = Matrix::Ones(pieces, features);
        const auto expect_sums = [&](const Matrix& values, bool has_locations, bool has_weighted) {
          EXPECT_LE((of_piece - Vector::Ones(pieces) - values.rowwise().sum()).lpNorm<1>(), rounding);
          if (has_locations) {
            EXPECT_LE((of_location - Vector::Ones(of_location.size()) - values.colwise().sum().transpose()).lpNorm<1>(),
                      rounding);
          }
          if (has_weighted) {
            EXPECT_LE((weighted - Matrix::Ones(pieces, weighted.cols()) - values * x.transpose()).cwiseAbs().sum(),
                      rounding * static_cast<double>(1 + weighted.cols()));
          }
          of_piece.setOnes();
          of_location.setOnes();
          weighted.setOnes();
        };
        sum_weighted_affine(rows_of(x), rows, weight.data(), {of_piece.data(), of_location.data(), nullptr}, use);
        expect_sums(weight_here.cwiseProduct(shift.replicate(1, count) - products), true, false);

        sum_rows(rows_of(x), rows, weight.data(), {of_piece.data(), of_location.data(), weighted.data()}, use);
        expect_sums(weight_here, true, true);

        sum_weighted_differences(rows_of(x), rows, weight.data(), base.data(),
                                 {of_piece.data(), nullptr, weighted.data()}, use);
        expect_sums(weight_here.cwiseProduct(base.transpose().replicate(pieces, 1) - shift.replicate(1, count)), false,
                    true);
      }
    }
  }
}

TEST(FeatureGrid, HasTheSumsOfTheWholeGrid) {
  // More locations than are looked at together, and fewer pieces than bands.
  for (const auto [pieces, locations, features] : {std::array<Index, 3>{3, 70, 2}, {40, 900, 60}, {17, 2500, 1}}) {
    SCOPED_TRACE(::testing::Message() << pieces << " pieces, " << locations << " locations");
    const Matrix x = Matrix::Random(locations, features), slopes = Matrix::Random(pieces, features);
    const Matrix weights = Matrix::Random(pieces, locations).cwiseAbs();
    const Vector shift = Vector::Random(pieces), base = Vector::Random(locations);
    FeatureGrid grid(x, pieces);
    const double rounding = kRounding * static_cast<double>(locations * features);

    const Matrix products = slopes * x.transpose();
    Matrix affine(pieces, locations);
    grid.affine(slopes.data(), shift, base, affine.data());
    EXPECT_LT(
        (affine - ((-products).rowwise() + base.transpose()) + shift.replicate(1, locations)).cwiseAbs().maxCoeff(),
        rounding);

    Vector of_piece(pieces), of_location(locations);
    Matrix weighted(pieces, features);
    Matrix v = weights.cwiseProduct(shift.replicate(1, locations) - products);
    grid.sum_weighted_affine(weights.data(), slopes.data(), shift, of_piece, of_location);
    EXPECT_LT((of_piece - v.rowwise().sum()).lpNorm<Eigen::Infinity>(), rounding);
    EXPECT_LT((of_location - v.colwise().sum().transpose()).lpNorm<Eigen::Infinity>(), rounding);

    grid.sum(v.data(), weighted.data(), of_piece, of_location);
    EXPECT_LT((weighted - v * x).cwiseAbs().maxCoeff(), rounding);
    EXPECT_LT((of_piece - v.rowwise().sum()).lpNorm<Eigen::Infinity>(), rounding);
    EXPECT_LT((of_location - v.colwise().sum().transpose()).lpNorm<Eigen::Infinity>(), rounding);

    v = weights.cwiseProduct(base.transpose().replicate(pieces, 1) - shift.replicate(1, locations));
    grid.sum_weighted_differences(weights.data(), base, shift, weighted.data(), of_piece);
    EXPECT_LT((weighted - v * x).cwiseAbs().maxCoeff(), rounding);
    EXPECT_LT((of_piece - v.rowwise().sum()).lpNorm<Eigen::Infinity>(), rounding);
  }
}

TEST(FeatureGrid, DoesNotDependOnTheNumberOfThreads) {
  constexpr Index kPieces = 300, kLocations = 400, kFeatures = 3;
  const Matrix x = Matrix::Random(kLocations, kFeatures), slopes = Matrix::Random(kPieces, kFeatures);
  const Matrix weights = Matrix::Random(kPieces, kLocations).cwiseAbs();
  const Vector shift = Vector::Random(kPieces), base = Vector::Random(kLocations);
  std::vector<std::vector<Matrix>> results;
  for (const int threads : {1, 3}) {
    const ThreadLimit limit(threads);
    FeatureGrid grid(x, kPieces);
    Matrix affine(kPieces, kLocations), weighted(kPieces, kFeatures), weighted_differences(kPieces, kFeatures);
    Vector of_piece(kPieces), of_location(kLocations);
    grid.affine(slopes.data(), shift, base, affine.data());
    std::vector<Matrix> result = {affine};
    grid.sum_weighted_affine(weights.data(), slopes.data(), shift, of_piece, of_location);
    result.insert(result.end(), {of_piece, of_location});
    grid.sum(affine.data(), weighted.data(), of_piece, of_location);
    result.insert(result.end(), {weighted, of_piece, of_location});
    grid.sum_weighted_differences(weights.data(), base, shift, weighted_differences.data(), of_piece);
    result.insert(result.end(), {weighted_differences, of_piece});
    results.push_back(std::move(result));
  }
  for (std::size_t i = 0; i < results[0].size(); ++i) EXPECT_EQ(results[0][i], results[1][i]) << i;
}

}  // namespace
}  // namespace bregmax::internal
