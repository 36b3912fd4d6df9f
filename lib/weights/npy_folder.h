// A folder of .npy files: tensor a/b is a/b.npy.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "weights/stream.h"
#include "weights/weights.h"

namespace gedit {

// Whether there is a .npy file in the folder or below it.
bool looks_like_npy_folder(const std::string& path);

// All .npy files in it and below; `skip` as in open_weights(). Throws Error (kInput).
Weights read_npy_folder(const std::string& path, bool skip = false);

// Complete under another name before it appears at `path`, where nothing may be but, with `overwrite`, a
// folder of .npy files and nothing else. Throws Error (kRefused, kWrite).
void write_npy_folder(const Weights& weights, const std::string& path, bool overwrite,
                      const Overflowed& overflowed = {});

// A tensor's name as that of a file below a folder, and back: what a file system, or the folder's border,
// does not bear is written %XX: `..`, `.`, empty parts, a part that ends in .npy before a slash, `%` itself.
std::string npy_file_name(std::string_view tensor);
std::optional<std::string> npy_tensor_name(std::string_view file);

}  // namespace gedit
