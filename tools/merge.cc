// gedit merge: several graphs as one.
#include "cli/progress.h"
#include "edit/edits.h"
#include "edit/merging/whole.h"

#include <algorithm>
#include <set>

#include "base/first_free.h"
#include "checkpoint/open.h"
#include "cli/options.h"
#include "cli/verifying.h"
#include "commands.h"
#include "model/asset_paths.h"
#include "model/summary.h"

namespace gedit {
namespace {

// `[A-Za-z0-9.][A-Za-z0-9_.\-/]*`: a node's name of one piece.
bool is_scope_name(std::string_view text) {
  return invalid_name_at(text) == std::string_view::npos && text.find('>') == std::string_view::npos;
}

struct NamedFile {
  std::string name, path;
};

// NAME=FILE, unless there is a file of that whole name.
NamedFile parse_operand(const std::string& text) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos || !is_scope_name(std::string_view(text).substr(0, equals)) || exists(text))
    return {"", text};
  std::string name = text.substr(0, equals);
  while (name.ends_with('/')) name.pop_back();
  return {name, text.substr(equals + 1)};
}

// What a file without a NAME is called where it needs one: its own name as far as a scope's can be that.
std::string name_of_file(std::string_view path) {
  std::string name(base_name(path));
  if (const size_t dot = name.rfind('.'); dot != std::string::npos && dot > 0) name.resize(dot);
  for (char& c : name) {
    if (!is_scope_name(std::string("x") + c)) c = '_';
  }
  return is_scope_name(name) ? name : "model" + name;
}

// Of several TF2 models each root needs a name. What is said of it goes to `notes`.
void name_roots(std::vector<MergeOperand>& operands, std::vector<std::string>& notes) {
  const auto has_root = [](const MergeOperand& one) {
    return one.model.meta().has(meta_field::kObjectGraph);
  };
  if (std::ranges::count_if(operands, has_root) < 2) return;
  for (MergeOperand& operand : operands) {
    if (!operand.name.empty() || !has_root(operand)) continue;
    operand.name = first_free(name_of_file(operand.model.path), [&](const std::string& name) {
      return std::ranges::find(operands, name, &MergeOperand::name) != operands.end();
    });
    notes.push_back(printable(operand.model.path) + " goes under " + operand.name +
                    "/: of several TensorFlow 2 models each needs a name");
  }
}

