// Tensors in a listing: their data as numbers, as base64, as a length and a checksum; and back.
#include <cstdint>
#include <limits>
#include <list>

#include "base/base64.h"
#include "base/crc32c.h"
#include "base/error.h"
#include "base/number.h"
#include "base/packed.h"
#include "base/wire.h"
#include "graph/listing.h"
#include "graph/listing_map.h"
#include "graph/listing_text.h"
#include "graph/numbers.h"
#include "graph/tensor_layout.h"

namespace gedit {
namespace {

constexpr uint32_t kDtypeField = 1;
constexpr uint32_t kShapeField = 2;
constexpr uint32_t kContentField = 4;
constexpr uint32_t kStringField = TensorLayout::kStringField;
constexpr uint32_t kHalfField = TensorLayout::kHalfField;
constexpr uint32_t kFloat8Field = TensorLayout::kFloat8Field;

// The value as a field of this number holds it, sign-extended, once protobuf has cut it to the field's width.
uint64_t cut_varint(uint32_t field, uint64_t value) {
  if (field == 7 || field == kHalfField) return static_cast<uint64_t>(int64_t{static_cast<int32_t>(value)});
  if (field == 11) return value != 0 ? 1 : 0;
  if (field == 16) return static_cast<uint32_t>(value);
  return value;
}

int64_t sign_extended(uint64_t value, size_t width) {
  const auto unused = static_cast<unsigned>(64 - 8 * width);
  return static_cast<int64_t>(value << unused) >> unused;
}

// Goes over the numbers of a *_val field or, where `field` is that of tensor_content, of elements so wide.
class Numbers {
 public:
  Numbers(std::string_view run, uint32_t field, size_t width)
      : packed_(field == kContentField ? Packed(run, width) : Packed(run, tensor_wire(field))),
        field_(field) {}
  bool next() { return packed_.next(); }
  uint64_t value() const { return cut_varint(field_, packed_.value()); }

