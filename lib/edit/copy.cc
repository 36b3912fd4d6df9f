// gedit copy: a network once more under a new scope, with variables, savers, initializers and contexts of its
// own.
//
// The copies are the originals' bytes written through a mapping (copying/mapping.h); what is added besides is
// a handful of new nodes (Placeholders, StopGradients, restore operations) and longer lists in the savers,
// init groups and collections.
#include "edit/edits.h"

#include <algorithm>

#include "base/error.h"
#include "base/near.h"
#include "edit/basis/addresses.h"
#include "edit/copying/around.h"
#include "edit/copying/mapping.h"
#include "edit/copying/objects.h"
#include "edit/copying/savers.h"
#include "edit/copying/selection.h"
#include "ops/kinds.h"

namespace gedit {
namespace {

void check_request(const CopyRequest& request) {
  const int ways = (request.outputs.empty() ? 0 : 1) + (request.select.empty() ? 0 : 1);
  if (ways > 1) throw Error(Cause::kUsage, "--outputs and --select exclude each other");
  if (ways == 0 && !request.has_from_scope) {
    throw Error(Cause::kUsage, "what is to be copied?")
        .hint("--outputs T,.., -s SELECTOR, or --from-scope OLD");
  }
  if (!request.inputs.empty() && request.outputs.empty())
    throw Error(Cause::kUsage, "--inputs needs --outputs");
  if (request.scope.empty() && request.from_scope.empty())
    throw Error(Cause::kUsage, "--scope '' needs --from-scope");
  if (request.has_from_scope && request.from_scope.empty())
    throw Error(Cause::kUsage, "--from-scope needs a scope");
}

// The request as it reads inside the function.
CopyRequest within(const CopyRequest& request, const std::string& function) {
  if (request.placeholders) {
    throw refused("a function's body has arguments, no Placeholders")
        .of(quoted("function", function))
        .hint("leave out --placeholders");
  }
  CopyRequest inside = request;
  for (std::string* scope : {&inside.scope, &inside.from_scope}) {
    const Address parts = split_address(*scope);
    if (parts.function.empty()) continue;
    if (parts.function != function) {
      throw refused("is of another function than '" + printable(function) + "'").of(quoted("scope", *scope));
    }
    *scope = std::string(parts.rest);
  }
  return inside;
}

class Copying {
 public:
  Copying(Model& model, Registry& ops, const CopyRequest& request, std::string_view function)
      : request_(request),
        facts_(model, ops, function),
        selection_(select_for_copy(facts_, request_)),
        mapping_(facts_, selection_, request_) {}

  // Decides everything; throws before anything is changed.
  void decide() {
    facts_.make_all();
    mapping_.check_names();
    copies_ = selection_.nodes.nodes();
    map_inputs();
    if (request_.placeholders) add_placeholders();
    for (const std::string& tensor : request_.stop_gradient) stop_gradient(tensor);
    drop_stale_shapes();
    describe();
  }

  // Changes the model; `mapping` is this object's, and keeps it alive until the graph is written.
  CopyResult apply(std::shared_ptr<const Mapping> mapping) {
    Graph& graph = facts_.edited();
    graph.append_mapped(copies_, std::move(mapping));
    for (std::string& node : new_nodes_) graph.append(std::move(node));
    if (facts_.in_body()) {
      result_.function = facts_.tensors().function();
      list_added();
      facts_.model.graph().set_part(graph_field::kLibrary, facts_.selecting().library().encode());
      // It is written: the body lets go of the mapping, which is this object's and would keep it for ever.
      graph = Graph(graph.message(), function_field::kNode, graph.arena());
      return std::move(result_);
    }
    extend_init_groups(facts_, mapping_, result_);
    extend_collections(facts_, mapping_, result_);
    extend_savers(facts_, mapping_, request_.values, result_);
    extend_objects(facts_, mapping_, result_);
    list_added();
    return std::move(result_);
  }

  const CopyMapping& mapping() const { return mapping_; }

 private:
  void list_added() {
    if (!request_.want_names) return;
    const Graph& graph = facts_.graph();
    uint32_t number = 0;
    graph.each_node([&](std::string_view node_def) {
      if (number++ >= graph.decoded_count())
        result_.added.emplace_back(address(facts_.tensors().function(), node_name(node_def)),
                                   node_op(node_def));
    });
  }

