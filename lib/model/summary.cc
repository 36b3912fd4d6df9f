#include "model/summary.h"

#include <algorithm>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "graph/edges.h"
#include "graph/library.h"
#include "graph/names.h"
#include "model/calls.h"
#include "model/collections.h"
#include "model/saved_objects.h"
#include "model/saver_def.h"
#include "model/savers.h"
#include "ops/kinds.h"

namespace gedit {
namespace {

constexpr uint64_t kMostSumSteps =
    100'000'000;  // nodes visited to rank outputs; past that their order in the file decides

std::string tensor_name(std::string_view name) {
  return name.ends_with(":0") ? std::string(name.substr(0, name.size() - 2)) : std::string(name);
}

TensorSummary tensor_info(std::string_view info) {
  TensorSummary summary;
  summary.shape = std::nullopt;
  for (Fields fields(info); fields.next();) {
    if (fields->bytes(1)) summary.tensor = tensor_name(fields->value);
    if (fields->number == 2) summary.dtype = static_cast<DType>(fields->varint);
    if (fields->bytes(3)) summary.shape = parse_shape_proto(fields->value);
  }
  return summary;
}

uint64_t elements(const Shape& shape) {
  if (!shape) return 0;
  uint64_t count = 1;
  for (const int64_t size : *shape) {
    if (size < 0) return 0;
    count *= static_cast<uint64_t>(size);
  }
  return count;
}

class Summarizer {
 public:
  Summarizer(Model& model, size_t meta, Registry& ops, int depth)
      : model_(model), meta_(model.meta_graphs[meta]), graph_(meta_.graph), ops_(ops), depth_(depth) {
    graph_.decode();
  }

  GraphSummary run() {
    head();
    count_nodes();
    functions();
    names_.emplace(graph_);
    producers_ = producers(graph_, *names_);
    consumers_ = reversed(*producers_);
    savers_ = find_savers(graph_, *names_, *consumers_, variable_initializers(meta_, *names_));
    signatures();
    list_collections();
    variables();
    savers();
    outputs();
    inputs();
    if (depth_ > 0) scopes();
    return std::move(summary_);
  }

 private:
  void head() {
    for (const std::string_view tag : tags(meta_)) summary_.tags.emplace_back(tag);
    const std::string_view info = meta_.part(meta_field::kInfo);
    summary_.tensorflow_version = last_bytes(info, 5);
    const std::string_view versions = graph_.part(graph_field::kVersions);
    summary_.producer = static_cast<int64_t>(last_varint(versions, 1));
    summary_.min_consumer = static_cast<int64_t>(last_varint(versions, 2));
    for (const Asset& asset : assets(meta_)) summary_.assets.emplace_back(asset.file);
  }

  void count_nodes() {
    std::unordered_map<std::string_view, uint64_t> ops;
    std::unordered_set<std::string_view> devices;
    for (uint32_t i = 0; i < graph_.size(); ++i) {
      const NodeHead head = node_head(graph_.bytes(NodeId{i}));
      ++ops[head.op];
      if (!head.device.empty()) devices.insert(head.device);
      if (is(head.op, OpKind::kMustBeFed) || is(head.op, OpKind::kPlaceholderWithDefault))
        placeholders_.push_back(NodeId{i});
    }
    summary_.nodes = graph_.size();
    for (const auto& [op, count] : ops) summary_.ops.emplace(op, count);
    summary_.devices.assign(devices.begin(), devices.end());
    std::sort(summary_.devices.begin(), summary_.devices.end());
  }

  void functions() {
    const std::string_view bytes = graph_.part(graph_field::kLibrary);
    const Library library = Library::decode(bytes, model_.arena);
    summary_.functions = library.functions.size();
    if (library.functions.empty()) return;
    const std::vector<bool> called = called_functions(meta_, library);
    for (size_t i = 0; i < library.functions.size(); ++i) {
      const Function& function = library.functions[i];
      function.body.each_record([&](std::string_view) { ++summary_.function_nodes; });
      if (!called[i]) summary_.unreachable_functions.emplace_back(function.name);
    }
  }

