#include "edit/savers/checkpoint_keys.h"

#include <set>

#include "base/error.h"
#include "edit/basis/names.h"
#include "edit/savers/lists.h"
#include "graph/names.h"
#include "graph/string_const.h"
#include "model/savers.h"

namespace gedit {

void add_keys(Checkpoint& checkpoint, const KeyMap& keys, std::string_view checkpoint_name) {
  std::vector<Tensor> added;
  for (const auto& [from, to] : keys) {
    const Tensor* tensor = checkpoint.find(from);
    if (tensor == nullptr) {
      throw Error(Cause::kRefused,
                  "key '" + printable(from) + "' is not in checkpoint '" + printable(checkpoint_name) + "'")
          .of(quoted("variable", from))
          .hint("gedit checkpoint list " + printable(checkpoint_name));
    }
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

void rename_keys(Checkpoint& checkpoint, const KeyMap& keys) {
  for (Tensor& tensor : checkpoint.tensors) {
    if (const auto found = keys.find(tensor.name); found != keys.end()) tensor.name = found->second;
  }
  sort_tensors(checkpoint);
}

namespace {

// The savers of a graph that no mapping is applied to.
class OwnSavers final : public SaverLists {
 public:
  explicit OwnSavers(Model& model)
      : graph_(model.graph()),
        names_(graph_),
        new_names_(names_),
        consumers_(reversed(producers(graph_, names_))),
        savers_(find_savers(graph_, names_, consumers_, variable_initializers(model.meta(), names_))) {}

  void read_v2() {
    for (SaverNode& restore : savers_.restores) SaverLists::read_v2(restore);
  }

  void rename(const KeyMap& keys) {
    std::set<NodeId> done{kNoNode};  // a Const may serve both
    for (const SaverNode& save : savers_.saves) {
      if (done.insert(save.names).second) rename(save.names, keys);
    }
    for (const SaverNode& restore : savers_.restores) {
      if (done.insert(restore.names).second) rename(restore.names, keys);
    }
  }

  std::string node(NodeId id) const override { return std::string(graph_.bytes(id)); }

 private:
  void rename(NodeId names, const KeyMap& keys) {
    std::optional<std::vector<std::string>> strings = string_const(graph_.bytes(names));
    bool changed = false;
    for (std::string& text : *strings) {
      const auto found = keys.find(text);
      if (found == keys.end()) continue;
      text = found->second;
      changed = true;
    }
    if (changed) graph_.replace(names, with_strings(graph_.bytes(names), *strings));
  }

  const Edges& consumers() const override { return consumers_; }
  void change(NodeId id, std::string node_def) override { graph_.replace(id, std::move(node_def)); }
  void add(std::string node_def) override { graph_.append(std::move(node_def)); }
  std::string free_name(std::string_view wanted) override { return new_names_.free(wanted); }

  Graph& graph_;
  Names names_;
  NewNames new_names_;
  Edges consumers_;
  Savers savers_;
};

}  // namespace

void rename_saver_keys(Model& model, const KeyMap& keys) {
  model.graph().decode();
  OwnSavers savers(model);
  savers.read_v2();  // first: it goes by the keys that were found
  savers.rename(keys);
}

std::string checkpoint_of(const Model& model, const std::string& named) {
  if (!named.empty() || !model.directory) return named;
  const std::string prefix = join_path(join_path(model.folder, "variables"), "variables");
  return exists(index_path(prefix)) ? prefix : "";
}

}  // namespace gedit
