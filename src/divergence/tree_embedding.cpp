#include "bregmax/divergence/tree_embedding.hpp"

#include <cmath>

#include "core/products.hpp"
#include "divergence/checks.hpp"

namespace bregmax {

using internal::require;

namespace {

void check_trees(const TreeEnsemble& trees, Index features, Index dimension) {
  const auto count = static_cast<int>(trees.nodes.size());
  for (int n = 0; n < count; ++n) {
    const TreeNode& node = trees.nodes[n];
    const bool leaf = node.feature == -1;
    const bool fits = leaf ? node.left >= 0 && node.left < trees.leaves.rows()
                           : node.feature >= 0 && node.feature < features && std::isfinite(node.threshold) &&
                                 node.left > n && node.left < count && node.right > n && node.right < count;
    require(fits, "node {} of the tree embedding does not fit the others", n);
  }
  for (const int root : trees.roots) {
    require(root >= 0 && root < count, "a tree of the tree embedding begins at node {}; allowed: 0 to {}", root,
            count - 1);
  }
  require(trees.roots.empty() || trees.leaves.cols() == dimension,
          "the leaves of the tree embedding have {} values; allowed: {}", trees.leaves.cols(), dimension);
  if (trees.leaves.size() > 0) internal::check_parameters(trees.leaves, "the leaves of the tree embedding");
}

int whole(double value) {
  require(value >= -1 && value <= 1e9 && value == std::floor(value),
          "a node number of the tree embedding is {}; allowed: whole numbers", value);
  return static_cast<int>(value);
}

}  // namespace

void TreeEnsemble::add_to(const MatrixView& rows, Matrix& out) const {
#pragma omp parallel for schedule(static) if (rows.rows() * static_cast <Index>(roots.size()) > 20000)
  for (Index i = 0; i < rows.rows(); ++i) {
    for (const int root : roots) {
      const TreeNode* node = nodes.data() + root;
      while (node->feature >= 0) {
        node = nodes.data() + (rows(i, node->feature) <= node->threshold ? node->left : node->right);
      }
      out.row(i) += leaves.row(node->left);
    }
  }
}

TreeEmbedding::TreeEmbedding(Matrix linear, TreeEnsemble trees) : linear_(std::move(linear)), trees_(std::move(trees)) {
  require(linear_.size() > 0, "the linear part of the tree embedding is empty");
  internal::check_parameters(linear_, "the linear part of the tree embedding");
  check_trees(trees_, linear_.cols(), linear_.rows());
}

std::shared_ptr<const Divergence> TreeEmbedding::from_parts(const EmbeddingParts& parts) {
  const Matrix& linear = internal::embedding_part(parts, "tree embedding", "linear", 0);
  TreeEnsemble trees;
  if (parts.contains("nodes")) {
    const Matrix& nodes = internal::embedding_part(parts, "tree embedding", "nodes", 4);
    for (Index n = 0; n < nodes.rows(); ++n) {
      trees.nodes.push_back({whole(nodes(n, 0)), nodes(n, 1), whole(nodes(n, 2)), whole(nodes(n, 3))});
    }
    for (const double root : internal::embedding_part(parts, "tree embedding", "roots", 1).reshaped())
      trees.roots.push_back(whole(root));
    trees.leaves = internal::embedding_part(parts, "tree embedding", "leaves", linear.rows());
  }
  return std::make_shared<TreeEmbedding>(linear, std::move(trees));
}

EmbeddingParts TreeEmbedding::parts() const {
  EmbeddingParts parts{{"linear", linear_}};
  if (trees_.roots.empty()) return parts;
  Matrix nodes(std::ssize(trees_.nodes), 4);
  for (Index n = 0; n < nodes.rows(); ++n) {
    const TreeNode& node = trees_.nodes[n];
    nodes.row(n) << node.feature, node.threshold, node.left, node.right;
  }
  parts.emplace("nodes", std::move(nodes));
  parts.emplace("roots",
                Eigen::Map<const Eigen::VectorXi>(trees_.roots.data(), std::ssize(trees_.roots)).cast<double>());
  parts.emplace("leaves", trees_.leaves);
  return parts;
}

Matrix TreeEmbedding::map(const MatrixView& rows) const {
  Matrix out(rows.rows(), linear_.rows());
  internal::set_product_transposed(rows, linear_, out);
  trees_.add_to(rows, out);
  return out;
}

}  // namespace bregmax
