// Functions that the main graph reaches are looked through once for who names whom; then a way is walked
// upwards, one caller at a time.
#include "edit/functions/expose.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>

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

// Whether the node's outputs are those of the function, so that one more of these is one more of those.
bool hands_on(std::string_view op, std::string_view function) {
  return is(op, OpKind::kCall) || op == function;
}

}  // namespace

class Exposing::Ways {
 public:
  Ways(Model& model, Registry& ops, Library& library, SavedObjects* objects)
      : model_(model),
        graph_(model.graph()),
        ops_(ops),
        library_(library),
        objects_(objects),
        users_(graph_, library_),
        named_around_(aliased_functions(model.meta())) {
    reach_from_main();
    each_function_named_by_gradients(library_, [&](std::string_view name) { named_around_.insert(name); });
  }

  Exposed expose(std::string_view text, const NodeSet& preferred) {
    const Address place = split_address(text);
    const Function& innermost = find_function(library_, place.function);
    const auto start = static_cast<size_t>(&innermost - library_.functions.data());
    const Tensors& tensors = tensors_of(start);
    const TensorRef tensor = tensors.find(text);
    std::string source = tensors.input_text(tensor);
    const std::string base = argument_name(parse_body_input(source).node);
    Exposed exposed;
    exposed.type = base_type(tensors.type(tensor));
    if (exposed.type == DType::kInvalid)
      throw refused("unknown dtype").of(quoted("tensor", text)).hint("--ops FILE");
    exposed.shape = tensors.shape(tensor);
    for (Version* version = version_of(start, text, preferred); version != nullptr;
         version = version->caller) {
      const Call& call = version->call;
      exposed.call = call.node;
      exposed.index = call.outputs + static_cast<uint32_t>(version->outputs.size());
      const std::string name = version->fresh_output(base);
      version->outputs.push_back({name, std::move(source), exposed.type, exposed.shape});
      source = call.by_type ? body_tensor_text(call.name, name)
                            : body_tensor_text(call.name, "output", exposed.index);
    }
    return exposed;
  }

  void store() {
    std::vector<Library::Item*> items(library_.functions.size());
    for (Library::Item& item : library_.items) {
      if (item.field == library_field::kFunction) items[item.function] = &item;
    }
    std::vector<std::string> copies;
    for (const auto& version : versions_) {
      std::string function_def = encoded(*version);
      if (version->in_place) {
        Library one = Library::decode(model_.arena->keep(bytes_field(library_field::kFunction, function_def)),
                                      model_.arena);
        items[version->function]->raw = one.items[0].raw;
        library_.functions[version->function] = std::move(one.functions[0]);
        define(library_.functions[version->function]);
      } else {
        copies.push_back(std::move(function_def));
        if (objects_ != nullptr) add_copied_object(*version);
      }
      if (version->call.function == kMain)
        graph_.replace(version->call.node, call_of(graph_.bytes(version->call.node), *version));
    }
    for (const std::string& function_def : copies) define(library_.add(function_def, model_.arena));
  }

 private:
  // A call on the way from the main graph to the tensor.
  struct Call : FunctionUsers::User {
    std::string_view name;  // of the node
    bool by_type;           // its op is the function's name
    uint32_t outputs;       // how many it has
  };

  // A function as one call on a way has it: with outputs more, in its own place or as a copy.
  struct Version {
    struct Output {
      std::string name, source;  // the source as a node of the body reads it
      DType type;
      Shape shape;
    };
    size_t function;
    Call call;
    Version* caller;  // null: the main graph
    bool in_place;
    std::string name;
    std::vector<Output> outputs{};            // behind those that it had
    std::vector<const Version*> callees{};    // by calls in its body
    std::unordered_set<std::string> taken{};  // names of arguments and outputs
    FreeNames free_names{};

    // A name for the new output that no output of the function, and no argument, has.
    std::string fresh_output(const std::string& base) {
      std::string fresh = free_names.first(base, [&](const std::string& one) { return taken.contains(one); });
      taken.insert(fresh);
      return fresh;
    }
  };

