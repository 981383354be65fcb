#pragma once

// What others reach on the same protocol, percent: Rand index, purity, AUC, average precision, 5-NN.

#include <array>
#include <map>
#include <string>

#include "bregmax/core/error.hpp"

namespace bregmax::accuracy {

struct Reference {
  std::array<double, 5> paper;  // the paper's own method, its Table 2
  // The best, cell by cell, of the paper's method, its authors' program and public implementations of ITML, LMNN, NCA,
  // GMML, SCML and the Euclidean distance, 20 runs each.
  std::array<double, 5> best;
};

inline const Reference& reference_of(const std::string& dataset) {
  static const std::map<std::string, Reference> references = {
      {"iris", {{{94.5, 95.6, 96.5, 93.5, 95.3}}, {{96.4, 97.3, 97.2, 94.7, 97.1}}}},
      {"ionosphere", {{{65.2, 77.2, 65.8, 71.1, 81.4}}, {{77.7, 87.4, 78.4, 79.8, 88.8}}}},
      {"balance-scale", {{{84.4, 87.8, 86, 82.9, 91.4}}, {{84.4, 87.8, 86, 83.2, 93.8}}}},
      {"wine", {{{83.7, 85, 91, 86.7, 94.3}}, {{95.4, 96.4, 95.9, 93.7, 97.2}}}},
      {"transfusion", {{{57.9, 75.9, 54.9, 68.2, 75.7}}, {{63.8, 76.6, 54.9, 68.2, 76.5}}}},
      {"figure1", {{{98.2, 98.6, 97.3, 95.6, 99.1}}, {{98.3, 98.7, 98.5, 97.3, 99.1}}}},
  };
  const auto found = references.find(dataset);
  if (found == references.end()) throw Error("there are no published figures for " + dataset);
  return found->second;
}

}  // namespace bregmax::accuracy
