// What a user of the installed library writes: draw comparisons from labels, fit, apply, save and load.
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <vector>

#include "bregmax/methods/pbdl.hpp"
#include "bregmax/model/model.hpp"
#include "bregmax/supervision/sample.hpp"

namespace {

bool check(bool holds, const char* what) {
  if (!holds) std::fprintf(stderr, "does not hold: %s\n", what);
  return holds;
}

}  // namespace

int main() {
  // Two classes, apart in the first feature only.
  bregmax::Matrix rows(8, 2);
  rows << 0.0, 0.1, 0.2, 0.9, 0.1, 0.5, 0.3, 0.3, 2.0, 0.2, 2.2, 0.8, 2.1, 0.4, 2.3, 0.6;
  const std::vector<int> classes = {0, 0, 0, 0, 1, 1, 1, 1};

  bregmax::PbdlOptions options;
  options.lambda = 0.1;
  options.scale = bregmax::Scale::kNone;
  const bregmax::MethodFit result = bregmax::fit_pbdl(rows, bregmax::sample_comparisons(classes, 50, 7), options);

  bool ok = check(result.report.status == bregmax::Status::kOptimal, "the fit is optimal");
  ok &= check(result.proved->certificate.relative_gap <= 1e-7, "the certificate proves it");

  const bregmax::Matrix divergences = result.model.divergences(rows, rows);
  ok &= check(divergences.rows() == 8 && divergences.minCoeff() >= 0, "divergences are not negative");
  ok &= check(divergences(0, 1) < divergences(0, 5), "a row of the same class is nearer");

  const auto path = (std::filesystem::temp_directory_path() / "bregmax_consumer.bregmax").string();
  bregmax::save_model(result.model, path);
  const bregmax::Matrix loaded = bregmax::load_model(path).divergences(rows, rows);
  std::filesystem::remove(path);
  ok &= check((loaded - divergences).cwiseAbs().maxCoeff() == 0, "a saved model gives the same divergences");

  std::printf("gap %.1e, objective %.6f\n", result.report.relative_gap, result.report.objective);
  return ok ? 0 : 1;
}
