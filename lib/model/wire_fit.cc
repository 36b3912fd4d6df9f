#include "model/wire_fit.h"

namespace gedit {

namespace {

constexpr size_t kMostFields = 64;

// The varint at `at`, which moves past it; nothing where it is cut off.
std::optional<uint64_t> varint_at(std::string_view bytes, size_t& at) {
  uint64_t value = 0;
  for (unsigned shift = 0; at < bytes.size() && shift < 64; shift += 7) {
    const auto byte = static_cast<unsigned char>(bytes[at++]);
    value |= uint64_t{byte & 0x7fU} << shift;
    if (byte < 0x80) return value;
  }
  return {};
}

// A record that Fields refuses: is it cut off by the end of the bytes, or no record at all?
void look_at_broken(std::string_view bytes, size_t start, Peek& peek) {
  peek.broken_at = start;
  peek.end = PeekEnd::kGarbage;
  size_t at = start;
  const std::optional<uint64_t> tag = varint_at(bytes, at);
  if (!tag) {
    if (at == bytes.size()) peek.end = PeekEnd::kCut;
    return;
  }
  const auto wire = static_cast<Wire>(*tag & 7);
  if ((*tag >> 3) == 0 || (*tag >> 3) > 0x1fffffff || wire == Wire::kStartGroup || wire == Wire::kEndGroup ||
      (*tag & 7) > 5)
    return;
  Field field;
  field.number = static_cast<uint32_t>(*tag >> 3);
  field.wire = wire;
  if (wire == Wire::kBytes) {
    const std::optional<uint64_t> length = varint_at(bytes, at);
    if (!length && at < bytes.size()) return;
    if (length && *length > (uint64_t{1} << 31)) return;  // no message is that long
    peek.wanted = length.value_or(0);
  } else if (wire == Wire::kVarint) {
    (void)varint_at(bytes, at);
    if (at < bytes.size()) return;
  }
  peek.end = PeekEnd::kCut;
  field.value = bytes.substr(at);
  field.raw = bytes.substr(start);
  peek.fields.push_back(field);
}

}  // namespace

Peek peek_at(std::string_view bytes) {
  Peek peek;
  size_t done = 0;
  try {
    for (Fields fields(bytes); fields.next();) {
      if (peek.fields.size() == kMostFields) {
        peek.end = PeekEnd::kMore;
        return peek;
      }
      peek.fields.push_back(fields.field());
      done = static_cast<size_t>(fields->raw.data() + fields->raw.size() - bytes.data());
    }
  } catch (const Malformed&) {  // not an error here, but what there is to know
    look_at_broken(bytes, done, peek);
  }
  return peek;
}

std::optional<Peek> peek_of(const MessageBytes& body) {
  Peek peek = peek_at(body.bytes);
  peek.lenient = body.lenient;
  if (peek.end == PeekEnd::kGarbage || (peek.end == PeekEnd::kCut && !body.cut)) return {};
  return peek;
}

MessageBytes body_of(const Peek& peek, const Field& field) {
  return {field.value, peek.end == PeekEnd::kCut && &field == &peek.fields.back(), peek.lenient};
}

bool is_plain_text(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) >= 0x20; });
}

namespace {

bool is_identifier(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c > 0x20 && c < 0x7f; });
}

// A map entry, or any message of two strings or messages.
Fit fit_entry(const MessageBytes& body) {
  const auto peek = peek_of(body);
  if (!peek) return Fit::kNo;
  for (const Field& field : peek->fields) {
    if (peek->lenient && (field.wire != Wire::kBytes || field.number > 2)) continue;
    if (field.wire != Wire::kBytes || field.number > 2) return Fit::kNo;
    if (field.number == 1 && !is_plain_text(field.value)) return Fit::kNo;
  }
  const bool repeated = peek->count(1, Wire::kBytes) > 1 || peek->count(2, Wire::kBytes) > 1;
  if (repeated && !peek->lenient) return Fit::kNo;
  return peek->fields.empty() ? Fit::kMaybe : Fit::kYes;
}

}  // namespace

