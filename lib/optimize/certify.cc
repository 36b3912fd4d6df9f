#include "optimize/certify.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "base/error.h"
#include "optimize/outside.h"
#include "optimize/reroute.h"
#include "prove/verify.h"

namespace gedit {
namespace {

std::string text_of(const OutputProof& proof) {
  std::string text = printable(proof.output.a);
  text += ": ";
  if (!proof.a.empty()) text.append("'").append(printable(proof.a)).append("' ");
  if (!proof.b.empty() && proof.b != proof.a) text.append("and '").append(printable(proof.b)).append("' ");
  return text + proof.why;
}

// The same model once more, as it was read.
Model again(const Model& model) {
  Model other = model_of(model.path, model.kind, model.format, model.message, model.arena);
  other.selected = model.selected;
  other.folder = model.folder;
  other.directory = model.directory;
  other.file = model.file;
  other.assets_folder = model.assets_folder;
  other.asset_files = model.asset_files;
  // Its nodes need not be found again.
  if (model.graph().decoded() && !model.edited()) other.graph() = model.graph();
  return other;
}

struct Step {
  const char* name;
  bool (*leave)(OptimizeRequest&);  // whether it was asked for
};

template <bool optimizing::Passes::*pass>
bool leave_pass(OptimizeRequest& request) {
  return std::exchange(request.passes.*pass, false);
}
bool leave_drop(OptimizeRequest& request) {
  const optimizing::Droppable drops = std::exchange(request.passes.drops, {});
  return drops.identities || drops.checks || drops.prints || drops.summaries;
}
bool leave_calls(OptimizeRequest& request) {
  const bool any = request.inlined || request.lowered;
  request.inlined = request.lowered = false;
  return any;
}

// What says most of values first.
constexpr auto kSteps = std::to_array<Step>({
    {"fold", leave_pass<&optimizing::Passes::fold>},
    {"algebra", leave_pass<&optimizing::Passes::algebra>},
    {"dropout", leave_pass<&optimizing::Passes::dropout>},
    {"share", leave_pass<&optimizing::Passes::share>},
    {"drop", leave_drop},
    {"controls", leave_pass<&optimizing::Passes::controls>},
    {"branches", leave_pass<&optimizing::Passes::branches>},
    {"inline", leave_calls},
});

// What is made of a model, and what it is compared with. While it is there tensors that signatures feed stand
// for themselves in both.
struct Trial {
  Trial(const Model& model, Registry& ops, OptimizeRequest request)
      : before(again(model)), fixes(request.fixes) {
    std::vector<std::string> inexact;
    request.apart = !request.reroutes.empty();
    if (request.apart) made.model = again(model);
    for (const std::string& edge : request.reroutes)
      inexact.push_back(optimizing::reroute(made.model, ops, edge));
    request.stand_ins = stand_ins = optimizing::stand_in_for_inputs(before, ops, fixes);
    if (request.apart) {
      optimizing::stand_in_for_inputs(made.model, ops, fixes);
    } else {
      made.model = before;
    }
    made.result = optimize(made.model, before, ops, request);
    inexact.insert(inexact.end(), made.result.inexact.begin(), made.result.inexact.end());
    made.result.inexact = std::move(inexact);
  }
  Optimized take() {
    optimizing::remove_stand_ins(made.model.graph(), stand_ins);
    return std::move(made);
  }

  Optimized made;
  Model before;
  std::vector<std::string> fixes;
  optimizing::StandIns stand_ins;
};

class Attempts {
 public:
  Attempts(const Model& model, Registry& ops) : model_(model), ops_(ops) {}

  // Whether it is proved.
  bool run(OptimizeRequest request) {
    failed_.clear();
    std::vector<std::string> unknown;
    const auto prove = [&](Model& before, Model& after, const OptimizeResult& result) {
      Certificate found = certify(before, after, ops_, result);
      failed_.insert(failed_.end(), found.failed.begin(), found.failed.end());
      for (std::string& text : found.unknown) {
        if (std::ranges::find(unknown, text) == unknown.end()) unknown.push_back(std::move(text));
      }
      return found.proved;
    };
    request.step_made = prove;
    Trial trial(model_, ops_, std::move(request));
    Optimized& made = trial.made;
    const bool exact = made.result.inexact.empty();
    if (exact) made.proved = prove(trial.before, made.model, made.result);
    made.unknown = std::move(unknown);
    if (exact && failed_.empty() && made.result.counts.contains("inline")) see_inlining(trial);
    made_ = trial.take();
    return failed_.empty();
  }

  const std::string& failed() const { return failed_[0]; }
  Optimized take() { return std::move(*made_); }

