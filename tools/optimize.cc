// gedit optimize: what inference needs, and nothing else.
#include "optimize/optimize.h"

#include <algorithm>

#include "base/error.h"
#include "base/size.h"
#include "cli/json.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "commands.h"
#include "optimize/certify.h"

namespace gedit {
namespace {

const std::vector<std::string> kPassNames = {"fix",     "branches", "drop",  "dropout",
                                             "algebra", "fold",     "share", "reduce"};
const std::vector<std::string> kDropKinds = {"identity",  "checks",  "prints", "summaries",
                                             "gradients", "dropout", "none"};
const std::vector<std::string> kStripKinds = {"device", "class", "shapes", "debug", "defaults", "functions"};

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
            "default; gradients: attributes that name theirs; dropout, by the step of that name: whatever it "
            "keeps; none")
        ->offers(kDropKinds)
        ->type_name("KIND,..")
        ->one_each();
    line.add_option("--bypass", request_.bypass, "Nodes of one input and one output that go")
        ->type_name("SELECTOR")
        ->one_each();
    line.add_option("--reroute", request_.reroutes, "Input K of NODE reads T: changes numbers")
        ->type_name("NODE:K=T")
        ->one_each();
    line.add_flag("--fold-bn", request_.fold_norms,
                  "Batch norms go into the weights before them: changes numbers");
    line.add_flag("--inline", request_.inlined, "Calls of functions give way to what they call");
    line.add_flag("--lower", request_.lowered, "If, Case and While give way to Switch, Merge and loops");
    line.add_option("--strip", strips_,
                    "What goes of each node: device, class, shapes, debug, defaults, functions")
        ->offers(kStripKinds)
        ->type_name("WHAT,..")
        ->one_each();
    line.add_flag("--sort", request_.sort, "Nodes behind what they read, else in their order");
    transforms_given_ = line.add_option("--transforms", transforms_,
                                        "Instead of all steps: these, in transform_graph's own language")
                            ->type_name("TEXT");
    line.add_option("--keep", request_.keep, "Nodes that stay under their names")->type_name("SELECTOR");
    line.add_flag("--no-fold", no_fold_, "Leave what is computed from constants");
    line.add_flag("--no-share", no_share_, "Leave nodes that compute the same");
    line.add_option("--only", only_,
                    "These steps alone: fix, branches, drop, dropout, algebra, fold, share, reduce")
        ->offers(kPassNames)
        ->type_name("STEP,..")
        ->one_each();
    line.add_flag("--no-proof", no_proof_, "Write the result without proving that it computes the same");
    line.add_flag("-j,--json", json_, "The report as JSON on standard output");
    output_.setup(line);
  }

  int run() override {
    read_request();
    input_.quiet = output_.quiet();
    Model model = input_.load_one();
    output_.check(model);
    decode_first(model);
    Registry ops = input_.registry(model);
    const Counts before = count(model);
    request_.graph_alone = target_of(model, output_.destination(model)).kind == Kind::kGraphDef;
    request_.want_changes = output_.dry_run();
    Optimized made = with_file(model, [&] {
      const Progress working("deciding what changes, and proving it", output_.quiet());
      return optimize_proved(model, ops, request_, !no_proof_);
    });
    const Changes& changes = made.result.changes;
    if (output_.dry_run() && !json_) output_.listed = changes.text();
    output_.save(made.model, {before}, changes.warnings, changes.notes,
                 json_ ? std::vector<std::string>{} : lines_of(made));
    if (json_) print(report(before, made));
    return 0;
  }

 private:
  // On all cores, ahead of those who would go over the file themselves. What is wrong with it is told where
  // somebody stops at it.
  static void decode_first(Model& model) {
    try {
      model.graph().decode();
    } catch (const Malformed&) {
    }
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
    drops_given_ = !drops_.empty();
    if (!drops_given_) drops_ = {"identity", "checks", "prints", "summaries"};
    const auto drops = [&](std::string_view kind) {
      return runs("drop") && std::ranges::find(drops_, kind) != drops_.end();
    };
    const bool any_dropout = std::ranges::find(drops_, "dropout") != drops_.end();
    if (any_dropout && !runs("dropout"))
      throw Error(Cause::kUsage, "--drop dropout, and --only without dropout").hint("--only dropout,...");
    optimizing::Passes& passes = request_.passes;
    passes.branches = runs("branches");
    request_.strip.functions = drops("gradients");
    passes.drops = {drops("identity"), drops("checks"), drops("prints"), drops("summaries")};
    passes.dropout = runs("dropout");
    passes.any_dropout = any_dropout && passes.dropout;
    passes.algebra = runs("algebra");
    passes.fold = runs("fold") && !no_fold_;
    passes.share = runs("share") && !no_share_;
    passes.controls = runs("branches") || runs("drop");
    request_.reduce = runs("reduce");
    read_strips();
    if (json_ && output_.to_standard_output() && !output_.dry_run())
      throw Error(Cause::kUsage, "-j, and the result on standard output").hint("-o OUT");
    read_transforms();
    if (!runs("fix") && !request_.fixes.empty())
      throw Error(Cause::kUsage, "--fix, and --only without fix").hint("--only fix,...");
  }

  void read_strips() {
    const std::vector<std::string> words = split_list(strips_);
    check(words, kStripKinds, "option '--strip'");
    const auto strips = [&](std::string_view word) { return std::ranges::find(words, word) != words.end(); };
    optimizing::Strip& strip = request_.strip;
    strip.device = strips("device");
    strip.classes = strips("class");
    strip.shapes = strips("shapes");
    strip.debug = strips("debug");
    strip.defaults = strips("defaults");
    strip.functions = strip.functions || strips("functions");
  }

  void read_transforms() {
    if (transforms_given_->count() == 0) return;
    const std::pair<const char*, bool> others[] = {
        {"--only", !only_.empty()},         {"--fix", !request_.fixes.empty()},
        {"--drop", drops_given_},           {"--bypass", !request_.bypass.empty()},
        {"--fold-bn", request_.fold_norms}, {"--inline", request_.inlined},
        {"--lower", request_.lowered},      {"--strip", !strips_.empty()},
        {"--sort", request_.sort},
    };
    for (const auto& [option, given] : others) {
      if (given)
        throw Error(Cause::kUsage, std::string("--transforms and ") + option + " exclude each other");
    }
    request_.transforms = optimizing::parse_transforms(transforms_);
  }

  static std::string proof_text(const Optimized& made) {
    if (!made.result.inexact.empty()) return "not equal: " + listed(made.result.inexact);
    if (!made.asked) return "not asked for";
    std::string text;
    if (made.proved > 0) text = "equal: " + counted(made.proved, "output");
    for (const std::string& unknown : made.unknown)
      text += (text.empty() ? "" : "; ") + ("unknown " + unknown);
    return text.empty() ? "no outputs were named" : text;
  }

  // The first few.
  static std::string listed(const std::vector<std::string>& all) {
    constexpr size_t kMost = 3;
    std::string text;
    for (size_t i = 0; i < std::min(all.size(), kMost); ++i) text += (i == 0 ? "" : ", ") + all[i];
    if (all.size() > kMost) text += ", and " + std::to_string(all.size() - kMost) + " more";
    return text;
  }

  static uint64_t bytes_of(const Model& model) {
    Counter counter;
    write_message(model, counter);
    return counter.size();
  }

  static std::string report(const Counts& before, const Optimized& made) {
    const Counts after = count(made.model);
    const bool equal = made.asked && made.unknown.empty() && made.proved > 0;
    OptimizeReport all;
    all.before = {before.nodes, before.variables, before.functions, before.bytes};
    all.after = {after.nodes, after.variables, after.functions, bytes_of(made.model)};
    all.steps = &made.result.counts;
    all.verdict = !made.result.inexact.empty() ? "not equal"
                  : !made.asked                ? "not asked for"
                  : equal                      ? "equal"
                                               : "unknown";
    all.proved = made.proved;
    all.why = &(made.result.inexact.empty() ? made.unknown : made.result.inexact);
    all.left_out = &made.left_out;
    all.notes = &made.result.changes.notes;
    all.warnings = &made.result.changes.warnings;
    return optimize_json(all);
  }

  // What each step did, and the verdict.
  static std::vector<std::string> lines_of(const Optimized& made) {
    constexpr const char* kSections[] = {"fix",     "inline",  "branch",   "drop",  "fold",   "share",
                                         "algebra", "fold-bn", "unneeded", "strip", "rewrite"};
    std::vector<std::string> lines;
    for (const char* section : kSections) {
      const auto found = made.result.counts.find(section);
      if (found == made.result.counts.end()) continue;
      std::string& line = lines.emplace_back(section);
      line.resize(9, ' ');
      bool first = true;
      for (const auto& [word, number] : found->second) {
        line += (first ? "" : ", ") + word + " " + std::to_string(number);
        first = false;
      }
    }
    lines.push_back("proof    " + proof_text(made));
    return lines;
  }

  InputOptions input_;
  OutputOptions output_;
  OptimizeRequest request_;
  std::vector<std::string> outputs_, inputs_, signatures_, drops_, only_, strips_;
  std::string transforms_;
  Option* transforms_given_ = nullptr;
  bool drops_given_ = false, no_share_ = false, no_fold_ = false, no_proof_ = false, json_ = false;
};

}  // namespace