 private:
  Packed packed_;
  uint32_t field_;
};

// A TensorProto taken apart.
struct Parts {
  DType type = DType::kInvalid;
  bool has_shape = false;
  std::string shape;  // as it is printed; empty where that cannot be
  TensorLayout layout;
  TensorData data;   // field 0: none, or not in a form of its own
  std::string rest;  // the records of everything else
};

// Puts the numbers of field `field`, packed in several runs or not at all, into one run.
void append_run(std::string& run, const Field& field) {
  if (field.wire != Wire::kVarint) {
    run += field.value;
    return;
  }
  append_varint(run, field.varint);
}

bool number_record(const Field& field, uint32_t wanted) {
  return field.number == wanted && (field.wire == Wire::kBytes || field.wire == tensor_wire(wanted));
}

// Whether every number of half_val is 16 bits, as it should be.
bool all_halves(std::string_view run) {
  for (Numbers numbers(run, kHalfField, 0); numbers.next();) {
    if (numbers.value() > 0xffff) return false;
  }
  return true;
}

void append_data(std::string& out, uint32_t field, std::string_view run) {
  if (field == kStringField) {
    out += run;  // records already
  } else if (!run.empty()) {
    append_bytes_field(out, field, run);
  }
}

// What is in field `typed` (0: nothing), put together in `store` only where it lies in several places; the
// records of other fields, except those that Parts has members for, go to `rest`.
std::string_view split_off(std::string_view tensor, uint32_t typed, bool has_shape, std::string& store,
                           std::string& rest) {
  const bool strings = typed == kStringField;
  std::string_view run;
  store.clear();
  bool first = true;
  for (Fields fields(tensor); fields.next();) {
    if (fields->number == kDtypeField && fields->wire == Wire::kVarint) continue;
    if (fields->bytes(kShapeField) && has_shape) continue;
    if (fields->bytes(kContentField)) continue;
    if (typed == 0 || !number_record(fields.field(), typed)) {
      rest += fields->raw;
    } else if (typed == kFloat8Field) {
      run = fields->value;  // not repeated: the last one counts
    } else if (first && (strings || fields->wire == Wire::kBytes)) {
      run = strings ? fields->raw : fields->value;
      first = false;
    } else if (strings && store.empty() && run.data() + run.size() == fields->raw.data()) {
      run = {run.data(), run.size() + fields->raw.size()};  // neighbours
    } else {
      if (store.empty()) store = run;
      if (strings) {
        store += fields->raw;
      } else {
        append_run(store, fields.field());
      }
      run = store;
      first = false;
    }
  }
  return run;
}

Parts take_apart(std::string_view tensor, std::string& store) {
  Parts parts;
  std::string_view content;
  for (Fields fields(tensor); fields.next();) {
    if (fields->number == kDtypeField && fields->wire == Wire::kVarint) {
      parts.type = static_cast<DType>(static_cast<int32_t>(fields->varint));
    } else if (fields->bytes(kShapeField)) {
      parts.has_shape = true;
    } else if (fields->bytes(kContentField)) {
      content = fields->value;
    }
  }
  if (parts.has_shape) {
    std::list<std::string> kept;
    parts.has_shape = print_shape(parts.shape, merged(tensor, kShapeField, kept));
  }
  parts.layout = tensor_layout(parts.type);
  std::string_view run = split_off(tensor, parts.layout.field, parts.has_shape, store, parts.rest);
  if (parts.layout.field == kHalfField && !all_halves(run)) {
    parts.rest.clear();
    run = split_off(tensor, 0, parts.has_shape, store, parts.rest);
  }
  if (!content.empty() &&
      !run.empty()) {  // both: only the content has a form, the run goes where the rest is
    append_data(parts.rest, parts.layout.field, run);
    run = {};
  }
  if (!content.empty()) {
    parts.data = {kContentField, content};
  } else if (!run.empty()) {
    parts.data = {parts.layout.field, run};
  }
  return parts;
}

uint64_t count_elements(const Parts& parts) {
  const std::string_view bytes = parts.data.bytes;
  if (parts.data.field == kContentField) {
    return parts.layout.width == 0 ? 0 : bytes.size() / parts.layout.width;
  }
  switch (tensor_wire(parts.data.field)) {
    case Wire::kFixed32:
      return bytes.size() / 4;
    case Wire::kFixed64:
      return bytes.size() / 8;
    case Wire::kVarint:
      return varint_count(bytes);
    default:
      break;
  }
  if (parts.data.field == kFloat8Field) return bytes.size();
  uint64_t strings = 0;
  for (Fields fields(bytes); fields.next();) ++strings;
  return strings;
}

void print_element(std::string& out, const Parts& parts, uint64_t value) {
  switch (parts.layout.element) {
    case Element::kFloat32:
      return print_float32(out, static_cast<uint32_t>(value));
    case Element::kFloat64:
      return print_float64(out, value);
    case Element::kHalf:
      return print_half(out, static_cast<uint16_t>(value));
    case Element::kBfloat16:
      return print_bfloat16(out, static_cast<uint16_t>(value));
    case Element::kBool:
      out += value != 0 ? "true" : "false";
      return;
    case Element::kUint:
      if (parts.data.field != 7) return print_uint(out, value);
      break;  // int_val is signed
    default:
      break;
  }
  const bool content = parts.data.field == kContentField;
  print_int(out, content ? sign_extended(value, parts.layout.width) : static_cast<int64_t>(value));
}

void print_elements(std::string& out, const Parts& parts) {
  const size_t start = out.size();
  if (parts.layout.element == Element::kString) {
    for (Fields fields(parts.data.bytes); fields.next();) {
      if (out.size() > start) out += ", ";
      print_quoted(out, fields->value);
    }
    return;
  }
  for (Numbers numbers(parts.data.bytes, parts.data.field, parts.layout.width); numbers.next();) {
    if (out.size() > start) out += ", ";
    print_element(out, parts, numbers.value());
  }
}

// Whether tensor_content, written as numbers, reads back to the same bytes.
bool content_as_numbers(const Parts& parts) {
  const TensorLayout& layout = parts.layout;
  if (layout.element == Element::kNone || layout.width == 0) return false;
  if (parts.data.bytes.size() % layout.width != 0) return false;
  for (Numbers numbers(parts.data.bytes, kContentField, layout.width); numbers.next();) {
    const uint64_t value = numbers.value();
    const auto half = static_cast<uint16_t>(value);
    if (layout.element == Element::kFloat32 && odd_nan32(static_cast<uint32_t>(value))) return false;
    if (layout.element == Element::kFloat64 && odd_nan64(value)) return false;
    if (layout.element == Element::kHalf && odd_nan_half(half)) return false;
    if (layout.element == Element::kBfloat16 && odd_nan_bfloat16(half)) return false;
    if (layout.element == Element::kBool && value > 1) return false;
  }
  return true;
}

void print_data(std::string& out, const Parts& parts, bool full) {
  const uint64_t elements = count_elements(parts);
  const std::string_view bytes = parts.data.bytes;
  if (!full && (elements > kMostElements || bytes.size() > kMostBytes)) {
    out += '<';
    print_uint(out, bytes.size());
    out += " bytes, crc32c ";
    const uint32_t crc = crc32c(bytes);
    for (int shift = 28; shift >= 0; shift -= 4) out += "0123456789abcdef"[(crc >> shift) & 15];
    out += '>';
  } else if (parts.data.field != kContentField) {
    print_elements(out, parts);
  } else if (elements <= kMostElements && content_as_numbers(parts)) {
    out += "content(";
    print_elements(out, parts);
    out += ')';
  } else {
    out += "base64 \"";
    append_base64(out, bytes);
    out += '"';
  }
}

// Reads one element and appends it to `out` as tensor_content or the type's own field holds it.
void scan_element(Scanner& scanner, const TensorLayout& layout, bool content, std::string& out) {
  uint64_t value = 0;
  const auto bits = static_cast<unsigned>(8 * layout.width);
  switch (layout.element) {
    case Element::kString: {
      std::string store;
      append_bytes_field(out, layout.field, scanner.quoted(store, "a string in quotes"));
      return;
    }
    case Element::kFloat32:
      return append_little_endian(out, scan_float32(scanner), 4);
    case Element::kFloat64:
      return append_little_endian(out, scan_float64(scanner), 8);
    case Element::kHalf:
      value = scan_half(scanner);
      break;
    case Element::kBfloat16:
      value = scan_bfloat16(scanner);
      break;
    case Element::kBool:
      value = scanner.accept_word("true") ? 1 : 0;
      if (value == 0 && !scanner.accept_word("false")) scanner.fail_expected("true or false");
      break;
    case Element::kUint:
      if (layout.field == 7 && !content) {
        value = static_cast<uint64_t>(
            scan_int(scanner, std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max()));
      } else {
        value = scan_uint(scanner, ~uint64_t{0} >> (64 - bits));
      }
      break;
    default: {
      const unsigned width = content || layout.width == 8 ? bits : 32;  // int_val is an int32
      const auto most = static_cast<int64_t>(~uint64_t{0} >> (65 - width));
      value = static_cast<uint64_t>(scan_int(scanner, -most - 1, most));
      break;
    }
  }
  if (content) {
    append_little_endian(out, value, layout.width);
  } else {
    append_varint(out, value);
  }
}

std::string scan_elements(Scanner& scanner, const TensorLayout& layout, DType type, bool content) {
  if (layout.element == Element::kNone || (content && layout.width == 0)) {
    scanner.fail(dtype_word(type) + " has no elements that can be written here");
  }
  std::string run;
  do scan_element(scanner, layout, content, run);
  while (scanner.accept(','));
  return run;
}

// `<100 bytes, crc32c 1a2b3c4d>`, of which `<` was read.
TensorData scan_elided(Scanner& scanner, size_t start, DType type, const ListingContext& context) {
  const uint64_t length = scan_uint(scanner, ~uint64_t{0});
  if (!scanner.accept_word("bytes")) scanner.fail_expected("bytes");
  scanner.expect(',');
  if (!scanner.accept_word("crc32c")) scanner.fail_expected("crc32c");
  std::string_view digits = scanner.word("eight hexadecimal digits");
  if (digits.ends_with('>')) {  // which may be part of a bare word
    digits.remove_suffix(1);
  } else {
    scanner.expect('>');
  }
  const std::optional<uint32_t> crc = read_number<uint32_t>(digits, 16);
  if (digits.size() != 8 || !crc) {
    scanner.fail_at(start, "the crc32c is not eight hexadecimal digits");
  }
  if (context.elided != nullptr) {
    if (const std::optional<TensorData> data = context.elided->find(type, length, *crc)) return *data;
  }
  const std::string owner = context.node.empty() ? "this tensor" : quoted("tensor of", context.node);
  const std::string line = "line " + std::to_string(scanner.line_at(start));
  const Error elided = Error(Cause::kInput, owner + " is elided").of(line).in(scanner.file());
  if (context.elided == nullptr) throw elided.hint("--tensors-from FILE, or gedit list --full");
  throw elided.hint("no tensor of the given file has this type, length and crc32c");
}

void scan_data(Scanner& scanner, DType type, const ListingContext& context, std::string& out) {
  const TensorLayout layout = tensor_layout(type);
  scanner.peek();
  const size_t start = scanner.position();
  if (scanner.accept_word("content")) {
    scanner.expect('(');
    append_data(out, kContentField, scan_elements(scanner, layout, type, true));
    scanner.expect(')');
  } else if (scanner.accept_word("base64")) {
    std::string store;
    const std::optional<std::string> bytes = decode_base64(scanner.quoted(store, "base64 in quotes"));
    if (!bytes) scanner.fail_at(start, "not base64");
    append_data(out, kContentField, *bytes);
  } else if (scanner.accept('<')) {
    const TensorData data = scan_elided(scanner, start, type, context);
    append_data(out, data.field, data.bytes);
  } else {
    append_data(out, layout.field, scan_elements(scanner, layout, type, false));
  }
}

}  // namespace

std::optional<TensorData> tensor_data(std::string_view tensor, std::string& store) {
  const Parts parts = take_apart(tensor, store);
  if (parts.data.field == 0) return std::nullopt;
  return parts.data;
}

void print_tensor(std::string& out, std::string_view tensor, bool full) {
  std::string store;
  Parts parts = take_apart(tensor, store);
  out += "tensor(";
  out += dtype_word(parts.type);
  if (parts.has_shape) {
    out += ' ';
    out += parts.shape;
  }
  const bool small = parts.data.bytes.size() <= kMostBytes && count_elements(parts) <= kMostElements;
  if (parts.data.field == kFloat8Field && (full || small)) {  // bits that no number here stands for
    append_bytes_field(parts.rest, kFloat8Field, parts.data.bytes);
  } else if (parts.data.field != 0) {
    out += ", ";
    print_data(out, parts, full);
  }
  if (!parts.rest.empty()) {
    const size_t start = out.size();
    out += " | ";
    print_text(out, TextMessage::kTensorProto, parts.rest);
    if (out.size() == start + 3) out.resize(start);
  }
  out += ')';
}

std::string parse_tensor(Scanner& scanner, const ListingContext& context) {
  if (!scanner.accept_word("tensor")) scanner.fail_expected("a tensor");
  scanner.expect('(');
  scanner.peek();
  const size_t start = scanner.position();
  const std::optional<DType> type = parse_dtype(scanner.word("a type (DT_FLOAT)"));
  if (!type) scanner.fail_at(start, "no such type");
  std::string out;
  if (*type != DType::kInvalid) {
    append_varint_field(out, kDtypeField, static_cast<uint64_t>(int64_t{static_cast<int32_t>(*type)}));
  }
  if (scanner.peek() == '[') append_bytes_field(out, kShapeField, parse_shape(scanner));
  std::string data;
  if (scanner.accept(',')) scan_data(scanner, *type, context, data);
  if (scanner.accept('|')) out += parse_text(scanner, TextMessage::kTensorProto, ')');
  scanner.expect(')');
  out += data;  // last, so that its bytes end the message
  return out;
}

}  // namespace gedit
