#include "edit/savers/checkpoint_keys.h"

#include <iterator>

#include "base/error.h"
#include "edit/savers/entries.h"
#include "graph/names.h"
#include "model/saver_def.h"
#include "model/savers.h"

namespace gedit {

Error missing_key(std::string_view key, std::string_view checkpoint_name) {
  return Error(Cause::kRefused,
               "key '" + printable(key) + "' is not in checkpoint '" + printable(checkpoint_name) + "'")
      .hint("gedit checkpoint list " + printable(checkpoint_name));
}

void add_keys(Checkpoint& checkpoint, const KeyMap& keys, std::string_view checkpoint_name) {
  std::vector<Tensor> added;
  for (const auto& [from, to] : keys) {
    const Tensor* tensor = checkpoint.find(from);
    if (tensor == nullptr) throw missing_key(from, checkpoint_name).of(quoted("variable", from));
    if (checkpoint.find(to) != nullptr) {
      throw Error(Cause::kRefused,
                  "key '" + printable(to) + "' is in checkpoint '" + printable(checkpoint_name) + "' already")
          .of(quoted("variable", from))
          .hint("choose another --scope");
    }
    added.push_back(*tensor);
    added.back().name = to;
  }
  checkpoint.tensors.insert(checkpoint.tensors.end(), std::make_move_iterator(added.begin()),
                            std::make_move_iterator(added.end()));
  sort_tensors(checkpoint);
}

void add_objects(Checkpoint& checkpoint, const std::vector<CopiedValue>& values) {
  if (values.empty() || !checkpoint.object_based()) return;
  const std::string bytes = load_object_graph(checkpoint);
  ObjectGraph graph = parse_object_graph(bytes);
  copy_values(graph, values);
  store_object_graph(checkpoint, object_graph_bytes(graph));
}

void require_keys(Model& model, const Checkpoint& checkpoint, std::string_view checkpoint_name) {
  Graph& graph = model.graph();
  graph.decode();
  const Names names(graph);
  const Edges sources = producers(graph, names);
  const SaverDefNodes def = saver_def_nodes(model.meta().part(meta_field::kSaver), names);
  const Savers savers =
      main_savers(graph, sources,
                  find_savers(graph, names, reversed(sources), variable_initializers(model.meta(), names)),
                  {def.save, def.restore});
  for (const SaverNode& restore : savers.restores) {
    for (const SavedTensor& tensor : restore.tensors) {
      if (checkpoint.find(tensor.key) == nullptr)
        throw missing_key(tensor.key, checkpoint_name).in(model.path);
    }
  }
}

void rename_keys(Checkpoint& checkpoint, const KeyMap& keys) {
  for (Tensor& tensor : checkpoint.tensors) {
    if (const auto found = keys.find(tensor.name); found != keys.end()) tensor.name = found->second;
  }
  sort_tensors(checkpoint);
}

void rename_saver_keys(Model& model, const KeyMap& keys) {
  Graph& graph = model.graph();
  graph.decode();
  const Names names(graph);
  const Edges consumers = reversed(producers(graph, names));
  Savers savers = find_savers(graph, names, consumers, variable_initializers(model.meta(), names));
  GraphSaverNodes nodes(graph, names, consumers, SharedConsts::kStay);
  for (SaverNode& restore : savers.restores) read_v2(nodes, restore);
  std::vector<SaverNode> all = std::move(savers.saves);
  std::move(savers.restores.begin(), savers.restores.end(), std::back_inserter(all));
  rekey(graph, all, [&](const std::string& key) {
    const auto found = keys.find(key);
    return found == keys.end() ? key : found->second;
  });
}

std::string checkpoint_of(const Model& model, const std::string& named) {
  if (!named.empty() || !model.directory) return named;
  const std::string prefix = join_path(join_path(model.folder, "variables"), "variables");
  return exists(index_path(prefix)) ? prefix : "";
}

}  // namespace gedit
