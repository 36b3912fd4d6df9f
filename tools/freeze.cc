// gedit freeze: the part of a graph that some tensors need, its variables turned into constants.
#include "edit/edits.h"

#include <algorithm>
#include <set>

#include "checkpoint/edit.h"
#include "checkpoint/open.h"
#include "cli/options.h"
#include "cli/verifying.h"
#include "cli/wanted.h"
#include "commands.h"
#include "edit/savers/checkpoint_values.h"
#include "graph/names.h"

namespace gedit {
namespace {

// Values of the variables that are constants now; those that stay are known by their names.
class FrozenValues final : public KnownValues {
 public:
  FrozenValues(ProofSide& before, const ProofSide& after, const std::string& checkpoint)
      : before_(before.model),
        after_(after.model.graph()),
        names_(after.model.graph()),
        values_(before.model, before.ops, checkpoint) {}

  std::optional<KnownValue> find(NodeId variable) override {
    const NodeId now = names_.find(before_.graph().name(variable));
    if (now != kNoNode && after_.op(now) == before_.graph().op(variable)) return std::nullopt;
    return values_.find(variable);
  }

 private:
  const Model& before_;
  const Graph& after_;
  const Names names_;
  CheckpointValues values_;
};

class Freeze final : public Command {
 public:
  void setup(CommandLine& line) override {
    input_.setup(line);
    wanted_.setup(line);
    line.add_option("--checkpoint", checkpoint_,
                    "Where values come from; default: a SavedModel's own, of x.meta the checkpoint x")
        ->type_name("CKPT");
    line.add_option("--keep", request_.keep, "Variables that stay variables")->type_name("SELECTOR");
    devices_.setup(line);
    output_.setup(line);
    output_.setup_state(line);
    verifying_.setup(line);
  }

  int run() override {
    wanted_.put(request_);
    edit_file(
        input_, output_, [&](Model& model, Registry& ops) { return frozen(model, ops); },
        [&](const Model& model) { verifying_.read(model); });
    return 0;
  }

 private:
  Changes frozen(Model& model, Registry& ops) {
    const bool graph_alone = output_.asks_for_graph();
    const bool directory = target_of(model, output_.destination(model)).directory;
    request_.checkpoint = values_of(model, checkpoint_);
    request_.want_changes = output_.dry_run();
    devices_.before(model);
    FreezeChanges changes = freeze(model, ops, request_);
    verify(changes);
    if (graph_alone) {
      if (model.meta().has(meta_field::kSaver)) {
        changes.warnings.emplace_back(
            "a GraphDef names no saver for the variables that stay; hint: -o OUT.meta");
      }
      reduce_to_graph(model);
    }
    devices_.after(model, changes, request_.want_changes);
    // One folder of values serves all MetaGraphs of a SavedModel, and only one was frozen.
    if (directory && model.meta_graphs.size() == 1) {
      output_.base.values = values_that_stay(changes.kept_keys, changes);
      output_.base.without_values = true;
    }
    return changes;
  }

  // What was asked for computes what it did with the values of the variables that are none any more.
  void verify(const Changes& changes) {
    verifying_.prepare(input_, output_, [this, cut = changes.cut](ProofSide& before, const ProofSide& after) {
      values_ = std::make_unique<FrozenValues>(before, after, request_.checkpoint);
      before.values = values_.get();
      Verification what = wanted_.unchanged(before, after, cut);
      what.rebuilt = true;
      return what;
    });
  }

  // The checkpoint with the values of the variables that stay; null where none does.
  std::shared_ptr<Checkpoint> values_that_stay(const std::vector<std::string>& keys, Changes& changes) const {
    if (keys.empty()) return nullptr;
    auto values = std::make_shared<Checkpoint>(open_checkpoint(request_.checkpoint, &changes.warnings));
    const std::set<std::string> kept(keys.begin(), keys.end());
    std::vector<bool> dropped;
    for (const Tensor& tensor : values->tensors)
      dropped.push_back(!kept.contains(tensor.name) && tensor.name != kObjectGraphKey);
    drop_tensors(*values, dropped);
    return values;
  }

  InputOptions input_;
  WantedOptions wanted_;
  DeviceOption devices_;
  OutputOptions output_;
  Verifying verifying_;
  FreezeRequest request_;
  std::unique_ptr<FrozenValues> values_;
  std::string checkpoint_;
};

}  // namespace

CommandInfo freeze_command() {
  return {
      .summary = "turns variables into constants",
      .synopsis = R"(FILE (--outputs T,.. | --signature KEY) [--inputs T,..] [--checkpoint CKPT]
                     [--keep SELECTOR] -o OUT)",
      .text = R"(
The graph is reduced to what the outputs need, cut at the inputs, as extract does it. Then each variable
becomes a Const of its name, with its value in the checkpoint; only variables that are still there are
looked up, by the keys that the graph's savers use. Reads become plain ops, references lose their Ref,
functions that take a variable's handle are specialised for constants under NAME_frozen. Weights go from the
checkpoint to OUT without a stop in memory.

A frozen graph writes nothing. Control edges from writers are dropped; where a write under a Switch is read,
as in batch normalization with is_training, the variable's value stands in its place. A write that is read
anyway is refused. Tables stay, with their initializers and init ops.

OUT.pb and OUT.pbtxt hold a GraphDef; OUT.meta and a directory also what remains of signatures, collections,
and of the saver where --keep leaves variables; with them also what remains of a TF2 SavedModel's object
graph, in which a frozen variable is a constant.
)",
      .examples = R"(
gedit freeze train.meta --checkpoint train-9000 --outputs prob --inputs 'batch:uint8[?,224,224,3]' -o prob.pb
gedit freeze model/ --signature serving_default -o frozen.pb
gedit freeze m.meta --outputs y --keep 'head/**' -o part.meta
)",
      .make = make_command<Freeze>,
  };
}

}  // namespace gedit
