#include "message/fields.h"

#include <algorithm>
#include <array>

namespace gedit {
namespace {

// Of one that is not repeated: what is not written, unless the field says whether it is set.
bool is_default_value(const MessageField& field, const Field& value) {
  if (!field.packable()) return value.value.empty();
  bool zero = true;
  each_number(value, field.wire, [&](uint64_t number) { zero = number_of(field.type, number) == 0; });
  return zero;
}

struct MapKey {
  std::string_view text;
  uint64_t number = 0;
  auto operator<=>(const MapKey&) const = default;
};

MapKey map_key_of(const MessageField& key, std::string_view entry) {
  if (!key.packable()) return {map_entry(entry).key};
  MapKey found;
  for (Fields fields(entry); fields.next();) {
    if (fields->number != key.number || fields->wire != key.wire) continue;
    each_number(fields.field(), key.wire,
                [&](uint64_t number) { found.number = number_of(key.type, number); });
  }
  return found;
}

class CanonicalWriter {
 public:
  explicit CanonicalWriter(std::string& out) : out_(out) {}

  void write(const MessageType& type, std::string_view bytes, int depth) {
    if (depth > kDeepestNesting) throw Malformed(bytes.data(), "messages nested deeper than 100 levels");
    fields_.read(type, bytes, [&](const MessageField& field, size_t begin, size_t end) {
      if (field.packed) {
        append_message(out_, field.number, [&] {
          for (size_t i = begin; i < end; ++i) write_numbers(field, fields_[i], false);
        });
        return;
      }
      for (size_t i = begin; i < end; ++i) write_field(field, fields_[i], depth);
    });
  }

 private:
  void write_field(const MessageField& field, const Field& value, int depth) {
    if (field.type == FieldType::kMessage) {
      append_message(out_, field.number, [&] { write(*field.message, value.value, depth + 1); });
    } else if (!field.packable()) {
      append_bytes_field(out_, field.number, value.value);
    } else {
      write_numbers(field, value, true);
    }
  }

  void write_numbers(const MessageField& field, const Field& value, bool with_tag) {
    each_number(value, field.wire, [&](uint64_t number) {
      if (with_tag) append_tag(out_, field.number, field.wire);
      append_number(out_, field.wire, number_of(field.type, number));
    });
  }

