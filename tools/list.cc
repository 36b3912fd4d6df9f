// gedit list: one node a line.
#include <algorithm>

#include "base/parallel.h"
#include "cli/json.h"
#include "cli/options.h"
#include "commands.h"
#include "graph/library.h"
#include "graph/listing.h"
#include "model/listing.h"
#include "select/selection.h"

namespace gedit {
namespace {

class List final : public Command {
 public:
  void setup(CommandLine& line) override {
    input_.setup(line);
    line.add_option("SELECTOR", selector_, "Only the nodes that this hits");
    line.add_flag("--full", full_, "Write long tensors, too");
    line.add_flag("-j,--json", json_, "One JSON object a line, attribute values in protobuf's JSON");
  }

  int run() override {
    Model model = selector_.empty() && !json_ ? input_.load() : input_.load_one();
    return with_file(model, [&] {
      OutputFile out("-", true);
      if (selector_.empty() && !json_) {
        print_listing(model.kind, model.message, full_, out);
        out.commit();
        return 0;
      }
      const int status = nodes(model, out);
      out.commit();
      return status;
    });
  }

 private:
  int nodes(Model& model, Sink& out) {
    if (selector_.empty()) {
      all_nodes(model.graph(), out);
      return 0;
    }
    Registry ops = input_.registry(model);
    Selecting selecting(model, ops);
    const Selection selection = selecting.evaluate(parse_selector(selector_));
    if (selection.empty()) {
      if (selector_ == "**") return 0;
      say_note(selecting.nothing(selector_).what());
      return 1;
    }
    NodeLister lister(full_);
    for (const NodeId id : selection.nodes.nodes()) write("", model.graph().bytes(id), lister, out);
    for (const auto& [index, set] : selection.in_functions) {
      const Function& function = selecting.library().functions[index];
      for (const NodeId id : set.nodes())
        write(std::string(function.name) + "//", function.body.bytes(id), lister, out);
    }
    return 0;
  }

  void all_nodes(Graph& graph, Sink& out) const {
    graph.decode();
    pieces_in_order(
        pieces_of(graph.size()),
        [&](size_t piece, std::string& text) {
          const PieceRange nodes = piece_range(piece, graph.size());
          NodeLister lister(full_);
          for (uint32_t i = nodes.begin; i < nodes.end; ++i) print(text, "", graph.bytes(NodeId{i}), lister);
        },
        [&](std::string_view text) { out.write(text); });
  }

  void write(const std::string& prefix, std::string_view node_def, NodeLister& lister, Sink& out) const {
    std::string line;
    print(line, prefix, node_def, lister);
    out.write(line);
  }

  void print(std::string& text, const std::string& prefix, std::string_view node_def,
             NodeLister& lister) const {
    if (json_) {
      text += node_json(prefix, node_def, full_);
    } else {
      text += prefix;
      lister.print(text, node_def);
    }
    text += '\n';
  }

  InputOptions input_;
  std::string selector_;
  bool full_ = false, json_ = false;
};

}  // namespace

CommandInfo list_command() {
  return {
      .summary = "writes one node a line",
      .synopsis = "FILE [SELECTOR] [--full] [-j]",
      .text = R"(
Writes the listing (.gtxt): everything that the file holds, one node a line, or only the lines of the nodes
that SELECTOR hits. Tensors of more than 64 elements or 1 KiB are elided, as their length and checksum,
unless --full is given. A listing is an input like any other: edit it, and gedit convert makes a graph of it
again. Exit status 1 where SELECTOR hits nothing.
)",
      .examples = R"(
gedit list dqn.meta 'online/h1/MatMul, op:Placeholder'
gedit list m.pb > m.gtxt; $EDITOR m.gtxt; gedit convert m.gtxt --tensors-from m.pb -o m2.pb
)",
      .make = make_command<List>,
  };
}

}  // namespace gedit
