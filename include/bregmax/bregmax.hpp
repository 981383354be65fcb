#pragma once

// Includes what a program needs to learn a divergence and to use it.
//
//   #include "bregmax/bregmax.hpp"
//   #include <cstdio>
//
//   int main() {
//     using namespace bregmax;
//     const Table table = read_table("builtin:iris");  // or a CSV or .npy file
//     const std::vector<int>& classes = table.labels->of_row;
//     FitRequest request;  // what is left out is chosen by plan()
//     request.parameters["lambda"] = 0.1;
//     request.parameters["pieces"] = 30;
//     const FitOutcome fitted = fit(request, {table.features, sample_comparisons(classes, 200, 1)});
//     std::printf("%s, gap %.1e\n", to_string(fitted.report.status).c_str(), fitted.report.relative_gap);
//     save_model(fitted.model, "iris.bregmax");
//
//     const Model model = load_model("iris.bregmax");
//     const double near = model.value(table.features.row(0), table.features.row(1));  // D(point, reference)
//     const Matrix rows = model.scaled(table.features);                               // what the tasks take
//     const auto nearest = top_k(*model.divergence, rows, rows.topRows(3), 5);
//     const EvaluationScores scores = evaluate(*model.divergence, rows, classes);
//     std::printf("%.3f, row %ld, AUC %.3f\n", near, static_cast<long>(nearest[0][0].row), scores.auc);
//     return is_success(fitted.report.status) && scores.auc > 0.9 ? 0 : 1;
//   }
//
// (tests/install compiles and runs this.) Rows are samples. A divergence is not symmetric: the first argument is the
// point, the second the reference. A caller's mistake throws bregmax::Error; how a solver ended is a Status.

#include "bregmax/core/error.hpp"
#include "bregmax/core/run_control.hpp"
#include "bregmax/core/status.hpp"
#include "bregmax/core/threads.hpp"
#include "bregmax/data/builtin.hpp"
#include "bregmax/data/recipe.hpp"
#include "bregmax/data/split.hpp"
#include "bregmax/data/table.hpp"
#include "bregmax/divergence/closed_forms.hpp"
#include "bregmax/divergence/smoothed_max_affine.hpp"
#include "bregmax/learn/compare.hpp"
#include "bregmax/learn/run.hpp"
#include "bregmax/model/model.hpp"
#include "bregmax/search/top_k.hpp"
#include "bregmax/supervision/files.hpp"
#include "bregmax/supervision/sample.hpp"
#include "bregmax/tasks/evaluate.hpp"
#include "bregmax/tasks/kmeans.hpp"
#include "bregmax/tasks/nearest_neighbours.hpp"
#include "bregmax/tasks/ranking.hpp"
