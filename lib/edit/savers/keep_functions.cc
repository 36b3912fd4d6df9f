#include "edit/savers/keep_functions.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "base/error.h"
#include "checkpoint/bundle.h"
#include "edit/basis/names.h"
#include "graph/function_names.h"
#include "graph/string_const.h"
#include "model/saver_calls.h"
#include "model/saver_def.h"
#include "ops/kinds.h"

namespace gedit {
namespace {

constexpr uint32_t kSignatureInput = 2, kSignatureControl = 20;  // OpDef
constexpr size_t kSaveTensors = 3;                               // the first input of a SaveV2 that is saved
constexpr uint32_t kArgAttr = 7, kUniqueId = 8;  // FunctionDef: maps from an argument's number

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
    NewNames new_names(names);
    for (const std::string_view argument : argument_names(function_signature(body_)))
      new_names.reserve(argument);
    std::unordered_map<std::string, std::set<uint32_t>> read;  // of Restore nodes, by those who stay
    for (uint32_t i = 0; i < body_.size(); ++i) {
      if (is_dead(NodeId{i})) continue;
      for (const std::string& input : inputs_of(body_.bytes(NodeId{i}))) {
        const Input parsed = parse_body_input(input);
        if (parsed.control) continue;
        read[std::string(parsed.node)].insert(parsed.body_index());
        ++readers_[std::string(parsed.node)];
      }
    }
    for (const Part& part : body_.parts()) {
      if (part.field != function_field::kRet) continue;
      const Input parsed = parse_body_input(map_entry(record_at(part.raw.data()).node_def).value);
      read[std::string(parsed.node)].insert(parsed.body_index());
    }
    for (uint32_t i = 0; i < body_.size(); ++i) {
      const NodeId id{i};
      if (is_dead(id)) continue;
      const std::string_view op = node_op(body_.bytes(id));
      if (!is_save_v2_op(op) && !is_restore_v2_op(op)) continue;
      std::vector<std::string> inputs = inputs_of(body_.bytes(id));
      const std::vector<DType> types = type_list(find_attr(body_.bytes(id), "dtypes").value_or(""));
      if (inputs.size() < kSaveTensors) continue;
      std::vector<uint32_t> kept;
      for (uint32_t slot = 0; slot < types.size(); ++slot) {
        const bool stays =
            is_restore_v2_op(op)
                ? read[std::string(body_.name(id))].contains(slot)
                : slot + kSaveTensors < inputs.size() &&
                      !dead_.contains(std::string(parse_body_input(inputs[slot + kSaveTensors]).node));
        if (stays) kept.push_back(slot);
      }
      if (kept.size() == types.size()) continue;
      if (kept.empty()) {
        dead_.emplace(body_.name(id));
        continue;
      }
      shrink(names, new_names, id, kept, types);
    }
  }

  // A Const of names or slices for this reader alone.
  std::string own_strings(NodeId source, const std::vector<std::string>& strings, NewNames& new_names) {
    std::string node_def = with_strings(body_.bytes(source), strings);
    std::string name(body_.name(source));
    if (--readers_[name] == 0) {
      body_.replace(source, std::move(node_def));
      return name;
    }
    name = new_names.free(name);
    body_.append(with_name(node_def, name));
    return name;
  }

  void shrink(const Names& names, NewNames& new_names, NodeId id, const std::vector<uint32_t>& kept,
              const std::vector<DType>& types) {
    std::vector<std::string> inputs = inputs_of(body_.bytes(id));
    for (const size_t slot : {size_t{1}, size_t{2}}) {
      const NodeId source = names.find(parse_body_input(inputs[slot]).node);
      const auto strings = source == kNoNode ? std::nullopt : string_const(body_.bytes(source));
      if (!strings || strings->size() != types.size()) {
        throw Error(Cause::kRefused, "the names of its tensors are not a Const")
            .of(quoted("function", function_name(function_def_)));
      }
      std::vector<std::string> left;
      for (const uint32_t position : kept) left.push_back((*strings)[position]);
      inputs[slot] = own_strings(source, left, new_names) + ":output:0";
    }
    std::vector<DType> left;
    for (const uint32_t position : kept) left.push_back(types[position]);
    std::string node_def = with_attr(with_inputs(body_.bytes(id), inputs), "dtypes", type_list_value(left));
    node_def = with_attr(node_def, "_output_shapes", std::nullopt);
    body_.replace(id, node_def);
    const std::string name(body_.name(id));
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
      if (fields->bytes(kSignatureInput)) {
        const size_t here = argument++;
        if (here < dropped_.size() && dropped_[here]) continue;
      }
      if (fields->bytes(kSignatureControl) && gone_outputs.contains(fields->value)) continue;
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
      } else if (fields->bytes(kArgAttr) || fields->bytes(kUniqueId)) {
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
  std::unordered_map<std::string, size_t> readers_;  // that stay, by node
};

}  // namespace

SaverFunctionShrinking::SaverFunctionShrinking(Facts& facts, Closure& closure)
    : facts_(facts), closure_(closure) {
  if (facts.in_body()) return;
  std::unordered_set<std::string_view> functions;
  for (const Function& function : facts.selecting().library().functions) functions.insert(function.name);
  all_ = saver_calls(
      facts.model.meta(), facts.names(), [&](std::string_view name) { return functions.contains(name); },
      &groups_);
  known_.insert(all_.begin(), all_.end());
}

