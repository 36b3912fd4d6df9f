// Open addressing with linear probing at a load of at most one half. Some bits of the hash beside the id save
// a look at the record, and so a cache miss, for nearly all names that differ.
#include "graph/names.h"

#include <algorithm>
#include <array>
#include <bit>
#include <span>

#include "base/parallel.h"

namespace gedit {

Names::Names(const Graph& graph)
    : graph_(graph), slots_(std::bit_ceil(uint64_t{graph.size()} * 2 + 16)), mask_(slots_.size() - 1) {
  id_mask_ = static_cast<uint32_t>((uint64_t{1} << std::bit_width(graph.size())) - 1);
  // Each core has a stretch of the slots, and goes over all hashes for those that belong there: nodes of one
  // name meet on one core, in the order of the file.
  constexpr uint32_t kAlone = 4 * kPerPiece;
  std::vector<Share> shares(graph.size() < kAlone ? 1 : thread_count());
  for (size_t k = 0; k < shares.size(); ++k) {
    shares[k].begin = slots_.size() * k / shares.size();
    shares[k].end = slots_.size() * (k + 1) / shares.size();
  }
  in_parallel(shares.size(), [&](size_t k) {
    Share own = shares[k];
    fill(own);
    shares[k] = std::move(own);
  });
  std::vector<NodeId> left;
  for (const Share& share : shares) {
    duplicates_.insert(duplicates_.end(), share.duplicates.begin(), share.duplicates.end());
    left.insert(left.end(), share.left.begin(), share.left.end());
  }
  std::ranges::sort(left);
  for (const NodeId id : left) insert(id, slots_.size() + mask_, duplicates_);
  std::ranges::sort(duplicates_);
}

// In steps: first whose slots are here, told without a branch for each, which nobody could foretell; then
// their slots are on their way from memory when they are filled.
void Names::fill(Share& share) {
  constexpr uint32_t kStep = 128;
  std::array<uint32_t, kStep> own{};
  const uint64_t begin = share.begin, slots = share.end - share.begin;
  const uint32_t nodes = graph_.size();
  for (uint32_t first = 0; first < nodes; first += kStep) {
    const uint32_t end = first + std::min(kStep, nodes - first);
    size_t count = 0;
    for (uint32_t i = first; i < end; ++i) {
      own[count] = i;
      count += (graph_.hash(NodeId{i}) & mask_) - begin < slots ? 1 : 0;
    }
    const std::span<const uint32_t> here(own.data(), count);
    for (const uint32_t i : here) __builtin_prefetch(&slots_[graph_.hash(NodeId{i}) & mask_], 1);
    for (const uint32_t i : here) {
      const NodeId id{i};
      if (!graph_.removed(id) && !insert(id, share.end, share.duplicates)) share.left.push_back(id);
    }
  }
}

bool Names::insert(NodeId id, uint64_t end, std::vector<NodeId>& duplicates) {
  const uint64_t hash = graph_.hash(id);
  for (uint64_t at = hash & mask_; at < end; ++at) {
    uint32_t& slot = slots_[at & mask_];
    if (slot == 0) {
      slot = (static_cast<uint32_t>(hash >> 32) & ~id_mask_) | (index_of(id) + 1);
      return true;
    }
    if (!alike(slot, hash) || graph_.hash(node(slot)) != hash) continue;
    if (graph_.name(node(slot)) != graph_.name(id)) continue;
    duplicates.push_back(id);
    return true;
  }
  return false;
}

NodeId Names::find(std::string_view name, uint64_t hash) const {
  for (uint64_t slot = hash & mask_; slots_[slot] != 0; slot = (slot + 1) & mask_) {
    if (alike(slots_[slot], hash) && graph_.name(node(slots_[slot])) == name) return node(slots_[slot]);
  }
  return kNoNode;
}

NodeId Names::find_as(const Graph& other, NodeId id) const {
  const uint64_t hash = other.hash(id);
  for (uint64_t slot = hash & mask_; slots_[slot] != 0; slot = (slot + 1) & mask_) {
    if (!alike(slots_[slot], hash) || graph_.hash(node(slots_[slot])) != hash) continue;
    if (graph_.name(node(slots_[slot])) == other.name(id)) return node(slots_[slot]);
  }
  return kNoNode;
}

}  // namespace gedit
