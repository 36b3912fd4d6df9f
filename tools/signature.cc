// gedit signature: shows, adds, renames and removes signatures.
#include "edit/signature.h"

#include <algorithm>

#include "checkpoint/open.h"
#include "cli/json.h"
#include "cli/options.h"
#include "cli/text.h"
#include "commands.h"

namespace gedit {
namespace {

class Signature final : public Command {
 public:
  void setup(CommandLine& line) override {
    line.add_option(
            "FILE", operands_,
            R"(GraphDef, MetaGraphDef or SavedModel in any form; in front of it the verb add, rename or
               remove, behind it what the verb works on)")
        ->required();
    input_.setup_options(line);
    option(line.add_option("--inputs", inputs_,
                           "add: the inputs; of a sparse tensor the three tensors K=VALUES;INDICES;SHAPE")
               ->type_name("K=T,..")
               ->one_each(),
           "add");
    option(
        line.add_option("--outputs", outputs_, "add: the outputs; FN//node:k is a tensor inside a function")
            ->type_name("K=T,..")
            ->one_each(),
        "add");
    option(
        line.add_option("--method", request_.method, "add: method_name (default tensorflow/serving/predict)")
            ->type_name("M"),
        "add");
    option(line.add_option("--checkpoint", checkpoint_,
                           "add: the values of a MetaGraphDef that becomes a SavedModel")
               ->type_name("CKPT"),
           "add");
    line.add_flag("-j,--json", json_, "Without a verb: JSON");
    output_.setup(line);
  }

  int run() override {
    const std::string verb = take_verb();
    if (operands_.empty()) throw Error(Cause::kUsage, "FILE is missing");
    input_.take(operands_[0]);
    operands_.erase(operands_.begin());
    for (const auto& [option, of] : options_) {
      if (option->count() > 0 && verb != of)
        throw Error(Cause::kUsage, verb.empty() ? "is for add" : verb + " has no such option")
            .of(quoted("option", option->name()));
    }
    if (verb.empty()) return show();
    if (json_) throw Error(Cause::kUsage, verb + " has no such option").of(quoted("option", "--json"));
    if (verb == "add") return add();
    return change(verb == "rename");
  }

 private:
  void option(Option* added, std::string verb) { options_.emplace_back(added, std::move(verb)); }

  std::string take_verb() {
    for (const char* verb : {"add", "rename", "remove"}) {
      if (operands_[0] != verb) continue;
      operands_.erase(operands_.begin());
      return verb;
    }
    return "";
  }

  int show() {
    if (!operands_.empty())
      throw Error(Cause::kUsage, "one operand too many")
          .of(quoted("operand", operands_[0]))
          .hint("gedit signature add|rename|remove FILE ..");
    if (output_.given())
      throw Error(Cause::kUsage, "without a verb nothing is written").hint("gedit signature FILE [-j]");
    const Model model = input_.load();
    std::vector<SignaturesOfGraph> graphs;
    std::string text;
    for (size_t i = 0; i < model.meta_graphs.size(); ++i) {
      if (input_.tag_set_given() && i != model.selected) continue;
      const MetaGraph& meta = model.meta_graphs[i];
      const std::vector<SignatureSummary> signatures =
          with_file(model, [&] { return list_signatures(meta); });
      if (json_) {
        SignaturesOfGraph graph{{}, signatures};
        for (const std::string_view tag : tags(meta)) graph.tags.emplace_back(tag);
        graphs.push_back(std::move(graph));
        continue;
      }
      if (model.meta_graphs.size() > 1) {
        std::string set;
        for (const std::string_view tag : tags(meta)) set += (set.empty() ? "" : ",") + printable(tag);
        text += "{" + set + "}\n";
      }
      text += describe(signatures);
    }
    print(json_ ? signatures_json(model, graphs) : text);
    return 0;
  }

