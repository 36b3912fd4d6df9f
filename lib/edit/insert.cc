// gedit insert: a node behind a tensor, which everything that read the tensor reads instead.
//
// One place after the other: the main graph, then each function that is named. Where a place is edited, its
// nodes are looked at once: O(inputs).
#include "edit/edits.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "base/error.h"
#include "base/map_entry.h"
#include "base/message_edit.h"
#include "edit/basis/addresses.h"
#include "edit/basis/attributes.h"
#include "edit/basis/facts.h"
#include "edit/basis/names.h"
#include "edit/basis/tensor_info.h"
#include "edit/changing/inserted_op.h"
#include "graph/function_names.h"
#include "ops/kinds.h"
#include "select/tensors.h"

namespace gedit {
namespace {

// A tensor that something is inserted behind.
struct InsertedBehind {
  std::string written;  // for messages
  NodeId node = kNoNode;
  std::string name, device;  // of the node, or the name of a function's argument
  uint32_t index = 0;
  std::string port;  // in a function: `z:0`; empty for an argument
  DType type = DType::kInvalid;
  std::string source;       // as the new node reads it
  std::string replacement;  // as the readers read the new node
  std::string inserted;     // the new node's name
  DType gives = DType::kInvalid;
};

// `z:0` of `z` and `z:0`; the number alone of an argument's `0`.
std::string whole_port(std::string_view port) {
  if (port.empty()) return "";
  const bool number = port.find_first_not_of("0123456789") == std::string_view::npos;
  if (number) return port == "0" ? "" : std::string(port);
  return port.find(':') == std::string_view::npos ? std::string(port) + ":0" : std::string(port);
}

// The graph or body that is edited, and its targets.
class InsertPlace {
 public:
  InsertPlace(Model& model, Registry& ops, Graph& graph, std::string_view function, const InsertedOp& op,
              Changes& changes)
      : model_(model), ops_(ops), graph_(graph), function_(function), op_(op), changes_(changes) {
    graph_.decode();
    if (graph_.is_body()) {
      own_names_.emplace(graph_);
      signature_ = parse_op_def(function_signature(graph_));
    } else {
      facts_ = std::make_unique<Facts>(model_, ops_);
      facts_->make_all();
    }
  }

  // Throws where there is no such tensor, or nothing can stand behind it.
  void add_target(const std::string& written, std::string_view text) {
    InsertedBehind target = graph_.is_body() ? find_in_body(text) : find_in_graph(text);
    target.written = written;
    for (const InsertedBehind& other : targets_) {
      if (other.name == target.name && other.index == target.index && other.port == target.port)
        throw Error(Cause::kUsage, "is given twice").of(quoted("tensor", written));
    }
    if (target.node != kNoNode && is_next_iteration_op(node_op(graph_.bytes(target.node)))) {
      throw refused("closes a loop, nothing can stand behind it").of(quoted("node", target.name));
    }
    targets_.push_back(std::move(target));
  }

  // Decides what every reader becomes; throws before anything is changed.
  void decide() {
    NewNames fresh(names());
    for (const ArgDef& arg : signature_.inputs) fresh.reserve(arg.name);
    reserve_inlined(fresh);
    for (InsertedBehind& target : targets_) make(target, fresh);
    by_name_.clear();
    for (InsertedBehind& target : targets_) by_name_.emplace(target.name, &target);
    for (uint32_t i = 0; i < graph_.size(); ++i) {
      if (!graph_.removed(NodeId{i})) read(NodeId{i});
    }
    if (graph_.is_body()) {
      map_returns();
    } else {
      map_signatures();
    }
  }

  void apply() {
    NodeSet readers(graph_.size());
    for (auto& [id, node_def] : rewired_) {
      readers.add(id);
      graph_.replace(id, std::move(node_def));
    }
    if (!op_.keeps_shape()) drop_output_shapes(graph_, consumers(), readers);
    for (std::string& node : nodes_) {
      changes_.added.emplace_back(address(function_, node_name(node)), node_op(node));
      graph_.append(std::move(node));
    }
    if (returns_) graph_.set_parts(function_field::kRet, *returns_);
    if (signatures_) model_.meta().set_parts(meta_field::kSignature, *signatures_);
    changes_.changed.insert(changes_.changed.end(), said_.begin(), said_.end());
  }

