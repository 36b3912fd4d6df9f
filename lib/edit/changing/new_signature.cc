#include "edit/changing/new_signature.h"

#include <algorithm>
#include <optional>
#include <set>

#include "base/error.h"
#include "base/map_entry.h"
#include "edit/basis/inferred_shapes.h"
#include "edit/basis/tensor_info.h"
#include "edit/functions/expose.h"
#include "edit/functions/function_def.h"
#include "edit/objects/signature_parts.h"
#include "edit/objects/signatures.h"
#include "edit/objects/wrapper.h"
#include "graph/edges.h"
#include "graph/wiring.h"
#include "model/object_nodes.h"
#include "model/save.h"
#include "ops/kinds.h"
#include "select/tensors.h"

namespace gedit {
namespace {

struct Assignment {
  std::string key, tensor;
};

std::vector<Assignment> parse_assignments(const std::vector<std::string>& texts, const char* side) {
  std::vector<Assignment> parsed;
  std::set<std::string> keys;
  for (const std::string& text : texts) {
    const size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
      throw misused(text, "is no K=T").hint(std::string("--") + side + " NAME=TENSOR,..");
    parsed.push_back({text.substr(0, equals), text.substr(equals + 1)});
    if (!keys.insert(parsed.back().key).second)
      throw misused(text, "'" + printable(parsed.back().key) + "' is given twice");
  }
  std::sort(parsed.begin(), parsed.end(),
            [](const Assignment& a, const Assignment& b) { return a.key < b.key; });
  return parsed;
}

// The tensors are resolved first; those inside functions are brought out to the main graph; then, where there
// is an object graph, what lies between inputs and outputs is cut out as a function.
class Adding {
 public:
  Adding(Model& model, Registry& ops, const NewSignature& request)
      : model_(model),
        ops_(ops),
        request_(request),
        objects_(model.meta()),
        signatures_(model.meta()),
        shapes_(model.graph(), ops) {}

  Changes run() {
    const std::vector<Assignment> inputs = parse_assignments(request_.inputs, "inputs"),
                                  outputs = parse_assignments(request_.outputs, "outputs");
    if (outputs.empty()) throw Error(Cause::kUsage, "a signature has outputs").hint("--outputs K=T,..");
    if (request_.key.empty()) throw Error(Cause::kUsage, "the signature's key is empty");
    if (request_.key.starts_with(kReservedKeys))
      throw refused("is TensorFlow's own").of(quoted("signature", request_.key));
    if (signatures_.has(request_.key))
      throw refused("is there already")
          .of(quoted("signature", request_.key))
          .hint("gedit signature remove it first");
    Graph& graph = model_.graph();
    graph.decode();
    names_.emplace(graph);
    std::unordered_map<uint32_t, uint32_t> objects_of;
    if (objects_.get() != nullptr) objects_of = object_nodes(model_.meta(), *names_, *objects_.get());

    for (const Assignment& input : inputs) add_tensor(input, true);
    // Tensors inside functions come last, so that what is known of the others tells where they are wanted.
    for (const Assignment& output : outputs) {
      if (!is_inner(output.tensor)) add_tensor(output, false);
    }
    add_inner(outputs);
    const auto by_key = [](const WrapperTensor& a, const WrapperTensor& b) {
      return a.signature.key < b.signature.key;
    };
    std::sort(outputs_.begin(), outputs_.end(), by_key);
    check_inputs();
    if (objects_.get() != nullptr) {
      add_wrapper(objects_of);
    } else {
      warn_of_placeholders();
    }
    if (library_) graph.set_part(graph_field::kLibrary, library_->encode());
    add_definition();
    return std::move(changes_);
  }

 private:
  // `FN//node:k`, and not the key of a signature that holds slashes.
  bool is_inner(const std::string& text) const {
    return !signature_tensor(model_, text) && !split_address(text).function.empty();
  }

  Library& library() {
    if (!library_) library_ = Library::decode(model_.graph().part(graph_field::kLibrary), model_.arena);
    return *library_;
  }

  void add_tensor(const Assignment& assignment, bool input) {
    if (input && is_inner(assignment.tensor))
      throw refused("a tensor inside a function cannot be fed").of(quoted("tensor", assignment.tensor));
    if (assignment.tensor.find(';') != std::string::npos) return add_sparse(assignment, input);
    WrapperTensor tensor = find(assignment.tensor);
    tensor.signature.key = assignment.key;
    infos_.push_back({assignment.key, input, info(tensor)});
    (input ? inputs_ : outputs_).push_back(std::move(tensor));
  }

  WrapperTensor find(const std::string& text) {
    WrapperTensor found;
    found.tensor = find_tensor(model_, *names_, ops_, text);
    const std::string_view node_def = model_.graph().bytes(found.tensor.node);
    const std::string plain = tensor_text(model_.graph(), found.tensor);
    if (found.tensor.index == 0)
      find_tensor(model_, *names_, ops_, plain + ":0");  // has it an output at all?
    found.signature.type = base_type(output_type(ops_, node_def, found.tensor.index));
    if (found.signature.type == DType::kInvalid) {
      throw refused("unknown dtype, op '" + printable(node_op(node_def)) + "' is not known")
          .of(quoted("tensor", text))
          .hint("--ops FILE");
    }
    found.signature.shape = shape_of(found.tensor, plain);
    return found;
  }

