#include "draw/wiring.h"

#include <algorithm>

#include "draw/describe.h"
#include "graph/library.h"
#include "graph/string_const.h"
#include "graph/types.h"
#include "graph/wiring.h"
#include "model/collections.h"
#include "ops/kinds.h"

namespace gedit {
namespace {

constexpr uint32_t kNoVertex = 0xffffffff;
constexpr size_t kLongestType = 100;  // `float32[...]`, in bytes

std::string variable_shape_text(std::string_view node_def) {
  const auto shape = find_attr(node_def, "shape");
  return shape ? shape_text(parse_shape_proto(last_bytes(*shape, attr_field::kShape))) : std::string();
}

class Wirer {
 public:
  Wirer(const GraphIndex& index, const LikeNodes& like, OpDefs& ops, const GraphShapes* shapes,
        std::vector<std::string>& types)
      : index_(index),
        graph_(index.graph()),
        like_(like),
        ops_(ops),
        shapes_(shapes),
        types_(types),
        type_of_kind_(like.size()) {
    if (types_.empty()) types_.emplace_back();
    for (uint32_t i = 0; i < types_.size(); ++i) type_index_.emplace(types_[i], i);
  }

  Wiring run(const std::vector<std::string_view>& initializers, const NodeSet* own) {
    vertices();
    inputs();
    for (uint32_t v = 0; v < size(); ++v) {
      if (wiring_.seat[v] != Seat::kScope)
        wiring_.type.push_back(type_of(v, 0));
      else
        wiring_.type.push_back(0);
    }
    own_ = own;
    find_readers();
    parts_of_state(initializers);
    reads();
    constants();
    return std::move(wiring_);
  }

 private:
  uint32_t size() const { return static_cast<uint32_t>(wiring_.vertices.size()); }
  std::string_view op(uint32_t v) const { return wiring_.vertices[v].op; }
  bool is(uint32_t v, OpKinds any) const { return v < graph_.size() && graph_.is(NodeId{v}, any); }
  bool is_state(uint32_t v) const { return is(v, OpKind::kVariable | OpKind::kTable); }
  bool must_own(uint32_t v) const { return own_ != nullptr && v < graph_.size() && own_->has(NodeId{v}); }

  void vertices() {
    wiring_.vertices.reserve(graph_.size());
    for (uint32_t i = 0; i < graph_.size(); ++i) {
      const bool removed = graph_.removed(NodeId{i});
      if (removed) {
        wiring_.vertices.emplace_back();
      } else {
        const NodeId id{i};
        const std::string_view node_def = graph_.bytes(id);
        const uint16_t number = like_.of(id);
        const bool placed = number == LikeNodes::kNone || like_.kind(number).placed;
        wiring_.vertices.push_back({node_name(node_def), graph_.op(id),
                                    placed ? node_device(node_def) : std::string_view(), node_def});
      }
      wiring_.seat.push_back(removed ? Seat::kScope : Seat::kBox);
    }
    if (graph_.is_body()) {
      const OpDef signature = parse_op_def(function_signature(graph_));
      for (const ArgDef& argument : signature.inputs) {
        arguments_.emplace(argument.name, size());
        argument_types_.push_back(static_cast<DType>(argument.type));
        wiring_.vertices.push_back({argument.name, "argument", {}, {}});
        wiring_.seat.push_back(Seat::kBox);
      }
      for (const Part& part : graph_.parts()) {
        if (part.field != function_field::kRet && part.field != function_field::kControlRet) continue;
        Fields fields(part.raw);
        if (!fields.next()) continue;
        const MapEntry entry = map_entry(fields->value);
        results_.emplace_back(entry.value, part.field == function_field::kControlRet);
        wiring_.vertices.push_back({entry.key, "result", {}, {}});
        wiring_.seat.push_back(Seat::kBox);
      }
    }
    wiring_.host.resize(size());
    for (uint32_t v = 0; v < size(); ++v) wiring_.host[v] = v;
  }

