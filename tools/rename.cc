// gedit rename: other names for nodes, scopes and functions.
#include "edit/edits.h"

#include "cli/progress.h"
#include "edit/savers/checkpoint_keys.h"

#include "checkpoint/open.h"
#include "cli/options.h"
#include "cli/verifying.h"
#include "commands.h"

namespace gedit {
namespace {

class Rename final : public Command {
 public:
  void setup(CommandLine& line) override {
    input_.setup(line);
    line.add_option(
        "PAIR", request_.pairs,  // CLI11 2.4 takes no `=` in a name
        "OLD=NEW: a=b a node, a/=b/ a scope, a/= strips it, /=b/ everything below b; FN//a=b, fn:F=G; @file");
    line.add_option("-e,--expression", request_.expressions,
                    "sed on node names, RE2 syntax; in order, after the pairs")
        ->type_name("s/RE/REPL/[g]")
        ->one_each();
    line.add_option("--checkpoint", checkpoint_,
                    "Keys that are a renamed variable's name follow; written beside OUT")
        ->type_name("CKPT");
    output_.setup(line);
    output_.setup_state(line);
    verifying_.setup(line);
  }

  int run() override {
    if (request_.pairs.empty() && request_.expressions.empty()) {
      throw Error(Cause::kUsage, "what is to be renamed?").hint("OLD=NEW, or -e 's/RE/REPL/'");
    }
    input_.quiet = output_.quiet();
    Model model = input_.load_one();
    output_.check(model);
    Registry ops = input_.registry(model);
    verifying_.read(model);
    verifying_.prepare(input_, output_, [this](ProofSide& before, const ProofSide& after) {
      Verification what{.names = names_by_place(before, after)};
      if (output_.base.values != nullptr) what.changed = saver_nodes(before);  // the keys are others
      return what;
    });
    with_file(model, [&] { rename_values(model); });
    request_.want_changes = output_.dry_run();
    output_.listed = with_file(model, [&] {
      const Progress deciding("deciding what changes", output_.quiet());
      return rename(model, ops, request_).text();
    });
    output_.save(model, {});
    return 0;
  }

 private:
  // The checkpoint under the new names, where one is named or the model is a SavedModel's folder whose keys
  // are names.
  void rename_values(Model& model) {
    const std::string named = checkpoint_of(model, checkpoint_);
    if (named.empty()) return;
    if (output_.to_standard_output() && !output_.dry_run()) {
      if (checkpoint_.empty()) return;
      throw Error(Cause::kUsage, "a checkpoint cannot be written beside standard output").hint("-o FILE");
    }
    const KeyMap keys = renamed_keys(model, request_);
    if (keys.empty() && checkpoint_.empty()) return;
    std::vector<std::string> warnings;
    auto values = std::make_shared<Checkpoint>(open_checkpoint(named, &warnings));
    for (const std::string& warning : warnings) say_warning(warning);
    if (model.meta_graphs.size() == 1) {
      rename_keys(*values, keys);
    } else {
      // The others still read the values under the old keys.
      KeyMap known;
      for (const auto& [from, to] : keys) {
        if (values->find(from) != nullptr) known.emplace(from, to);
      }
      add_keys(*values, known, named);
    }
    rename_saver_keys(model, keys);
    output_.base.values = std::move(values);
  }

  InputOptions input_;
  OutputOptions output_;
  Verifying verifying_;
  RenameRequest request_;
  std::string checkpoint_;
};

}  // namespace

CommandInfo rename_command() {
  return {
      .summary = "renames nodes, scopes and functions, and everything that names them",
      .synopsis = "FILE OLD=NEW.. [-e s/RE/REPL/[g]].. [--checkpoint CKPT] -o OUT",
      .text = R"(
a=b renames one node, a/=b/ the scope a with everything under it, a/= strips the scope, /=b/ puts everything
below b. FN//a=b renames in a function, fn:F=G a function. @file has one OLD=NEW a line. Pairs apply at
once, so a=b b=a swaps. -e is sed on the names, after the pairs.

Everything that names a node follows: inputs, colocation, VariableDefs, contexts, savers, signatures,
assets, saved objects, init ops. Frames follow a renamed scope; a shared_name follows where it is the node's
own name. Checkpoint keys do not change: the result restores from the old checkpoint. With --checkpoint, and
in a SavedModel whose keys are names, the keys of renamed variables follow, in the saver and in the
checkpoint that is written beside OUT.
)",
      .examples = R"(
gedit rename m.meta model/=student/ -o s.meta
gedit rename g.pb -e 's#^tower_0/(.*)#\1#' -o g2.pb
)",
      .make = make_command<Rename>,
  };
}

}  // namespace gedit