  // The tensors of a function's body, by name.
  struct Inside {
    Inside(const Model& model, const Function& function, Registry& ops)
        : names(function.body), tensors(model, function.body, names, ops, function.name) {}
    Names names;
    Tensors tensors;
  };

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

  const Tensors& tensors_of(size_t function) {
    std::unique_ptr<Inside>& inside = insides_[function];
    if (inside == nullptr) inside = std::make_unique<Inside>(model_, library_.functions[function], ops_);
    return inside->tensors;
  }

  // The function as it is on the way to the main graph, which is the same for all tensors of it.
  Version* version_of(size_t start, std::string_view written, const NodeSet& preferred) {
    if (const auto known = version_of_.find(start); known != version_of_.end()) return known->second;
    const std::vector<Call> calls = find_way(start, written, preferred);
    // The original of a function that is copied calls what it called: that is copied, too.
    std::vector<std::unique_ptr<Version>> made;
    Version* caller = nullptr;
    for (size_t step = calls.size(); step-- > 0;) {
      Version*& version = by_call_[{caller, index_of(calls[step].node)}];
      if (version == nullptr) {
        const size_t function = step == 0 ? start : calls[step - 1].function;
        version = made.emplace_back(new_version(function, calls[step], caller)).get();
        if (caller != nullptr) caller->callees.push_back(version);
        version_of_.emplace(function, version);
      }
      caller = version;
    }
    for (size_t k = made.size(); k-- > 0;) versions_.push_back(std::move(made[k]));
    return caller;
  }

  std::unique_ptr<Version> new_version(size_t function, const Call& call, Version* caller) {
    const std::string name(library_.functions[function].name);
    const bool in_place = (caller == nullptr || caller->in_place) && alone(function, call);
    Version version{function, call, caller, in_place, name};
    if (!in_place)
      copies_.insert(version.name = free_function_name(library_, ops_, name + "_exposed", copies_));
    const OpDef signature = parse_op_def(function_signature(library_.functions[function].body));
    for (const ArgDef& arg : signature.inputs) version.taken.emplace(arg.name);
    for (const ArgDef& arg : signature.outputs) version.taken.emplace(arg.name);
    return std::make_unique<Version>(std::move(version));
  }

