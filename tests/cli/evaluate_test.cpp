// `evaluate` against a straightforward computation from the matrices that `divergence` writes.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "bregmax/data/table.hpp"
#include "cli/program.hpp"

namespace bregmax::testing {
namespace {

// The documented rule: from the nearest on, divergences are tied with the first of their group up to its resolution
// above it (max-affine models), or up to 1e-12 times its sum with the median (others).
struct Tolerance {
  double relative = 0, resolution = 0;

  bool covers(double nearest, double other, double median) const {
    return other <= nearest + resolution + relative * (nearest + median);
  }
};

// Sorts, and makes equal what is tied.
template <class Rows>
void group(Rows& rows, const Tolerance& tolerance) {
  std::sort(rows.begin(), rows.end());
  const double median = rows[rows.size() / 2].first;
  for (std::size_t i = 1; i < rows.size(); ++i) {
    if (tolerance.covers(rows[i - 1].first, rows[i].first, median)) rows[i].first = rows[i - 1].first;
  }
}

// Every `step`-th row, from `first` on: parts with all classes in them.
std::string part_of(const Table& table, Index first, Index step) {
  std::string csv = "a,b,c,d,class\n";
  for (Index i = first; i < table.features.rows(); i += step) {
    for (Index j = 0; j < table.features.cols(); ++j) csv += std::to_string(table.features(i, j)) + ",";
    csv +=
        table.labels->class_names[static_cast<std::size_t>(table.labels->of_row[static_cast<std::size_t>(i)])] + "\n";
  }
  return csv;
}

struct RankingReference {
  double auc = 0, average_precision = 0;
};

// Means over the queries; candidates in groups of equal divergence, in random order within a group.
RankingReference rank_by(const Matrix& divergences, const std::vector<int>& classes, const Tolerance& tolerance) {
  RankingReference mean;
  const auto rows = static_cast<Index>(classes.size());
  for (Index q = 0; q < rows; ++q) {
    std::vector<std::pair<double, bool>> candidates;
    for (Index c = 0; c < rows; ++c) {
      const bool relevant = classes[static_cast<std::size_t>(c)] == classes[static_cast<std::size_t>(q)];
      if (c != q) candidates.emplace_back(divergences(q, c), relevant);
    }
    group(candidates, tolerance);
    double better = 0, pairs = 0;
    for (const auto& [near, near_relevant] : candidates) {
      for (const auto& [far, far_relevant] : candidates) {
        if (!near_relevant || far_relevant) continue;
        better += near == far ? 0.5 : (near < far ? 1 : 0);
        ++pairs;
      }
    }
    mean.auc += better / pairs / static_cast<double>(rows);

    double precision = 0, before = 0, relevant_before = 0, relevant_in_all = 0;
    for (std::size_t begin = 0, end = 0; begin < candidates.size(); begin = end) {
      double relevant = 0;
      for (; end < candidates.size() && candidates[begin].first == candidates[end].first; ++end) {
        relevant += candidates[end].second ? 1 : 0;
      }
      const auto size = static_cast<double>(end - begin);
      // A relevant candidate at place p of its group has (p - 1)(r - 1)/(g - 1) relevant ones of the group before it.
      for (double place = 1; place <= size; ++place) {
        const double earlier = size > 1 ? (place - 1) * (relevant - 1) / (size - 1) : 0;
        precision += relevant / size * (relevant_before + 1 + earlier) / (before + place);
      }
      before += size;
      relevant_before += relevant;
      relevant_in_all += relevant;
    }
    mean.average_precision += precision / relevant_in_all / static_cast<double>(rows);
  }
  return mean;
}

// k votes per query; rows tied at the k-th divergence share those left. Then the nearer, then the larger class wins.
double knn_accuracy(const Matrix& divergences, const std::vector<int>& train, const std::vector<int>& test, double k,
                    const Tolerance& tolerance) {
  double correct = 0;
  for (std::size_t q = 0; q < test.size(); ++q) {
    std::vector<std::pair<double, int>> rows;
    for (std::size_t t = 0; t < train.size(); ++t) {
      rows.emplace_back(divergences(static_cast<Index>(q), static_cast<Index>(t)), train[t]);
    }
    std::sort(rows.begin(), rows.end());
    const double median = rows[rows.size() / 2].first;
    group(rows, tolerance);
    const double last = rows[static_cast<std::size_t>(k) - 1].first;
    const auto nearer = std::count_if(rows.begin(), rows.end(), [&](const auto& row) { return row.first < last; });
    const auto at_last = std::count_if(rows.begin(), rows.end(), [&](const auto& row) { return row.first == last; });
    std::map<int, std::pair<double, double>> tally;  // votes, and the divergences that they come from
    for (const auto& [divergence, row_class] : rows) {
      double votes = 0;
      if (divergence == last) {
        votes = (k - static_cast<double>(nearer)) / static_cast<double>(at_last);
      } else if (divergence < last) {
        votes = 1;
      }
      tally[row_class].first += votes;
      tally[row_class].second += votes * divergence;
    }
    std::vector<int> winners;
    const auto beats = [&](int a, int b) {  // 1, 0 or -1
      const auto [votes_a, sum_a] = tally[a];
      const auto [votes_b, sum_b] = tally[b];
      if (std::abs(votes_a - votes_b) > 1e-9) return votes_a > votes_b ? 1 : -1;
      const auto [near, far] = std::minmax({sum_a / votes_a, sum_b / votes_b});
      if (votes_a > 0 && !Tolerance{1e-12, tolerance.resolution}.covers(near, far, median)) {
        return sum_a < sum_b ? 1 : -1;
      }
      const auto size_a = std::count(train.begin(), train.end(), a), size_b = std::count(train.begin(), train.end(), b);
      return size_a == size_b ? 0 : (size_a > size_b ? 1 : -1);
    };
    for (const auto& [row_class, unused] : tally) {
      if (winners.empty() || beats(row_class, winners.front()) > 0)
        winners = {row_class};
      else if (beats(row_class, winners.front()) == 0)
        winners.push_back(row_class);
    }
    if (std::find(winners.begin(), winners.end(), test[q]) != winners.end()) {
      correct += 1 / static_cast<double>(winners.size());
    }
  }
  return correct / static_cast<double>(test.size());
}

// A learned model and the two files that it is evaluated on.
class EvaluateCommand : public ::testing::Test {
 protected:
  EvaluateCommand() {
    const Table iris = read_table("builtin:iris");
    directory_.write("train.csv", part_of(iris, 0, 2));
    directory_.write("test.csv", part_of(iris, 1, 2));
  }

