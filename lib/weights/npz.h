// numpy's .npz format: a zip archive of .npy files.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/file.h"
#include "weights/stream.h"
#include "weights/weights.h"

namespace gedit {

bool looks_like_zip(std::string_view bytes);

// Stored members stay where they are; those that are compressed are unpacked into a file without a name in
// TMPDIR. Throws Error (kInput) where the directory lies, members overlap or are encrypted, or unpack to
// something else than is said; `skip` as in open_weights().
Weights read_npz(const std::shared_ptr<const InputFile>& file, bool skip = false);

// Members are stored, NAME.npy, as numpy.savez writes them; zip64 where it must be. Throws Error (kRefused)
// for a type or name that it cannot hold.
void write_npz(const Weights& weights, const std::string& path, bool overwrite,
               const Overflowed& overflowed = {});

}  // namespace gedit
