#pragma once

#include <vector>

#include "bregmax/methods/learned.hpp"

namespace bregmax::internal {

// How many of the held-out rows the majority of their nearest rows, by the squared Euclidean distance of embedded rows,
// gives the wrong class. Equal votes: the class of the nearest row, then the one that first had as many.
Index count_wrong(const Matrix& embedded, const ClassOfRow& classes, const Matrix& held_out_embedded,
                  const ClassOfRow& held_out_classes, Index voters);

// How rows that were held out fare among the rows that were learned from.
struct HeldOutScore {
  Index wrong = 0;  // by 3 nearest neighbours
  double loss = 0;  // of LMNN, with targets and impostors among the rows that were learned from

  bool better_than(const HeldOutScore& other) const {
    return wrong != other.wrong ? wrong < other.wrong : loss < other.loss;
  }
};

class HeldOutRows {
 public:
  // The targets of the held-out rows are their nearest of the class in this embedding.
  HeldOutRows(const Matrix& embedded, const ClassOfRow& classes, const Matrix& held_out_embedded,
              const ClassOfRow& held_out_classes, int neighbours, double mu);

  HeldOutScore score(const Matrix& embedded, const Matrix& held_out_embedded) const;

 private:
  const ClassOfRow& classes_;
  const ClassOfRow& held_out_classes_;
  double mu_;
  std::vector<std::vector<Index>> targets_;
};

}  // namespace bregmax::internal
