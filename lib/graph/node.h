// A NodeDef as the bytes that it is: reading its parts, and making new ones
// (tensorflow/core/framework/node_def.proto).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/wire.h"
#include "graph/arena.h"
#include "graph/dtype.h"

namespace gedit {

namespace node_field {
constexpr uint32_t kName = 1, kOp = 2, kInput = 3, kDevice = 4, kAttr = 5;
}
namespace attr_field {  // AttrValue, and AttrValue.ListValue
constexpr uint32_t kList = 1, kString = 2, kInt = 3, kFloat = 4, kBool = 5, kType = 6, kShape = 7,
                   kTensor = 8, kPlaceholder = 9, kFunc = 10, kListFunc = 9;
}

enum class NodeId : uint32_t {};  // position in the graph; never moves
constexpr NodeId kNoNode{0xffffffff};
constexpr uint32_t index_of(NodeId id) { return static_cast<uint32_t>(id); }

struct NodeHead {
  std::string_view name, op, device;
  NodeId id = kNoNode;  // where the reader of the bytes knows it
  uint32_t slot = 0;    // of the input that is being looked at
};
// Of a name, an op or a device that is there twice the last, which is protobuf's rule.
NodeHead node_head(std::string_view node_def);
inline std::string_view node_device(std::string_view node_def) {
  return last_bytes(node_def, node_field::kDevice);
}
// Name and op wherever they are.
std::string_view any_node_name(std::string_view node_def);
std::string_view any_node_op(std::string_view node_def);

// What a message has as field `number` at offset `at`, if that is under 128 bytes long; else its data() is
// null.
inline std::string_view short_field(std::string_view message, size_t at, uint32_t number) {
  if (message.size() < at + 2 || message[at] != static_cast<char>(number << 3 | 2)) return {};
  const auto length = static_cast<unsigned char>(message[at + 1]);
  if (length >= 0x80 || message.size() - at - 2 < length) return {};
  return {message.data() + at + 2, length};
}
// Both are as a rule short, and written first, in this order: a million nodes are asked for them several
// times. So no second one is looked for behind them: a graph's nodes have none, see Graph::bytes().
inline std::string_view node_name(std::string_view node_def) {
  const std::string_view name = short_field(node_def, 0, node_field::kName);
  return name.data() != nullptr ? name : any_node_name(node_def);
}
inline std::string_view node_op(std::string_view node_def) {
  const std::string_view name = short_field(node_def, 0, node_field::kName);
  if (name.data() == nullptr) return any_node_op(node_def);
  const std::string_view op = short_field(node_def, 2 + name.size(), node_field::kOp);
  return op.data() != nullptr ? op : any_node_op(node_def);
}

// Whether the fields stand as every writer writes them: by number, name and op and device once. Then inputs
// are read when the first field behind them is.
inline bool fields_ascend(std::string_view node_def);
// The node as protobuf reads it, the last of two names, ops or devices alone; nothing where it has no two.
std::optional<std::string> without_doubles(std::string_view node_def);
// The node that way, for who has it from the bytes around it: as it lies there where it has no two, else
// made, kept in `arena`.
std::string_view once_each(std::string_view node_def, Arena& arena);

// The number of an output; where what is written is none, more than a node of 2 GB could have.
constexpr uint32_t kBeyondOutputs = 0x7fffffff;
uint32_t output_number(std::string_view written);

// An entry of NodeDef.input: `node`, `node:1`, `^node`, or in a function `node:output:0`. The views lie in
// the text.
struct Input {
  std::string_view node;
  std::string_view port;  // empty for output 0 written without number, and for control inputs
  bool control = false;

