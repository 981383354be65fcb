#include "methods/hold_out.hpp"

#include "bregmax/data/split.hpp"
#include "core/checks.hpp"
#include "methods/item_folds.hpp"
#include "methods/training_rows.hpp"

namespace bregmax::internal {
namespace {

constexpr int kHeldOutPart = 5;  // one of so many is held out
constexpr std::uint64_t kHeldOutStream = 4;

ClassOfRow classes_of(const ClassOfRow& class_of_row, const std::vector<Index>& rows) {
  ClassOfRow classes;
  classes.reserve(rows.size());
  for (const Index row : rows) classes.push_back(class_of_row[row]);
  return classes;
}

HeldOut hold_out_rows(const MatrixView& rows, const ClassOfRow& class_of_row, std::uint64_t seed) {
  require(rows.rows() >= kHeldOutPart, "early stopping holds out a fifth of the rows; there are {}", rows.rows());
  Random random = Random(seed).fork(kHeldOutStream);
  const Split split = stratified_folds(class_of_row, kHeldOutPart, random).front();
  HeldOut parts{rows(split.train, Eigen::all), rows(split.test, Eigen::all), classes_of(class_of_row, split.train),
                classes_of(class_of_row, split.test)};
  try {
    check_labels(std::get<ClassOfRow>(parts.train), parts.train_rows.rows(), true);
    check_labels(std::get<ClassOfRow>(parts.held_out), parts.rows.rows(), true);
  } catch (const Error& error) {
    fail("early stopping holds out a fifth of the rows, which is too few here: {}", error.what());
  }
  return parts;
}

}  // namespace

HeldOut hold_out(const MatrixView& rows, const MethodSupervision& supervision, std::uint64_t seed) {
  if (const auto* classes = std::get_if<ClassOfRow>(&supervision)) return hold_out_rows(rows, *classes, seed);
  const Index items = item_count(supervision);
  require(items >= kHeldOutPart,
          "early stopping holds out a fifth of the supervision, which has {}; at least {} are needed", items,
          kHeldOutPart);
  SplitItems split = item_folds(items_of(supervision), kHeldOutPart, seed, 1).front();
  return {rows, rows, as_method_supervision(std::move(split.train)), as_method_supervision(std::move(split.held_out))};
}

}  // namespace bregmax::internal
