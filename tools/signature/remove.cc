// gedit signature remove: a model without some signatures.
#include "cli/options.h"
#include "commands.h"
#include "edit/edits.h"

namespace gedit {
namespace {

class RemoveSignatures final : public Command {
 public:
  void setup(CommandLine& line) override {
    input_.setup(line);
    line.add_option("KEY", keys_, "The signatures that go");
    output_.setup(line);
  }

  int run() override {
    edit_file(input_, output_, [&](Model& model, Registry&) { return remove_signatures(model, keys_); });
    return 0;
  }

 private:
  InputOptions input_;
  OutputOptions output_;
  std::vector<std::string> keys_;
};

}  // namespace

CommandInfo signature_remove_command() {
  return {
      .summary = "removes signatures",
      .synopsis = "FILE KEY.. -o OUT",
      .text = R"(
Takes the signatures away; the graph stays as it is.
)",
      .examples = R"(
gedit signature remove m/ train -i
gedit signature remove m/ train eval -o served/
)",
      .make = make_command<RemoveSignatures>,
  };
}

}  // namespace gedit
