// gedit set: devices, attributes and shapes of nodes.
//
// The nodes' names and inputs stay as they are, so what was derived from them holds from the first step to
// the last. A device that all nodes get in the last step is a mapping, which costs no memory per node.
#include "edit/edits.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <unordered_map>

#include "base/error.h"
#include "base/map_entry.h"
#include "base/message_edit.h"
#include "base/near.h"
#include "edit/basis/addresses.h"
#include "edit/basis/attributes.h"
#include "edit/basis/tensor_info.h"
#include "edit/changing/stale_sizes.h"
#include "graph/listing.h"
#include "graph/types.h"
#include "model/collections.h"
#include "ops/kinds.h"
#include "select/selection.h"
#include "select/tensors.h"

namespace gedit {
namespace {

// Every node as it is, on one device.
class OnDevice final : public Mapping {
 public:
  explicit OnDevice(std::string device) : device_(std::move(device)) {}
  void node(std::string_view name, std::string& out) const override { out += name; }
  bool input(const NodeHead& /*reader*/, std::string_view input, std::string& out) const override {
    out += input;
    return true;
  }
  const std::string* device() const override { return &device_; }

 private:
  std::string device_;
};

std::string with_device(std::string_view node_def, std::string_view device) {
  return device.empty()
             ? only_fields(node_def, [](const Field& field) { return !field.bytes(node_field::kDevice); })
             : with_field(node_def, node_field::kDevice, device);
}

bool attr_name_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
         c == '-';
}

// SEL:NAME=VALUE or SEL:NAME, taken apart at the last `:NAME=` outside quotes, or `:NAME` at the end.
struct AttrStep {
  std::string selector, name;
  std::optional<std::string> value;  // as written
};
AttrStep parse_attr_step(const std::string& text) {
  size_t colon = std::string::npos, equals = std::string::npos;
  bool in_quotes = false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (in_quotes && text[i] == '\\') {
      ++i;
      continue;
    }
    if (text[i] == '"') in_quotes = !in_quotes;
    if (in_quotes || text[i] != ':') continue;
    size_t end = i + 1;
    while (end < text.size() && attr_name_letter(text[end])) ++end;
    if (end == i + 1 || (end < text.size() && text[end] != '=')) continue;
    colon = i;
    equals = end;
  }
  if (colon == std::string::npos || colon == 0) throw misused(text, "is no SEL:NAME=VALUE, nor SEL:NAME");
  AttrStep step{text.substr(0, colon), text.substr(colon + 1, equals - colon - 1), std::nullopt};
  if (equals < text.size()) step.value = text.substr(equals + 1);
  return step;
}

// Attributes of an op that say nothing of the shape of what it gives.
bool keeps_shape(const AttrDef& attr) {
  static constexpr std::array<std::string_view, 15> kNames{
      "container",   "shared_name",         "use_locking", "message",      "frame_name",
      "is_constant", "parallel_iterations", "seed",        "seed2",        "swap_memory",
      "first_n",     "use_cudnn_on_gpu",    "summarize",   "config_proto", "executor_type"};
  return attr.type == "type" || attr.type == "float" || attr.type == "list(type)" ||
         std::find(kNames.begin(), kNames.end(), attr.name) != kNames.end();
}

Shape shape_attr(std::string_view node_def) {
  const auto shape = find_attr(node_def, "shape");
  if (!shape) return std::nullopt;
  return parse_shape_proto(last_bytes(*shape, attr_field::kShape));
}

std::string shown(const Shape& shape) { return shape ? shape_text(shape) : "[*]"; }

class Setting {
 public:
  Setting(Model& model, Registry& ops, bool want_changes)
      : model_(model), ops_(ops), selecting_(model, ops), want_changes_(want_changes) {}

  void take(const SetStep& step, bool last) {
    switch (step.is) {
      case SetStep::Is::kDevice:
        return set_device(step.text, last);
      case SetStep::Is::kAttr:
        return set_attr(step.text);
      case SetStep::Is::kShape:
        return set_shape(step.text);
    }
  }

