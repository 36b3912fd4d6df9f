// Protobuf's grammar of text, read from left to right: each value becomes a field on the wire in the order of
// the text, and the whole is then written as protobuf writes it. What complaints say, and which token they
// point at, is protobuf's.
#include <array>
#include <bit>
#include <bitset>
#include <limits>

#include "base/number.h"
#include "message/fields.h"
#include "message/float_text.h"
#include "message/text.h"
#include "message/text_tokens.h"

namespace gedit {
namespace {

constexpr size_t kBytesForLength = 5;  // left for the length of a message, which is known behind it

std::string between_quotes(std::string_view text) { return "\"" + std::string(text) + "\""; }

bool same_word(std::string_view word, std::string_view lower) {
  if (word.size() != lower.size()) return false;
  for (size_t i = 0; i < word.size(); ++i) {
    if ((word[i] | 0x20) != lower[i]) return false;
  }
  return true;
}

class TextParser {
 public:
  TextParser(std::string_view text, std::string& raw) : tokens_(text), raw_(raw) {}

  void parse(const MessageType& type) {
    Set set;
    while (!at_end()) parse_field(type, set);
  }

 private:
  // Which fields of a message are set already.
  struct Set {
    std::bitset<kWidestMessage> fields;
    std::array<const MessageField*, kMostOneofs> members{};
  };

  bool at_end() const { return tokens_.kind() == TextToken::kEnd; }
  bool at(char symbol) const { return tokens_.kind() == TextToken::kSymbol && tokens_.text()[0] == symbol; }
  bool takes(char symbol) {
    if (!at(symbol)) return false;
    tokens_.next();
    return true;
  }
  void expect(char symbol) {
    if (!takes(symbol))
      fail("expected " + between_quotes({&symbol, 1}) + ", found " + between_quotes(tokens_.text()));
  }
  [[noreturn]] void fail(std::string message) const { tokens_.fail(tokens_.start(), std::move(message)); }
  [[noreturn]] void fail_got(std::string_view wanted) const {
    fail("expected " + std::string(wanted) + ", got: " + std::string(tokens_.text()));
  }

  std::string_view identifier() {
    if (tokens_.kind() != TextToken::kIdentifier) fail_got("identifier");
    const std::string_view word = tokens_.text();
    tokens_.next();
    return word;
  }

  std::string dotted_name() {
    std::string name(identifier());
    while (takes('.')) name.append(".").append(identifier());
    return name;
  }

  // One field, with all the values that a list gives it.
  void parse_field(const MessageType& type, Set& set) {
    if (takes('[')) return parse_bracketed(type, set);  // behind which protobuf takes no separator
    const std::string_view name = identifier();
    const MessageField* field = type.field_named(name);
    if (field != nullptr) {
      parse_known(type, *field, set);
    } else {
      skip_unknown(type, name);
    }
    if (!takes(';')) takes(',');
  }

  void parse_known(const MessageType& type, const MessageField& field, Set& set) {
    if (!field.repeated && set.fields[field.place])
      fail("non-repeated field " + between_quotes(field.name) + " is specified multiple times");
    if (field.oneof >= 0) {
      const MessageField*& member = set.members[static_cast<size_t>(field.oneof)];
      if (member != nullptr && member != &field)
        fail("field " + between_quotes(field.name) + " is specified along with field " +
             between_quotes(member->name) + ", another member of oneof " +
             between_quotes(type.oneofs[static_cast<size_t>(field.oneof)]));
      member = &field;
    }
    if (field.type == FieldType::kMessage) {
      takes(':');
    } else {
      expect(':');
    }
    if (field.repeated && takes('[')) {
      if (takes(']')) return;
      for (parse_value(field); !takes(']'); parse_value(field)) expect(',');
      return;
    }
    const size_t start = raw_.size();
    parse_value(field);
    if (!field.repeated) set.fields[field.place] = field.presence || !was_default(field, start);
  }

  // Of the one value that was written from `start` on.
  bool was_default(const MessageField& field, size_t start) const {
    Fields fields(std::string_view(raw_).substr(start));
    if (!fields.next()) return true;
    if (!field.packable()) return fields->value.empty();
    return fields->value.find_first_not_of('\0') == std::string_view::npos;
  }

