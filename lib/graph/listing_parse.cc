// Parsing the nodes, functions and attribute values of a listing into serialized messages.
#include <algorithm>
#include <array>
#include <limits>
#include <set>
#include <vector>

#include "base/error.h"
#include "base/wire.h"
#include "graph/listing.h"
#include "graph/listing_text.h"
#include "graph/numbers.h"

namespace gedit {
namespace {

constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

void parse_value(Scanner& scanner, const ListingContext& context, int depth, std::string& out);

// A field of AttrValue and what it holds; numbers as they are packed in a list.
struct Value {
  uint32_t field = 0;  // 0: unset or raw
  std::string content;
};

Wire value_wire(uint32_t field) {
  if (field == 3 || field == 5 || field == 6) return Wire::kVarint;
  return field == 4 ? Wire::kFixed32 : Wire::kBytes;
}

uint64_t dtype_number(DType type) { return static_cast<uint64_t>(int64_t{static_cast<int32_t>(type)}); }

// The keys of one map. While they come in order, as the printer writes them, a comparison is enough.
class Keys {
 public:
  bool add(std::string_view key) {  // false: was there already
    if (unordered_.empty() && (ordered_.empty() || ordered_.back() < key)) {
      ordered_.emplace_back(key);
      return true;
    }
    if (unordered_.empty()) unordered_.insert(ordered_.begin(), ordered_.end());
    return unordered_.emplace(key).second;
  }

