#include "edit/changing/cast_constants.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "base/error.h"
#include "edit/functions/function_def.h"
#include "fold/const_tensor.h"
#include "graph/wiring.h"
#include "weights/casting.h"

namespace gedit {
namespace {

constexpr size_t kCastAtOnce = size_t{1} << 16;
constexpr uint64_t kLongConstant = 4096;  // bytes from which on values are not brought into memory

// Calls use(bytes) for the numbers that the value holds, cast, in pieces; number of those that became
// infinite.
template <typename Use>
uint64_t each_cast(const folding::ConstTensor& value, const Casting& casting, Use use) {
  std::vector<char> cast(kCastAtOnce * dtype_width(casting.to));
  const char* from = value.bytes().data();
  uint64_t overflows = 0;
  for (uint64_t left = value.held(); left > 0;) {
    const size_t count = std::min<uint64_t>(left, kCastAtOnce);
    overflows += cast_elements(casting, from, cast.data(), count);
    use(std::string_view(cast.data(), count * dtype_width(casting.to)));
    from += count * dtype_width(casting.from);
    left -= count;
  }
  return overflows;
}

// How many of the elements behind those that it holds become infinite: all as the last one does, or none.
uint64_t repeated_overflows(const folding::ConstTensor& value, const Casting& casting) {
  const uint64_t repeats = value.count() - value.held();
  if (repeats == 0) return 0;
  std::vector<char> cast(dtype_width(casting.to));
  return cast_elements(casting, value.element(value.count() - 1).data(), cast.data(), 1) * repeats;
}

// The elements of a Const, cast while they are written.
class CastElements final : public Stream {
 public:
  CastElements(folding::ConstTensor value, const Casting& casting, std::shared_ptr<Arena> keeps)
      : value_(std::move(value)), casting_(casting), keeps_(std::move(keeps)) {}
  uint64_t size() const override { return value_.count() * dtype_width(casting_.to); }
  void write(Sink& sink) const override {
    each_cast(value_, casting_, [&](std::string_view cast) { sink.write(cast); });
  }

 private:
  folding::ConstTensor value_;
  Casting casting_;
  std::shared_ptr<Arena> keeps_;
};

std::string narrow_const(std::string_view like, std::string_view name, DType dtype, std::string_view proto) {
  NodeBuilder builder(name, "Const");
  each_input(like, [&](std::string_view input) { builder.input(input); });  // keep it in its frame
  builder.device(node_device(like));
  if (const auto colocation = find_attr(like, "_class")) builder.attr("_class", *colocation);
  return builder.type("dtype", dtype).attr("value", tensor_value(proto)).take();
}

std::string widening_cast(std::string_view like, std::string_view input, const Casting& casting) {
  NodeBuilder builder(node_name(like), "Cast");
  builder.input(input).device(node_device(like)).type("DstT", casting.from).type("SrcT", casting.to);
  each_attr(like, [&](std::string_view key, std::string_view value) {
    if (key.starts_with('_')) builder.attr(key, value);
  });
  return builder.take();
}

}  // namespace

bool cast_constant(Graph& graph, NodeId id, DType to, NewNames& names, const std::string& where,
                   Changes& changes) {
  const std::string_view node_def = graph.bytes(id);
  const std::optional<folding::ConstTensor> value = folding::const_value(node_def);
  if (!value || !becomes_narrower(value->dtype(), to)) return false;
  const Casting casting{value->dtype(), to};
  std::string short_one;
  const bool is_long = value->held() == value->count() && value->bytes().size() > kLongConstant;
  const uint64_t infinite =
      repeated_overflows(*value, casting) + each_cast(*value, casting, [&](std::string_view cast) {
        if (!is_long) short_one += cast;
      });
  const std::string old_name(node_name(node_def));
  if (infinite != 0) changes.warnings.push_back(overflow_text(quoted("node", where + old_name), infinite));
  const std::string name = names.free(old_name + "/" + dtype_name(to));
  const std::string cast = widening_cast(node_def, graph.is_body() ? name + ":output:0" : name, casting);
  if (is_long) {
    std::string proto;
    append_varint_field(proto, 1, static_cast<uint64_t>(to));
    append_bytes_field(proto, 2,
                       last_bytes(last_bytes(*find_attr(node_def, "value"), attr_field::kTensor), 2));
    const std::string made = narrow_const(node_def, name, to, proto);
    graph.replace(graph.append(made), made, std::make_shared<CastElements>(*value, casting, graph.arena()));
  } else {
    const auto narrow = folding::ConstTensor::owning(to, value->shape(), std::move(short_one));
    graph.append(narrow_const(node_def, name, to, folding::tensor_proto_of(narrow)));
  }
  graph.replace(id, cast);
  changes.added.emplace_back(where + name, "Const");
  changes.changed.emplace_back(where + old_name, "Cast of " + dtype_name(to));
  return true;
}

void read_casts(Graph& body, const std::function<bool(std::string_view node)>& is_cast) {
  const auto now = [&](std::string_view text) {
    const Input input = parse_body_input(text);
    if (input.control || input.port.empty() || !is_cast(input.node)) return std::string(text);
    return body_tensor_text(input.node, "y", parse_body_port(input.port).number);
  };
  for (uint32_t i = 0; i < body.size(); ++i) {
    const NodeId id{i};
    if (body.removed(id)) continue;
    std::vector<std::string> inputs = inputs_of(body.bytes(id));
    bool changed = false;
    for (std::string& input : inputs) {
      std::string other = now(input);
      changed = changed || other != input;
      input = std::move(other);
    }
    if (changed) body.replace(id, with_inputs(body.bytes(id), inputs));
  }
  FunctionDef def(body);
  def.map_returns([&](std::string_view, std::string_view source) { return now(source); });
  def.store();
}

}  // namespace gedit
