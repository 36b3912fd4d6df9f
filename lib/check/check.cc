#include "check/check.h"

#include <limits>
#include <map>
#include <optional>
#include <tuple>

#include "base/size.h"
#include "check/flow.h"
#include "check/functions.h"
#include "check/nodes.h"
#include "check/surroundings.h"
#include "checkpoint/open.h"
#include "graph/function_names.h"
#include "model/calls.h"
#include "model/collections.h"
#include "model/saver_def.h"
#include "ops/kinds.h"
#include "select/tensors.h"
#include "shape/infer.h"

namespace gedit {
namespace {

// GraphDef version of the TensorFlow whose ops are built in (core/public/version.h of 2.21).
constexpr int64_t kNewestVersion = 2474;

// The shared_name of a handle that is a new one at every run (core/framework/resource_handle.h).
constexpr std::string_view kAnonymous = "cd2c89b7-88b7-44c8-ad83-06c2a9158347";

class GraphChecker {
 public:
  GraphChecker(Model& model, size_t meta, Registry& ops, const CheckRequest& request)
      : model_(model),
        index_(meta),
        meta_(model.meta_graphs[meta]),
        graph_(meta_.graph),
        registry_(ops),
        ops_(ops),
        request_(request) {}

  std::vector<Fault> run() {
    graph_.decode();
    const Library library = Library::decode(graph_.part(graph_field::kLibrary), model_.arena);
    functions_ = functions_of(library);
    set_context();
    const CheckedGraph in("", graph_, ops_);
    std::optional<NodeSet> needed;
    if (!request_.fetch.empty()) needed = fetched(in);
    const NodeSet* only = needed ? &*needed : nullptr;
    const std::optional<Checkpoint> values = only == nullptr ? variables() : std::nullopt;

    if (only == nullptr) {
      size();
      versions();
    }
    look_at(in, only);
    shared_names(in, only);
    shapes(in, only);
    const NodeSet restoring = values || no_variables_ ? restore_nodes(in) : NodeSet();
    if (no_variables_) absent_variables(restoring, library);
    check_saver_nodes(in, values ? &*values : nullptr, only, &restoring, report_);
    check_library(library, only, values ? &*values : nullptr, restoring);
    if (only != nullptr) return report_.take();
    check_surroundings(in, model_, meta_, report_);
    check_object_graph(in, meta_, functions_, report_);
    if (request_.security) check_files(model_, meta_, report_);
    if (values) {
      check_saved_variables(model_, index_, registry_, *values, report_);
      check_data_files(*values, report_);
    }
    return report_.take();
  }

 private:
  void look_at(const CheckedGraph& in, const NodeSet* only) {
    Report calls;
    check_nodes(in, context_, functions_, only, report_, calls);
    check_cycles(in, only, report_);
    check_frames(in, only, report_);
    report_.append(std::move(calls));
  }

  void set_context() {
    context_.producer = static_cast<int64_t>(last_varint(graph_.part(graph_field::kVersions), 1));
    context_.security = request_.security;
    const std::string_view op_list = last_bytes(meta_.part(meta_field::kInfo), 2);
    if (op_list.empty()) return;
    producer_registry_.add_op_list(op_list);
    context_.producer_ops = &producer_ops_;
  }

  // Of a graph that is otherwise sound: what a node without its inputs gives says nothing.
  void shapes(const CheckedGraph& in, const NodeSet* only) {
    if (report_.has_errors()) return;
    InferRequest request;
    request.like = &in.like;
    const Inference inference(in.index, registry_, request);
    for (const ShapeContradiction& found : inference.contradictions()) {
      if (!found.function.empty()) {
        if (only == nullptr)
          report_.warn(Rule::kShapes, found.function + "//" + found.node, printable(found.message));
      } else if (only == nullptr || only->has(in.names.find(found.node))) {
        report_.add(Rule::kShapes, found.node, printable(found.message));
      }
    }
  }

  // What is needed to compute the tensors to fetch.
  NodeSet fetched(const CheckedGraph& in) {
    NodeSet set(graph_.size());
    for (const std::string& text : request_.fetch) {
      const std::string name = signature_tensor(model_, text).value_or(text);
      set.add(find_tensor(model_, in.names, registry_, name, true).node);
    }
    return reach(set, in.producers, kAnyDistance);
  }

