// The safetensors format: the length of a JSON header, the header, the bytes of the tensors without holes.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/file.h"
#include "weights/stream.h"
#include "weights/weights.h"

namespace gedit {

bool looks_like_safetensors(std::string_view bytes);

// Throws Error (kInput) where the header is no such JSON, names a tensor or key twice, or its offsets leave
// holes, overlap, or do not fit the shapes. docs/rules.md#checkpoint-weights-files
Weights read_safetensors(const std::shared_ptr<const InputFile>& file);

// `F32`; nothing for types that the format does not have.
std::optional<std::string_view> safetensors_type(DType dtype);

// Writes all of them, those of the widest elements first, so that each is aligned. Throws Error: kRefused for
// a type or a name that the format cannot hold.
void write_safetensors(const Weights& weights, const std::string& path, bool overwrite,
                       const Overflowed& overflowed = {});

}  // namespace gedit
