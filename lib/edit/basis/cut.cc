#include "edit/basis/cut.h"

#include "edit/basis/addresses.h"
#include "edit/basis/branches.h"
#include "edit/basis/inferred_shapes.h"
#include "edit/basis/signature_inputs.h"
#include "ops/kinds.h"

namespace gedit {
namespace {

std::string placeholder(std::string_view name, DType type, const Shape& shape) {
  std::string value;
  append_bytes_field(value, attr_field::kShape, shape_proto(shape));
  return NodeBuilder(name, "Placeholder").type("dtype", type).attr("shape", value).take();
}

}  // namespace

Cut::Cut(Facts& facts, const std::vector<std::string>& outputs, const std::vector<std::string>& inputs)
    : facts_(facts), graph_(facts.model.graph()), stale_(graph_.size()) {
  for (const std::string& text : inputs) {
    TypedTensor typed = parse_typed_tensor(text);
    const TensorRef tensor = before_loop(find_tensor(facts.model, facts.names(), facts.ops, typed.name));
    const auto [found, fresh] = inputs_.try_emplace(tensor, At{.typed = std::move(typed)});
    if (fresh) order_.push_back(tensor);
  }
  for (const std::string& text : outputs) {
    const TensorRef tensor = find_tensor(facts.model, facts.names(), facts.ops, text);
    if (facts.frames().of_output(tensor.node) != 0) throw in_loop(tensor);
    if (!stops(tensor)) outputs_.push_back(tensor);
  }
}

bool Cut::stops(const TensorRef& tensor) {
  const auto found = inputs_.find(tensor);
  if (found == inputs_.end()) return false;
  found->second.needed = true;
  return true;
}

// A cut at an Enter is one of what enters.
TensorRef Cut::before_loop(const TensorRef& tensor) const {
  TensorRef at = tensor;
  NodeSet seen(graph_.size());
  while (graph_.is(at.node, OpKind::kEnter) && seen.add(at.node)) {
    std::optional<TensorRef> source;
    each_input(graph_.bytes(at.node), [&](std::string_view text) {
      if (!source) source = tensor_if_there(facts_.names(), text);
    });
    if (!source || source->control) break;
    at = *source;
  }
  return at;
}

// With the ways into and out of the loop that are nearest.
Error Cut::in_loop(const TensorRef& tensor) const {
  const uint32_t frame = facts_.frames().of_output(tensor.node);
  const auto nearest = [&](NodeId start, const Edges& edges, auto is_wanted) {
    NodeSet seen(graph_.size());
    std::vector<NodeId> queue{start};
    seen.add(start);
    for (size_t at = 0; at < queue.size(); ++at) {
      if (is_wanted(graph_.op(queue[at]))) return queue[at];
      for (const NodeId next : edges.of(queue[at])) {
        if (facts_.frames().of(next) == frame && seen.add(next)) queue.push_back(next);
      }
    }
    return kNoNode;
  };
  const NodeId enter = nearest(tensor.node, facts_.producers(), is_enter_op);
  const NodeId exit = nearest(enter == kNoNode ? tensor.node : enter, facts_.consumers(), is_exit_op);
  std::string hint;
  for (const NodeId id : {enter, exit}) {
    if (id != kNoNode) hint += (hint.empty() ? "cut at '" : " or '") + printable(graph_.name(id)) + "'";
  }
  return refused("inside loop '" + printable(facts_.frames().frame(frame).name) + "'")
      .of(quoted("tensor", tensor_text(graph_, tensor)))
      .hint(hint);
}

// Who reads the inputs, in one pass over each of their readers.
void Cut::find_reads(const NodeSet& kept) {
  NodeSet producers(graph_.size()), seen(graph_.size());
  for (const TensorRef& tensor : order_) {
    if (!producers.add(tensor.node)) continue;
    for (const NodeId reader : facts_.consumers().of(tensor.node)) {
      if (!kept.has(reader) || !seen.add(reader)) continue;
      size_t slot = 0;
      each_input(graph_.bytes(reader), [&](std::string_view text) {
        const std::optional<TensorRef> read = tensor_if_there(facts_.names(), text);
        const auto at = read ? inputs_.find(*read) : inputs_.end();
        if (at != inputs_.end()) at->second.reads.emplace_back(reader, slot);
        ++slot;
      });
    }
  }
}

void Cut::check(const TensorRef& tensor, At& at, InputTypes& types, InferredShapes& shapes) const {
  if (facts_.frames().of_output(tensor.node) != 0) throw in_loop(tensor);
  const DType type = at.type = type_of(tensor, at);
  at.was = shapes.of(tensor);
  at.shape = at.typed.dtype ? at.typed.shape : at.was;
  for (const auto& [reader, slot] : at.reads) {
    const auto [of_reader, fresh] = types.try_emplace(index_of(reader));
    if (fresh) of_reader->second = input_types(facts_.ops, graph_.bytes(reader));
    const auto& known = of_reader->second;
    const DType wanted = known && slot < known->size() ? (*known)[slot] : DType::kInvalid;
    if (is_reference(wanted)) {
      throw refused("reference needed by '" + printable(graph_.name(reader)) + "'; a Placeholder gives none")
          .of(quoted("tensor", tensor_text(graph_, tensor)));
    }
    if (fits(type, wanted)) continue;
    throw refused("passed " + dtype_name(type) + " where '" + printable(graph_.name(reader)) + "' reads " +
                  dtype_name(wanted))
        .of(quoted("tensor", tensor_text(graph_, tensor)));
  }
}

DType Cut::type_of(const TensorRef& tensor, const At& at) const {
  if (at.typed.dtype) return *at.typed.dtype;
  const std::string_view node_def = graph_.bytes(tensor.node);
  const DType type = base_type(output_type(facts_.ops, node_def, tensor.index));
  if (type != DType::kInvalid) return type;
  const std::string text = tensor_text(graph_, tensor);
  throw refused("unknown dtype, op '" + printable(node_op(node_def)) + "' is not known")
      .of(quoted("tensor", text + (tensor.index == 0 ? ":0" : "")))
      .hint("--inputs " + printable(text) + ":float32[?,8], or --ops");
}

// Readers of the tensors that have a Placeholder of another name.
void Cut::rewire() {
  for (const auto& [reader, renamed] : renamed_) {
    std::vector<std::string> inputs = inputs_of(graph_.bytes(NodeId{reader}));
    for (const auto& [slot, name] : renamed) inputs[slot] = name;
    graph_.replace(NodeId{reader}, with_inputs(graph_.bytes(NodeId{reader}), inputs));
  }
}

void Cut::place(const TensorRef& tensor, const At& at, NewNames& names, Closure& closure, Changes& changes) {
  const std::string_view node_def = graph_.bytes(tensor.node);
  // A Placeholder that a control input keeps can be fed as well.
  const bool placed = tensor.index == 0 && node_op(node_def) == "Placeholder";
  if (placed && !at.typed.dtype) {
    if (closure.nodes().has(tensor.node)) return;
    // What it ran after is behind the cut.
    if (!facts_.producers().of(tensor.node).empty()) graph_.replace(tensor.node, with_inputs(node_def, {}));
    return closure.want_alone(tensor.node);
  }
  const bool in_place = tensor.index == 0 && (placed || !closure.nodes().has(tensor.node));
  if (!at.was || !at.shape || *at.was != *at.shape) {
    for (const auto& [reader, slot] : at.reads) stale_.add(reader);
  }
  const std::string text = tensor_text(graph_, tensor);
  std::string name(graph_.name(tensor.node));
  if (in_place) {
    std::vector<std::string> controls;
    if (closure.nodes().has(tensor.node)) controls = inputs_of(node_def);
    graph_.replace(tensor.node, with_inputs(placeholder(name, at.type, at.shape), controls));
    closure.want_alone(tensor.node);
    changes.changed.emplace_back(name, "Placeholder");
  } else {
    name = names.free(name + "_" + std::to_string(tensor.index));
    graph_.append(placeholder(name, at.type, at.shape));
    changes.added.emplace_back(name, "Placeholder");
    for (const auto& [reader, slot] : at.reads) renamed_[index_of(reader)].emplace_back(slot, name);
    placeholders_.emplace(text, name);
  }
  changes.cut.emplace_back(text, name);
  changes.notes.push_back(printable(text) + " is now a Placeholder " + dtype_name(at.type) +
                          shape_text(at.shape) + (in_place ? "" : ", " + printable(name)));
}

void Cut::apply(Closure& closure, Changes& changes) {
  find_reads(closure.nodes());
  InputTypes types;
  InferredShapes shapes(graph_, facts_.ops);
  for (const TensorRef& tensor : order_) {
    At& at = inputs_.at(tensor);
    if (at.needed) {
      check(tensor, at, types, shapes);
    } else {
      changes.warnings.push_back(quoted("input", at.typed.name) + " is not needed by the outputs");
    }
  }
  check_branches(facts_, closure.nodes(), [&](const TensorRef& tensor) -> std::optional<TensorRef> {
    const auto found = inputs_.find(tensor);
    if (found == inputs_.end() || !found->second.needed) return std::nullopt;
    return kOutsideOfConds;
  });
  NewNames names(facts_.names());
  for (const TensorRef& tensor : order_) {
    const At& at = inputs_.at(tensor);
    if (at.needed) place(tensor, at, names, closure, changes);
  }
  rewire();
  drop_output_shapes(graph_, facts_.consumers(), stale_);
  if (facts_.model.kind != Kind::kGraphDef) map_signature_inputs(facts_.model.meta(), placeholders_);
}

}  // namespace gedit
