#include "edit/changing/insert_readers.h"

#include <algorithm>

#include "base/error.h"
#include "base/message_edit.h"
#include "edit/basis/addresses.h"
#include "edit/basis/attributes.h"
#include "ops/kinds.h"

namespace gedit {

NodeSet nodes_of_savers(const Facts& facts) {
  NodeSet nodes(facts.graph().size());
  for (const SaverNode& save : facts.savers().saves) nodes.add(save.node);
  for (const SaverNode& save : facts.savers().saves) {
    for (const SavedTensor& tensor : save.tensors) {
      for (auto id = tensor.between.rbegin(); id != tensor.between.rend(); ++id) {
        const auto readers = facts.consumers().of(*id);
        if (!std::all_of(readers.begin(), readers.end(), [&](NodeId one) { return nodes.has(one); })) break;
        nodes.add(*id);
      }
    }
  }
  for (const SaverNode& restore : facts.savers().restores) {
    nodes.add(restore.node);
    for (const SavedTensor& tensor : restore.tensors) {
      for (const NodeId id : tensor.between) nodes.add(id);
    }
    for (const FilledState& filled : restore.filled) {
      if (!nodes.add(filled.end)) continue;
      for (const NodeId id : *filled.way) nodes.add(id);
    }
  }
  return nodes;
}

InsertReaders::InsertReaders(const InsertPlace& place) : place_(place), graph_(place.graph()) {
  for (uint32_t i = 0; i < graph_.size(); ++i) {
    if (!graph_.removed(NodeId{i})) read(NodeId{i});
  }
}

void InsertReaders::apply(Changes& changes) {
  Graph& graph = place_.graph();
  NodeSet readers(graph.size());
  for (auto& [id, node_def] : rewired_) {
    readers.add(id);
    graph.replace(id, node_def);
  }
  if (!place_.op().keeps_shape()) drop_output_shapes(graph, place_.consumers(), readers);
  changes.changed.insert(changes.changed.end(), said_.begin(), said_.end());
  changes.warnings.insert(changes.warnings.end(), warnings_.begin(), warnings_.end());
}

void InsertReaders::read(NodeId id) {
  const std::string_view node_def = graph_.bytes(id);
  bool hit = false;
  each_input(node_def, [&](std::string_view text) { hit = hit || target_of(id, text) != nullptr; });
  if (!hit || stays(id)) return;
  check_no_loop(id);
  const auto wanted = input_types(place_.ops(), node_def);
  std::vector<std::string> inputs;
  std::vector<std::string> reads;
  each_input(node_def, [&](std::string_view text) {
    const size_t slot = inputs.size();
    const InsertedBehind* target = target_of(id, text);
    const DType type = wanted && slot < wanted->size() ? (*wanted)[slot] : DType::kInvalid;
    if (target == nullptr || is_reference(type)) {
      inputs.emplace_back(text);
      return;
    }
    place_.check_fits(*target, type, quoted("node", address(place_.function(), graph_.name(id))) + " reads ");
    inputs.push_back(target->replacement);
    if (std::find(reads.begin(), reads.end(), target->inserted) == reads.end()) {
      warn_of_order(id, *target);
      reads.push_back(target->inserted);
    }
  });
  if (reads.empty()) return;
  std::string what = "reads ";
  for (const std::string& name : reads) what += (what.size() > 6 ? ", " : "") + name;
  said_.emplace_back(address(place_.function(), graph_.name(id)), what);
  rewired_.emplace_back(id, with_inputs(node_def, inputs));
}

// Savers and initializers keep what they read.
bool InsertReaders::stays(NodeId id) {
  const std::string_view op = node_op(graph_.bytes(id));
  if (is_save_op(op) || is_restore_op(op)) return true;  // in functions, too
  const Facts* facts = place_.facts();
  if (facts == nullptr) return false;
  if (facts->initializer_owner().contains(index_of(id))) return true;
  if (!saver_nodes_) saver_nodes_ = nodes_of_savers(*facts);
  return saver_nodes_->has(id);
}

const InsertedBehind* InsertReaders::target_of(NodeId reader, std::string_view input) const {
  const InsertedBehind* target = place_.target_of(parse_input_of(graph_, input));
  if (target == nullptr || !target->past_reads) return target;
  return is_identity_op(node_op(graph_.bytes(reader))) ? nullptr : target;
}

// A reference is read when its reader runs; the new node waits for nothing that the reader waits for.
void InsertReaders::warn_of_order(NodeId reader, const InsertedBehind& target) {
  if (!is_reference(target.type)) return;
  const std::vector<std::string_view> inputs = input_views(graph_.bytes(reader));
  if (inputs.empty() || !inputs.back().starts_with('^')) return;
  warnings_.push_back("node '" + printable(graph_.name(reader)) + "' read '" + printable(target.source) +
                      "' after '" + printable(inputs.back()) + "', '" + printable(target.inserted) +
                      "' may read it before");
}

// The Merge of a loop reads an Enter and a NextIteration, and nothing may come between.
void InsertReaders::check_no_loop(NodeId reader) const {
  if (!is_merge_op(node_op(graph_.bytes(reader)))) return;
  bool closes = false;
  std::string written;
  each_input(graph_.bytes(reader), [&](std::string_view text) {
    const Input input = parse_input_of(graph_, text);
    const NodeId id = input.control ? kNoNode : place_.names().find(input.node);
    closes = closes || (id != kNoNode && is_next_iteration_op(node_op(graph_.bytes(id))));
    if (const InsertedBehind* target = place_.target_of(input)) written = target->written;
  });
  if (!closes) return;
  throw refused("read by '" + printable(graph_.name(reader)) + "', which closes a loop")
      .of(quoted("tensor", written))
      .hint("insert before the Enter or inside the loop");
}

}  // namespace gedit