  static std::string describe(const std::vector<SignatureSummary>& signatures) {
    if (signatures.empty()) return "no signatures\n";
    std::string text;
    for (const SignatureSummary& signature : signatures) {
      text += printable(signature.key) + "  " + printable(signature.method) + "\n";
      size_t name_width = 0, type_width = 0;
      const auto each = [&](const auto& use) {
        for (const auto& [name, tensor] : signature.inputs) use("input", name, tensor);
        for (const auto& [name, tensor] : signature.outputs) use("output", name, tensor);
      };
      each([&](const char*, const std::string& name, const TensorSummary& tensor) {
        name_width = std::max(name_width, printable(name).size());
        type_width = std::max(type_width, type_text(tensor.dtype, tensor.shape).size());
      });
      each([&](const char* side, const std::string& name, const TensorSummary& tensor) {
        text += "  " + padded(side, 6) + "  " + padded(printable(name), name_width) + "  " +
                padded(type_text(tensor.dtype, tensor.shape), type_width) + "  " + printable(tensor.tensor);
        while (text.ends_with(' ')) text.pop_back();
        text += '\n';
      });
    }
    return text;
  }

  int add() {
    if (operands_.empty()) throw Error(Cause::kUsage, "add needs the KEY of the new signature");
    if (operands_.size() > 1)
      throw Error(Cause::kUsage, "one operand too many").of(quoted("operand", operands_[1]));
    request_.key = operands_[0];
    request_.inputs = split_list(inputs_);
    request_.outputs = split_list(outputs_);
    edit_file(input_, output_, [&](Model& model, Registry& ops) {
      Changes changes = add_signature(model, ops, request_);
      if (!output_.dry_run() && target_of(model, output_.destination(model)).kind == Kind::kGraphDef)
        throw Error(Cause::kRefused, "a GraphDef holds no signature")
            .in(output_.destination(model).path)
            .hint("-o OUT.meta, or a directory");
      if (!checkpoint_.empty())
        output_.base.values = std::make_shared<Checkpoint>(open_checkpoint(checkpoint_, &changes.warnings));
      for (std::string& note : output_.note_of_file(model)) changes.notes.push_back(std::move(note));
      return changes;
    });
    return 0;
  }

  int change(bool rename) {
    edit_file(input_, output_, [&](Model& model, Registry& ops) {
      return rename ? rename_signatures(model, ops, operands_) : remove_signatures(model, operands_);
    });
    return 0;
  }

  InputOptions input_;
  OutputOptions output_;
  NewSignature request_;
  std::vector<std::string> operands_, inputs_, outputs_;
  std::string checkpoint_;
  bool json_ = false;
  std::vector<std::pair<const Option*, std::string>> options_;
};

}  // namespace

CommandInfo signature_command() {
  return {
      .summary = "shows, adds, renames and removes signatures",
      .synopsis =
          R"([add|rename|remove] FILE [KEY | OLD=NEW..] [--inputs K=T,..] [--outputs K=T,..] [-o OUT])",
      .text = R"(
signature FILE: the signatures with their tensors. (A file named add: ./add.)

signature add FILE KEY --inputs K=T,.. --outputs K=T,..: one more, dtype and shape being those of the
tensors. A GraphDef becomes a MetaGraphDef or, with a directory, a SavedModel with tag serve. In a TF2 model
a wrapper function and its object are added, so that tf.saved_model.load has the signature, too. T may be
FN//node:k, a tensor inside a function: every function on the way to the main graph gains an output.

signature rename FILE OLD=NEW..: OLD is a key, KEY.inputs[x] or KEY.outputs[y], NEW the bare name; all at
once. Tensors keep their names.

signature remove FILE KEY..: the graph stays as it is.
)",
      .examples = R"(
gedit signature model/
gedit signature rename m/ 'serving_default.outputs[output_1]=scores' -o m2/
gedit signature add frozen.pb serving_default --inputs image=input --outputs prob=softmax -o 1/
gedit signature remove m/ train -i
)",
      .make = make_command<Signature>,
  };
}

}  // namespace gedit
