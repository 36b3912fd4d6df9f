// Functions that the main graph reaches are looked through once for who names whom; then the way is walked
// upwards, one caller at a time. O(nodes of the library) an exposed tensor.
#include "edit/functions/expose.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_set>

#include "base/error.h"
#include "base/first_free.h"
#include "base/message_edit.h"
#include "base/near.h"
#include "edit/basis/addresses.h"
#include "edit/functions/call_attributes.h"
#include "edit/functions/function_def.h"
#include "graph/function_names.h"
#include "graph/wiring.h"
#include "model/calls.h"
#include "ops/kinds.h"
#include "select/tensors.h"

namespace gedit {
namespace {

constexpr size_t kMain = FunctionUsers::kMainGraph;

// A call on the way from the main graph to the tensor.
struct Call : FunctionUsers::User {
  bool by_type;      // its op is the function's name
  uint32_t outputs;  // how many it has
};

// Whether the node's outputs are those of the function, so that one more of these is one more of those.
bool hands_on(std::string_view op, std::string_view function) {
  return is(op, OpKind::kCall) || op == function;
}

class Exposing {
 public:
  Exposing(Model& model, Registry& ops, Library& library, SavedObjects* objects, ExposedCopies& copies)
      : model_(model),
        graph_(model.graph()),
        arena_(model.arena),
        meta_(model.meta()),
        ops_(ops),
        library_(library),
        objects_(objects),
        copies_(copies),
        users_(graph_, library_) {
    reach_from_main();
  }

  Exposed run(std::string_view text, const NodeSet& preferred) {
    const Address place = split_address(text);
    std::string function(place.function);
    for (auto copy = copies_.find(function); copy != copies_.end(); copy = copies_.find(function))
      function = copy->second;
    const std::string written = address(function, place.rest);
    Function& innermost = find_function(library_, function);
    const auto start = static_cast<size_t>(&innermost - library_.functions.data());
    innermost.body.decode();
    const Names body_names(innermost.body);
    const Tensors tensors(model_, innermost.body, body_names, ops_, function);
    const TensorRef tensor = tensors.find(written);
    const std::string source = tensors.input_text(tensor);
    const std::string base(parse_body_input(source).node);
    exposed_.type = base_type(tensors.type(tensor));
    if (exposed_.type == DType::kInvalid)
      throw refused("unknown dtype").of(quoted("tensor", written)).hint("--ops FILE");
    exposed_.shape = tensors.shape(tensor);
    const std::vector<Call> way = find_way(start, written, preferred);

    // The original of a function that is copied calls what it called: that is copied, too.
    std::vector<bool> in_place(way.size());
    for (size_t step = way.size(); step-- > 0;) {
      const size_t at = step == 0 ? start : way[step - 1].function;
      in_place[step] = (step + 1 == way.size() || in_place[step + 1]) && alone(at, way[step]);
    }
    std::string output = fresh_output(start, base);
    size_t callee = own_version(start, in_place.front(), output, source, {});
    for (size_t step = 0; step + 1 < way.size(); ++step) {
      const Call& call = way[step];
      const std::string_view node_def = library_.functions[call.function].body.bytes(call.node);
      const std::string handed = call.by_type ? body_tensor_text(node_name(node_def), output)
                                              : body_tensor_text(node_name(node_def), "output", call.outputs);
      std::string changed = call_of(node_def, library_.functions[callee].name, call.by_type);
      output = fresh_output(call.function, base);
      callee =
          own_version(call.function, in_place[step + 1], output, handed, {{call.node, std::move(changed)}});
    }
    const Call& call = way.back();
    exposed_.call = call.node;
    exposed_.index = call.outputs;
    graph_.replace(call.node,
                   call_of(graph_.bytes(call.node), library_.functions[callee].name, call.by_type));
    return exposed_;
  }

 private:
  // Functions that nothing in the main graph leads to are for Python alone.
  void reach_from_main() {
    std::vector<std::vector<size_t>> callees(library_.functions.size());
    std::vector<size_t> open;
    reached_.resize(library_.functions.size());
    for (size_t callee = 0; callee < callees.size(); ++callee) {
      for (const FunctionUsers::User& user : users_.of(callee)) {
        if (user.function != kMain) {
          callees[user.function].push_back(callee);
        } else if (!reached_[callee]) {
          reached_[callee] = true;
          open.push_back(callee);
        }
      }
    }
    while (!open.empty()) {
      const size_t next = open.back();
      open.pop_back();
      for (const size_t callee : callees[next]) {
        if (reached_[callee]) continue;
        reached_[callee] = true;
        open.push_back(callee);
      }
    }
  }

