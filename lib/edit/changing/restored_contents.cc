#include "edit/changing/restored_contents.h"

#include "graph/library.h"
#include "graph/string_const.h"
#include "model/saver_calls.h"

namespace gedit {

std::vector<std::string> keys_of_restored_contents(const Facts& facts, const NodeSet& stays) {
  std::vector<std::string> keys;
  for (const SaverNode& restore : facts.savers().restores) {
    for (const SavedTensor& tensor : restore.tensors) {
      if (stays.has(restore.node) && tensor.variable == kNoNode) keys.push_back(tensor.key);
    }
  }
  const Library library = Library::decode(facts.graph().part(graph_field::kLibrary), facts.model.arena);
  FunctionReach reach(library);
  for (const NodeId call : saver_calls(facts.model.meta(), facts.names(), library)) {
    if (stays.has(call)) reach.calls_of(facts.graph().bytes(call));
  }
  reach.follow();
  for (size_t i = 0; i < library.functions.size(); ++i) {
    if (!reach.reached(i)) continue;
    library.functions[i].body.each_record([&](std::string_view node_def) {
      const auto strings = string_const(node_def);
      if (strings) keys.insert(keys.end(), strings->begin(), strings->end());
    });
  }
  return keys;
}

}  // namespace gedit