  void inputs() {
    for (uint32_t v = 0; v < size(); ++v) {
      wiring_.begins.push_back(static_cast<uint32_t>(wiring_.inputs.size()));
      if (wiring_.seat[v] == Seat::kScope) continue;
      const size_t first_result = size() - results_.size();
      if (v >= first_result) {
        const auto& [text, control] = results_[v - first_result];
        const Input input = parse_input_of(graph_, text);
        add_input(input, vertex(input.node), control);
      } else if (v < graph_.size()) {
        const std::span<const NodeId> producers = index_.producers().of(NodeId{v});
        const LikeKind& kind = like_.kind(like_.of(NodeId{v}));
        if (kind.first_outputs && index_.producers().complete()) {
          for (size_t k = 0; k < producers.size(); ++k) {
            const uint32_t from = index_of(producers[k]);
            const bool control = k >= kind.data_inputs;
            wiring_.inputs.push_back({from, control ? 0 : type_of(from, 0), control});
          }
          continue;
        }
        size_t at = 0;
        each_input(wiring_.vertices[v].bytes, [&](std::string_view text) {
          const Input input = parse_input_of(graph_, text);
          add_input(input, index_.producers().complete() ? index_of(producers[at++]) : vertex(input.node),
                    false);
        });
      }
    }
    wiring_.begins.push_back(static_cast<uint32_t>(wiring_.inputs.size()));
  }

  void add_input(const Input& input, uint32_t from, bool control) {
    control = control || input.control;
    if (from == kNoVertex) return;  // gedit check tells
    wiring_.inputs.push_back({from, control ? 0 : type_of(from, port(from, input)), control});
  }

  uint32_t vertex(std::string_view name) const {
    const NodeId id = index_.names().find(name);
    if (id != kNoNode) return index_of(id);
    const auto found = arguments_.find(name);
    return found == arguments_.end() ? kNoVertex : found->second;
  }

  // The number of the output; in a body `name:k` is that of the k-th tensor of an output.
  uint32_t port(uint32_t from, const Input& input) {
    if (!graph_.is_body() || input.port.empty()) return input.index();
    const auto [output, index] = parse_body_port(input.port);
    if (from >= graph_.size() || output.empty()) return 0;
    const OpDef* def = ops_.find(op(from));
    if (def == nullptr || def->outputs.size() == 1) return index;
    const auto [found, fresh] = output_begins_.try_emplace(from);
    if (fresh && output_names(*def, wiring_.vertices[from].bytes, output_names_)) {
      for (uint32_t i = 0; i < output_names_.size(); ++i) {
        if (output_names_[i].index == 0) found->second.emplace(output_names_[i].arg, i);
      }
    }
    const auto begin = found->second.find(output);
    return begin == found->second.end() ? kNoVertex : begin->second + index;
  }

  // Most nodes have one output that matters; of the others all are found at once.
  uint32_t type_of(uint32_t v, uint32_t output) {
    if (first_type_.size() < size()) first_type_.resize(size(), kNoVertex);
    if (output == 0) {
      if (first_type_[v] == kNoVertex) first_type_[v] = first_type(v);
      return first_type_[v];
    }
    if (v >= graph_.size()) return 0;
    const auto [found, fresh] = other_types_.try_emplace(v);
    if (fresh) find_types(v, found->second);
    return output < found->second.size() ? found->second[output] : 0;
  }

  uint32_t first_type(uint32_t v) {
    const Vertex& from = wiring_.vertices[v];
    if (v >= graph_.size()) {
      const size_t argument = v - graph_.size();
      const bool known = argument < argument_types_.size() && argument_types_[argument] != DType::kInvalid;
      return known ? type_index(dtype_name(argument_types_[argument])) : 0;
    }
    const uint16_t number = like_.of(NodeId{v});
    TypeOfKind own;
    TypeOfKind& known = number != LikeNodes::kNone ? type_of_kind_[number] : own;
    if (!known.looked) {
      known.type = dtype_of(from, 0);
      known.stated = output_shape(from.bytes, 0);
    }
    Shape shape = shape_of(v, 0, known.stated);
    if (!known.looked || shape != known.shape) {
      known.index = type_index(type_text(from, known.type, shape));
      known.shape = std::move(shape);
      known.looked = true;
    }
    return known.index;
  }

