#include "edit/changing/freeze_warnings.h"

#include <algorithm>
#include <set>
#include <unordered_set>

#include "base/error.h"
#include "base/size.h"
#include "graph/library.h"
#include "graph/wiring.h"
#include "ops/kinds.h"

namespace gedit {
namespace {

// Where examples come from: a frozen graph is rarely meant to need them.
bool feeds_itself(std::string_view op) {
  return kinds_of(op).has_any(OpKind::kIterator | OpKind::kTakesFromIterator | OpKind::kQueue |
                              OpKind::kReader);
}

// Of an iterator, a queue or a reader, not what it holds.
bool is_handle(DType type) {
  return is_reference(type) || type == DType::kResource || type == DType::kVariant;
}

// The tensors by which examples come out of pipelines and into the rest: where a graph is cut from them.
std::vector<std::string> examples_of_pipelines(Facts& facts, const NodeSet& stays) {
  const Graph& graph = facts.graph();
  const auto gives_handle = [&](const TensorRef& tensor) {
    return is_handle(output_type(facts.ops, graph.bytes(tensor.node), tensor.index));
  };
  const auto each_read = [&](NodeId reader, auto use) {
    each_input(graph.bytes(reader), [&](std::string_view text) {
      const std::optional<TensorRef> read = tensor_if_there(facts.names(), text);
      if (read && !read->control && stays.has(read->node)) use(*read);
    });
  };
  // What reads a handle, QueueDequeue of a queue, is of the pipeline, too.
  NodeSet pipeline(graph.size());
  for (const NodeId id : stays.nodes()) {
    if (feeds_itself(graph.op(id))) pipeline.add(id);
    each_read(id, [&](const TensorRef& read) {
      if (feeds_itself(graph.op(read.node)) && gives_handle(read)) pipeline.add(id);
    });
  }
  std::set<std::pair<uint32_t, uint32_t>> found;
  for (const NodeId id : stays.nodes()) {
    if (pipeline.has(id)) continue;
    each_read(id, [&](const TensorRef& read) {
      if (pipeline.has(read.node) && !gives_handle(read)) found.emplace(index_of(read.node), read.index);
    });
  }
  std::vector<std::string> names;
  for (const auto& [node, output] : found) names.push_back(tensor_text(graph.name(NodeId{node}), output));
  return names;
}

}  // namespace

void warn_of_writers(const std::vector<std::string>& writers, Changes& changes) {
  if (writers.empty()) return;
  changes.warnings.push_back(counted(writers.size(), "writer") + " bypassed, first '" +
                             printable(writers.front()) + "'");
}

void warn_of_late_reads(const std::vector<LateRead>& reads, Changes& changes) {
  constexpr size_t kMostNamed = 8;
  if (reads.empty()) return;
  std::string text = reads.size() == 1 ? "a read gives" : counted(reads.size(), "read") + " give";
  text += " the checkpoint's value, not what was written before: ";
  for (size_t i = 0; i < reads.size() && i < kMostNamed; ++i) {
    if (i > 0) text += ", ";
    text += "'" + printable(reads[i].reader) + "' of '" + printable(reads[i].variable) + "' after '" +
            printable(reads[i].writer) + "'";
  }
  if (reads.size() > kMostNamed) text += ", ...";
  changes.warnings.push_back(text + "; hint: --keep " + printable(reads.front().variable));
}

void note_kept_along(const Graph& graph, const std::vector<NodeId>& variables, Changes& changes) {
  if (variables.empty()) return;
  changes.notes.push_back(
      counted(variables.size(), "variable") + (variables.size() == 1 ? " stays" : " stay") +
      " as a replica of one that is kept, first '" + printable(graph.name(variables.front())) + "'");
}

void note_asset_paths(const Graph& graph, const std::vector<NodeId>& variables, const NodeSet& stays,
                      Changes& changes) {
  for (const NodeId id : variables) {
    if (stays.has(id))
      changes.notes.push_back("variable '" + printable(graph.name(id)) +
                              "' stays: it holds the path of an asset, which a loader sets");
  }
}

void warn_of_input_pipelines(Facts& facts, const NodeSet& stays, Changes& changes) {
  constexpr size_t kMostNamed = 40;
  const Graph& graph = facts.graph();
  size_t feeding = 0;
  std::string first;
  for (const NodeId id : stays.nodes()) {
    if (feeds_itself(node_op(graph.bytes(id))) && feeding++ == 0)
      first = printable(graph.name(id)) + " (" + printable(node_op(graph.bytes(id))) + ")";
  }
  if (feeding == 0) return;
  const std::vector<std::string> examples = examples_of_pipelines(facts, stays);
  std::string names;
  for (size_t i = 0; i < examples.size() && i < kMostNamed; ++i)
    names += (i == 0 ? " " : ",") + printable(examples[i]);
  if (examples.size() > kMostNamed) names += " and " + std::to_string(examples.size() - kMostNamed) + " more";
  changes.warnings.push_back("the outputs still need " + counted(feeding, "node") +
                             " of an input pipeline, first " + first + "; hint: --inputs" + names);
}

void warn_of_empty_tables(Facts& facts, const NodeSet& kept, const NodeSet& stays, Changes& changes) {
  const Graph& graph = facts.graph();
  if (std::any_of(facts.state().begin(), facts.state().end(), [&](const auto& entry) {
        return kept.has(entry.second.node) && stays.has(entry.second.node);
      }))
    return;  // with a variable the saver stays, and so do they
  std::set<std::string> empty;
  std::string restorer;
  std::unordered_set<uint32_t> restores, restored;
  for (const SaverNode& restore : facts.savers().restores) {
    restores.insert(index_of(restore.node));
    for (const FilledState& filled : restore.filled) restored.insert(index_of(filled.state));
  }
  // What a saver's Restore fills it with comes from a checkpoint, too, though nodes that do it are left.
  const auto is_restored = [&](NodeId filler) {
    const auto sources = facts.producers().of(filler);
    return std::any_of(sources.begin(), sources.end(),
                       [&](NodeId source) { return restores.contains(index_of(source)); });
  };
  const auto is_mutable = [](std::string_view op) { return is(op, OpKind::kMutableTable); };
  const auto makers = functions_with(facts.selecting().library(), is_mutable);
  for (const auto& [index, state] : facts.state()) {
    const std::string_view node_def = graph.bytes(state.node);
    const bool mutates = is_mutable(node_op(node_def)) || makers.contains(called_function(node_def));
    if (!state.table || !mutates || !stays.has(state.node)) continue;
    const bool by_saver = restored.contains(index);
    // An op that only makes it leaves it empty.
    const auto fills_nothing = [&](NodeId filler) {
      return is_restored(filler) || (by_saver && !graph.is(filler, OpKind::kFillsState));
    };
    if (!std::all_of(state.satellites.begin(), state.satellites.end(), fills_nothing)) continue;
    empty.insert(std::string(graph.name(state.node)));
    for (const NodeId satellite : state.satellites) {
      if (stays.has(satellite) && is_restored(satellite)) restorer = std::string(graph.name(satellite));
    }
  }
  if (empty.empty()) return;
  changes.warnings.push_back(
      counted(empty.size(), "table") + (empty.size() == 1 ? " is" : " are") +
      " filled by a checkpoint alone and will be empty, first '" + printable(*empty.begin()) + "'" +
      (restorer.empty() ? "" : "; hint: run '" + printable(restorer) + "' when the graph is loaded"));
}

void note_tables_that_nothing_fills(const Facts& facts, const NodeSet& stays,
                                    const std::vector<std::string>& outputs,
                                    const std::function<bool(NodeId)>& keeps, Changes& changes) {
  const Graph& graph = facts.graph();
  std::set<std::string> unrun;
  std::string names;
  for (const auto& [initializer, owner] : facts.initializer_owner()) {
    const NodeId id{initializer};
    if (!stays.has(id) || !keeps(owner) || !facts.state().at(index_of(owner)).table) continue;
    const auto readers = facts.consumers().of(id);
    const bool run = std::any_of(readers.begin(), readers.end(), [&](NodeId reader) {
      return stays.has(reader) && is_no_op(node_op(graph.bytes(reader)));
    });
    const bool asked = std::any_of(outputs.begin(), outputs.end(), [&](const std::string& output) {
      return parse_input(output).node == graph.name(id);
    });
    if (!run && !asked) unrun.insert(std::string(graph.name(id)));
  }
  for (const std::string& name : unrun) names += (names.empty() ? "" : ", ") + printable(name);
  if (!names.empty()) changes.notes.push_back("no init op fills the tables any more: run " + names);
}

}  // namespace gedit
