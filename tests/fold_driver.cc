// Folds every node of a GraphDef that can be folded from constants alone, for tests/interop/fold.py:
//
//   fold_driver IN OUT
//
//   fold_driver --fold-bn IN OUT KEPT...
//
// The second folds batch norms into weights; the nodes KEPT keep what they give, to the last bits. Of the
// first OUT is a GraphDef of a Const `NODE/OUTPUT` for each output of a folded node. Standard output says of
// every other node that is no Const why not, a line each: `NODE: why`.
#include <cstdio>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/file.h"
#include "base/wire.h"
#include "fold/batch_norm.h"
#include "fold/fold.h"
#include "graph/node.h"

namespace {

using gedit::folding::ConstTensor;

std::string tensor_name(std::string_view node, uint32_t output) {
  std::string name(node);
  return name.append("/").append(std::to_string(output));
}

// The values of the data inputs; of what is not known none.
std::vector<ConstTensor> input_values(std::string_view node_def,
                                      const std::unordered_map<std::string, ConstTensor>& known) {
  std::vector<ConstTensor> values;
  gedit::each_input(node_def, [&](std::string_view text) {
    const gedit::Input input = gedit::parse_input(text);
    if (input.control) return;
    const auto found = known.find(tensor_name(input.node, input.index()));
    values.push_back(found == known.end() ? ConstTensor() : found->second);
  });
  return values;
}

std::string read(const char* path) {
  std::ifstream in(path, std::ios::binary);
  return std::string((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
}

int fold_batch_norms(const char* from, const char* to, const std::set<std::string, std::less<>>& kept) {
  const std::string message = read(from);
  gedit::Graph graph(message, 1, std::make_shared<gedit::Arena>());
  graph.decode();
  const gedit::Names names(graph);
  const gedit::Edges producers = gedit::producers(graph, names), consumers = gedit::reversed(producers);
  int made = 0;
  const auto found = gedit::folding::find_batch_norms(
      {graph, names, consumers, [&](gedit::NodeId id) { return kept.contains(graph.name(id)); },
       [&](std::string_view name) {
         return std::string(name).append("_folded_").append(std::to_string(made++));
       }});
  for (const auto& norm : found) {
    for (const auto& [id, node] : norm.replaced) graph.replace(id, node);
    for (const std::string& node : norm.added) graph.append(node);
    for (const gedit::NodeId id : norm.passed) graph.remove(id);
  }
  gedit::StringSink sink;
  graph.write(sink);
  std::ofstream(to, std::ios::binary) << sink.text;
  std::printf("%zu\n", found.size());
  return 0;
}

int run(const char* from, const char* to) {
  const std::string graph = read(from);
  gedit::Registry ops;
  ops.add_builtin();
  gedit::folding::NodeFolder folder(ops);
  std::unordered_map<std::string, ConstTensor> known;
  std::string folded;
  for (gedit::Fields fields(graph); fields.next();) {
    if (!fields->bytes(1)) continue;
    const std::string_view node = fields->value;
    const std::string name(gedit::node_name(node));
    if (gedit::node_op(node) == "Const") {
      if (const auto value = gedit::folding::const_value(node)) known.emplace(tensor_name(name, 0), *value);
      continue;
    }
    const auto outcome = folder.fold(node, input_values(node, known));
    if (!outcome.folded()) std::printf("%s: %s\n", name.c_str(), outcome.why.c_str());
    for (uint32_t i = 0; i < outcome.outputs.size(); ++i) {
      const std::string tensor = tensor_name(name, i);
      const std::string made =
          gedit::folding::const_node(gedit::NodeBuilder(tensor, "Const").take(), outcome.outputs[i]);
      if (gedit::folding::tensor_proto_of(outcome.outputs[i]).size() !=
          gedit::folding::tensor_proto_size(outcome.outputs[i])) {
        std::fprintf(stderr, "%s: another size than was said\n", tensor.c_str());
        return 1;
      }
      gedit::append_bytes_field(folded, 1, made);
      known.emplace(tensor, outcome.outputs[i]);
    }
  }
  std::ofstream(to, std::ios::binary) << folded;
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  if (count == 3) return run(arguments[1], arguments[2]);
  if (count > 3 && std::string_view(arguments[1]) == "--fold-bn")
    return fold_batch_norms(arguments[2], arguments[3], {arguments + 4, arguments + count});
  std::fputs("usage: fold_driver IN OUT\n", stderr);
  return 2;
}
