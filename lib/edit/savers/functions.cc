#include "edit/savers/functions.h"

#include <unordered_map>

#include "base/error.h"
#include "graph/function_names.h"
#include "graph/library.h"
#include "graph/types.h"
#include "graph/wiring.h"
#include "model/collections.h"
#include "model/saver_def.h"
#include "model/savers.h"
#include "ops/kinds.h"
#include "select/tensors.h"

namespace gedit {
namespace {

constexpr int kMostSteps = 64;  // between a variable and its Save node in a function; TensorFlow makes four

std::unordered_map<std::string_view, std::string_view> nodes_of(std::string_view function_def, Arena& arena) {
  std::unordered_map<std::string_view, std::string_view> nodes;
  each_node_in(function_def, arena,
               [&](std::string_view node_def) { nodes[node_name(node_def)] = node_def; });
  return nodes;
}

// What the Save nodes of a function save; nothing where that is not known.
std::optional<std::vector<SaverEntry>> saved_in(std::string_view function_def) {
  Graph body(function_def, function_field::kNode, std::make_shared<Arena>());
  body.decode();
  std::vector<SaverEntry> saved;
  for (const SaverNode& save : find_savers(body, Names(body)).saves) {
    const std::string_view node_def = body.bytes(save.node);
    const std::vector<std::string> inputs = inputs_of(node_def);
    const std::vector<DType> types = saver_types(node_def);
    if (!save.readable() || save.slices == kNoNode || types.empty()) return std::nullopt;
    for (const SavedTensor& tensor : save.tensors) {
      if (tensor.slot >= types.size()) continue;
      saved.push_back(
          {tensor.key, tensor.slice, base_type(types[tensor.slot]), inputs[save.first_tensor + tensor.slot]});
    }
  }
  return saved;
}

}  // namespace

std::optional<SaverFunctions> find_saver_functions(const MetaGraph& meta, const Names& names,
                                                   const std::function<const Edges&()>& producers) {
  const SaverDefNodes def = saver_def_nodes(meta.part(meta_field::kSaver), names);
  if (def.filename == kNoNode || def.save == kNoNode || def.restore == kNoNode) return std::nullopt;
  SaverFunctions saver;
  saver.filename = def.filename;
  std::unordered_map<std::string_view, std::string_view> save_functions, restore_functions;
  for (Fields fields(meta.graph.part(graph_field::kLibrary)); fields.next();) {
    if (!fields->bytes(1)) continue;
    bool saves = false, restores = false;
    each_node_in(fields->value, *meta.graph.arena(), [&](std::string_view node_def) {
      const std::string_view op = node_op(node_def);
      saves = saves || is_save_v2_op(op);
      restores = restores || is_restore_v2_op(op);
    });
    if (saves) save_functions.emplace(function_name(fields->value), fields->value);
    if (restores) restore_functions.emplace(function_name(fields->value), fields->value);
  }
  if (restore_functions.empty()) return std::nullopt;
  const auto each_call = [&](NodeId end, const auto& functions, const auto& use) {
    NodeSet seen(meta.graph.size());
    seen.add(end);
    std::vector<NodeId> stack{end};
    while (!stack.empty()) {
      const NodeId id = stack.back();
      stack.pop_back();
      const auto function = functions.find(called_function(meta.graph.bytes(id)));
      if (function != functions.end()) {
        use(id, *function);
        continue;
      }
      const auto sources = producers().of(id);
      for (auto source = sources.rbegin(); source != sources.rend(); ++source) {
        if (seen.add(*source)) stack.push_back(*source);
      }
    }
  };
  bool known = true;
  each_call(def.save, save_functions, [&](NodeId call, const auto& function) {
    auto saved = saved_in(function.second);
    known = known && saved && !saved->empty();
    if (known) saver.saves.push_back({call, std::string(function.first), function.second, std::move(*saved)});
  });
  each_call(def.restore, restore_functions, [&](NodeId call, const auto& function) {
    saver.restores.push_back({call, std::string(function.first), function.second});
  });
  if (!known || saver.restores.empty()) return std::nullopt;
  return saver;
}

std::string with_restored_keys(std::string_view function_def,
                               const std::function<std::string(const std::string&)>& key) {
  Graph body(function_def, function_field::kNode, std::make_shared<Arena>());
  body.decode();
  const std::vector<SaverNode> restores = find_savers(body, Names(body)).restores;
  for (const SaverNode& restore : restores) {
    if (!restore.readable())
      throw refused("its keys are no constant")
          .of(quoted("node", address(function_name(function_def), body.name(restore.node))));
  }
  rekey(body, restores, key);
  StringSink out;
  body.write(out);
  return out.text;
}

Inliner::Inliner(std::string_view function_def, Registry& ops, const std::vector<std::string>& arguments,
                 std::function<std::string(std::string_view)> free_name, std::function<void(std::string)> add)
    : ops_(ops),
      nodes_(nodes_of(function_def, made_bytes_)),
      free_name_(std::move(free_name)),
      add_(std::move(add)) {
  size_t position = 0;
  for (const std::string_view name : argument_names(last_bytes(function_def, function_field::kSignature))) {
    if (position < arguments.size()) arguments_.emplace(name, arguments[position]);
    ++position;
  }
}

std::string Inliner::inlined(std::string_view value, int depth) {
  const Input input = parse_body_input(value);
  if (const auto argument = arguments_.find(input.node); argument != arguments_.end())
    return argument->second;
  const auto found = nodes_.find(input.node);
  if (found == nodes_.end() || depth > kMostSteps)
    throw Error(Cause::kRefused, "is not made as a saver makes it").of(quoted("saved value", value));
  const std::string_view node_def = found->second;
  const std::vector<std::string> inputs = inputs_of(node_def);
  if (is_identity_op(node_op(node_def)) && !inputs.empty()) return inlined(inputs[0], depth + 1);
  Made& made = made_[found->first];
  if (made.name.empty()) {
    std::vector<std::string> mapped;
    for (const std::string_view one : inputs) {
      if (!one.starts_with('^')) mapped.push_back(inlined(one, depth + 1));
    }
    made.name = free_name_(found->first);
    if (const auto outputs = output_names(ops_, node_def)) {
      for (uint32_t i = 0; i < outputs->size(); ++i)
        made.outputs.emplace(std::pair((*outputs)[i].arg, (*outputs)[i].index), i);
    }
    std::string renamed;
    append_bytes_field(renamed, node_field::kName, made.name);
    const std::string rewired = with_inputs(node_def, mapped);
    for (Fields fields(rewired); fields.next();) {
      if (!fields->bytes(node_field::kName)) renamed += fields->raw;
    }
    add_(std::move(renamed));
  }
  // Which output it is, counted over all arguments of the op.
  const size_t colon = input.port.find(':');
  uint32_t index = 0;
  if (colon != std::string_view::npos) {
    const auto output = made.outputs.find({input.port.substr(0, colon), parse_body_port(input.port).number});
    if (output != made.outputs.end()) index = output->second;
  }
  return index == 0 ? made.name : made.name + ":" + std::to_string(index);
}

}  // namespace gedit