  void find_types(uint32_t v, std::vector<uint32_t>& found) {
    const Vertex& from = wiring_.vertices[v];
    dtype_of(from, 0);
    const std::vector<DType> types = output_types_;
    size_t output = 0;
    if (const auto shapes = find_attr(from.bytes, "_output_shapes")) {
      for (Fields list(last_bytes(*shapes, attr_field::kList)); list.next();) {
        if (!list->bytes(attr_field::kShape)) continue;
        const DType type = output < types.size() ? types[output] : DType::kInvalid;
        found.push_back(
            type_index(type_text(from, type, shape_of(v, output, parse_shape_proto(list->value)))));
        ++output;
      }
    }
    for (; output < types.size(); ++output)
      found.push_back(type_index(type_text(from, types[output], shape_of(v, output, std::nullopt))));
  }

  // As the file says it, else as it follows.
  Shape shape_of(uint32_t v, size_t output, Shape stated) const {
    if (stated || shapes_ == nullptr || v >= graph_.size()) return stated;
    return shapes_->shape(NodeId{v}, static_cast<uint32_t>(output));
  }

  // Of all outputs in output_types_.
  DType dtype_of(const Vertex& from, size_t output) {
    const OpDef* def = ops_.find(from.op);
    output_types_.clear();
    if (def == nullptr || !output_types(*def, from.bytes, output_types_)) output_types_.clear();
    return output < output_types_.size() ? output_types_[output] : DType::kInvalid;
  }

  static std::string type_text(const Vertex& from, DType type, const Shape& shape) {
    if (type == DType::kInvalid) return shape_text(shape);
    std::string text = dtype_name(base_type(type));
    if (text != "resource") return text + shape_text(shape);
    // The shape of a handle tells nothing, that of its variable does.
    const auto dtype = type_attr(from.bytes, "dtype");
    if (is_var_handle_op(from.op) && dtype)
      text += " " + dtype_name(*dtype) + variable_shape_text(from.bytes);
    return text;
  }

  uint32_t type_index(const std::string& text) {
    const auto [found, fresh] =
        type_index_.try_emplace(shortened(text, kLongestType), static_cast<uint32_t>(types_.size()));
    if (fresh) types_.push_back(found->first);
    return found->second;
  }

  // What is known of output 0 of nodes of a kind: the shape that the file says, and the last that there was.
  struct TypeOfKind {
    bool looked = false;
    DType type = DType::kInvalid;
    Shape stated{}, shape{};
    uint32_t index = 0;  // of the text for `shape`
  };

  // How many inputs of others each vertex feeds, and whether any of them is data.
  void find_readers() {
    readers_.assign(size(), 0);
    feeds_data_.assign(size(), false);
    for (const Wiring::Input& input : wiring_.inputs) {
      ++readers_[input.from];
      if (!input.control) feeds_data_[input.from] = true;
    }
  }

  const Wiring::Input* first_data(uint32_t v) const {
    for (uint32_t i = wiring_.begins[v]; i < wiring_.begins[v + 1]; ++i) {
      if (!wiring_.inputs[i].control) return &wiring_.inputs[i];
    }
    return nullptr;
  }