  void signatures() {
    summary_.signatures = list_signatures(meta_);
    for (const std::string_view bytes : meta_.parts_of(meta_field::kSignature)) {
      const MapEntry entry = map_entry(bytes);
      if (entry.key != "__saved_model_init_op") continue;
      for (Fields fields(entry.value); fields.next();) {
        if (fields->bytes(2)) summary_.init_op = tensor_info(map_entry(fields->value).value).tensor;
      }
    }
  }

  void list_collections() {
    static constexpr const char* kKinds[] = {"none",       "node_list",  "bytes_list",
                                             "int64_list", "float_list", "any_list"};
    for (const Collection& collection : collections(meta_)) {
      const size_t items = collection.items.size() + collection.numbers;
      summary_.collections.push_back(
          {std::string(collection.key), kKinds[collection.kind > 5 ? 0 : collection.kind], items});
      const bool init = collection.key == "saved_model_main_op" || collection.key == "legacy_init_op";
      if (init && summary_.init_op.empty() && !collection.items.empty())
        summary_.init_op = collection.items[0];
    }
    std::sort(summary_.collections.begin(), summary_.collections.end(),
              [](const auto& a, const auto& b) { return a.key < b.key; });
  }

  void variables() {
    std::unordered_map<uint32_t, VariableSummary> found;
    for (const Collection& collection : collections(meta_)) {
      if (collection.kind != collection_kind::kBytesList && collection.kind != collection_kind::kNodeList)
        continue;
      const bool definitions =
          collection.kind == collection_kind::kBytesList && holds_variables(collection.key);
      for (const std::string_view item : collection.items) {
        if (!definitions && collection.kind != collection_kind::kNodeList) break;
        const NodeId id = names_->find(node_of(definitions ? variable_names(item).variable : item));
        if (id == kNoNode || !is_variable_op(node_op(graph_.bytes(id)))) continue;
        VariableSummary& variable = found[index_of(id)];
        if (variable.collections.empty() || variable.collections.back() != collection.key) {
          variable.collections.emplace_back(collection.key);
        }
        variable.trainable = variable.trainable || collection.key == "trainable_variables";
      }
    }
    const auto keys = variable_keys(savers_);
    for (uint32_t i = 0; i < graph_.size(); ++i) {
      const NodeId id{i};
      const std::string_view node_def = graph_.bytes(id);
      const std::string_view op = node_op(node_def);
      if (!is_variable_op(op)) continue;
      VariableSummary& variable = found[i];
      variable.name = graph_.name(id);
      variable.dtype = type_attr(node_def, "dtype").value_or(DType::kInvalid);
      if (const auto shape = find_attr(node_def, "shape"))
        variable.shape = parse_shape_proto(last_bytes(*shape, attr_field::kShape));
      if (const auto key = keys.find(i); key != keys.end()) variable.key = key->second;
      std::sort(variable.collections.begin(), variable.collections.end());
      summary_.variables.push_back(variable);
    }
    objects();
    for (const VariableSummary& variable : summary_.variables) {
      summary_.parameters += elements(variable.shape);
      summary_.parameter_bytes += elements(variable.shape) * dtype_width(variable.dtype);
    }
    if (!summary_.variables.empty()) return;
    graph_.each_record([&](std::string_view node_def) {
      if (!is_const_op(node_op(node_def))) return;
      if (type_attr(node_def, "dtype") == DType::kString) return;
      const Shape shape = output_shape(node_def, 0);
      if (shape && !shape->empty()) summary_.constants += elements(shape);
    });
  }

