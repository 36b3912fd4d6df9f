#include "cli/json.h"

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "cli/called.h"
#include "graph/listing.h"
#include "model/json.h"

namespace gedit {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kElided = 1024;  // as in the listing

std::string text_of(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

Json shape_json(const Shape& shape) { return shape ? Json(*shape) : Json(nullptr); }
Json dtype_json(const std::optional<DType>& dtype) {
  return dtype ? Json(dtype_name(*dtype)) : Json(nullptr);
}

// Sets a key where keys come in order: of equal ones the last counts. (operator[] looks at all that are
// there.)
void set_next(Json& object, const std::string& key, Json value) {
  auto& members = object.get_ref<Json::object_t&>();
  if (!members.empty() && members.back().first == key) {
    members.back().second = std::move(value);
  } else {
    members.emplace_back(key, std::move(value));
  }
}

Json or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

Json side_json(const std::map<std::string, TensorSummary>& side) {
  Json object = Json::object();
  for (const auto& [key, tensor] : side) {
    set_next(object, key,
             {{"tensor", tensor.tensor},
              {"dtype", dtype_json(tensor.dtype)},
              {"shape", shape_json(tensor.shape)}});
  }
  return object;
}

Json signatures_object(const std::vector<SignatureSummary>& signatures) {
  Json object = Json::object();
  for (const SignatureSummary& signature : signatures) {
    set_next(object, signature.key,
             {{"method", signature.method},
              {"inputs", side_json(signature.inputs)},
              {"outputs", side_json(signature.outputs)}});
  }
  return object;
}

Json tensors_json(const std::vector<TensorSummary>& tensors) {
  Json array = Json::array();
  for (const TensorSummary& tensor : tensors) {
    array.push_back({{"tensor", tensor.tensor},
                     {"dtype", dtype_json(tensor.dtype)},
                     {"shape", shape_json(tensor.shape)},
                     {"reason", tensor.reason}});
  }
  return array;
}

Json largest_json(const std::optional<LargestActivation>& largest) {
  if (!largest) return nullptr;
  return {{"tensor", largest->tensor},
          {"dtype", dtype_json(largest->dtype)},
          {"shape", shape_json(largest->shape)},
          {"bytes", largest->bytes}};
}

Json graph_json(const GraphSummary& graph, bool scopes) {
  Json variables = Json::array();
  for (const VariableSummary& variable : graph.variables) {
    variables.push_back({{"name", variable.name},
                         {"dtype", dtype_name(variable.dtype)},
                         {"shape", shape_json(variable.shape)},
                         {"trainable", variable.trainable},
                         {"checkpoint_key", variable.key ? Json(*variable.key) : Json(nullptr)},
                         {"collections", variable.collections},
                         {"initializer", or_null(variable.initializer)},
                         {"snapshot", or_null(variable.snapshot)},
                         {"initial_value", or_null(variable.initial_value)}});
  }
  Json collections = Json::object();
  for (const CollectionSummary& collection : graph.collections) {
    set_next(collections, collection.key, {{"kind", collection.kind}, {"items", collection.items}});
  }
  Json savers = Json::array();
  for (const SaverSummary& saver : graph.savers) {
    savers.push_back({{"restore_op", saver.restore_op},
                      {"save_tensor", saver.save_tensor},
                      {"filename_tensor", saver.filename_tensor},
                      {"version", saver.version},
                      {"keys", saver.keys.size()},
                      {"key_names", saver.keys},
                      {"sharded", saver.sharded}});
  }
  Json object{{"tags", graph.tags},
              {"tensorflow_version", graph.tensorflow_version},
              {"producer", graph.producer},
              {"runs_on",
               {{"from", graph.runs_from},
                {"to", graph.runs_to},
                {"because", graph.runs_because},
                {"retargeted_from", graph.retargeted_from}}},
              {"min_consumer", graph.min_consumer},
              {"nodes", graph.nodes},
              {"ops", graph.ops},
              {"functions", graph.functions},
              {"function_nodes", graph.function_nodes},
              {"unreachable_functions", graph.unreachable_functions},
              {"parameters", graph.parameters},
              {"constants", graph.constants},
              {"devices", graph.devices},
              {"function_devices", graph.function_devices},
              {"assets", graph.assets},
              {"init_op", graph.init_op},
              {"inputs", tensors_json(graph.inputs)},
              {"outputs", tensors_json(graph.outputs)},
              {"largest_activation", largest_json(graph.largest_activation)},
              {"variables", variables},
              {"signatures", signatures_object(graph.signatures)},
              {"collections", collections},
              {"savers", savers}};
  if (!scopes) return object;
  Json rows = Json::array();
  for (const ScopeSummary& scope : graph.scopes) {
    rows.push_back({{"scope", scope.scope},
                    {"nodes", scope.nodes},
                    {"variables", scope.variables},
                    {"parameters", scope.parameters},
                    {"bytes", scope.bytes}});
  }
  object["scopes"] = rows;
  return object;
}

}  // namespace

std::string model_json(const Model& model, const std::vector<GraphSummary>& graphs, bool scopes) {
  Json array = Json::array();
  for (const GraphSummary& graph : graphs) array.push_back(graph_json(graph, scopes));
  return text_of({{"file", model.path},
                  {"kind", model.events ? "Events" : kind_word(model.kind)},
                  {"meta_graphs", array}},
                 1) +
         "\n";
}

std::string checkpoint_state_json(const std::string& path, const CheckpointState& state) {
  return text_of({{"file", path}, {"kind", "CheckpointState"}, {"latest", state.latest}, {"all", state.all}},
                 1) +
         "\n";
}

std::string signatures_json(const Model& model, const std::vector<SignaturesOfGraph>& graphs) {
  Json array = Json::array();
  for (const SignaturesOfGraph& graph : graphs)
    array.push_back({{"tags", graph.tags}, {"signatures", signatures_object(graph.signatures)}});
  return text_of({{"file", model.path}, {"kind", kind_word(model.kind)}, {"meta_graphs", array}}, 1) + "\n";
}

std::string node_json(const std::string& prefix, std::string_view node_def, bool full) {
  const NodeHead head = node_head(node_def);
  Json inputs = Json::array();
  each_input(node_def, [&](std::string_view input) { inputs.push_back(std::string(input)); });
  std::map<std::string, Json> attrs;
  each_attr(node_def, [&](std::string_view key, std::string_view value) {
    const bool elide = !full && value.size() > kElided && has_field(value, attr_field::kTensor);
    std::string elided;
    if (elide) print_attr_value(elided, value, false);
    attrs[std::string(key)] = elide ? Json{{"elided", elided}} : Json::parse(attr_value_json(value));
  });
  return text_of({{"name", prefix + std::string(head.name)},
                  {"op", std::string(head.op)},
                  {"inputs", inputs},
                  {"device", std::string(head.device)},
                  {"attrs", attrs}},
                 -1);
}

std::string nodes_json(const std::vector<std::pair<std::string, std::string>>& nodes) {
  Json array = Json::array();
  for (const auto& [name, op] : nodes) array.push_back({{"name", name}, {"op", op}});
  return text_of(array, 1) + "\n";
}

std::string flops_json(const Flops& flops) {
  Json rows = Json::array();
  for (const ScopeFlops& scope : flops.scopes) {
    rows.push_back({{"scope", scope.scope},
                    {"flops", scope.flops},
                    {"parameters", scope.parameters},
                    {"bytes", scope.bytes},
                    {"largest_activation", shape_json(scope.largest)}});
  }
  const auto by_op = [](const std::map<std::string, uint64_t>& counts) {
    Json object = Json::object();
    for (const auto& [op, nodes] : counts) set_next(object, op, nodes);
    return object;
  };
  return text_of({{"total", flops.total},
                  {"rows", rows},
                  {"not_counted", by_op(flops.not_counted)},
                  {"unknown_shapes", by_op(flops.unknown)}},
                 1) +
         "\n";
}

std::string shapes_json_item(const TensorShape& tensor) {
  Json dims = nullptr, symbols = nullptr;
  if (tensor.shape) {
    dims = symbols = Json::array();
    for (const int64_t dim : *tensor.shape) dims.push_back(dim < 0 ? Json(nullptr) : Json(dim));
    for (const uint32_t symbol : tensor.symbols)
      symbols.push_back(symbol == 0 ? Json(nullptr) : Json(symbol));
  }
  const std::string item = text_of(
      {{"tensor", tensor.tensor}, {"dtype", dtype_json(tensor.dtype)}, {"shape", dims}, {"symbols", symbols}},
      1);
  std::string indented = " ";
  for (const char letter : item) {
    indented += letter;
    if (letter == '\n') indented += ' ';
  }
  return indented;
}

std::string maps_json(
    const std::vector<std::pair<std::string, const std::map<std::string, std::string>*>>& maps) {
  Json object = Json::object();
  for (const auto& [kind, map] : maps) object[kind] = *map;
  return text_of(object, 1) + "\n";
}

std::string optimize_json(const OptimizeReport& report) {
  const auto size = [](const OptimizeReport::Size& one) {
    return Json{{"nodes", one.nodes},
                {"variables", one.variables},
                {"functions", one.functions},
                {"bytes", one.bytes}};
  };
  const Json json = {
      {"before", size(report.before)},
      {"after", size(report.after)},
      {"steps", *report.steps},
      {"proof", {{"verdict", report.verdict}, {"outputs", report.proved}, {"why", *report.why}}},
      {"left_out", *report.left_out},
      {"notes", *report.notes},
      {"warnings", *report.warnings}};
  return text_of(json, 1) + "\n";
}

std::string retarget_json(const std::string& release, const RetargetResult& result) {
  Json obstacles = Json::array();
  for (const Fault& fault : result.obstacles) {
    obstacles.push_back(
        {{"level", "error"}, {"rule", fault.rule}, {"subject", fault.subject}, {"message", fault.message}});
  }
  const Json json = {{"release", release},
                     {"done", result.counts},
                     {"obstacles", obstacles},
                     {"notes", result.changes.notes},
                     {"warnings", result.changes.warnings}};
  return text_of(json, 1) + "\n";
}

std::string error_json(const std::string& line, const std::exception& error) {
  Json json = {{"line", line}};
  if (const auto* told = dynamic_cast<const Error*>(&error)) {
    constexpr std::string_view kHint = "; hint: ";
    const std::string all = told->what();
    const size_t hint = all.find(kHint, all.find(told->message()) + told->message().size());
    json["file"] = told->file();
    json["subject"] = told->subject();
    json["message"] = told->message();
    json["hint"] = hint == std::string::npos ? "" : as_called(all.substr(hint + kHint.size()));
  }
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace gedit