Fit fit_node(const MessageBytes& body) {
  const auto peek = peek_of(body);
  if (!peek) return Fit::kNo;
  Fit fit = Fit::kMaybe;
  size_t attrs = 0;
  for (const Field& field : peek->fields) {
    if (field.number > 7 || (peek->lenient && field.wire != Wire::kBytes)) continue;
    if (field.wire != Wire::kBytes) return Fit::kNo;
    if (field.number == 2 && !field.value.empty()) {
      if (!is_identifier(field.value)) return Fit::kNo;
      fit = Fit::kYes;
    }
    if (field.number == 5 && ++attrs <= 3 && fit_entry(body_of(*peek, field)) == Fit::kNo) return Fit::kNo;
  }
  return peek->count(1, Wire::kBytes) > 1 || peek->count(2, Wire::kBytes) > 1 ? Fit::kNo : fit;
}

Fit fit_op_def(const MessageBytes& body) {
  const auto peek = peek_of(body);
  if (!peek) return Fit::kNo;
  Fit fit = Fit::kMaybe;
  for (const Field& field : peek->fields) {
    const bool number = (field.number >= 16 && field.number <= 19) || field.number == 21;
    const bool unknown = field.number == 7 || (field.number >= 9 && field.number <= 15);
    const Wire wire = number ? Wire::kVarint : Wire::kBytes;
    if (peek->lenient && (unknown || field.wire != wire)) continue;
    if (unknown) return Fit::kNo;
    if (field.number <= 21 && field.wire != wire) return Fit::kNo;
    // What is cut off may end between two fields, or in front of a name.
    const MessageBytes part = body_of(*peek, field);
    if (field.number == 1 && !is_identifier(field.value) && !(part.cut && field.value.empty()))
      return Fit::kNo;
    if (field.number == 1) fit = Fit::kYes;
    if (field.number >= 2 && field.number <= 4) {
      const auto argument = peek_of(part);
      const bool whole = argument && argument->end == PeekEnd::kWhole && !part.cut;
      const bool named = !whole || peek->lenient || argument->count(1, Wire::kBytes) == 1;
      if (!argument || !named) return Fit::kNo;
    }
  }
  return peek->count(1, Wire::kBytes) > 1 ? Fit::kNo : fit;
}

Fit fit_function(const MessageBytes& body) {
  const auto peek = peek_of(body);
  if (!peek) return Fit::kNo;
  Fit fit = Fit::kMaybe;
  for (const Field& field : peek->fields) {
    if (peek->lenient && field.wire != Wire::kBytes) continue;
    if (field.number <= 8 && field.wire != Wire::kBytes) return Fit::kNo;
    if (field.number == 1) fit = fit_op_def(body_of(*peek, field));
    if (field.number == 3 && fit_node(body_of(*peek, field)) == Fit::kNo) return Fit::kNo;
    if (fit == Fit::kNo) return Fit::kNo;
  }
  return fit;
}

namespace {

Fit fit_library(const MessageBytes& body) {
  const auto peek = peek_of(body);
  if (!peek) return Fit::kNo;
  Fit fit = Fit::kMaybe;
  for (const Field& field : peek->fields) {
    if (field.number > 3 || (peek->lenient && field.wire != Wire::kBytes)) continue;
    if (field.wire != Wire::kBytes) return Fit::kNo;
    const MessageBytes part = body_of(*peek, field);
    const Fit one = field.number == 1 ? fit_function(part) : fit_entry(part);
    if (one == Fit::kNo) return Fit::kNo;
    fit = std::max(fit, one);
  }
  return fit;
}

Fit fit_versions(const MessageBytes& body) {
  const auto peek = peek_of(body);
  if (!peek) return Fit::kNo;
  for (const Field& field : peek->fields) {
    const bool packed = field.number == 3 && field.wire == Wire::kBytes;
    if (peek->lenient && (field.number > 3 || (field.wire != Wire::kVarint && !packed))) continue;
    if (field.number <= 3 && field.wire != Wire::kVarint && !packed) return Fit::kNo;
    if (field.number > 3) return Fit::kNo;
  }
  return peek->fields.empty() ? Fit::kMaybe : Fit::kYes;
}

}  // namespace

Fit fit_graph(const Peek& peek) {
  Fit fit = Fit::kMaybe;
  for (const Field& field : peek.fields) {
    if (field.number > 7) continue;  // of a future TensorFlow
    const Wire wire = field.number == 3 ? Wire::kVarint : Wire::kBytes;
    if (peek.lenient && (field.number > 5 || field.wire != wire)) continue;
    if (field.number > 5 || field.wire != wire) return Fit::kNo;
    const MessageBytes part = body_of(peek, field);
    const Fit one = field.number == 1   ? fit_node(part)
                    : field.number == 2 ? fit_library(part)
                    : field.number == 4 ? fit_versions(part)
                                        : Fit::kMaybe;
    if (one == Fit::kNo) return Fit::kNo;
    fit = std::max(fit, one);
  }
  return fit;
}

