// gedit diff: what tells two files apart.
#include "diff/diff.h"

#include "checkpoint/open.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "commands.h"
#include "model/operand.h"

namespace gedit {
namespace {

class DiffCommand final : public Command {
 public:
  void setup(CommandLine& line) override {
    line.add_option("A", a_, "A graph in any form, or a checkpoint; - is standard input")->required();
    line.add_option("B", b_, "What it is compared with")->required();
    input_.setup_options(line);
    line.add_option("--ignore", ignored_,
                    "Attributes that are not compared; default: _* and debug_name where nothing else differs")
        ->type_name("ATTR,..")
        ->one_each();
    line.add_flag("--stat", stat_, "Counts alone");
    line.add_flag("-j,--json", json_, "JSON");
    line.add_flag("-q,--quiet", quiet_, "Print nothing: the exit status is the answer");
  }

  int run() override {
    if (a_ == "-" && b_ == "-") throw Error(Cause::kUsage, "standard input can be read only once");
    const bool checkpoint = names_checkpoint(a_);
    if (checkpoint != names_checkpoint(b_)) {
      throw Error(Cause::kUsage, "a graph and a checkpoint have nothing in common")
          .in(checkpoint ? b_ : a_)
          .hint("gedit check compares a SavedModel with its variables");
    }
    return checkpoint ? checkpoints() : models();
  }

 private:
  // What git gives in place of a file that one side does not have.
  static constexpr std::string_view kNothing = "/dev/null";
  static Model nothing(Kind kind) {
    return model_of(std::string(kNothing), kind == Kind::kGraphDef ? kind : Kind::kMetaGraphDef,
                    Format::kBinary, "", std::make_shared<Arena>());
  }

  int models() {
    Model before = a_ == kNothing ? nothing(input_.load_one(b_).kind) : input_.load_one(a_);
    Model after = b_ == kNothing ? nothing(before.kind) : input_.load_one(b_);
    Registry ops_before = input_.registry(before), ops_after = input_.registry(after);
    return with_files(before, after, [&] {
      const DiffOptions options{split_list(ignored_)};
      return tell([&] {
        const Progress comparing("comparing", quiet_);
        return diff_models(before, after, ops_before, ops_after, options);
      }());
    });
  }

  int checkpoints() {
    std::vector<std::string> warnings;
    const Checkpoint before = open_checkpoint(a_, &warnings), after = open_checkpoint(b_, &warnings);
    if (!quiet_) {
      for (const std::string& warning : warnings) say_warning(warning);
    }
    return tell(diff_checkpoints(before, after));
  }

  int tell(const Diff& diff) const {
    if (!quiet_) {
      OutputFile out("-", true);
      if (json_) {
        diff_json(diff, out);
      } else if (!stat_) {
        print_diff(diff, out);
      } else if (!diff.empty()) {
        out.write(diff_counts(diff) + "\n");
      }
      out.commit();
    }
    return diff.empty() ? 0 : 1;
  }

  InputOptions input_;
  std::string a_, b_;
  std::vector<std::string> ignored_;
  bool stat_ = false, json_ = false, quiet_ = false;
};

}  // namespace

CommandInfo diff_command() {
  return {
      .summary = "tells what differs between two files",
      .synopsis = "A B [--ignore ATTR,..] [--stat] [-j] [-q]",
      .text = R"(
Compares two graphs of any kinds and forms: nodes by name, functions by name, versions; and where both have
them collections, signatures, saver, assets, object graph, and the variables of SavedModels by their crc32c.
Two checkpoints are compared by the dtype, shape and crc32c of each tensor. The order of nodes, attributes
and map entries does not count, nor do the order and repetition of control inputs, a for a:0, or an
attribute at its default for one that is not there. Attributes that begin with _, and debug_name, tell no two
nodes apart that are otherwise the same; --ignore says which are not compared instead, NAME or NAME*. Arguments
of a function are told by their places.

  > a/ -> b/ (53 nodes)    a scope has another name; what else differs in it stands below
  > a -> b                 a node has another name and is otherwise the same
  > 12 functions have other numbers    at the end of their names
  - LINE, + LINE           only A, only B has this line of the listing; long tensors are elided
  ~ NAME: WHAT; WHAT       a node or function that differs, and in what

Exit status 0: equal; 1: different.
)",
      .examples = R"(
gedit diff dqn.meta two.meta --stat
gedit diff old/ new/ -q && echo same
)",
      .make = make_command<DiffCommand>,
  };
}

}  // namespace gedit
