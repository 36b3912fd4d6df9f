#include "edit/objects/wrapper.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>

#include "base/error.h"
#include "base/first_free.h"
#include "base/map_entry.h"
#include "edit/functions/function_def.h"
#include "graph/colocation.h"
#include "graph/edges.h"
#include "graph/wiring.h"
#include "model/collections.h"
#include "ops/kinds.h"

namespace gedit {
namespace {

class Cutting {
 public:
  Cutting(const Graph& graph, const Names& names, Registry& ops, const Library& library,
          const SavedObjects& objects, const std::unordered_map<uint32_t, uint32_t>& objects_of,
          const std::vector<WrapperTensor>& inputs, const std::vector<WrapperTensor>& outputs)
      : graph_(graph),
        names_(names),
        ops_(ops),
        objects_(objects),
        objects_of_(objects_of),
        inputs_(inputs),
        outputs_(outputs),
        body_(graph.size()) {
    for (const Function& function : library.functions) functions_.emplace(function.name, &function);
  }

  Wrapper run(std::string_view name) {
    for (const WrapperTensor& input : inputs_) arguments_.emplace(key_of(input.tensor), "");
    walk();
    Wrapper wrapper;
    wrapper.state = state_;
    wrapper.constants = constants_;
    if (!state_.empty()) return wrapper;
    name_arguments();
    Graph body({}, function_field::kNode, graph_.arena());
    FunctionDef def(body);
    def.rename(std::string(name));
    for (size_t i = 0; i < inputs_.size(); ++i) {
      const SignatureTensor& input = inputs_[i].signature;
      def.add_argument(arg_def(argument_names_[i], input.type), argument_attrs(input));
    }
    for (const auto& [id, nodes] : captured_) {
      wrapper.bound_inputs.push_back(id);
      def.add_argument(captured_argument(nodes[0], id));
    }
    for (const NodeId id : body_.nodes()) body.append(body_node(id));
    std::set<std::string, std::less<>> taken;
    FreeNames free_args;
    for (const WrapperTensor& output : outputs_) {
      const std::string arg = free_args.first(argument_name(output.signature.key),
                                              [&](const std::string& name) { return taken.contains(name); });
      taken.insert(arg);
      std::string source = source_of(output.tensor.node, output.tensor.index);
      if (!body_.has(output.tensor.node)) {  // an argument: TensorFlow's functions return what nodes give
        const std::string identity = fresh_name("Identity");
        NodeBuilder builder(identity, "Identity");
        builder.input(source).type("T", output.signature.type);
        body.append(builder.take());
        source = body_tensor_text(identity, "output");
      }
      def.add_output(arg_def(arg, output.signature.type), source);
    }
    // What has effects runs although no output reads it.
    for (const NodeId id : body_.nodes()) {
      if (!is_stateful(graph_.bytes(id))) continue;
      def.set_stateful();
      def.add_control_output(graph_.name(id), graph_.name(id));
    }
    wrapper.function_def = def.encode();
    return wrapper;
  }

 private:
  using Key = std::pair<uint32_t, uint32_t>;    // node, output
  static constexpr size_t kBigConstant = 4096;  // bytes

  static Key key_of(const TensorRef& tensor) { return {index_of(tensor.node), tensor.index}; }

  // Backwards from the outputs.
  void walk() {
    std::vector<NodeId> open;
    const auto take = [&](NodeId id, uint32_t index, bool control) {
      if (id == kNoNode || (!control && arguments_.contains({index_of(id), index}))) return;
      if (control && is_input(id)) return;
      if (const auto object = objects_of_.find(index_of(id)); object != objects_of_.end()) {
        if (!control && arguments_.emplace(Key{index_of(id), 0}, "").second)
          captured_[object->second].push_back(id);
        return;
      }
      const std::string_view node_def = graph_.bytes(id);
      if (!control && node_def.size() > kBigConstant && is_const_op(node_op(node_def))) {
        if (!arguments_.emplace(Key{index_of(id), 0}, "").second) return;
        captured_[static_cast<uint32_t>(objects_.objects.size() + constants_.size())].push_back(id);
        constants_.emplace_back(graph_.name(id));
        return;
      }
      if (body_.add(id)) open.push_back(id);
    };
    for (const WrapperTensor& output : outputs_) take(output.tensor.node, output.tensor.index, false);
    while (!open.empty()) {
      const NodeId id = open.back();
      open.pop_back();
      check(id);
      each_input(graph_.bytes(id), [&](std::string_view text) {
        const Input input = parse_input(text);
        take(names_.find(input.node), input.index(), input.control);
      });
    }
  }

  // A placeholder that is fed is no node of the function, whoever waits for it.
  bool is_input(NodeId id) const {
    const auto first = arguments_.lower_bound({index_of(id), 0});
    return first != arguments_.end() && first->first.first == index_of(id) &&
           is_placeholder_op(node_op(graph_.bytes(id)));
  }

  void check(NodeId id) {
    const std::string_view op = node_op(graph_.bytes(id));
    const std::string name(graph_.name(id));
    if (is(op, OpKind::kMustBeFed)) {
      throw refused("the outputs need it, and it is no input")
          .of(quoted("placeholder", name))
          .hint("--inputs " + printable(name) + "=" + printable(name));
    }
    if ((is_variable_op(op) || is_table_op(op)) && state_.empty())
      state_ = quoted(is_variable_op(op) ? "variable" : "table", name);
  }

