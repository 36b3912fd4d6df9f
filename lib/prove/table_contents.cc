#include "prove/table_contents.h"

#include <algorithm>

#include "base/crc32c.h"
#include "base/file.h"
#include "graph/function_names.h"
#include "model/asset_paths.h"
#include "model/collections.h"
#include "prove/side.h"

namespace gedit {
namespace {

constexpr int kMostPassed = 64;  // nodes in a row that hand on what they read
constexpr int kDeepestCall = 8;

}  // namespace

TableContents::TableContents(Side& side, Classes& classes, Contents& contents)
    : side_(side), classes_(classes), contents_(contents) {
  const Graph& graph = side.graph();
  if (!graph.has_any(OpKind::kTable)) return;
  const Model& model = side.model();
  for (const Asset& asset : assets(model.meta()))
    assets_.emplace(node_of(asset.tensor), asset_path(model, std::string(asset.file)));
  const auto value_of = [this](std::string_view input) { return in_main(input); };
  for (uint32_t i = 0; i < graph.size(); ++i) {
    if (!graph.removed(NodeId{i})) look_at(graph.bytes(NodeId{i}), value_of, 0);
  }
}

std::optional<std::string> TableContents::of(NodeId table) const {
  const auto found = filled_.find(index_of(table));
  if (found == filled_.end() || !found->second.known) return std::nullopt;
  std::string text;
  for (const std::string& by : found->second.by) text.append(by).append("\n");
  return text;
}

// An initializer, or a call of a function in which one may be.
template <typename ValueOf>
void TableContents::look_at(std::string_view node_def, const ValueOf& value_of, int depth) {
  const std::string_view op = node_op(node_def);
  const OpKinds kinds = side_.labels().op(op).kinds;
  const bool fills = kinds.has(OpKind::kTableInitializer);
  const std::string_view function = side_.body(op) != nullptr ? op : called_function(node_def);
  if (!fills && function.empty()) return;
  std::vector<Value> values;
  each_input(node_def, [&](std::string_view input) {
    if (!input.starts_with('^')) values.push_back(value_of(input));
  });
  if (!fills) return look_into(function, values, depth + 1);
  if (values.empty() || values[0].table == kNoNode) return;
  Filled& filled = filled_[index_of(values[0].table)];
  NodeText text;
  std::string by = classes_.label(side_.labels().of(node_def, text).label).text;
  for (size_t k = 1; k < values.size(); ++k) {
    filled.known = filled.known && !values[k].text.empty();
    by.append("\n").append(values[k].text);
  }
  filled.by.insert(std::move(by));
}

void TableContents::look_into(std::string_view function, const std::vector<Value>& arguments, int depth) {
  CalledBody* const body = side_.body(function);
  const auto is_table = [](const Value& value) { return value.table != kNoNode; };
  if (body == nullptr || depth > kDeepestCall || std::ranges::none_of(arguments, is_table)) return;
  const Graph& graph = body->graph;
  const auto value_of = [&](std::string_view input) -> Value {
    for (int step = 0; step < kMostPassed; ++step) {
      const std::string_view name = parse_body_input(input).node;
      if (const auto argument = body->arguments.find(name); argument != body->arguments.end())
        return argument->second < arguments.size() ? arguments[argument->second] : Value();
      const NodeId node = body->names.find(name);
      if (node == kNoNode) return {};
      const std::string_view node_def = graph.bytes(node);
      if (graph.is(node, OpKind::kConst)) return of_const(node_def);
      const std::vector<std::string_view> inputs = input_views(node_def);
      if (side_.labels().op(graph.op(node)).conduct != Conduct::kPasses || inputs.empty()) return {};
      input = inputs[0];
    }
    return {};
  };
  for (uint32_t i = 0; i < graph.size(); ++i) {
    if (!graph.removed(NodeId{i})) look_at(graph.bytes(NodeId{i}), value_of, depth);
  }
}

TableContents::Value TableContents::in_main(std::string_view input) {
  const Graph& graph = side_.graph();
  for (int step = 0; step < kMostPassed; ++step) {
    const NodeId node = side_.names().find(parse_input(input).node);
    if (node == kNoNode) return {};
    if (graph.is(node, OpKind::kTable)) return {node};
    if (graph.is(node, OpKind::kConst)) {
      const auto file = assets_.find(graph.name(node));
      if (file == assets_.end()) return of_const(graph.bytes(node));
      if (!exists(file->second)) return {};
      const auto opened = InputFile::open(file->second);
      return {kNoNode, "file " + std::to_string(opened->bytes().size()) + " " +
                           std::to_string(crc32c(opened->bytes()))};
    }
    const std::vector<std::string_view> inputs = input_views(graph.bytes(node));
    if (side_.op(node).conduct != Conduct::kPasses || inputs.empty()) return {};
    input = inputs[0];
  }
  return {};
}

TableContents::Value TableContents::of_const(std::string_view node_def) {
  const auto value = find_attr(node_def, "value");
  if (!value) return {};
  return {kNoNode, "const " + std::to_string(contents_.of_tensor(last_bytes(*value, attr_field::kTensor)))};
}

}  // namespace gedit