  // Reads of `tensor` by copies: use(reader, slot).
  template <typename Use>
  void each_read(Use use) const {
    for (const NodeId reader : copies_) {
      size_t slot = 0;
      each_input(facts_.graph().bytes(reader), [&](std::string_view text) {
        if (const std::optional<TensorRef> tensor = facts_.tensors().of_input(text))
          use(reader, slot, *tensor);
        ++slot;
      });
    }
  }

  DType type_of(const TensorRef& tensor) const { return facts_.tensors().type(tensor); }

  DType input_type(NodeId reader, size_t slot) const {
    const auto types = input_types(facts_.ops, facts_.graph().bytes(reader));
    return types && slot < types->size() ? (*types)[slot] : DType::kInvalid;
  }

  std::string text(const TensorRef& tensor) const { return facts_.tensors().text(tensor); }
  std::string copy_name(NodeId id) const { return mapping_.scope().of(facts_.graph().name(id)); }

  // The original of a VALUE: a tensor that is there, or of the copy by its new name.
  struct Value {
    TensorRef tensor;  // of the original
    bool of_copy;
    std::string text;
  };
  Value find_value(const std::string& written) const {
    const bool control = written.starts_with('^');
    const std::string_view plain = split_address(std::string_view(written).substr(control ? 1 : 0)).rest;
    const Input input = parse_input_of(facts_.graph(), plain);
    const NodeId original =
        facts_.names().find(input.node) == kNoNode ? mapping_.original_of(input.node) : kNoNode;
    if (original == kNoNode) {
      const TensorRef tensor = facts_.tensors().find(written, true);  // throws with near names
      return {tensor, false, facts_.tensors().input_text(tensor)};
    }
    std::string name = (control ? "^" : "") + std::string(facts_.graph().name(original));
    if (!input.port.empty()) name += ":" + std::string(input.port);
    const TensorRef tensor = facts_.tensors().find(name, true);
    return {tensor, true, facts_.tensors().input_text(tensor, input.node)};
  }

  void map_inputs() {
    if (selection_.input_map.empty()) return;
    std::unordered_map<TensorRef, size_t, TensorHash> reads;
    each_read([&](NodeId, size_t, const TensorRef& tensor) { ++reads[tensor]; });
    std::vector<std::pair<TensorRef, Value>> values;
    for (const auto& [key, written] : selection_.input_map) {
      if (!reads.contains(key)) {
        Near near(parse_input(text(key)).node);
        for (const auto& [tensor, count] : reads) {
          if (!mapping_.copied(tensor.node)) near.offer(facts_.graph().name(tensor.node));
        }
        throw refused("nothing copied reads '" + printable(text(key)) + "'")
            .of("input map")
            .hint(near.did_you_mean());
      }
      values.emplace_back(key, find_value(written));
    }
    for (const auto& [key, value] : values) check_types(key, value);
    for (const auto& [key, value] : values) {
      mapping_.replace(key, value.text);
      result_.inputs[text(key)] = value.text;
      const Shape was = facts_.tensors().shape(key);
      const Shape now = facts_.tensors().shape(value.tensor);
      const bool same = was && now && *was == *now && type_of(key) == type_of(value.tensor);
      if (!key.control && !same) changed_.push_back(key);
    }
    for (const auto& [key, value] : values) {
      if (value.of_copy) check_cycle(value.tensor.node, values);
    }
  }

  void check_types(const TensorRef& key, const Value& value) const {
    const DType type = type_of(value.tensor);
    if (key.control || type == DType::kInvalid || type == type_of(key)) return;
    each_read([&](NodeId reader, size_t slot, const TensorRef& tensor) {
      if (!(tensor == key)) return;
      const DType wanted = input_type(reader, slot);
      if (fits(type, wanted)) return;
      throw refused("passed " + dtype_name(type) + " where '" + printable(copy_name(reader)) + "' reads " +
                    dtype_name(wanted))
          .of(quoted("tensor", value.text));
    });
  }