CommandInfo optimize_command() {
  return {
      .summary = "leaves what inference needs, and proves that it computes the same",
      .synopsis = R"(FILE [--outputs T,.. | --signature KEY] [--inputs T,..] [--fix T=VALUE|auto]..
                     [--drop KIND,..] [--bypass SELECTOR] [--reroute NODE:K=T] [--fold-bn] [--inline] [--lower]
                     [--strip WHAT,..] [--sort] [--keep SELECTOR] [--no-fold] [--no-share] [--only STEP,..]
                     [--transforms TEXT] [--no-proof] [-j] -o OUT)",
      .text = R"(
Steps, repeated until nothing changes: what is fixed becomes a constant; branches that are not taken go, with
Switch, Merge and loops that are not entered; If and Case become calls of the branch that is taken; nodes that
only pass on or look at values are dropped, with control inputs that tell nothing; dropout that keeps all is
passed by; what is computed from constants alone becomes one, where it is known bit for bit; of nodes that compute the same one stays; what the outputs do not need goes, as extract does it.
Bodies of functions, too.

Outputs, inputs, tensors of signatures, variables, tables, init ops, savers and what --keep hits stay under
their names; one of them whose value is found elsewhere becomes an Identity of that name.

--inline puts functions in the place of their calls, --lower also If, Case and While as Switch, Merge and loops.
--transforms takes what transform_graph takes: 'remove_nodes(op=Identity) fold_constants merge_duplicate_nodes'.

The result is proved to compute the same, bit for bit, before anything is written; a step with which that fails is
left out, with a note. --fold-bn, --drop dropout, --reroute and --bypass of what computes change numbers: the report
says "not equal", and why.
)",
      .examples = R"(
gedit optimize frozen.pb --outputs prob --fix is_training=false --fix keep_prob=1 -o infer.pb
gedit optimize model/ --fix auto --inline --fold-bn --strip device,class,shapes -o small/
gedit optimize m.pb --only drop --drop checks -o out.pb
)",
      .make = make_command<Optimize>,
  };
}

}  // namespace gedit