  // A name that a release had once, with whatever it stood for.
  void skip_unknown(const MessageType& type, std::string_view name) {
    for (const std::string& reserved : type.reserved_names) {
      if (reserved != name) continue;
      takes(':');
      skip_value();
      return;
    }
    fail("message type " + between_quotes(type.full_name) + " has no field named " + between_quotes(name));
  }

  void skip_value() {
    size_t depth = 0;
    do {
      if (at_end()) fail_got("a value");
      if (at('{') || at('<') || at('[')) {
        ++depth;
      } else if (depth > 0 && (at('}') || at('>') || at(']'))) {
        --depth;
      } else if (at('-')) {
        tokens_.next();
      }
      const bool was_string = tokens_.kind() == TextToken::kString;
      tokens_.next();
      while (was_string && tokens_.kind() == TextToken::kString) tokens_.next();
    } while (depth > 0);
  }

  // `[type.googleapis.com/tensorflow.NodeDef] { ... }`, behind its first bracket.
  void parse_bracketed(const MessageType& type, Set& set) {
    const std::string prefix = dotted_name();
    if (!type.is_any()) {
      expect(']');
      fail("extension " + between_quotes(prefix) + " is not defined or is not an extension of " +
           between_quotes(type.full_name));
    }
    expect('/');
    const std::string name = dotted_name(), url = prefix + "/" + name;
    expect(']');
    takes(':');
    const bool known_place = prefix == "type.googleapis.com" || prefix == "type.googleprod.com";
    const MessageType* held = known_place ? find_message_type(name) : nullptr;
    if (held == nullptr)
      fail("could not find type " + between_quotes(url) + " stored in google.protobuf.Any");
    append_bytes_field(raw_, type.fields[0].number, url);
    const size_t start = raw_.size();
    parse_braces(*held);
    std::string canonical;
    append_canonical(canonical, *held, std::string_view(raw_).substr(start));
    raw_.resize(start);
    append_bytes_field(raw_, type.fields[1].number, canonical);
    if (set.fields[0] || set.fields[1]) fail("non-repeated Any specified multiple times");
    set.fields[0] = true;
    set.fields[1] = !canonical.empty();
  }

  void parse_braces(const MessageType& type) {
    if (++depth_ > kDeepestNesting)
      fail("message is too deep, the parser exceeded the configured recursion limit of 100");
    const bool angle = takes('<');
    if (!angle) expect('{');
    Set set;
    while (!at('>') && !at('}')) parse_field(type, set);
    expect(angle ? '>' : '}');
    --depth_;
  }

  void parse_value(const MessageField& field) {
    append_tag(raw_, field.number, field.wire);
    if (field.type == FieldType::kMessage) {
      const size_t start = raw_.size();
      raw_.append(kBytesForLength, '\0');
      parse_braces(*field.message);
      uint64_t size = raw_.size() - start - kBytesForLength;
      for (size_t i = 0; i < kBytesForLength; ++i, size >>= 7)
        raw_[start + i] = static_cast<char>((size & 0x7f) | (i + 1 < kBytesForLength ? 0x80 : 0));
    } else if (!field.packable()) {
      if (tokens_.kind() != TextToken::kString) fail_got("string");
      text_.clear();
      for (; tokens_.kind() == TextToken::kString; tokens_.next()) tokens_.append_string(text_);
      append_varint(raw_, text_.size());
      raw_ += text_;
    } else {
      append_number(raw_, field.wire, parse_number(field));
    }
  }