  // The copy of `start` reads, by way of copies and mapped inputs, the copy of `start`.
  void check_cycle(NodeId start, const std::vector<std::pair<TensorRef, Value>>& values) const {
    NodeSet seen(facts_.graph().size());
    std::vector<NodeId> stack{start};
    while (!stack.empty()) {
      const NodeId at = stack.back();
      stack.pop_back();
      const bool merge = is_merge_op(node_op(facts_.graph().bytes(at)));
      each_input(facts_.graph().bytes(at), [&](std::string_view input) {
        const std::optional<TensorRef> tensor = facts_.tensors().of_input(input);
        if (!tensor) return;
        NodeId next = mapping_.copied(tensor->node) ? tensor->node : kNoNode;
        for (const auto& [key, value] : values) {
          if (key == *tensor) next = value.of_copy ? value.tensor.node : kNoNode;
        }
        if (next == kNoNode || (merge && is_next_iteration_op(node_op(facts_.graph().bytes(next))))) return;
        if (next == start) {
          throw refused("makes a cycle through '" + printable(copy_name(start)) + "'").of("input map");
        }
        if (seen.add(next)) stack.push_back(next);
      });
    }
  }

  void add_placeholders() {
    std::unordered_map<TensorRef, std::string, TensorHash> made;
    each_read([&](NodeId reader, size_t slot, const TensorRef& tensor) {
      if (tensor.control || mapping_.copied(tensor.node) || selection_.shared.has(tensor.node)) return;
      if (result_.inputs.contains(text(tensor)) && !made.contains(tensor)) return;  // mapped
      if (is_reference(input_type(reader, slot))) {
        const std::string name(facts_.graph().name(tensor.node));
        const bool variable = is_variable_op(node_op(facts_.graph().bytes(tensor.node)));
        throw refused("reference needed by '" + printable(facts_.graph().name(reader)) +
                      "'; a Placeholder gives none")
            .of(quoted(variable ? "variable" : "tensor", name))
            .hint("select '" + printable(name) + "' too, or --share " + printable(name));
      }
      if (made.contains(tensor)) return;
      const std::string name = placeholder(tensor);
      made.emplace(tensor, name);
      result_.inputs[text(tensor)] = name;
    });
    for (const auto& [tensor, name] : made) mapping_.replace(tensor, name);
  }

  std::string placeholder(const TensorRef& tensor) {
    const std::string_view node_def = facts_.graph().bytes(tensor.node);
    DType type = base_type(type_of(tensor));
    Shape shape = output_shape(node_def, tensor.index);
    if (const auto stated = selection_.typed.find(tensor); stated != selection_.typed.end()) {
      type = *stated->second.dtype;
      shape = stated->second.shape;
    }
    if (type == DType::kInvalid) {
      const std::string known = text(tensor) + (tensor.index == 0 ? ":0" : "");
      throw refused("unknown dtype, op '" + printable(node_op(node_def)) + "' is not known")
          .of(quoted("tensor", known))
          .hint("--inputs " + printable(text(tensor)) + ":float32[?,8], or --ops");
    }
    // In place of a Placeholder it has the name that the copy of that would have; in place of a computed
    // tensor `_k` tells it from a copy of the op.
    std::string name = copy_name(tensor.node);
    if (!is_placeholder_op(node_op(node_def)) || tensor.index > 0) name += "_" + std::to_string(tensor.index);
    mapping_.add_name(name);
    std::string shape_value;
    append_bytes_field(shape_value, attr_field::kShape, shape_proto(shape));
    NodeBuilder builder(name, "Placeholder");
    builder.device(request_.device ? *request_.device : std::string())
        .type("dtype", type)
        .attr("shape", shape_value);
    new_nodes_.push_back(builder.take());
    return name;
  }

  void stop_gradient(const std::string& written) {
    const TensorRef tensor = facts_.tensors().find(written);
    bool read = mapping_.copied(tensor.node);
    if (!read) each_read([&](NodeId, size_t, const TensorRef& one) { read = read || one == tensor; });
    if (!read)
      throw refused("is neither copied nor read by a copy")
          .of(quoted("tensor", text(tensor)))
          .hint("--stop-gradient names tensors of the original");
    const DType type = base_type(type_of(tensor));
    if (type == DType::kInvalid) {
      throw refused("unknown dtype").of(quoted("tensor", text(tensor))).hint("--ops FILE");
    }
    const bool argument = tensor.node == kNoNode;
    const std::string_view node_def = argument ? std::string_view() : facts_.graph().bytes(tensor.node);
    std::string name =
        argument ? mapping_.scope().of(facts_.tensors().input_text(tensor)) : copy_name(tensor.node);
    name += "/StopGradient";
    if (tensor.index > 0 && !argument) name += "_" + std::to_string(tensor.index);
    mapping_.add_name(name);
    const std::string device = request_.device ? *request_.device : std::string(node_head(node_def).device);
    NodeBuilder builder(name, "StopGradient");
    builder.input(mapping_.source_of(tensor)).device(device).type("T", type);
    new_nodes_.push_back(builder.take());
    mapping_.replace(tensor, facts_.in_body() ? name + ":output:0" : name, true);
    result_.outputs[text(tensor)] = address(facts_.tensors().function(), name);
  }

