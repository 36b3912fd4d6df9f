// gedit signature rename: other names for signatures, their inputs and outputs.
#include "cli/options.h"
#include "commands.h"
#include "edit/edits.h"

namespace gedit {
namespace {

class RenameSignatures final : public Command {
 public:
  void setup(CommandLine& line) override {
    input_.setup(line);
    line.add_option("PAIR", pairs_,  // CLI11 2.4 takes no `=` in a name
                    "OLD=NEW: KEY=NEW, KEY.inputs[x]=NEW or KEY.outputs[y]=NEW");
    output_.setup(line);
  }

  int run() override {
    edit_file(input_, output_,
              [&](Model& model, Registry& ops) { return rename_signatures(model, ops, pairs_); });
    return 0;
  }

 private:
  InputOptions input_;
  OutputOptions output_;
  std::vector<std::string> pairs_;
};

}  // namespace

CommandInfo signature_rename_command() {
  return {
      .summary = "renames signatures, their inputs and outputs",
      .synopsis = "FILE OLD=NEW.. -o OUT",
      .text = R"(
OLD is a key, KEY.inputs[x] or KEY.outputs[y], NEW the bare name; all at once. Tensors keep their names.
)",
      .examples = R"(
gedit signature rename m/ 'serving_default.outputs[output_1]=scores' -o m2/
gedit signature rename m/ predict=serving_default serving_default=old -i
)",
      .make = make_command<RenameSignatures>,
  };
}

}  // namespace gedit