  uint64_t parse_number(const MessageField& field) {
    constexpr auto kMost32 = uint64_t{std::numeric_limits<int32_t>::max()};
    constexpr auto kMost64 = uint64_t{std::numeric_limits<int64_t>::max()};
    switch (field.type) {
      case FieldType::kDouble:
        return std::bit_cast<uint64_t>(parse_float());
      case FieldType::kFloat:
        return std::bit_cast<uint32_t>(static_cast<float>(parse_float()));
      case FieldType::kBool:
        return parse_bool(field);
      case FieldType::kEnum:
        return parse_enum(field);
      case FieldType::kInt32:
      case FieldType::kSfixed32:
        return parse_signed(kMost32);
      case FieldType::kSint32:
        return zigzag(static_cast<int64_t>(parse_signed(kMost32)));
      case FieldType::kUint32:
      case FieldType::kFixed32:
        return parse_unsigned(std::numeric_limits<uint32_t>::max());
      case FieldType::kUint64:
      case FieldType::kFixed64:
        return parse_unsigned(std::numeric_limits<uint64_t>::max());
      case FieldType::kSint64:
        return zigzag(static_cast<int64_t>(parse_signed(kMost64)));
      default:
        return parse_signed(kMost64);
    }
  }

  uint64_t parse_unsigned(uint64_t most) {
    if (tokens_.kind() != TextToken::kInteger) fail_got("integer");
    std::string_view digits = tokens_.text();
    int base = 10;
    if (digits.size() > 1 && digits[0] == '0') {
      base = (digits[1] | 0x20) == 'x' ? 16 : 8;
      digits.remove_prefix(base == 16 ? 2 : 1);
    }
    const std::optional<uint64_t> number = read_number<uint64_t>(digits, base);
    if (!number || *number > most) fail("integer out of range (" + std::string(tokens_.text()) + ")");
    tokens_.next();
    return *number;
  }

  uint64_t parse_signed(uint64_t most) {
    const bool negative = takes('-');
    const uint64_t number = parse_unsigned(most + (negative ? 1 : 0));
    return negative ? 0 - number : number;
  }

  double parse_float() {
    const bool negative = takes('-');
    const std::string_view text = tokens_.text();
    double number = 0;
    if (tokens_.kind() == TextToken::kInteger) {
      if (text.size() > 1 && text[0] == '0') fail("expect a decimal number, got: " + std::string(text));
      number = read_double(text);
    } else if (tokens_.kind() == TextToken::kFloat) {
      number = read_double(text);
    } else if (tokens_.kind() == TextToken::kIdentifier &&
               (same_word(text, "inf") || same_word(text, "infinity"))) {
      number = std::numeric_limits<double>::infinity();
    } else if (tokens_.kind() == TextToken::kIdentifier && same_word(text, "nan")) {
      number = std::numeric_limits<double>::quiet_NaN();
    } else {
      fail_got("double");
    }
    tokens_.next();
    return negative ? -number : number;
  }

  uint64_t parse_bool(const MessageField& field) {
    if (tokens_.kind() == TextToken::kInteger) return parse_unsigned(1);
    const std::string_view word = identifier();
    if (word == "true" || word == "True" || word == "t") return 1;
    if (word == "false" || word == "False" || word == "f") return 0;
    fail("invalid value for boolean field " + between_quotes(field.name) +
         ". Value: " + between_quotes(word));
  }

  // A number that has no name is a value, too: of a release that is not known.
  uint64_t parse_enum(const MessageField& field) {
    if (tokens_.kind() == TextToken::kIdentifier) {
      const std::string_view word = identifier();
      const std::optional<int32_t> number = field.enumeration->number_of(word);
      if (!number)
        fail("unknown enumeration value of " + between_quotes(word) + " for field " +
             between_quotes(field.name));
      return static_cast<uint64_t>(int64_t{*number});
    }
    if (!at('-') && tokens_.kind() != TextToken::kInteger) fail_got("integer or identifier");
    return parse_signed(std::numeric_limits<int32_t>::max());
  }

  TextTokens tokens_;
  std::string& raw_;
  std::string text_;
  int depth_ = 0;
};

}  // namespace

std::optional<TextFault> parse_message_text(std::string_view text, const MessageType& type,
                                            std::string& bytes) {
  std::string raw;
  try {
    TextParser(text, raw).parse(type);
  } catch (const TextFault& fault) {
    return TextFault{fault.offset, printable(fault.message)};
  }
  append_canonical(bytes, type, raw);
  return std::nullopt;
}

}  // namespace gedit