  // The checkpoint of a SavedModel's folder, where it has one.
  std::optional<Checkpoint> variables() {
    if (model_.kind != Kind::kSavedModel || !model_.directory) return std::nullopt;
    const std::string prefix = join_path(join_path(model_.folder, "variables"), "variables");
    const std::optional<Location> location = find_checkpoint(prefix);
    no_variables_ = !location;
    if (!location) return std::nullopt;
    try {
      return open_checkpoint(*location);
    } catch (const Error& error) {
      report_.add(Rule::kCheckpoint, prefix, error.message());
      return std::nullopt;
    }
  }

  // What is run to restore a SavedModel; other savers in it read other checkpoints.
  NodeSet restore_nodes(const CheckedGraph& in) {
    NodeSet set(graph_.size());
    const NodeId id = saver_def_nodes(meta_.part(meta_field::kSaver), in.names).restore;
    if (id != kNoNode) set.add(id);
    return reach(set, in.producers, kAnyDistance);
  }

  // What needs it: a saver that restores something; objects that are variables (python/saved_model/load.py,
  // _restore_checkpoint); variables without a SaverDef, for which a Saver is made (training/saver.py,
  // _create_saver_from_imported_meta_graph). Variables that nothing restores are left without values.
  void absent_variables(const NodeSet& restoring, const Library& library) {
    const std::string folder = join_path(join_path(model_.folder, "variables"), "variables");
    const std::string restorer = restoring_node(restoring, library);
    if (!restorer.empty()) {
      return report_.add(Rule::kCheckpoint, folder, "not there, and '" + restorer + "' restores from it");
    }
    const size_t objects = saved_variables(meta_);
    if (objects > 0) {
      return report_.add(Rule::kCheckpoint, folder,
                         "not there, and the object graph has " + counted(objects, "variable"));
    }
    for (const Collection& collection : collections(meta_)) {
      if (collection.key != collection_key::kVariables || collection.items.empty()) continue;
      return report_.add(
          Rule::kCheckpoint, folder,
          "not there, and collection 'variables' has " + counted(collection.items.size(), "variable"));
    }
    const uint64_t nodes = graph_.tally().variables;
    if (nodes > 0)
      report_.warn(Rule::kCheckpoint, folder, "not there, and the graph has " + counted(nodes, "variable"));
  }

  // The first of the nodes that restore, in the main graph or in a function that these call; empty: none.
  std::string restoring_node(const NodeSet& restoring, const Library& library) {
    for (const NodeId id : restoring.nodes()) {
      if (graph_.is(id, OpKind::kRestore)) return std::string(graph_.name(id));
    }
    if (restoring.empty()) return {};
    FunctionReach reach(library);
    for (const NodeId id : restoring.nodes()) reach.calls_of(graph_.bytes(id));
    reach.follow();
    for (size_t i = 0; i < library.functions.size(); ++i) {
      std::string found;
      if (!reach.reached(i)) continue;
      library.functions[i].body.each_record([&](std::string_view node_def) {
        if (found.empty() && is_restore_op(node_op(node_def)))
          found = address(library.functions[i].name, node_name(node_def));
      });
      if (!found.empty()) return found;
    }
    return {};
  }

  void size() {
    const uint64_t bytes = model_.message.size();
    if (bytes > static_cast<uint64_t>(std::numeric_limits<int32_t>::max()))
      report_.add(Rule::kSize, model_.path, size_text(bytes) + ", a protobuf message holds at most 2 GiB");
  }

  void versions() {
    const std::string_view versions = graph_.part(graph_field::kVersions);
    const auto wrong = [&](const std::string& what) { report_.add(Rule::kVersions, "versions", what); };
    const auto least = static_cast<int32_t>(last_varint(versions, 2));
    if (least > kNewestVersion) {
      wrong("min_consumer is " + std::to_string(least) + ", TensorFlow 2.21 is " +
            std::to_string(kNewestVersion));
    }
    if (static_cast<int32_t>(context_.producer) < 0)
      wrong("producer is " + std::to_string(static_cast<int32_t>(context_.producer)));
    for (Fields fields(versions); fields.next();) {
      if (fields->number != 3) continue;
      each_varint(fields.field(), [&](uint64_t bad) {
        if (static_cast<int64_t>(bad) == kNewestVersion)
          wrong("TensorFlow 2.21 (" + std::to_string(bad) + ") is one of its bad_consumers");
      });
    }
  }

