#include "diff/renames.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "graph/edges.h"
#include "graph/wiring.h"

namespace gedit {
namespace {

constexpr uint64_t kScramble = 0x9e3779b97f4a7c15;
constexpr uint64_t scrambled(uint64_t hash) {
  hash = (hash ^ (hash >> 32)) * 0xe7037ed1a0b428db;
  return hash ^ (hash >> 29);
}

// What a node is, whatever it is called.
uint64_t own_hash(std::string_view node_def) {
  const NodeHead head = node_head(node_def);
  uint64_t hash = name_hash(head.op), inputs = 0;
  each_input(node_def, [&](std::string_view) { ++inputs; });
  each_attr(node_def, [&](std::string_view key, std::string_view value) {
    // Names of its own, and what does not tell values apart.
    if (is_annotation(key) || attr_role(head.op, key) != Role::kNone) return;
    hash += scrambled(name_hash(key) * kScramble ^ name_hash(value));
  });
  return scrambled(hash + inputs * kScramble);
}

// The nodes of one graph that have no partner, each with a hash of what is around it.
class Surroundings {
 public:
  // `arguments`: what those of a function are called in the other graph.
  Surroundings(const Graph& graph, const std::vector<uint64_t>& known, const RenamedScopes& arguments)
      : graph_(graph), hashes_(known) {
    place_.assign(graph.size(), kNone);
    for (uint32_t i = 0; i < graph.size(); ++i) {
      if (known[i] != 0) continue;
      place_[i] = static_cast<uint32_t>(lone_.size());
      lone_.push_back(NodeId{i});
      hashes_[i] = own_hash(graph.bytes(NodeId{i})) | 1;
    }
    const Names names(graph);
    own_.reserve(lone_.size());
    begins_.push_back(0);
    for (const NodeId id : lone_) own_.push_back(hashes_[index_of(id)]);
    for (uint32_t i = 0; i < graph.size(); ++i) {
      uint32_t slot = 0;
      const bool lone = place_[i] != kNone;
      each_input(graph.bytes(NodeId{i}), [&](std::string_view text) {
        const Input input = parse_input_of(graph, text);
        const bool argument = graph.is_body() && input.port.empty() && !input.control;
        const NodeId from = argument ? kNoNode : names.find(input.node);
        const auto port = graph.is_body() ? static_cast<uint32_t>(name_hash(input.port)) : input.index();
        const uint32_t tag = input.control ? UINT32_MAX : slot++ * 31 + port;
        if (from == kNoNode) {
          std::string name;
          arguments.map_argument(text, name);
          if (lone) own_[place_[i]] += scrambled(name_hash(name) * kScramble + tag);
          return;
        }
        if (lone) inputs_.push_back({index_of(from), tag});
        if (place_[index_of(from)] != kNone) readers_.push_back({place_[index_of(from)], i, tag});
      });
      if (lone) begins_.push_back(static_cast<uint32_t>(inputs_.size()));
    }
  }

  const std::vector<NodeId>& lone() const { return lone_; }
  uint64_t hash(NodeId id) const { return hashes_[index_of(id)]; }
  void settle(NodeId id, uint64_t hash) {
    settled_.resize(graph_.size());
    settled_[index_of(id)] = true;
    hashes_[index_of(id)] = hash;
  }
  bool settled(NodeId id) const { return !settled_.empty() && settled_[index_of(id)]; }

