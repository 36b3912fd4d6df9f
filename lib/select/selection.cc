#include "select/selection.h"

#include <re2/re2.h>

#include <algorithm>
#include <optional>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/glob.h"
#include "base/near.h"
#include "graph/library.h"
#include "graph/listing.h"
#include "graph/names.h"
#include "graph/types.h"
#include "model/collections.h"
#include "ops/kinds.h"
#include "select/name_patterns.h"
#include "select/tensors.h"
#include "shape/infer.h"

namespace gedit {
namespace {

using Is = Selector::Is;

}  // namespace

// A graph and what is derived from it.
struct SearchedPlace {
  explicit SearchedPlace(Graph& graph, std::string_view function = {}) : graph(graph), function(function) {
    graph.decode();
  }

  const Names& find_names() {
    if (!names) names.emplace(graph);
    return *names;
  }
  const Edges& find_producers() {
    if (!producers) producers = gedit::producers(graph, find_names());
    return *producers;
  }
  const Edges& find_consumers() {
    if (!consumers) consumers = reversed(find_producers());
    return *consumers;
  }

  Graph& graph;
  std::string_view function;  // empty: the main graph
  std::optional<Names> names;
  std::optional<Edges> producers, consumers;
};

namespace {

NodeSet in_both(const NodeSet& a, const NodeSet& b) {
  NodeSet result(std::max(a.size(), b.size()));
  for (const NodeId id : a.nodes()) {
    if (b.has(id)) result.add(id);
  }
  return result;
}

}  // namespace

struct Selecting::State {
  State(Model& model, Registry& ops) : model(model), ops(ops), main(model.graph()) {}

  Selection evaluate(const Selector& selector);
  NodeSet in_place(const Selector& selector, SearchedPlace& place);
  NodeSet any_in_place(const std::vector<const Selector*>& selectors, SearchedPlace& place);
  Selection in_functions(const std::string& function, const std::vector<const Selector*>& selectors);
  Selection any(const std::vector<Selector>& selectors);
  NodeSet each(SearchedPlace& place, const auto& matches) {
    NodeSet set(place.graph.size());
    for (uint32_t i = 0; i < place.graph.size(); ++i) {
      if (place.graph.removed(NodeId{i})) continue;
      if (matches(place.graph.bytes(NodeId{i}))) set.add(NodeId{i});
    }
    return set;
  }
  NodeSet named(SearchedPlace& place, const std::unordered_set<std::string_view>& wanted) {
    NodeSet set(place.graph.size());
    for (const std::string_view name : wanted) {
      if (const NodeId id = place.find_names().find(name); id != kNoNode) set.add(id);
    }
    return set;
  }
  NodeSet members(const Selector& selector, SearchedPlace& place);
  bool has_dtype(std::string_view node_def, DType type);
  NodeSet with_shape(SearchedPlace& place, const auto& matches);

  Library& find_library() {
    if (!library) library = Library::decode(model.graph().part(graph_field::kLibrary), model.arena);
    return *library;
  }

