#include "weights/npy.h"

#include <algorithm>
#include <charconv>
#include <numeric>

#include "base/error.h"
#include "checkpoint/bundle.h"
#include "checkpoint/list.h"
#include "weights/casting.h"

namespace gedit {
namespace {

constexpr std::string_view kNpyMagic = "\x93NUMPY";

// Python's literals, as far as numpy writes them in a header.
class Literals {
 public:
  explicit Literals(std::string_view text) : text_(text) {}

  bool at(char c) {
    blanks();
    return text_.starts_with(c);
  }
  bool take(char c) {
    if (!at(c)) return false;
    text_.remove_prefix(1);
    return true;
  }
  void require(char c) {
    if (!take(c)) damaged();
  }
  std::string_view string() {
    blanks();
    if (text_.empty() || (text_[0] != '\'' && text_[0] != '"')) damaged();
    const size_t end = text_.find(text_[0], 1);
    if (end == std::string_view::npos) damaged();
    const std::string_view found = text_.substr(1, end - 1);
    text_.remove_prefix(end + 1);
    return found;
  }
  bool boolean() {
    blanks();
    const bool yes = text_.starts_with("True");
    if (yes || text_.starts_with("False")) {
      text_.remove_prefix(yes ? 4 : 5);
      return yes;
    }
    damaged();
  }
  // With the brackets.
  std::string_view list() {
    blanks();
    size_t depth = 0;
    for (size_t i = 0; i < text_.size(); ++i) {
      const char c = text_[i];
      if (c == '\'' || c == '"') {
        i = text_.find(c, i + 1);
        if (i == std::string_view::npos) break;
      } else if (c == '[' || c == '(') {
        ++depth;
      } else if ((c == ']' || c == ')') && --depth == 0) {
        const std::string_view found = text_.substr(0, i + 1);
        text_.remove_prefix(i + 1);
        return found;
      }
    }
    damaged();
  }
  int64_t number() {
    blanks();
    int64_t value = 0;
    const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), value);
    if (error != std::errc() || value < 0) damaged();
    text_.remove_prefix(static_cast<size_t>(end - text_.data()));
    if (text_.starts_with('L')) text_.remove_prefix(1);  // Python 2's long
    return value;
  }
  void end() {
    blanks();
    if (!text_.empty()) damaged();
  }
  [[noreturn]] static void damaged() { throw Error(Cause::kInput, "its header is damaged"); }

 private:
  void blanks() { text_.remove_prefix(std::min(text_.find_first_not_of(" \t\n"), text_.size())); }

  std::string_view text_;
};

std::vector<int64_t> parse_dims(Literals& text) {
  std::vector<int64_t> shape;
  text.require('(');
  while (!text.take(')')) {
    shape.push_back(text.number());
    if (shape.size() > kMostDimensions) throw Error(Cause::kInput, "has too many dimensions");
    if (!text.take(',')) {
      text.require(')');
      break;
    }
  }
  return shape;
}

void set_type(std::string_view descr, NpyHeader& header) {
  constexpr size_t kMostShown = 40;  // fields may be many
  header.foreign = printable(descr.substr(0, kMostShown));
  if (descr.size() > kMostShown) header.foreign += "..";
  if (descr.size() < 3 || std::string_view("<>|=").find(descr[0]) == std::string_view::npos) return;
  header.big_endian = descr[0] == '>';
  constexpr std::pair<std::string_view, DType> kTypes[] = {
      {"f2", DType::kHalf},      {"f4", DType::kFloat},      {"f8", DType::kDouble}, {"i1", DType::kInt8},
      {"i2", DType::kInt16},     {"i4", DType::kInt32},      {"i8", DType::kInt64},  {"u1", DType::kUint8},
      {"u2", DType::kUint16},    {"u4", DType::kUint32},     {"u8", DType::kUint64}, {"b1", DType::kBool},
      {"c8", DType::kComplex64}, {"c16", DType::kComplex128}};
  for (const auto& [word, dtype] : kTypes) {
    if (descr.substr(1) == word) {
      header.dtype = dtype;
      header.foreign.clear();
      return;
    }
  }
}