  // In a TF2 SavedModel the variables are objects, whose keys are their paths.
  void objects() {
    const SavedObjects saved = read_saved_objects(meta_.part(meta_field::kObjectGraph));
    const bool any = std::any_of(
        saved.objects.begin(), saved.objects.end(),
        [](const SavedObjects::Object& object) { return object.kind == SavedObjects::Kind::kVariable; });
    if (!any) return;
    const std::vector<std::string> keys = variable_keys(saved);
    std::unordered_map<std::string, std::vector<std::string>> collections_of;
    for (VariableSummary& variable : summary_.variables)
      collections_of[variable.name] = std::move(variable.collections);
    summary_.variables.clear();
    for (size_t i = 0; i < saved.objects.size(); ++i) {
      if (saved.objects[i].kind != SavedObjects::Kind::kVariable) continue;
      const std::string_view definition = saved.objects[i].content;
      VariableSummary variable;
      variable.name = last_bytes(definition, 6);
      variable.dtype = static_cast<DType>(last_varint(definition, 1));
      variable.shape = parse_shape_proto(last_bytes(definition, 2));
      variable.trainable = last_varint(definition, 3) != 0;
      if (!keys[i].empty()) variable.key = keys[i];
      if (const auto found = collections_of.find(variable.name); found != collections_of.end())
        variable.collections = found->second;
      summary_.variables.push_back(std::move(variable));
    }
  }

  void savers() {
    std::set<std::string> known;
    for (const std::string_view bytes : saver_defs(meta_)) {
      const SaverDef def = parse_saver_def(bytes);
      static constexpr const char* kVersions[] = {"legacy", "V1", "V2"};
      SaverSummary saver;
      saver.filename_tensor = def.filename;
      saver.save_tensor = def.save;
      saver.restore_op = def.restore;
      saver.sharded = def.sharded;
      saver.version = def.version < 3 ? kVersions[def.version] : std::to_string(def.version);
      if (!known.insert(saver.restore_op).second) continue;
      saver.keys = keys_below(saver.restore_op);
      summary_.savers.push_back(std::move(saver));
    }
    if (!summary_.savers.empty()) return;
    for (const SaverNode& save : savers_.saves) {
      SaverSummary saver;
      saver.save_tensor = graph_.name(save.node);
      saver.keys = save.tensors.size();
      summary_.savers.push_back(std::move(saver));
    }
  }

  // Distinct keys of the restore nodes that the op runs.
  size_t keys_below(const std::string& restore_op) const {
    const NodeId op = names_->find(node_of(restore_op));
    if (op == kNoNode) return 0;
    NodeSet from(graph_.size());
    from.add(op);
    const NodeSet below = reach(from, *producers_, kAnyDistance);
    std::unordered_set<std::string> keys;
    for (const SaverNode& restore : savers_.restores) {
      if (!below.has(restore.node)) continue;
      for (const SavedTensor& tensor : restore.tensors) keys.insert(tensor.key + '\0' + tensor.slice);
    }
    return keys.size();
  }

  std::optional<DType> type_of(NodeId id, uint32_t index) {
    const auto types = output_types(ops_, graph_.bytes(id));
    if (!types || index >= types->size() || (*types)[index] == DType::kInvalid) return std::nullopt;
    return base_type((*types)[index]);
  }

  // A Placeholder from before producer 24 cannot tell a scalar from an unknown shape (ops/array_ops.cc).
  Shape shape_of(NodeId id, uint32_t index) const {
    const std::string_view node_def = graph_.bytes(id);
    Shape shape = output_shape(node_def, index);
    const bool old = summary_.producer < 24 && node_op(node_def) == "Placeholder" &&
                     !find_attr(node_def, "_output_shapes");
    if (old && shape && shape->empty()) return std::nullopt;
    return shape;
  }

  TensorSummary tensor(NodeId id, uint32_t index, std::string reason) {
    TensorSummary summary;
    summary.tensor = std::string(graph_.name(id)) + (index > 0 ? ":" + std::to_string(index) : "");
    summary.dtype = type_of(id, index);
    summary.shape = shape_of(id, index);
    summary.reason = std::move(reason);
    return summary;
  }

  void add_output(const std::string& name, const std::string& reason) {
    const Input input = parse_input(name);
    const NodeId id = names_->find(input.node);
    if (id == kNoNode ||
        !outputs_known_.insert(std::string(input.node) + ":" + std::to_string(input.index())).second)
      return;
    summary_.outputs.push_back(tensor(id, input.index(), reason));
    best_outputs_.push_back(id);
  }