 private:
  const Names& names() const { return facts_ ? facts_->names() : *own_names_; }

  Edges consumers() const { return facts_ ? facts_->consumers() : reversed(producers(graph_, *own_names_)); }

  InsertedBehind find_in_graph(std::string_view text) const {
    TensorRef tensor = find_tensor(model_, names(), ops_, text);
    const std::string plain = tensor_text(graph_, tensor);
    if (tensor.index == 0) find_tensor(model_, names(), ops_, plain + ":0");  // has it an output at all?
    const std::string_view node_def = graph_.bytes(tensor.node);
    const auto types = output_types(ops_, node_def);
    InsertedBehind target;
    target.node = tensor.node;
    target.name = graph_.name(tensor.node);
    target.device = node_head(node_def).device;
    target.index = tensor.index;
    target.source = plain;
    if (types && tensor.index < types->size()) target.type = (*types)[tensor.index];
    return target;
  }

  InsertedBehind find_in_body(std::string_view text) const {
    const Tensors tensors(model_, graph_, *own_names_, ops_, function_);
    const TensorRef tensor = tensors.find(address(function_, text));
    InsertedBehind target;
    target.source = tensors.input_text(tensor);
    const Input input = parse_body_input(target.source);
    target.name = input.node;
    target.port = input.port;
    target.node = tensor.node;
    if (target.node != kNoNode) {
      target.device = node_head(graph_.bytes(target.node)).device;
      target.index = tensor.index;
    }
    target.type = tensors.type(tensor);
    return target;
  }

  // A call that TensorFlow inlines becomes nodes CALL/NODE, and it ends the process where one is there
  // already (core/common_runtime/inline_function_utils.cc).
  void reserve_inlined(NewNames& fresh) const {
    std::map<std::string_view, std::set<std::string_view>> calls;  // by function
    for (const InsertedBehind& target : targets_) {
      if (target.node != kNoNode) calls[called_function(graph_.bytes(target.node))].insert(target.name);
    }
    for (Fields library(model_.graph().part(graph_field::kLibrary)); library.next();) {
      if (!library->bytes(1)) continue;
      const auto found = calls.find(function_name(library->value));
      if (found == calls.end()) continue;
      for (Fields body(library->value); body.next();) {
        if (!body->bytes(function_field::kNode)) continue;
        for (const std::string_view call : found->second)
          fresh.reserve(std::string(call) + "/" + std::string(node_name(body->value)));
      }
    }
  }

  // The new node of a target.
  void make(InsertedBehind& target, NewNames& fresh) {
    std::string base = target.name + "/" + op_.name();
    if (target.index > 0) base += "_" + std::to_string(target.index);
    target.inserted = fresh.free(base);
    if (invalid_name_at(target.inserted) != std::string_view::npos && graph_.is_body())
      throw not_a_node_name(target.inserted);
    std::string node = op_.node(target.inserted, target.source, target.type, target.device,
                                quoted("tensor", target.written));
    const auto types = output_types(ops_, node);
    if (types && types->size() == 1) target.gives = (*types)[0];
    target.replacement = target.inserted;
    if (graph_.is_body()) target.replacement += ":" + op_.output() + ":0";
    nodes_.push_back(std::move(node));
  }

  const InsertedBehind* target_of(const Input& input) const {
    const auto [begin, end] = by_name_.equal_range(input.node);
    for (auto at = begin; at != end && !input.control; ++at) {
      const InsertedBehind& target = *at->second;
      if (graph_.is_body() ? whole_port(input.port) == target.port : input.index() == target.index)
        return &target;
    }
    return nullptr;
  }

  void read(NodeId id) {
    const std::string_view node_def = graph_.bytes(id);
    bool hit = false;
    each_input(node_def, [&](std::string_view text) {
      hit = hit || target_of(parse_input_of(graph_, text)) != nullptr;
    });
    if (!hit || stays(id)) return;
    check_no_loop(id);
    const auto wanted = input_types(ops_, node_def);
    std::vector<std::string> inputs;
    std::vector<std::string> reads;
    each_input(node_def, [&](std::string_view text) {
      const size_t slot = inputs.size();
      const InsertedBehind* target = target_of(parse_input_of(graph_, text));
      const DType type = wanted && slot < wanted->size() ? (*wanted)[slot] : DType::kInvalid;
      if (target == nullptr || is_reference(type)) {
        inputs.emplace_back(text);
        return;
      }
      check_fits(*target, type, quoted("node", address(function_, graph_.name(id))) + " reads ");
      inputs.push_back(target->replacement);
      if (std::find(reads.begin(), reads.end(), target->inserted) == reads.end())
        reads.push_back(target->inserted);
    });
    if (reads.empty()) return;
    std::string what = "reads ";
    for (const std::string& name : reads) what += (what.size() > 6 ? ", " : "") + name;
    said_.emplace_back(address(function_, graph_.name(id)), what);
    rewired_.emplace_back(id, with_inputs(node_def, inputs));
  }

