// gedit merge: several graphs as one.
//
// Nodes are written from where they lie, each through the mapping of its file (merging/operand.h): a prefix,
// and a short table of what else changes. What stands around the graphs is united message by message.
#include "edit/edits.h"

#include <optional>
#include <utility>

#include "base/error.h"
#include "edit/around/map.h"
#include "edit/merging/around.h"
#include "edit/merging/functions.h"
#include "edit/merging/inputs.h"
#include "edit/merging/prune.h"
#include "edit/merging/savers.h"
#include "edit/merging/whole.h"
#include "edit/savers/functions.h"
#include "model/saved_objects.h"

namespace gedit {
namespace {

// What objects hold, and savers call, is never one with another operand's function.
void keep_functions_apart(MergePart& part) {
  const MetaGraph& meta = part.model.meta();
  const SavedObjects objects = read_saved_objects(meta.part(meta_field::kObjectGraph));
  for (const SavedObjects::Function& held : objects.functions) part.keep_function_apart(held.name);
  if (objects.functions.empty() || !meta.has(meta_field::kSaver)) return;
  const auto saver = find_saver_functions(meta, part.facts.names(), part.facts.how_produced());
  if (!saver) return;
  for (const SaverFunctions::Save& save : saver->saves) part.keep_function_apart(save.function);
  for (const SaverFunctions::Restore& restore : saver->restores) part.keep_function_apart(restore.function);
}

// The operands, and with them all that the merged model views; it lives as long as that.
class Merging {
 public:
  Merging(std::vector<MergeOperand> operands, MergeRequest request) : request_(std::move(request)) {
    if (operands.empty()) throw Error(Cause::kUsage, "nothing to merge");
    richest_ = richest(operands);
    uint32_t nodes = 0;
    for (MergeOperand& operand : operands) {
      with_file(operand.model, [&] { operand.model.graph().decode(); });
      files_.push_back(std::make_unique<OperandFile>(files_.size(), nodes, std::move(operand)));
      nodes += files_.back()->graph().size();
    }
  }

  // The graph that it gives reads this object while it is written.
  MergeChanges run() {
    decide_names();
    decide_functions();
    start_merged(result_.model, parts_, richest_);
    decide_inputs();
    unite_surroundings();
    if (request_.prune) prune();
    write_graph();
    tell();
    return std::move(result_);
  }

  // Names the operand whose bytes they are.
  [[noreturn]] void rethrow_for(const Malformed& error) const {
    std::vector<const Model*> models;
    for (const auto& file : files_) {
      if (file != nullptr) models.push_back(&file->model);
    }
    for (const auto& part : parts_) models.push_back(&part->model);
    for (const Model* model : models) {
      const std::string_view message = model->message;
      if (error.at() >= message.data() && error.at() <= message.data() + message.size())
        rethrow(*model, error);
    }
    rethrow(*models.front(), error);
  }

 private:
  // What every node is called.
  void decide_names() {
    check_roots(files_);
    auto names = name_operands(files_, request_.on_conflict);
    for (size_t i = 0; i < files_.size(); ++i)
      parts_.push_back(std::make_unique<MergePart>(std::move(files_[i]), std::move(names[i])));
    names_.emplace(parts_);
    if (request_.values) savers_.emplace(parts_, *names_, request_);
  }

  // What every function is called; the messages around the operands' graphs say all names from then on.
  void decide_functions() {
    for (const auto& part : parts_) keep_functions_apart(*part);
    library_.emplace(parts_, request_.on_conflict);
    for (const auto& part : parts_) {
      with_file(part->model, [&] { map_surroundings(part->model.meta(), MergeNames(*part)); });
    }
    surroundings_.emplace(parts_, *names_, request_.on_conflict);
  }

  // What every node reads, and which nodes go.
  void decide_inputs() {
    MetaGraph& meta = result_.model.meta();
    std::vector<std::string> signatures;  // through which tensors may be named
    if (result_.model.kind != Kind::kGraphDef) surroundings_->unite_signatures(meta, signatures);
    for (const std::string_view signature : meta.parts_of(meta_field::kSignature))
      signatures.emplace_back(signature);
    Model named;
    named.meta_graphs.push_back({Graph({}, graph_field::kNode, result_.model.arena), {}, false});
    named.meta().set_parts(meta_field::kSignature, std::move(signatures));
    inputs_ = std::make_unique<InputMap>(parts_, *names_, named, request_.input_map,
                                         request_.on_conflict == NameConflict::kShare);
    names_->share();
    inputs_->check_cycles();
    inputs_->check_loops();
    inputs_->check_branches();
    if (savers_) savers_->decide();
  }