std::string descr_of(DType dtype) {
  const size_t width = dtype_width(dtype);
  std::string kind;
  switch (dtype) {
    case DType::kBool:
      return "|b1";
    case DType::kHalf:
    case DType::kFloat:
    case DType::kDouble:
      kind = "f";
      break;
    case DType::kComplex64:
    case DType::kComplex128:
      kind = "c";
      break;
    case DType::kInt8:
    case DType::kInt16:
    case DType::kInt32:
    case DType::kInt64:
      kind = "i";
      break;
    case DType::kUint8:
    case DType::kUint16:
    case DType::kUint32:
    case DType::kUint64:
      kind = "u";
      break;
    default:
      throw refused("numpy has no type for " + dtype_name(dtype))
          .hint(can_be_cast(dtype) ? "--cast float32" : "--skip");
  }
  return (width == 1 ? "|" : "<") + kind + std::to_string(width);
}

}  // namespace

bool looks_like_npy(std::string_view bytes) { return bytes.starts_with(kNpyMagic); }

NpyHeader parse_npy_header(std::string_view bytes) {
  if (!looks_like_npy(bytes)) throw Error(Cause::kInput, "not in numpy's .npy format");
  const auto byte = [&](size_t i) -> uint64_t {
    if (i >= bytes.size()) throw Error(Cause::kInput, "is cut short within its header");
    return static_cast<unsigned char>(bytes[i]);
  };
  const uint64_t version = byte(6);
  if (version < 1 || version > 3)
    throw Error(Cause::kInput,
                "is of version " + std::to_string(version) + " of .npy, which is not known here");
  NpyHeader header;
  header.length = byte(8) | byte(9) << 8;
  size_t begin = 10;
  if (version > 1) {
    header.length |= byte(10) << 16 | byte(11) << 24;
    begin = 12;
  }
  if (header.length > kMostNpyHeader - begin) throw Error(Cause::kInput, "its header is too long");
  if (header.length > bytes.size() - begin) throw Error(Cause::kInput, "is cut short within its header");
  Literals text(bytes.substr(begin, header.length));
  header.length += begin;
  bool descr = false, order = false, shape = false;
  text.require('{');
  while (!text.take('}')) {
    const std::string_view key = text.string();
    text.require(':');
    if (key == "descr" && !descr) {
      descr = true;
      set_type(text.at('[') ? text.list() : text.string(), header);
    } else if (key == "fortran_order" && !order) {
      order = true;
      header.fortran_order = text.boolean();
    } else if (key == "shape" && !shape) {
      shape = true;
      header.shape = parse_dims(text);
    } else {
      Literals::damaged();
    }
    if (!text.take(',')) {
      text.require('}');
      break;
    }
  }
  text.end();
  if (!descr || !order || !shape) Literals::damaged();
  if (!header.foreign.empty()) return header;
  header.size = size_of_numbers(header.dtype, header.shape);
  return header;
}

bool leaves_out(const NpyHeader& header, const std::string& name, bool skip, Weights& weights) {
  if (header.foreign.empty()) return false;
  if (!skip)
    throw Error(Cause::kInput, "its numpy type " + header.foreign + " is none of TensorFlow's numbers");
  weights.warnings.push_back("left out: " + tensor_subject(name) + ": " + header.foreign + " " +
                             shape_text(header.shape));
  return true;
}

ValuesPtr npy_values(const NpyHeader& header, ValuesPtr stored) {
  if (header.big_endian) stored = swapped_values(std::move(stored), header.dtype);
  if (!header.fortran_order || header.shape.size() < 2) return stored;
  std::vector<size_t> order(header.shape.size());
  std::iota(order.rbegin(), order.rend(), size_t{0});
  return transposed_values(std::move(stored), {header.shape.rbegin(), header.shape.rend()}, std::move(order),
                           dtype_width(header.dtype));
}

std::string npy_header(DType dtype, const std::vector<int64_t>& shape) {
  std::string dims;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (i != 0) dims += ' ';
    dims += std::to_string(shape[i]);
    if (i + 1 < shape.size() || shape.size() == 1) dims += ',';
  }
  std::string header = "{'descr': '";
  header += descr_of(dtype);
  header += "', 'fortran_order': False, 'shape': (";
  header += dims;
  header += "), }";
  constexpr size_t kBefore = 10;  // magic, version, length
  header.append(63 - (kBefore + header.size()) % 64, ' ');
  header += '\n';
  if (header.size() > 0xffff) throw refused("numpy takes no such shape");
  std::string head(kNpyMagic);
  head += {'\1', '\0', static_cast<char>(header.size()), static_cast<char>(header.size() >> 8)};
  head += header;
  return head;
}

}  // namespace gedit
