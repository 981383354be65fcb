#include "search/reference_groups.hpp"

#include <numeric>
#include <utility>

#include "bregmax/divergence/max_affine.hpp"

namespace bregmax::internal {

ReferenceGroups group_references(const Divergence& divergence, const MatrixView& references) {
  const auto* max_affine = dynamic_cast<const MaxAffine*>(&divergence);
  if (max_affine == nullptr) {
    ReferenceGroups groups{std::vector<Index>(references.rows()),
                           divergence.prepare(references),
                           {kRoundingTies, divergence.resolution()}};
    std::iota(groups.group_of_row.begin(), groups.group_of_row.end(), Index{0});
    return groups;
  }
  ReferenceGroups groups{{}, nullptr, {0, divergence.resolution()}};
  std::vector<Index> group_of_piece(max_affine->pieces(), -1);
  std::vector<int> piece_of_group;
  for (const int piece : max_affine->pieces_of(references)) {
    Index& group = group_of_piece[piece];
    if (group < 0) {
      group = std::ssize(piece_of_group);
      piece_of_group.push_back(piece);
    }
    groups.group_of_row.push_back(group);
  }
  groups.references = max_affine->prepare_pieces(std::move(piece_of_group));
  return groups;
}

std::vector<Index> ReferenceGroups::sizes() const {
  std::vector<Index> sizes(size());
  for (const Index group : group_of_row) ++sizes[group];
  return sizes;
}

}  // namespace bregmax::internal