  // The number of the output in a main graph: 0 where no port is written.
  uint32_t index() const { return port.empty() ? 0 : output_number(port); }
};

// Splits at the last colon that digits follow (tensorflow/core/graph/tensor_id.cc); `^a:1` is a control input
// of a node named `a:1`, which no graph has.
inline Input parse_input(std::string_view text);

// The same for a function body, where the port begins at the first colon.
Input parse_body_input(std::string_view text);
// `a`, `a:1` or `^a` for any way in which an input of a main graph may be written.
std::string canonical_input(std::string_view input);

// Calls use(string_view) for every input as stored.
template <typename Use>
void each_input(std::string_view node_def, Use use) {
  for (Fields fields(node_def); fields.next();) {
    if (fields->bytes(node_field::kInput)) use(fields->value);
  }
}

// All inputs as stored.
std::vector<std::string> inputs_of(std::string_view node_def);
std::vector<std::string_view> input_views(std::string_view node_def);

// Calls use(key, attr_value) for every attribute.
template <typename Use>
void each_attr(std::string_view node_def, Use use) {
  for (Fields fields(node_def); fields.next();) {
    if (!fields->bytes(node_field::kAttr)) continue;
    const MapEntry entry = map_entry(fields->value);
    use(entry.key, entry.value);
  }
}

// The AttrValue of `key`, nothing where the node does not have it. Of several the last, as in a protobuf map.
std::optional<std::string_view> find_attr(std::string_view node_def, std::string_view key);

// Values of attributes of a known kind; nothing where the attribute is absent or of another kind.
std::optional<std::string_view> string_attr(std::string_view node_def, std::string_view key);
std::optional<DType> type_attr(std::string_view node_def, std::string_view key);
std::optional<int64_t> int_attr(std::string_view node_def, std::string_view key);

// Puts a NodeDef together, field by field, in the order in which TensorFlow writes them.
class NodeBuilder {
 public:
  NodeBuilder(std::string_view name, std::string_view op) {
    append_bytes_field(bytes_, node_field::kName, name);
    append_bytes_field(bytes_, node_field::kOp, op);
  }
  NodeBuilder& input(std::string_view input) {
    append_bytes_field(bytes_, node_field::kInput, input);
    return *this;
  }
  NodeBuilder& device(std::string_view device) {
    if (!device.empty()) append_bytes_field(bytes_, node_field::kDevice, device);
    return *this;
  }
  NodeBuilder& attr(std::string_view key, std::string_view attr_value);
  NodeBuilder& type(std::string_view key, DType type);
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

// AttrValues.
std::string string_value(std::string_view text);
std::string type_value(DType type);
std::string int_value(int64_t number);
std::string int_list_value(const std::vector<int64_t>& numbers);
std::string bool_value(bool value);
std::string string_list_value(const std::vector<std::string>& texts);
std::string colocation_value(std::string_view node);  // the `_class` of what stands where `node` does
std::string type_list_value(const std::vector<DType>& types);
std::string tensor_value(std::string_view tensor_proto);

// The types in an AttrValue `list(type)`; none in another.
std::vector<DType> type_list(std::string_view attr_value);
size_t type_count(std::string_view attr_value);  // how many these are
// The numbers in an AttrValue `list(int)`; none in another.
std::vector<int64_t> int_list(std::string_view attr_value);

// `node_def` with other inputs, other things as they are: new fields stand where the first input stood.
std::string with_inputs(std::string_view node_def, const std::vector<std::string>& inputs);

// `node_def` under another name, or of another op.
std::string with_name(std::string_view node_def, std::string_view name);
std::string with_op(std::string_view node_def, std::string_view op);

// `node_def` with attribute `key` set to `attr_value`, or removed where nothing is given.
std::string with_attr(std::string_view node_def, std::string_view key,
                      std::optional<std::string_view> attr_value);
std::string without_attr(std::string_view node_def, std::string_view key);

// Whether TensorFlow takes it for a node's name (tensorflow/core/common_runtime/graph_constructor.cc): pieces
// joined by `>`, each `[A-Za-z0-9.][A-Za-z0-9_.\-/]*`. Position of the first character that is wrong, npos
// where it is valid.
size_t invalid_name_at(std::string_view name);

// ---------------------------------------------------------------------------------------------------------------------

Input parse_marked_input(std::string_view text);  // as parse_input()

// Most are a node's name alone, which ends in no digit.
inline Input parse_input(std::string_view text) {
  const bool marked = !text.empty() && (text.front() == '^' || (text.back() >= '0' && text.back() <= '9'));
  return marked ? parse_marked_input(text) : Input{text, {}, false};
}

// A million nodes are asked: a tag, a length, and on behind that.
inline bool fields_ascend(std::string_view node_def) {
  constexpr unsigned kInputTag = node_field::kInput << 3 | 2, kAttrTag = node_field::kAttr << 3 | 2;
  const char* at = node_def.data();
  const char* const end = at + node_def.size();
  unsigned before = 1;  // no tag of a field
  while (end - at >= 2) {
    const auto tag = static_cast<unsigned char>(*at++);
    const bool again = tag == before && tag != kInputTag && tag != kAttrTag;
    if ((tag & 0x87) != 2 || tag < before || tag < 8 || again) return false;
    before = tag;
    size_t length = static_cast<unsigned char>(*at++);
    if (length >= 0x80) {
      length &= 0x7f;
      for (unsigned shift = 7;; shift += 7) {
        if (at == end || shift > 28) return false;
        const auto byte = static_cast<unsigned char>(*at++);
        length |= size_t{byte & 0x7fU} << shift;
        if (byte < 0x80) break;
      }
    }
    if (length > static_cast<size_t>(end - at)) return false;
    at += length;
  }
  return at == end;
}

}  // namespace gedit