  // A handle is found by container, shared_name and device as they stand (resource_mgr.h); the node's name
  // is not looked at.
  void shared_names(const CheckedGraph& in, const NodeSet* only) {
    using Identity = std::tuple<std::string_view, std::string_view, std::string_view>;
    std::map<Identity, NodeId> known;
    for (uint32_t i = 0; i < graph_.size(); ++i) {
      const NodeId id{i};
      if (only != nullptr && !only->has(id)) continue;
      if (!graph_.is(id, OpKind::kVarHandle)) continue;
      const std::string_view node_def = graph_.bytes(id);
      const NodeHead head = node_head(node_def);
      const std::string_view name = string_attr(node_def, "shared_name").value_or("");
      if (name == kAnonymous) continue;
      const Identity identity{string_attr(node_def, "container").value_or(""), name, head.device};
      const auto [first, fresh] = known.emplace(identity, id);
      if (!fresh) same_handle(in, first->second, id, name);
    }
  }

  void same_handle(const CheckedGraph& in, NodeId first, NodeId second, std::string_view name) {
    const std::string_view a = graph_.bytes(first), b = graph_.bytes(second);
    const std::string shares =
        "shares " + quoted("shared_name", name) + " with '" + std::string(graph_.name(first)) + "' and is ";
    const auto type_a = type_attr(a, "dtype"), type_b = type_attr(b, "dtype");
    if (type_a && type_b && *type_a != *type_b) {
      return report_.add(Rule::kSharedName, in.subject(second),
                         shares + dtype_name(*type_b) + ", not " + dtype_name(*type_a));
    }
    const auto shape = [](std::string_view node_def) -> Shape {
      const auto value = find_attr(node_def, "shape");
      return value ? parse_shape_proto(last_bytes(*value, attr_field::kShape)) : std::nullopt;
    };
    const Shape shape_a = shape(a), shape_b = shape(b);
    if (!shape_a || !shape_b) return;
    const bool agree = std::equal(shape_a->begin(), shape_a->end(), shape_b->begin(), shape_b->end(),
                                  [](int64_t x, int64_t y) { return x < 0 || y < 0 || x == y; });
    if (!agree)
      report_.warn(Rule::kSharedName, in.subject(second),
                   shares + shape_text(shape_b) + ", not " + shape_text(shape_a));
  }

  void check_library(const Library& library, const NodeSet* only, const Checkpoint* values,
                     const NodeSet& restoring) {
    if (library.functions.empty()) return;
    const std::vector<bool> called =
        only == nullptr ? called_or_alternative(meta_, library) : called_functions(meta_, library, only);
    const std::vector<bool> restores =
        values != nullptr ? called_functions(meta_, library, &restoring) : std::vector<bool>();
    const CapturedTensors captured = captured_tensors(meta_.part(meta_field::kObjectGraph));
    std::map<std::string_view, size_t> seen;
    for (size_t i = 0; i < library.functions.size(); ++i) {
      const Function& function = library.functions[i];
      if (only != nullptr && !called[i]) continue;
      if (only == nullptr && !seen.emplace(function.name, i).second)
        report_.add(Rule::kFunction, std::string(function.name), "two functions of one name");
      if (!called[i]) report_.warn(Rule::kFunction, std::string(function.name), "nothing calls it");
      Graph body = function.body;
      body.decode();
      const CheckedGraph in(function.name, body, ops_);
      look_at(in, nullptr);
      check_returns(in, function.name, report_);
      if (only == nullptr) check_captured(in, function.name, captured, report_);
      check_saver_nodes(in, values != nullptr && restores[i] ? values : nullptr, nullptr, nullptr, report_);
    }
    if (only == nullptr) check_gradients(library, functions_, report_);
  }

  Model& model_;
  size_t index_;
  MetaGraph& meta_;
  Graph& graph_;
  Registry& registry_;
  OpTable ops_;
  const CheckRequest& request_;
  Functions functions_;
  NodeContext context_;
  Registry producer_registry_;
  OpTable producer_ops_{producer_registry_};
  Report report_;
  bool no_variables_ = false;  // a SavedModel's folder is without a checkpoint
};

}  // namespace

std::vector<Fault> check(Model& model, size_t meta, Registry& ops, const CheckRequest& request) {
  return GraphChecker(model, meta, ops, request).run();
}

}  // namespace gedit