  void name_arguments() {
    for (const WrapperTensor& input : inputs_) {
      std::string& name = arguments_.at(key_of(input.tensor));
      argument_names_.push_back(fresh_name(argument_name(input.signature.key)));
      name = argument_names_.back();
    }
    size_t number = 0;
    for (const auto& [id, nodes] : captured_) {
      const std::string name = fresh_name("capture_" + std::to_string(number++));
      for (const NodeId node : nodes) arguments_.at({index_of(node), 0}) = name;
    }
  }

  std::string fresh_name(const std::string& base) {
    std::string name = free_names_.first(base, [&](const std::string& one) {
      const NodeId id = names_.find(one);
      return (id != kNoNode && body_.has(id)) || taken_names_.contains(one);
    });
    taken_names_.insert(name);
    return name;
  }

  DType type_of(NodeId id) const {
    const auto types = output_types(ops_, graph_.bytes(id));
    if (!types || types->empty()) throw unknown_op(id);
    return (*types)[0];
  }

  Error unknown_op(NodeId id) const {
    return refused("op '" + printable(node_op(graph_.bytes(id))) + "' is not known")
        .of(quoted("node", graph_.name(id)))
        .hint("--ops FILE");
  }

  // For the object that `node` stands for; `id` may be that of a constant, which is none yet.
  std::string captured_argument(NodeId node, uint32_t id) const {
    std::string arg = arg_def(arguments_.at({index_of(node), 0}), type_of(node));
    if (id >= objects_.objects.size()) return arg;
    const SavedObjects::Object& object = objects_.objects[id];
    if (object.kind == SavedObjects::Kind::kVariable) {  // what the handle holds, for shape inference
      std::string data;
      append_varint_field(data, 1, last_varint(object.content, 1));
      append_bytes_field(data, 2, last_bytes(object.content, 2));
      append_bytes_field(arg, op_def_field::kArgHandleData, data);
    }
    return arg;
  }

  // ArgAttrs.
  static std::string argument_attrs(const SignatureTensor& input) {
    std::string list, shapes, attrs;
    append_bytes_field(list, attr_field::kShape, shape_proto(input.shape));
    append_bytes_field(shapes, attr_field::kList, list);
    append_bytes_field(attrs, 1, map_entry_bytes("_user_specified_name", string_value(input.key)));
    append_bytes_field(attrs, 1, map_entry_bytes("_output_shapes", shapes));
    return attrs;
  }

  // Output `index` as a node of the body reads it.
  std::string source_of(NodeId id, uint32_t index) const {
    if (const auto arg = arguments_.find({index_of(id), index}); arg != arguments_.end()) return arg->second;
    const std::string_view node_def = graph_.bytes(id);
    const std::string name(graph_.name(id));
    // A function that is called by its name may have got outputs that the registry does not know yet.
    if (const auto function = functions_.find(node_op(node_def)); function != functions_.end()) {
      const OpDef signature = parse_op_def(function_signature(function->second->body));
      if (index < signature.outputs.size()) return body_tensor_text(name, signature.outputs[index].name);
    }
    const auto text = body_output_text(ops_, node_def, name, index);
    if (!text) throw unknown_op(id);
    return *text;
  }

  std::string body_node(NodeId id) const {
    const std::string_view node_def = graph_.bytes(id);
    std::vector<std::string> inputs;
    each_input(node_def, [&](std::string_view text) {
      const Input input = parse_input(text);
      const NodeId source = names_.find(input.node);
      if (source == kNoNode)
        throw refused("its input '" + printable(text) + "' does not exist")
            .of(quoted("node", graph_.name(id)));
      if (!input.control) {
        inputs.push_back(source_of(source, input.index()));
      } else if (body_.has(source)) {
        inputs.push_back("^" + std::string(input.node));
      }
    });
    std::string out = with_inputs(node_def, inputs);
    const auto goes = [&](std::string_view node) {
      const NodeId target = names_.find(node);
      return target == kNoNode || !body_.has(target);
    };
    if (auto left = without_colocations(out, goes)) return std::move(*left);
    return out;
  }

  bool is_stateful(std::string_view node_def) const {
    const std::string_view op_def = ops_.find(node_op(node_def));
    return !op_def.empty() && parse_op_def(op_def).is_stateful;
  }

  const Graph& graph_;
  const Names& names_;
  Registry& ops_;
  std::unordered_map<std::string_view, const Function*> functions_;
  const SavedObjects& objects_;
  const std::unordered_map<uint32_t, uint32_t>& objects_of_;
  const std::vector<WrapperTensor>& inputs_;
  const std::vector<WrapperTensor>& outputs_;
  NodeSet body_;
  std::map<Key, std::string> arguments_;  // tensors of the main graph that are arguments, and their names
  std::map<uint32_t, std::vector<NodeId>> captured_;  // object -> the nodes that stand for it
  std::vector<std::string> constants_;                // new objects
  std::vector<std::string> argument_names_;           // of the inputs
  std::set<std::string, std::less<>> taken_names_;
  FreeNames free_names_;
  std::string state_;
};

}  // namespace

Wrapper cut_wrapper(const Graph& graph, const Names& names, Registry& ops, const Library& library,
                    const SavedObjects& objects, const std::unordered_map<uint32_t, uint32_t>& objects_of,
                    std::string_view name, const std::vector<WrapperTensor>& inputs,
                    const std::vector<WrapperTensor>& outputs) {
  return Cutting(graph, names, ops, library, objects, objects_of, inputs, outputs).run(name);
}

}  // namespace gedit