  void check_fits(const InsertedBehind& target, DType wanted, const std::string& reader) const {
    if (fits(target.gives, wanted) || fits(target.gives, base_type(wanted))) return;
    throw refused("op '" + printable(op_.name()) + "' gives " + dtype_name(target.gives) + " where " +
                  reader + dtype_name(wanted))
        .of(quoted("tensor", target.written));
  }

  // Savers and initializers keep what they read.
  bool stays(NodeId id) {
    if (is_save_op(node_op(graph_.bytes(id)))) return true;
    if (!facts_) return false;
    if (facts_->initializer_owner().contains(index_of(id))) return true;
    find_saver_nodes();
    return saver_nodes_.has(id);
  }

  // What hands a value on to a save operation alone, and what a restore operation's values are assigned by.
  void find_saver_nodes() {
    if (saver_nodes_.size() > 0 || facts_->savers().empty()) return;
    saver_nodes_ = NodeSet(graph_.size());
    for (const SaverNode& save : facts_->savers().saves) saver_nodes_.add(save.node);
    for (const SaverNode& save : facts_->savers().saves) {
      for (const SavedTensor& tensor : save.tensors) {
        for (auto id = tensor.between.rbegin(); id != tensor.between.rend(); ++id) {
          const auto readers = facts_->consumers().of(*id);
          if (!std::all_of(readers.begin(), readers.end(), [&](NodeId one) { return saver_nodes_.has(one); }))
            break;
          saver_nodes_.add(*id);
        }
      }
    }
    for (const SaverNode& restore : facts_->savers().restores) {
      saver_nodes_.add(restore.node);
      for (const SavedTensor& tensor : restore.tensors) {
        for (const NodeId id : tensor.between) saver_nodes_.add(id);
      }
    }
  }

  // The Merge of a loop reads an Enter and a NextIteration, and nothing may come between.
  void check_no_loop(NodeId reader) const {
    if (!is_merge_op(node_op(graph_.bytes(reader)))) return;
    bool closes = false;
    std::string written;
    each_input(graph_.bytes(reader), [&](std::string_view text) {
      const Input input = parse_input_of(graph_, text);
      const NodeId id = input.control ? kNoNode : names().find(input.node);
      closes = closes || (id != kNoNode && is_next_iteration_op(node_op(graph_.bytes(id))));
      if (const InsertedBehind* target = target_of(input)) written = target->written;
    });
    if (!closes) return;
    throw refused("read by '" + printable(graph_.name(reader)) + "', which closes a loop")
        .of(quoted("tensor", written))
        .hint("insert before the Enter or inside the loop");
  }

  // Outputs of a function follow.
  void map_returns() {
    std::vector<std::string> entries;
    bool changed = false;
    for (const Part& part : graph_.parts()) {
      if (part.field != function_field::kRet) continue;
      const std::string_view bytes = record_at(part.raw.data()).node_def;
      const MapEntry entry = map_entry(bytes);
      const InsertedBehind* target = target_of(parse_body_input(entry.value));
      if (target == nullptr) {
        entries.emplace_back(bytes);
        continue;
      }
      for (const ArgDef& output : signature_.outputs) {
        if (output.name == entry.key && output.type_attr.empty() && output.type_list_attr.empty())
          check_fits(*target, DType{output.type}, "output '" + printable(entry.key) + "' is ");
      }
      entries.push_back(map_entry_bytes(entry.key, target->replacement));
      said_.emplace_back("fn:" + function_, "returns " + target->inserted + " as " + std::string(entry.key));
      changed = true;
    }
    if (changed) returns_ = std::move(entries);
  }

