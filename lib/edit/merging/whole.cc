#include "edit/merging/whole.h"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "base/error.h"

namespace gedit {

size_t richest(const std::vector<MergeOperand>& operands) {
  const auto rank = [](const Model& model) {
    return std::pair(static_cast<int>(model.kind), model.directory);
  };
  const auto found = std::max_element(operands.begin(), operands.end(), [&](const auto& a, const auto& b) {
    return rank(a.model) < rank(b.model);
  });
  return static_cast<size_t>(found - operands.begin());
}

void check_roots(const OperandFiles& files) {
  std::vector<const OperandFile*> with;
  for (const auto& file : files) {
    if (file->model.meta().has(meta_field::kObjectGraph)) with.push_back(file.get());
  }
  for (const OperandFile* file : with) {
    if (with.size() == 1 || !file->name.empty()) continue;
    throw Error(Cause::kRefused, "has an object graph, as others here have; their roots need names")
        .in(file->model.path)
        .hint("name the graphs (a=" + printable(with[0]->model.path) +
              " b=" + printable(with[1]->model.path) + ")");
  }
}

void start_merged(Model& model, const MergeParts& parts, size_t richest) {
  const Model& from = parts[richest]->model;
  model.path = from.path;
  model.kind = from.kind;
  model.format = from.format;
  model.directory = from.directory;
  model.folder = from.folder;
  model.file = from.file;
  model.message = from.message;
  model.arena = std::make_shared<Arena>();
  for (const auto& part : parts) {
    if (part->number != richest && part->model.file) model.more_files.push_back(part->model.file);
  }
  MetaGraph meta{Graph({}, graph_field::kNode, model.arena), {}, true};
  for (const Part& part : from.meta().parts) {
    // The united ones take the place of its own.
    meta.parts.push_back(part.field == meta_field::kGraph ? Part{meta_field::kGraph, {}} : part);
  }
  // Other MetaGraphs go by the names in the checkpoint, which stay those of an operand without a name.
  if (from.meta_graphs.size() > 1 && parts[richest]->name.empty()) {
    model.meta_graphs = from.meta_graphs;
    model.meta_graphs[from.selected] = std::move(meta);
    model.selected = from.selected;
    model.parts = from.parts;
    return;
  }
  model.meta_graphs.push_back(std::move(meta));
  if (model.kind != Kind::kSavedModel) return;
  bool placed = false;
  for (const Part& part : from.parts) {
    if (part.field == 2) {
      if (!placed) model.parts.push_back({2, {}});
      placed = true;
    } else {
      model.parts.push_back(part);
    }
  }
}

void list_changes(const MergeParts& parts, const InputMap& inputs, const NewNodes& added, Changes& changes) {
  for (const auto& part : parts) {
    for (uint32_t i = 0; i < part->graph().size(); ++i) {
      const NodeId id{i};
      const std::string_view node_def = part->graph().bytes(id);
      std::string name = part->name_of(node_name(node_def));
      if (!part->written(id)) {
        changes.removed.emplace_back(std::move(name), node_op(node_def));
      } else if (part->number > 0 || !part->name.empty()) {
        changes.added.emplace_back(std::move(name), node_op(node_def));
      }
    }
  }
  for (const std::string& node : added) changes.added.emplace_back(node_name(node), node_op(node));
  for (const MergedInput& pair : inputs.pairs()) {
    for (const MergedInput::Reader& reader : pair.readers) {
      const MergePart& part = *parts[reader.part];
      if (!part.written(reader.node)) continue;
      changes.changed.emplace_back(part.name_of(part.graph().name(reader.node)),
                                   fmt::format("reads {} instead of {}", pair.value, pair.key));
    }
  }
}

void warn_of_other_graphs(const MergeParts& parts, size_t richest, std::vector<std::string>& warnings) {
  for (const auto& part : parts) {
    const size_t others = part->model.meta_graphs.size() - 1;
    if (others == 0 || (part->number == richest && part->name.empty())) continue;
    warnings.push_back(std::to_string(others) + " other MetaGraphs of " + printable(part->model.path) +
                       " are left out");
  }
}

// Tokens of Python functions stay, so that those of two files can be the same.
void warn_of_python(const MergeParts& parts, std::vector<std::string>& warnings) {
  const auto files = std::count_if(parts.begin(), parts.end(),
                                   [](const auto& part) { return part->graph().tally().python > 0; });
  if (files < 2) return;
  warnings.push_back(std::to_string(files) +
                     " files hold PyFunc nodes: those of one token call the same Python function, "
                     "which only the process that built the graph has");
}

}  // namespace gedit