  Changes finish() {
    for (auto& [function, stale] : stale_) drop_output_shapes(*stale.graph, consumers(function), stale.nodes);
    if (functions_edited_) graph().set_part(graph_field::kLibrary, selecting_.library().encode());
    if (on_device_) graph().map_all(on_device_);
    return std::move(changes_);
  }

 private:
  struct Stale {
    Graph* graph;
    NodeSet nodes;
  };

  Graph& graph() { return model_.graph(); }

  // Derived from a function's body when it is needed; `function` is empty for the main graph.
  const Names& names(const std::string& function) {
    if (function.empty()) return selecting_.names();
    auto& made = body_names_[function];
    if (!made) made = std::make_unique<Names>(find_function(selecting_.library(), function).body);
    return *made;
  }
  const Edges& consumers(const std::string& function) {
    auto& made = consumers_[function];
    if (!made) {
      made = std::make_unique<Edges>(reversed(
          function.empty() ? selecting_.producers()
                           : producers(find_function(selecting_.library(), function).body, names(function))));
    }
    return *made;
  }

  // Calls use(graph, id, function) for every node hit.
  template <typename Use>
  void each(const Selection& selection, Use use) {
    for (const NodeId id : selection.nodes.nodes()) use(graph(), id, std::string());
    for (const auto& [index, nodes] : selection.in_functions) {
      Function& function = selecting_.library().functions[index];
      for (const NodeId id : nodes.nodes()) use(function.body, id, std::string(function.name));
    }
  }

  void replace(Graph& where, NodeId id, std::string node_def) {
    functions_edited_ = functions_edited_ || where.is_body();
    where.replace(id, std::move(node_def));
  }

  void say(const std::string& function, std::string_view name, std::string what) {
    if (want_changes_) changes_.changed.emplace_back(address(function, name), std::move(what));
  }

  void mark_stale(Graph& where, const std::string& function, NodeId id) {
    Stale& stale = stale_.try_emplace(function, Stale{&where, NodeSet(where.size())}).first->second;
    stale.nodes.add(id);
  }

  void set_device(const std::string& text, bool last) {
    const size_t equals = text.rfind('=');
    if (equals == std::string::npos || equals == 0) throw misused(text, "is no SEL=DEV");
    const std::string device = text.substr(equals + 1);
    const Selection selection = selecting_.require(text.substr(0, equals));
    uint32_t there = 0;
    for (uint32_t i = 0; i < graph().size(); ++i) there += graph().removed(NodeId{i}) ? 0 : 1;
    const bool all = last && selection.nodes.count() == there;
    bool any = false;
    each(selection, [&](Graph& where, NodeId id, const std::string& function) {
      const NodeHead head = node_head(where.bytes(id));
      if (head.device == device) return;
      say(function, head.name, "device '" + std::string(head.device) + "' -> '" + device + "'");
      if (all && !where.is_body()) {
        any = true;
      } else {
        replace(where, id, with_device(where.bytes(id), device));
      }
    });
    if (any) on_device_ = std::make_shared<const OnDevice>(device);
  }

  const std::optional<OpDef>& definition(std::string_view op) {
    const auto found = definitions_.find(op);
    if (found != definitions_.end()) return found->second;
    const std::string_view bytes = ops_.find(op);
    std::optional<OpDef> def;
    if (!bytes.empty()) def = parse_op_def(bytes);
    return definitions_.emplace(op, std::move(def)).first->second;
  }