namespace {

Fit fit_meta_info(const MessageBytes& body) {
  const auto peek = peek_of(body);
  if (!peek) return Fit::kNo;
  Fit fit = Fit::kMaybe;
  for (const Field& field : peek->fields) {
    const Wire wire = field.number == 7 ? Wire::kVarint : Wire::kBytes;
    if (field.number > 8 || (peek->lenient && field.wire != wire)) continue;
    if (field.wire != wire) return Fit::kNo;
    if (field.number == 2) {
      const auto list = peek_of(body_of(*peek, field));
      if (!list) return Fit::kNo;
      for (const Field& op : list->fields) {
        if (list->lenient && !op.bytes(1)) continue;
        if (!op.bytes(1) || fit_op_def(body_of(*list, op)) == Fit::kNo) return Fit::kNo;
      }
    }
    if ((field.number == 1 || (field.number >= 4 && field.number <= 6)) && !is_plain_text(field.value))
      return Fit::kNo;
    if (field.number != 1) fit = Fit::kYes;
  }
  return fit;
}

Fit fit_saver(const MessageBytes& body) {
  const auto peek = peek_of(body);
  if (!peek) return Fit::kNo;
  for (const Field& field : peek->fields) {
    if (field.number > 7) continue;
    const Wire wire = field.number <= 3 ? Wire::kBytes : field.number == 6 ? Wire::kFixed32 : Wire::kVarint;
    if (peek->lenient && field.wire != wire) continue;
    if (field.wire != wire) return Fit::kNo;
    if (wire == Wire::kBytes && !is_plain_text(field.value)) return Fit::kNo;  // names
  }
  return peek->fields.empty() ? Fit::kMaybe : Fit::kYes;
}

}  // namespace

Fit fit_meta_graph(const Peek& peek) {
  if (peek.count(1, Wire::kBytes) > 1) return Fit::kNo;
  // A graph, whatever lies around it.
  if (peek.lenient && peek.count(2, Wire::kBytes) == 1) {
    const auto field = std::ranges::find_if(peek.fields, [](const Field& one) { return one.bytes(2); });
    const auto graph = peek_of(body_of(peek, *field));
    if (graph && graph->count(1, Wire::kBytes) > 0 && fit_graph(*graph) == Fit::kYes) return Fit::kYes;
  }
  Fit fit = Fit::kMaybe;
  for (const Field& field : peek.fields) {
    if (field.number > 7 || (peek.lenient && field.wire != Wire::kBytes)) continue;
    if (field.wire != Wire::kBytes) return Fit::kNo;
    const MessageBytes part = body_of(peek, field);
    Fit one = Fit::kMaybe;
    if (field.number == 1) one = fit_meta_info(part);
    if (field.number == 2) {
      const auto graph = peek_of(part);
      one = graph ? fit_graph(*graph) : Fit::kNo;
    }
    if (field.number == 3) one = fit_saver(part);
    if (field.number == 4 || field.number == 5) one = fit_entry(part);
    if (one == Fit::kNo) return Fit::kNo;
    fit = std::max(fit, one);
  }
  return fit;
}

Fit fit_saved_model(const Peek& peek) {
  Fit fit = Fit::kNo;  // without a MetaGraph it is none
  bool has_version = false;
  for (const Field& field : peek.fields) {
    const Wire wire = field.number == 1 ? Wire::kVarint : Wire::kBytes;
    if (field.number > 7 || (peek.lenient && field.wire != wire)) continue;
    if (field.number > 2 || field.wire != wire) return Fit::kNo;
    if (field.number == 1) has_version = field.varint == 1;
    if (field.number != 2) continue;
    const auto meta = peek_of(body_of(peek, field));
    const Fit one = meta ? fit_meta_graph(*meta) : Fit::kNo;
    if (one == Fit::kNo) return Fit::kNo;
    fit = std::max(fit, one);
  }
  return fit != Fit::kNo && has_version ? Fit::kYes : fit;
}

}  // namespace gedit
