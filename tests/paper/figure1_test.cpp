#include "paper/figure1.hpp"

#include <gmock/gmock.h>

#include <cmath>

namespace bregmax {
namespace {

TEST(Figure1, PiecesTouchTheQuadraticFromBelow) {
  const QuadraticPanel panel = approximate_quadratic(5);
  EXPECT_EQ(panel.knots.size(), 5);
  for (Index i = 0; i < panel.x.size(); ++i) {
    EXPECT_LE(panel.max_affine(i), panel.quadratic(i) + 1e-12);
    // Between knots h apart the largest error of tangents is (h / 2)^2.
    if (std::abs(panel.x(i)) <= 1) {
      EXPECT_LE(panel.quadratic(i) - panel.max_affine(i), 0.25 * 0.25 + 1e-12);
    }
  }
  EXPECT_THAT(quadratic_as_csv(panel), ::testing::StartsWith("x,quadratic,max_affine\n-1.2,1.44,1.4\n"));
}

TEST(Figure1, FilesNameEveryPoint) {
  Figure1 figure;
  figure.circle = {{10, 0, 0, 0, 0}, {130, 1, 2, 3, 1}, {250, 2, 2, 0, 2}};
  figure.a = 0;
  EXPECT_EQ(circle_as_csv(figure),
            "angle,class,is_a,pbdl_x_to_a,pbdl_a_to_x,itml\n10,0,1,0,0,0\n130,1,0,2,3,1\n250,2,0,2,0,2\n");
  // D(A, x) leaves one of the two other points tied with A's own class.
  EXPECT_THAT(figure1_as_text(figure), ::testing::HasSubstr("PBDL, D(A, x)  0.7500"));
}

}  // namespace
}  // namespace bregmax
