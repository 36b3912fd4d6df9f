// What a node of a saver saves and restores: more of it, less of it, under other keys
// (docs/rules.md#copy-savers, docs/rules.md#merge-checkpoint).
#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "edit/savers/nodes.h"
#include "graph/dtype.h"
#include "model/savers.h"

namespace gedit {

// A tensor that a saver gains.
struct SaverEntry {
  std::string key, slice;
  DType dtype = DType::kInvalid;
  std::string source;  // what is saved; not needed to restore
};

// The Save node writes these, too: key, slice and dtype in its Consts and attributes, the source in its
// inputs. The keys that `save` says replace those that are there.
void extend_save(SaverNodes& nodes, const SaverNode& save, const std::vector<SaverEntry>& entries);
// The same for a Restore node; gives the tensor of each entry, as a main graph reads it. `one_each`: each
// gets a Restore node of its own, like this one.
std::vector<std::string> extend_restore(SaverNodes& nodes, const SaverNode& restore,
                                        const std::vector<SaverEntry>& entries, bool one_each);

// The types of the tensors that a node of a saver saves or restores. They stand in its own attributes, so
// that no definition of an op is needed.
std::vector<DType> saver_types(std::string_view node_def);

// How many tensors a SaveV2, Save or RestoreV2 node is typed for.
size_t count_tensors(std::string_view node_def);

// The NodeDef of a saver of a list of tensors, of which those at these positions stay, ascending; its Consts
// are changed. `inputs`: what it reads by now, the file's name, keys and slices first.
std::string keep_tensors(SaverNodes& nodes, const SaverNode& saver, const std::vector<uint32_t>& positions,
                         std::vector<std::string> inputs);

// Other keys in the Consts that these read, whoever else reads them.
void rekey(Graph& graph, const std::vector<SaverNode>& savers,
           const std::function<std::string(const std::string&)>& key);

// A Restore or RestoreSlice node, which reads checkpoints of version 1 alone, becomes a RestoreV2; to be
// called before extend_restore(). What shares its Const of keys with others stays as it is.
void read_v2(SaverNodes& nodes, SaverNode& restore);

// Which savers have one Restore node per variable. Asked of many, it goes over what is saved once.
class RestoresOneEach {
 public:
  explicit RestoresOneEach(const Savers& savers);  // which outlive it
  // Whether the op takes one key, or a Save node has the key among several.
  bool operator()(const SaverNode& restore, std::string_view restore_op) const;

 private:
  std::set<std::pair<std::string_view, std::string_view>> saved_among_several_;  // keys and slices
};

}  // namespace gedit
