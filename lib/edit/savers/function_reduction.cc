#include "edit/savers/function_reduction.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "base/error.h"
#include "edit/functions/function_def.h"
#include "edit/savers/entries.h"
#include "graph/library.h"
#include "graph/string_const.h"
#include "graph/wiring.h"
#include "model/savers.h"
#include "ops/kinds.h"

namespace gedit {
namespace {

constexpr size_t kSaveTensors = 3;  // the first input of a SaveV2 that is saved

// A list(...) attribute value, of which the items at these positions stay; for shapes and functions.
std::string with_items(std::string_view attr_value, const std::vector<bool>& dropped) {
  std::string list, value;
  size_t at = 0;
  for (Fields fields(last_bytes(attr_value, attr_field::kList)); fields.next(); ++at) {
    if (at >= dropped.size() || !dropped[at]) list += fields->raw;
  }
  append_bytes_field(value, attr_field::kList, list);
  return value;
}

// What is gone reads nothing any more.
class LeftSaverNodes final : public GraphSaverNodes {
 public:
  LeftSaverNodes(Graph& body, const Names& names, const Edges& consumers,
                 const std::unordered_set<std::string>& gone)
      : GraphSaverNodes(body, names, consumers, SharedConsts::kGoToTheLast), gone_(gone) {}

 private:
  bool still_reads(NodeId reader, NodeId id) const override {
    return !gone_.contains(std::string(graph_.name(reader))) && GraphSaverNodes::still_reads(reader, id);
  }

  const std::unordered_set<std::string>& gone_;
};

// A function without some of its arguments, and without what it did for them.
class BodyShrinking {
 public:
  BodyShrinking(std::string_view function_def, const std::shared_ptr<Arena>& arena,
                const std::vector<bool>& dropped)
      : function_def_(function_def), body_(function_def, function_field::kNode, arena), dropped_(dropped) {
    body_.decode();
    for (const bool gone : dropped) dropped_before_.push_back(dropped_before_.back() + (gone ? 1 : 0));
  }

  std::string run() {
    const Names names(body_);
    find_dead();
    find_useless(names);
    shrink_savers(names);
    for (uint32_t i = 0; i < body_.size(); ++i) {
      if (!is_dead(NodeId{i})) rewire(NodeId{i});
    }
    std::string nodes;
    for (uint32_t i = 0; i < body_.size(); ++i) {
      if (!is_dead(NodeId{i})) append_bytes_field(nodes, function_field::kNode, body_.bytes(NodeId{i}));
    }
    return assemble(nodes);
  }

 private:
  bool is_dead(NodeId id) const { return dead_.contains(std::string(body_.name(id))); }

  // What reads a tensor that is gone is gone; a Save node only where nothing is left to save.
  void find_dead() {
    const std::vector<std::string_view> arguments = argument_names(function_signature(body_));
    for (size_t i = 0; i < arguments.size() && i < dropped_.size(); ++i) {
      if (dropped_[i]) dead_.emplace(arguments[i]);
    }
    std::unordered_map<std::string, std::vector<NodeId>> readers;
    std::unordered_map<uint32_t, size_t> saved;  // tensors that a Save node still saves
    for (uint32_t i = 0; i < body_.size(); ++i) {
      size_t data = 0;
      for (const std::string& input : inputs_of(body_.bytes(NodeId{i}))) {
        if (input.starts_with('^')) break;
        ++data;
        readers[std::string(parse_body_input(input).node)].push_back(NodeId{i});
      }
      saved[i] = data - std::min<size_t>(data, kSaveTensors);
    }
    std::vector<std::string> stack(dead_.begin(), dead_.end());
    while (!stack.empty()) {
      const std::string name = std::move(stack.back());
      stack.pop_back();
      const auto found = readers.find(name);
      if (found == readers.end()) continue;
      for (const NodeId reader : found->second) {
        const std::string_view op = node_op(body_.bytes(reader));
        if (is(op, OpKind::kPartitionedCall)) {
          throw Error(Cause::kRefused, "passes on variables that go")
              .of(quoted("function", function_name(function_def_)));
        }
        if (is_save_v2_op(op) && --saved[index_of(reader)] > 0) continue;
        if (dead_.emplace(body_.name(reader)).second) stack.emplace_back(body_.name(reader));
      }
    }
    for (const Part& part : body_.parts()) {
      if (part.field != function_field::kRet) continue;
      const std::string_view text = map_entry(record_at(part.raw.data()).node_def).value;
      if (dead_.contains(std::string(parse_body_input(text).node))) {
        throw Error(Cause::kRefused, "returns what it does with a variable that goes")
            .of(quoted("function", function_name(function_def_)));
      }
    }
  }

