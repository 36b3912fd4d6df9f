#include "edit/signature.h"

#include <algorithm>
#include <optional>
#include <set>

#include "base/error.h"
#include "base/near.h"
#include "edit/expose.h"
#include "edit/function_def.h"
#include "edit/places.h"
#include "edit/signature_objects.h"
#include "edit/signature_wrapper.h"
#include "edit/tensor_info.h"
#include "graph/edges.h"
#include "model/object_nodes.h"
#include "model/save.h"
#include "select/tensors.h"

namespace gedit {
namespace {

namespace signature_field {  // SignatureDef
constexpr uint32_t kInput = 1, kOutput = 2, kMethod = 3, kDefault = 4;
}

constexpr std::string_view kReserved = "__saved_model_";

Error refused(std::string message) { return Error(Cause::kRefused, std::move(message)); }
Error usage(std::string_view written, std::string message) {
  return Error(Cause::kUsage, std::move(message)).of("'" + printable(written) + "'");
}

std::string map_entry_of(std::string_view key, std::string_view value) {
  std::string entry;
  append_bytes_field(entry, 1, key);
  append_bytes_field(entry, 2, value);
  return entry;
}

// The signatures of a MetaGraph, each with its key; the others keep their bytes.
class Signatures {
 public:
  explicit Signatures(MetaGraph& meta) : meta_(meta) {
    for (const std::string_view bytes : meta.parts_of(meta_field::kSignature)) entries_.emplace_back(bytes);
  }

  bool has(std::string_view key) const {
    return std::any_of(entries_.begin(), entries_.end(),
                       [&](const std::string& entry) { return map_entry(entry).key == key; });
  }
  std::string_view def(std::string_view key) const {
    std::string_view found;
    for (const std::string& entry : entries_) {
      if (map_entry(entry).key == key) found = map_entry(entry).value;
    }
    return found;
  }

  // Throws where there is none of that key, or it is one of TensorFlow's own.
  void require(std::string_view key) const {
    if (key.starts_with(kReserved)) throw refused("is TensorFlow's own").of(quoted("signature", key));
    if (has(key)) return;
    Near near(key);
    for (const std::string& entry : entries_) {
      if (!map_entry(entry).key.starts_with(kReserved)) near.offer(map_entry(entry).key);
    }
    throw refused("no such signature").of(quoted("signature", key)).hint(near.did_you_mean());
  }

  void add(std::string_view key, std::string_view def) { entries_.push_back(map_entry_of(key, def)); }
  void remove(std::string_view key) {
    std::erase_if(entries_, [&](const std::string& entry) { return map_entry(entry).key == key; });
  }
  // change(key, def) gives the new key and changes the def in place.
  template <typename Change>
  void change(Change change) {
    for (std::string& entry : entries_) {
      const MapEntry before = map_entry(entry);
      std::string def(before.value);
      const std::string key = change(std::string(before.key), def);
      if (key != before.key || def != before.value) entry = map_entry_of(key, def);
    }
  }

  void store() { meta_.set_parts(meta_field::kSignature, entries_); }

 private:
  MetaGraph& meta_;
  std::vector<std::string> entries_;
};

// The object graph of the MetaGraph, where it has one.
class Objects {
 public:
  explicit Objects(MetaGraph& meta) : meta_(meta) {
    if (!meta.has(meta_field::kObjectGraph)) return;
    objects_ = read_saved_objects(meta.part(meta_field::kObjectGraph));
    if (objects_->objects.empty()) {
      objects_.reset();
    } else {
      check_saved_objects(*objects_);
    }
  }
  SavedObjects* get() { return objects_ ? &*objects_ : nullptr; }
  void store() {
    if (objects_) meta_.set_parts(meta_field::kObjectGraph, {saved_objects_bytes(*objects_)});
  }

 private:
  MetaGraph& meta_;
  std::optional<SavedObjects> objects_;
};

// ---------------------------------------------------------------------------------------------------- add

struct Assignment {
  std::string key, tensor;
};

std::vector<Assignment> parse_assignments(const std::vector<std::string>& texts, const char* side) {
  std::vector<Assignment> parsed;
  std::set<std::string> keys;
  for (const std::string& text : texts) {
    const size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
      throw usage(text, "is no K=T").hint(std::string("--") + side + " NAME=TENSOR,..");
    parsed.push_back({text.substr(0, equals), text.substr(equals + 1)});
    if (!keys.insert(parsed.back().key).second)
      throw usage(text, "'" + printable(parsed.back().key) + "' is given twice");
  }
  std::sort(parsed.begin(), parsed.end(),
            [](const Assignment& a, const Assignment& b) { return a.key < b.key; });
  return parsed;
}

class Adding {
 public:
  Adding(Model& model, Registry& ops, const NewSignature& request)
      : model_(model), ops_(ops), request_(request), objects_(model.meta()), signatures_(model.meta()) {}