  // Initializers with what only they need, and what only asks for the state, sit in its box.
  void parts_of_state(const std::vector<std::string_view>& initializers) {
    NodeSet named(graph_.size());
    for (const std::string_view name : initializers) {
      const NodeId id = index_.names().find(node_of(name));
      if (id != kNoNode) named.add(id);
    }
    for (uint32_t v = 0; v < graph_.size(); ++v) {
      if (wiring_.seat[v] != Seat::kBox || must_own(v)) continue;
      const Wiring::Input* first = first_data(v);
      if (first == nullptr || !is_state(first->from)) continue;
      const uint32_t state = first->from;
      const std::string_view name = wiring_.vertices[v].name;
      const bool below = in_scope(name, wiring_.vertices[state].name);
      const bool initializes = is(v, OpKind::kTableInitializer) ||
                               (is(v, OpKind::kAssign) &&
                                (named.has(NodeId{v}) ||
                                 (below && name.substr(wiring_.vertices[state].name.size()) == "/Assign")));
      const bool asks =
          below && (is(v, OpKind::kAsksInitialized) || (is(v, OpKind::kReadsValue) && readers_[v] == 0));
      if (initializes || asks) sit(v, state);
    }
    while (!waiting_.empty()) {
      const uint32_t v = waiting_.back();
      waiting_.pop_back();
      for (uint32_t i = wiring_.begins[v]; i < wiring_.begins[v + 1]; ++i) {
        const uint32_t from = wiring_.inputs[i].from;
        if (from >= graph_.size() || wiring_.seat[from] != Seat::kBox) continue;
        const uint32_t host = wiring_.host[v];
        if (inside_.try_emplace(from, host).first->second != host) continue;  // shared by two: in neither
        if (--readers_[from] > 0) continue;
        if (is_state(from) || must_own(from) || is(from, OpKind::kPlaceholder)) continue;
        sit(from, host);
      }
    }
  }

  void sit(uint32_t v, uint32_t host) {
    wiring_.seat[v] = Seat::kPart;
    wiring_.host[v] = host;
    waiting_.push_back(v);
  }

  void reads() {
    for (uint32_t v = 0; v < graph_.size(); ++v) {
      if (wiring_.seat[v] != Seat::kBox || must_own(v) || !is(v, OpKind::kReadsValue) || !feeds_data_[v])
        continue;
      const Wiring::Input* first = first_data(v);
      if (first == nullptr) continue;
      const uint32_t from = first->from;
      const bool resource = from >= graph_.size() && is(v, OpKind::kReadsHandle);
      if (!resource && !is(from, OpKind::kVariable) && (!is(from, OpKind::kConst) || must_own(from)))
        continue;
      wiring_.seat[v] = Seat::kRead;
      wiring_.host[v] = from;
    }
  }

  // A function is handed its variables, which then are rows as well.
  void constants() {
    for (uint32_t v = 0; v < size(); ++v) {
      if (wiring_.seat[v] != Seat::kBox || !feeds_data_[v] || must_own(v)) continue;
      const bool handed = v >= graph_.size() && types_[wiring_.type[v]] == "resource";
      if (is(v, OpKind::kConst) || handed) wiring_.seat[v] = Seat::kConst;
    }
  }

  const GraphIndex& index_;
  const Graph& graph_;
  const LikeNodes& like_;
  OpDefs& ops_;
  const GraphShapes* shapes_;
  std::vector<std::string>& types_;
  std::vector<TypeOfKind> type_of_kind_;
  std::unordered_map<std::string, uint32_t> type_index_;
  Wiring wiring_;
  const NodeSet* own_ = nullptr;
  std::unordered_map<std::string_view, uint32_t> arguments_;
  std::vector<DType> argument_types_;
  std::vector<std::pair<std::string_view, bool>> results_;  // what each reads, and whether for control only
  std::vector<uint32_t> first_type_, readers_;
  std::vector<bool> feeds_data_;
  std::vector<uint32_t> waiting_;
  std::unordered_map<uint32_t, uint32_t> inside_;                    // of what parts read: whose parts
  std::unordered_map<uint32_t, std::vector<uint32_t>> other_types_;  // of all outputs, by vertex
  // In a body: where the tensors of each output of a vertex begin.
  std::unordered_map<uint32_t, std::unordered_map<std::string_view, uint32_t>> output_begins_;
  std::vector<DType> output_types_;
  std::vector<OutputName> output_names_;
};

}  // namespace

Wiring wire(const GraphIndex& index, const LikeNodes& like, OpDefs& ops,
            const std::vector<std::string_view>& initializers, const NodeSet* own, const GraphShapes* shapes,
            std::vector<std::string>& types) {
  return Wirer(index, like, ops, shapes, types).run(initializers, own);
}

}  // namespace gedit