  void outputs() {
    for (const SignatureSummary& signature : summary_.signatures) {
      for (const auto& [key, info] : signature.outputs) add_output(info.tensor, "signature " + signature.key);
    }
    const size_t by_signature = summary_.outputs.size();
    training_outputs();
    struct Unread {
      NodeId id;
      uint64_t upstream;
    };
    std::vector<Unread> unread;
    std::unordered_set<uint32_t> initializers;
    for (const Collection& collection : collections(meta_)) {
      if (collection.kind != collection_kind::kBytesList || !holds_variables(collection.key)) continue;
      for (const std::string_view def : collection.items) {
        const VariableNames of = variable_names(def);
        for (const std::string_view name : {of.initializer, of.snapshot, of.initial_value}) {
          if (const NodeId id = names_->find(node_of(name)); id != kNoNode) initializers.insert(index_of(id));
        }
      }
    }
    for (uint32_t i = 0; i < graph_.size(); ++i) {
      const NodeId id{i};
      if (!consumers_->of(id).empty() || initializers.contains(i)) continue;
      const std::string_view op = node_op(graph_.bytes(id));
      if (is(op, OpKind::kNoResult)) continue;
      const auto types = output_types(ops_, graph_.bytes(id));
      if (types && types->empty()) continue;
      unread.push_back({id, 0});
    }
    // With functions as the model's body, the graph's own loose ends are not its results.
    if (by_signature > 0) return;
    if (unread.size() * summary_.nodes <= kMostSumSteps) {
      for (Unread& one : unread) {
        NodeSet set(graph_.size());
        set.add(one.id);
        one.upstream = reach(set, *producers_, kAnyDistance).count();
      }
      std::stable_sort(unread.begin(), unread.end(),
                       [](const Unread& a, const Unread& b) { return a.upstream > b.upstream; });
    } else {
      std::reverse(unread.begin(), unread.end());
    }
    for (const Unread& one : unread) {
      if (one.upstream == 1 || helps_training_or_saving(one.id)) continue;  // a loose end, not a result
      add_output(std::string(graph_.name(one.id)), "nobody reads it");
    }
  }

  // Where tf.gradients began, what the model says before the loss, and what trains it.
  void training_outputs() {
    std::vector<NodeId> losses;
    for (uint32_t i = 0; i < graph_.size(); ++i) {
      const std::string_view name = graph_.name(NodeId{i});
      // `gradients/grad_ys_0` or `gradients/Fill` is the first gradient; the loss is the node whose own
      // gradient nobody of the forward graph asks for.
      const size_t at = name.find("gradients");
      if (at == std::string_view::npos) continue;
      const size_t slash = name.find('/', at);
      if (slash == std::string_view::npos) continue;
      const size_t end = name.find("_grad/", slash);
      if (end == std::string_view::npos) continue;
      const NodeId forward = names_->find(name.substr(slash + 1, end - slash - 1));
      if (forward != kNoNode) differentiated_.insert(index_of(forward));
    }
    through_identities();
    for (const uint32_t index : differentiated_) {
      bool last = true;
      for (const NodeId reader : consumers_->of(NodeId{index}))
        last = last && !differentiated_.contains(index_of(reader));
      if (last) losses.push_back(NodeId{index});
    }
    std::sort(losses.begin(), losses.end());
    for (const NodeId loss : losses) before_loss(loss);
    for (const NodeId loss : losses) add_output(std::string(graph_.name(loss)), "differentiated");
    for (const Collection& collection : collections(meta_)) {
      if (collection.key != "train_op" || collection.kind != collection_kind::kNodeList) continue;
      for (const std::string_view item : collection.items) add_output(std::string(item), "train_op");
    }
  }

  // The gradient of an Identity is no node of its own: one between differentiated nodes counts as one of
  // them.
  void through_identities() {
    std::vector<uint32_t> open(differentiated_.begin(), differentiated_.end());
    while (!open.empty()) {
      const NodeId at{open.back()};
      open.pop_back();
      for (const NodeId reader : consumers_->of(at)) {
        if (!is_identity_op(node_op(graph_.bytes(reader))) || differentiated_.contains(index_of(reader)))
          continue;
        const auto readers = consumers_->of(reader);
        const bool between = std::any_of(readers.begin(), readers.end(), [&](NodeId next) {
          return differentiated_.contains(index_of(next));
        });
        if (!between) continue;
        differentiated_.insert(index_of(reader));
        open.push_back(index_of(reader));
      }
    }
  }

