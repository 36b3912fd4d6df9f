// Any bytes are refused as a listing in one line, or printed again the same each time.
#include <cstdint>
#include <cstdlib>

#include "base/error.h"
#include "model/listing.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) try {
  const auto list = [](const std::string_view text) {
    const gedit::ParsedListing parsed = gedit::parse_listing(text, "fuzz.gtxt", nullptr);
    gedit::StringSink sink;
    gedit::print_listing(parsed.kind, parsed.message, true, sink);
    return sink.text;
  };
  const std::string first = list({reinterpret_cast<const char*>(data), size});
  // What was printed must be read again, so that a refusal of it is no answer.
  std::string second;
  try {
    second = list(first);
  } catch (const gedit::Error&) {
    std::abort();
  }
  if (second != first) std::abort();
  return 0;
} catch (const gedit::Error&) {
  return 0;
}
