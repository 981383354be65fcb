// The calls that python_benchmark.py makes through Python, made from C++: the same data, the same options, one process.
// Prints the processor seconds of each repetition, one per line.
//
//   python_reference fit LAMBDA REPETITIONS                             on builtin:wine, from all pairs
//   python_reference divergence MODEL POINTS.npy REFERENCES.npy REPETITIONS
#include <fmt/format.h>

#include <ctime>
#include <string>
#include <vector>

#include "bregmax/core/blas_kernels.hpp"
#include "bregmax/core/error.hpp"
#include "bregmax/data/builtin.hpp"
#include "bregmax/learn/run.hpp"
#include "bregmax/model/model.hpp"

namespace {

using namespace bregmax;

template <class Work>
void time_it(int repetitions, const Work& work) {
  for (int repetition = 0; repetition < repetitions; ++repetition) {
    const std::clock_t begin = std::clock();
    work();
    fmt::print("{}\n", static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC);
  }
}

void time_fit(double lambda, int repetitions) {
  const Table wine = load_builtin("wine");
  FitRequest request;
  request.parameters["lambda"] = lambda;
  time_it(repetitions, [&] { fit(request, {wine.features, wine.labels->of_row}); });
}

void time_divergence(const std::vector<std::string>& arguments) {
  const Model model = load_model(arguments[0]);
  const Table points = read_table(arguments[1], {"none", ""}), references = read_table(arguments[2], {"none", ""});
  time_it(std::stoi(arguments[3]), [&] {
    const Matrix scaled_points = model.scaling.apply(points.features);
    const Matrix scaled_references = model.scaling.apply(references.features);
    const Matrix divergences = model.divergence->matrix(scaled_points, scaled_references);
    if (!(divergences(0, 0) >= 0)) throw Error("a divergence is negative");
  });
}

}  // namespace

int main(int count, char** values) {
  bregmax::restart_with_better_blas_kernels(values);
  const std::vector<std::string> arguments(values + 1, values + count);
  try {
    if (arguments.size() == 3 && arguments[0] == "fit") {
      time_fit(std::stod(arguments[1]), std::stoi(arguments[2]));
    } else if (arguments.size() == 5 && arguments[0] == "divergence") {
      time_divergence({arguments.begin() + 1, arguments.end()});
    } else {
      throw Error("usage: see the head of python_reference.cpp");
    }
  } catch (const std::exception& error) {
    fmt::print(stderr, "python_reference: {}\n", error.what());
    return 2;
  }
  return 0;
}