  // Save and restore operations, and what names their files.
  const NodeSet& saver_parts() {
    if (saver_parts_.size() == graph_.size()) return saver_parts_;
    NodeSet names(graph_.size()), operations(graph_.size());
    for (uint32_t i = 0; i < graph_.size(); ++i) {
      const std::string_view op = node_op(graph_.bytes(NodeId{i}));
      if (!is_save_op(op) && !is_restore_op(op) && !is(op, OpKind::kMergeCheckpoints)) continue;
      operations.add(NodeId{i});
      const auto sources = producers_->of(NodeId{i});
      if (!sources.empty()) names.add(sources[0]);
    }
    saver_parts_ = reach(names, *producers_, kAnyDistance);
    // A sharded saver's file names are made of what may be the model's own; a Save node is not upstream of a
    // name.
    for (const NodeId id : operations.nodes()) saver_parts_.add(id);
    return saver_parts_;
  }

  // Nodes that tf.gradients made, and what only tells that a file was saved.
  bool helps_training_or_saving(NodeId id) {
    const std::string_view name = graph_.name(id);
    if (!differentiated_.empty() &&
        (name.starts_with("gradients") || name.find("/gradients") != std::string_view::npos))
      return true;
    const auto sources = producers_->of(id);
    return saver_parts().has(id) || std::any_of(sources.begin(), sources.end(),
                                                [&](NodeId source) { return saver_parts().has(source); });
  }

  // The last tensors that do not depend on an input (the label) that the loss depends on.
  void before_loss(NodeId loss) {
    NodeSet from(graph_.size());
    from.add(loss);
    const NodeSet upstream = reach(from, *producers_, kAnyDistance);
    std::vector<NodeSet> downstream;
    for (const NodeId placeholder : placeholders_) {
      if (!upstream.has(placeholder) || downstream.size() == 16) continue;
      NodeSet set(graph_.size());
      set.add(placeholder);
      downstream.push_back(reach(set, *consumers_, kAnyDistance));
    }
    if (downstream.size() < 2) return;
    const auto mask = [&](NodeId id) {
      uint32_t bits = 0;
      for (size_t i = 0; i < downstream.size(); ++i) bits |= downstream[i].has(id) ? 1U << i : 0U;
      return bits;
    };
    for (const NodeId id : upstream.nodes()) {
      const uint32_t own = mask(id);
      if (own == 0 || !differentiated_.contains(index_of(id)) || id == loss) continue;
      bool last = true, any = false;
      for (const NodeId reader : consumers_->of(id)) {
        if (!upstream.has(reader)) continue;
        any = true;
        last = last && (mask(reader) & ~own) != 0;
      }
      if (any && last) add_output(std::string(graph_.name(id)), "nobody reads it but the loss");
    }
  }

  void inputs() {
    struct Ranked {
      NodeId id;
      int rank;
      uint64_t downstream;
      std::string reason;
    };
    std::vector<Ranked> ranked;
    std::unordered_map<std::string, std::string> fed;
    for (const SignatureSummary& signature : summary_.signatures) {
      for (const auto& [key, info] : signature.inputs) {
        fed.emplace(std::string(parse_input(info.tensor).node), "signature " + signature.key);
      }
    }
    NodeSet best(graph_.size());
    for (const NodeId id : best_outputs_) best.add(id);
    const NodeSet needed = reach(best, *producers_, kAnyDistance);
    for (const NodeId id : placeholders_) {
      const auto signature = fed.find(std::string(graph_.name(id)));
      if (signature == fed.end() && saver_parts().has(id)) continue;  // the name of a checkpoint
      Ranked one{id, 2, 0, ""};
      if (signature != fed.end()) {
        one.rank = 0;
        one.reason = signature->second;
      } else if (needed.has(id)) {
        one.rank = 1;
      }
      if (is(node_op(graph_.bytes(id)), OpKind::kPlaceholderWithDefault)) {
        one.rank = one.rank == 0 ? 0 : 3;
        if (one.reason.empty()) one.reason = "has a default";
      }
      if (placeholders_.size() * summary_.nodes <= kMostSumSteps) {
        NodeSet set(graph_.size());
        set.add(id);
        const NodeSet reached = reach(set, *consumers_, kAnyDistance);
        one.downstream = reached.count();
        if (one.reason.empty()) one.reason = feeds(reached);
      }
      if (one.reason.empty()) one.reason = "a placeholder";
      ranked.push_back(std::move(one));
    }
    std::stable_sort(ranked.begin(), ranked.end(), [](const Ranked& a, const Ranked& b) {
      return a.rank != b.rank ? a.rank < b.rank : a.downstream > b.downstream;
    });
    for (const Ranked& one : ranked) summary_.inputs.push_back(tensor(one.id, 0, one.reason));
  }

