#include "methods/hold_out.hpp"

#include "bregmax/data/split.hpp"
#include "bregmax/data/table.hpp"
#include "core/checks.hpp"
#include "methods/item_folds.hpp"
#include "methods/training_rows.hpp"

namespace bregmax::internal {
namespace {

constexpr int kHeldOutPart = 5;  // one of so many is held out
constexpr std::uint64_t kHeldOutStream = 4;

HeldOut hold_out_rows(const MatrixView& rows, const ClassOfRow& class_of_row, const std::vector<double>& weights,
                      std::uint64_t seed) {
  require(rows.rows() >= kHeldOutPart, "early stopping holds out a fifth of the rows; there are {}", rows.rows());
  Random random = Random(seed).fork(kHeldOutStream);
  const Split split = stratified_folds(class_of_row, kHeldOutPart, random).front();
  HeldOut parts{Matrix(rows(split.train, Eigen::all)),  Matrix(rows(split.test, Eigen::all)),
                select_rows(class_of_row, split.train), select_rows(class_of_row, split.test),
                select_weights(weights, split.train),   select_weights(weights, split.test)};
  try {
    check_labels(std::get<ClassOfRow>(parts.train), parts.train_rows->rows(), true);
    check_labels(std::get<ClassOfRow>(parts.held_out), parts.rows->rows(), true);
    check_row_weights(parts.train_weights, parts.train, parts.train_rows->rows());
    check_row_weights(parts.weights, parts.held_out, parts.rows->rows());
  } catch (const Error& error) {
    fail("early stopping holds out a fifth of the rows, which is too few here: {}", error.what());
  }
  return parts;
}

}  // namespace

HeldOut hold_out(const MatrixView& rows, const MethodSupervision& supervision, const std::vector<double>& row_weights,
                 std::uint64_t seed) {
  if (const auto* classes = std::get_if<ClassOfRow>(&supervision)) {
    return hold_out_rows(rows, *classes, row_weights, seed);
  }
  const Index items = item_count(supervision);
  require(items >= kHeldOutPart,
          "early stopping holds out a fifth of the supervision, which has {}; at least {} are needed", items,
          kHeldOutPart);
  SplitItems split = item_folds(items_of(supervision), kHeldOutPart, seed, 1).front();
  return {{}, {}, as_method_supervision(std::move(split.train)), as_method_supervision(std::move(split.held_out))};
}

}  // namespace bregmax::internal
