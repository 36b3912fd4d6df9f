#include "model/collection_text.h"

#include <algorithm>
#include <array>
#include <limits>

#include "base/error.h"
#include "base/packed.h"
#include "base/wire.h"
#include "graph/listing.h"
#include "graph/listing_text.h"
#include "graph/numbers.h"
#include "model/collections.h"

namespace gedit {
namespace {

enum : uint32_t { kUnset = 0, kNode = 1, kBytes = 2, kInt = 3, kFloat = 4, kAny = 5 };

constexpr std::array<std::string_view, 6> kWords{"unset", "node", "bytes", "int", "float", "any"};

struct Registered {
  std::string_view word;
  TextMessage type;
};
constexpr std::array kRegistered{
    Registered{"VariableDef", TextMessage::kVariableDef},
    Registered{"QueueRunnerDef", TextMessage::kQueueRunnerDef},
    Registered{"SaverDef", TextMessage::kSaverDef},
    Registered{"CondContextDef", TextMessage::kCondContextDef},
    Registered{"WhileContextDef", TextMessage::kWhileContextDef},
};

// The message that TensorFlow registers for a collection, if any.
const Registered* registered_for(std::string_view key) {
  const Schema* schema = collection_row(key).schema;
  if (schema == nullptr) return nullptr;
  const auto found = std::ranges::find(kRegistered, schema->message, &Registered::word);
  return found == kRegistered.end() ? nullptr : found;
}

void print_bytes_item(std::string& out, const Registered* type, std::string_view bytes) {
  std::string text;
  if (type == nullptr || !try_text(text, type->type, bytes, true)) {
    out = "bytes ";
    return print_quoted(out, bytes);
  }
  out = type->word;
  out += text.empty() ? " {}" : " { " + text + " }";
}

void print_any(std::string& out, std::string_view any) {
  out = "any ";
  const size_t start = out.size();
  print_text(out, TextMessage::kAny, any);
  if (out.size() == start) out += "raw \"\"";  // alone, `any` is the empty list
}

using Line = std::function<void(std::string_view)>;

// False where the list holds anything but strings or messages under field 1.
bool print_bytes_list(std::string_view key, uint32_t kind, std::string_view list, const Line& line) {
  const Registered* type = registered_for(key);
  std::string item;
  for (Fields fields(list); fields.next();) {
    if (!fields->bytes(1)) return false;
    if (kind == kNode) {
      item = "node ";
      print_input(item, fields->value);
    } else if (kind == kBytes) {
      print_bytes_item(item, type, fields->value);
    } else {
      print_any(item, fields->value);
    }
    line(item);
  }
  return true;
}

void print_list_number(std::string& out, uint32_t kind, uint64_t value) {
  out = kWords[kind];
  out += ' ';
  if (kind == kInt) {
    print_int(out, static_cast<int64_t>(value));
  } else {
    print_float32(out, static_cast<uint32_t>(value));
  }
}

bool print_numbers(uint32_t kind, std::string_view list, const Line& line) {
  const Wire wire = kind == kInt ? Wire::kVarint : Wire::kFixed32;
  std::string item;
  for (Fields fields(list); fields.next();) {
    if (fields->number != 1) return false;
    if (fields->wire == wire) {
      print_list_number(item, kind, kind == kInt ? fields->varint : little_endian(fields->value));
      line(item);
    } else if (fields->wire == Wire::kBytes) {
      for (Packed numbers(fields->value, wire); numbers.next();) {
        print_list_number(item, kind, numbers.value());
        line(item);
      }
    } else {
      return false;
    }
  }
  return true;
}

}  // namespace

bool print_collection(std::string_view key, std::string_view collection, const Line& line) {
  uint32_t kind = kUnset;
  std::string several;  // a list that is stored in pieces
  std::string_view list;
  for (Fields fields(collection); fields.next();) {
    const bool known = fields->number <= kAny && fields->wire == Wire::kBytes;
    if (!known || (kind != kUnset && kind != fields->number)) return false;
    if (kind != kUnset) {
      if (several.empty()) several = list;
      several += fields->value;
      list = several;
    } else {
      list = fields->value;
    }
    kind = fields->number;
  }
  if (list.empty()) {
    line(kWords[kind]);
    return true;
  }
  if (kind == kInt || kind == kFloat) {
    bool any = false;
    const bool plain = print_numbers(kind, list, [&](std::string_view item) {
      any = true;
      line(item);
    });
    if (!any) line(kWords[kind]);
    return plain;
  }
  return print_bytes_list(key, kind, list, line);
}

void CollectionItems::parse(Scanner& scanner) {
  scanner.peek();
  const size_t start = scanner.position();
  const std::string_view word = scanner.word("a kind of item (node, bytes, int, float, any)");
  const auto* const registered = std::ranges::find(kRegistered, word, &Registered::word);
  const auto* const plain = std::ranges::find(kWords, word);
  const bool message = registered != kRegistered.end();
  if (!message && plain == kWords.end()) {
    scanner.fail_at(start, quoted("kind", word) + ": no such kind of collection item");
  }
  const auto now = message ? uint32_t{kBytes} : static_cast<uint32_t>(plain - kWords.begin());
  if (read_ && now != kind) {
    scanner.fail_at(start, "items of this collection are of kind " + std::string(kWords[kind]));
  }
  read_ = true;
  kind = now;
  if (message) {
    append_bytes_field(list, 1, parse_block(scanner, registered->type));
    return;
  }
  if (scanner.peek() == '\n') return;
  std::string store;
  switch (kind) {
    case kNode:
      return append_bytes_field(list, 1, parse_input(scanner, "a node or tensor"));
    case kBytes:
      return append_bytes_field(list, 1, scanner.quoted(store, "bytes in quotes"));
    case kInt: {
      constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
      constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
      return append_varint(packed_, static_cast<uint64_t>(scan_int(scanner, kLeast, kMost)));
    }
    case kFloat: {
      const uint32_t bits = scan_float32(scanner);
      for (int shift = 0; shift < 32; shift += 8) packed_ += static_cast<char>(bits >> shift);
      return;
    }
    case kAny:
      return append_bytes_field(list, 1, parse_text(scanner, TextMessage::kAny, '\n'));
    default:
      return;  // unset: the end of the line is checked by whoever reads lines
  }
}

std::string CollectionItems::collection() const {
  std::string message;
  if (kind == kUnset) return message;
  std::string whole = list;
  if (!packed_.empty()) append_bytes_field(whole, 1, packed_);
  append_bytes_field(message, kind, whole);
  return message;
}

}  // namespace gedit
