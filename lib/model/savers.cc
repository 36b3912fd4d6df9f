#include "model/savers.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <unordered_set>

#include "graph/string_const.h"
#include "graph/types.h"
#include "graph/wiring.h"
#include "model/collections.h"
#include "ops/kinds.h"

namespace gedit {
namespace {

constexpr int kLongestWay = 16;           // nodes between a variable and its saver; savers have one to three
constexpr size_t kMostInAll = 1'000'000;  // nodes that compute what variables are restored to, of all ends

// What a way to or from a saver may pass, and where it ends. A body is read as TensorFlow 2 writes it, with
// arguments in place of variables; graphs have older savers, too.
class Ways {
 public:
  Ways(const Graph& graph, const Names& names) : graph_(graph), names_(names), body_(graph.is_body()) {}

  bool saves(std::string_view op) const { return body_ ? is_save_v2_op(op) : is_save_op(op); }
  bool restores(std::string_view op) const { return body_ ? is_restore_v2_op(op) : is_restore_op(op); }
  bool passes(std::string_view op) const {
    return is(op, body_ ? OpKind::kPassesSaved : OpKind::kPassesSavedInGraph);
  }
  bool takes(std::string_view op) const { return is(op, body_ ? OpKind::kTakesRestored : OpKind::kAssign); }
  bool last_taker() const { return body_; }  // of several that take a tensor: the last one, else the first

  Input parsed(std::string_view input) const { return parse_input_of(graph_, input); }
  uint32_t output(const Input& input) const {
    return body_ ? parse_body_port(input.port).number : input.index();
  }

  struct End {
    NodeId variable = kNoNode;
    std::string_view argument;
  };
  // Where the value of `input` comes from; `between` gains the nodes on the way, nearest to it first.
  End source(std::string_view input, int longest, std::vector<NodeId>* between) const {
    std::vector<NodeId> way;
    for (int step = 0; step < longest; ++step) {
      const Input one = parsed(input);
      const NodeId id = one.control ? kNoNode : names_.find(one.node);
      End end;
      if (id == kNoNode) {
        if (one.control || !body_) break;
        end.argument = one.node;
      } else if (graph_.is(id, OpKind::kVariable)) {
        end.variable = id;
      } else {
        if (!passes(graph_.op(id))) break;
        way.push_back(id);
        input = first_input(id);
        if (input.empty()) break;
        continue;
      }
      if (between != nullptr) between->assign(way.rbegin(), way.rend());
      return end;
    }
    return {};
  }

  NodeId const_behind(const std::vector<std::string_view>& inputs, size_t slot) const {
    if (slot >= inputs.size()) return kNoNode;
    NodeId id = names_.find(parsed(inputs[slot]).node);
    for (int step = 0; id != kNoNode && step < kLongestWay; ++step) {
      const std::string_view node_def = graph_.bytes(id);
      if (is_const_op(node_op(node_def))) return string_const(node_def, 0) ? id : kNoNode;
      if (!passes(node_op(node_def))) return kNoNode;
      const std::string_view next = first_input(id);
      id = next.empty() ? kNoNode : names_.find(parsed(next).node);
    }
    return kNoNode;
  }

  std::string_view first_input(NodeId id) const {
    std::string_view first;
    each_input(graph_.bytes(id), [&](std::string_view text) {
      if (first.empty()) first = text;
    });
    return first;
  }

 private:
  const Graph& graph_;
  const Names& names_;
  const bool body_;
};

class SaverReader {
 public:
  SaverReader(const Graph& graph, const Names& names, const Edges& consumers)
      : graph_(graph), names_(names), consumers_(consumers), ways_(graph, names) {}

  SaverNode read(NodeId id) const {
    const std::string_view node_def = graph_.bytes(id);
    const std::vector<std::string_view> inputs = input_views(node_def);
    const bool sliced = is(node_op(node_def), OpKind::kTakesSlices);
    SaverNode saver;
    saver.node = id;
    saver.saves = ways_.saves(node_op(node_def));
    saver.first_tensor = sliced ? 3 : 2;
    saver.names = ways_.const_behind(inputs, 1);
    if (sliced || !saver.saves) saver.slices = ways_.const_behind(inputs, 2);
    // Many may read one Const: no more of it than the node has tensors.
    const size_t most = saver.saves ? inputs.size() : outputs_of(node_def);
    std::vector<std::string> keys = strings(saver.names, most), slices = strings(saver.slices, most);
    saver.tensors.reserve(keys.size());
    for (uint32_t slot = 0; slot < keys.size(); ++slot) {
      SavedTensor tensor;
      tensor.slot = slot;
      tensor.key = std::move(keys[slot]);
      if (slot < slices.size()) tensor.slice = std::move(slices[slot]);
      if (saver.saves) {
        const size_t at = saver.first_tensor + slot;
        if (at >= inputs.size() || inputs[at].starts_with('^')) break;
        end_in(ways_.source(inputs[at], kLongestWay, &tensor.between), tensor);
      }
      saver.tensors.push_back(std::move(tensor));
    }
    if (!saver.saves) follow(saver);
    return saver;
  }