  // Renames the tensor of a TensorInfo, with its name field where it stands.
  class OutputNames final : public NameMap {
   public:
    explicit OutputNames(const InsertPlace& place) : place_(place) {}
    bool map(NameKind kind, std::string_view name, std::string& out) const override {
      const InsertedBehind* target =
          kind == NameKind::kNode && !name.empty() ? place_.target_of(parse_input(name)) : nullptr;
      if (target == nullptr || name.starts_with('^')) {
        out += name;
      } else {
        out += target->replacement + ":0";
        inserted = target;
      }
      return true;
    }
    mutable const InsertedBehind* inserted = nullptr;  // the last one that was met

   private:
    const InsertPlace& place_;
  };

  // Outputs of signatures follow, inputs stay.
  void map_signatures() {
    std::vector<std::string> entries;
    bool changed = false;
    for (const std::string_view bytes : model_.meta().parts_of(meta_field::kSignature)) {
      const MapEntry entry = map_entry(bytes);
      std::string def;
      const size_t said = said_.size();
      for (Fields fields(entry.value); fields.next();) {
        if (!fields->bytes(2)) {
          def += fields->raw;
          continue;
        }
        const OutputNames map(*this);
        const std::string mapped = map_names(fields->raw, kSignatureDef, map);
        if (map.inserted == nullptr) {
          def += fields->raw;
          continue;
        }
        const MapEntry output = map_entry(last_bytes(mapped, 2));
        const std::string label = std::string(entry.key) + ".outputs[" + std::string(output.key) + "]";
        const auto type = static_cast<DType>(last_varint(output.value, tensor_info_field::kType));
        check_fits(*map.inserted, type, "'" + printable(label) + "' is ");
        if (op_.keeps_shape()) {
          def += mapped;
        } else {
          append_map_entry(def, 2, output.key,
                           with_field(output.value, tensor_info_field::kShape, shape_proto(std::nullopt)));
        }
        said_.emplace_back(label, "is " + map.inserted->inserted);
      }
      if (said == said_.size()) {
        entries.emplace_back(bytes);
        continue;
      }
      entries.push_back(map_entry_bytes(entry.key, def));
      changed = true;
    }
    if (changed) signatures_ = std::move(entries);
  }

  Model& model_;
  Registry& ops_;
  Graph& graph_;
  const std::string function_;
  const InsertedOp& op_;
  Changes& changes_;
  std::unique_ptr<Facts> facts_;    // of the main graph
  std::optional<Names> own_names_;  // of a body
  OpDef signature_;
  std::vector<InsertedBehind> targets_;
  std::multimap<std::string, const InsertedBehind*, std::less<>> by_name_;
  NodeSet saver_nodes_;
  std::vector<std::pair<NodeId, std::string>> rewired_;
  std::vector<std::string> nodes_;
  std::optional<std::vector<std::string>> returns_, signatures_;
  std::vector<std::pair<std::string, std::string>> said_;
};

}  // namespace

Changes insert(Model& model, Registry& ops, const InsertRequest& request) {
  if (request.after.empty()) throw Error(Cause::kUsage, "behind which tensor?").hint("--after T,..");
  const InsertedOp op(ops, request.op, request.attrs);
  Graph& graph = model.graph();
  graph.decode();
  std::map<std::string, std::vector<std::string>, std::less<>> by_function;
  for (const std::string& written : request.after) {
    const bool of_signature = signature_tensor(model, written).has_value();
    by_function[of_signature ? "" : std::string(split_address(written).function)].push_back(written);
  }
  Changes changes;
  Library library;
  if (by_function.size() > 1 || !by_function.contains(""))
    library = Library::decode(graph.part(graph_field::kLibrary), model.arena);
  std::vector<std::unique_ptr<InsertPlace>> places;
  for (const auto& [function, tensors] : by_function) {
    Graph& body = function.empty() ? graph : find_function(library, function).body;
    places.push_back(std::make_unique<InsertPlace>(model, ops, body, function, op, changes));
    for (const std::string& written : tensors)
      places.back()->add_target(written, function.empty() ? written : split_address(written).rest);
    places.back()->decide();
  }
  for (const std::unique_ptr<InsertPlace>& place : places) place->apply();
  if (!library.functions.empty()) graph.set_part(graph_field::kLibrary, library.encode());
  return changes;
}

}  // namespace gedit
