// gedit signature: shows signatures. What changes them is in signature/.
#include <algorithm>

#include "base/error.h"
#include "cli/json.h"
#include "cli/options.h"
#include "cli/text.h"
#include "commands.h"

namespace gedit {
namespace {

class Signature final : public Command {
 public:
  void setup(CommandLine& line) override {
    input_.setup(line);
    line.add_flag("-j,--json", json_, "JSON");
  }

  int run() override {
    const Model model = input_.load();
    std::vector<SignaturesOfGraph> graphs;
    for (size_t i = 0; i < model.meta_graphs.size(); ++i) {
      if (input_.tag_set_given() && i != model.selected) continue;
      const MetaGraph& meta = model.meta_graphs[i];
      SignaturesOfGraph graph;
      for (const std::string_view tag : tags(meta)) graph.tags.emplace_back(tag);
      graph.signatures = with_file(model, [&] { return list_signatures(meta); });
      graphs.push_back(std::move(graph));
    }
    print(json_ ? signatures_json(model, graphs) : as_text(graphs, model.meta_graphs.size() > 1));
    return 0;
  }

 private:
  static std::string as_text(const std::vector<SignaturesOfGraph>& graphs, bool several) {
    std::string text;
    for (const SignaturesOfGraph& graph : graphs) {
      std::string set;
      for (const std::string& tag : graph.tags) set += (set.empty() ? "" : ",") + printable(tag);
      if (several) text += "{" + set + "}\n";
      text += describe(graph.signatures);
    }
    return text;
  }

  static std::string describe(const std::vector<SignatureSummary>& signatures) {
    if (signatures.empty()) return "no signatures\n";
    std::string text;
    for (const SignatureSummary& signature : signatures) {
      text += printable(signature.key) + "  " + printable(signature.method) + "\n";
      size_t name_width = 0, type_width = 0;
      const auto each = [&](const auto& use) {
        for (const auto& [name, tensor] : signature.inputs) use("input", name, tensor);
        for (const auto& [name, tensor] : signature.outputs) use("output", name, tensor);
      };
      each([&](const char*, const std::string& name, const TensorSummary& tensor) {
        name_width = std::max(name_width, printable(name).size());
        type_width = std::max(type_width, type_text(tensor.dtype, tensor.shape).size());
      });
      each([&](const char* side, const std::string& name, const TensorSummary& tensor) {
        text += "  " + padded(side, 6) + "  " + padded(printable(name), name_width) + "  " +
                padded(type_text(tensor.dtype, tensor.shape), type_width) + "  " + printable(tensor.tensor);
        while (text.ends_with(' ')) text.pop_back();
        text += '\n';
      });
    }
    return text;
  }

  InputOptions input_;
  bool json_ = false;
};

}  // namespace

CommandInfo signature_command() {
  return {
      .summary = "shows, adds, renames and removes signatures",
      .synopsis = "FILE [-j]",
      .text = R"(
Shows the signatures with their tensors. (A file named add: ./add.)
)",
      .examples = R"(
gedit signature model/
gedit signature add frozen.pb serving_default --inputs image=input --outputs prob=softmax -o 1/
gedit signature rename m/ 'serving_default.outputs[output_1]=scores' -o m2/
gedit signature remove m/ train -i
)",
      .make = make_command<Signature>,
  };
}

}  // namespace gedit
