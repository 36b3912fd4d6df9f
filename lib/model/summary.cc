#include "model/summary.h"

#include <algorithm>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "base/parallel.h"
#include "graph/library.h"
#include "model/calls.h"
#include "model/collections.h"
#include "model/init_op.h"
#include "model/references.h"
#include "model/saved_objects.h"
#include "model/saver_def.h"
#include "model/savers.h"
#include "model/summary_parts.h"
#include "ops/kinds.h"

namespace gedit {
namespace {

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
  if (summary.tensor.empty()) {
    each_name(info, kTensorInfo, [&](const SchemaField&, std::string_view name, int) {
      summary.parts.push_back(tensor_name(name));
    });
  }
  return summary;
}

class Summarizer {
 public:
  Summarizer(Model& model, size_t meta, Registry& ops, const GraphIndex& index, int depth)
      : model_(model),
        meta_(model.meta_graphs[meta]),
        graph_(meta_.graph),
        ops_(ops),
        index_(index),
        depth_(depth) {}

  GraphSummary run() {
    head();
    count_nodes();
    functions();
    signatures();
    list_collections();
    const SummarizedGraph of = summarized();
    summarize_variables(of, summary_);
    summarize_savers(of, summary_);
    summarize_ends(of, summary_);
    if (depth_ > 0) scopes();
    return std::move(summary_);
  }

 private:
  SummarizedGraph summarized() {
    const Names& names = index_.names();
    return {meta_,
            graph_,
            ops_,
            names,
            index_.producers(),
            index_.readers(),
            find_savers(graph_, names, index_.readers(), variable_initializers(meta_, names)),
            std::move(placeholders_),
            std::move(named_gradients_),
            std::move(weights_),
            constants_};
  }

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
    for (const auto& [op, count] : graph_.op_counts()) summary_.ops.emplace(op, count);
    look_at_records();
    std::set<std::string_view> in_functions;
    each_body_node(graph_.part(graph_field::kLibrary), *graph_.arena(),
                   [&](std::string_view, std::string_view node_def) {
                     if (const std::string_view device = node_device(node_def); !device.empty())
                       in_functions.insert(device);
                   });
    summary_.function_devices.assign(in_functions.begin(), in_functions.end());
    summary_.nodes = graph_.size();
  }

  // What takes a look at every record is found in one pass, on all cores.
  void look_at_records() {
    struct Piece {
      std::set<std::string_view> devices;
      std::vector<NodeId> placeholders, named_gradients, weights;
      uint64_t constants = 0;
    };
    const auto look = [&](PieceRange nodes) {
      Piece piece;
      std::string_view last;
      for (uint32_t i = nodes.begin; i < nodes.end; ++i) {
        const NodeId id{i};
        const std::string_view node_def = graph_.bytes(id);
        const std::string_view device = graph_.device(id);
        if (!device.empty() && device != last) piece.devices.insert(last = device);
        if (graph_.is(id, OpKind::kMustBeFed | OpKind::kPlaceholderWithDefault))
          piece.placeholders.push_back(id);
        if (graph_.name(id).find("gradients") != std::string_view::npos) piece.named_gradients.push_back(id);
        if (!graph_.is(id, OpKind::kConst)) continue;
        const ConstantSize size = constant_size(node_def);
        piece.constants += size.elements;
        if (size.weight) piece.weights.push_back(id);
      }
      return piece;
    };
    std::set<std::string_view> devices;
    weights_ = NodeSet(graph_.size());
    const auto append = [](std::vector<NodeId>& all, const std::vector<NodeId>& more) {
      all.insert(all.end(), more.begin(), more.end());
    };
    for (const Piece& piece : made_in_pieces(graph_.size(), look)) {
      devices.insert(piece.devices.begin(), piece.devices.end());
      append(placeholders_, piece.placeholders);
      append(named_gradients_, piece.named_gradients);
      for (const NodeId id : piece.weights) weights_.add(id);
      constants_ += piece.constants;
    }
    summary_.devices.assign(devices.begin(), devices.end());
  }