  Changes run() {
    const std::vector<Assignment> inputs = parse_assignments(request_.inputs, "inputs"),
                                  outputs = parse_assignments(request_.outputs, "outputs");
    if (outputs.empty()) throw Error(Cause::kUsage, "a signature has outputs").hint("--outputs K=T,..");
    if (request_.key.empty()) throw Error(Cause::kUsage, "the signature's key is empty");
    if (request_.key.starts_with(kReserved))
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
    for (const Assignment& output : outputs) {
      if (is_inner(output.tensor)) add_inner(output);
    }
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
    const auto types = output_types(ops_, node_def);
    if (types && found.tensor.index < types->size())
      found.signature.type = base_type((*types)[found.tensor.index]);
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
    return shape;
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
      throw usage(assignment.key + "=" + assignment.tensor, "a sparse tensor is K=VALUES;INDICES;SHAPE");
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
        (*shape.signature.shape)[0] <= kMostDimensions)
      dense.emplace(static_cast<size_t>((*shape.signature.shape)[0]), -1);
    std::string bytes;
    append_varint_field(bytes, tensor_info_field::kType, static_cast<uint64_t>(values.signature.type));
    append_bytes_field(bytes, tensor_info_field::kShape, shape_proto(dense));
    append_bytes_field(bytes, tensor_info_field::kSparse, sparse);
    infos_.push_back({assignment.key, input, std::move(bytes)});
    for (const WrapperTensor& tensor : {values, indices, shape})
      (input ? inputs_ : outputs_).push_back(tensor);
  }

  void add_inner(const Assignment& output) {
    const Exposed exposed =
        expose(model_, ops_, library(), objects_.get(), output.tensor, needed_by(outputs_, inputs_));
    WrapperTensor tensor;
    tensor.tensor = {exposed.call, exposed.index, false};
    tensor.signature = {output.key, exposed.type, exposed.shape};
    changes_.changed.emplace_back(
        model_.graph().name(exposed.call),
        "hands on " + output.tensor + " as output " + std::to_string(exposed.index));
    infos_.push_back({output.key, false, info(tensor)});
    outputs_.push_back(std::move(tensor));
  }

  // The nodes that the outputs need, up to the inputs; without outputs, those that need an input.
  NodeSet needed_by(const std::vector<WrapperTensor>& outputs,
                    const std::vector<WrapperTensor>& inputs) const {
    const Graph& graph = model_.graph();
    const Edges sources = producers(graph, *names_);
    NodeSet from(graph.size());
    for (const WrapperTensor& tensor : outputs.empty() ? inputs : outputs) from.add(tensor.tensor.node);
    return reach(from, outputs.empty() ? reversed(sources) : sources, kAnyDistance);
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
    if (const auto map = signature_map(objects); map && child_of(objects, *map, request_.key))
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
      if (op == "Placeholder" || op == "PlaceholderV2") {
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
                             map_entry_of(info.key, info.bytes));
      }
    }
    append_bytes_field(def, signature_field::kMethod, request_.method);
    signatures_.add(request_.key, def);
    signatures_.store();
    changes_.added.emplace_back(request_.key, "signature");
  }

  static constexpr int64_t kMostDimensions = 254;  // TensorShape::MaxDimensions()

  struct Info {
    std::string key;
    bool input;
    std::string bytes;  // TensorInfo
  };

  Model& model_;
  Registry& ops_;
  const NewSignature& request_;
  Objects objects_;
  Signatures signatures_;
  std::optional<Names> names_;
  std::optional<Library> library_;
  std::vector<WrapperTensor> inputs_, outputs_;
  std::vector<Info> infos_;
  std::string sparse_;  // an input or output that is
  Changes changes_;
};

// ------------------------------------------------------------------------------------------------- rename

struct Renames {
  std::string to;  // the key; empty: stays
  NameTable inputs, outputs;
};

struct SignaturePair {
  std::string key;
  uint32_t side = 0;  // kInput, kOutput; 0: the key itself
  std::string from, to;
};

SignaturePair parse_pair(const Signatures& signatures, const std::string& text) {
  SignaturePair pair;
  for (const auto& [word, side] : {std::pair<std::string_view, uint32_t>{".inputs[", signature_field::kInput},
                                   {".outputs[", signature_field::kOutput}}) {
    const size_t at = text.find(word);
    const size_t close = at == std::string::npos ? at : text.find("]=", at);
    if (close == std::string::npos) continue;
    const size_t begin = at + word.size();
    pair = {text.substr(0, at), side, text.substr(begin, close - begin), text.substr(close + 2)};
  }
  if (pair.side == 0) {
    const size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0)
      throw usage(text, "is no OLD=NEW").hint("KEY=NEW, 'KEY.inputs[x]=NEW' or 'KEY.outputs[y]=NEW'");
    pair.key = pair.from = text.substr(0, equals);
    pair.to = text.substr(equals + 1);
  }
  if (pair.to.empty()) throw usage(text, "the new name is missing");
  if (pair.to.find(".inputs[") != std::string::npos || pair.to.find(".outputs[") != std::string::npos)
    throw usage(text, "the new name alone stands behind the =");
  signatures.require(pair.key);
  if (pair.side == 0 && pair.to.starts_with(kReserved))
    throw refused("is TensorFlow's own").of(quoted("signature", pair.to));
  return pair;
}

