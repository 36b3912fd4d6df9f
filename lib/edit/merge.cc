#include "edit/merge.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/error.h"
#include "edit/around/map.h"
#include "edit/merging/around.h"
#include "edit/merging/functions.h"
#include "edit/merging/inputs.h"
#include "edit/merging/prune.h"
#include "edit/merging/savers.h"
#include "edit/objects/join.h"
#include "edit/savers/calls.h"

namespace gedit {
namespace {

// The operands, and with them all that the merged model views; it lives as long as that.
class Merging {
 public:
  Merging(std::vector<MergeOperand> operands, const MergeRequest& request) : request_(request) {
    if (operands.empty()) throw Error(Cause::kUsage, "nothing to merge");
    richest_ = richest(operands);
    for (MergeOperand& operand : operands) {
      with_file(operand.model, [&] { operand.model.graph().decode(); });
      parts_.push_back(std::make_unique<MergePart>(parts_.size(), std::move(operand)));
    }
  }

  MergeResult run(const std::shared_ptr<Merging>& self) {
    decide_names();
    start(result_.model);
    decide_inputs();
    unite_surroundings();
    write_graph(self);
    tell();
    result_.model.keeps = self;
    return std::move(result_);
  }

  // Names the operand whose bytes they are.
  [[noreturn]] void rethrow_for(const Malformed& error) const {
    for (const auto& part : parts_) {
      const std::string_view message = part->model.message;
      if (error.at() >= message.data() && error.at() <= message.data() + message.size())
        rethrow(part->model, error);
    }
    rethrow(parts_.front()->model, error);
  }

 private:
  // What everything is called; the messages around the operands' graphs say it from then on.
  void decide_names() {
    check_roots();
    names_.emplace(parts_, request_.on_conflict);
    if (request_.values) savers_.emplace(parts_, *names_, request_);
    for (const auto& part : parts_) {
      const MetaGraph& meta = part->model.meta();
      for (const std::string_view name : functions_of_objects(meta.part(meta_field::kObjectGraph)))
        part->own_functions.emplace(name);
      if (part->own_functions.empty() || !meta.has(meta_field::kSaver)) continue;
      const auto saver =
          find_function_saver(meta, part->facts.names(), part->facts.how_produced(), part->ops);
      if (!saver) continue;
      for (const FunctionSaver::Save& save : saver->saves) part->own_functions.insert(save.function);
      for (const FunctionSaver::Restore& restore : saver->restores)
        part->own_functions.insert(restore.function);
    }
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
    if (!request_.prune) return;
    NewNodes readers = nodes_;
    if (savers_) {
      for (std::string& node : savers_->nodes()) readers.push_back(std::move(node));
    }
    prune_keys(parts_, *names_, *inputs_, meta, readers);
  }

