// gedit optimize: what inference needs, and nothing else.
#include "optimize/optimize.h"

#include <algorithm>

#include "base/error.h"
#include "cli/json.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "commands.h"
#include "optimize/certify.h"

namespace gedit {
namespace {

const std::vector<std::string> kPassNames = {"fix",     "branches", "drop",  "dropout",
                                             "algebra", "fold",     "share", "reduce"};
const std::vector<std::string> kDropKinds = {"identity", "checks", "prints", "summaries", "none"};

class Optimize final : public Command {
 public:
  void setup(CommandLine& line) override {
    input_.setup(line);
    line.add_option("--outputs", outputs_, "Tensors whose values stay; default: those of all signatures")
        ->type_name("T,..")
        ->one_each();
    line.add_option("--signature", signatures_, "Instead: the outputs and inputs of this signature")
        ->type_name("KEY")
        ->one_each();
    line.add_option("--inputs", inputs_,
                    "Cut there: these become Placeholders; :DTYPE[SHAPE] states their type")
        ->type_name("T[:DTYPE[SHAPE]],..")
        ->one_each();
    line.add_option("--fix", request_.fixes,
                    "A tensor becomes this constant; auto: what says whether the model trains")
        ->type_name("T=VALUE|auto")
        ->one_each();
    line.add_option(
            "--drop", drops_,
            "Nodes that only pass on or look at values: identity,checks,prints,summaries, which is the "
            "default, or none")
        ->offers(kDropKinds)
        ->type_name("KIND,..")
        ->one_each();
    line.add_option("--bypass", request_.bypass, "Nodes of one input and one output that go")
        ->type_name("SELECTOR")
        ->one_each();
    line.add_option("--keep", request_.keep, "Nodes that stay under their names")->type_name("SELECTOR");
    line.add_flag("--no-fold", no_fold_, "Leave what is computed from constants");
    line.add_flag("--no-share", no_share_, "Leave nodes that compute the same");
    line.add_option("--only", only_,
                    "These steps alone: fix, branches, drop, dropout, algebra, fold, share, reduce")
        ->offers(kPassNames)
        ->type_name("STEP,..")
        ->one_each();
    line.add_flag("--no-proof", no_proof_, "Write the result without proving that it computes the same");
    output_.setup(line);
  }

  int run() override {
    read_request();
    input_.quiet = output_.quiet();
    Model model = input_.load_one();
    output_.check(model);
    Registry ops = input_.registry(model);
    const Counts before = count(model);
    request_.graph_alone = target_of(model, output_.destination(model)).kind == Kind::kGraphDef;
    request_.want_changes = output_.dry_run();
    Model original = with_file(model, [&] { return again(model); });
    OptimizeResult result = with_file(model, [&] {
      const Progress deciding("deciding what changes", output_.quiet());
      return optimize(model, original, ops, request_);
    });
    std::string proof = "not asked for";
    if (!result.inexact.empty()) {
      proof = "not equal: " + result.inexact[0];
    } else if (!no_proof_ && !result.outputs.empty()) {
      proof = with_file(model, [&] {
        const Progress proving("proving that it computes the same", output_.quiet());
        return proof_text(certify(original, model, ops, result));
      });
    } else if (result.outputs.empty()) {
      proof = "no outputs were named";
    }
    if (output_.dry_run()) print(result.changes.text());
    output_.save(model, {before}, result.changes.warnings, result.changes.notes);
    if (!output_.quiet()) say_counts(result.counts, proof);
    return 0;
  }

 private:
  // The same model once more, as it was read.
  static Model again(const Model& model) {
    Model other = model_of(model.path, model.kind, model.format, model.message, model.arena);
    other.selected = model.selected;
    other.folder = model.folder;
    other.directory = model.directory;
    return other;
  }

  bool runs(std::string_view pass) const {
    return only_.empty() || std::ranges::find(only_, pass) != only_.end();
  }

