// Any bytes as protobuf text or JSON are refused in one line; what is accepted is written, read and written
// again the same, and means the same bytes.
#include <optional>

#include "fuzzed.h"
#include "model/json.h"
#include "model/text.h"

namespace gedit {
namespace {

std::string text_of(Kind kind, std::string_view message) {
  StringSink sink;
  write_text(kind, message, "fuzz", false, sink);
  return sink.text;
}

std::string json_of(Kind kind, std::string_view message) {
  StringSink sink;
  write_json(kind, message, "fuzz", false, sink);
  return sink.text;
}

template <typename Parse, typename Write>
void check_form(Kind kind, std::string_view input, Parse parse, Write write) {
  std::optional<std::string> text;
  accepted([&] { text = write(kind, parse(kind, input, "fuzz")); });
  // What gedit wrote is read again: no refusal will do here.
  if (text) require(accepted([&] { require(write(kind, parse(kind, *text, "fuzz")) == *text); }));
}

template <typename Write>
void check_message(Kind kind, std::string_view message, Write write) {
  accepted([&] { write(kind, message); });
}

}  // namespace
void fuzz_forms(const uint8_t* data, size_t size) {
  const std::string_view bytes = as_text(data, size);
  for (const Kind kind : kKinds) {
    check_form(kind, bytes, parse_text, text_of);
    check_form(kind, bytes, parse_json, json_of);
    check_message(kind, bytes, text_of);
    check_message(kind, bytes, json_of);
  }
}

}  // namespace gedit
