// What stands around several graphs, united: docs/rules.md#merge-kind-of-the-result,
// docs/rules.md#merge-collections, docs/rules.md#merge-savers, docs/rules.md#merge-signatures.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "edit/around/unite.h"
#include "edit/merging/inputs.h"

namespace gedit {

// Operations that run the same of several operands, as the merged graph will hold them.
using NewNodes = std::vector<std::string>;

// Takes the messages around the operands' graphs, whose names are those of the merged graph by then, and
// makes one of each. What a single operand has keeps its bytes.
class MergedSurroundings {
 public:
  MergedSurroundings(MergeParts& parts, MergedNames& names, NameConflict on_conflict);

  // Signatures: of both, init and train signatures as docs/rules.md#merge-collections says. To be called
  // first; what it makes is known to find_tensor() then. Throws Error (kRefused).
  // `aliases` gains the ones that kept their key as `NAME/KEY`.
  void unite_signatures(MetaGraph& meta, std::vector<std::string>& aliases);
  // A signature that is fed with a KEY is fed with its VALUE.
  void map_signature_inputs(MetaGraph& meta, const InputMap& inputs);

  // Throws Error (kRefused) where two collections of one key hold different things.
  void unite_collections(MetaGraph& meta);
  // saver_def is the first one's; with `all_savers` all of them are in the collection `savers`.
  void unite_savers(MetaGraph& meta, bool all_savers);
  void unite_info(MetaGraph& meta);
  // Gives the files that `folder`, where the first ones are, lacks.
  std::vector<FolderFile> unite_assets(MetaGraph& meta, const std::string& folder);
  // Object graphs of TF2 SavedModels under one root. After signatures and assets.
  void unite_objects(MetaGraph& meta, std::vector<std::string>& notes);
  void unite_versions(Graph& graph);

  NewNodes take_nodes() { return std::move(nodes_); }
  std::vector<std::string> take_warnings() { return std::move(warnings_); }

 private:
  UniteRequest request();
  void warn_of_tags(const std::vector<const MergePart*>& with, const MergePart& first,
                    const std::vector<std::string_view>& kept);
  std::string run_all(std::string_view key, const std::vector<std::string>& operations);

  MergeParts& parts_;
  MergedNames& names_;
  NameConflict on_conflict_;
  NewNodes nodes_;
  std::vector<std::map<std::string, std::string>> signature_keys_;  // by part: old and new
  std::vector<uint32_t> first_assets_;                              // by part: where its assets begin
  std::vector<std::string> warnings_;
};

}  // namespace gedit
