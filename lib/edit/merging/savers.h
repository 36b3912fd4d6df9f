// One saver and one checkpoint for several graphs: docs/rules.md#merge-checkpoint.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "edit/merging/around.h"
#include "edit/merging/checkpoint.h"
#include "edit/savers/entries.h"
#include "model/savers.h"

namespace gedit {

// The first saver is extended to the variables of all operands; the others' nodes go, but for the assignments
// that end a restore: those read the first saver's values, and move into its scope.
class MergedSavers {
 public:
  // Opens the checkpoints. Throws Error: kInput for one that cannot be read, kRefused where an operand has
  // variables and no checkpoint, and where two have one key.
  MergedSavers(MergeParts& parts, MergedNames& names, const MergeRequest& request);
  ~MergedSavers();

  // Decides what becomes of the nodes; everything else about names and inputs is decided by then. Throws
  // Error (kRefused) where a saved variable is not in the operand's checkpoint.
  void decide();
  // Takes out of the messages what names a saver that is no more; saver_def is the one that is left.
  void mend(MetaGraph& meta) const;
  // Nodes that the saver changes or adds, as they will be.
  NewNodes nodes() const;
  // Changes the saver's nodes, when the graph has all nodes of the operands.
  void apply(Graph& graph, NewNodes& nodes);

  std::shared_ptr<Checkpoint> take_values() { return std::move(merged_); }
  std::vector<std::string> take_warnings() { return std::move(warnings_); }
  std::vector<std::string> take_notes() { return std::move(notes_); }

 private:
  struct Own;
  struct Kept;
  class Nodes;

  void choose();
  void note_others();
  const SavedTensor* of_another(const MergePart& part, const SaverNode& saver) const;
  void take_functions(MergePart& part);
  void rekey_chosen();
  void run_restores();
  void join_functions(MergePart& part, const std::string& filename, const std::string& scope);
  void make_saver();
  std::string objects_value() const;
  NodeId saved_objects_of(const MergePart& part) const;
  std::string save_objects(const std::string& scope);
  std::vector<NodeId> what_is_saved(const MergePart& part, std::string& scope) const;
  void join_saves(const MergePart& part, std::vector<SaverEntry>& entries) const;
  void join(MergePart& part);
  struct OwnVariable {
    SaverEntry entry;
    std::string variable;
    bool resource;
  };
  // Throws Error (kRefused) where the checkpoint has other keys than the variables' names.
  std::vector<OwnVariable> own_variables(const MergePart& part, const std::string& scope,
                                         const std::function<void(std::string)>& add);
  static std::string assignment(const std::string& name, const std::string& variable, bool resource,
                                DType dtype, const std::string& value);
  std::string add_strings(const std::string& name, const std::vector<SaverEntry>& entries,
                          std::string SaverEntry::*text);
  void restore_variables(const std::vector<OwnVariable>& variables, const std::string& filename);
  void join_variables(MergePart& part);
  void move(MergePart& part, const std::vector<NodeId>& nodes, std::string_view scope);
  void remove_saver(MergePart& part, const std::vector<NodeId>& kept, std::string_view scope);
  static NodeId remove_nodes(MergePart& part, const std::vector<NodeId>& nodes, std::string_view scope,
                             const NodeSet& stays, std::unordered_map<uint32_t, size_t>& readers);

  MergeParts& parts_;
  MergedNames& names_;
  std::vector<std::string> warnings_, notes_;
  const MergedCheckpoint checkpoint_;
  std::vector<Own> own_;  // by part
  MergePart* chosen_ = nullptr;
  std::unique_ptr<Kept> kept_;
  std::shared_ptr<Checkpoint> merged_;
  std::string saver_def_;  // of a saver that was made
  // What savers that are functions save, the operations that restore it, and new nodes.
  std::vector<SaverEntry> function_entries_;
  std::vector<std::string> function_ends_;
  NewNodes new_nodes_;
  std::unordered_set<std::string> removed_;  // nodes of savers that are no more
};

}  // namespace gedit
