// gedit select: what a selector hits.
#include "cli/json.h"
#include "cli/options.h"
#include "cli/selectors.h"
#include "commands.h"
#include "graph/library.h"
#include "select/selection.h"
#include "select/tensors.h"

namespace gedit {
namespace {

class Select final : public Command {
 public:
  void setup(CommandLine& line) override {
    input_.setup(line);
    line.add_option("SELECTOR", selector_,
                    "What is meant: a glob, scope/, op:TYPE, var:, +X, A..B, ... (gedit help selectors)")
        ->required();
    line.add_flag("-j,--json", json_, "An array of {\"name\", \"op\"}");
    line.add_flag("-q,--quiet", quiet_, "Print nothing: the exit status is the answer");
  }

  int run() override {
    Model model = input_.load_one();
    Registry ops = input_.registry(model);
    return with_file(model, [&] {
      Selecting selecting(model, ops);
      const Selection selection = selecting.evaluate(parse_selector(selector_));
      if (selection.empty()) {
        if (!quiet_) say_note(selecting.nothing(selector_).what());
        return 1;
      }
      if (!quiet_)
        print(json_ ? as_json(model, selecting, selection) : as_lines(model, selecting, selection));
      return 0;
    });
  }

 private:
  template <typename Use>
  static void each(Model& model, Selecting& selecting, const Selection& selection, Use use) {
    for (const NodeId id : selection.nodes.nodes()) use("", model.graph().bytes(id));
    for (const auto& [index, nodes] : selection.in_functions) {
      const Function& function = selecting.library().functions[index];
      for (const NodeId id : nodes.nodes()) use(function.name, function.body.bytes(id));
    }
  }

  static std::string as_lines(Model& model, Selecting& selecting, const Selection& selection) {
    std::string out;
    each(model, selecting, selection, [&](std::string_view function, std::string_view node_def) {
      out += selector_of(function, node_name(node_def));
      out += '\n';
    });
    return out;
  }

  static std::string as_json(Model& model, Selecting& selecting, const Selection& selection) {
    std::vector<std::pair<std::string, std::string>> nodes;
    each(model, selecting, selection, [&](std::string_view function, std::string_view node_def) {
      nodes.emplace_back(address(function, node_name(node_def)), node_op(node_def));
    });
    return nodes_json(nodes);
  }

  InputOptions input_;
  std::string selector_;
  bool json_ = false, quiet_ = false;
};

}  // namespace

CommandInfo select_command() {
  return {
      .summary = "prints what a selector hits",
      .synopsis = "FILE SELECTOR [-j] [-q]",
      .text = R"(
Prints the names of the nodes that SELECTOR hits, one a line, in the order of the file; nodes in functions
as FUNCTION//node, and in double quotes, as listings have it, what a selector would read as something else.
The output is a selector file: other commands take it as @FILE. Exit status 1 where nothing is hit.

Selectors, one grammar in every command:
)" + selectors_text(),
      .examples = R"(
gedit select dqn.meta 'var: & online/ & !**/Adam*'
gedit select model.meta '+logits & op:MatMul' > matmuls; gedit copy model.meta -s @matmuls --scope twin -o two.meta
)",
      .make = make_command<Select>,
  };
}

}  // namespace gedit