class Merge final : public Command {
 public:
  void setup(CommandLine& line) override {
    line.add_option("FILE", operands_,
                    R"(GraphDefs, MetaGraphDefs and SavedModels in any form; NAME=FILE: everything of it
                       under NAME/; - is standard input)")
        ->required()
        ->type_name("[NAME=]FILE");
    input_.setup_options(line);
    line.add_option(
            "--input-map", request_.input_map,
            "What reads KEY reads VALUE; names as in the merged graph; ^a=^b for control inputs; @file")
        ->type_name("KEY=VALUE")
        ->one_each();
    line.add_option(
            "--on-conflict", on_conflict_,
            R"(Where two files define one name: error, uniquify (the later one becomes x_1) or share (one
               where both say the same))")
        ->one_of({"error", "uniquify", "share"})
        ->type_name("HOW");
    line.add_option("--checkpoint", checkpoints_,
                    "That file's values; one merged checkpoint is written beside OUT")
        ->type_name("[NAME=]CKPT")
        ->one_each();
    line.add_flag("--prune", request_.prune, "Drop what only the mapped-away tensors needed");
    line.add_flag("--copy-data", output_.base.copy_data,
                  "Move the bytes of the checkpoints instead of linking their files");
    devices_.setup(line);
    output_.setup(line, false);
    output_.setup_state(line);
    verifying_.setup(line);
  }

  int run() override {
    request_.on_conflict = on_conflict_ == "uniquify" ? NameConflict::kUniquify
                           : on_conflict_ == "share"  ? NameConflict::kShare
                                                      : NameConflict::kError;
    request_.want_changes = output_.dry_run();
    std::vector<MergeOperand> operands = load_operands();
    give_checkpoints(operands);
    std::vector<std::string> named;
    name_roots(operands, named);
    const Model& model = operands[richest(operands)].model;
    output_.check(model);
    const bool directory = output_.dry_run() ? model.kind == Kind::kSavedModel
                                             : target_of(model, output_.destination(model)).directory;
    request_.values = !checkpoints_.empty() || directory;
    if (!checkpoints_.empty() && output_.to_standard_output() && !output_.dry_run())
      throw Error(Cause::kUsage, "a checkpoint cannot be written beside standard output").hint("-o FILE");
    request_.want_names = verifying_.wanted();
    std::vector<Counts> before;
    std::vector<Original> originals;
    std::vector<std::string> missing;  // relative paths count from each file's own folder
    for (MergeOperand& operand : operands) {
      before.push_back(decode_and_count(operand.model));
      if (verifying_.wanted()) originals.emplace_back(operand.model);
      if (directory && operand.model.kind == Kind::kMetaGraphDef)
        with_file(operand.model,
                  [&] { std::ranges::move(give_assets(operand.model), std::back_inserter(missing)); });
      devices_.before(operand.model);
    }
    MergeChanges result = [&] {
      const Progress deciding("deciding what changes", output_.quiet());
      return merge(std::move(operands), request_);
    }();
    devices_.after(result.model, result, false);
    result.warnings.insert(result.warnings.begin(), missing.begin(), missing.end());
    result.notes.insert(result.notes.begin(), named.begin(), named.end());
    output_.base.values = result.values;
    output_.base.files = result.assets;
    output_.base.all_files = true;
    if (verifying_.wanted()) verify(std::move(originals), result.operands);
    output_.listed = result.text();
    output_.save(result.model, before, result.warnings, result.notes);
    return 0;
  }

 private:
  std::vector<MergeOperand> load_operands() {
    if (std::ranges::count(operands_, "-", [](const auto& text) { return parse_operand(text).path; }) > 1)
      throw Error(Cause::kUsage, "standard input can be read once");
    input_.quiet = output_.quiet();
    std::vector<MergeOperand> operands;
    for (const std::string& text : operands_) {
      const NamedFile file = parse_operand(text);
      MergeOperand operand{file.name, input_.load_one(file.path), {}};
      operand.model.assets_folder = output_.assets();
      operand.ops = input_.registry(operand.model);
      operands.push_back(std::move(operand));
    }
    return operands;
  }

  // Of each file what does not come of a tensor that was mapped away, and of that what follows it. Savers are
  // others where one saves all.
  void verify(std::vector<Original> originals, const std::vector<MergedOperand>& operands) {
    output_.verify = [this, originals = std::move(originals), operands](Model& written) {
      Verified verified;
      std::set<std::string> keys;  // of signatures
      for (size_t i = 0; i < originals.size(); ++i) {
        Model before = originals[i].model();
        verified += Verifying::one(input_, before, written, [&](ProofSide& side, const ProofSide& after) {
          Verification what{.names = operands[i].nodes};
          for (const auto& [tensor, value] : operands[i].inputs) what.same.push_back({tensor, value});
          if (request_.values) what.changed = saver_nodes(side);
          for (const SignatureSummary& signature : list_signatures(side.model.meta())) {
            if (!keys.insert(signature.key).second)
              what.signatures.emplace_back(signature.key, operands[i].name + "/" + signature.key);
          }
          if (request_.prune || request_.values) what.outputs = outputs_that_stay(side, after, what);
          return what;
        });
      }
      return verified.text();
    };
  }

  void give_checkpoints(std::vector<MergeOperand>& operands) const {
    const auto unnamed = std::ranges::count(operands, "", &MergeOperand::name);
    for (const std::string& text : checkpoints_) {
      const NamedFile file = parse_operand(text);
      auto owner = std::ranges::find(operands, file.name, &MergeOperand::name);
      const bool known = !file.name.empty() && owner != operands.end();
      if (!known && unnamed != 1) {
        throw Error(Cause::kUsage, unnamed == 0 ? "no file is called that" : "of which file?")
            .of(quoted("checkpoint", text))
            .hint("--checkpoint NAME=" + printable(file.path) + " where NAME=FILE names the file");
      }
      if (!known) owner = std::ranges::find(operands, "", &MergeOperand::name);
      if (!owner->checkpoint.empty())
        throw Error(Cause::kUsage, "the file has one already").of(quoted("checkpoint", text));
      owner->checkpoint = known ? file.path : text;
    }
  }

  InputOptions input_;
  DeviceOption devices_;
  OutputOptions output_;
  Verifying verifying_;
  MergeRequest request_;
  std::vector<std::string> operands_, checkpoints_;
  std::string on_conflict_ = "error";
};

}  // namespace

CommandInfo merge_command() {
  return {
      .summary = "makes one graph of several",
      .synopsis = R"([NAME=]FILE.. [--input-map KEY=VALUE].. [--on-conflict HOW]
                     [--checkpoint [NAME=]CKPT].. -o OUT)",
      .text = R"(
The nodes of all files stand in one graph, in the order of the files. Everything of NAME=FILE is called
NAME/..., and its loops, variables, tables and queues are its own, those inside functions included. A file
without NAME= keeps its names. With --input-map what reads KEY reads VALUE; a tensor that is mapped away
stays, unless --prune is given and nothing else names it.

Where two files define one node, function, signature, shared_name or checkpoint key, nothing is written.
--on-conflict uniquify gives the later one a new name, and everything that names it follows; share makes two
nodes one where they say the same.

A signature keeps its key, also of NAME=FILE; only where an earlier file has that key, too, it becomes
NAME/KEY: of two files with a serving_default, a and b, the second one's is b/serving_default. KEY and VALUE
of --input-map may be given as NAME/KEY.inputs[x] and NAME/KEY.outputs[y], whatever the signature is called
in the end.

A signature that was fed with KEY is fed with VALUE, so that it runs the second part alone; a signature that
runs both is made by gedit signature add. The functions that tf.saved_model.load calls are not mapped:
there, too, each signature runs its own part.

Collections, signatures, assets, versions and op lists are united. Operations that initialize two models
become one that runs both. Each file's saver stays, with its keys, and restores that file's own checkpoint;
with --checkpoint one saver holds all variables, keys of a named file under NAME/, and one checkpoint is
written beside OUT. SavedModels bring their values along.
)",
      .examples = R"(
gedit merge enc=a.meta cls=b.meta --input-map cls/x=enc/features --checkpoint enc=a --checkpoint cls=b -o both.meta
gedit merge decode.pb m=model.pb --input-map m/image=decode/out --prune -o served.pb
gedit merge one=m.meta two=m.meta --input-map two/x=one/x --checkpoint one=m --checkpoint two=m2 -o both.meta
)",
      .make = make_command<Merge>,
  };
}

}  // namespace gedit
