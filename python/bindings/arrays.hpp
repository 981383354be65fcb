#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <memory>
#include <utility>
#include <vector>

#include "bregmax/core/matrix.hpp"

namespace bregmax::python {

namespace nb = nanobind;

// Arguments are views of the caller's memory. The Python layer ensures their type and order, so nothing is copied here;
// they are bound with noconvert().
using Rows = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Numbers = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Integers = nb::ndarray<const int, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using RowNumbers = nb::ndarray<const std::int64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

inline Eigen::Map<const Matrix> view(const Rows& rows) {
  return {rows.data(), static_cast<Index>(rows.shape(0)), static_cast<Index>(rows.shape(1))};
}
inline Eigen::Map<const Vector> view(const Numbers& numbers) {
  return {numbers.data(), static_cast<Index>(numbers.shape(0))};
}
inline std::vector<int> copy(const Integers& integers) { return {integers.data(), integers.data() + integers.size()}; }

// Results own the memory that the library filled.
template <class Array, class Owner, class Data>
Array hand_over(Owner owned, Data data, std::initializer_list<std::size_t> shape) {
  auto kept = std::make_unique<Owner>(std::move(owned));
  nb::capsule owner(kept.get(),
                    [](void* pointer) noexcept { const std::unique_ptr<Owner> last(static_cast<Owner*>(pointer)); });
  return Array(data(*kept.release()), shape, owner);
}

using MatrixOut = nb::ndarray<nb::numpy, double, nb::ndim<2>>;
using VectorOut = nb::ndarray<nb::numpy, double, nb::ndim<1>>;

inline MatrixOut to_numpy(Matrix matrix) {
  const auto rows = static_cast<std::size_t>(matrix.rows()), columns = static_cast<std::size_t>(matrix.cols());
  return hand_over<MatrixOut>(std::move(matrix), [](Matrix& kept) { return kept.data(); }, {rows, columns});
}
inline VectorOut to_numpy(Vector vector) {
  const auto size = static_cast<std::size_t>(vector.size());
  return hand_over<VectorOut>(std::move(vector), [](Vector& kept) { return kept.data(); }, {size});
}
template <class Number>
nb::ndarray<nb::numpy, Number, nb::ndim<1>> to_numpy(std::vector<Number> numbers) {
  const std::size_t size = numbers.size();
  return hand_over<nb::ndarray<nb::numpy, Number, nb::ndim<1>>>(
      std::move(numbers), [](std::vector<Number>& kept) { return kept.data(); }, {size});
}

// The result of `work` as an array, computed without Python's lock.
template <class Work>
auto computed(const Work& work) {
  using Result = decltype(work());
  Result result = [&] {
    const nb::gil_scoped_release unlocked;
    return work();
  }();
  return to_numpy(std::move(result));
}

}  // namespace bregmax::python