  std::string feeds(const NodeSet& reached) const {
    for (size_t i = 0; i < best_outputs_.size(); ++i) {
      if (reached.has(best_outputs_[i])) return "feeds " + summary_.outputs[i].tensor;
    }
    return reached.count() == 1 ? "nobody reads it" : "";
  }

  void scopes() {
    std::unordered_map<std::string, ScopeSummary> found;
    std::unordered_map<std::string_view, const VariableSummary*> variables;
    for (const VariableSummary& variable : summary_.variables) variables.emplace(variable.name, &variable);
    for (uint32_t i = 0; i < graph_.size(); ++i) {
      const std::string_view node_def = graph_.bytes(NodeId{i});
      const std::string_view name = node_name(node_def);
      const auto variable = variables.find(name);
      size_t at = 0;
      for (int level = 0; level < depth_; ++level) {
        at = name.find('/', at);
        const bool own = at == std::string_view::npos;
        ScopeSummary& scope = found[std::string(name.substr(0, at))];
        ++scope.nodes;
        scope.bytes += node_def.size();
        if (variable != variables.end()) {
          ++scope.variables;
          scope.parameters += elements(variable->second->shape);
          scope.bytes += elements(variable->second->shape) * dtype_width(variable->second->dtype);
        }
        if (own) break;
        ++at;
      }
    }
    for (auto& [name, scope] : found) {
      scope.scope = name;
      summary_.scopes.push_back(std::move(scope));
    }
    std::sort(summary_.scopes.begin(), summary_.scopes.end(),
              [](const ScopeSummary& a, const ScopeSummary& b) {
                return a.bytes != b.bytes ? a.bytes > b.bytes : a.scope < b.scope;
              });
  }

  Model& model_;
  MetaGraph& meta_;
  Graph& graph_;
  Registry& ops_;
  int depth_;
  GraphSummary summary_;
  std::optional<Names> names_;
  std::optional<Edges> producers_, consumers_;
  Savers savers_;
  std::vector<NodeId> placeholders_, best_outputs_;
  NodeSet saver_parts_;
  std::set<std::string> outputs_known_;
  std::unordered_set<uint32_t> differentiated_;
};

}  // namespace

std::vector<SignatureSummary> list_signatures(const MetaGraph& meta) {
  std::vector<SignatureSummary> signatures;
  for (const std::string_view bytes : meta.parts_of(meta_field::kSignature)) {
    const MapEntry entry = map_entry(bytes);
    if (entry.key.starts_with("__saved_model_")) continue;
    SignatureSummary signature;
    signature.key = entry.key;
    for (Fields fields(entry.value); fields.next();) {
      if (fields->bytes(3)) signature.method = fields->value;
      if (!fields->bytes(1) && !fields->bytes(2)) continue;
      const MapEntry tensor = map_entry(fields->value);
      auto& side = fields->number == 1 ? signature.inputs : signature.outputs;
      side.emplace(tensor.key, tensor_info(tensor.value));
    }
    signatures.push_back(std::move(signature));
  }
  std::sort(signatures.begin(), signatures.end(), [](const auto& a, const auto& b) { return a.key < b.key; });
  return signatures;
}

GraphSummary summarize(Model& model, size_t meta, Registry& ops, int depth) {
  return Summarizer(model, meta, ops, depth).run();
}

}  // namespace gedit