  // The calls on the way from the function up to the main graph.
  std::vector<Call> find_way(size_t start, std::string_view written, const NodeSet& preferred) const {
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
      way.push_back({caller, node_name(node_def), op == name, outputs_of(node_def)});
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
    std::unordered_map<size_t, std::vector<size_t>> above{{start, {}}};  // and whom they call of these
    std::vector<size_t> open{start};
    std::map<uint32_t, std::vector<size_t>> entries;
    while (!open.empty()) {
      const size_t at = open.back();
      open.pop_back();
      for (const FunctionUsers::User& user : users_.of(at)) {
        if (user.function == kMain) {
          entries[index_of(user.node)].push_back(at);
        } else if (reached_[user.function]) {
          const auto [caller, first] = above.try_emplace(user.function);
          caller->second.push_back(at);
          if (first) open.push_back(user.function);
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
    const auto is_preferred = [&](const auto& entry) { return preferred.has(NodeId{entry.first}); };
    if (entries.size() > 1 && std::ranges::count_if(entries, is_preferred) == 1)
      std::erase_if(entries, [&](const auto& entry) { return !is_preferred(entry); });
    if (entries.size() > 1) {
      throw refused("is reached from " + std::to_string(entries.size()) + " nodes, '" +
                    printable(graph_.name(NodeId{entries.begin()->first})) + "' and '" +
                    printable(graph_.name(NodeId{std::next(entries.begin())->first})) + "' among them")
          .of(quoted("tensor", written))
          .hint("name outputs of one of them, too");
    }
    // Of the functions above, those that this node leads to.
    Entry entry{NodeId{entries.begin()->first}, {}};
    for (std::vector<size_t> down = entries.begin()->second; !down.empty();) {
      const size_t at = down.back();
      down.pop_back();
      if (!entry.inside.insert(at).second) continue;
      const std::vector<size_t>& callees = above.at(at);
      down.insert(down.end(), callees.begin(), callees.end());
    }
    return entry;
  }

  uint32_t outputs_of(std::string_view node_def) const {
    const std::optional<size_t> count = output_count(ops_, node_def);
    if (!count) throw refused("its outputs are not known").of(quoted("node", node_name(node_def)));
    return static_cast<uint32_t>(*count);
  }

  // Whether nothing but the call names the function.
  bool alone(size_t function, const Call& call) const {
    const std::string_view name = library_.functions[function].name;
    for (const FunctionUsers::User& user : users_.of(function)) {
      if (user.function != call.function || user.node != call.node) return false;
    }
    return (objects_ == nullptr || objects_->find_function(name) == nullptr) && !named_around_.contains(name);
  }

  // The call of the function that gives more.
  static std::string call_of(std::string_view node_def, const Version& callee) {
    std::string out = calling(node_def, callee.name);
    if (!callee.call.by_type) {
      std::vector<DType> types;
      for (const Version::Output& output : callee.outputs) types.push_back(output.type);
      out = with_types(out, "Tout", types);
    }
    const auto shapes = find_attr(out, "_output_shapes");
    if (!shapes) return out;
    const std::string more = with_each_field(*shapes, attr_field::kList, [&](std::string_view list) {
      std::string longer(list);
      for (const Version::Output& output : callee.outputs)
        append_bytes_field(longer, attr_field::kShape, shape_proto(output.shape));
      return longer;
    });
    return with_attr(out, "_output_shapes", more);
  }

  std::string encoded(const Version& version) const {
    Graph body = library_.functions[version.function].body;
    for (const Version* const callee : version.callees)
      body.replace(callee->call.node, call_of(body.bytes(callee->call.node), *callee));
    FunctionDef made(body);
    for (const Version::Output& output : version.outputs)
      made.add_output(arg_def(output.name, output.type), output.source);
    made.remove_alternatives();
    made.rename(version.name);
    return made.encode();
  }

  // Calls by the function's name have the outputs that it has now.
  void define(Function& function) {
    function.body.decode();
    ops_.define(function.name, function_signature(function.body));
  }

  // What the function captures tells which object a node of the main graph stands for (object_nodes.h).
  void add_copied_object(const Version& version) {
    const SavedObjects::Function* const known =
        objects_->find_function(library_.functions[version.function].name);
    if (known == nullptr || known->bound_inputs.empty()) return;
    SavedObjects::Function copy;
    copy.name = version.name;
    copy.bound_inputs = known->bound_inputs;
    copy.input_signature = copy.output_signature = std::string("\x0a\x00", 2);  // none_value
    copy.changed = true;
    objects_->functions.push_back(std::move(copy));
  }

  const Model& model_;
  Graph& graph_;
  Registry& ops_;
  Library& library_;
  SavedObjects* const objects_;
  FunctionUsers users_;
  std::vector<bool> reached_;
  std::unordered_set<std::string_view> named_around_;                // functions, by gradients and aliases
  std::unordered_set<std::string> copies_;                           // their names
  std::unordered_map<size_t, std::unique_ptr<Inside>> insides_;      // by function
  std::unordered_map<size_t, Version*> version_of_;                  // by function: the first
  std::vector<std::unique_ptr<Version>> versions_;                   // inner ones before outer ones
  std::map<std::pair<const Version*, uint32_t>, Version*> by_call_;  // by who calls, null: the main graph
};

Exposing::Exposing(Model& model, Registry& ops, Library& library, SavedObjects* objects)
    : ways_(std::make_unique<Ways>(model, ops, library, objects)) {}

Exposing::~Exposing() = default;

Exposed Exposing::expose(std::string_view written, const NodeSet& preferred) {
  return ways_->expose(written, preferred);
}

void Exposing::store() { ways_->store(); }

}  // namespace gedit
