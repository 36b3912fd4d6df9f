// gedit copy: a network once more under a new scope, with variables, savers, initializers and contexts of its
// own.
//
// The copies are the originals' bytes written through a mapping (copying/mapping.h); what is added besides is
// a handful of new nodes (Placeholders, StopGradients, restore operations) and longer lists in the savers,
// init groups and collections.
#include "edit/edits.h"

#include <algorithm>

#include "edit/basis/addresses.h"
#include "edit/basis/branches.h"
#include "edit/copying/around.h"
#include "edit/copying/describe.h"
#include "edit/copying/input_map.h"
#include "edit/copying/mapping.h"
#include "edit/copying/new_inputs.h"
#include "edit/copying/objects.h"
#include "edit/copying/savers.h"
#include "edit/copying/selection.h"

namespace gedit {
namespace {

class Copying {
 public:
  Copying(Model& model, Registry& ops, CopyRequest request, std::string_view function)
      : request_(std::move(request)),
        facts_(model, ops, function),
        selection_(select_for_copy(facts_, request_)),
        mapping_(facts_, selection_, request_) {}

  // Decides everything; throws before anything is changed.
  void decide() {
    facts_.make_all();
    mapping_.check_names();
    copies_ = selection_.nodes.nodes();
    note_other_scope();
    const CopyReads reads{facts_, selection_, mapping_, copies_};
    CopyInputMap input_map(reads);
    input_map.apply(result_.inputs, result_.warnings);
    if (request_.placeholders) {
      add_placeholders(reads, request_, result_, new_nodes_);
      check_branches(facts_, selection_.nodes, [&](const TensorRef& tensor) -> std::optional<TensorRef> {
        if (tensor.control || mapping_.copied(tensor.node) || selection_.shared.has(tensor.node) ||
            input_map.maps(tensor))
          return std::nullopt;
        return kOutsideOfConds;
      });
    }
    stop_gradients(reads, request_, result_, new_nodes_);
    input_map.drop_stale_shapes();
    note_held();
    describe(reads, request_, result_);
  }

  // Names of the scope alone are written without it; where none is, another scope was meant.
  void note_other_scope() {
    const auto inside = [&](NodeId id) { return in_scope(facts_.graph().name(id), request_.from_scope); };
    if (request_.from_scope.empty() || std::ranges::any_of(copies_, inside)) return;
    result_.notes.push_back("nothing that is copied lies in '" + printable(request_.from_scope) +
                            "/': all of it keeps its name below '" + printable(request_.scope) + "/'");
  }

  void note_held() {
    const std::vector<NodeId> held = mapping_.hold_devices().nodes();
    if (held.empty()) return;
    result_.notes.push_back(
        std::to_string(held.size()) + (held.size() == 1 ? " copy" : " copies") + ", first of '" +
        printable(facts_.graph().name(held[0])) +
        "', keep their device: what they share by reference or handle is not copied, and runs there");
  }

  // Changes the model; `mapping` is this object's, and keeps it alive until the graph is written.
  CopyChanges apply(std::shared_ptr<const Mapping> mapping) {
    Graph& graph = facts_.edited();
    graph.append_mapped(copies_, std::move(mapping));
    for (const std::string& node : new_nodes_) graph.append(node);
    if (facts_.in_body()) {
      result_.function = facts_.tensors().function();
      list_added();
      facts_.model.graph().set_part(graph_field::kLibrary, facts_.selecting().library().encode());
      // It is written: the body lets go of the mapping, which is this object's and would keep it for ever.
      graph = Graph(graph.message(), function_field::kNode, graph.arena());
      return std::move(result_);
    }
    extend_init_groups(facts_, mapping_, result_);
    extend_collections(facts_, mapping_, result_);
    extend_main_op(facts_, mapping_, result_);
    extend_savers(facts_, mapping_, request_.values, result_);
    extend_objects(facts_, mapping_, result_);
    list_added();
    return std::move(result_);
  }

  const CopyMapping& mapping() const { return mapping_; }

 private:
  void list_added() {
    if (!request_.want_names) return;
    const Graph& graph = facts_.graph();
    uint32_t number = 0;
    graph.each_node([&](std::string_view node_def) {
      if (number++ >= graph.decoded_count())
        result_.added.emplace_back(address(facts_.tensors().function(), node_name(node_def)),
                                   node_op(node_def));
    });
  }

  const CopyRequest request_;
  Facts facts_;
  CopySelection selection_;
  CopyMapping mapping_;
  CopyChanges result_;
  std::vector<NodeId> copies_;
  std::vector<std::string> new_nodes_;  // Placeholders and StopGradients
};

}  // namespace

CopyChanges copy(Model& model, Registry& ops, const CopyRequest& request) {
  check(request);
  model.graph().decode();
  const std::string function = function_of(model, ops, request);
  const auto copying =
      std::make_shared<Copying>(model, ops, function.empty() ? request : within(request, function), function);
  copying->decide();
  return copying->apply(std::shared_ptr<const Mapping>(copying, &copying->mapping()));
}

}  // namespace gedit