 private:
  std::vector<std::string> ordered_;
  std::set<std::string> unordered_;
};

// `{a: 1, b: 2}`, if it is next: map entries under field `number`.
void parse_attrs(Scanner& scanner, const ListingContext& context, int depth, uint32_t number,
                 std::string& out) {
  if (!scanner.accept('{')) return;
  if (scanner.accept('}')) return;
  Keys keys;
  std::string store;
  std::string entry;
  do {
    scanner.peek();
    const size_t start = scanner.position();
    const std::string_view key = scanner.name(store, "a key");
    if (!keys.add(key)) scanner.fail_at(start, quoted("key", key) + " is given twice");
    entry.clear();
    append_bytes_field(entry, 1, key);
    scanner.expect(':');
    std::string value;
    parse_value(scanner, context, depth, value);
    append_bytes_field(entry, 2, value);
    append_bytes_field(out, number, entry);
  } while (scanner.accept(','));
  scanner.expect('}');
}

std::string parse_func(Scanner& scanner, const ListingContext& context, int depth) {
  std::string store;
  std::string func;
  append_bytes_field(func, 1, scanner.name(store, "the name of a function"));
  parse_attrs(scanner, context, depth + 1, 2, func);
  return func;
}

// A number: an integer unless it has what makes it a float.
Value parse_number(Scanner& scanner) {
  const size_t start = scanner.position();
  const std::string_view text = scanner.number("a value");
  scanner.seek(start);
  const bool number = text.find_first_not_of("0123456789+-.eE") == std::string_view::npos;
  const bool special = text == "inf" || text == "-inf" || text == "nan";
  if (!special && (!number || text.find_first_of("0123456789") == std::string_view::npos)) {
    scanner.fail_expected("a value");
  }
  Value value;
  if (special || text.find_first_of(".eE") != std::string_view::npos) {
    value.field = 4;
    const uint32_t bits = scan_float32(scanner);
    for (int shift = 0; shift < 32; shift += 8) value.content += static_cast<char>(bits >> shift);
  } else {
    value.field = 3;
    append_varint(value.content, static_cast<uint64_t>(scan_int(scanner, kLeast, kMost)));
  }
  return value;
}

// Whatever may stand in a list as well. Field 0 where none of it is next.
Value parse_item(Scanner& scanner, const ListingContext& context, int depth) {
  const char next = scanner.peek();
  const size_t start = scanner.position();
  std::string store;
  if (next == '"') return {2, std::string(scanner.quoted(store, "a string"))};
  if (next == '[') return {7, parse_shape(scanner)};
  if (scanner.accept_word("true")) return {5, std::string(1, '\1')};
  if (scanner.accept_word("false")) return {5, std::string(1, '\0')};
  if (scanner.accept_word("func")) return {10, parse_func(scanner, context, depth)};
  if (scanner.accept_word("tensor")) {
    scanner.seek(start);
    return {8, parse_tensor(scanner, context)};
  }
  if (next == 'D') {
    const std::string_view word = scanner.word("a value");
    const std::optional<DType> type = parse_dtype(word);
    if (!type) scanner.fail_at(start, quoted("type", word) + ": no such type");
    Value value{6, {}};
    append_varint(value.content, dtype_number(*type));
    return value;
  }
  return parse_number(scanner);
}

// `list(...)`, of which `list` was read.
std::string parse_list(Scanner& scanner, const ListingContext& context, int depth) {
  scanner.expect('(');
  std::string list;
  if (scanner.accept(')')) return list;
  uint32_t kind = 0;
  std::string packed;
  do {
    scanner.peek();
    const size_t start = scanner.position();
    const Value item = parse_item(scanner, context, depth);
    if (kind != 0 && item.field != kind) scanner.fail_at(start, "a list holds values of one kind");
    kind = item.field;
    if (value_wire(kind) == Wire::kBytes) {
      append_bytes_field(list, kind == 10 ? 9 : kind, item.content);
    } else {
      packed += item.content;
    }
  } while (scanner.accept(','));
  scanner.expect(')');
  if (!packed.empty()) append_bytes_field(list, kind, packed);
  return list;
}

std::string checked_raw(Scanner& scanner, size_t start, std::string bytes) {
  try {
    std::string scratch;
    print_attr_value(scratch, bytes, false);
  } catch (const Malformed& error) {
    scanner.fail_at(start, error.what());
  }
  return bytes;
}

void parse_value(Scanner& scanner, const ListingContext& context, int depth, std::string& out) {
  scanner.peek();
  const size_t start = scanner.position();
  std::string store;
  if (accept_raw(scanner, store)) {
    out += checked_raw(scanner, start, std::move(store));
    return;
  }
  if (depth > kDeepestValue) scanner.fail("values are nested too deeply");
  if (scanner.accept_word("unset")) return;
  if (scanner.accept_word("list")) {
    append_bytes_field(out, 1, parse_list(scanner, context, depth + 1));
  } else if (scanner.accept_word("placeholder")) {
    append_bytes_field(out, 9, scanner.quoted(store, "a name in quotes"));
  } else {
    const Value value = parse_item(scanner, context, depth);
    const Wire wire = value_wire(value.field);
    append_tag(out, value.field, wire);
    if (wire == Wire::kBytes) append_varint(out, value.content.size());
    out += value.content;
  }
}

std::string parse_dim(Scanner& scanner) {
  std::string store;
  std::string dim;
  std::string name;
  if (scanner.peek() == '"') {
    name = scanner.quoted(store, "the name of a dimension");
    scanner.expect('=');
  }
  const int64_t size = scanner.accept('?') ? -1 : scan_int(scanner, kLeast, kMost);
  if (size != 0) append_varint_field(dim, 1, static_cast<uint64_t>(size));
  if (!name.empty()) append_bytes_field(dim, 2, name);
  return dim;
}

// `x: DT_FLOAT&`, `b: N*T`, `c: *Tin`.
std::string parse_arg(Scanner& scanner) {
  std::string store;
  std::string arg;
  append_bytes_field(arg, 1, scanner.name(store, "the name of an argument"));
  scanner.expect(':');
  if (scanner.accept('*')) {
    append_bytes_field(arg, 6, scanner.name(store, "the name of an attribute"));
    return arg;
  }
  bool in_quotes = scanner.peek() == '"';
  std::string word(scanner.name(store, "a type or the name of an attribute"));
  if (scanner.accept('*')) {
    append_bytes_field(arg, 5, word);
    in_quotes = scanner.peek() == '"';
    word = scanner.name(store, "a type or the name of an attribute");
  }
  const std::optional<DType> type = in_quotes ? std::nullopt : parse_dtype(word);
  if (!type) {
    append_bytes_field(arg, 4, word);
  } else if (*type != DType::kInvalid) {
    append_varint_field(arg, 3, dtype_number(*type));
  }
  if (scanner.accept('&')) append_varint_field(arg, 16, 1);
  return arg;
}

std::vector<std::string> parse_args(Scanner& scanner) {
  std::vector<std::string> args;
  scanner.expect('(');
  if (scanner.accept(')')) return args;
  do args.push_back(parse_arg(scanner));
  while (scanner.accept(','));
  scanner.expect(')');
  return args;
}

// Adds what stands behind `|` to the arguments, by position.
void extend_args(Scanner& scanner, size_t start, std::vector<std::string>& args,
                 const std::vector<std::string_view>& extras) {
  if (extras.empty()) return;
  if (extras.size() != args.size()) {
    scanner.fail_at(start, "the signature behind '|' has " + std::to_string(extras.size()) +
                               " arguments where the function has " + std::to_string(args.size()));
  }
  for (size_t i = 0; i < args.size(); ++i) args[i] += extras[i];
}

struct ListingHeader {
  std::string signature;  // OpDef
  std::string attrs;      // records of FunctionDef
  std::string rest;       // records of FunctionDef
};

ListingHeader parse_header(Scanner& scanner, const ListingContext& context) {
  std::string store;
  ListingHeader header;
  append_bytes_field(header.signature, 1, scanner.name(store, "the name of a function"));
  std::vector<std::string> inputs = parse_args(scanner);
  if (!scanner.accept_word("->")) scanner.fail_expected("'->'");
  std::vector<std::string> outputs = parse_args(scanner);
  parse_attrs(scanner, context, 0, 5, header.attrs);
  std::string rest;
  size_t start = scanner.position();
  if (scanner.accept('|')) {
    scanner.peek();
    start = scanner.position();
    rest = parse_text(scanner, TextMessage::kFunctionDef, '\n');
  }
  std::string others;
  std::vector<std::string_view> more_inputs;
  std::vector<std::string_view> more_outputs;
  try {
    for (Fields fields(rest); fields.next();) {
      if (!fields->bytes(1)) {
        header.rest += fields->raw;
        continue;
      }
      for (Fields signature(fields->value); signature.next();) {
        if (signature->bytes(2))
          more_inputs.push_back(signature->value);
        else if (signature->bytes(3))
          more_outputs.push_back(signature->value);
        else
          others += signature->raw;
      }
    }
  } catch (const Malformed& error) {
    scanner.fail_at(start, error.what());
  }
  extend_args(scanner, start, inputs, more_inputs);
  extend_args(scanner, start, outputs, more_outputs);
  for (const std::string& arg : inputs) append_bytes_field(header.signature, 2, arg);
  for (const std::string& arg : outputs) append_bytes_field(header.signature, 3, arg);
  header.signature += others;
  return header;
}

// `y = mul:z:0, ^done = read`, of which `return` was read: entries of ret and control_ret.
void parse_return(Scanner& scanner, std::string& out) {
  if (scanner.peek() == '\n') return;
  std::array<std::set<std::string>, 2> keys;
  std::string store;
  do {
    scanner.peek();
    const size_t start = scanner.position();
    const bool control = scanner.accept('^');
    const std::string key(scanner.name(store, "the name of an output"));
    if (!keys[control ? 1 : 0].insert(key).second) {
      scanner.fail_at(start, quoted("output", key) + " is given twice");
    }
    scanner.expect('=');
    std::string entry;
    append_bytes_field(entry, 1, key);
    append_bytes_field(entry, 2, parse_input(scanner, "what the output is"));
    append_bytes_field(out, control ? 6 : 4, entry);
  } while (scanner.accept(',') || scanner.peek() == '^');
}

// Whether the bare word that was read is a statement rather than the name of a node.
bool statement(Scanner& scanner, std::string_view word) {
  const size_t start = scanner.position();
  if (!scanner.accept_word(word)) return false;
  if (scanner.peek() != '=') return true;
  scanner.seek(start);
  return false;
}

}  // namespace

std::string parse_shape(Scanner& scanner) {
  std::string shape;
  scanner.expect('[');
  if (scanner.accept(']')) return shape;
  if (scanner.accept('*')) {
    append_varint_field(shape, 3, 1);
  } else {
    do append_bytes_field(shape, 2, parse_dim(scanner));
    while (scanner.accept(','));
  }
  scanner.expect(']');
  return shape;
}

std::string parse_attr_value(Scanner& scanner, const ListingContext& context) {
  std::string value;
  parse_value(scanner, context, 0, value);
  return value;
}

std::string parse_input(Scanner& scanner, std::string_view what) {
  std::string store;
  std::string input;
  if (scanner.accept('^')) input = "^";
  input += scanner.name(store, what);
  for (int part = 0; part < 2 && scanner.accept(':'); ++part) {
    input += ':';
    input += scanner.name(store, "a port");
  }
  return input;
}

std::string parse_node(Scanner& scanner, const ListingContext& context) {
  std::string store;
  std::string node;
  const std::string name(scanner.name(store, "a node"));
  append_bytes_field(node, 1, name);
  scanner.expect('=');
  append_bytes_field(node, 2, scanner.name(store, "an op"));
  scanner.expect('(');
  if (!scanner.accept(')')) {
    do append_bytes_field(node, 3, parse_input(scanner, "an input"));
    while (scanner.accept(','));
    scanner.expect(')');
  }
  if (scanner.accept('@')) append_bytes_field(node, 4, scanner.device(store));
  ListingContext inner = context;
  inner.node = name;
  parse_attrs(scanner, inner, 0, 5, node);
  if (scanner.accept('|')) node += parse_text(scanner, TextMessage::kNodeDef, '\n');
  return node;
}

std::string parse_function(Scanner& scanner, const ListingContext& context) {
  const ListingHeader header = parse_header(scanner, context);
  scanner.end_line();
  std::string function;
  append_bytes_field(function, 1, header.signature);
  for (;;) {
    scanner.skip_lines();
    if (scanner.at_end()) scanner.fail("a function has no end");
    if (statement(scanner, "return")) break;
    append_bytes_field(function, 3, parse_node(scanner, context));
    scanner.end_line();
  }
  parse_return(scanner, function);
  function += header.attrs;
  function += header.rest;
  scanner.end_line();
  scanner.skip_lines();
  if (!scanner.accept_word("end")) scanner.fail_expected("the end of the function");
  return function;
}

}  // namespace gedit