  // Ends that get what is computed from restored tensors, perhaps of several Restore nodes. Linear.
  void find_filled(std::vector<SaverNode>& restores) const {
    std::unordered_set<uint32_t> known, behind;
    Restores by_node;
    std::vector<NodeId> open, ends;
    for (SaverNode& restore : restores) {
      by_node.emplace(index_of(restore.node), &restore);
      behind.insert(index_of(restore.node));
      open.push_back(restore.node);
      for (SavedTensor& tensor : restore.tensors) {
        if (!tensor.between.empty() && !ways_.takes(graph_.op(tensor.between.back()))) tensor.between.clear();
      }
      for (const auto* tensors : {&restore.tensors, &restore.more_ends}) {
        for (const SavedTensor& tensor : *tensors) {
          if (!tensor.between.empty()) known.insert(index_of(tensor.between.back()));
        }
      }
    }
    while (!open.empty()) {
      const NodeId at = open.back();
      open.pop_back();
      for (const NodeId reader : consumers_.of(at)) {
        if (known.contains(index_of(reader)) || behind.contains(index_of(reader))) continue;
        bool reads = false;
        each_source(reader, [&](NodeId source, uint32_t) { reads = reads || source == at; });
        if (!reads) continue;
        behind.insert(index_of(reader));
        const std::string_view op = graph_.op(reader);
        (kinds_of(op).has_any(OpKind::kAssign | OpKind::kFillsState) ? ends : open).push_back(reader);
      }
    }
    std::ranges::sort(ends);
    size_t left = kMostInAll;
    for (const NodeId end : ends) fill(end, behind, by_node, left);
  }

 private:
  static size_t outputs_of(std::string_view node_def) {
    if (!is_restore_v2_op(node_op(node_def))) return 1;
    return type_list(find_attr(node_def, "dtypes").value_or("")).size();
  }

  std::vector<std::string> strings(NodeId id, size_t most) const {
    if (id == kNoNode) return {};
    return string_const(graph_.bytes(id), most).value_or(std::vector<std::string>());
  }

  static void end_in(const Ways::End& end, SavedTensor& tensor) {
    tensor.variable = end.variable;
    tensor.argument = end.argument;
  }

  // A node that takes the value of an output on: an assignment of it, or what hands it on.
  struct Taker {
    uint32_t output;
    NodeId node;
    uint32_t slot;
  };

  // The one that counts comes first.
  std::vector<Taker> takers(NodeId from) const {
    std::vector<Taker> found;
    for (const NodeId reader : consumers_.of(from)) {
      const std::string_view op = graph_.op(reader);
      const bool takes = ways_.takes(op);
      if (!takes && !ways_.passes(op)) continue;
      const std::vector<std::string_view> inputs = input_views(graph_.bytes(reader));
      const uint32_t first = takes ? 1 : 0, last = is_table_import_op(op) ? 2 : first;
      for (uint32_t slot = first; slot <= last && slot < inputs.size(); ++slot) {
        const Input input = ways_.parsed(inputs[slot]);
        if (!input.control && names_.find(input.node) == from)
          found.push_back({ways_.output(input), reader, slot});
      }
    }
    if (ways_.last_taker()) std::reverse(found.begin(), found.end());
    return found;
  }

  // From the restored tensors forward to the assignments.
  void follow(SaverNode& restore) const {
    for (const Taker& taker : takers(restore.node)) {
      if (taker.output >= restore.tensors.size()) continue;
      SavedTensor& tensor = restore.tensors[taker.output];
      if (tensor.between.empty()) {
        follow(taker, tensor);
      } else if (!graph_.is_body()) {
        SavedTensor other;
        other.slot = tensor.slot;
        other.key = tensor.key;
        other.slice = tensor.slice;
        follow(taker, other);
        if (other.variable != kNoNode) restore.more_ends.push_back(std::move(other));
      }
    }
  }

