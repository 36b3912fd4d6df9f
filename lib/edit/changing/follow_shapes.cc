#include "edit/changing/follow_shapes.h"

#include "base/error.h"
#include "base/map_entry.h"
#include "base/message_edit.h"
#include "edit/basis/addresses.h"
#include "edit/basis/tensor_info.h"
#include "edit/objects/signature_parts.h"
#include "model/calls.h"
#include "ops/kinds.h"
#include "shape/write.h"

namespace gedit {
namespace {

constexpr std::string_view kFollowedShapes = "_output_shapes", kStated = "output_shapes",
                           kArguments = "_input_shapes";

// If, While and Case say what they give; elsewhere the attribute is a matter of its own, as of an iterator.
bool states_shapes(std::string_view node_def) {
  const std::string_view op = node_op(node_def);
  if (!is(op, OpKind::kIf) && !is(op, OpKind::kWhile) && !is(op, OpKind::kCase)) return false;
  const auto value = find_attr(node_def, kStated);
  return value && !last_bytes(*value, attr_field::kList).empty();
}

std::string without_shapes(std::string_view node_def) {
  std::string found =
      find_attr(node_def, kFollowedShapes) ? without_attr(node_def, kFollowedShapes) : std::string(node_def);
  if (states_shapes(node_def)) found = with_attr(found, kStated, shapes_value({}));
  return found;
}

// The node with these shapes where it had some.
std::string with_shapes(std::string_view node_def, const std::optional<std::vector<Shape>>& shapes) {
  std::string found(node_def);
  const auto put = [&](std::string_view key) {
    if (!shapes) {
      found = without_attr(found, key);
    } else if (const std::string value = shapes_value(*shapes); find_attr(found, key) != value) {
      found = with_attr(found, key, value);
    }
  };
  if (find_attr(node_def, kFollowedShapes)) put(kFollowedShapes);
  if (states_shapes(node_def)) put(kStated);
  return found;
}

// arg_attr and `_input_shapes` of a FunctionDef with these shapes; without them where there are none.
void set_argument_shapes(Graph& body, const std::vector<Shape>& shapes) {
  std::vector<std::string> arguments, attrs;
  bool has_arguments = false, has_attr = false;
  for (const Part& part : body.parts()) {
    const std::string_view content =
        part.field != 0 ? record_at(part.raw.data()).node_def : std::string_view();
    if (part.field == function_field::kArgAttr) {
      const uint64_t number = last_varint(content, 1);
      arguments.push_back(with_each_field(content, 2, [&](std::string_view value) {
        return with_each_entry(
            value, 1, [&](std::string_view key, std::string_view attr) -> std::optional<std::string> {
              if (key != kFollowedShapes) return std::string(attr);
              has_arguments = true;
              if (number >= shapes.size()) return std::nullopt;
              return shapes_value({shapes[number]});
            });
      }));
    } else if (part.field == function_field::kAttr) {
      const MapEntry entry = map_entry(content);
      if (entry.key == kArguments) {
        has_attr = true;
        if (!shapes.empty()) attrs.push_back(map_entry_bytes(entry.key, shapes_value(shapes)));
      } else {
        attrs.emplace_back(content);
      }
    }
  }
  if (has_arguments) body.set_parts(function_field::kArgAttr, std::move(arguments));
  if (has_attr) body.set_parts(function_field::kAttr, std::move(attrs));
}

}  // namespace

ShapeFollowing::ShapeFollowing(Setting& setting) : setting_(setting), before_(setting.graph(), setting.ops) {}

void ShapeFollowing::find_downstream() {
  Graph& graph = setting_.graph();
  NodeSet start(graph.size());
  affected_ = NodeSet(graph.size());
  for (const NewShape& shape : shapes_) {
    affected_.add(shape.node);
    for (const NodeId reader : setting_.consumers("").of(shape.node)) start.add(reader);
  }
  downstream_ = reach(start, setting_.consumers(""), kAnyDistance);
  for (const NewShape& shape : shapes_) downstream_.remove(shape.node);
  for (const NodeId id : downstream_.nodes()) affected_.add(id);
}

void ShapeFollowing::find_functions() {
  const Library& library = setting_.selecting.library();
  const std::vector<bool> called = called_functions(setting_.model.meta(), library, &downstream_);
  for (size_t i = 0; i < library.functions.size(); ++i) {
    if (called[i]) functions_.emplace(library.functions[i].name);
  }
}

// What the file says of the nodes downstream speaks of the shapes that were.
void ShapeFollowing::strip_nodes() {
  Graph& graph = setting_.graph();
  for (const NodeId id : downstream_.nodes()) {
    const std::string_view node_def = graph.bytes(id);
    if (graph.is(id, OpKind::kConst) || (!find_attr(node_def, kFollowedShapes) && !states_shapes(node_def)))
      continue;
    stripped_.emplace(index_of(id), node_def);
    graph.replace(id, without_shapes(node_def));
  }
}

void ShapeFollowing::strip_library() {
  Graph& graph = setting_.graph();
  if (functions_.empty()) return;
  Library bare = Library::decode(graph.arena()->keep(setting_.selecting.library().encode()), graph.arena());
  for (Function& function : bare.functions) {
    if (!functions_.contains(function.name)) continue;
    function.body.decode();
    for (uint32_t i = 0; i < function.body.size(); ++i) {
      const std::string_view node_def = function.body.bytes(NodeId{i});
      if (find_attr(node_def, kFollowedShapes) || states_shapes(node_def))
        function.body.replace(NodeId{i}, without_shapes(node_def));
    }
    set_argument_shapes(function.body, {});
  }
  graph.set_part(graph_field::kLibrary, bare.encode());
}

void ShapeFollowing::refuse_contradictions(const Inference& now, bool could_mend) const {
  std::set<std::pair<std::string, std::string>> known;
  for (const ShapeContradiction& found : before_.contradictions()) known.emplace(found.function, found.node);
  for (const ShapeContradiction& found : now.contradictions()) {
    if (known.contains({found.function, found.node})) continue;
    const NewShape& first = shapes_.front();
    throw refused(printable(address(found.function, found.node)) + ": " + found.message)
        .of("shape " + (first.now ? shape_text(first.now) : "[*]") + " of '" +
            printable(setting_.graph().name(first.node)) + "'")
        .hint(could_mend ? "--rebake" : "");
  }
}

// A size that is free now, tried with one that stands nowhere else in the graph: what it contradicts is made
// for the old one alone.
void ShapeFollowing::warn_of_fixed_sizes() {
  constexpr int64_t kSmall = 32, kManyTimes = 8191, kSomeTimes = 13;
  InferRequest request;
  bool any = false;
  for (const NewShape& shape : shapes_) {
    if (!shape.before || !shape.now || shape.before->size() != shape.now->size()) continue;
    Shape tried = shape.now;
    for (size_t i = 0; i < tried->size(); ++i) {
      const int64_t old = (*shape.before)[i];
      if ((*tried)[i] >= 0 || old <= 0) continue;
      (*tried)[i] = old * (old < kSmall ? kManyTimes : kSomeTimes);
      any = true;
    }
    request.inputs.push_back({shape.node, 0, tried});
  }
  if (!any) return;
  const Inference tried(setting_.graph(), setting_.ops, request);
  std::set<std::pair<std::string, std::string>> known;
  for (const ShapeContradiction& found : before_.contradictions()) known.emplace(found.function, found.node);
  for (const ShapeContradiction& found : tried.contradictions()) {
    if (known.contains({found.function, found.node})) continue;
    setting_.changes.warnings.push_back("'" + printable(address(found.function, found.node)) + "' (" +
                                        printable(found.op) + ") fits the old size alone");
    return;  // what follows from it contradicts, too
  }
}

void ShapeFollowing::write_nodes(Inference& now) {
  Graph& graph = setting_.graph();
  for (const auto& [index, original] : stripped_) {
    const NodeId id{index};
    graph.replace(id, with_shapes(original, all_shapes(now.main(), setting_.ops, id, original)));
  }
}

void ShapeFollowing::write_signatures(Inference& now) {
  SignatureDefs signatures(setting_.model.meta());
  bool changed = false;
  signatures.change([&](const std::string& key, std::string& def) {
    for (const uint32_t field : {signature_field::kInput, signature_field::kOutput}) {
      def = with_each_entry(def, field, [&](std::string_view name, std::string_view info) {
        const Input tensor = parse_input(last_bytes(info, tensor_info_field::kName));
        const NodeId id = setting_.selecting.names().find(tensor.node);
        if (id == kNoNode || tensor.control || !affected_.has(id) || tensor.index() >= now.main().outputs(id))
          return std::optional(std::string(info));
        const Shape shape = now.main().shape(id, tensor.index());
        if (parse_shape_proto(last_bytes(info, tensor_info_field::kShape)) == shape)
          return std::optional(std::string(info));
        changed = true;
        setting_.say(
            "", key + (field == signature_field::kInput ? ".inputs[" : ".outputs[") + std::string(name) + "]",
            "shape " + (shape ? shape_text(shape) : "[*]"));
        return std::optional(with_field(info, tensor_info_field::kShape, shape_proto(shape)));
      });
    }
    return key;
  });
  if (changed) signatures.store();
}

void ShapeFollowing::write_functions(Inference& now) {
  std::map<std::string, FunctionShapes, std::less<>> changed;
  for (const std::string& name : functions_) {
    FunctionShapes shapes{now.arguments(name), now.results(name)};
    if (shapes.arguments == before_.arguments(name) && shapes.results == before_.results(name)) continue;
    Graph& body = find_function(setting_.selecting.library(), name).body;
    body.decode();
    const GraphShapes& inner = *now.function(name);
    for (uint32_t i = 0; i < body.size(); ++i) {
      const NodeId id{i};
      std::string node_def = with_shapes(body.bytes(id), all_shapes(inner, setting_.ops, id, body.bytes(id)));
      if (node_def != body.bytes(id)) setting_.replace(body, id, node_def);
    }
    set_argument_shapes(body, shapes.arguments);
    setting_.touch_functions();
    changed.emplace(name, std::move(shapes));
  }
  ObjectsOfMeta objects(setting_.model.meta());
  if (objects.get() == nullptr || changed.empty()) return;
  for (const std::string& name : set_function_shapes(*objects.get(), changed)) {
    setting_.changes.warnings.push_back("the object graph says of '" + printable(name) +
                                        "' what its arguments are in a way that is not followed");
  }
  objects.store();
}

void ShapeFollowing::finish(bool rebake) {
  if (shapes_.empty()) return;
  setting_.drop_stale();
  find_downstream();
  find_functions();
  strip_nodes();
  strip_library();
  auto now = std::make_unique<Inference>(setting_.graph(), setting_.ops);
  FollowedConstants constants(setting_, before_, shapes_, functions_, [this] { strip_library(); });
  constants.look(now, rebake);
  refuse_contradictions(*now, constants.could_mend());
  if (!constants.named()) warn_of_fixed_sizes();
  write_functions(*now);
  write_nodes(*now);
  write_signatures(*now);
  if (!functions_.empty()) setting_.touch_functions();
}

}  // namespace gedit
