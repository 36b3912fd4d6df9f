#include "completion/values.h"

#include <algorithm>
#include <array>

namespace gedit {
namespace {

struct Row {
  std::string_view type;
  Value value;
};

constexpr std::array kRows = {
    Row{"OUT", Value::kAnyFile},
    Row{"PREFIX", Value::kAnyFile},
    Row{"F.json", Value::kAnyFile},
    Row{"FILE", Value::kAnyFile},
    Row{"CKPT", Value::kCheckpoint},
    Row{"[NAME=]CKPT", Value::kCheckpoint},
    Row{"[A=|B=]CKPT", Value::kCheckpoint},
    Row{"SELECTOR", Value::kSelector},
    Row{"SEL:NAME=VALUE", Value::kSelector},
    Row{"SEL=DEV", Value::kSelectorAndDevice},
    Row{"T,..", Value::kTensors},
    Row{"T[:DTYPE[SHAPE]],..", Value::kTensors},
    Row{"T=SHAPE", Value::kTensorShape},
    Row{"T=VALUE", Value::kTensorShape},
    Row{"T=VALUE|auto", Value::kTensorShape},
    Row{"T[=T],..", Value::kTensorPairs},
    Row{"A=B,..", Value::kTensorPairs},
    Row{"K=T,..", Value::kNamedTensors},
    Row{"KEY=VALUE", Value::kTensorMap},
    Row{"PAIR", Value::kPair},
    Row{"OLD", Value::kScope},
    Row{"SRC", Value::kScope},
    Row{"DST", Value::kScope},
    Row{"KEY", Value::kSignature},
    Row{"NAME", Value::kKey},
    Row{"DEV", Value::kDevice},
    Row{"TAG,..", Value::kTags},
    Row{"V", Value::kRelease},
};

// Of operands alone: an option's FILE may be of any kind.
constexpr std::array kOperandRows = {
    Row{"FILE", Value::kGraphFile},
    Row{"[NAME=]FILE", Value::kGraphFile},
    Row{"A", Value::kGraphFile},
    Row{"B", Value::kGraphFile},
};

template <size_t N>
Value in(const std::array<Row, N>& rows, std::string_view type) {
  const auto* row = std::find_if(rows.begin(), rows.end(), [&](const Row& one) { return one.type == type; });
  return row == rows.end() ? Value::kNothing : row->value;
}

}  // namespace

Value value_of(std::string_view type, bool operand, std::string_view command) {
  if (command == "signature rename" && type == "PAIR") return Value::kKeyPair;
  if (command == "signature add" && type == "KEY") return Value::kNothing;  // a new one
  const Value value = operand ? in(kOperandRows, type) : Value::kNothing;
  return value == Value::kNothing ? in(kRows, type) : value;
}

bool names_file(std::string_view type) {
  const Value value = value_of(type, true, "");
  return value == Value::kGraphFile || value == Value::kCheckpoint;
}

}  // namespace gedit