  void set_attr(const std::string& text) {
    const AttrStep step = parse_attr_step(text);
    std::optional<std::string> value;
    if (step.value) value = parse_attr_text(*step.value);
    bool any = value.has_value();
    Near near(step.name);
    each(selecting_.require(step.selector), [&](Graph& where, NodeId id, const std::string& function) {
      const std::string_view node_def = where.bytes(id);
      const std::optional<std::string_view> old = find_attr(node_def, step.name);
      any = any || old.has_value();
      if (!any) each_attr(node_def, [&](std::string_view key, std::string_view) { near.offer(key); });
      if (!value && !old) return;
      const std::optional<OpDef>& op = definition(node_op(node_def));
      const AttrDef* attr = op ? op->find_attr(step.name) : nullptr;
      if (value && op) check_attr(*op, attr, step.name, *value, address(function, node_name(node_def)));
      if (value && old == std::string_view(*value)) return;
      say(function, node_name(node_def), step.name + (step.value ? ": " + *step.value : " removed"));
      if (attr != nullptr && !keeps_shape(*attr) && other_meaning(*attr, old, value))
        mark_stale(where, function, id);
      replace(where, id,
              with_attr(node_def, step.name, value ? std::optional<std::string_view>(*value) : std::nullopt));
    });
    if (!any) {
      throw refused("no node that it hits has " + quoted("attribute", step.name))
          .of(quoted("selector", step.selector))
          .hint(near.did_you_mean());
    }
  }

  static void check_attr(const OpDef& op, const AttrDef* attr, const std::string& name,
                         std::string_view value, const std::string& node) {
    if (attr != nullptr) return check_attr_value(*attr, value);
    if (name.starts_with('_')) return;  // what is not the op's own, anybody may add
    throw no_such_attr(op, name).of(quoted("node", node) + " (" + printable(op.name) + ")");
  }

  // An attribute that is absent has its default.
  static bool other_meaning(const AttrDef& attr, std::optional<std::string_view> old,
                            const std::optional<std::string>& value) {
    const std::string_view before = old ? *old : attr.default_value;
    return before != (value ? std::string_view(*value) : attr.default_value);
  }

  void set_shape(const std::string& text) {
    const size_t equals = text.rfind('=');
    if (equals == std::string::npos || equals == 0) throw misused(text, "is no T=SHAPE");
    const std::string written = text.substr(0, equals);
    const Shape shape = parse_shape(text.substr(equals + 1));
    std::string function;
    NodeId id = kNoNode;
    Graph& where = find_node(written, function, id);
    const std::string_view node_def = where.bytes(id), op = node_op(node_def);
    const std::string name = address(function, node_name(node_def));
    const bool variable = is_variable_op(op);
    if (!variable && !is_placeholder_op(op)) {
      throw refused(quoted("node", name) + " (" + printable(op) + ") has no shape of its own")
          .of(quoted("tensor", written))
          .hint("--shape is for placeholders and variables");
    }
    const Shape before = shape_attr(node_def);
    const std::string proto = shape_proto(shape);
    std::string value;
    append_bytes_field(value, attr_field::kShape, proto);
    std::string edited = with_attr(node_def, "shape", value);
    // What a handle gives stays a handle. Else the node's own `_output_shapes` is known anew.
    const bool handle = is_var_handle_op(op);
    if (!handle && find_attr(node_def, "_output_shapes")) {
      std::string list, shapes;
      append_bytes_field(list, attr_field::kShape, proto);
      append_bytes_field(shapes, attr_field::kList, list);
      edited = with_attr(edited, "_output_shapes", shapes);
    }
    if (!handle && function.empty()) set_signature_shapes(node_name(node_def), proto);
    if (edited == node_def) return;
    say(function, node_name(node_def), "shape " + shown(before) + " -> " + shown(shape));
    const std::string plain(node_name(node_def));
    replace(where, id, std::move(edited));
    if (before && shape && *before == *shape) return;
    for (const NodeId reader : consumers(function).of(id)) {
      each_input(where.bytes(reader), [&](std::string_view input) {
        const Input parsed = parse_input_of(where, input);
        if (!parsed.control && parsed.node == plain) mark_stale(where, function, reader);
      });
    }
    for (const OldSize& old :
         old_sizes(where, names(function), consumers(function), ops_, id, before, shape)) {
      changes_.warnings.push_back("'" + printable(address(function, where.name(old.constant))) + "' holds " +
                                  std::to_string(old.size) + ", the old size of dimension " +
                                  std::to_string(old.dimension) + " of '" + printable(name) + "'");
    }
  }