  // The calls on the way from the function up to the main graph.
  std::vector<Call> find_way(size_t start, std::string_view written, const NodeSet& preferred) {
    const auto [entry, inside] = entry_of(start, written, preferred);
    std::vector<Call> way;
    std::unordered_set<size_t> seen;
    for (size_t at = start;;) {
      const std::string name(library_.functions[at].name);
      if (!seen.insert(at).second) throw refused("calls itself").of(quoted("function", name));
      std::vector<FunctionUsers::User> callers;
      for (const FunctionUsers::User& user : users_.of(at)) {
        const bool on_way = user.function == kMain ? user.node == entry : inside.contains(user.function);
        if (on_way) callers.push_back(user);
      }
      if (callers.size() != 1) {
        throw refused("is called " + std::to_string(callers.size()) + " times on the way to it")
            .of(quoted("function", name))
            .hint("the tensor stands for several values");
      }
      const FunctionUsers::User caller = callers.front();
      const Graph& graph = caller.function == kMain ? graph_ : library_.functions[caller.function].body;
      const std::string_view node_def = graph.bytes(caller.node), op = node_op(node_def);
      if (!hands_on(op, name)) {
        const std::string where = address(
            caller.function == kMain ? "" : library_.functions[caller.function].name, node_name(node_def));
        throw refused("is run by '" + printable(where) + "' (" + printable(op) +
                      "), which cannot hand an inner tensor on")
            .of(quoted("function", name));
      }
      way.push_back({caller, op == name, output_count(node_def)});
      if (caller.function == kMain) return way;
      at = caller.function;
    }
  }

  struct Entry {
    NodeId node;
    std::unordered_set<size_t> inside;  // functions that lie between it and the tensor's
  };

  // The node of the main graph that the way begins at.
  Entry entry_of(size_t start, std::string_view written, const NodeSet& preferred) const {
    std::unordered_set<size_t> above{start};
    std::vector<size_t> open{start};
    std::set<uint32_t> entries;
    while (!open.empty()) {
      const size_t at = open.back();
      open.pop_back();
      for (const FunctionUsers::User& user : users_.of(at)) {
        if (user.function == kMain) {
          entries.insert(index_of(user.node));
        } else if (reached_[user.function] && above.insert(user.function).second) {
          open.push_back(user.function);
        }
      }
    }
    if (entries.empty()) {
      Near near(library_.functions[start].name);
      for (size_t i = 0; i < library_.functions.size(); ++i) {
        if (reached_[i]) near.offer(library_.functions[i].name);
      }
      throw refused("nothing in the main graph calls it")
          .of(quoted("function", library_.functions[start].name))
          .hint(near.did_you_mean());
    }
    if (entries.size() > 1) {
      std::set<uint32_t> wanted;
      for (const uint32_t id : entries) {
        if (preferred.has(NodeId{id})) wanted.insert(id);
      }
      if (wanted.size() == 1) entries = wanted;
    }
    if (entries.size() > 1) {
      throw refused("is reached from " + std::to_string(entries.size()) + " nodes, '" +
                    printable(graph_.name(NodeId{*entries.begin()})) + "' and '" +
                    printable(graph_.name(NodeId{*std::next(entries.begin())})) + "' among them")
          .of(quoted("tensor", written))
          .hint("name outputs of one of them, too");
    }
    const NodeId node{*entries.begin()};
    // Of the functions above, those that this node leads to.
    std::unordered_set<size_t> inside;
    std::vector<size_t> down;
    users_.each_named(graph_.bytes(node), [&](size_t callee) {
      if (above.contains(callee) && inside.insert(callee).second) down.push_back(callee);
    });
    while (!down.empty()) {
      const Graph& body = library_.functions[down.back()].body;
      down.pop_back();
      for (uint32_t i = 0; i < body.size(); ++i) {
        users_.each_named(body.bytes(NodeId{i}), [&](size_t callee) {
          if (above.contains(callee) && inside.insert(callee).second) down.push_back(callee);
        });
      }
    }
    return {node, std::move(inside)};
  }

  uint32_t output_count(std::string_view node_def) {
    const auto types = output_types(ops_, node_def);
    if (!types) throw refused("its outputs are not known").of(quoted("node", node_name(node_def)));
    return static_cast<uint32_t>(types->size());
  }