  void follow(Taker taker, SavedTensor& tensor) const {
    for (int step = 0; step < kLongestWay; ++step) {
      tensor.between.push_back(taker.node);
      if (ways_.takes(graph_.op(taker.node))) {
        tensor.taken_at = taker.slot;
        end_in(ways_.source(ways_.first_input(taker.node), kLongestWay, nullptr), tensor);
        return;
      }
      const std::vector<Taker> next = takers(taker.node);
      if (next.empty()) return;
      taker = next.front();
    }
  }

  template <typename Use>
  void each_source(NodeId reader, Use use) const {
    each_input(graph_.bytes(reader), [&](std::string_view text) {
      const Input input = ways_.parsed(text);
      const NodeId source = input.control ? kNoNode : names_.find(input.node);
      if (source != kNoNode) use(source, input.index());
    });
  }

  using Restores = std::unordered_map<uint32_t, SaverNode*>;  // by node

  void fill(NodeId end, const std::unordered_set<uint32_t>& behind, const Restores& restores,
            size_t& left) const {
    const std::string_view first = ways_.first_input(end);
    NodeId state = ways_.source(first, kLongestWay, nullptr).variable;
    if (state == kNoNode) state = names_.find(ways_.parsed(first).node);
    if (state == kNoNode) return;
    std::vector<NodeId> way;
    std::map<uint32_t, std::set<uint32_t>> slots;  // by Restore node
    std::unordered_set<uint32_t> seen;
    std::vector<std::pair<NodeId, bool>> open{{end, false}};
    while (!open.empty() && left > 0) {
      const auto [at, done] = open.back();
      open.pop_back();
      if (done) {
        if (at != end) way.push_back(at);
        continue;
      }
      if (!seen.insert(index_of(at)).second) continue;
      --left;
      open.emplace_back(at, true);
      each_source(at, [&](NodeId source, uint32_t output) {
        if (const auto restore = restores.find(index_of(source)); restore != restores.end()) {
          if (output < restore->second->tensors.size()) slots[index_of(source)].insert(output);
        } else if (behind.contains(index_of(source))) {
          open.emplace_back(source, false);
        }
      });
    }
    if (left == 0) return;
    const auto shared = std::make_shared<const std::vector<NodeId>>(std::move(way));
    for (const auto& [node, read] : slots)
      restores.at(node)->filled.push_back({end, state, shared, {read.begin(), read.end()}});
  }