  // What only served nodes that are gone: between a restored tensor and its assignment, say.
  void find_useless(const Names& names) {
    std::unordered_map<uint32_t, size_t> readers;  // that stay
    for (const Part& part : body_.parts()) {
      if (part.field != function_field::kRet && part.field != function_field::kControlRet) continue;
      const MapEntry entry = map_entry(record_at(part.raw.data()).node_def);
      const NodeId id = names.find(parse_body_input(entry.value).node);
      if (id != kNoNode) ++readers[index_of(id)];
    }
    std::vector<NodeId> stack;
    for (uint32_t i = 0; i < body_.size(); ++i) {
      if (is_dead(NodeId{i})) {
        stack.push_back(NodeId{i});
      }
      for (const std::string& input : inputs_of(body_.bytes(NodeId{i}))) {
        const NodeId source = names.find(parse_body_input(input).node);
        if (source != kNoNode) ++readers[index_of(source)];
      }
    }
    while (!stack.empty()) {
      const NodeId at = stack.back();
      stack.pop_back();
      for (const std::string& input : inputs_of(body_.bytes(at))) {
        const NodeId source = names.find(parse_body_input(input).node);
        if (source == kNoNode || --readers[index_of(source)] > 0) continue;
        if (dead_.emplace(body_.name(source)).second) stack.push_back(source);
      }
    }
  }

  // Positions that stay, among the tensors of Save and Restore nodes.
  void shrink_savers(const Names& names) {
    std::unordered_map<std::string, std::set<uint32_t>> read;  // of Restore nodes, by those who stay
    const auto reads = [&](std::string_view text) {
      const Input input = parse_body_input(text);
      if (!input.control) read[std::string(input.node)].insert(parse_body_port(input.port).number);
    };
    for (uint32_t i = 0; i < body_.size(); ++i) {
      if (!is_dead(NodeId{i})) each_input(body_.bytes(NodeId{i}), reads);
    }
    for (const Part& part : body_.parts()) {
      if (part.field == function_field::kRet) reads(map_entry(record_at(part.raw.data()).node_def).value);
    }
    const Edges consumers = reversed(producers(body_, names));
    LeftSaverNodes nodes(body_, names, consumers, dead_);
    for (const std::string_view argument : argument_names(function_signature(body_))) nodes.reserve(argument);
    const Savers savers = find_savers(body_, names, consumers);
    for (const auto* all : {&savers.saves, &savers.restores}) {
      for (const SaverNode& saver : *all) {
        const NodeId id = saver.node;
        if (is_dead(id)) continue;
        const std::vector<std::string> inputs = inputs_of(body_.bytes(id));
        const size_t count = count_tensors(body_.bytes(id));
        if (inputs.size() < saver.first_tensor) continue;
        std::vector<uint32_t> kept;
        for (uint32_t slot = 0; slot < count; ++slot) {
          const size_t at = saver.first_tensor + slot;
          const bool stays = saver.saves ? at < inputs.size() &&
                                               !dead_.contains(std::string(parse_body_input(inputs[at]).node))
                                         : read[std::string(body_.name(id))].contains(slot);
          if (stays) kept.push_back(slot);
        }
        if (kept.size() == count) continue;
        if (kept.empty()) {
          dead_.emplace(body_.name(id));
        } else {
          shrink(nodes, saver, kept, count);
        }
      }
    }
  }

  void shrink(LeftSaverNodes& nodes, const SaverNode& saver, const std::vector<uint32_t>& kept,
              size_t count) {
    for (const NodeId strings : {saver.names, saver.slices}) {
      const auto all = strings == kNoNode ? std::nullopt : string_const(body_.bytes(strings));
      if (!all || all->size() != count) {
        throw Error(Cause::kRefused, "the names of its tensors are not a Const")
            .of(quoted("function", function_name(function_def_)));
      }
    }
    body_.replace(saver.node, keep_tensors(nodes, saver, kept, inputs_of(body_.bytes(saver.node))));
    const std::string name(body_.name(saver.node));
    for (size_t i = 0; i < kept.size(); ++i) {
      renamed_[name + ":tensors:" + std::to_string(kept[i])] = name + ":tensors:" + std::to_string(i);
    }
  }

