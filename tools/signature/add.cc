// gedit signature add: one signature more.
#include "base/error.h"
#include "checkpoint/open.h"
#include "cli/options.h"
#include "commands.h"
#include "edit/edits.h"
#include "edit/savers/checkpoint_keys.h"

namespace gedit {
namespace {

class AddSignature final : public Command {
 public:
  void setup(CommandLine& line) override {
    input_.setup(line);
    line.add_option("KEY", request_.key, "The key of the new signature")->required();
    line.add_option("--inputs", inputs_,
                    "The inputs; of a sparse tensor the three tensors K=VALUES;INDICES;SHAPE")
        ->type_name("K=T,..")
        ->one_each();
    line.add_option("--outputs", outputs_, "The outputs; FN//node:k is a tensor inside a function")
        ->type_name("K=T,..")
        ->one_each();
    line.add_option("--method", request_.method, "method_name (default tensorflow/serving/predict)")
        ->type_name("M");
    line.add_option("--checkpoint", checkpoint_, "The values of a MetaGraphDef that becomes a SavedModel")
        ->type_name("CKPT");
    output_.setup(line);
  }

  int run() override {
    request_.inputs = split_list(inputs_);
    request_.outputs = split_list(outputs_);
    edit_file(input_, output_, [&](Model& model, Registry& ops) {
      Changes changes = add_signature(model, ops, request_);
      if (!output_.dry_run() && target_of(model, output_.destination(model)).kind == Kind::kGraphDef)
        throw Error(Cause::kRefused, "a GraphDef holds no signature")
            .in(output_.destination(model).path)
            .hint("-o OUT.meta, or a directory");
      if (!checkpoint_.empty()) {
        output_.base.values = std::make_shared<Checkpoint>(open_checkpoint(checkpoint_, &changes.warnings));
        require_keys(model, *output_.base.values, checkpoint_);
      }
      for (std::string& note : output_.note_of_file(model)) changes.notes.push_back(std::move(note));
      return changes;
    });
    return 0;
  }

 private:
  InputOptions input_;
  OutputOptions output_;
  NewSignature request_;
  std::vector<std::string> inputs_, outputs_;
  std::string checkpoint_;
};

}  // namespace

CommandInfo signature_add_command() {
  return {
      .summary = "adds a signature",
      .synopsis = "FILE KEY [--inputs K=T,..] --outputs K=T,.. [--method M] [--checkpoint CKPT] -o OUT",
      .text = R"(
Adds signature KEY, dtype and shape being those of the tensors. A GraphDef becomes a MetaGraphDef or, with a
directory, a SavedModel with tag serve. In a TF2 model a wrapper function and its object are added, so that
tf.saved_model.load has the signature, too. T may be FN//node:k, a tensor inside a function: every function on
the way to the main graph gains an output.
)",
      .examples = R"(
gedit signature add frozen.pb serving_default --inputs image=input --outputs prob=softmax -o 1/
gedit signature add m/ embed --inputs x=serving_default_x --outputs y=body//dense:0 -o m2/
)",
      .make = make_command<AddSignature>,
  };
}

}  // namespace gedit
