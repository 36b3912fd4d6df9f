// Base64 (RFC 4648, with padding): bytes in text.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace gedit {

void append_base64(std::string& out, std::string_view bytes);

// Nothing where `text` is not base64: a foreign character, a length that is no multiple of 4, padding inside.
std::optional<std::string> decode_base64(std::string_view text);

}  // namespace gedit
