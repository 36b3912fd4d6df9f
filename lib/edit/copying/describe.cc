#include "edit/copying/describe.h"

#include "base/error.h"
#include "edit/basis/addresses.h"
#include "edit/basis/unfilled.h"
#include "model/saver_def.h"
#include "model/savers.h"
#include "ops/kinds.h"

namespace gedit {
namespace {

// A function that owns a variable or a table is state that original and copy share.
void warn_of_state_in_functions(const CopyReads& reads, std::vector<std::string>& warnings) {
  Library& library = reads.facts.selecting().library();
  if (library.functions.empty()) return;
  FunctionReach reach(library);
  for (const NodeId id : reads.copies) reach.calls_of(reads.facts.graph().bytes(id));
  reach.follow();
  std::string first;
  size_t count = 0;
  for (size_t i = 0; i < library.functions.size(); ++i) {
    if (!reach.reached(i)) continue;
    bool owns = false;
    library.functions[i].body.each_record([&](std::string_view node_def) {
      owns = owns || is_var_handle_op(node_op(node_def)) || is_table_op(node_op(node_def));
    });
    if (owns && count++ == 0) first = library.functions[i].name;
  }
  if (count > 0) {
    warnings.push_back("function '" + printable(first) +
                       "' holds state of its own, which original and copy share");
  }
}

void warn_of_unfilled(const CopyReads& reads, std::vector<std::string>& warnings) {
  // What is restored a saver does for the copy, too.
  const std::unordered_set<uint32_t> restored = restore_ends(reads.facts.savers());
  const auto copied = [&](NodeId id) { return reads.mapping.copied(id) || restored.contains(index_of(id)); };
  for (const Unfilled& holder : unfilled(reads.facts, reads.copies, copied)) {
    warnings.push_back("nothing fills the copy of " + holder.what() + ": what reads it " +
                       std::string(holder.outcome) + "; hint: --share '" + printable(holder.first) +
                       "', or copy '" + printable(holder.filler) + "', too");
  }
}

}  // namespace

void describe(const CopyReads& reads, const CopyRequest& request, CopyChanges& result) {
  size_t py_funcs = 0;
  const Graph& graph = reads.facts.graph();
  const std::string& function = reads.facts.tensors().function();
  const Savers& savers = reads.facts.savers();
  const SaverDefNodes def =
      saver_def_nodes(reads.facts.model.meta().part(meta_field::kSaver), reads.facts.names());
  const NodeSet main = main_saver_nodes(graph, reads.facts.producers(), savers, {def.save, def.restore});
  const auto keys = variable_keys(savers, &main), other_keys = variable_keys(savers);
  for (const NodeId id : reads.copies) {
    if (request.want_names)
      result.nodes[address(function, graph.name(id))] = address(function, reads.copy_name(id));
    const OpKinds op = graph.kinds(id);
    if (op.has(OpKind::kVariable) && !reads.facts.in_body()) {
      result.variables[std::string(graph.name(id))] = reads.copy_name(id);
      const auto key = keys.find(index_of(id));
      if (key != keys.end()) result.values[std::string(key->second)] = reads.mapping.scope().of(key->second);
      if (key == keys.end() && other_keys.contains(index_of(id))) {
        const std::string other(other_keys.at(index_of(id)));
        result.other_values[other] = reads.mapping.scope().of(other);
      }
      if (key == keys.end() && savers.empty() && !reads.facts.model.meta().has(meta_field::kObjectGraph))
        result.values[std::string(graph.name(id))] = reads.copy_name(id);
    }
    if (op.has(OpKind::kPython)) ++py_funcs;
  }
  for (const std::string& output : request.outputs) {
    const TensorRef tensor = reads.facts.tensors().find(output);
    result.outputs.emplace(reads.text(tensor),
                           reads.facts.in_body()
                               ? address(function, tensor_text(reads.copy_name(tensor.node), tensor.index))
                               : reads.mapping.source_of(tensor));
  }
  for (const auto& [from, to] : reads.mapping.frames()) result.frames[from] = to;
  if (py_funcs > 0) {
    result.warnings.push_back(std::to_string(py_funcs) +
                              " PyFunc nodes copied: both call the same Python function, which only the "
                              "process that built the graph has");
  }
  warn_of_state_in_functions(reads, result.warnings);
  warn_of_unfilled(reads, result.warnings);
}

}  // namespace gedit
