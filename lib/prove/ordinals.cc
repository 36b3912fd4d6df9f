#include "prove/ordinals.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "graph/edges.h"
#include "graph/wiring.h"

namespace gedit {
namespace {

constexpr size_t kMostReaders = 64;    // of a node, that tell what it is
constexpr size_t kMostLookedAt = 512;  // for that

// Who reads what, found once for the many nodes that are asked about.
class Reads {
 public:
  struct Read {
    NodeId from;
    bool data;
    uint32_t index, slot;
  };

  Reads(Side& side, const std::function<bool(NodeId)>& needed)
      : graph_(side.graph()), names_(side.names()), needed_(needed), consumers_(reversed(side.producers())) {}

  // Whoever is needed and reads the node, once each.
  const std::vector<NodeId>& readers(NodeId id) {
    const auto [found, fresh] = readers_.try_emplace(index_of(id));
    if (fresh) {
      for (const NodeId reader : consumers_.of(id)) {
        if (!needed_(reader)) continue;
        if (found->second.empty() || found->second.back() != reader) found->second.push_back(reader);
      }
    }
    return found->second;
  }

  // What `reader` reads of the node: its control inputs, then the data inputs by output.
  std::span<const Read> of(NodeId reader, NodeId from) { return range(inputs(reader), from, &Read::from); }
  // Of one output.
  std::span<const Read> of(NodeId reader, NodeId from, uint32_t index) {
    return range(inputs(reader), std::tuple(from, true, index),
                 [](const Read& read) { return std::tuple(read.from, read.data, read.index); });
  }

 private:
  template <typename Key, typename Place>
  static std::span<const Read> range(const std::vector<Read>& reads, const Key& key, Place place) {
    return {std::ranges::lower_bound(reads, key, {}, place), std::ranges::upper_bound(reads, key, {}, place)};
  }

  const std::vector<Read>& inputs(NodeId reader) {
    const auto [found, fresh] = inputs_.try_emplace(index_of(reader));
    if (fresh) {
      std::vector<Read>& reads = found->second;
      uint32_t slot = 0;
      each_input(graph_.bytes(reader), [&](std::string_view text) {
        const Input read = parse_input(text);
        reads.push_back({names_.find(read.node), !read.control, read.index(), slot});
        if (!read.control) ++slot;
      });
      std::ranges::sort(reads, {}, [](const Read& read) {
        return std::tuple(read.from, read.data, read.index, read.slot);
      });
    }
    return found->second;
  }

