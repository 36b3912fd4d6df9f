// gedit extract: the part of a graph that some tensors need.
#include "edit/edits.h"

#include "cli/options.h"
#include "cli/verifying.h"
#include "cli/wanted.h"
#include "commands.h"
#include "model/save.h"

namespace gedit {
namespace {

class Extract final : public Command {
 public:
  void setup(CommandLine& line) override {
    input_.setup(line);
    wanted_.setup(line);
    devices_.setup(line);
    output_.setup(line);
    verifying_.setup(line);
  }

  int run() override {
    wanted_.put(request_);
    request_.want_changes = output_.dry_run();
    edit_file(
        input_, output_,
        [&](Model& model, Registry& ops) {
          request_.graph_alone = target_of(model, output_.destination(model)).kind == Kind::kGraphDef;
          devices_.before(model);
          Changes changes = extract(model, ops, request_);
          verify(changes);
          devices_.after(model, changes, request_.want_changes);
          return changes;
        },
        [&](const Model& model) { verifying_.read(model); });
    return 0;
  }

 private:
  void verify(const Changes& changes) {
    verifying_.prepare(input_, output_, [this, cut = changes.cut](ProofSide& before, const ProofSide& after) {
      return wanted_.unchanged(before, after, cut);
    });
  }

  InputOptions input_;
  WantedOptions wanted_;
  DeviceOption devices_;
  OutputOptions output_;
  Verifying verifying_;
  ExtractRequest request_;
};

}  // namespace

CommandInfo extract_command() {
  return {
      .summary = "keeps the part of a graph that some tensors need",
      .synopsis = "FILE --outputs T,.. [--inputs T[:DTYPE[SHAPE]],..] -o OUT",
      .text = R"(
Everything that the outputs do not need goes, functions that nobody calls any more included. Data and
control inputs are followed, colocation is not. Names, order and versions stay.

An input becomes a Placeholder of its type. It has the name of the node that it stands for, so that feeds
keep working; where that node stays, or for output k > 0, it is called NODE_k, and a note says so. A
Placeholder stays as it is.

Variables of a MetaGraphDef keep their initializers, their VariableDefs and their place in init ops and in
the saver, which shrink to them; collections keep what is still there. Of a GraphDef, and where OUT is one,
the graph alone stays.
Loops are kept whole. The object graph of a TF2 SavedModel shrinks to the variables, tables and signatures
that stay, so that tf.saved_model.load finds them.

An output FN//node inside a function is brought out: the calls on the way there gain an output, and a note
tells which.
)",
      .examples = R"(
gedit extract in.pb --inputs encoder/h1/Relu --outputs features -o mid.pb
gedit extract model.meta --outputs train -o train.meta
gedit extract model/ --signature serving_default -o serving/
)",
      .make = make_command<Extract>,
  };
}

}  // namespace gedit