  void expect_equal_to_the_reference(std::vector<std::string> fit, double rounding) {
    fit.insert(fit.begin(), {"fit", "train.csv", "--threads", "1", "--out", "m.bregmax"});
    ASSERT_EQ(run(directory_, fit).exit_code, 0);
    const nlohmann::json scores =
        json_of(run(directory_, {"evaluate", "m.bregmax", "test.csv", "--train", "train.csv", "--json"}));
    const double resolution = json_of(run(directory_, {"show", "m.bregmax", "--json"}))["resolution"];
    EXPECT_EQ(resolution > 0, rounding == 0) << "of max-affine models only";
    const Tolerance tolerance{rounding, resolution};
    const RankingReference ranking = rank_by(divergences({"test.csv"}), classes("test.csv"), tolerance);
    EXPECT_NEAR(scores["auc"].get<double>(), ranking.auc, 1e-12);
    EXPECT_NEAR(scores["average_precision"].get<double>(), ranking.average_precision, 1e-12);
    EXPECT_NEAR(
        scores["knn_accuracy"].get<double>(),
        knn_accuracy(divergences({"test.csv", "train.csv"}), classes("train.csv"), classes("test.csv"), 5, tolerance),
        1e-12);
  }

 private:
  std::vector<int> classes(const std::string& file) const { return read_table(directory_ / file).labels->of_row; }

  // What `divergence` writes, as text with 17 digits.
  Matrix divergences(std::vector<std::string> rows) {
    rows.insert(rows.begin(), {"divergence", "m.bregmax"});
    rows.insert(rows.end(), {"--out", "d.csv"});
    EXPECT_EQ(run(directory_, rows).exit_code, 0);
    return read_table(directory_ / "d.csv", {"none", {}}).features;
  }

  TemporaryDirectory directory_;
};

// All pairs pull similar rows to divergences of 1e-14 to 1e-9: near ties, which only the same doubles order alike.
TEST_F(EvaluateCommand, OfAllPairsEqualsAReferenceFromTheDivergenceMatrix) {
  for (const char* lambda : {"0.01", "1", "10", "1000"}) {
    SCOPED_TRACE(lambda);
    expect_equal_to_the_reference({"--all-pairs", "--lambda", lambda, "--smoothing", "0"}, 0);
  }
}

TEST_F(EvaluateCommand, OfComparisonsEqualsAReferenceFromTheDivergenceMatrix) {
  expect_equal_to_the_reference({"--from-labels", "--lambda", "1", "--smoothing", "0"}, 0);
}

TEST_F(EvaluateCommand, OfASmoothedModelEqualsAReferenceFromTheDivergenceMatrix) {
  for (const char* kind : {"--all-pairs", "--from-labels"}) {
    SCOPED_TRACE(kind);
    expect_equal_to_the_reference({kind, "--lambda", "1", "--smoothing", "0.5"}, 1e-12);
  }
}

}  // namespace
}  // namespace bregmax::testing
