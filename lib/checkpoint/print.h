// One tensor's values for people (nested brackets) and for numpy (.npy).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "checkpoint/bundle.h"

namespace gedit {

// `[[1.0, 2.0],\n [3.0, 4.0]]` and a line break: the shortest digits that give the same number; strings in
// quotes. `bytes` are those of tensor_bytes(). Throws Error (kRefused) for types that have no text form.
void print_text(DType dtype, const std::vector<int64_t>& shape, std::string_view bytes, Sink& out);

// In double quotes: `\"`, `\\`, `\n`, `\t`, `\r`, other control characters and bytes that are no UTF-8 in
// octal.
std::string string_text(std::string_view text);

// The values as bytes: numbers row-major and little-endian, strings one after another, without their lengths.
void print_raw(DType dtype, const std::vector<int64_t>& shape, std::string_view bytes, Sink& out);

// A .npy file of version 1.0. bfloat16 and 8-bit floats are written as numpy sees them without extensions
// (V2, V1), quantized types as their integers, strings as S<longest>. Throws Error (kRefused) where numpy has
// no such type.
void print_npy(DType dtype, const std::vector<int64_t>& shape, std::string_view bytes, Sink& out);

}  // namespace gedit
