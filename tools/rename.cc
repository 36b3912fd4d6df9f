// gedit rename: other names for nodes, scopes and functions.
#include "edit/rename.h"

#include "cli/options.h"
#include "commands.h"

namespace gedit {
namespace {

class Rename final : public Command {
 public:
  void setup(CLI::App& app) override {
    input_.setup(app);
    app.add_option(
        "OLD=NEW", request_.pairs,
        "a=b a node, a/=b/ a scope, a/= strips it, /=b/ everything below b; FN//a=b, fn:F=G; @file");
    app.add_option("-e,--expression", request_.expressions,
                   "sed on node names, RE2 syntax; in order, after the pairs")
        ->type_name("s/RE/REPL/[g]")
        ->type_size(1)
        ->allow_extra_args(false);
    output_.setup(app);
  }

  int run() override {
    if (request_.pairs.empty() && request_.expressions.empty()) {
      throw Error(Cause::kUsage, "what is to be renamed?").hint("OLD=NEW, or -e 's/RE/REPL/'");
    }
    Model model = input_.load_one();
    output_.check(model);
    Registry ops = input_.registry(model);
    std::vector<Renamed> renamed;
    with_file(model, [&] { rename(model, ops, request_, output_.dry_run() ? &renamed : nullptr); });
    std::string changes;
    for (const Renamed& one : renamed)
      changes += "~ " + printable(one.from) + ": renamed " + printable(one.to) + "\n";
    print(changes);
    output_.save(model, std::nullopt);
    return 0;
  }

 private:
  InputOptions input_;
  OutputOptions output_;
  RenameRequest request_;
};

}  // namespace

const CommandInfo kRename{
    "rename",
    "Change",
    "renames nodes, scopes and functions, and everything that names them",
    "FILE OLD=NEW.. [-e s/RE/REPL/[g]].. -o OUT",
    "a=b renames one node, a/=b/ the scope a with everything under it, a/= strips the scope, /=b/ puts "
    "everything below b. "
    "FN//a=b renames in a function, fn:F=G a function. @file has one OLD=NEW a line. Pairs apply at once, so "
    "a=b b=a swaps. -e is "
    "sed on the names, after the pairs.\n"
    "\n"
    "Everything that names a node follows: inputs, colocation, VariableDefs, contexts, savers, signatures, "
    "assets, saved objects, "
    "init ops. Frames follow a renamed scope; a shared_name follows where it is the node's own name. "
    "Checkpoint keys do not "
    "change: the result restores from the old checkpoint.",
    "gedit rename m.meta model/=student/ -o s.meta\ngedit rename g.pb -e 's#^tower_0/(.*)#\\1#' -o g2.pb",
    [] { return std::unique_ptr<Command>(std::make_unique<Rename>()); }};

}  // namespace gedit
