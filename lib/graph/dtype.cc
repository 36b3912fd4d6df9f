#include "graph/dtype.h"

#include <array>

#include "base/number.h"

namespace gedit {
namespace {

struct DTypeRow {
  int32_t number;
  std::string_view word, name;
  size_t width;
};

// Types of four and two bits are stored one to a byte.
constexpr std::array kRows{
    DTypeRow{0, "DT_INVALID", "invalid", 0},
    DTypeRow{1, "DT_FLOAT", "float32", 4},
    DTypeRow{2, "DT_DOUBLE", "float64", 8},
    DTypeRow{3, "DT_INT32", "int32", 4},
    DTypeRow{4, "DT_UINT8", "uint8", 1},
    DTypeRow{5, "DT_INT16", "int16", 2},
    DTypeRow{6, "DT_INT8", "int8", 1},
    DTypeRow{7, "DT_STRING", "string", 0},
    DTypeRow{8, "DT_COMPLEX64", "complex64", 8},
    DTypeRow{9, "DT_INT64", "int64", 8},
    DTypeRow{10, "DT_BOOL", "bool", 1},
    DTypeRow{11, "DT_QINT8", "qint8", 1},
    DTypeRow{12, "DT_QUINT8", "quint8", 1},
    DTypeRow{13, "DT_QINT32", "qint32", 4},
    DTypeRow{14, "DT_BFLOAT16", "bfloat16", 2},
    DTypeRow{15, "DT_QINT16", "qint16", 2},
    DTypeRow{16, "DT_QUINT16", "quint16", 2},
    DTypeRow{17, "DT_UINT16", "uint16", 2},
    DTypeRow{18, "DT_COMPLEX128", "complex128", 16},
    DTypeRow{19, "DT_HALF", "float16", 2},
    DTypeRow{20, "DT_RESOURCE", "resource", 0},
    DTypeRow{21, "DT_VARIANT", "variant", 0},
    DTypeRow{22, "DT_UINT32", "uint32", 4},
    DTypeRow{23, "DT_UINT64", "uint64", 8},
    DTypeRow{24, "DT_FLOAT8_E5M2", "float8_e5m2", 1},
    DTypeRow{25, "DT_FLOAT8_E4M3FN", "float8_e4m3fn", 1},
    DTypeRow{26, "DT_FLOAT8_E4M3FNUZ", "float8_e4m3fnuz", 1},
    DTypeRow{27, "DT_FLOAT8_E4M3B11FNUZ", "float8_e4m3b11fnuz", 1},
    DTypeRow{28, "DT_FLOAT8_E5M2FNUZ", "float8_e5m2fnuz", 1},
    DTypeRow{29, "DT_INT4", "int4", 1},
    DTypeRow{30, "DT_UINT4", "uint4", 1},
    DTypeRow{31, "DT_INT2", "int2", 1},
    DTypeRow{32, "DT_UINT2", "uint2", 1},
    DTypeRow{33, "DT_FLOAT4_E2M1FN", "float4_e2m1fn", 1},
};

const DTypeRow* find_row(DType type) {
  for (const DTypeRow& row : kRows) {
    if (row.number == static_cast<int32_t>(type)) return &row;
  }
  return nullptr;
}

}  // namespace

std::string dtype_word(DType type) {
  if (const DTypeRow* row = find_row(type)) return std::string(row->word);
  if (const DTypeRow* row = find_row(base_type(type));
      row != nullptr && type != reference_to(DType::kInvalid)) {
    return std::string(row->word) + "_REF";
  }
  return "DT_" + std::to_string(static_cast<int32_t>(type));
}

std::string dtype_name(DType type) {
  if (const DTypeRow* row = find_row(type)) return std::string(row->name);
  if (const DTypeRow* row = find_row(base_type(type)); row != nullptr) return std::string(row->name) + "_ref";
  return "dtype" + std::to_string(static_cast<int32_t>(type));
}

std::optional<DType> parse_dtype(std::string_view text) {
  bool reference = false;
  if (text.ends_with("_REF") || text.ends_with("_ref")) {
    reference = true;
    text.remove_suffix(4);
  }
  for (const DTypeRow& row : kRows) {
    if (row.word != text && row.name != text) continue;
    if (reference && row.number == 0) return std::nullopt;
    const auto type = static_cast<DType>(row.number);
    return reference ? reference_to(type) : type;
  }
  if (reference || !text.starts_with("DT_")) return std::nullopt;
  text.remove_prefix(3);
  const std::optional<int32_t> number = read_number<int32_t>(text);
  return number ? std::optional(static_cast<DType>(*number)) : std::nullopt;
}

size_t dtype_width(DType type) {
  const DTypeRow* row = find_row(base_type(type));
  return row == nullptr ? 0 : row->width;
}

}  // namespace gedit
