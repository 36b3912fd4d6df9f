// gedit insert: a node behind a tensor, which everything that read the tensor reads instead.
//
// One place after the other: the main graph, then each function that is named. Where a place is edited, its
// nodes are looked at once: O(inputs).
#include "edit/edits.h"

#include <map>
#include <memory>

#include "base/error.h"
#include "edit/basis/addresses.h"
#include "edit/changing/insert_contexts.h"
#include "edit/changing/insert_outputs.h"
#include "edit/changing/insert_place.h"
#include "edit/changing/insert_readers.h"
#include "edit/changing/inserted_op.h"
#include "edit/changing/variable_reads.h"

namespace gedit {
namespace {

// All that happens at one place; it is decided when it is made, and throws before anything is changed.
class InsertingAt {
 public:
  InsertingAt(Model& model, std::unique_ptr<InsertPlace> place)
      : place_(std::move(place)),
        nodes_(place_->make_nodes()),
        readers_(*place_),
        outputs_(model, *place_),
        contexts_(*place_) {}

  void apply(Model& model, Changes& changes) {
    readers_.apply(changes);
    for (const std::string& node : nodes_) {
      changes.added.emplace_back(address(place_->function(), node_name(node)), node_op(node));
      place_->graph().append(node);
    }
    outputs_.apply(model, changes);
    contexts_.apply(model);
  }

 private:
  std::unique_ptr<InsertPlace> place_;
  std::vector<std::string> nodes_;
  InsertReaders readers_;
  InsertOutputs outputs_;
  InsertContexts contexts_;
};

}  // namespace

Changes insert(Model& model, Registry& ops, const InsertRequest& request) {
  const bool at_reads = !request.at_reads.empty();
  if (request.after.empty() && !at_reads)
    throw Error(Cause::kUsage, "behind which tensor?").hint("--after T,..");
  if (request.op.empty() && !at_reads) throw Error(Cause::kUsage, "which op?").hint("--op OP");
  const InsertedOp op(ops, request.op.empty() ? "StopGradient" : request.op, request.attrs);
  Graph& graph = model.graph();
  graph.decode();
  std::map<std::string, std::vector<std::string>, std::less<>> by_function;
  for (const std::string& written : request.after) {
    const bool of_signature = signature_tensor(model, written).has_value();
    by_function[of_signature ? "" : std::string(split_address(written).function)].push_back(written);
  }
  if (at_reads) by_function[""];
  Library library;
  if (by_function.size() > 1 || !by_function.contains(""))
    library = Library::decode(graph.part(graph_field::kLibrary), model.arena);
  const FunctionDefs functions = function_defs(graph.part(graph_field::kLibrary));
  Changes changes;
  std::vector<InsertingAt> places;
  for (const auto& [function, tensors] : by_function) {
    Graph& body = function.empty() ? graph : find_function(library, function).body;
    auto place = std::make_unique<InsertPlace>(model, ops, body, function, op, functions);
    for (const std::string& written : tensors)
      place->add_target(written, function.empty() ? written : split_address(written).rest);
    if (at_reads && function.empty()) {
      VariableReads found = reads_of_variables(*place->facts(), request.at_reads);
      for (const TensorRef& read : found.reads) place->add_read(read, false);
      for (const TensorRef& reference : found.directly) place->add_read(reference, true);
      changes.warnings = std::move(found.warnings);
    }
    places.emplace_back(model, std::move(place));
  }
  for (InsertingAt& place : places) place.apply(model, changes);
  if (!library.functions.empty()) graph.set_part(graph_field::kLibrary, library.encode());
  return changes;
}

}  // namespace gedit