  // What the node says of it, else what a signature says that names it.
  Shape shape_of(const TensorRef& tensor, const std::string& plain) const {
    Shape shape = output_shape(model_.graph().bytes(tensor.node), tensor.index);
    if (shape) return shape;
    for (const std::string_view bytes : model_.meta().parts_of(meta_field::kSignature)) {
      for (Fields fields(map_entry(bytes).value); fields.next();) {
        if (!fields->bytes(signature_field::kInput) && !fields->bytes(signature_field::kOutput)) continue;
        const std::string_view info = map_entry(fields->value).value;
        const Input named = parse_input(last_bytes(info, tensor_info_field::kName));
        if (!named.node.empty() && tensor_text(named.node, named.index()) == plain)
          return parse_shape_proto(last_bytes(info, tensor_info_field::kShape));
      }
    }
    return shapes_.of(tensor);
  }

  std::string info(const WrapperTensor& tensor) const {
    std::string bytes;
    append_bytes_field(bytes, tensor_info_field::kName, full_name(tensor.tensor));
    append_varint_field(bytes, tensor_info_field::kType, static_cast<uint64_t>(tensor.signature.type));
    append_bytes_field(bytes, tensor_info_field::kShape, shape_proto(tensor.signature.shape));
    return bytes;
  }

  std::string full_name(const TensorRef& tensor) const {
    return std::string(model_.graph().name(tensor.node)) + ":" + std::to_string(tensor.index);
  }

  // K=values;indices;shape
  void add_sparse(const Assignment& assignment, bool input) {
    std::vector<std::string> parts{""};
    for (const char c : assignment.tensor) {
      if (c == ';') {
        parts.emplace_back();
      } else {
        parts.back() += c;
      }
    }
    if (parts.size() != 3 || parts[0].empty() || parts[1].empty() || parts[2].empty())
      throw misused(assignment.key + "=" + assignment.tensor, "a sparse tensor is K=VALUES;INDICES;SHAPE");
    sparse_ = assignment.key;
    const WrapperTensor values = find(parts[0]), indices = find(parts[1]), shape = find(parts[2]);
    if (indices.signature.type != DType::kInt64 || shape.signature.type != DType::kInt64) {
      const bool first = indices.signature.type != DType::kInt64;
      throw refused("is " + dtype_name((first ? indices : shape).signature.type) + ", a sparse tensor's " +
                    (first ? "indices" : "shape") + " are int64")
          .of(quoted("tensor", parts[first ? 1 : 2]));
    }
    std::string sparse;
    append_bytes_field(sparse, 1, full_name(values.tensor));
    append_bytes_field(sparse, 2, full_name(indices.tensor));
    append_bytes_field(sparse, 3, full_name(shape.tensor));
    // Its rank is the length of the shape, its sizes are known when it runs.
    Shape dense;
    if (shape.signature.shape && shape.signature.shape->size() == 1 && (*shape.signature.shape)[0] >= 0 &&
        (*shape.signature.shape)[0] <= kMostSparseDimensions)
      dense.emplace(static_cast<size_t>((*shape.signature.shape)[0]), -1);
    std::string bytes;
    append_varint_field(bytes, tensor_info_field::kType, static_cast<uint64_t>(values.signature.type));
    append_bytes_field(bytes, tensor_info_field::kShape, shape_proto(dense));
    append_bytes_field(bytes, tensor_info_field::kSparse, sparse);
    infos_.push_back({assignment.key, input, std::move(bytes)});
    for (const WrapperTensor& tensor : {values, indices, shape})
      (input ? inputs_ : outputs_).push_back(tensor);
  }

  void add_inner(const std::vector<Assignment>& outputs) {
    const auto inner = [&](const Assignment& output) { return is_inner(output.tensor); };
    if (std::ranges::none_of(outputs, inner)) return;
    const Edges sources = producers(model_.graph(), *names_);
    NodeSet needed = needed_by_others(sources);
    Exposing exposing(model_, ops_, library(), objects_.get());
    for (const Assignment& output : outputs) {
      if (!inner(output)) continue;
      const Exposed exposed = exposing.expose(output.tensor, needed);
      if (outputs_.empty()) needed = NodeSet(model_.graph().size());
      need(exposed.call, sources, needed);
      WrapperTensor tensor;
      tensor.tensor = {exposed.call, exposed.index, false};
      tensor.signature = {output.key, exposed.type, exposed.shape};
      changes_.changed.emplace_back(
          model_.graph().name(exposed.call),
          "hands on " + output.tensor + " as output " + std::to_string(exposed.index));
      infos_.push_back({output.key, false, info(tensor)});
      outputs_.push_back(std::move(tensor));
    }
    exposing.store();
  }