  void write_graph(const std::shared_ptr<Merging>& self) {
    Graph& graph = result_.model.graph();
    for (const auto& part : parts_) {
      mark_colocated(*part);
      part->settle();
      const std::shared_ptr<const Mapping> mapping =
          part->verbatim() ? nullptr : std::shared_ptr<const Mapping>(self, part.get());
      part->base = graph.append_all(part->graph(), mapping);
      for (const NodeSet* gone : {&part->removed, &part->shared}) {
        for (const NodeId id : gone->nodes()) graph.remove(NodeId{part->base + index_of(id)});
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
    if (request_.want_changes) describe();
    std::vector<std::string>& warnings = result_.warnings;
    for (const auto& part : parts_) {
      const size_t others = part->model.meta_graphs.size() - 1;
      if (others == 0 || (part->number == richest_ && part->name.empty())) continue;
      warnings.push_back(std::to_string(others) + " other MetaGraphs of " + printable(part->model.path) +
                         " are left out");
    }
    inputs_->warn(warnings);
    warn_of_python();
    for (std::string& warning : surroundings_->take_warnings()) warnings.push_back(std::move(warning));
    if (!savers_) return;
    result_.values = savers_->take_values();
    for (std::string& warning : savers_->take_warnings()) warnings.push_back(std::move(warning));
  }

  // The richest operand's file, without its graph.
  void start(Model& model) const {
    const Model& from = parts_[richest_]->model;
    model.path = from.path;
    model.kind = from.kind;
    model.format = from.format;
    model.directory = from.directory;
    model.folder = from.folder;
    model.file = from.file;
    model.message = from.message;
    model.arena = std::make_shared<Arena>();
    for (const auto& part : parts_) {
      if (part->number != richest_ && part->model.file) model.more_files.push_back(part->model.file);
    }
    MetaGraph meta{Graph({}, graph_field::kNode, model.arena), {}, true};
    for (const Part& part : from.meta().parts) {
      // The united ones take the place of its own.
      meta.parts.push_back(part.field == meta_field::kGraph ? Part{meta_field::kGraph, {}} : part);
    }
    // Other MetaGraphs go by the names in the checkpoint, which stay those of an operand without a name.
    if (from.meta_graphs.size() > 1 && parts_[richest_]->name.empty()) {
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

  // Object graphs of several operands are joined under a new root, by the names of theirs.
  void check_roots() const {
    std::vector<const MergePart*> with;
    for (const auto& part : parts_) {
      if (part->model.meta().has(meta_field::kObjectGraph)) with.push_back(part.get());
    }
    for (const MergePart* part : with) {
      if (with.size() == 1 || !part->name.empty()) continue;
      throw Error(Cause::kRefused, "has an object graph, as others here have; their roots need names")
          .in(part->model.path)
          .hint("name the graphs (a=" + printable(with[0]->model.path) +
                " b=" + printable(with[1]->model.path) + ")");
    }
  }

  // Tokens of Python functions stay, so that those of two files can be the same.
  void warn_of_python() {
    const auto files = std::count_if(parts_.begin(), parts_.end(),
                                     [](const auto& part) { return part->graph().tally().python > 0; });
    if (files < 2) return;
    result_.warnings.push_back(std::to_string(files) +
                               " files hold PyFunc nodes: those of one token call the same Python function, "
                               "which only the process that built the graph has");
  }

  // For --dry-run: what is there that the first operand had not, and the other way round.
  void describe() {
    for (const auto& part : parts_) {
      for (uint32_t i = 0; i < part->graph().size(); ++i) {
        const NodeId id{i};
        const std::string_view node_def = part->graph().bytes(id);
        const std::string name = part->name_of(node_name(node_def));
        if (!part->written(id)) {
          result_.changes.push_back("- " + printable(name) + " = " + printable(node_op(node_def)));
        } else if (part->number > 0 || !part->name.empty()) {
          result_.changes.push_back("+ " + printable(name) + " = " + printable(node_op(node_def)));
        }
      }
    }
    for (const std::string& node : nodes_)
      result_.changes.push_back("+ " + printable(node_name(node)) + " = " + printable(node_op(node)));
    for (const MergedInput& pair : inputs_->pairs()) {
      for (const MergedInput::Reader& reader : pair.readers) {
        const MergePart& part = *parts_[reader.part];
        if (!part.written(reader.node)) continue;
        result_.changes.push_back("~ " + printable(part.name_of(part.graph().name(reader.node))) +
                                  ": reads " + printable(pair.value) + " instead of " + printable(pair.key));
      }
    }
  }

  const MergeRequest request_;
  MergeParts parts_;
  size_t richest_ = 0;
  std::optional<MergedNames> names_;
  std::optional<MergedSavers> savers_;
  std::optional<MergedLibrary> library_;
  std::optional<MergedSurroundings> surroundings_;
  std::unique_ptr<InputMap> inputs_;
  NewNodes nodes_;  // that no operand has
  MergeResult result_;
};

}  // namespace

size_t richest(const std::vector<MergeOperand>& operands) {
  const auto rank = [](const Model& model) {
    return std::pair(static_cast<int>(model.kind), model.directory);
  };
  const auto found = std::max_element(operands.begin(), operands.end(), [&](const auto& a, const auto& b) {
    return rank(a.model) < rank(b.model);
  });
  return static_cast<size_t>(found - operands.begin());
}

MergeResult merge(std::vector<MergeOperand> operands, const MergeRequest& request) {
  const auto merging = std::make_shared<Merging>(std::move(operands), request);
  try {
    return merging->run(merging);
  } catch (const Malformed& error) {
    merging->rethrow_for(error);
  }
}

}  // namespace gedit
