#include "graph/edges.h"
#include "graph/names.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/parallel.h"
#include "graph/node_front.h"
#include "graph/wiring.h"

namespace gedit {

namespace {

// Where a name is kept in Recent: of its last sixteen letters alone, since a wrong slot only costs the way to
// the big table.
uint32_t slot_of(std::string_view name) {
  uint64_t last = name.size(), before = 0;
  if (name.size() >= 16) std::memcpy(&before, name.data() + name.size() - 16, 8);
  if (name.size() >= 8) {
    std::memcpy(&last, name.data() + name.size() - 8, 8);
  } else {
    for (const char c : name) last = last << 8 | static_cast<unsigned char>(c);
  }
  return static_cast<uint32_t>(((last ^ before * 0x9e3779b97f4a7c15) * 0xff51afd7ed558ccd) >> 54);
}

// The nodes that were passed last, by name: an input mostly names one of them, and its record is still in the
// processor's cache, which the big table of all names is not.
class Recent {
 public:
  Recent() : slots_(kSlots) {}

  void pass(NodeId id, std::string_view name) { slots_[slot_of(name)] = {id, name}; }

  NodeId find(std::string_view name) const {
    const Slot& slot = slots_[slot_of(name)];
    return slot.name == name ? slot.id : kNoNode;
  }

 private:
  static constexpr size_t kSlots = 1024;  // as many as slot_of() tells apart
  struct Slot {
    NodeId id = kNoNode;
    std::string_view name;
  };
  std::vector<Slot> slots_;
};

}  // namespace

Edges producers(const Graph& graph, const Names& names) {
  // In pieces, each with what it read last; then one behind the other.
  constexpr size_t kNodes = 4 * kPerPiece;
  static_assert(kNodes % 64 == 0);  // no two pieces share a word of bits
  struct Piece {
    std::vector<NodeId> targets;
    bool complete = true;
  };
  Edges edges;
  edges.begins_.resize(size_t{graph.size()} + 1);  // of each piece as if it were the first
  edges.first_outputs_.resize((size_t{graph.size()} + 63) / 64);
  // With two nodes of one name the first is meant, wherever the reader stands.
  const bool unique = names.duplicates().empty();
  const auto look = [&](PieceRange nodes) {
    Piece piece;
    Recent recent;
    for (uint32_t i = nodes.begin; i < nodes.end; ++i) {
      const NodeId id{i};
      graph.expect_behind(id, nodes.end);
      if (!graph.removed(id)) {
        bool first_outputs = true;
        const std::string_view node_def = graph.bytes(id);
        each_input_of(graph, node_def, [&](std::string_view text) {
          const Input input = parse_input_of(graph, text);
          first_outputs = first_outputs && input.port.empty() && !input.control;
          NodeId producer = unique ? recent.find(input.node) : kNoNode;
          if (producer == kNoNode) producer = names.find(input.node);
          if (producer == kNoNode) {
            piece.complete = false;
          } else {
            piece.targets.push_back(producer);
          }
        });
        if (first_outputs) edges.first_outputs_[i / 64] |= uint64_t{1} << (i % 64);
        recent.pass(id, node_name(node_def));
      }
      edges.begins_[i + 1] = static_cast<uint32_t>(piece.targets.size());
    }
    return piece;
  };
  std::vector<Piece> pieces = made_in_pieces(graph.size(), look, kNodes);
  size_t all = 0;
  for (const Piece& piece : pieces) all += piece.targets.size();
  make_room(edges.targets_, all);
  edges.complete_ = true;
  std::vector<uint32_t> before;
  for (Piece& piece : pieces) {
    before.push_back(static_cast<uint32_t>(edges.targets_.size()));
    edges.targets_.insert(edges.targets_.end(), piece.targets.begin(), piece.targets.end());
    piece.targets = {};
    edges.complete_ = edges.complete_ && piece.complete;
  }
  const auto shift = [&](size_t k, PieceRange nodes) {
    for (uint32_t i = nodes.begin; i < nodes.end && before[k] != 0; ++i) edges.begins_[i + 1] += before[k];
  };
  in_pieces(graph.size(), shift, kNodes);
  return edges;
}

Edges reversed(const Edges& edges) {
  Edges result;
  result.lead_back_ = !edges.lead_back_;
  const size_t nodes = edges.begins_.size() - 1;
  result.begins_.assign(nodes + 1, 0);
  for (const NodeId target : edges.targets_) ++result.begins_[index_of(target) + 1];
  for (size_t i = 0; i < nodes; ++i) result.begins_[i + 1] += result.begins_[i];
  result.targets_.resize(edges.targets_.size());
  std::vector<uint32_t> next(result.begins_.begin(), result.begins_.end() - 1);
  for (uint32_t i = 0; i < nodes; ++i) {
    for (const NodeId target : edges.of(NodeId{i})) result.targets_[next[index_of(target)]++] = NodeId{i};
  }
  return result;
}

std::vector<NodeId> NodeSet::nodes() const {
  std::vector<NodeId> found;
  found.reserve(count_);
  for (uint32_t k = 0; found.size() < count_; ++k) {
    for (uint64_t word = words_[k]; word != 0; word &= word - 1)
      found.push_back(NodeId{k * 64 + static_cast<uint32_t>(std::countr_zero(word))});
  }
  return found;
}

NodeSet reach(const NodeSet& set, const Edges& edges, uint32_t steps) {
  NodeSet reached = set;
  if (steps == kAnyDistance) {
    reached.spread(edges.lead_back(), [&](NodeId id, const auto& go) {
      for (const NodeId target : edges.of(id)) go(target);
    });
    return reached;
  }
  std::vector<NodeId> wave = set.nodes(), next;
  for (uint32_t step = 0; step < steps && !wave.empty(); ++step) {
    next.clear();
    for (const NodeId id : wave) {
      for (const NodeId target : edges.of(id)) {
        if (reached.add(target)) next.push_back(target);
      }
    }
    wave.swap(next);
  }
  return reached;
}

const std::vector<NodeId>& Reacher::from(NodeId id) {
  for (const NodeId before : reached_) seen_[index_of(before)] = false;
  reached_.assign(1, id);
  seen_[index_of(id)] = true;
  for (size_t next = 0; next < reached_.size(); ++next) {
    for (const NodeId target : edges_.of(reached_[next])) {
      if (seen_[index_of(target)]) continue;
      seen_[index_of(target)] = true;
      reached_.push_back(target);
    }
  }
  return reached_;
}

}  // namespace gedit
