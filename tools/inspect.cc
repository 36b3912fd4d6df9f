// gedit inspect: what is in a file.
#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/size.h"
#include "checkpoint/list.h"
#include "checkpoint/open.h"
#include "checkpoint/state.h"
#include "cli/options.h"
#include "cli/signatures.h"
#include "commands.h"
#include "model/operand.h"
#include "model/summary.h"

namespace gedit {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kMostShown = 10;  // outputs, savers, ... in the text form
constexpr size_t kMostOps = 7;

// --- JSON

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

Json graph_json(const GraphSummary& graph, bool scopes) {
  Json variables = Json::array();
  for (const VariableSummary& variable : graph.variables) {
    variables.push_back({{"name", variable.name},
                         {"dtype", dtype_name(variable.dtype)},
                         {"shape", shape_json(variable.shape)},
                         {"trainable", variable.trainable},
                         {"checkpoint_key", variable.key ? Json(*variable.key) : Json(nullptr)},
                         {"collections", variable.collections}});
  }
  Json collections = Json::object();
  for (const CollectionSummary& collection : graph.collections) {
    collections[collection.key] = {{"kind", collection.kind}, {"items", collection.items}};
  }
  Json savers = Json::array();
  for (const SaverSummary& saver : graph.savers) {
    savers.push_back({{"restore_op", saver.restore_op},
                      {"save_tensor", saver.save_tensor},
                      {"filename_tensor", saver.filename_tensor},
                      {"version", saver.version},
                      {"keys", saver.keys},
                      {"sharded", saver.sharded}});
  }
  Json object{{"tags", graph.tags},
              {"tensorflow_version", graph.tensorflow_version},
              {"producer", graph.producer},
              {"min_consumer", graph.min_consumer},
              {"nodes", graph.nodes},
              {"ops", graph.ops},
              {"functions", graph.functions},
              {"function_nodes", graph.function_nodes},
              {"unreachable_functions", graph.unreachable_functions},
              {"parameters", graph.parameters},
              {"constants", graph.constants},
              {"devices", graph.devices},
              {"assets", graph.assets},
              {"init_op", graph.init_op},
              {"inputs", tensors_json(graph.inputs)},
              {"outputs", tensors_json(graph.outputs)},
              {"variables", variables},
              {"signatures", signatures_json(graph.signatures)},
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

// --- text

class Text {
 public:
  explicit Text(bool color) : color_(color) {}

  void line(std::string_view label, const std::string& text) {
    const std::string padded = fmt::format("{:<11}", label);
    out_ += "  " + (color_ && !label.empty() ? "\033[1m" + padded + "\033[0m" : padded) + " " + text;
    while (out_.ends_with(' ')) out_.pop_back();
    out_ += '\n';
  }

  // Columns as wide as their widest cell, the first row behind the label.
  void table(std::string_view label, const std::vector<std::vector<std::string>>& rows) {
    std::vector<size_t> widths;
    for (const auto& row : rows) {
      widths.resize(std::max(widths.size(), row.size()));
      for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
    }
    for (const auto& row : rows) {
      std::string text;
      for (size_t i = 0; i < row.size(); ++i)
        text += i + 1 < row.size() ? fmt::format("{:<{}}  ", row[i], widths[i]) : row[i];
      line(label, text);
      label = "";
    }
    if (rows.empty()) line(label, "none");
  }

  std::string take() { return std::move(out_); }

 private:
  bool color_;
  std::string out_;
};

std::vector<std::vector<std::string>> tensor_rows(const std::vector<TensorSummary>& tensors) {
  std::vector<std::vector<std::string>> rows;
  for (const TensorSummary& tensor : tensors) {
    if (rows.size() == kMostShown) {
      rows.push_back({"and " + count_text(tensors.size() - kMostShown) + " more"});
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
  if (!ops.empty()) text += ", " + count_text(ops.size()) + (ops.size() == 1 ? " op: " : " ops: ");
  for (size_t i = 0; i < ops.size(); ++i) {
    if (i == kMostOps) return text + ", ...";
    text += (i > 0 ? ", " : "") + printable(ops[i].second) + " " + count_text(ops[i].first);
  }
  return text;
}

std::string variables_text(const GraphSummary& graph) {
  const size_t trainable =
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

void describe(const GraphSummary& graph, Text& text) {
  text.line("nodes", ops_text(graph));
  std::string functions = count_text(graph.functions);
  if (graph.functions > 0) functions += ", " + count_text(graph.function_nodes) + " nodes in them";
  if (!graph.unreachable_functions.empty()) {
    functions += "; " + count_text(graph.unreachable_functions.size()) + " unreachable, first " +
                 printable(graph.unreachable_functions[0]);
  }
  text.line("functions", functions);
  text.table("inputs", tensor_rows(graph.inputs));
  text.table("outputs", tensor_rows(graph.outputs));
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
                      count_text(saver.keys) + (saver.keys == 1 ? " key, " : " keys, ") +
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
  if (!graph.devices.empty()) {
    std::string devices;
    for (const std::string& device : graph.devices)
      devices += (devices.empty() ? "" : ", ") + printable(device);
    text.line("devices", devices);
  }
  if (graph.scopes.empty()) return;
  std::vector<std::vector<std::string>> rows{{"scope", "nodes", "variables", "parameters", "bytes"}};
  for (const ScopeSummary& scope : graph.scopes) {
    rows.push_back({printable(scope.scope), count_text(scope.nodes), count_text(scope.variables),
                    count_text(scope.parameters), size_text(scope.bytes)});
  }
  text.table("scopes", rows);
}

// --- checkpoints

struct Share {
  uint64_t tensors = 0, elements = 0, bytes = 0;
};

// The first `depth` parts of a name; of a shorter one all but the last.
std::string scope_of(std::string_view name, int depth) {
  size_t end = 0;
  for (int level = 0; level < depth; ++level) {
    const size_t slash = name.find('/', end == 0 ? 0 : end + 1);
    if (slash == std::string_view::npos) break;
    end = slash;
  }
  return std::string(name.substr(0, end));
}

std::string describe(const Checkpoint& checkpoint, int depth, bool color) {
  std::map<std::string, uint64_t> types;
  std::map<std::string, Share> scopes;
  std::vector<std::pair<uint64_t, const Tensor*>> largest;
  Share all;
  size_t partitioned = 0, slices = 0;
  for (const Tensor& tensor : checkpoint.tensors) {
    const uint64_t elements = element_count(tensor.shape);
    const uint64_t bytes = stored_size(checkpoint, tensor).value_or(0);
    ++types[dtype_name(tensor.dtype)];
    for (Share* share : {&all, &scopes[scope_of(tensor.name, depth)]}) {
      ++share->tensors;
      share->elements += elements;
      share->bytes += bytes;
    }
    partitioned += tensor.partitioned() ? 1 : 0;
    slices += tensor.slices.size();
    largest.emplace_back(bytes, &tensor);
  }
  Text text(color);
  std::string tensors = count_text(all.tensors);
  for (const auto& [type, count] : types)
    tensors += (&type == &types.begin()->first ? ": " : ", ") + type + " " + count_text(count);
  text.line("tensors", tensors + "; " + count_text(all.elements) + " elements, " + size_text(all.bytes));
  if (partitioned > 0)
    text.line("partitioned", count_text(partitioned) + ", in " + count_text(slices) + " slices");
  text.line("objects", checkpoint.object_based() ? "an object graph" : "none");
  std::stable_sort(largest.begin(), largest.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<std::vector<std::string>> rows;
  for (const auto& [bytes, tensor] : largest) {
    if (rows.size() == kMostShown) break;
    rows.push_back(
        {shown_name(tensor->name), dtype_name(tensor->dtype) + shape_text(tensor->shape), size_text(bytes)});
  }
  text.table("largest", rows);
  if (depth == 0) return text.take();
  std::vector<std::pair<std::string, Share>> ranked(scopes.begin(), scopes.end());
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const auto& a, const auto& b) { return a.second.bytes > b.second.bytes; });
  rows = {{"scope", "tensors", "elements", "bytes"}};
  for (const auto& [scope, share] : ranked) {
    rows.push_back({scope.empty() ? "(none)" : shown_name(scope), count_text(share.tensors),
                    count_text(share.elements), size_text(share.bytes)});
  }
  text.table("scopes", rows);
  return text.take();
}

class Inspect final : public Command {
 public:
  void setup(CommandLine& line) override {
    input_.setup(line);
    color_.setup(line);
    line.add_option("--depth", depth_, "Also a table of the scopes, N levels deep, largest first")
        ->type_name("N")
        ->within(0, 1000);
    line.add_flag("-j,--json", json_, "JSON");
  }

  int run() override {
    if (names_checkpoint_state(input_.path())) return state();
    if (names_checkpoint(input_.path())) return checkpoint();
    input_.without_graph = true;
    Model model = input_.load();
    std::vector<GraphSummary> summaries;
    with_file(model, [&] {
      for (size_t i = 0; i < model.meta_graphs.size(); ++i) {
        if (input_.tag_set_given() && i != model.selected) continue;
        Registry ops = input_.registry(model, i);
        summaries.push_back(summarize(model, i, ops, depth_));
      }
    });
    print(json_ ? as_json(model, summaries) : as_text(model, summaries));
    return 0;
  }

 private:
  int state() const {
    const std::string& path = input_.path();
    const CheckpointState state = parse_state(InputFile::open(path)->bytes(), path);
    if (json_) {
      const Json object{
          {"file", path}, {"kind", "CheckpointState"}, {"latest", state.latest}, {"all", state.all}};
      print(object.dump(1, ' ', false, Json::error_handler_t::replace) + "\n");
      return 0;
    }
    Text text(color_.on());
    const auto line = [](const std::string& prefix) { return std::vector<std::string>{printable(prefix)}; };
    text.table("latest", {line(state.latest)});
    std::vector<std::vector<std::string>> all;
    for (const std::string& prefix : state.all) all.push_back(line(prefix));
    text.table("all", all);
    print(printable(path) + ": CheckpointState\n" + text.take());
    return 0;
  }

  int checkpoint() const {
    std::vector<std::string> warnings;
    const Checkpoint checkpoint = open_checkpoint(input_.path(), &warnings);
    for (const std::string& warning : warnings) say_warning(warning);
    if (json_) {
      OutputFile out("-", true);
      list_json(checkpoint, std::vector<bool>(checkpoint.tensors.size(), true), out);
      out.commit();
      return 0;
    }
    const size_t shards = checkpoint.shards.size();
    print(printable(checkpoint.prefix) + ": Checkpoint, V" + std::to_string(checkpoint.version) + ", " +
          count_text(shards) + (shards == 1 ? " shard\n" : " shards\n") +
          describe(checkpoint, depth_, color_.on()));
    return 0;
  }

  std::string as_json(const Model& model, const std::vector<GraphSummary>& summaries) const {
    Json graphs = Json::array();
    for (const GraphSummary& summary : summaries) graphs.push_back(graph_json(summary, depth_ > 0));
    const Json object{{"file", model.path},
                      {"kind", model.events ? "Events" : kind_word(model.kind)},
                      {"meta_graphs", graphs}};
    return object.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
  }

  std::string as_text(const Model& model, const std::vector<GraphSummary>& summaries) const {
    Text text(color_.on());
    std::string out;
    for (const GraphSummary& summary : summaries) {
      out += subject(model) + std::string(kind_word(model.kind));
      if (model.kind == Kind::kSavedModel) {
        out += " {";
        for (size_t i = 0; i < summary.tags.size(); ++i)
          out += (i > 0 ? "," : "") + printable(summary.tags[i]);
        out += "}";
      }
      if (!summary.tensorflow_version.empty()) out += ", TensorFlow " + printable(summary.tensorflow_version);
      if (summary.producer > 0) out += ", producer " + std::to_string(summary.producer);
      out += ", " + size_text(model.events ? model.message.size() : model.file->bytes().size()) + "\n";
      describe(summary, text);
      out += text.take();
    }
    if (summaries.empty()) out += subject(model) + "no graph\n";
    return out;
  }

  static std::string subject(const Model& model) {
    std::string words = printable(model.path == "-" ? "(standard input)" : model.path) + ": ";
    if (!model.events) return words;
    words += "Events, " + count_text(*model.events) + (*model.events == 1 ? " event" : " events");
    if (model.cut) words += " and one cut short";
    return words + ", " + size_text(model.file->bytes().size()) + ", ";
  }

  InputOptions input_;
  ColorOption color_;
  uint32_t depth_ = 0;
  bool json_ = false;
};

}  // namespace

CommandInfo inspect_command() {
  return {
      .summary = "tells what is in a file",
      .synopsis = "FILE [--depth N] [-j]",
      .text = R"(
Tells the kind of FILE, its nodes, functions, likely inputs and outputs with the reason for each, variables
with their checkpoint keys, collections, savers, signatures and assets. Weights are never read. Inputs are
placeholders, those of a signature first; outputs are those of signatures, what was differentiated and what
nobody reads. Of an event file: how many events there are, and the last graph. Of a checkpoint (a prefix, a
directory, any of its files): types, elements, bytes and the largest tensors, as JSON what gedit checkpoint
list -j prints; of a state file: what it names.

docs/inspect.schema.json is the JSON Schema of what -j prints.
)",
      .examples = R"(
gedit inspect dqn.meta
gedit inspect saved_model/ -j | jq '.meta_graphs[0].signatures'
)",
      .make = make_command<Inspect>,
  };
}

}  // namespace gedit