  // Behind an input of another, or an unknown, shape what was inferred for the original no longer holds;
  // TensorFlow would refuse the copy at import.
  void drop_stale_shapes() {
    if (changed_.empty()) return;
    NodeSet stale(facts_.graph().size());
    std::vector<NodeId> stack;
    each_read([&](NodeId reader, size_t, const TensorRef& tensor) {
      if (std::find(changed_.begin(), changed_.end(), tensor) != changed_.end() && stale.add(reader))
        stack.push_back(reader);
    });
    while (!stack.empty()) {
      const NodeId at = stack.back();
      stack.pop_back();
      mapping_.drop_output_shapes(at);
      for (const NodeId reader : facts_.consumers().of(at)) {
        if (mapping_.copied(reader) && stale.add(reader)) stack.push_back(reader);
      }
    }
  }

  void describe() {
    const Graph& graph = facts_.graph();
    const std::string& function = facts_.tensors().function();
    const auto keys = variable_keys(facts_.savers());
    for (const NodeId id : copies_) {
      if (request_.want_names)
        result_.nodes[address(function, graph.name(id))] = address(function, copy_name(id));
      const std::string_view op = node_op(graph.bytes(id));
      if (is_variable_op(op) && !facts_.in_body()) {
        result_.variables[std::string(graph.name(id))] = copy_name(id);
        const auto key = keys.find(index_of(id));
        if (key != keys.end()) result_.values[std::string(key->second)] = mapping_.scope().of(key->second);
        if (key == keys.end() && facts_.savers().empty() &&
            !facts_.model.meta().has(meta_field::kObjectGraph))
          result_.values[std::string(graph.name(id))] = copy_name(id);
      }
      if (is_python_op(op)) ++py_funcs_;
    }
    for (const std::string& output : request_.outputs) {
      const TensorRef tensor = facts_.tensors().find(output);
      result_.outputs.emplace(text(tensor),
                              facts_.in_body()
                                  ? address(function, tensor_text(copy_name(tensor.node), tensor.index))
                                  : mapping_.source_of(tensor));
    }
    for (const auto& [from, to] : mapping_.frames()) result_.frames[from] = to;
    if (py_funcs_ > 0) {
      result_.warnings.push_back(std::to_string(py_funcs_) +
                                 " PyFunc nodes copied: both call the same Python function, which only the "
                                 "process that built the graph has");
    }
    warn_of_state_in_functions();
  }

  // A function that owns a variable or a table is state that original and copy share.
  void warn_of_state_in_functions() {
    Library& library = facts_.selecting().library();
    if (library.functions.empty()) return;
    FunctionReach reach(library);
    for (const NodeId id : copies_) reach.calls_of(facts_.graph().bytes(id));
    reach.follow();
    std::string first;
    size_t count = 0;
    for (size_t i = 0; i < library.functions.size(); ++i) {
      if (!reach.reached(i)) continue;
      bool owns = false;
      library.functions[i].body.each_record([&](std::string_view node_def) {
        owns = owns || is_var_handle_op(node_op(node_def)) || is_table_op(node_op(node_def));
      });
      if (owns && count++ == 0) first = library.functions[i].name;
    }
    if (count > 0) {
      result_.warnings.push_back("function '" + printable(first) +
                                 "' holds state of its own, which original and copy share");
    }
  }

  const CopyRequest request_;
  Facts facts_;
  CopySelection selection_;
  CopyMapping mapping_;
  CopyResult result_;
  std::vector<NodeId> copies_;
  std::vector<std::string> new_nodes_;  // Placeholders and StopGradients
  std::vector<TensorRef> changed_;      // KEYs whose VALUE is of another type or shape
  size_t py_funcs_ = 0;
};

}  // namespace

CopyResult copy(Model& model, Registry& ops, const CopyRequest& request) {
  check_request(request);
  model.graph().decode();
  const std::string function = function_of(model, ops, request);
  const auto copying =
      std::make_shared<Copying>(model, ops, function.empty() ? request : within(request, function), function);
  copying->decide();
  return copying->apply(std::shared_ptr<const Mapping>(copying, &copying->mapping()));
}

}  // namespace gedit
