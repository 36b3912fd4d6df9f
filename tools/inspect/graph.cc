// What is told of a graph.
#include <algorithm>
#include <set>

#include "base/error.h"
#include "base/size.h"
#include "cli/text.h"
#include "inspect/describe.h"

namespace gedit {
namespace {

constexpr size_t kMostOps = 7;

std::vector<std::vector<std::string>> tensor_rows(const std::vector<TensorSummary>& tensors) {
  std::vector<std::vector<std::string>> rows;
  for (const TensorSummary& tensor : tensors) {
    if (rows.size() == kMostRows) {
      rows.push_back({"and " + count_text(tensors.size() - kMostRows) + " more"});
      break;
    }
    rows.push_back(
        {printable(tensor.tensor), tensor.dtype ? type_text(tensor.dtype, tensor.shape) : "", tensor.reason});
  }
  return rows;
}

std::string ops_text(const GraphSummary& graph) {
  std::vector<std::pair<uint64_t, std::string>> ops;
  for (const auto& [op, count] : graph.ops) ops.emplace_back(count, op);
  std::stable_sort(ops.begin(), ops.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::string text = count_text(graph.nodes);
  if (!ops.empty()) text += ", " + count_text(ops.size(), "op") + ": ";
  for (size_t i = 0; i < ops.size(); ++i) {
    if (i == kMostOps) return text + ", ...";
    text += (i > 0 ? ", " : "") + printable(ops[i].second) + " " + count_text(ops[i].first);
  }
  return text;
}

std::string variables_text(const GraphSummary& graph) {
  const auto trainable =
      static_cast<size_t>(std::count_if(graph.variables.begin(), graph.variables.end(),
                                        [](const VariableSummary& variable) { return variable.trainable; }));
  std::string text = count_text(graph.variables.size());
  if (graph.variables.empty())
    return graph.constants > 0 ? text + "; constants " + count_text(graph.constants) : text;
  text += " (" + count_text(trainable) + " trainable), " + count_text(graph.parameters) + " parameters, " +
          size_text(graph.parameter_bytes);
  std::vector<std::string> types;
  size_t keys = 0;
  for (const VariableSummary& variable : graph.variables) {
    const std::string name = dtype_name(variable.dtype);
    if (std::find(types.begin(), types.end(), name) == types.end()) types.push_back(name);
    keys += variable.key ? 1 : 0;
  }
  text += ": ";
  for (size_t i = 0; i < types.size(); ++i) text += (i > 0 ? ", " : "") + types[i];
  if (keys > 0 && keys < graph.variables.size()) text += "; " + count_text(keys) + " with checkpoint keys";
  if (keys == 0) text += "; no saver";
  return text;
}

}  // namespace

// `TensorFlow 1.5 and later (AddV2); with retarget 1.0 and later`.
std::string runs_text(const GraphSummary& graph) {
  std::string text = "no release as it is";
  if (!graph.runs_from.empty()) {
    text = "TensorFlow " + graph.runs_from;
    text += graph.runs_to.empty() ? " and later" : " to " + graph.runs_to;
    if (!graph.runs_because.empty()) text += " (" + printable(graph.runs_because) + ")";
  }
  if (!graph.retargeted_from.empty()) text += "; with retarget " + graph.retargeted_from + " and later";
  return text;
}

std::string describe(const GraphSummary& graph, bool color) {
  LabelledText text(color);
  text.line("nodes", ops_text(graph));
  std::string functions = count_text(graph.functions);
  if (graph.functions > 0)
    functions +=
        ", " + count_text(graph.function_nodes, "node") + (graph.functions == 1 ? " in it" : " in them");
  if (!graph.unreachable_functions.empty()) {
    functions += "; " + count_text(graph.unreachable_functions.size()) + " unreachable, first " +
                 printable(graph.unreachable_functions[0]);
  }
  text.line("functions", functions);
  text.line("runs on", runs_text(graph));
  text.table("inputs", tensor_rows(graph.inputs));
  text.table("outputs", tensor_rows(graph.outputs));
  if (graph.largest_activation) {
    const LargestActivation& largest = *graph.largest_activation;
    std::string words = printable(largest.tensor);
    if (largest.dtype) words += "  " + type_text(largest.dtype, largest.shape);
    if (largest.bytes > 0) words += ", " + size_text(largest.bytes);
    if (std::ranges::count(*largest.shape, -1) > 0) words += " where ? is 1";
    text.line("largest", words);
  }
  text.line("variables", variables_text(graph));
  std::string collections;
  for (const CollectionSummary& collection : graph.collections) {
    collections +=
        (collections.empty() ? "" : ", ") + printable(collection.key) + " " + count_text(collection.items);
  }
  text.line("collections", collections.empty() ? "none" : collections);
  std::vector<std::vector<std::string>> savers;
  for (const SaverSummary& saver : graph.savers) {
    savers.push_back({printable(saver.restore_op.empty() ? saver.save_tensor : saver.restore_op) + ", " +
                      (saver.version.empty() ? "no SaverDef" : saver.version) + ", " +
                      count_text(saver.keys.size(), "key") + ", " +
                      (saver.sharded ? "sharded" : "not sharded")});
  }
  text.table("saver", savers);
  std::vector<std::vector<std::string>> signatures;
  for (const SignatureSummary& signature : graph.signatures) {
    const auto side = [](const std::map<std::string, TensorSummary>& tensors) {
      std::string joined;
      for (const auto& [key, tensor] : tensors)
        joined += (joined.empty() ? "" : ", ") + printable(key) + " " + type_text(tensor.dtype, tensor.shape);
      return joined;
    };
    signatures.push_back(
        {printable(signature.key), side(signature.inputs) + " -> " + side(signature.outputs)});
  }
  text.table("signatures", signatures);
  if (!graph.init_op.empty()) text.line("init op", printable(graph.init_op));
  if (!graph.assets.empty()) {
    std::string assets;
    for (const std::string& asset : graph.assets) assets += (assets.empty() ? "" : ", ") + printable(asset);
    text.line("assets", assets);
  }
  std::set<std::string> all_devices(graph.devices.begin(), graph.devices.end());
  all_devices.insert(graph.function_devices.begin(), graph.function_devices.end());
  if (!all_devices.empty()) {
    std::string devices;
    for (const std::string& device : all_devices)
      devices += (devices.empty() ? "" : ", ") + printable(device);
    text.line("devices", devices);
  }
  if (graph.scopes.empty()) return text.take();
  std::vector<std::vector<std::string>> rows{{"scope", "nodes", "variables", "parameters", "bytes"}};
  for (const ScopeSummary& scope : graph.scopes) {
    rows.push_back({printable(scope.scope), count_text(scope.nodes), count_text(scope.variables),
                    count_text(scope.parameters), size_text(scope.bytes)});
  }
  text.table("scopes", rows);
  return text.take();
}

}  // namespace gedit
