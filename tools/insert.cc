// gedit insert: a node behind a tensor.
#include "edit/edits.h"

#include "base/error.h"
#include "cli/options.h"
#include "commands.h"

namespace gedit {
namespace {

class Insert final : public Command {
 public:
  void setup(CommandLine& line) override {
    input_.setup(line);
    line.add_option("--op", request_.op,
                    "Type of the new nodes: one tensor in, one out; with --at-reads StopGradient by default")
        ->offers({"CheckNumerics", "Identity", "PreventGradient", "Print", "Snapshot", "StopGradient"})
        ->type_name("OP");
    line.add_option("--after", after_, "A node behind each of these; FN//node:1 in a function")
        ->type_name("T,..")
        ->one_each();
    line.add_option("--at-reads", request_.at_reads, "A node behind every read of these variables")
        ->type_name("SELECTOR");
    line.add_option("--attr", request_.attrs,
                    "An attribute of the new nodes, as the listing writes it: message=\"...\"")
        ->type_name("NAME=VALUE")
        ->one_each();
    output_.setup(line);
  }

  int run() override {
    request_.after = split_list(after_);
    for (const auto& [given, option] :
         {std::pair(!request_.op.empty(), "--op"), {!after_.empty(), "--after"}}) {
      if (request_.at_reads.empty() && !given)
        throw Error(Cause::kUsage, std::string(option) + " is required").hint("gedit insert --help");
    }
    edit_file(input_, output_, [&](Model& model, Registry& ops) { return insert(model, ops, request_); });
    return 0;
  }

 private:
  InputOptions input_;
  OutputOptions output_;
  InsertRequest request_;
  std::vector<std::string> after_;
};

}  // namespace

CommandInfo insert_command() {
  return {
      .summary = "puts a node behind a tensor: StopGradient, CheckNumerics, Print, ...",
      .synopsis = "FILE (--op OP --after T,.. | [--op OP] --at-reads SELECTOR) [--attr NAME=VALUE].. -o OUT",
      .text = R"(
Behind each tensor node:k stands a new node node/OP (node/OP_k for k above 0), and all that read the
tensor's value read it instead, outputs of signatures and of functions too. Control edges, inputs of
signatures, collections, savers, initializers and readers that need a reference stay.

--at-reads puts a StopGradient, or OP, behind every read of the variables that SELECTOR hits, so that no
gradient reaches them any more; what writes, saves or initializes them stays.

Attributes are those of --attr, else the tensor's dtype for the type of the input, else the op's defaults.
Nothing can be inserted behind a NextIteration, or before the Merge that closes a loop.
)",
      .examples = R"(
gedit insert both.meta --op StopGradient --after enc/features -o out.meta
gedit insert train.meta --at-reads 'encoder/' -o frozen_encoder.meta
gedit insert m.pb --op CheckNumerics --after logits,split:1 --attr 'message="here"' -o out.pb
)",
      .make = make_command<Insert>,
  };
}

}  // namespace gedit