void SaverFunctionShrinking::complete(const std::function<bool(NodeId)>& stays) {
  calls_.clear();
  const Graph& graph = facts_.graph();
  for (const NodeId id : all_) {
    Call call{id, {}};
    bool any = false;
    for (const std::string& input : inputs_of(graph.bytes(id))) {
      if (input.starts_with('^')) break;
      const NodeId state = state_behind(graph, facts_.names(), input);
      call.dropped.push_back(state != kNoNode && !stays(state));
      any = any || (state != kNoNode && stays(state));
    }
    if (any) calls_.push_back(std::move(call));
  }
  if (calls_.empty()) return;
  const SaverDefNodes def = saver_def_nodes(facts_.model.meta().part(meta_field::kSaver), facts_.names());
  if (def.filename != kNoNode) closure_.want(def.filename);
  for (const Call& call : calls_) {
    closure_.want_alone(call.node);
    size_t slot = 0;
    for (const std::string& input : inputs_of(graph.bytes(call.node))) {
      const size_t here = slot++;
      if (here < call.dropped.size() && call.dropped[here]) continue;
      if (const auto tensor = tensor_if_there(facts_.names(), input)) closure_.want(tensor->node);
    }
  }
  for (const NodeId group : groups_) {
    const auto members = facts_.producers().of(group);
    if (std::any_of(members.begin(), members.end(), [&](NodeId id) { return closure_.nodes().has(id); }))
      closure_.want_alone(group);
  }
}

// What the function saves for an argument that goes, and the argument that is saved as the object graph.
void SaverFunctionShrinking::tell_keys(const Call& call, const Function& function,
                                       std::set<std::string, std::less<>>& dropped,
                                       std::set<NodeId>& object_graphs) const {
  Graph body = function.body;
  body.decode();
  const std::vector<std::string_view> arguments = argument_names(function_signature(body));
  const std::vector<std::string> inputs = inputs_of(facts_.graph().bytes(call.node));
  std::unordered_map<std::string_view, size_t> numbers;
  for (size_t i = 0; i < arguments.size() && i < inputs.size(); ++i) numbers.emplace(arguments[i], i);
  for (const SaverNode& save : find_savers(body, Names(body)).saves) {
    for (const SavedTensor& tensor : save.tensors) {
      const auto number = numbers.find(tensor.argument);
      if (number == numbers.end()) continue;
      const size_t at = number->second;
      if (at < call.dropped.size() && call.dropped[at]) dropped.insert(tensor.key);
      if (tensor.key != kObjectGraphKey) continue;
      if (const auto source = tensor_if_there(facts_.names(), inputs[at])) object_graphs.insert(source->node);
    }
  }
}

void SaverFunctionShrinking::apply(Changes& changes, std::set<std::string, std::less<>>& dropped,
                                   std::set<NodeId>& object_graphs) {
  Graph& graph = facts_.model.graph();
  for (const NodeId group : groups_) {
    std::vector<std::string> left, all = inputs_of(graph.bytes(group));
    for (const std::string& input : all) {
      const auto tensor = tensor_if_there(facts_.names(), input);
      if (!tensor || closure_.nodes().has(tensor->node)) left.push_back(input);
    }
    if (closure_.nodes().has(group) && left.size() != all.size())
      graph.replace(group, with_inputs(graph.bytes(group), left));
  }
  std::map<std::string, std::string, std::less<>> made;  // by name
  Library library = Library::decode(graph.part(graph_field::kLibrary), facts_.model.arena);
  for (const Call& call : calls_) {
    if (std::find(call.dropped.begin(), call.dropped.end(), true) == call.dropped.end()) continue;
    const std::string name(called_function(graph.bytes(call.node)));
    Function* function = library.find(name);
    if (function == nullptr) continue;
    tell_keys(call, *function, dropped, object_graphs);
    made[name] = BodyShrinking(function->body.message(), facts_.model.arena, call.dropped).run();
    std::vector<std::string> inputs;
    std::vector<DType> types, all = type_list(find_attr(graph.bytes(call.node), "Tin").value_or(""));
    size_t slot = 0;
    for (std::string& input : inputs_of(graph.bytes(call.node))) {
      const size_t here = slot++;
      if (here < call.dropped.size() && call.dropped[here]) continue;
      inputs.push_back(std::move(input));
      if (here < all.size()) types.push_back(all[here]);
    }
    std::string node_def = with_attr(graph.bytes(call.node), "Tin", type_list_value(types));
    node_def = with_attr(node_def, "_read_only_resource_inputs", std::nullopt);
    changes.changed.emplace_back(graph.name(call.node), "without what is gone");
    graph.replace(call.node, with_inputs(node_def, inputs));
  }
  if (made.empty()) return;
  std::string out;
  for (const Library::Item& item : library.items) {
    const auto found = item.field == 1 ? made.find(library.functions[item.function].name) : made.end();
    if (found == made.end()) {
      out += item.raw;
    } else {
      append_bytes_field(out, 1, found->second);
    }
  }
  graph.set_part(graph_field::kLibrary, std::move(out));
}

}  // namespace gedit