  const Graph& graph_;
  const Names& names_;
  const Edges& consumers_;
  const Ways ways_;
};

std::vector<NodeId> saver_nodes(const Graph& graph, const Ways& ways) {
  std::vector<NodeId> nodes;
  graph.each_of(OpKind::kSave | OpKind::kRestore, [&](NodeId id) {
    const std::string_view op = graph.op(id);
    if (ways.saves(op) || ways.restores(op)) nodes.push_back(id);
  });
  return nodes;
}

Savers read_savers(const Graph& graph, const Names& names, const Edges& consumers,
                   const std::vector<NodeId>& nodes) {
  const SaverReader reader(graph, names, consumers);
  Savers savers;
  for (const NodeId id : nodes) {
    SaverNode saver = reader.read(id);
    (saver.saves ? savers.saves : savers.restores).push_back(std::move(saver));
  }
  if (!graph.is_body()) reader.find_filled(savers.restores);
  return savers;
}

}  // namespace

NodeId variable_behind(const Graph& graph, const Names& names, std::string_view input,
                       std::vector<NodeId>* between) {
  if (between != nullptr) between->clear();
  return Ways(graph, names).source(input, kLongestWay, between).variable;
}

NodeId state_behind(const Graph& graph, const Names& names, std::string_view input,
                    std::vector<NodeId>* between) {
  const NodeId variable = variable_behind(graph, names, input, between);
  if (variable != kNoNode) return variable;
  const auto node = [&](std::string_view text) {
    const Input parsed = parse_input(text);
    return parsed.control ? kNoNode : names.find(parsed.node);
  };
  NodeId id = node(input);
  if (id == kNoNode) return id;
  if (!graph.is(id, OpKind::kTableExport)) return graph.is(id, OpKind::kTable) ? id : kNoNode;
  const std::vector<std::string_view> inputs = input_views(graph.bytes(id));
  const NodeId table = inputs.empty() ? kNoNode : node(inputs.front());
  if (table == kNoNode || !graph.is(table, OpKind::kTable)) return kNoNode;
  if (between != nullptr) between->push_back(id);
  return table;
}

NodeSet main_saver_nodes(const Graph& graph, const Edges& producers, const Savers& all,
                         const std::vector<NodeId>& operations) {
  NodeSet ends(graph.size()), nodes(graph.size()), main(graph.size());
  for (const NodeId id : operations) {
    if (id != kNoNode) ends.add(id);
  }
  const NodeSet reached = reach(ends, producers, kAnyDistance);
  for (const auto* savers : {&all.saves, &all.restores}) {
    for (const SaverNode& saver : *savers) {
      nodes.add(saver.node);
      if (reached.has(saver.node)) main.add(saver.node);
    }
  }
  return main.empty() ? nodes : main;
}

Savers main_savers(const Graph& graph, const Edges& producers, Savers all,
                   const std::vector<NodeId>& operations) {
  const NodeSet main = main_saver_nodes(graph, producers, all, operations);
  for (auto* savers : {&all.saves, &all.restores})
    std::erase_if(*savers, [&](const SaverNode& saver) { return !main.has(saver.node); });
  return all;
}

std::unordered_set<uint32_t> restore_ends(const Savers& savers) {
  std::unordered_set<uint32_t> ends;
  for (const SaverNode& restore : savers.restores) {
    for (const auto* tensors : {&restore.tensors, &restore.more_ends}) {
      for (const SavedTensor& tensor : *tensors) {
        if (!tensor.between.empty()) ends.insert(index_of(tensor.between.back()));
      }
    }
    for (const FilledState& filled : restore.filled) ends.insert(index_of(filled.end));
  }
  return ends;
}

std::unordered_map<uint32_t, std::string_view> variable_keys(const Savers& savers, const NodeSet* of) {
  std::unordered_map<uint32_t, std::string_view> keys;
  const auto add = [&](const auto& nodes) {
    for (const auto& node : nodes) {
      if (of != nullptr && !of->has(node.node)) continue;
      for (const auto& tensor : node.tensors) {
        if (tensor.variable != kNoNode) keys.emplace(index_of(tensor.variable), tensor.key);
      }
    }
  };
  add(savers.saves);
  add(savers.restores);
  return keys;
}

Savers find_savers(const Graph& graph, const Names& names, const Edges& consumers) {
  return read_savers(graph, names, consumers, saver_nodes(graph, Ways(graph, names)));
}

Savers find_savers(const Graph& graph, const Names& names) {
  const std::vector<NodeId> nodes = saver_nodes(graph, Ways(graph, names));
  return nodes.empty() ? Savers() : read_savers(graph, names, reversed(producers(graph, names)), nodes);
}

std::unordered_set<uint32_t> variable_initializers(const MetaGraph& meta, const Names& names) {
  std::unordered_set<uint32_t> initializers;
  for (const Collection& collection : collections(meta)) {
    if (collection.kind != collection_kind::kBytesList || !holds_variables(collection.key)) continue;
    for (const std::string_view item : collection.items) {
      const NodeId id = names.find(node_of(variable_names(item).initializer));
      if (id != kNoNode) initializers.insert(index_of(id));
    }
  }
  return initializers;
}

Savers find_savers(const Graph& graph, const Names& names, const Edges& consumers,
                   const std::unordered_set<uint32_t>& initializers) {
  return find_savers(graph, names, consumers, initializers, saver_nodes(graph, Ways(graph, names)));
}

Savers find_savers(const Graph& graph, const Names& names, const Edges& consumers,
                   const std::unordered_set<uint32_t>& initializers, const std::vector<NodeId>& nodes) {
  Savers savers = read_savers(graph, names, consumers, nodes);
  std::erase_if(savers.restores, [&](const SaverNode& restore) {
    return std::ranges::any_of(restore.tensors,
                               [&](const SavedTensor& tensor) {
                                 return !tensor.between.empty() &&
                                        initializers.contains(index_of(tensor.between.back()));
                               }) ||
           std::ranges::any_of(restore.filled, [&](const FilledState& filled) {
             return initializers.contains(index_of(filled.end));
           });
  });
  return savers;
}

}  // namespace gedit
