// Any bytes, as a listing or as a graph, are refused in one line, or listed again the same.
#include "model/listing.h"

#include <optional>

#include "fuzzed.h"

namespace gedit {
namespace {

std::string listed(Kind kind, std::string_view message) {
  StringSink sink;
  print_listing(kind, message, true, sink);
  return sink.text;
}

std::string relisted(std::string_view text) {
  const ParsedListing parsed = parse_listing(text, "fuzz.gtxt", nullptr);
  return listed(parsed.kind, parsed.message);
}

template <typename List>
void check_if_accepted(List list) {
  std::optional<std::string> text;
  accepted([&] { text = list(); });
  // What gedit wrote must be read again and come out the same: no refusal will do here.
  if (text) require(accepted([&] { require(relisted(*text) == *text); }));
}

}  // namespace

void fuzz_listing(const uint8_t* data, size_t size) {
  const std::string_view bytes = as_text(data, size);
  check_if_accepted([&] { return relisted(bytes); });
  check_if_accepted([&] { return listed(Kind::kSavedModel, bytes); });
  check_if_accepted([&] { return listed(Kind::kGraphDef, bytes); });
}

}  // namespace gedit