  const Graph& graph_;
  const Names& names_;
  const std::function<bool(NodeId)>& needed_;
  const Edges consumers_;
  std::unordered_map<uint32_t, std::vector<NodeId>> readers_;
  std::unordered_map<uint32_t, std::vector<Read>> inputs_;
};

// What passes a node's outputs on is as if it were not there.
struct Passer {
  NodeId node;
  std::map<uint32_t, uint32_t> passed;  // its outputs to those of the node that is asked about
};

// What `reader` reads of `from`, as slot and output of what that passes on.
std::set<std::string> uses_of(Reads& reads, NodeId reader, const Passer& from, bool itself, Passer& passer) {
  std::set<std::string> texts;
  const auto use = [&](const Reads::Read& read, uint32_t output) {
    passer.passed[read.slot] = output;
    texts.insert(std::to_string(read.slot) + ":" + std::to_string(output));
  };
  const std::span<const Reads::Read> all = reads.of(reader, from.node);
  if (!all.empty() && !all.front().data) texts.insert("^");
  if (itself) {
    for (const Reads::Read& read : all) {
      if (read.data) use(read, read.index);
    }
  } else {
    for (const auto& [index, output] : from.passed) {
      for (const Reads::Read& read : reads.of(reader, from.node, index)) use(read, output);
    }
  }
  return texts;
}

std::set<std::string> read_by(Side& side, Reads& reads, NodeId id) {
  const Graph& graph = side.graph();
  std::vector<Passer> open{{id, {}}};
  std::map<NodeId, std::set<std::string>> uses;  // by reader, which input reads which output of `id`
  size_t looked_at = 0;
  for (size_t at = 0; at < open.size() && open.size() < kMostReaders; ++at) {
    for (const NodeId reader : reads.readers(open[at].node)) {
      if (++looked_at > kMostLookedAt) break;
      Passer passer{reader, {}};
      std::set<std::string> texts = uses_of(reads, reader, open[at], at == 0, passer);
      if (side.labels().op(graph.op(reader)).conduct == Conduct::kPasses) {
        if (std::ranges::find(open, reader, &Passer::node) == open.end() && open.size() < kMostReaders)
          open.push_back(std::move(passer));
      } else if (!texts.empty() && (uses.size() < kMostReaders || uses.contains(reader))) {
        uses[reader].merge(texts);
      }
    }
  }
  std::set<std::string> found;  // a copy of a reader tells nothing more
  for (const auto& [reader, texts] : uses) {
    std::string text(graph.op(reader));
    for (const std::string& use : texts) text.append(" ").append(use);
    found.insert(std::move(text));
  }
  return found;
}

using Groups = std::map<std::pair<ClassId, ConditionId>, std::vector<NodeId>>;

Groups groups_of(const Side& side) {
  Groups groups;
  for (const auto& [node, own] : side.owns) groups[{own.built, own.when}].push_back(NodeId{node});
  return groups;
}

// By who reads them, then by name.
void put_in_order(Side& side, Reads& reads, std::vector<NodeId>& nodes) {
  std::map<std::tuple<std::set<std::string>, std::string, uint32_t>, NodeId> by_order;
  for (const NodeId id : nodes) {
    by_order.emplace(
        std::tuple(read_by(side, reads, id), side.name_in_a(side.graph().name(id)), index_of(id)), id);
  }
  nodes.clear();
  for (const auto& [place, id] : by_order) nodes.push_back(id);
}

// Those of names that both have first, and the others behind them.
void number_by_names(Side& a, Side& b, const std::vector<NodeId>& in_a, const std::vector<NodeId>& in_b,
                     Ordinals& ordinals_a, Ordinals& ordinals_b) {
  std::map<std::string, NodeId> of_b;
  for (const NodeId id : in_b) of_b.emplace(b.name_in_a(b.graph().name(id)), id);
  uint32_t number = 0;
  for (const NodeId id : in_a) {
    const auto same = of_b.find(a.name_in_a(a.graph().name(id)));
    if (same == of_b.end()) continue;
    ordinals_a[index_of(id)] = ordinals_b[index_of(same->second)] = number++;
  }
  const auto number_others = [&](const std::vector<NodeId>& nodes, Ordinals& ordinals) {
    uint32_t next = number;
    for (const NodeId id : nodes) next += ordinals.try_emplace(index_of(id), next).second ? 1 : 0;
  };
  number_others(in_a, ordinals_a);
  number_others(in_b, ordinals_b);
}

}  // namespace

Guesses guesses_of(const Numbered& a, const Numbered& b) {
  Groups in_a = groups_of(a.side), in_b = groups_of(b.side);
  Guesses guesses;
  std::optional<Reads> reads_a, reads_b;
  for (const auto& [key, nodes] : in_b) in_a[key];  // what only B has, too
  for (auto& [key, nodes] : in_a) {
    std::vector<NodeId>& others = in_b[key];
    if (nodes.size() < 2 && others.size() < 2) continue;
    if (!reads_a) reads_a.emplace(a.side, a.needed);
    if (!reads_b) reads_b.emplace(b.side, b.needed);
    put_in_order(a.side, *reads_a, nodes);
    put_in_order(b.side, *reads_b, others);
    auto& [ordinals_a, ordinals_b] = guesses.by_readers;
    for (uint32_t k = 0; k < nodes.size(); ++k) ordinals_a[index_of(nodes[k])] = k;
    for (uint32_t k = 0; k < others.size(); ++k) ordinals_b[index_of(others[k])] = k;
    number_by_names(a.side, b.side, nodes, others, guesses.by_names.first, guesses.by_names.second);
  }
  return guesses;
}

}  // namespace gedit
