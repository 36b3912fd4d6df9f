// Single values of protobuf's JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "message/type.h"

namespace gedit {

// The number of the wire form that `text` stands for in a field of numbers: digits, a word, or what is
// between quotes. Nothing where it is none, or one that does not fit.
std::optional<uint64_t> number_from_json(const MessageField& field, std::string_view text, bool quoted);

// In base64 of either alphabet, with padding or without.
std::optional<std::string> bytes_from_json(std::string_view text);

// `an int64`: what a value of the field is, for messages.
std::string_view kind_in_json(const MessageField& field);

}  // namespace gedit