  Model& model;
  Registry& ops;
  SearchedPlace main;
  std::optional<Library> library;
  std::unique_ptr<Inference> shapes;  // where a selector asks for them
  std::function<std::unique_ptr<Inference>()> make_shapes;
  std::map<size_t, std::unique_ptr<SearchedPlace>> bodies;
  std::unordered_map<std::string_view, std::vector<size_t>> function_numbers;
};

bool Selecting::State::has_dtype(std::string_view node_def, DType type) {
  if (const auto types = output_types(ops, node_def)) {
    for (const DType one : *types) {
      if (one == type || base_type(one) == type) return true;
    }
    return false;
  }
  bool found = false;  // unknown op: its type attributes are all there is
  each_attr(node_def, [&](std::string_view, std::string_view value) {
    for (Fields fields(value); fields.next();) {
      found = found || (fields->number == attr_field::kType && fields->wire == Wire::kVarint &&
                        static_cast<DType>(fields->varint) == type);
    }
  });
  return found;
}

// Nodes of which an output has a shape that `matches` takes, as `gedit shapes` tells it.
NodeSet Selecting::State::with_shape(SearchedPlace& place, const auto& matches) {
  NodeSet set(place.graph.size());
  if (!shapes) shapes = make_shapes ? make_shapes() : std::make_unique<Inference>(main.graph, ops);
  const GraphShapes* found = place.function.empty() ? &shapes->main() : shapes->function(place.function);
  for (uint32_t i = 0; i < place.graph.size() && found != nullptr; ++i) {
    const NodeId id{i};
    if (place.graph.removed(id)) continue;
    for (uint32_t k = 0; k < found->outputs(id) && !set.has(id); ++k) {
      if (matches(found->shape(id, k))) set.add(id);
    }
  }
  return set;
}

NodeSet Selecting::State::members(const Selector& selector, SearchedPlace& place) {
  std::unordered_set<std::string_view> wanted;
  if (&place == &main) {
    for (const Collection& collection : collections(model.meta())) {
      const bool hit = selector.is == Is::kVariable ? collection.key == collection_key::kTrainableVariables
                                                    : glob_match(selector.text, collection.key);
      if (!hit) continue;
      for (const std::string_view item : collection.items) {
        if (collection.kind == collection_kind::kNodeList) wanted.insert(node_of(item));
        if (collection.kind == collection_kind::kBytesList && holds_variables(collection.key)) {
          wanted.insert(node_of(variable_names(item).variable));
        }
      }
    }
  }
  return named(place, wanted);
}

NodeSet Selecting::State::in_place(const Selector& selector, SearchedPlace& place) {
  const auto glob = [&](std::string_view name) {
    return selector.literal ? name == selector.text : glob_match(selector.text, name);
  };
  switch (selector.is) {
    case Is::kName:
    case Is::kScope:
      return any_in_place({&selector}, place);
    case Is::kRegex: {
      RE2::Options options;
      options.set_log_errors(false);
      const RE2 regex(selector.text, options);
      if (!regex.ok()) throw Error(Cause::kUsage, regex.error()).of(quoted("selector", selector.written));
      return each(place, [&](std::string_view node) {
        const std::string_view name = node_name(node);
        return RE2::PartialMatch(re2::StringPiece(name.data(), name.size()), regex);
      });
    }
    case Is::kOp:
      return each(place, [&](std::string_view node) { return glob(node_op(node)); });
    case Is::kDevice:
      return each(place, [&](std::string_view node) {
        return glob_match("**" + selector.text + "**", node_head(node).device) ||
               glob(node_head(node).device);
      });
    case Is::kAttr:
      return each(place, [&](std::string_view node) {
        const auto value = find_attr(node, selector.key);
        if (!value) return false;
        if (!selector.has_value) return true;
        if (const auto text = string_attr(node, selector.key); text && *text == selector.text) return true;
        std::string printed;
        print_attr_value(printed, *value, false);
        return printed == selector.text;
      });
    case Is::kDtype: {
      const DType type = *parse_dtype(selector.text);
      return each(place, [&](std::string_view node) { return has_dtype(node, type); });
    }
    case Is::kSize:
      return each(place, [&](std::string_view node) {
        if (node.size() == selector.number) return selector.or_equal;
        return (node.size() > selector.number) == (selector.compare == '>');
      });
    case Is::kRank:
      return with_shape(place, [&](const Shape& shape) { return shape && shape->size() == selector.number; });
    case Is::kShape: {
      const Shape wanted = parse_shape(selector.text);
      return with_shape(place, [&](const Shape& shape) {
        if (!wanted || !shape) return wanted == shape;
        return std::equal(wanted->begin(), wanted->end(), shape->begin(), shape->end(),
                          [](int64_t want, int64_t size) { return want < 0 || want == size; });
      });
    }
    case Is::kVariable:
      if (!selector.text.empty()) return members(selector, place);
      return each(place, [&](std::string_view node) { return is_variable_op(node_op(node)); });
    case Is::kCollection:
      return members(selector, place);
    case Is::kWalk: {
      const NodeSet seeds = in_place(selector.operands[0], place);
      NodeSet result = selector.back > 0 ? reach(seeds, place.find_producers(), selector.back) : seeds;
      if (selector.forward == 0) return result;
      for (const NodeId id : reach(seeds, place.find_consumers(), selector.forward).nodes()) result.add(id);
      return result;
    }
    case Is::kPath: {
      const NodeSet from = reach(in_place(selector.operands[0], place), place.find_consumers(), kAnyDistance);
      const NodeSet to = reach(in_place(selector.operands[1], place), place.find_producers(), kAnyDistance);
      return in_both(from, to);
    }
    case Is::kOr: {
      std::vector<const Selector*> operands;
      for (const Selector& operand : selector.operands) operands.push_back(&operand);
      return any_in_place(operands, place);
    }
    case Is::kAnd: {
      NodeSet result = in_place(selector.operands[0], place);
      for (size_t i = 1; i < selector.operands.size(); ++i)
        result = in_both(result, in_place(selector.operands[i], place));
      return result;
    }
    case Is::kNot: {
      const NodeSet inner = in_place(selector.operands[0], place);
      NodeSet result(place.graph.size());
      for (uint32_t i = 0; i < place.graph.size(); ++i) {
        if (!place.graph.removed(NodeId{i}) && !inner.has(NodeId{i})) result.add(NodeId{i});
      }
      return result;
    }
    case Is::kFunction:
      break;
  }
  return NodeSet(place.graph.size());  // a function inside a function: there is none
}

// What any of them hits: names without wildcards cost one look each, all others by name one look at every
// node.
NodeSet Selecting::State::any_in_place(const std::vector<const Selector*>& selectors, SearchedPlace& place) {
  NodeSet result(place.graph.size());
  NamePatterns patterns;
  for (const Selector* selector : selectors) {
    if (!patterns.add(*selector)) {
      for (const NodeId id : in_place(*selector, place).nodes()) result.add(id);
    }
  }
  for (const NodeId id : named(place, patterns.names()).nodes()) result.add(id);
  if (!patterns.has_wide()) return result;
  for (const NodeId id :
       each(place, [&](std::string_view node) { return patterns.wide(node_name(node)); }).nodes())
    result.add(id);
  return result;
}

Selection Selecting::State::in_functions(const std::string& function,
                                         const std::vector<const Selector*>& selectors) {
  Selection result{NodeSet(main.graph.size()), {}};
  Library& functions = find_library();
  const auto take = [&](size_t i) {
    std::unique_ptr<SearchedPlace>& body = bodies[i];
    if (!body)
      body = std::make_unique<SearchedPlace>(functions.functions[i].body, functions.functions[i].name);
    result.in_functions.emplace(i, any_in_place(selectors, *body));
  };
  if (!is_glob(function)) {
    if (function_numbers.empty()) {
      for (size_t i = 0; i < functions.functions.size(); ++i)
        function_numbers[functions.functions[i].name].push_back(i);
    }
    const auto found = function_numbers.find(function);
    if (found == function_numbers.end()) return result;
    for (const size_t i : found->second) take(i);
    return result;
  }
  for (size_t i = 0; i < functions.functions.size(); ++i) {
    if (glob_match(function, functions.functions[i].name)) take(i);
  }
  return result;
}

// The union, where what is asked of one place is asked at once.
Selection Selecting::State::any(const std::vector<Selector>& selectors) {
  std::vector<const Selector*> here;
  std::map<std::string_view, std::vector<const Selector*>> by_function;
  std::vector<Selection> found;
  for (const Selector& selector : selectors) {
    if (selector.is == Is::kFunction) {
      by_function[selector.key].push_back(&selector.operands[0]);
    } else if (selector.is == Is::kAnd || selector.is == Is::kOr || selector.is == Is::kNot) {
      found.push_back(evaluate(selector));
    } else {
      here.push_back(&selector);
    }
  }
  Selection result{any_in_place(here, main), {}};
  for (const auto& [function, inside] : by_function)
    found.push_back(in_functions(std::string(function), inside));
  for (Selection& one : found) {
    for (const NodeId id : one.nodes.nodes()) result.nodes.add(id);
    for (auto& [function, nodes] : one.in_functions) {
      const auto there = result.in_functions.find(function);
      if (there != result.in_functions.end()) {
        for (const NodeId id : nodes.nodes()) there->second.add(id);
      } else {
        result.in_functions.emplace(function, std::move(nodes));
      }
    }
  }
  return result;
}

// The main graph and the functions side by side: `,` and `&` work on each, `!` on the main graph and on the
// functions that its operand speaks of.
Selection Selecting::State::evaluate(const Selector& selector) {
  if (selector.is == Is::kFunction) return in_functions(selector.key, {selector.operands.data()});
  if (selector.is == Is::kOr) return any(selector.operands);
  Selection result{NodeSet(main.graph.size()), {}};
  if (selector.is != Is::kAnd && selector.is != Is::kNot) {
    result.nodes = in_place(selector, main);
    return result;
  }
  for (size_t i = 0; i < selector.operands.size(); ++i) {
    Selection one = evaluate(selector.operands[i]);
    if (i == 0) {
      result = std::move(one);
      continue;
    }
    result.nodes = in_both(result.nodes, one.nodes);
    std::erase_if(result.in_functions,
                  [&](const auto& item) { return !one.in_functions.contains(item.first); });
    for (auto& [function, nodes] : result.in_functions) nodes = in_both(nodes, one.in_functions.at(function));
  }
  if (selector.is == Is::kNot) {
    const auto inverted = [](const NodeSet& nodes, const Graph& graph) {
      NodeSet rest(graph.size());
      for (uint32_t i = 0; i < graph.size(); ++i) {
        if (!graph.removed(NodeId{i}) && !nodes.has(NodeId{i})) rest.add(NodeId{i});
      }
      return rest;
    };
    result.nodes = inverted(result.nodes, main.graph);
    for (auto& [function, nodes] : result.in_functions) nodes = inverted(nodes, bodies[function]->graph);
  }
  return result;
}

size_t Selection::count() const {
  size_t count = nodes.count();
  for (const auto& [function, set] : in_functions) count += set.count();
  return count;
}

namespace {

// What hits in functions alone, for a hint.
std::string place_text(const Selection& inside, const Selector& selector, const Library& library) {
  const size_t count = inside.count();
  if (count > 1) {
    return "in functions it hits " + std::to_string(count) + " nodes: 'fn:*//" + printable(selector.written) +
           "'";
  }
  for (const auto& [index, nodes] : inside.in_functions) {
    for (const NodeId id : nodes.nodes()) {
      const Function& function = library.functions[index];
      return "in a function: '" + printable(function.name) + "//" + printable(function.body.name(id)) + "'";
    }
  }
  return "";
}

}  // namespace

Selecting::Selecting(Model& model, Registry& ops) : state_(std::make_unique<State>(model, ops)) {}
Selecting::~Selecting() = default;

void Selecting::forget_shapes() { state_->shapes.reset(); }
void Selecting::infer_shapes_by(std::function<std::unique_ptr<Inference>()> make) {
  state_->make_shapes = std::move(make);
}

Selection Selecting::evaluate(const Selector& selector) { return state_->evaluate(selector); }

Selection Selecting::require(std::string_view text) {
  Selection selection = evaluate(parse_selector(text));
  if (selection.empty()) throw nothing(text);
  return selection;
}

Error Selecting::nothing(std::string_view text) {
  // The nearest name to each plain word of the selector; of scopes the nearest scope.
  const Selector selector = parse_selector(text);
  const Selector* plain = &selector;
  while (!plain->operands.empty() && plain->is != Is::kFunction) plain = &plain->operands[0];
  Error error = Error(Cause::kRefused, "matches nothing").of(quoted("selector", text));
  if (plain == &selector) {
    const Selection inside = state_->in_functions("*", {plain});
    if (inside.count() > 0) return error.hint(place_text(inside, *plain, state_->find_library()));
  }
  if (plain->is != Is::kName && plain->is != Is::kScope && plain->is != Is::kOp) return error;
  Near near(plain->text);
  std::set<std::string_view> seen;
  const Graph& graph = state_->main.graph;
  for (uint32_t i = 0; i < graph.size(); ++i) {
    if (graph.removed(NodeId{i})) continue;
    const std::string_view node = graph.bytes(NodeId{i});
    const std::string_view name = plain->is == Is::kOp ? node_op(node) : node_name(node);
    if (plain->is == Is::kName) near.offer(name);
    if (plain->is == Is::kOp && seen.insert(name).second) near.offer(name);
    if (plain->is != Is::kScope) continue;
    for (size_t slash = name.find('/'); slash != std::string_view::npos; slash = name.find('/', slash + 1)) {
      if (seen.insert(name.substr(0, slash)).second) near.offer(name.substr(0, slash));
    }
  }
  if (near.best().empty()) return error;
  const std::string prefix = plain->is == Is::kOp ? "op:" : "", suffix = plain->is == Is::kScope ? "/" : "";
  return error.hint("did you mean '" + prefix + printable(near.best()) + suffix + "'?");
}

const Names& Selecting::names() { return state_->main.find_names(); }
const Edges& Selecting::producers() { return state_->main.find_producers(); }
Library& Selecting::library() { return state_->find_library(); }

}  // namespace gedit
