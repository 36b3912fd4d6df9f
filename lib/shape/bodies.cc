#include "shape/bodies.h"

#include "graph/name_attr_list.h"
#include "graph/wiring.h"
#include "model/model.h"

namespace gedit::shaping {

Body::Body(Function& function) : function(function) {
  function.body.decode();
  names = std::make_unique<Names>(function.body);
  edges = producers(function.body, *names);
  like = std::make_unique<const LikeNodes>(function.body);
  const std::string_view signature = function_signature(function.body);
  const OpDef def = parse_op_def(signature);
  for (const ArgDef& arg : def.inputs) {
    plain = plain && arg.number_attr.empty() && arg.type_list_attr.empty();
    arguments.emplace(arg.name, static_cast<uint32_t>(arguments.size()));
  }
  std::unordered_map<std::string_view, std::string_view> returned;
  for (const Part& part : function.body.parts()) {
    if (part.field == function_field::kArgAttr) take_declared(record_at(part.raw.data()).node_def);
    if (part.field != function_field::kRet) continue;
    const MapEntry entry = map_entry(record_at(part.raw.data()).node_def);
    returned.emplace(entry.key, entry.value);
  }
  for (const ArgDef& result : def.outputs) results.push_back(returned[result.name]);
}

// An entry of arg_attr: the number of an argument, its attributes.
void Body::take_declared(std::string_view entry) {
  const uint64_t number = last_varint(entry, 1);
  for (Fields attrs(last_bytes(entry, 2)); number < arguments.size() && attrs.next();) {
    if (!attrs->bytes(1)) continue;
    const MapEntry attr = map_entry(attrs->value);
    const std::string_view list = last_bytes(attr.value, attr_field::kList);
    if (attr.key != "_output_shapes" || list.empty()) continue;
    declared.resize(arguments.size());
    declared[number] = last_bytes(list, attr_field::kShape);
    has_declared = true;
  }
}

Bodies::Bodies(const Graph& graph) {
  const std::string_view library = graph.part(graph_field::kLibrary);
  if (library.empty()) return;
  library_ = Library::decode(library, graph.arena());
  for (size_t i = 0; i < library_.functions.size(); ++i) by_name_.emplace(library_.functions[i].name, i);
  bodies_.resize(library_.functions.size());
}

Body* Bodies::find(std::string_view name) {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : &at(found->second);
}

Body& Bodies::at(size_t index) {
  if (!bodies_[index]) bodies_[index] = std::make_unique<Body>(library_.functions[index]);
  return *bodies_[index];
}

std::vector<std::string_view> Bodies::called(const Subject& node, const OpInfo& info) {
  std::vector<std::string_view> found;
  const auto take = [&](std::string_view key) {
    if (const auto value = node.attr(key)) found.push_back(function_in(*value));
  };
  switch (info.calls) {
    case OpInfo::Calls::kNothing:
      found.push_back(node.op);
      break;
    case OpInfo::Calls::kOne:
      take("f");
      break;
    case OpInfo::Calls::kBranches:
      take("then_branch");
      take("else_branch");
      break;
    case OpInfo::Calls::kLoop:
      take("cond");
      take("body");
      break;
    case OpInfo::Calls::kCases:
      if (const auto value = node.attr("branches")) {
        each_name_attr_list(*value, [&](std::string_view list) { found.push_back(last_bytes(list, 1)); });
      }
      break;
  }
  return found;
}

std::vector<bool> Bodies::called_by_none(OpInfos& infos, Dims& dims) {
  std::vector<bool> none(library_.functions.size(), true);
  Subject node(dims, 0);
  for (size_t at_function = 0; at_function < none.size(); ++at_function) {
    const Graph& body = at(at_function).function.body;
    for (uint32_t i = 0; i < body.size(); ++i) {
      node.op = body.op(NodeId{i});
      const OpInfo& info = infos.of(node.op);
      if (info.calls == OpInfo::Calls::kNothing && !has(node.op)) continue;
      node.attrs.clear();
      for (Fields fields(body.bytes(NodeId{i})); fields.next();) {
        if (!fields->bytes(node_field::kAttr)) continue;
        const MapEntry entry = map_entry(fields->value);
        node.attrs.emplace_back(entry.key, entry.value);
      }
      for (const std::string_view name : called(node, info)) {
        if (const auto found = by_name_.find(name); found != by_name_.end()) none[found->second] = false;
      }
    }
  }
  return none;
}

}  // namespace gedit::shaping
