#include <nanobind/stl/string.h>

#include <string>

#include "arrays.hpp"
#include "bregmax/core/threads.hpp"
#include "bregmax/divergence/closed_forms.hpp"
#include "bregmax/divergence/embedding.hpp"
#include "bregmax/model/model.hpp"
#include "bregmax/tasks/evaluate.hpp"
#include "bregmax/tasks/kmeans.hpp"
#include "bregmax/tasks/nearest_neighbours.hpp"
#include "bregmax/tasks/ranking.hpp"
#include "module.hpp"
#include "run.hpp"

namespace bregmax::python {
namespace {

bool is_embedding(const Model& model) {
  return dynamic_cast<const EmbeddingDivergence*>(model.divergence.get()) != nullptr;
}

// Centroids are those of the scaled rows, or of the embedded ones.
nb::dict cluster(const Model& model, const Rows& rows, Index clusters, const std::string& start, int restarts,
                 int max_iterations, std::uint64_t seed, int threads, const nb::object& on_progress) {
  const KMeansOptions options{.clusters = clusters,
                              .start = start_named(start),
                              .restarts = restarts,
                              .max_iterations = max_iterations,
                              .seed = seed};
  const auto work = [model, rows, options](const RunControl& control) {
    return model.with_scaled(
        view(rows), [&](const MatrixView& scaled) { return kmeans(*model.divergence, scaled, options, control); });
  };
  KMeansResult result = run_interruptibly<KMeansResult>(work, on_progress, threads);
  nb::dict dict;
  dict["labels"] = to_numpy(result.best.cluster_of_row);
  dict["objective"] = result.best.objective;
  dict["iterations"] = result.best.objectives.size();
  dict["converged"] = result.best.converged;
  dict["scaled_centers"] = to_numpy(result.best.centroids);
  // The centroids of an embedding are not rows of features.
  dict["centers"] = is_embedding(model) ? nb::none() : nb::cast(to_numpy(model.unscaled(result.best.centroids)));
  return dict;
}

// D(row, centroid) where the centroids are already scaled, or embedded.
MatrixOut to_scaled_centers(const Model& model, const Rows& points, const Rows& centers) {
  return computed([&] {
    if (is_embedding(model)) return SquaredEuclidean().matrix(model.embedded(view(points)), view(centers));
    return model.with_scaled(view(points),
                             [&](const MatrixView& scaled) { return model.divergence->matrix(scaled, view(centers)); });
  });
}

// Hands `work` stored rows and queries, both scaled.
template <class Work>
void search(const Model& model, const Rows& stored, const Rows& queries, int threads, const Work& work) {
  const nb::gil_scoped_release unlocked;
  const ThreadLimit limit(threads_or_all(threads));
  model.with_scaled(view(stored), [&](const MatrixView& scaled_stored) {
    model.with_scaled(view(queries), [&](const MatrixView& scaled_queries) { work(scaled_stored, scaled_queries); });
  });
}

nb::tuple classify(const Model& model, const Rows& stored, const Integers& classes, const Rows& queries, Index k,
                   int threads) {
  Classification result;
  search(model, stored, queries, threads, [&](const MatrixView& rows, const MatrixView& asked) {
    result = classify_nearest(*model.divergence, rows, {classes.data(), classes.size()}, asked, k);
  });
  return nb::make_tuple(to_numpy(std::move(result.predicted)), to_numpy(std::move(result.share)));
}

VectorOut regress(const Model& model, const Rows& stored, const Numbers& targets, const Rows& queries, Index k,
                  int threads) {
  Vector result;
  search(model, stored, queries, threads, [&](const MatrixView& rows, const MatrixView& asked) {
    result = regress_nearest(*model.divergence, rows, view(targets), asked, k);
  });
  return to_numpy(std::move(result));
}

nb::tuple rank_rows(const Model& model, const Rows& queries, const Rows& pool, Index top, int threads) {
  using Lists = std::vector<std::vector<RankedRow>>;
  const auto work = [model, queries, pool, top](const RunControl& control) {
    return model.with_scaled(view(queries), [&](const MatrixView& scaled_queries) {
      return model.with_scaled(view(pool), [&](const MatrixView& scaled_pool) {
        return rank(*model.divergence, scaled_queries, scaled_pool, top, control);
      });
    });
  };
  const Lists lists = run_interruptibly<Lists>(work, nb::none(), threads);
  const std::size_t width = lists.empty() ? 0 : lists.front().size();
  std::vector<std::int64_t> rows;
  rows.reserve(lists.size() * width);
  Matrix divergences(static_cast<Index>(lists.size()), static_cast<Index>(width));
  for (std::size_t q = 0; q < lists.size(); ++q) {
    for (std::size_t place = 0; place < width; ++place) {
      rows.push_back(lists[q][place].row);
      divergences(static_cast<Index>(q), static_cast<Index>(place)) = lists[q][place].divergence;
    }
  }
  using RowsOut = nb::ndarray<nb::numpy, std::int64_t, nb::ndim<2>>;
  const auto first = [](std::vector<std::int64_t>& kept) { return kept.data(); };
  return nb::make_tuple(hand_over<RowsOut>(std::move(rows), first, {lists.size(), width}),
                        to_numpy(std::move(divergences)));
}

// The scores of the rows among themselves. There is no k-NN accuracy, because that needs training rows.
nb::dict evaluate_rows(const Model& model, const Rows& rows, const Integers& classes, std::uint64_t seed, int threads,
                       const nb::object& on_progress) {
  const EvaluationOptions options{.seed = seed};
  const auto work = [model, rows, classes, options](const RunControl& control) {
    return model.with_scaled(view(rows), [&](const MatrixView& scaled) {
      return evaluate(*model.divergence, scaled, {classes.data(), classes.size()}, options, control);
    });
  };
  const auto scores = run_interruptibly<EvaluationScores>(work, on_progress, threads);
  nb::dict dict;
  dict["rand_index"] = scores.rand_index;
  dict["adjusted_rand_index"] = scores.adjusted_rand_index;
  dict["normalised_mutual_information"] = scores.normalised_mutual_information;
  dict["purity"] = scores.purity;
  dict["auc"] = scores.auc;
  dict["average_precision"] = scores.average_precision;
  dict["precision_at_10"] = scores.precision_at_k;
  return dict;
}

double average_precision_of(const Model& model, const Rows& rows, const Integers& classes, int threads) {
  const auto work = [model, rows, classes](const RunControl& control) {
    return model.with_scaled(view(rows), [&](const MatrixView& scaled) {
      return evaluate_ranking(*model.divergence, scaled, {classes.data(), classes.size()}, kPrecisionAt, control);
    });
  };
  return run_interruptibly<RankingSummary>(work, nb::none(), threads).average_precision;
}

}  // namespace

void bind_tasks(nb::module_& module) {
  const auto model = nb::arg("model");
  const auto threads = nb::arg("threads");
  const auto k = nb::arg("k");
  const auto rows = nb::arg("rows").noconvert();
  const auto queries = nb::arg("queries").noconvert();
  const auto stored = nb::arg("stored").noconvert();
  const auto classes = nb::arg("classes").noconvert();
  const auto on_progress = nb::arg("on_progress").none();
  module.def("kmeans", &cluster, model, rows, nb::arg("clusters"), nb::arg("start"), nb::arg("restarts"),
             nb::arg("max_iterations"), nb::arg("seed"), threads, on_progress);
  module.def("to_scaled_centers", &to_scaled_centers, model, nb::arg("points").noconvert(),
             nb::arg("centers").noconvert());
  module.def("classify", &classify, model, stored, classes, queries, k, threads);
  module.def("regress", &regress, model, stored, nb::arg("targets").noconvert(), queries, k, threads);
  module.def("rank", &rank_rows, model, queries, nb::arg("pool").noconvert(), nb::arg("top"), threads);
  module.def("evaluate", &evaluate_rows, model, rows, classes, nb::arg("seed"), threads, on_progress);
  module.def("average_precision", &average_precision_of, model, rows, classes, threads);
}

}  // namespace bregmax::python
