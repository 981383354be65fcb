#pragma once

#include "bregmax/divergence/embedding.hpp"

namespace bregmax {

// A node of a regression tree. Rows with x[feature] <= threshold go on at node `left`, others at node `right`. A leaf
// has feature -1 and in `left` the number of its value.
struct TreeNode {
  int feature = -1;
  double threshold = 0;
  int left = 0, right = 0;
};

// Regression trees with a vector at each leaf. The nodes of all trees are in one list, in any order in which children
// come after their parents.
struct TreeEnsemble {
  std::vector<TreeNode> nodes;
  std::vector<int> roots;  // the first node of each tree
  Matrix leaves;           // one value per row

  // out.row(i) += the sum over the trees of the values of the leaves that rows.row(i) falls into.
  void add_to(const MatrixView& rows, Matrix& out) const;
};

// f(x) = A x + sum over trees of the value of the leaf that x falls into.
//
// Parts: "linear" A (embedding dimension x features); where there are trees also "nodes" (one per row: feature,
// threshold, left, right), "roots" (trees x 1) and "leaves" (values x embedding dimension).
class TreeEmbedding final : public EmbeddingDivergence {
 public:
  TreeEmbedding(Matrix linear, TreeEnsemble trees);
  static std::shared_ptr<const Divergence> from_parts(const EmbeddingParts& parts);

  const TreeEnsemble& trees() const { return trees_; }

  std::string name() const override { return "tree_embedding"; }
  Index dimension() const override { return linear_.cols(); }
  EmbeddingParts parts() const override;

 protected:
  Matrix map(const MatrixView& rows) const override;

 private:
  Matrix linear_;
  TreeEnsemble trees_;
};

}  // namespace bregmax
