// Open addressing with linear probing at a load of at most one half. The upper half of the hash beside the id
// saves a look at the record, and so a cache miss, for nearly all names that differ.
#include "graph/names.h"

#include <bit>

namespace gedit {

Names::Names(const Graph& graph) : graph_(graph) {
  const uint64_t wanted = std::bit_ceil(uint64_t{graph.size()} * 2 + 16);
  slots_.resize(wanted);
  mask_ = wanted - 1;
  constexpr uint32_t kAhead = 16;  // the slots of the next names are on their way from memory
  for (uint32_t i = 0; i < graph.size(); ++i) {
    if (i + kAhead < graph.size()) __builtin_prefetch(&slots_[graph.hash(NodeId{i + kAhead}) & mask_], 1);
    if (!graph.removed(NodeId{i})) insert(NodeId{i}, graph.hash(NodeId{i}));
  }
}

void Names::insert(NodeId id, uint64_t hash) {
  uint64_t slot = hash & mask_;
  for (; slots_[slot] != 0; slot = (slot + 1) & mask_) {
    if ((slots_[slot] ^ hash) >> 32 != 0) continue;
    if (graph_.name(NodeId{static_cast<uint32_t>(slots_[slot]) - 1}) != graph_.name(id)) continue;
    duplicates_.push_back(id);
    return;
  }
  slots_[slot] = (hash & 0xffffffff00000000) | (uint64_t{index_of(id)} + 1);
}

NodeId Names::find(std::string_view name) const {
  const uint64_t hash = name_hash(name);
  for (uint64_t slot = hash & mask_; slots_[slot] != 0; slot = (slot + 1) & mask_) {
    if ((slots_[slot] ^ hash) >> 32 != 0) continue;
    const NodeId id{static_cast<uint32_t>(slots_[slot]) - 1};
    if (graph_.name(id) == name) return id;
  }
  return kNoNode;
}

}  // namespace gedit