  void functions() {
    const std::string_view bytes = graph_.part(graph_field::kLibrary);
    const Library library = Library::decode(bytes, model_.arena);
    summary_.functions = library.functions.size();
    if (library.functions.empty()) return;
    const std::vector<bool> called = called_or_alternative(meta_, library);
    for (size_t i = 0; i < library.functions.size(); ++i) {
      const Function& function = library.functions[i];
      function.body.each_record([&](std::string_view) { ++summary_.function_nodes; });
      if (!called[i]) summary_.unreachable_functions.emplace_back(function.name);
    }
  }

  void signatures() {
    summary_.signatures = list_signatures(meta_);
    summary_.init_op = tensor_name(loader_runs(meta_));
  }

  void list_collections() {
    static constexpr const char* kKinds[] = {"none",       "node_list",  "bytes_list",
                                             "int64_list", "float_list", "any_list"};
    for (const Collection& collection : collections(meta_)) {
      const size_t items = collection.items.size() + collection.numbers;
      summary_.collections.push_back(
          {std::string(collection.key), kKinds[collection.kind > 5 ? 0 : collection.kind], items});
    }
    std::sort(summary_.collections.begin(), summary_.collections.end(),
              [](const auto& a, const auto& b) { return a.key < b.key; });
  }

  void scopes() {
    std::unordered_map<std::string, ScopeSummary> found;
    std::unordered_map<std::string_view, const VariableSummary*> variables;
    for (const VariableSummary& variable : summary_.variables) variables.emplace(variable.name, &variable);
    for (uint32_t i = 0; i < graph_.size(); ++i) {
      const std::string_view node_def = graph_.bytes(NodeId{i});
      const std::string_view name = node_name(node_def);
      const auto variable = variables.find(name);
      const uint64_t constants = summary_.variables.empty() && graph_.is(NodeId{i}, OpKind::kConst)
                                     ? constant_size(node_def).elements
                                     : 0;
      size_t at = 0;
      for (int level = 0; level < depth_; ++level) {
        at = name.find('/', at);
        const bool own = at == std::string_view::npos;
        ScopeSummary& scope = found[std::string(name.substr(0, at))];
        ++scope.nodes;
        scope.bytes += node_def.size();
        scope.parameters += constants;
        if (variable != variables.end()) {
          ++scope.variables;
          scope.parameters += shape_elements(variable->second->shape);
          scope.bytes += shape_elements(variable->second->shape) * dtype_width(variable->second->dtype);
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
  const GraphIndex& index_;
  int depth_;
  GraphSummary summary_;
  std::vector<NodeId> placeholders_, named_gradients_;
  NodeSet weights_;
  uint64_t constants_ = 0;
};

}  // namespace

std::vector<SignatureSummary> list_signatures(const MetaGraph& meta) {
  std::vector<MapEntry> entries;
  for (const std::string_view bytes : meta.parts_of(meta_field::kSignature)) {
    const MapEntry entry = map_entry(bytes);
    if (!entry.key.starts_with("__saved_model_")) entries.push_back(entry);
  }
  std::ranges::stable_sort(entries, {}, &MapEntry::key);
  std::vector<SignatureSummary> signatures(entries.size());
  for (size_t i = 0; i < entries.size(); ++i) {
    const MapEntry& entry = entries[i];
    SignatureSummary& signature = signatures[i];
    signature.key = entry.key;
    for (Fields fields(entry.value); fields.next();) {
      if (fields->bytes(3)) signature.method = fields->value;
      if (!fields->bytes(1) && !fields->bytes(2)) continue;
      const MapEntry tensor = map_entry(fields->value);
      auto& side = fields->number == 1 ? signature.inputs : signature.outputs;
      side.emplace(tensor.key, tensor_info(tensor.value));
    }
  }
  return signatures;
}

GraphSummary summarize(Model& model, size_t meta, Registry& ops, const GraphIndex& index, int depth) {
  return Summarizer(model, meta, ops, index, depth).run();
}

GraphSummary summarize(Model& model, size_t meta, Registry& ops) {
  Graph& graph = model.meta_graphs[meta].graph;
  graph.decode();
  return summarize(model, meta, ops, GraphIndex(graph));
}

}  // namespace gedit
