#include "edit/savers/function_reduction.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "base/error.h"
#include "edit/functions/function_def.h"
#include "edit/savers/entries.h"
#include "graph/function_names.h"
#include "graph/library.h"
#include "graph/string_const.h"
#include "graph/wiring.h"
#include "model/savers.h"
#include "ops/kinds.h"

namespace gedit {
namespace {

constexpr size_t kSaveTensors = 3;  // the first input of a SaveV2 that is saved

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
class FunctionReduction {
 public:
  FunctionReduction(std::string_view function_def, const std::shared_ptr<Arena>& arena,
                    const std::vector<bool>& dropped, const IsFunction& is_function)
      : body_(function_def, function_field::kNode, arena),
        def_(body_),
        dropped_(dropped),
        is_function_(is_function) {}

  std::string run() {
    const Names names(body_);
    find_dead();
    find_useless(names);
    shrink_savers(names);
    for (uint32_t i = 0; i < body_.size(); ++i) {
      if (is_dead(NodeId{i})) {
        body_.remove(NodeId{i});
      } else {
        rewire(NodeId{i});
      }
    }
    def_.remove_arguments(dropped_);
    def_.map_returns([&](std::string_view, std::string_view source) { return now(std::string(source)); });
    def_.remove_control_outputs([&](std::string_view node) { return dead_.contains(std::string(node)); });
    return def_.encode();
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
        const std::string_view node_def = body_.bytes(reader);
        each_function_named(node_def, [&](std::string_view called) {
          if (is_function_(called))
            throw Error(Cause::kRefused, "passes on variables that go").of(quoted("function", def_.name()));
        });
        if (is_save_v2_op(node_op(node_def)) && --saved[index_of(reader)] > 0) continue;
        if (dead_.emplace(body_.name(reader)).second) stack.emplace_back(body_.name(reader));
      }
    }
    for (const Part& part : body_.parts()) {
      if (part.field != function_field::kRet) continue;
      const std::string_view text = map_entry(record_at(part.raw.data()).node_def).value;
      if (dead_.contains(std::string(parse_body_input(text).node))) {
        throw Error(Cause::kRefused, "returns what it does with a variable that goes")
            .of(quoted("function", def_.name()));
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
            .of(quoted("function", def_.name()));
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

  Graph body_;
  FunctionDef def_;
  const std::vector<bool>& dropped_;
  const IsFunction& is_function_;
  std::unordered_set<std::string> dead_;  // arguments and nodes
  std::map<std::string, std::string> renamed_;
};

}  // namespace

std::string function_without(std::string_view function_def, const std::shared_ptr<Arena>& arena,
                             const std::vector<bool>& dropped, const IsFunction& is_function) {
  return FunctionReduction(function_def, arena, dropped, is_function).run();
}

}  // namespace gedit
