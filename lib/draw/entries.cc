#include "draw/entries.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "graph/function_names.h"
#include "graph/names.h"
#include "graph/node.h"
#include "model/collections.h"
#include "model/summary.h"

namespace gedit {
namespace {

constexpr size_t kNoFunction = SIZE_MAX;

class EntrySearch {
 public:
  EntrySearch(const Model& model, Library& library)
      : graph_(model.graph()), names_(graph_), library_(library) {
    for (size_t i = 0; i < library.functions.size(); ++i) by_name_.emplace(library.functions[i].name, i);
  }

  // The function that makes the tensor of the main graph, or kNoFunction.
  size_t behind(std::string_view tensor) const {
    std::string_view name = node_of(tensor);
    for (uint32_t steps = 0; steps < graph_.size(); ++steps) {
      const NodeId id = names_.find(name);
      if (id == kNoNode) return kNoFunction;
      if (!graph_.is(id, OpKind::kIdentity)) return callee(graph_.bytes(id));
      std::string_view read;
      each_input(graph_.bytes(id), [&](std::string_view input) {
        if (read.empty()) read = input;
      });
      if (read.empty()) return kNoFunction;
      name = node_of(read);
    }
    return kNoFunction;
  }

  // What the function calls, where that is all it does.
  size_t wrapped(size_t function) {
    Graph& body = library_.functions[function].body;
    body.decode();
    size_t found = kNoFunction;
    for (uint32_t i = 0; i < body.size(); ++i) {
      const NodeId id{i};
      if (body.is(id, OpKind::kIdentity) || body.is(id, OpKind::kNoOp) || body.is(id, OpKind::kConst))
        continue;
      const size_t called = callee(body.bytes(id));
      if (called == kNoFunction || found != kNoFunction) return kNoFunction;
      found = called;
    }
    return found;
  }

 private:
  size_t callee(std::string_view node_def) const {
    const auto found = by_name_.find(called_function(node_def));
    return found == by_name_.end() ? kNoFunction : found->second;
  }

  const Graph& graph_;
  Names names_;
  Library& library_;
  std::unordered_map<std::string_view, size_t> by_name_;
};

}  // namespace

std::vector<size_t> entry_functions(const Model& model, Library& library) {
  std::vector<size_t> found;
  if (library.functions.empty()) return found;
  std::vector<SignatureSummary> signatures = list_signatures(model.meta());
  std::stable_partition(signatures.begin(), signatures.end(),
                        [](const SignatureSummary& one) { return one.key == "serving_default"; });
  EntrySearch entries(model, library);
  for (const SignatureSummary& signature : signatures) {
    for (const auto& [key, output] : signature.outputs) {
      size_t function = entries.behind(output.tensor);
      if (function == kNoFunction) continue;
      // Functions that call each other in a ring are left where the ring was entered.
      for (size_t steps = 0; steps < library.functions.size(); ++steps) {
        const size_t inner = entries.wrapped(function);
        if (inner == kNoFunction) break;
        function = inner;
      }
      if (std::find(found.begin(), found.end(), function) == found.end()) found.push_back(function);
    }
  }
  return found;
}

}  // namespace gedit
