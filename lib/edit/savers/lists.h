// Longer lists in the nodes of a saver: further tensors that it saves and restores
// (docs/rules.md#copy-savers, docs/rules.md#merge-checkpoint).
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "graph/dtype.h"
#include "graph/edges.h"
#include "model/savers.h"

namespace gedit {

// A tensor that a saver gains.
struct SaverEntry {
  std::string key, slice;
  DType dtype = DType::kInvalid;
  std::string source;  // what is saved; not needed to restore
};

// Changes nodes of a saver. Whoever derives from it says where the nodes are.
class SaverLists {
 public:
  SaverLists() = default;
  SaverLists(const SaverLists&) = delete;
  SaverLists& operator=(const SaverLists&) = delete;
  virtual ~SaverLists() = default;

  // The Save node writes these, too: key, slice and dtype in its Consts and attributes, the source in its
  // inputs. The keys that `save` says replace those that are there.
  void extend_save(const SaverNode& save, const std::vector<SaverEntry>& entries);
  // The same for a Restore node; gives the tensor of each entry. `one_each`: each gets a Restore node of its
  // own, like this one.
  std::vector<std::string> extend_restore(const SaverNode& restore, const std::vector<SaverEntry>& entries,
                                          bool one_each);

  // A Restore or RestoreSlice node, which reads checkpoints of version 1 alone, becomes a RestoreV2; to be
  // called before extend_restore(). What shares its Const of keys with others stays as it is.
  void read_v2(SaverNode& restore);

  // The NoOp runs this node, too. All are changed by run_groups().
  void run_in(NodeId group, const std::string& node) { groups_[index_of(group)].push_back("^" + node); }
  void run_groups();

  // A node like `id` under its name with the next free number; inputs are given, the rest is as in
  // `node_def`, which is the node itself where it is empty. Gives the name.
  std::string duplicate(NodeId id, const std::vector<std::string>& inputs, std::string node_def = {});

  // The node as it is by now, with the names of the edited graph; its inputs.
  virtual std::string node(NodeId id) const = 0;
  std::vector<std::string> inputs_of(NodeId id) const;

 protected:
  virtual const Edges& consumers() const = 0;
  virtual void change(NodeId id, std::string node_def) = 0;
  virtual void add(std::string node_def) = 0;
  virtual std::string free_name(std::string_view wanted) = 0;

 private:
  std::string set_strings(NodeId id, NodeId reader, const std::string& input,
                          const std::vector<std::string>& strings);
  bool is_alone(NodeId id, NodeId reader) const;  // nobody else reads it
  std::string add_restore(const SaverNode& restore, const SaverEntry& entry);

  std::map<uint32_t, std::vector<std::string>> groups_;  // NoOps and the control inputs that they gain
};

// Whether the saver has one Restore node per variable: the op takes one key, or a Save node has the key among
// several.
bool restores_one_each(const Savers& savers, const SaverNode& restore, std::string_view restore_op);

}  // namespace gedit