  // One step further around each node.
  void widen() {
    std::vector<uint64_t> next(lone_.size());
    for (size_t k = 0; k < lone_.size(); ++k) {
      uint64_t hash = own_[k];
      for (uint32_t at = begins_[k]; at < begins_[k + 1]; ++at)
        hash += scrambled(hashes_[inputs_[at].node] * kScramble + inputs_[at].tag);
      next[k] = hash;
    }
    for (const Reader& reader : readers_)
      next[reader.of] +=
          scrambled((hashes_[reader.node] ^ kScramble) * kScramble + uint64_t{7} * reader.tag + 3);
    for (size_t k = 0; k < lone_.size(); ++k) {
      if (!settled(lone_[k])) hashes_[index_of(lone_[k])] = scrambled(next[k]) | 1;
    }
  }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  struct Read {
    uint32_t node, tag;
  };
  struct Reader {
    uint32_t of, node, tag;
  };
  const Graph& graph_;
  std::vector<uint64_t> hashes_;  // by node
  std::vector<uint32_t> place_;   // by node, among the lone ones
  std::vector<NodeId> lone_;
  std::vector<uint64_t> own_;  // by lone node, as the next three
  std::vector<uint32_t> begins_;
  std::vector<Read> inputs_;
  std::vector<Reader> readers_;
  std::vector<bool> settled_;
};

// `__inference_f_12_34` is `__inference_f`, and the numbers.
std::pair<std::string_view, std::vector<uint64_t>> numbered(std::string_view name) {
  std::vector<uint64_t> numbers;
  for (;;) {
    const size_t digits = name.find_last_not_of("0123456789");
    if (digits == name.npos || digits + 1 == name.size() || name[digits] != '_' || digits == 0) break;
    uint64_t number = 0;
    for (const char c : name.substr(digits + 1)) number = number * 10 + static_cast<uint64_t>(c - '0');
    numbers.insert(numbers.begin(), number);
    name = name.substr(0, digits);
  }
  return {name, numbers};
}

// The ops of a body, in no order.
uint64_t ops_hash(const Graph& body) {
  uint64_t hash = 0;
  // What is called may be renumbered, too.
  body.each_record(
      [&](std::string_view node_def) { hash += scrambled(name_hash(numbered(node_op(node_def)).first)); });
  return hash;
}

}  // namespace

std::vector<std::pair<NodeId, NodeId>> find_renamed_nodes(const Graph& before, const Graph& after,
                                                          const Matched& matched,
                                                          const RenamedScopes& names) {
  constexpr int kMostSteps = 24;
  std::vector<std::pair<NodeId, NodeId>> pairs;
  if (matched.added.empty()) return pairs;
  // A node that has a partner is known by that.
  std::vector<uint64_t> known_before(before.size()), known_after(after.size());
  size_t removed = 0;
  for (uint32_t i = 0; i < before.size(); ++i) {
    const NodeId partner = matched.partner[i];
    if (partner == kNoNode) {
      ++removed;
    } else {
      known_before[i] = known_after[index_of(partner)] =
          scrambled((uint64_t{index_of(partner)} + 1) * kScramble) | 1;
    }
  }
  if (removed == 0) return pairs;
  const RenamedScopes none;
  Surroundings a(before, known_before, names), b(after, known_after, none);
  struct Alike {
    std::vector<NodeId> a, b;
  };
  const auto groups = [&] {
    std::unordered_map<uint64_t, Alike> found;
    for (const NodeId id : a.lone()) {
      if (!a.settled(id)) found[a.hash(id)].a.push_back(id);
    }
    for (const NodeId id : b.lone()) {
      if (b.settled(id)) continue;
      if (const auto at = found.find(b.hash(id)); at != found.end()) at->second.b.push_back(id);
    }
    return found;
  };
  const auto settle = [&](NodeId in_a, NodeId in_b) {
    const uint64_t hash = scrambled((uint64_t{index_of(in_b)} + 1) * kScramble) | 1;
    a.settle(in_a, hash);
    b.settle(in_b, hash);
    pairs.emplace_back(in_a, in_b);
  };
  size_t idle = 0;
  for (int step = 0; step < kMostSteps && idle < 4 && pairs.size() < removed; ++step) {
    a.widen();
    b.widen();
    const size_t settled = pairs.size();
    for (const auto& [hash, alike] : groups()) {
      if (alike.a.size() == 1 && alike.b.size() == 1) settle(alike.a[0], alike.b[0]);
    }
    idle = pairs.size() == settled ? idle + 1 : 0;
  }
  // Of what nothing tells apart the first is the first.
  for (const auto& [hash, alike] : groups()) {
    if (alike.a.size() != alike.b.size()) continue;
    for (size_t i = 0; i < alike.a.size(); ++i) pairs.emplace_back(alike.a[i], alike.b[i]);
  }
  std::ranges::sort(pairs, {}, [](const auto& pair) { return index_of(pair.first); });
  return pairs;
}

std::vector<std::pair<std::string, std::string>> find_renumbered_functions(const Library& before,
                                                                           const Library& after) {
  struct Group {
    std::vector<const Function*> a, b;
  };
  std::unordered_map<std::string_view, const Function*> in_a, in_b;
  for (const Function& function : before.functions) in_a.emplace(function.name, &function);
  for (const Function& function : after.functions) in_b.emplace(function.name, &function);
  std::map<std::pair<std::string_view, uint64_t>, Group> groups;
  const auto group = [&](const Function& function) -> Group& {
    return groups[{numbered(function.name).first, ops_hash(function.body)}];
  };
  for (const Function& function : before.functions) {
    if (!in_b.contains(function.name)) group(function).a.push_back(&function);
  }
  for (const Function& function : after.functions) {
    if (!in_a.contains(function.name)) group(function).b.push_back(&function);
  }
  std::unordered_map<std::string_view, std::string_view> partner;
  const auto by_number = [](const Function* one, const Function* other) {
    return numbered(one->name).second < numbered(other->name).second;
  };
  for (auto& [key, alike] : groups) {
    if (alike.a.size() != alike.b.size()) continue;
    std::ranges::sort(alike.a, by_number);
    std::ranges::sort(alike.b, by_number);
    for (size_t i = 0; i < alike.a.size(); ++i) partner.emplace(alike.a[i]->name, alike.b[i]->name);
  }
  std::vector<std::pair<std::string, std::string>> pairs;
  for (const Function& function : before.functions) {
    const auto found = partner.find(function.name);
    if (found != partner.end()) pairs.emplace_back(found->first, found->second);
  }
  return pairs;
}

}  // namespace gedit
