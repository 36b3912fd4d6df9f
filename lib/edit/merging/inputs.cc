#include "edit/merging/inputs.h"

#include <algorithm>
#include <set>
#include <unordered_set>

#include "base/error.h"
#include "base/map_entry.h"
#include "base/message_edit.h"
#include "base/near.h"
#include "base/parallel.h"
#include "base/size.h"
#include "edit/basis/key_value.h"
#include "graph/frames.h"
#include "graph/node_front.h"
#include "graph/types.h"
#include "graph/wiring.h"
#include "model/references.h"
#include "ops/kinds.h"

namespace gedit {
namespace {

constexpr size_t kMostNamed = 8;  // nodes of a cycle in a message

Error map_refused(std::string message) { return refused(std::move(message)).of("input map"); }

std::string single_quoted(std::string_view name) { return "'" + printable(name) + "'"; }

}  // namespace

InputMap::InputMap(MergeParts& parts, const MergedNames& names, const Model& signatures,
                   const std::vector<std::string>& pairs, bool share)
    : parts_(parts) {
  if (pairs.empty()) return;
  locate(names, signatures, pairs);
  find_readers(share);
  drop_repeated_controls();
  for (const MergedInput& pair : pairs_) {
    check_types(pair);
    shapes_.push_back(compare_shapes(pair));
  }
  drop_stale_shapes();
}

// What is below a tensor of another shape, or of a shape that is not known any more.
void InputMap::drop_stale_shapes() {
  std::vector<bool> stale(parts_.size());
  for (bool more = true; more;) {
    more = false;
    for (size_t i = 0; i < pairs_.size(); ++i) {
      const MergedInput& pair = pairs_[i];
      if (pair.control || (shapes_[i].same && !stale[pair.value_node.part])) continue;
      for (const MergedInput::Reader& reader : pair.readers) {
        more = more || !stale[reader.part];
        stale[reader.part] = true;
      }
    }
  }
  for (const auto& part : parts_) {
    if (stale[part->number])
      part->drop_stale_shapes([this, number = part->number](NodeId id) { return stale_shapes(number, id); });
  }
}

void InputMap::locate(const MergedNames& names, const Model& signatures,
                      const std::vector<std::string>& pairs) {
  std::vector<InputPair> written = parse_input_map(pairs);
  std::set<std::string> keys;
  std::vector<std::string_view> wanted;
  for (InputPair& pair : written) {
    for (std::string* text : {&pair.key, &pair.value}) {
      if (const auto name = signature_tensor(signatures, *text)) *text = *name;
      *text = canonical_input(*text);
      wanted.push_back(parse_input(*text).node);
    }
    if (!keys.insert(pair.key).second)
      throw Error(Cause::kUsage, single_quoted(pair.key) + " is mapped twice").of("input map");
  }
  const std::vector<MergePlace> places = names.find(wanted);
  for (size_t i = 0; i < written.size(); ++i) {
    for (const size_t k : {2 * i, 2 * i + 1}) {
      if (places[k].node != kNoNode) continue;
      Near near(wanted[k]);
      names.each([&](const std::string& name) { near.offer(name); });
      throw map_refused(single_quoted(wanted[k]) + ": no such node").hint(near.did_you_mean());
    }
    const Input key = parse_input(written[i].key), value = parse_input(written[i].value);
    MergedInput pair{written[i].key, written[i].value, places[2 * i], places[2 * i + 1],
                     key.index(),    value.index(),    key.control,   {}};
    if (!pair.control) {
      check_output(pair.key_node, pair.key_index, pair.key);
      check_output(pair.value_node, pair.value_index, pair.value);
    }
    pairs_.push_back(std::move(pair));
  }
}

const InputMap::Types& InputMap::types_of_outputs(const MergePlace& place) {
  const auto [found, fresh] = output_types_.try_emplace(position(place));
  MergePart& part = *parts_[place.part];
  if (fresh) found->second = output_types(part.ops, part.graph().bytes(place.node));
  return found->second;
}

const InputMap::Types& InputMap::types_of_inputs(const MergePlace& place) {
  const auto [found, fresh] = input_types_.try_emplace(position(place));
  MergePart& part = *parts_[place.part];
  if (fresh) found->second = input_types(part.ops, part.graph().bytes(place.node));
  return found->second;
}

DType InputMap::type_of(const MergePlace& place, uint32_t index) {
  const Types& types = types_of_outputs(place);
  return types && index < types->size() ? (*types)[index] : DType::kInvalid;
}

Shape InputMap::shape_of(const MergePlace& place, uint32_t index) {
  const auto [found, fresh] = shapes_of_nodes_.try_emplace(position(place));
  if (fresh) {
    const Graph& graph = parts_[place.part]->graph();
    found->second = output_shapes(graph.bytes(place.node));
    Shape& first = found->second.front();
    if (first && first->empty() && says_scalar_of_unknown(graph, place.node)) first = std::nullopt;
  }
  return index < found->second.size() ? found->second[index] : std::nullopt;
}

// As shape_of(), and what follows from the operand where its file does not say.
Shape InputMap::known_shape_of(const MergePlace& place, uint32_t index) {
  MergePart& part = *parts_[place.part];
  InferredShapes& inferred = inferred_.try_emplace(place.part, part.graph(), part.ops).first->second;
  return inferred.known({place.node, index}, shape_of(place, index));
}

void InputMap::check_output(const MergePlace& place, uint32_t index, const std::string& text) {
  const std::string_view node_def = parts_[place.part]->graph().bytes(place.node);
  const Types& types = types_of_outputs(place);
  if (!types || index < types->size()) return;
  const size_t count = types->size();
  throw map_refused(single_quoted(text) + ": " + quoted("node", parse_input(text).node) + " (" +
                    printable(node_op(node_def)) + ") has " + counted_or_no(count, "output"));
}

// In one pass over the inputs of each operand that can read a KEY.
void InputMap::find_readers(bool share) {
  for (const auto& part : parts_) {
    std::unordered_map<std::string, size_t> wanted;  // as the operand writes it
    uint64_t sizes = 0;                              // of the node's names, modulo 64
    for (size_t i = 0; i < pairs_.size(); ++i) {
      const MergedInput& pair = pairs_[i];
      const Input key = parse_input(pair.key);
      std::string local;
      if (pair.key_node.part == part->number) {
        local = part->graph().name(pair.key_node.node);
      } else if (share && key.node.starts_with(part->prefix)) {
        local = key.node.substr(part->prefix.size());
      } else {
        continue;
      }
      sizes |= uint64_t{1} << (local.size() & 63);
      local = pair.control ? "^" + local : tensor_text(local, pair.key_index);
      wanted[std::move(local)] = i;
    }
    if (wanted.empty()) continue;
    struct Read {
      size_t pair;
      MergedInput::Reader reader;
    };
    const Graph& graph = part->graph();
    const auto find = [&](PieceRange nodes) {
      std::vector<Read> found;
      for (uint32_t i = nodes.begin; i < nodes.end; ++i) {
        uint32_t slot = 0;
        each_input_of(graph, NodeId{i}, [&](std::string_view text) {
          if ((sizes >> (parse_input(text).node.size() & 63) & 1) != 0) {
            if (const auto pair = wanted.find(canonical_input(text)); pair != wanted.end())
              found.push_back({pair->second, {part->number, NodeId{i}, slot}});
          }
          ++slot;
        });
      }
      return found;
    };
    for (const auto& [number, reader] : found_in_pieces(graph.size(), find)) {
      pairs_[number].readers.push_back(reader);
      part->read_instead(reader.node, reader.slot, pairs_[number].value);
    }
  }
}

// Two control inputs that become one are one.
void InputMap::drop_repeated_controls() {
  std::set<std::pair<size_t, NodeId>> done;
  for (const MergedInput& pair : pairs_) {
    if (!pair.control) continue;
    for (const MergedInput::Reader& reader : pair.readers) {
      if (!done.emplace(reader.part, reader.node).second) continue;
      MergePart& part = *parts_[reader.part];
      std::set<std::string> seen;
      NodeHead head = node_head(part.graph().bytes(reader.node));
      head.id = reader.node;
      each_input(part.graph().bytes(reader.node), [&](std::string_view input) {
        std::string text;
        part.input(head, input, text);
        if (input.starts_with('^') && !seen.insert(text).second)
          part.read_instead(head.id, head.slot, std::nullopt);
        ++head.slot;
      });
    }
  }
}

void InputMap::check_types(const MergedInput& pair) {
  if (pair.control) return;
  const DType type = type_of(pair.value_node, pair.value_index);
  if (type == DType::kInvalid || type == type_of(pair.key_node, pair.key_index)) return;
  for (const MergedInput::Reader& reader : pair.readers) {
    const MergePart& part = *parts_[reader.part];
    const Types& types = types_of_inputs({reader.part, reader.node});
    const DType wanted = types && reader.slot < types->size() ? (*types)[reader.slot] : DType::kInvalid;
    if (fits(type, wanted)) continue;
    throw map_refused(single_quoted(pair.value) + " is " + dtype_name(type) + ", " +
                      single_quoted(part.name_of(part.graph().name(reader.node))) + " reads " +
                      dtype_name(wanted) + " from " + single_quoted(pair.key));
  }
}

InputMap::Shapes InputMap::compare_shapes(const MergedInput& pair) {
  if (pair.control) return {true, ""};
  const Shape was = shape_of(pair.key_node, pair.key_index);
  const Shape now = shape_of(pair.value_node, pair.value_index);
  const DType type = type_of(pair.value_node, pair.value_index);
  const bool same =
      was && now && *was == *now && type != DType::kInvalid && type == type_of(pair.key_node, pair.key_index);
  const Shape key = known_shape_of(pair.key_node, pair.key_index);
  const Shape value = known_shape_of(pair.value_node, pair.value_index);
  return {same, compatible(key, value) ? ""
                                       : single_quoted(pair.value) + " is " + shape_text(value) + ", " +
                                             single_quoted(pair.key) + " was " + shape_text(key)};
}

void InputMap::warn(std::vector<std::string>& warnings) const {
  for (size_t i = 0; i < pairs_.size(); ++i) {
    if (pairs_[i].readers.empty())
      warnings.push_back("input map: nothing reads " + single_quoted(pairs_[i].key));
    if (!shapes_[i].difference.empty()) warnings.push_back("input map: " + shapes_[i].difference);
  }
}

void InputMap::warn_of_unfed(const MergedNames& names, const MetaGraph& merged,
                             std::vector<std::string>& warnings) const {
  if (pairs_.empty()) return;
  std::map<std::string, size_t> values;
  for (const MergedInput& pair : pairs_) values[pair.value] = position(pair.value_node);
  for (const std::string_view bytes : merged.parts_of(meta_field::kSignature)) {
    const MapEntry entry = map_entry(bytes);
    std::vector<std::string_view> tensors;
    const auto take = [&](const SchemaField&, std::string_view name, int) {
      tensors.push_back(node_of(name));
    };
    each_name(entry.value, kSignatureInputs, take);
    const size_t fed = tensors.size();
    const std::string outputs = only_fields(entry.value, [](const Field& field) { return field.bytes(2); });
    each_name(outputs, kSignatureDef, take);
    const std::vector<MergePlace> places = names.find(tensors);
    std::unordered_set<size_t> seen;
    std::vector<size_t> open;
    std::set<size_t> parts;  // that the outputs are of
    for (size_t i = 0; i < places.size(); ++i) {
      if (places[i].node == kNoNode) continue;
      if (i >= fed) parts.insert(places[i].part);
      if (seen.insert(position(places[i])).second && i >= fed) open.push_back(position(places[i]));
    }
    while (!open.empty()) {
      const size_t at = open.back();
      open.pop_back();
      const MergePlace place = place_at(at);
      const Graph& graph = parts_[place.part]->graph();
      if (!parts.contains(place.part) && graph.is(place.node, OpKind::kMustBeFed)) {
        warnings.push_back(quoted("signature", entry.key) + ": its outputs need placeholder '" +
                           printable(parts_[place.part]->name_of(graph.name(place.node))) +
                           "', which is none of its inputs");
      }
      for (const size_t source : inputs_of(at, values)) {
        if (seen.insert(source).second) open.push_back(source);
      }
    }
  }
}

// ---------------------------------------------------------------------------------------------------------------------

MergePlace InputMap::place_at(size_t position) const {
  // Of operands without nodes the last one begins where the next does.
  const auto next = std::upper_bound(parts_.begin(), parts_.end(), position,
                                     [](size_t at, const auto& part) { return at < part->first; });
  const MergePart& part = **(next - 1);
  return {part.number, NodeId{static_cast<uint32_t>(position - part.first)}};
}

// Positions of the nodes that the node reads in the merged graph; without the way back in a loop.
std::vector<size_t> InputMap::inputs_of(size_t at, const std::map<std::string, size_t>& values) const {
  const MergePlace place = place_at(at);
  const MergePart& part = *parts_[place.part];
  const std::string_view node_def = part.graph().bytes(place.node);
  const bool merges = is_merge_op(node_op(node_def));
  std::vector<size_t> inputs;
  uint32_t slot = 0;
  each_input(node_def, [&](std::string_view text) {
    if (const std::string* mapped = part.read_now(place.node, slot++)) {
      if (mapped != &MergePart::kDropped) inputs.push_back(values.at(*mapped));
      return;
    }
    const NodeId id = part.facts.names().find(parse_input(text).node);
    if (id == kNoNode || (merges && is_next_iteration_op(node_op(part.graph().bytes(id))))) return;
    inputs.push_back(position({place.part, id}));
  });
  return inputs;
}

// Tarjan's components, over what the VALUEs are made from: a mapped input closes a cycle if both of its ends
// are in one. O(nodes + edges) of the operands that can have one.
void InputMap::check_cycles() const {
  // Which operands read each other through the map.
  std::vector<std::set<size_t>> sources(parts_.size());
  for (const MergedInput& pair : pairs_) {
    for (const MergedInput::Reader& reader : pair.readers) sources[reader.part].insert(pair.value_node.part);
  }
  bool shared = false;
  for (const auto& part : parts_) shared = shared || !part->shared().empty();
  std::vector<bool> cyclic(parts_.size(), shared);
  for (size_t start = 0; start < parts_.size(); ++start) {
    std::set<size_t> seen;
    std::vector<size_t> stack(sources[start].begin(), sources[start].end());
    while (!stack.empty()) {
      const size_t part = stack.back();
      stack.pop_back();
      if (part == start) cyclic[start] = true;
      if (seen.insert(part).second) stack.insert(stack.end(), sources[part].begin(), sources[part].end());
    }
  }
  if (std::none_of(cyclic.begin(), cyclic.end(), [](bool is) { return is; })) return;

  std::map<std::string, size_t> values;
  for (const MergedInput& pair : pairs_) values[pair.value] = position(pair.value_node);
  const size_t total = parts_.back()->first + parts_.back()->graph().size();
  constexpr uint32_t kUnseen = 0;
  std::vector<uint32_t> order(total, kUnseen), low(total), component(total, kUnseen);
  struct Visit {
    size_t at;
    std::vector<size_t> inputs;
    size_t next = 0;
  };
  std::vector<Visit> visits;
  std::vector<size_t> open;
  uint32_t seen = 0, components = 0;
  const auto enter = [&](size_t at) {
    order[at] = low[at] = ++seen;
    open.push_back(at);
    visits.push_back({at, inputs_of(at, values)});
  };
  for (const auto& [text, start] : values) {
    if (order[start] != kUnseen) continue;
    enter(start);
    while (!visits.empty()) {
      const size_t at = visits.back().at;
      if (visits.back().next < visits.back().inputs.size()) {
        const size_t input = visits.back().inputs[visits.back().next++];
        if (order[input] == kUnseen) {
          enter(input);
        } else if (component[input] == kUnseen) {
          low[at] = std::min(low[at], order[input]);
        }
        continue;
      }
      visits.pop_back();
      if (!visits.empty()) low[visits.back().at] = std::min(low[visits.back().at], low[at]);
      if (low[at] != order[at]) continue;
      ++components;
      for (size_t member = total; member != at;) {
        member = open.back();
        open.pop_back();
        component[member] = components;
      }
    }
  }
  for (const MergedInput& pair : pairs_) {
    const size_t value = position(pair.value_node);
    for (const MergedInput::Reader& reader : pair.readers) {
      const size_t at = position({reader.part, reader.node});
      if (component[at] != kUnseen && component[at] == component[value]) refuse_cycle(pair, at, values);
    }
  }
}

// Names the nodes from the VALUE back to the reader of the KEY.
void InputMap::refuse_cycle(const MergedInput& pair, size_t reader,
                            const std::map<std::string, size_t>& values) const {
  const size_t value = position(pair.value_node);
  std::unordered_map<size_t, size_t> from{{value, value}};
  std::vector<size_t> queue{value};
  for (size_t next = 0; next < queue.size() && !from.contains(reader); ++next) {
    for (const size_t input : inputs_of(queue[next], values)) {
      if (from.emplace(input, queue[next]).second) queue.push_back(input);
    }
  }
  std::vector<size_t> way{reader};
  while (way.back() != value) way.push_back(from.at(way.back()));
  std::string names;
  for (size_t i = 0; i < way.size(); ++i) {
    if (i == kMostNamed) {
      names += "..., ";
      break;
    }
    const MergePlace place = place_at(way[way.size() - 1 - i]);
    const MergePart& part = *parts_[place.part];
    names += printable(part.name_of(part.graph().name(place.node))) + ", ";
  }
  throw map_refused(single_quoted(pair.key + "=" + pair.value) + " makes a cycle: " + names +
                    printable(pair.key));
}

}  // namespace gedit
