// gedit retarget: a graph for another TensorFlow release.
#include "edit/retargeting/retarget.h"

#include "cli/json.h"
#include "cli/options.h"
#include "cli/verifying.h"
#include "commands.h"

namespace gedit {
namespace {

class Retarget final : public Command {
 public:
  void setup(CommandLine& line) override {
    input_.setup(line);
    line.add_option("--tf", request_.release, "The release that is to take the graph: 1.12, 2.3")
        ->required()
        ->type_name("V");
    line.add_flag("--inline", request_.inlined, "Calls of functions give way to what they call");
    line.add_flag("--partly", partly_, "Write what can be done where something cannot");
    line.add_flag("-j,--json", json_, "The report as JSON on standard output");
    output_.setup(line);
    verifying_.setup(line);
  }

  int run() override {
    if (json_ && output_.to_standard_output() && !output_.dry_run())
      throw Error(Cause::kUsage, "-j, and the result on standard output").hint("-o OUT");
    request_.want_changes = output_.dry_run() && !json_;
    std::string report;
    const auto edit = [&](Model& model, Registry& ops) {
      RetargetResult result = retarget(model, ops, request_);
      if (json_) report = retarget_json(request_.release, result);
      if (result.obstacles.empty()) return std::move(result.changes);
      for (const Fault& fault : result.obstacles) {
        const std::string line =
            fault.rule + " " + printable(fault.subject) + ": " + printable(fault.message);
        if (partly_) {
          result.changes.warnings.push_back(line);
        } else if (!json_) {
          say("error " + line);
        }
      }
      if (partly_) return std::move(result.changes);
      print(report);
      const std::string count = std::to_string(result.obstacles.size());
      throw refused((result.obstacles.size() == 1 ? count + " obstacle" : count + " obstacles") +
                    " to TensorFlow " + request_.release)
          .hint("--partly writes what can be done");
    };
    edit_file(input_, output_, edit, [&](const Model& model) {
      verifying_.read(model);
      verifying_.prepare(input_, output_, [](const ProofSide& before, const ProofSide& after) {
        Verification what{.reworked = true};
        what.outputs = outputs_that_stay(before, after, what);
        return what;
      });
    });
    print(report);
    return 0;
  }

 private:
  InputOptions input_;
  OutputOptions output_;
  Verifying verifying_;
  RetargetRequest request_;
  bool partly_ = false, json_ = false;
};

}  // namespace

CommandInfo retarget_command() {
  return {
      .summary = "makes a graph that another TensorFlow takes",
      .synopsis = "FILE --tf V [--inline] [--partly] [--verify] [-j] -o OUT",
      .text = R"(
A graph of a newer TensorFlow is refused by an older one: an op, an attribute, a value is not known there. --tf V names
the release that is to take it, 1.0 to 2.21. Attributes at the default that they had when they came are dropped; so
are hints, on which no value rests; ops are replaced by those that stood in their place before, where both give the
same. Function bodies are treated like the main graph. Calls of functions that V has no op for give way to what they
call, and If, Case and While to Switch, Merge and loops; --inline does so with all calls. A newer V is given what it needs in the same way.

What the result gives is what FILE gives. What cannot be kept is an obstacle: all are told, a line each, and nothing
is written; with --partly the rest is. gedit check FILE --tf V tells what V would not take of FILE as it is.

Nodes that need nothing stay as they are, to the byte, and so does a file that V wrote.
)",
      .examples = R"(
gedit retarget frozen.pb --tf 1.12 -o frozen112.pb
gedit retarget saved_model/ --tf 1.15 -o saved115/
)",
      .make = make_command<Retarget>,
  };
}

}  // namespace gedit