std::set<std::string> keys_of(std::string_view def, uint32_t side) {
  std::set<std::string> keys;
  for (Fields fields(def); fields.next();) {
    if (fields->bytes(side)) keys.emplace(map_entry(fields->value).key);
  }
  return keys;
}

// Refuses names that nothing has, and two things that end up with one name. `subject` makes the message's.
template <typename Subject>
void check_names(const NameTable& names, const std::set<std::string>& there, const char* what,
                 Subject subject) {
  for (const auto& [from, to] : names) {
    if (!there.contains(from)) {
      Near near(from);
      for (const std::string& key : there) near.offer(key);
      throw refused(std::string("no such ") + what).of(subject(from)).hint(near.did_you_mean());
    }
    const bool taken = there.contains(to) && from != to && !names.contains(to);
    const bool twice =
        std::count_if(names.begin(), names.end(), [&](const auto& other) { return other.second == to; }) > 1;
    if (taken || twice)
      throw refused("'" + printable(to) + "' is taken").of(subject(from)).hint("rename that too");
  }
}

// Field `side` of a SignatureDef: entries whose key is renamed.
std::string rename_entries(std::string_view def, uint32_t side, const NameTable& names) {
  return with_each(def, side, [&](std::string_view bytes) {
    const MapEntry entry = map_entry(bytes);
    const auto found = names.find(entry.key);
    return found == names.end() ? std::string(bytes) : map_entry_of(found->second, entry.value);
  });
}

}  // namespace

Changes add_signature(Model& model, Registry& ops, const NewSignature& signature) {
  return Adding(model, ops, signature).run();
}

Changes rename_signatures(Model& model, Registry& ops, const std::vector<std::string>& pairs) {
  if (pairs.empty()) throw Error(Cause::kUsage, "what is to be renamed?").hint("OLD=NEW");
  MetaGraph& meta = model.meta();
  Signatures signatures(meta);
  Changes changes;
  NameTable keys;
  std::map<std::string, Renames> tensors;
  for (const std::string& text : pairs) {
    SignaturePair pair = parse_pair(signatures, text);
    NameTable& table = pair.side == 0                         ? keys
                       : pair.side == signature_field::kInput ? tensors[pair.key].inputs
                                                              : tensors[pair.key].outputs;
    if (!table.emplace(pair.from, pair.to).second)
      throw usage(text, "'" + text.substr(0, text.rfind('=')) + "' is given twice");
    changes.changed.emplace_back(text.substr(0, text.size() - pair.to.size() - 1), pair.to);
  }
  std::set<std::string> known;
  for (const std::string_view bytes : meta.parts_of(meta_field::kSignature))
    known.emplace(map_entry(bytes).key);
  check_names(keys, known, "signature", [](std::string_view key) { return quoted("signature", key); });
  for (const auto& [key, renames] : tensors) {
    const std::string_view def = signatures.def(key);
    const auto subject = [&](const char* side) {
      return [&key, side](std::string_view name) {
        return quoted("tensor", key + side + std::string(name) + "]");
      };
    };
    check_names(renames.inputs, keys_of(def, signature_field::kInput), "input in the signature",
                subject(".inputs["));
    check_names(renames.outputs, keys_of(def, signature_field::kOutput), "output in the signature",
                subject(".outputs["));
  }

  Objects objects(meta);
  if (SavedObjects* saved = objects.get()) {
    Graph& graph = model.graph();
    Library library = Library::decode(graph.part(graph_field::kLibrary), model.arena);
    const size_t before = library.functions.size();
    for (const auto& [key, renames] : tensors) {
      rename_signature_tensors(*saved, library, ops, model.arena, key, renames.inputs, renames.outputs);
    }
    rename_signature_objects(*saved, keys);
    if (library.functions.size() != before) graph.set_part(graph_field::kLibrary, library.encode());
    for (size_t i = before; i < library.functions.size(); ++i)
      changes.added.emplace_back("fn:" + std::string(library.functions[i].name), "function");
  }
  objects.store();
  signatures.change([&](const std::string& key, std::string& def) {
    if (const auto found = tensors.find(key); found != tensors.end()) {
      def = rename_entries(def, signature_field::kInput, found->second.inputs);
      def = rename_entries(def, signature_field::kDefault, found->second.inputs);
      def = rename_entries(def, signature_field::kOutput, found->second.outputs);
    }
    const auto to = keys.find(key);
    return to == keys.end() ? key : to->second;
  });
  signatures.store();
  return changes;
}

Changes remove_signatures(Model& model, const std::vector<std::string>& keys) {
  if (keys.empty()) throw Error(Cause::kUsage, "which signature?").hint("gedit signature remove FILE KEY..");
  MetaGraph& meta = model.meta();
  Signatures signatures(meta);
  Objects objects(meta);
  Changes changes;
  for (const std::string& key : keys) {
    signatures.require(key);
    signatures.remove(key);
    if (SavedObjects* saved = objects.get()) remove_signature_object(*saved, key);
    changes.removed.emplace_back(key, "signature");
  }
  signatures.store();
  objects.store();
  return changes;
}

}  // namespace gedit