  static void check(const std::vector<std::string>& words, const std::vector<std::string>& known,
                    const char* option) {
    for (const std::string& word : words) {
      if (std::ranges::find(known, word) != known.end()) continue;
      std::string all;
      for (const std::string& one : known) all += (all.empty() ? "" : ", ") + one;
      throw Error(Cause::kUsage, "unknown: " + printable(word)).of(option).hint("one of " + all);
    }
  }

  void read_request() {
    request_.outputs = split_list(outputs_);
    request_.inputs = split_list(inputs_);
    request_.signatures = signatures_;
    only_ = split_list(only_);
    drops_ = split_list(drops_);
    check(only_, kPassNames, "option '--only'");
    check(drops_, kDropKinds, "option '--drop'");
    if (drops_.empty()) drops_ = {"identity", "checks", "prints", "summaries"};
    const auto drops = [&](std::string_view kind) {
      return runs("drop") && std::ranges::find(drops_, kind) != drops_.end();
    };
    optimizing::Passes& passes = request_.passes;
    passes.branches = runs("branches");
    passes.drops = {drops("identity"), drops("checks"), drops("prints"), drops("summaries")};
    passes.dropout = runs("dropout");
    passes.algebra = runs("algebra");
    passes.fold = runs("fold") && !no_fold_;
    passes.share = runs("share") && !no_share_;
    passes.controls = runs("branches") || runs("drop");
    request_.reduce = runs("reduce");
    if (!runs("fix") && !request_.fixes.empty())
      throw Error(Cause::kUsage, "--fix, and --only without fix").hint("--only fix,...");
  }

  static std::string proof_text(const Certificate& certificate) {
    std::string text;
    if (certificate.proved > 0)
      text =
          "equal: " + std::to_string(certificate.proved) + (certificate.proved == 1 ? " output" : " outputs");
    for (const std::string& unknown : certificate.unknown)
      text += (text.empty() ? "" : "; ") + ("unknown " + unknown);
    return text;
  }

  static void say_counts(const optimizing::Counts& counts, const std::string& proof) {
    constexpr const char* kSections[] = {"fix", "branch", "drop", "fold", "share", "algebra", "unneeded"};
    for (const char* section : kSections) {
      const auto found = counts.find(section);
      if (found == counts.end()) continue;
      std::string line(section);
      line.resize(9, ' ');
      bool first = true;
      for (const auto& [word, number] : found->second) {
        line += (first ? "" : ", ") + word + " " + std::to_string(number);
        first = false;
      }
      say(line);
    }
    say("proof    " + proof);
  }

  InputOptions input_;
  OutputOptions output_;
  OptimizeRequest request_;
  std::vector<std::string> outputs_, inputs_, signatures_, drops_, only_;
  bool no_share_ = false, no_fold_ = false, no_proof_ = false;
};

}  // namespace

CommandInfo optimize_command() {
  return {
      .summary = "leaves what inference needs, and proves that it computes the same",
      .synopsis = R"(FILE [--outputs T,.. | --signature KEY] [--inputs T,..] [--fix T=VALUE|auto]..
                     [--drop KIND,..] [--bypass SELECTOR] [--keep SELECTOR] [--no-fold] [--no-share] [--only STEP,..]
                     [--no-proof] -o OUT)",
      .text = R"(
Steps, repeated until nothing changes: what is fixed becomes a constant; branches that are not taken go, with
Switch, Merge and loops that are not entered; If and Case become calls of the branch that is taken; nodes that
only pass on or look at values are dropped, with control inputs that tell nothing; dropout that keeps all is
passed by; what is computed from constants alone becomes one, where it is known bit for bit; of nodes that compute the same one stays; what the outputs do not need goes, as extract does it.
Bodies of functions, too.

Outputs, inputs, tensors of signatures, variables, tables, init ops, savers and what --keep hits stay under
their names; one of them whose value is found elsewhere becomes an Identity of that name.

The result is proved to compute the same, bit for bit, before anything is written.
)",
      .examples = R"(
gedit optimize frozen.pb --outputs prob --fix is_training=false --fix keep_prob=1 -o infer.pb
gedit optimize model/ --fix auto -o small/
gedit optimize m.pb --only drop --drop checks -o out.pb
)",
      .make = make_command<Optimize>,
  };
}

}  // namespace gedit
