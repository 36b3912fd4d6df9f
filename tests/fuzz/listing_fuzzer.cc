// Any bytes, as a listing or as a graph, are refused in one line, or listed again the same.
#include <cstdint>
#include <cstdlib>
#include <optional>

#include "base/error.h"
#include "model/listing.h"

namespace {

std::string listed(gedit::Kind kind, std::string_view message) {
  gedit::StringSink sink;
  gedit::print_listing(kind, message, true, sink);
  return sink.text;
}

std::string relisted(std::string_view text) {
  const gedit::ParsedListing parsed = gedit::parse_listing(text, "fuzz.gtxt", nullptr);
  return listed(parsed.kind, parsed.message);
}

// What gedit wrote must be read again and come out the same: no refusal will do here.
void check(const std::string& text) {
  try {
    if (relisted(text) == text) return;
  } catch (const gedit::Error&) {
    std::abort();
  }
  std::abort();
}

template <typename List>
void check_if_accepted(List list) {
  std::optional<std::string> text;
  try {
    text = list();
  } catch (const gedit::Error& refusal) {
    if (std::string_view(refusal.what()).find('\n') != std::string_view::npos) std::abort();
  }
  if (text) check(*text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  check_if_accepted([&] { return relisted(bytes); });
  check_if_accepted([&] { return listed(gedit::Kind::kSavedModel, bytes); });
  check_if_accepted([&] { return listed(gedit::Kind::kGraphDef, bytes); });
  return 0;
}
