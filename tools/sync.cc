// gedit sync: an operation that brings one scope's variables up to date with another's.
#include "edit/edits.h"

#include "cli/options.h"
#include "commands.h"

namespace gedit {
namespace {

class Sync final : public Command {
 public:
  void setup(CommandLine& line) override {
    input_.setup(line);
    from_ =
        line.add_option("--from-scope", request_.from_scope, "The scope whose variables are read; '' is all")
            ->type_name("SRC");
    to_ = line.add_option("--to-scope", request_.to_scope, "The scope whose variables are assigned")
              ->type_name("DST");
    line.add_option("--pair", request_.pairs, "B is assigned the value of A; @file has one a line")
        ->type_name("A=B")
        ->one_each();
    line.add_option("--name", request_.name, "Name of the operation; default: DST/sync")->type_name("OP");
    tau_ = line.add_option("--tau", tau_value_,
                           "DST := X * SRC + (1 - X) * DST, where X is above 0 and at most 1")
               ->type_name("X");
    line.add_flag("--all", request_.all, "Every variable of DST but slots, not only the trainable ones");
    output_.setup(line);
  }

  int run() override {
    request_.only_pairs = from_->count() == 0 && to_->count() == 0;
    if (request_.only_pairs && request_.pairs.empty())
      throw Error(Cause::kUsage, "which variables?").hint("--from-scope SRC --to-scope DST, or --pair A=B");
    if (!request_.only_pairs && (from_->count() == 0 || to_->count() == 0))
      throw Error(Cause::kUsage, "--from-scope and --to-scope belong together");
    if (request_.only_pairs && request_.name.empty())
      throw Error(Cause::kUsage, "what is the operation to be called?").hint("--name OP");
    if (tau_->count() > 0) request_.tau = tau_value_;
    edit_file(input_, output_,
              [&](Model& model, Registry& ops) { return gedit::sync(model, ops, request_); });
    return 0;
  }

 private:
  InputOptions input_;
  OutputOptions output_;
  SyncRequest request_;
  double tau_value_ = 1;
  Option *tau_ = nullptr, *from_ = nullptr, *to_ = nullptr;
};

}  // namespace

CommandInfo sync_command() {
  return {
      .summary = "adds an op that assigns the variables of one scope to those of another",
      .synopsis = R"(FILE (--from-scope SRC --to-scope DST | --pair A=B ..) [--name OP] [--tau X]
                     [--all] -o OUT)",
      .text = R"(
Every trainable variable DST/x is assigned the value of SRC/x, of the same dtype and shape; where the graph
has no collection trainable_variables, or with --all, every variable of DST, except an optimizer's slots.
Where one scope lies in the other, what is in the inner one belongs to that alone. --pair A=B assigns A to B,
whatever they are called; beside scopes it goes before what they would pair B with.
The assignments are OP/x, and OP runs them all. Reference and resource variables may be mixed. With --tau,
floating variables move X of the way: DST := X * SRC + (1 - X) * DST.

Nothing else changes: no collection, no saver, no init group.
)",
      .examples = R"(
gedit sync two.meta --from-scope online --to-scope target --name update_target -o dqn2.meta
gedit sync two.meta --from-scope online --to-scope target --tau 0.005 -o dqn2.meta
)",
      .make = make_command<Sync>,
  };
}

}  // namespace gedit