  // The node of the tensor T, which is its first output.
  Graph& find_node(const std::string& written, std::string& function, NodeId& id) {
    const bool of_signature = signature_tensor(model_, written).has_value();
    const Address at = of_signature ? Address{{}, written} : split_address(written);
    function = at.function;
    if (function.empty()) {
      const TensorRef tensor = find_tensor(model_, selecting_.names(), ops_, written);
      id = tensor.node;
      if (tensor.index > 0)
        find_tensor(model_, selecting_.names(), ops_, tensor_text(graph(), tensor));  // refuses it
      return graph();
    }
    Graph& body = find_function(selecting_.library(), function).body;
    body.decode();
    const Input input = parse_body_input(at.rest);
    id = names(function).find(input.node);
    if (id != kNoNode) return body;
    Near near(address(function, input.node));
    for (uint32_t i = 0; i < body.size(); ++i) near.offer(address(function, body.name(NodeId{i})));
    throw refused("no such node").of(quoted("node", address(function, input.node))).hint(near.did_you_mean());
  }

  // The TensorInfo of every signature that names the node's output.
  void set_signature_shapes(std::string_view node, const std::string& proto) {
    constexpr uint32_t kInputs = 1, kOutputs = 2;
    std::vector<std::string> signatures;
    bool changed = false;
    for (const std::string_view bytes : model_.meta().parts_of(meta_field::kSignature)) {
      const MapEntry signature = map_entry(bytes);
      std::string def;
      bool here = false;
      for (Fields fields(signature.value); fields.next();) {
        const bool tensors = fields->bytes(kInputs) || fields->bytes(kOutputs);
        const MapEntry info = tensors ? map_entry(fields->value) : MapEntry();
        const Input tensor = parse_input(last_bytes(info.value, tensor_info_field::kName));
        if (!tensors || tensor.node != node || tensor.index() != 0 || tensor.control ||
            last_bytes(info.value, tensor_info_field::kShape) == proto) {
          def += fields->raw;
          continue;
        }
        append_map_entry(def, fields->number, info.key,
                         with_field(info.value, tensor_info_field::kShape, proto));
        here = true;
        say("",
            std::string(signature.key) + (fields->number == kInputs ? ".inputs[" : ".outputs[") +
                std::string(info.key) + "]",
            "shape " + shown(parse_shape_proto(proto)));
      }
      signatures.push_back(here ? map_entry_bytes(signature.key, def) : std::string(bytes));
      changed = changed || here;
    }
    if (changed) model_.meta().set_parts(meta_field::kSignature, std::move(signatures));
  }

  Model& model_;
  Registry& ops_;
  Selecting selecting_;
  bool want_changes_;
  bool functions_edited_ = false;
  std::shared_ptr<const Mapping> on_device_;
  std::map<std::string, Stale> stale_;  // by function
  std::map<std::string, std::unique_ptr<Names>> body_names_;
  std::map<std::string, std::unique_ptr<Edges>> consumers_;
  std::unordered_map<std::string_view, std::optional<OpDef>> definitions_;
  Changes changes_;
};

}  // namespace

Changes set(Model& model, Registry& ops, const std::vector<SetStep>& steps, bool want_changes) {
  if (steps.empty()) throw Error(Cause::kUsage, "what is to be set?").hint("--device, --attr or --shape");
  model.graph().decode();
  Setting setting(model, ops, want_changes);
  for (const SetStep& step : steps) setting.take(step, &step == &steps.back());
  return setting.finish();
}

}  // namespace gedit
