#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bregmax/core/error.hpp"
#include "bregmax/divergence/kernel_embedding.hpp"
#include "bregmax/divergence/tree_embedding.hpp"

namespace bregmax {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

TreeEmbedding stump() {
  TreeEnsemble trees;
  trees.nodes = {{1, 0.5, 1, 2}, {-1, 0, 0, 0}, {-1, 0, 1, 0}};
  trees.roots = {0};
  trees.leaves.resize(2, 2);
  trees.leaves << 1, 2, -3, 4;
  return {Matrix::Identity(2, 2), trees};
}

KernelEmbedding two_supports(KernelKind kind = KernelKind::kRbf) {
  Matrix support(2, 2), coefficients(2, 1);
  support << 0, 0, 1, 1;
  coefficients << 2, -1;
  return {Kernel{kind, 1.5}, support, coefficients};
}

TEST(TreeEmbedding, AddsTheLeafToTheLinearPart) {
  Matrix rows(3, 2);
  rows << 7, 0.5, 7, 0.6, 7, -1;
  Matrix expected(3, 2);
  expected << 8, 2.5, 4, 4.6, 8, 1;
  EXPECT_LT((stump().embed(rows) - expected).norm(), 1e-15);
  EXPECT_EQ(stump().value(rows.row(0), rows.row(0)), 0);
}

TEST(LearnedEmbeddings, AreRestoredFromTheirParts) {
  Matrix rows(3, 2);
  rows << 7, 0.5, 7, 0.6, 7, -1;
  const TreeEmbedding tree = stump();
  EXPECT_EQ(make_embedding("tree_embedding", tree.parts())->matrix(rows, rows), tree.matrix(rows, rows));
  const KernelEmbedding kernel = two_supports();
  EXPECT_EQ(make_embedding("kernel_embedding", kernel.parts())->matrix(rows, rows), kernel.matrix(rows, rows));
  const TreeEmbedding linear(Matrix::Identity(2, 2), {});
  EXPECT_EQ(linear.parts().size(), 1U);
  EXPECT_EQ(make_embedding("tree_embedding", linear.parts())->matrix(rows, rows), linear.matrix(rows, rows));
}

TEST(LearnedEmbeddings, EmbedNoRows) {
  for (const KernelKind kind : {KernelKind::kRbf, KernelKind::kPolynomial}) {
    EXPECT_EQ(two_supports(kind).embed(Matrix(0, 2)).rows(), 0);
  }
}

TEST(LearnedEmbeddings, RefusePartsThatDoNotFit) {
  const auto refused = [](const std::string& kind, EmbeddingParts parts, const std::string& name, const Matrix& value,
                          const char* message) {
    if (value.size() == 0) parts.erase(name);
    if (value.size() > 0) parts[name] = value;
    EXPECT_THAT([&] { make_embedding(kind, parts); }, ThrowsMessage<Error>(HasSubstr(message)));
  };
  const EmbeddingParts tree = stump().parts(), kernel = two_supports().parts();
  refused("tree_embedding", tree, "linear", {}, "no 'linear'");
  refused("tree_embedding", tree, "roots", {}, "no 'roots'");
  refused("tree_embedding", tree, "leaves", Matrix::Zero(2, 3), "'leaves' of the tree embedding has 3 columns");
  refused("tree_embedding", tree, "leaves", Matrix::Zero(1, 2), "node 2");
  refused("tree_embedding", tree, "roots", Matrix::Constant(1, 1, 3), "begins at node 3");
  Matrix nodes = tree.at("nodes");
  nodes(0, 2) = 0;  // a node that is its own child
  refused("tree_embedding", tree, "nodes", nodes, "node 0");
  nodes(0, 2) = 1.5;
  refused("tree_embedding", tree, "nodes", nodes, "1.5");
  nodes = tree.at("nodes");
  nodes(0, 0) = 2;  // a feature that rows do not have
  refused("tree_embedding", tree, "nodes", nodes, "node 0");
  refused("kernel_embedding", kernel, "support", {}, "no 'support'");
  refused("kernel_embedding", kernel, "coefficients", Matrix::Ones(3, 1), "3 x 1 coefficients");
  Matrix numbers = kernel.at("kernel");
  numbers(1) = -1;
  refused("kernel_embedding", kernel, "kernel", numbers, "bandwidth of the kernel is -1");
  numbers << 2, 1, 2;
  refused("kernel_embedding", kernel, "kernel", numbers, "of the kind 2");
}

}  // namespace
}  // namespace bregmax