  std::string& out_;
  MessageFields fields_;
};

}  // namespace

uint64_t number_of(FieldType type, uint64_t wire_number) {
  switch (type) {
    case FieldType::kInt32:
    case FieldType::kEnum:
      return static_cast<uint64_t>(int64_t{static_cast<int32_t>(wire_number)});
    case FieldType::kUint32:
    case FieldType::kSint32:
      return static_cast<uint32_t>(wire_number);
    case FieldType::kBool:
      return wire_number == 0 ? 0 : 1;
    default:
      return wire_number;
  }
}

uint64_t zigzag(int64_t number) {
  return (static_cast<uint64_t>(number) << 1) ^ static_cast<uint64_t>(number >> 63);
}

void append_digits_of(std::string& out, FieldType type, uint64_t wire_number) {
  const uint64_t number = number_of(type, wire_number);
  switch (type) {
    case FieldType::kUint64:
    case FieldType::kUint32:
    case FieldType::kFixed64:
    case FieldType::kFixed32:
      out += std::to_string(number);
      return;
    case FieldType::kSint32:
    case FieldType::kSint64:
      out += std::to_string(static_cast<int64_t>((number >> 1) ^ (0 - (number & 1))));
      return;
    case FieldType::kSfixed32:
      out += std::to_string(static_cast<int32_t>(number));
      return;
    default:
      out += std::to_string(static_cast<int64_t>(number));
  }
}

Field default_value(const MessageField& field) {
  static constexpr std::array<char, sizeof(uint64_t)> kZeros{};
  const size_t size = field.wire == Wire::kBytes     ? 0
                      : field.wire == Wire::kVarint  ? 1
                      : field.wire == Wire::kFixed32 ? 4
                                                     : 8;
  Field value;
  value.number = field.number;
  value.wire = field.wire;
  value.value = {kZeros.data(), size};
  return value;
}

void append_number(std::string& out, Wire wire, uint64_t number) {
  if (wire == Wire::kVarint) return append_varint(out, number);
  append_little_endian(out, number, wire == Wire::kFixed64 ? 8 : 4);
}

void MessageFields::find(const MessageType& type, std::string_view bytes) {
  const size_t start = found_.size();
  bool in_order = true;
  const MessageField* field = nullptr;
  for (Fields fields(bytes); fields.next();) {
    if (field == nullptr || field->number != fields->number) field = type.field_numbered(fields->number);
    if (field == nullptr || !field->fits(fields->wire)) continue;
    if (fields->value.empty() && field->packable()) continue;  // no number at all, packed
    if (found_.size() > start && found_.back().field->number > field->number) in_order = false;
    found_.push_back({field, fields.field()});
  }
  if (!type.oneofs.empty()) keep_last_of_oneofs(start);
  if (!in_order) {
    std::stable_sort(found_.begin() + static_cast<ptrdiff_t>(start), found_.end(),
                     [](const Found& a, const Found& b) { return a.field->number < b.field->number; });
  }
  settle(start);
  if (type.is_map_entry) complete_entry(type, start);
}

// Of the members of a oneof the one that is set last counts, and of it what is behind all others.
void MessageFields::keep_last_of_oneofs(size_t start) {
  if (found_.size() < start + 2) return;
  struct Last {
    const MessageField* member = nullptr;
    bool other_seen = false;
  };
  std::array<Last, kMostOneofs> last;
  size_t to = found_.size();
  for (size_t i = found_.size(); i > start; --i) {
    const MessageField* field = found_[i - 1].field;
    if (field->oneof >= 0) {
      Last& one = last[static_cast<size_t>(field->oneof)];
      if (one.member == nullptr) one.member = field;
      if (one.member != field) one.other_seen = true;
      if (one.other_seen) continue;
    }
    found_[--to] = found_[i - 1];
  }
  found_.erase(found_.begin() + static_cast<ptrdiff_t>(start), found_.begin() + static_cast<ptrdiff_t>(to));
}

void MessageFields::settle(size_t start) {
  size_t to = start;
  for (size_t begin = start; begin < found_.size();) {
    const MessageField& field = *found_[begin].field;
    size_t end = begin + 1;
    while (end < found_.size() && found_[end].field == &field) ++end;
    const size_t first = to;
    if (field.repeated) {
      if (first != begin)
        std::copy(found_.begin() + static_cast<ptrdiff_t>(begin),
                  found_.begin() + static_cast<ptrdiff_t>(end),
                  found_.begin() + static_cast<ptrdiff_t>(first));
      to += end - begin;
      if (field.is_map()) settle_map(first, to);
    } else {
      Found last = found_[end - 1];
      if (field.type == FieldType::kMessage && end > begin + 1) {
        std::string& whole = merged_.emplace_back();
        for (size_t i = begin; i < end; ++i) whole += found_[i].value.value;
        last.value.value = whole;
      }
      if (field.presence || !is_default_value(field, last.value)) found_[to++] = last;
    }
    begin = end;
  }
  found_.erase(found_.begin() + static_cast<ptrdiff_t>(to), found_.end());
}

// The entries from `begin` up to `to`, which is then behind those that are left.
void MessageFields::settle_map(size_t begin, size_t& to) {
  const MessageField& key = found_[begin].field->message->fields[0];
  const auto key_at = [&](size_t i) { return map_key_of(key, found_[i].value.value); };
  size_t sorted = begin + 1;
  for (MapKey last = key_at(begin); sorted < to; ++sorted) {
    const MapKey next = key_at(sorted);
    if (!(last < next)) break;
    last = next;
  }
  if (sorted == to) return;
  std::vector<std::pair<MapKey, Field>> entries;
  for (size_t i = begin; i < to; ++i) entries.emplace_back(key_at(i), found_[i].value);
  std::stable_sort(entries.begin(), entries.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  to = begin;
  for (size_t i = 0; i < entries.size(); ++i) {
    if (i + 1 < entries.size() && entries[i].first == entries[i + 1].first) continue;
    found_[to++].value = entries[i].second;
  }
}

void MessageFields::complete_entry(const MessageType& type, size_t start) {
  for (const MessageField& part : type.fields) {
    const auto at = found_.begin() + static_cast<ptrdiff_t>(start + part.place);
    if (at == found_.end() || at->field != &part) found_.insert(at, {&part, default_value(part)});
  }
}

void append_canonical(std::string& out, const MessageType& type, std::string_view bytes) {
  CanonicalWriter(out).write(type, bytes, 0);
}

}  // namespace gedit