  std::string now(const std::string& text) const {
    const auto found = renamed_.find(text);
    return found == renamed_.end() ? text : found->second;
  }

  void rewire(NodeId id) {
    std::vector<std::string> inputs;
    bool changed = false;
    for (const std::string& input : inputs_of(body_.bytes(id))) {
      if (dead_.contains(std::string(parse_body_input(input).node))) {
        changed = true;
        continue;
      }
      inputs.push_back(now(input));
      changed = changed || inputs.back() != input;
    }
    if (changed) body_.replace(id, with_inputs(body_.bytes(id), inputs));
  }

  // The new number of an argument, nothing where it goes.
  std::optional<uint64_t> number_of(uint64_t argument) const {
    if (argument >= dropped_.size()) return argument - dropped_before_.back();
    if (dropped_[argument]) return std::nullopt;
    return argument - dropped_before_[argument];
  }

  std::string signature(std::string_view old, const std::set<std::string_view>& gone_outputs) const {
    std::string out;
    size_t argument = 0;
    for (Fields fields(old); fields.next();) {
      if (fields->bytes(op_def_field::kInput)) {
        const size_t here = argument++;
        if (here < dropped_.size() && dropped_[here]) continue;
      }
      if (fields->bytes(op_def_field::kControlOutput) && gone_outputs.contains(fields->value)) continue;
      out += fields->raw;
    }
    return out;
  }

  std::string assemble(const std::string& nodes) const {
    std::set<std::string_view> gone_outputs;
    for (const Part& part : body_.parts()) {
      if (part.field != function_field::kControlRet) continue;
      const MapEntry entry = map_entry(record_at(part.raw.data()).node_def);
      if (dead_.contains(std::string(entry.value))) gone_outputs.insert(entry.key);
    }
    std::string out;
    bool nodes_written = false;
    for (Fields fields(function_def_); fields.next();) {
      const std::string_view content = fields->value;
      if (fields->bytes(function_field::kNode)) {
        if (!nodes_written) out += nodes;
        nodes_written = true;
      } else if (fields->bytes(function_field::kSignature)) {
        append_bytes_field(out, fields->number, signature(content, gone_outputs));
      } else if (fields->bytes(function_field::kAttr) && map_entry(content).key == "_input_shapes") {
        std::string entry;
        append_bytes_field(entry, 1, "_input_shapes");
        append_bytes_field(entry, 2, with_items(map_entry(content).value, dropped_));
        append_bytes_field(out, fields->number, entry);
      } else if (fields->bytes(function_field::kControlRet)) {
        if (!gone_outputs.contains(map_entry(content).key)) out += fields->raw;
      } else if (fields->bytes(function_field::kRet)) {
        std::string entry;
        append_bytes_field(entry, 1, map_entry(content).key);
        append_bytes_field(entry, 2, now(std::string(map_entry(content).value)));
        append_bytes_field(out, fields->number, entry);
      } else if (fields->bytes(function_field::kArgAttr) || fields->bytes(function_field::kUniqueId)) {
        const std::optional<uint64_t> number = number_of(last_varint(content, 1));
        if (!number) continue;
        std::string entry;
        if (*number != 0) append_varint_field(entry, 1, *number);
        for (Fields parts(content); parts.next();) {
          if (parts->number != 1) entry += parts->raw;
        }
        append_bytes_field(out, fields->number, entry);
      } else {
        out += fields->raw;
      }
    }
    return out;
  }

  std::string_view function_def_;
  Graph body_;
  const std::vector<bool>& dropped_;
  std::vector<uint64_t> dropped_before_{0};  // by argument, and one more
  std::unordered_set<std::string> dead_;     // arguments and nodes
  std::map<std::string, std::string> renamed_;
};

}  // namespace

std::string function_without(std::string_view function_def, const std::shared_ptr<Arena>& arena,
                             const std::vector<bool>& dropped) {
  return BodyShrinking(function_def, arena, dropped).run();
}

}  // namespace gedit
