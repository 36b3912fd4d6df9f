// gedit set: devices, attributes and shapes of nodes.
#include "edit/edits.h"

#include "cli/options.h"
#include "cli/verifying.h"
#include "commands.h"

namespace gedit {
namespace {

class Set final : public Command {
 public:
  void setup(CommandLine& line) override {
    input_.setup(line);
    step(line, "--device", SetStep::Is::kDevice, "Device of the nodes hit; an empty one clears it")
        ->type_name("SEL=DEV");
    step(line, "--attr", SetStep::Is::kAttr,
         "Attribute of the nodes hit, as the listing writes it; SEL:NAME removes it")
        ->type_name("SEL:NAME=VALUE");
    step(line, "--shape", SetStep::Is::kShape, "Shape of a placeholder or variable: x=[?,224,3]")
        ->type_name("T=SHAPE");
    line.add_flag("--follow", request_.follow,
                  "With --shape: shapes downstream, signatures, functions and objects become what follows");
    line.add_flag("--rebake", request_.rebake,
                  "With --follow: constants that hold the old size are changed, too");
    output_.setup(line);
    verifying_.setup(line);
  }

  int run() override {
    request_.want_changes = output_.dry_run();
    if (request_.rebake && !request_.follow) throw Error(Cause::kUsage, "--rebake needs --follow");
    edit_file(
        input_, output_, [&](Model& model, Registry& ops) { return gedit::set(model, ops, request_); },
        [&](const Model& model) {
          verifying_.read(model);
          verifying_.prepare(input_, output_);
        });
    return 0;
  }

 private:
  // The three kinds of steps are taken in the order in which they were given.
  Option* step(CommandLine& line, const char* name, SetStep::Is is, const char* about) {
    const auto keep = [this, is](const std::string& text) { request_.steps.push_back({is, text}); };
    return line.add_each(name, keep, about);
  }

  InputOptions input_;
  OutputOptions output_;
  Verifying verifying_;
  SetRequest request_;
};

}  // namespace

CommandInfo set_command() {
  return {
      .summary = "sets devices, attributes and shapes",
      .synopsis = R"(FILE (--device SEL=DEV | --attr SEL:NAME=VALUE | --attr SEL:NAME |
                     --shape T=SHAPE).. [--follow [--rebake]] -o OUT)",
      .text = R"(
Steps are taken in the order given. --device replaces the whole device string of the nodes that the selector
hits; '**=' clears all of the main graph, '**, fn:*//**=' those of functions too. --attr takes a value in
the listing's form (DT_HALF, list(1,2,2,1), "SAME", [?,3], 3, 0.5, true), which is held against the type of
the op's attribute; without a value the attribute is removed.

--shape changes a placeholder or a variable, the signatures that name it, and drops the shapes that were
inferred downstream. Constants downstream that hold the old size are named in warnings.

With --follow the shapes downstream are inferred anew and written where the file had some: _output_shapes, the
outputs of signatures, arguments of functions, and what the object graph of a TF2 SavedModel says of them, so
that tf.saved_model.load shows the new shape. A shape that contradicts the graph is refused. Constants are named
where they hold a size that is gone and no longer fits; --rebake changes them: an entry of a Reshape becomes -1,
another one the new number.
)",
      .examples = R"(
gedit set m.pb --shape 'input=[?,?,?,3]' --device '**=' -o dyn.pb
gedit set m.pb --shape 'input=[8,224,224,3]' --follow --rebake -o batch8.pb
gedit set m.pb --attr 'op:MaxPool:padding="SAME"' --attr '**:_class' -o out.pb
)",
      .make = make_command<Set>,
  };
}

}  // namespace gedit