  std::string call_of(std::string_view node_def, std::string_view function, bool by_type) const {
    std::string out = calling(node_def, function);
    if (!by_type) out = with_types(out, "Tout", {exposed_.type});
    if (const auto shapes = find_attr(out, "_output_shapes")) {
      const std::string more = with_each_field(*shapes, attr_field::kList, [&](std::string_view list) {
        std::string longer(list);
        append_bytes_field(longer, attr_field::kShape, shape_proto(exposed_.shape));
        return longer;
      });
      out = with_attr(out, "_output_shapes", more);
    }
    return out;
  }

  // A name for the new output that no output of the function, and no argument, has.
  std::string fresh_output(size_t function, std::string_view base) const {
    const OpDef signature = parse_op_def(function_signature(library_.functions[function].body));
    std::set<std::string, std::less<>> taken;
    for (const ArgDef& arg : signature.inputs) taken.emplace(arg.name);
    for (const ArgDef& arg : signature.outputs) taken.emplace(arg.name);
    return first_free(argument_name(base), [&](const std::string& name) { return taken.contains(name); });
  }

  using NodeChanges = std::vector<std::pair<NodeId, std::string>>;

  // The function with one output more, in place or as a copy.
  size_t own_version(size_t at, bool in_place, const std::string& output, const std::string& source,
                     const NodeChanges& changes) {
    const std::string name(library_.functions[at].name);
    Graph body = library_.functions[at].body;
    for (const auto& [id, node_def] : changes) body.replace(id, node_def);
    FunctionDef made(body);
    made.add_output(arg_def(output, exposed_.type), source);
    made.remove_alternatives();
    if (in_place) {
      for (Library::Item& item : library_.items) {
        if (item.field != library_field::kFunction || item.function != at) continue;
        Library one = Library::decode(arena_->keep(bytes_field(1, made.encode())), arena_);
        item.raw = one.items[0].raw;
        library_.functions[at] = std::move(one.functions[0]);
        library_.functions[at].body.decode();
      }
      define(at);
      return at;
    }
    const std::string fresh = free_function_name(library_, ops_, name + "_exposed");
    made.rename(fresh);
    library_.add(made.encode(), arena_);
    library_.functions.back().body.decode();
    copies_.emplace(name, fresh);
    define(library_.functions.size() - 1);
    // What the function captures tells which object a node of the main graph stands for (object_nodes.h).
    if (objects_ != nullptr) {
      if (const SavedObjects::Function* known = objects_->find_function(name);
          known != nullptr && !known->bound_inputs.empty()) {
        SavedObjects::Function copy;
        copy.name = fresh;
        copy.bound_inputs = known->bound_inputs;
        copy.input_signature = copy.output_signature = std::string("\x0a\x00", 2);  // none_value
        copy.changed = true;
        objects_->functions.push_back(std::move(copy));
      }
    }
    return library_.functions.size() - 1;
  }

  // Calls by the function's name have the outputs that it has now.
  void define(size_t at) {
    const Function& function = library_.functions[at];
    ops_.define(function.name, function_signature(function.body));
  }

  // Whether nothing but the call names the function.
  bool alone(size_t at, const Call& caller) const {
    const std::string_view name = library_.functions[at].name;
    for (const FunctionUsers::User& user : users_.of(at)) {
      if (user.function != caller.function || user.node != caller.node) return false;
    }
    // The object graph knows a copy for what it captures alone (own_version()).
    const bool copy =
        std::any_of(copies_.begin(), copies_.end(), [&](const auto& one) { return one.second == name; });
    if (copy) return true;
    if (objects_ != nullptr && objects_->find_function(name) != nullptr) return false;
    if (has_alias(meta_, name)) return false;
    bool gradient = false;
    each_function_named_by_gradients(library_,
                                     [&](std::string_view one) { gradient = gradient || one == name; });
    return !gradient;
  }

  const Model& model_;
  Graph& graph_;
  const std::shared_ptr<Arena>& arena_;
  const MetaGraph& meta_;
  Registry& ops_;
  Library& library_;
  SavedObjects* objects_;
  ExposedCopies& copies_;
  FunctionUsers users_;
  std::vector<bool> reached_;
  Exposed exposed_;
};

}  // namespace

Exposed expose(Model& model, Registry& ops, Library& library, SavedObjects* objects, std::string_view written,
               const NodeSet& preferred, ExposedCopies& copies) {
  return Exposing(model, ops, library, objects, copies).run(written, preferred);
}

}  // namespace gedit
