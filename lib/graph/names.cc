// Open addressing with linear probing at a load of at most one half. Some bits of the hash beside the id save
// a look at the record, and so a cache miss, for nearly all names that differ.
#include "graph/names.h"

#include <bit>

namespace gedit {

Names::Names(const Graph& graph)
    : graph_(graph), slots_(std::bit_ceil(uint64_t{graph.size()} * 2 + 16)), mask_(slots_.size() - 1) {
  id_mask_ = static_cast<uint32_t>((uint64_t{1} << std::bit_width(graph.size())) - 1);
  constexpr uint32_t kAhead = 16;  // the slots of the next names are on their way from memory
  for (uint32_t i = 0; i < graph.size(); ++i) {
    if (i + kAhead < graph.size()) __builtin_prefetch(&slots_[graph.hash(NodeId{i + kAhead}) & mask_], 1);
    if (!graph.removed(NodeId{i})) insert(NodeId{i});
  }
}

void Names::insert(NodeId id) {
  const uint64_t hash = graph_.hash(id);
  uint64_t slot = hash & mask_;
  for (; slots_[slot] != 0; slot = (slot + 1) & mask_) {
    if (!alike(slots_[slot], hash) || graph_.hash(node(slots_[slot])) != hash) continue;
    if (graph_.name(node(slots_[slot])) != graph_.name(id)) continue;
    duplicates_.push_back(id);
    return;
  }
  slots_[slot] = (static_cast<uint32_t>(hash >> 32) & ~id_mask_) | (index_of(id) + 1);
}

NodeId Names::find(std::string_view name, uint64_t hash) const {
  for (uint64_t slot = hash & mask_; slots_[slot] != 0; slot = (slot + 1) & mask_) {
    if (alike(slots_[slot], hash) && graph_.name(node(slots_[slot])) == name) return node(slots_[slot]);
  }
  return kNoNode;
}

}  // namespace gedit
