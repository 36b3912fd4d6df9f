#include "edit/changing/variable_reads.h"

#include <algorithm>
#include <unordered_set>

#include "base/error.h"
#include "base/map_entry.h"
#include "edit/changing/insert_readers.h"
#include "edit/functions/handle_flow.h"
#include "graph/library.h"
#include "model/references.h"
#include "ops/kinds.h"

namespace gedit {
namespace {

class ReadsOfVariables {
 public:
  ReadsOfVariables(const Facts& facts, const std::string& selector)
      : facts_(facts),
        graph_(facts.graph()),
        saver_nodes_(nodes_of_savers(facts)),
        flow_(graph_, facts.ops,
              {[this](std::string_view name) { return readers(name); },
               [this](NodeId id) { return !saver_nodes_.has(id) && !initializes(id); },
               [this](std::string_view op) { return functions_.contains(op); }}) {
    for (const Function& function : facts_.selecting().library().functions) functions_.insert(function.name);
    find_given_out();
    for (const NodeId id : facts_.selecting().require(selector).nodes.nodes()) {
      if (is_variable_op(node_op(graph_.bytes(id)))) seed(id);
    }
    if (variables_ == 0) throw refused("hits no variable").of(quoted("selector", selector));
    flow_.run();
    for (const auto& [index, use] : flow_.users()) read_by_handle(NodeId{index}, use);
    for (const uint32_t index : flow_.value_readers()) read_of_reference(NodeId{index});
    std::ranges::sort(found_.reads, {}, [](const TensorRef& read) { return index_of(read.node); });
    if (found_.reads.empty() && found_.directly.empty()) refuse_unread(selector);
    if (!calls_.empty()) {
      found_.warnings.push_back(said_of_calls() +
                                ", where what reads them stays as it is; name those reads: --after FN//node");
    }
  }

  VariableReads take() { return std::move(found_); }

 private:
  std::vector<NodeId> readers(std::string_view name) const {
    const NodeId id = facts_.names().find(name);
    if (id == kNoNode) return {};
    const auto readers = facts_.consumers().of(id);
    return {readers.begin(), readers.end()};
  }

  bool initializes(NodeId id) const { return facts_.initializer_owner().contains(index_of(id)); }

  void seed(NodeId id) {
    ++variables_;
    Carried carried;
    carried.variable = graph_.name(id);
    carried.reference = !is_var_handle_op(node_op(graph_.bytes(id)));
    flow_.seed(carried.variable, carried);
  }

  // Signatures hand tensors out, too.
  void find_given_out() {
    for (const std::string_view bytes : facts_.model.meta().parts_of(meta_field::kSignature)) {
      each_name(map_entry(bytes).value, kSignatureDef,
                [&](const SchemaField& field, std::string_view name, int) {
                  if (field.kind == NameKind::kNode) given_out_.insert(node_of(name));
                });
    }
  }

  // Whether anybody wants it that would read the new node instead.
  bool wanted(NodeId id) const {
    if (given_out_.contains(graph_.name(id))) return true;
    return std::ranges::any_of(facts_.consumers().of(id), [&](NodeId reader) {
      if (saver_nodes_.has(reader) || initializes(reader)) return false;
      bool reads = false;
      each_input(graph_.bytes(reader), [&](std::string_view text) {
        const Input input = parse_input(text);
        reads = reads || (!input.control && input.node == graph_.name(id));
      });
      return reads;
    });
  }

  void add_read(NodeId id) {
    if (wanted(id)) found_.reads.push_back({.node = id});
  }

  void read_by_handle(NodeId id, Use use) {
    const std::string_view node_def = graph_.bytes(id), op = node_op(node_def);
    if (use == Use::kCall) {
      calls_.push_back(id);
    } else if (use == Use::kRead && !is(op, OpKind::kAsksInitialized) && find_attr(node_def, "dtype")) {
      add_read(id);  // others tell its shape
    }
  }

  void read_of_reference(NodeId id) {
    if (is_identity_op(node_op(graph_.bytes(id)))) return add_read(id);
    uint32_t slot = 0;
    const std::map<uint32_t, const Carried*> carried = flow_.carried_inputs(id);
    each_input(graph_.bytes(id), [&](std::string_view text) {
      if (carried.contains(slot++) && directly_.emplace(flow_.canonical(text)).second)
        found_.directly.push_back(*facts_.tensors().of_input(text));
    });
  }

  std::string said_of_calls() const {
    return (variables_ == 1 ? "the variable goes" : "variables go") + std::string(" into functions at ") +
           (calls_.size() == 1 ? "node" : std::to_string(calls_.size()) + " nodes, first") + " '" +
           printable(graph_.name(calls_.front())) + "'";
  }

  void refuse_unread(const std::string& selector) const {
    if (calls_.empty()) throw refused("nothing reads what it hits").of(quoted("selector", selector));
    throw refused(said_of_calls() + ", which alone read")
        .of(quoted("selector", selector))
        .hint("--after FN//node");
  }

  const Facts& facts_;
  const Graph& graph_;
  const NodeSet saver_nodes_;
  HandleFlow flow_;
  std::unordered_set<std::string_view> functions_, given_out_;
  std::unordered_set<std::string> directly_;
  std::vector<NodeId> calls_;
  size_t variables_ = 0;
  VariableReads found_;
};

}  // namespace

VariableReads reads_of_variables(const Facts& facts, const std::string& selector) {
  return ReadsOfVariables(facts, selector).take();
}

}  // namespace gedit
