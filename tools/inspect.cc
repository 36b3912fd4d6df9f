// gedit inspect: what is in a file.
#include "base/size.h"
#include "checkpoint/list.h"
#include "checkpoint/open.h"
#include "checkpoint/state.h"
#include "cli/json.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "commands.h"
#include "edit/retargeting/retarget.h"
#include "inspect/describe.h"
#include "model/operand.h"
#include "model/summary.h"
#include "shape/summary_shapes.h"

namespace gedit {
namespace {

class Inspect final : public Command {
 public:
  void setup(CommandLine& line) override {
    input_.setup(line);
    color_.setup(line);
    line.add_option("--depth", depth_, "Also a table of the scopes, N levels deep, largest first")
        ->type_name("N")
        ->within(0, 1000);
    line.add_flag("-j,--json", json_, "JSON");
  }

  int run() override {
    if (names_checkpoint_state(input_.path())) return state();
    if (names_checkpoint(input_.path())) return checkpoint();
    input_.without_graph = true;
    Model model = input_.load();
    std::vector<GraphSummary> summaries;
    with_file(model, [&] {
      const Progress looking("looking at " + model.path);
      for (size_t i = 0; i < model.meta_graphs.size(); ++i) {
        if (input_.tag_set_given() && i != model.selected) continue;
        Registry ops = input_.registry(model, i);
        Graph& graph = model.meta_graphs[i].graph;
        graph.decode();
        const GraphIndex index(graph);
        summaries.push_back(summarize(model, i, ops, index, depth_));
        add_inferred_shapes(index, ops, summaries.back());
        const RunsOn runs = runs_on(model, i, ops);
        summaries.back().runs_from = runs.from;
        summaries.back().runs_to = runs.to;
        summaries.back().runs_because = runs.because;
        summaries.back().retargeted_from = runs.retargeted_from;
      }
    });
    print(json_ ? model_json(model, summaries, depth_ > 0) : as_text(model, summaries));
    return 0;
  }

 private:
  int state() const {
    const std::string& path = input_.path();
    const CheckpointState state = parse_state(InputFile::open(path)->bytes(), path);
    if (json_) {
      print(checkpoint_state_json(path, state));
      return 0;
    }
    LabelledText text(color_.on());
    const auto line = [](const std::string& prefix) { return std::vector<std::string>{printable(prefix)}; };
    text.table("latest", {line(state.latest)});
    std::vector<std::vector<std::string>> all;
    for (const std::string& prefix : state.all) all.push_back(line(prefix));
    text.table("all", all);
    print(printable(path) + ": CheckpointState\n" + text.take());
    return 0;
  }

  int checkpoint() const {
    std::vector<std::string> warnings;
    const Checkpoint checkpoint = open_checkpoint(input_.path(), &warnings);
    for (const std::string& warning : warnings) say_warning(warning);
    if (json_) {
      OutputFile out("-", true);
      list_json(checkpoint, std::vector<bool>(checkpoint.tensors.size(), true), out);
      out.commit();
      return 0;
    }
    const size_t shards = checkpoint.shards.size();
    print(printable(checkpoint.prefix) + ": Checkpoint, V" + std::to_string(checkpoint.version) + ", " +
          count_text(shards, "shard") + "\n" + describe(checkpoint, depth_, color_.on()));
    return 0;
  }

  std::string as_text(const Model& model, const std::vector<GraphSummary>& summaries) const {
    std::string out;
    for (const GraphSummary& summary : summaries) {
      out += subject(model) + std::string(kind_word(model.kind));
      if (model.kind == Kind::kSavedModel) {
        out += " {";
        for (size_t i = 0; i < summary.tags.size(); ++i)
          out += (i > 0 ? "," : "") + printable(summary.tags[i]);
        out += "}";
      }
      if (!summary.tensorflow_version.empty()) out += ", TensorFlow " + printable(summary.tensorflow_version);
      if (summary.producer > 0) out += ", producer " + std::to_string(summary.producer);
      out += ", " + size_text(model.events ? model.message.size() : model.file->bytes().size()) + "\n";
      out += describe(summary, color_.on());
    }
    if (summaries.empty()) out += subject(model) + "no graph\n";
    return out;
  }

  static std::string subject(const Model& model) {
    std::string words = printable(model.path == "-" ? "(standard input)" : model.path) + ": ";
    if (!model.events) return words;
    words += "Events, " + count_text(*model.events, "event");
    if (model.cut) words += " and one cut short";
    return words + ", " + size_text(model.file->bytes().size()) + ", ";
  }

  InputOptions input_;
  ColorOption color_;
  uint32_t depth_ = 0;
  bool json_ = false;
};

}  // namespace

CommandInfo inspect_command() {
  return {
      .summary = "tells what is in a file",
      .synopsis = "FILE [--depth N] [-j]",
      .text = R"(
Tells the kind of FILE, its nodes, functions, likely inputs and outputs with the reason for each, variables
with their checkpoint keys, collections, savers, signatures and assets. Weights are never read. Inputs are
placeholders, those of a signature first, and what iterators and queues give; outputs are those of signatures,
then logits, predictions and losses, found by the gradients and by their names, then what nobody reads. Shapes
that the file does not say follow from the graph, as does the largest activation, up to 100,000 nodes. Of an event file: how many events there are, and the last graph. Of a checkpoint (a prefix, a
directory, any of its files): types, elements, bytes and the largest tensors, as JSON what gedit checkpoint
list -j prints; of a state file: what it names.

docs/inspect.schema.json is the JSON Schema of what -j prints.
)",
      .examples = R"(
gedit inspect dqn.meta
gedit inspect saved_model/ -j | jq '.meta_graphs[0].signatures'
)",
      .make = make_command<Inspect>,
  };
}

}  // namespace gedit