  void unite_surroundings() {
    MetaGraph& meta = result_.model.meta();
    if (result_.model.kind != Kind::kGraphDef) {
      surroundings_->map_signature_inputs(meta, *inputs_);
      surroundings_->unite_info(meta);
      result_.assets = surroundings_->unite_assets(meta, result_.model.folder);
      surroundings_->unite_objects(meta, result_.notes);
      inputs_->note(result_.notes);
      surroundings_->unite_collections(meta);
      surroundings_->unite_savers(meta, !savers_);
      if (savers_) savers_->mend(meta);
    }
    nodes_ = surroundings_->take_nodes();
  }

  void prune() {
    NewNodes readers = nodes_;
    if (savers_) {
      for (std::string& node : savers_->nodes()) readers.push_back(std::move(node));
    }
    prune_keys(parts_, *names_, *inputs_, result_.model.meta(), readers);
  }

  void write_graph() {
    Graph& graph = result_.model.graph();
    // The model keeps this object, not the graph, which is part of it until run() is done.
    const std::shared_ptr<const void> nobody;
    for (const auto& part : parts_) {
      part->finish();
      const std::shared_ptr<const Mapping> mapping =
          part->verbatim() ? nullptr : std::shared_ptr<const Mapping>(nobody, part.get());
      graph.append_all(part->graph(), mapping);
      for (const NodeSet* gone : {&part->removed(), &part->shared()}) {
        if (gone->empty()) continue;
        for (const NodeId id : gone->nodes()) graph.remove(NodeId{part->first + index_of(id)});
      }
    }
    if (savers_) savers_->apply(graph, nodes_);
    for (const std::string& node : nodes_) graph.append(node);
    for (const Part& part : parts_.front()->graph().parts()) {
      if (part.field != graph_field::kLibrary && part.field != graph_field::kVersions) graph.add_part(part);
    }
    if (library_->present()) graph.set_part(graph_field::kLibrary, library_->encode());
    surroundings_->unite_versions(graph);
  }

  void tell() {
    if (request_.want_names) name_all();
    if (request_.want_changes) list_changes(parts_, *inputs_, nodes_, result_);
    std::vector<std::string>& warnings = result_.warnings;
    warn_of_other_graphs(parts_, richest_, warnings);
    inputs_->warn(warnings);
    inputs_->warn_of_unfed(*names_, result_.model.meta(), warnings);
    warn_of_python(parts_, warnings);
    for (std::string& warning : surroundings_->take_warnings()) warnings.push_back(std::move(warning));
    if (!savers_) return;
    result_.values = savers_->take_values();
    for (std::string& warning : savers_->take_warnings()) warnings.push_back(std::move(warning));
    for (std::string& note : savers_->take_notes()) result_.notes.push_back(std::move(note));
  }

  void name_all() {
    for (const auto& part : parts_) {
      MergedOperand& operand = result_.operands.emplace_back();
      operand.name = part->name;
      for (uint32_t i = 0; i < part->graph().size(); ++i) {
        const std::string_view name = part->graph().name(NodeId{i});
        std::string merged = part->name_of(name);
        if (merged != name) operand.nodes.emplace_back(name, std::move(merged));
      }
    }
    for (const MergedInput& pair : inputs_->pairs()) {
      if (pair.control) continue;
      const TensorRef tensor{pair.key_node.node, pair.key_index};
      result_.operands[pair.key_node.part].inputs.emplace_back(
          tensor_text(parts_[pair.key_node.part]->graph(), tensor), pair.value);
    }
  }

  const MergeRequest request_;
  OperandFiles files_;  // until their nodes have names
  MergeParts parts_;
  size_t richest_ = 0;
  std::optional<MergedNames> names_;
  std::optional<MergedSavers> savers_;
  std::optional<MergedLibrary> library_;
  std::optional<MergedSurroundings> surroundings_;
  std::unique_ptr<InputMap> inputs_;
  NewNodes nodes_;  // that no operand has
  MergeChanges result_;
};

}  // namespace

MergeChanges merge(std::vector<MergeOperand> operands, const MergeRequest& request) {
  const auto merging = std::make_shared<Merging>(std::move(operands), request);
  try {
    MergeChanges changes = merging->run();
    changes.model.keeps = merging;
    return changes;
  } catch (const Malformed& error) {
    merging->rethrow_for(error);
  }
}

}  // namespace gedit