  // The nodes that the outputs need; without outputs, those that need an input.
  NodeSet needed_by_others(const Edges& sources) const {
    NodeSet from(model_.graph().size());
    for (const WrapperTensor& tensor : outputs_.empty() ? inputs_ : outputs_) from.add(tensor.tensor.node);
    return reach(from, outputs_.empty() ? reversed(sources) : sources, kAnyDistance);
  }

  static void need(NodeId node, const Edges& sources, NodeSet& needed) {
    std::vector<NodeId> open{node};
    while (!open.empty()) {
      const NodeId id = open.back();
      open.pop_back();
      if (!needed.add(id)) continue;
      for (const NodeId source : sources.of(id)) open.push_back(source);
    }
  }

  void check_inputs() const {
    std::set<std::pair<uint32_t, uint32_t>> seen;
    for (const WrapperTensor& input : inputs_) {
      if (!seen.insert({index_of(input.tensor.node), input.tensor.index}).second)
        throw refused("is given for two inputs")
            .of(quoted("tensor", tensor_text(model_.graph(), input.tensor)));
    }
  }

  void add_wrapper(const std::unordered_map<uint32_t, uint32_t>& objects_of) {
    SavedObjects& objects = *objects_.get();
    if (const auto map = signature_map(objects); map && child_of(objects.objects[*map], request_.key))
      throw refused("is there already, in the object graph alone").of(quoted("signature", request_.key));
    if (!sparse_.empty()) {
      changes_.notes.push_back("signature '" + printable(request_.key) +
                               "' is seen by the v1 loader alone: '" + printable(sparse_) + "' is sparse");
      objects_.store();
      return;
    }
    const std::string name = free_function_name(
        library(), ops_, "__inference_signature_wrapper_" + argument_name(request_.key) + "_0");
    Wrapper wrapper =
        cut_wrapper(model_.graph(), *names_, ops_, library(), objects, objects_of, name, inputs_, outputs_);
    if (!wrapper.state.empty()) {
      changes_.notes.push_back("signature '" + printable(request_.key) +
                               "' is seen by the v1 loader alone: " + wrapper.state +
                               " is no object of the model");
      objects_.store();
      return;
    }
    library().add(wrapper.function_def, model_.arena);
    for (const std::string& constant : wrapper.constants) {
      std::string content;
      append_bytes_field(content, 1, constant);  // SavedConstant.operation
      add_object(objects, SavedObjects::Kind::kConstant, std::move(content));
    }
    std::vector<SignatureTensor> inputs, outputs;
    for (const WrapperTensor& input : inputs_) inputs.push_back(input.signature);
    for (const WrapperTensor& output : outputs_) outputs.push_back(output.signature);
    add_signature_object(objects, request_.key, name, std::move(wrapper.bound_inputs), inputs, outputs);
    objects_.store();
    changes_.added.emplace_back("fn:" + name, "function");
  }

  // Nobody feeds them when the signature runs.
  void warn_of_placeholders() {
    const Graph& graph = model_.graph();
    const Edges sources = producers(graph, *names_);
    NodeSet seen(graph.size()), fed(graph.size());
    for (const WrapperTensor& input : inputs_) fed.add(input.tensor.node);
    std::vector<NodeId> open;
    for (const WrapperTensor& output : outputs_) {
      if (!fed.has(output.tensor.node) && seen.add(output.tensor.node)) open.push_back(output.tensor.node);
    }
    while (!open.empty()) {
      const NodeId id = open.back();
      open.pop_back();
      const std::string_view op = node_op(graph.bytes(id));
      if (is(op, OpKind::kMustBeFed)) {
        changes_.warnings.push_back("the outputs need placeholder '" + printable(graph.name(id)) +
                                    "', which is no input of the signature");
      }
      for (const NodeId source : sources.of(id)) {
        if (!fed.has(source) && seen.add(source)) open.push_back(source);
      }
    }
  }

  void add_definition() {
    if (model_.kind == Kind::kGraphDef) convert_kind(model_, Kind::kMetaGraphDef, {});
    std::string def;
    for (const bool input : {true, false}) {
      for (const Info& info : infos_) {
        if (info.input == input)
          append_bytes_field(def, input ? signature_field::kInput : signature_field::kOutput,
                             map_entry_bytes(info.key, info.bytes));
      }
    }
    append_bytes_field(def, signature_field::kMethod, request_.method);
    signatures_.add(request_.key, def);
    signatures_.store();
    changes_.added.emplace_back(request_.key, "signature");
  }

  static constexpr int64_t kMostSparseDimensions = 254;  // TensorShape::MaxDimensions()

  struct Info {
    std::string key;
    bool input;
    std::string bytes;  // TensorInfo
  };

  Model& model_;
  Registry& ops_;
  const NewSignature& request_;
  ObjectsOfMeta objects_;
  SignatureDefs signatures_;
  mutable InferredShapes shapes_;
  std::optional<Names> names_;
  std::optional<Library> library_;
  std::vector<WrapperTensor> inputs_, outputs_;
  std::vector<Info> infos_;
  std::string sparse_;  // an input or output that is
  Changes changes_;
};

}  // namespace

Changes add_signature(Model& model, Registry& ops, const NewSignature& signature) {
  return Adding(model, ops, signature).run();
}

}  // namespace gedit