 private:
  // What was inlined was compared with the graph inlined alike; now that one with what was read. What the
  // prover cannot see through is told.
  void see_inlining(Trial& trial) {
    Optimized& made = trial.made;
    Model read = again(model_);
    optimizing::stand_in_for_inputs(read, ops_, trial.fixes);
    OptimizeResult of_calls;
    of_calls.outputs = made.result.outputs;
    of_calls.given = made.result.given;
    const Certificate found = certify(read, trial.before, ops_, of_calls);
    for (const std::string& text : found.unknown) made.unknown.push_back(text);
    for (const std::string& text : found.failed) made.unknown.push_back("what was inlined, " + text);
    made.proved = std::min(made.proved, found.proved);
  }

  const Model& model_;
  Registry& ops_;
  std::vector<std::string> failed_;
  std::optional<Optimized> made_;
};

// Whether folding made the graph larger by more than that, inlining aside.
bool folded_too_much(const Model& model, const OptimizeResult& result, const Model& made) {
  if (!result.larger) return false;
  Model read = again(model);
  read.graph().decode();
  return graph_bytes(made.graph()) > graph_bytes(read.graph()) + result.inlined_bytes + folding::kMostGrowth;
}

Optimized optimize_once(const Model& model, Registry& ops, const OptimizeRequest& request, bool prove) {
  if (!prove) {
    Optimized made = Trial(model, ops, request).take();
    made.asked = false;
    return made;
  }
  Attempts attempts(model, ops);
  if (attempts.run(request)) return attempts.take();
  const std::string why = attempts.failed();
  const auto finish = [&](std::vector<std::string> left_out) {
    Optimized made = attempts.take();
    for (const std::string& step : left_out)
      made.result.changes.notes.push_back("step " + step +
                                          " is left out: with it this is not proved: " + why);
    made.left_out = std::move(left_out);
    return made;
  };
  for (const Step& step : kSteps) {
    OptimizeRequest fewer = request;
    if (step.leave(fewer) && attempts.run(fewer)) return finish({step.name});
  }
  OptimizeRequest fewer = request;
  std::vector<std::string> left_out;
  for (const Step& step : kSteps) {
    if (!step.leave(fewer)) continue;
    left_out.emplace_back(step.name);
    if (attempts.run(fewer)) return finish(std::move(left_out));
  }
  throw refused("the result is not proved to compute the same, and nothing was written: " + why)
      .of("gedit optimize")
      .hint("report it; --no-proof writes it all the same");
}

}  // namespace

Certificate certify(Model& before, Model& after, Registry& ops, const OptimizeResult& result) {
  ProofRequest request;
  request.most_places = SIZE_MAX - 1;  // all are told, and nothing is counted
  const ProofSide a{before, ops, nullptr, result.before.get()}, b{after, ops};
  for (const std::string& output : result.outputs) request.outputs.push_back({output, output});
  // Where nothing is asked for: what nothing reads, but for what was to go.
  if (result.outputs.empty()) request.outputs = outputs_that_stay(a, b, {});
  request.given = result.given;
  for (const optimizing::Assumption& assumption : result.assumptions)
    request.assumed.push_back(
        {assumption.function, assumption.tensor, assumption.same_as, assumption.tensor_proto});
  const Proof proof = prove(a, b, request);
  Certificate certificate;
  ProofRequest again = request;
  again.outputs.clear();
  std::vector<const OutputProof*> open;
  for (const OutputProof& output : proof.outputs) {
    if (output.verdict == ProofVerdict::kProved) {
      ++certificate.proved;
    } else {
      open.push_back(&output);
      again.outputs.push_back({output.output.a, output.output.a});
    }
  }
  if (open.empty()) return certificate;
  again.assumed.clear();
  const Proof of_itself = prove(a, a, again);
  for (size_t i = 0; i < open.size(); ++i) {
    if (of_itself.outputs[i].verdict == ProofVerdict::kProved) {
      certificate.failed.push_back(text_of(*open[i]));
    } else {
      certificate.unknown.push_back(text_of(of_itself.outputs[i]));
    }
  }
  return certificate;
}

// Either all is folded or nothing that takes more bytes than it spares: so that nothing is left for a next
// run, which would be given as many bytes again.
Optimized optimize_proved(const Model& model, Registry& ops, const OptimizeRequest& request, bool prove) {
  Optimized made = optimize_once(model, ops, request, prove);
  if (!folded_too_much(model, made.result, made.model)) return made;
  OptimizeRequest smaller = request;
  smaller.fold_larger = false;
  return optimize_once(model, ops, smaller, prove);
}

}  // namespace gedit
