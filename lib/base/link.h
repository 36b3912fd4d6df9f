// A second name for a file's bytes, without moving them where the file system can do that.
#pragma once

#include <memory>
#include <string>

#include "base/file.h"

namespace gedit {

// `to` gets the bytes of the regular file `from`: shared by reflink, else as a hard link, else copied. `to`
// must not exist. A link is never written through: gedit replaces files, it does not change them. With `copy`
// the bytes are moved. Throws Error (kWrite, kInput).
void link_file(const std::string& from, const std::string& to, bool copy = false);

// Whether the kernel would let this user give the file a second name in the folder.
bool can_link(const InputFile& file, const std::string& folder);

// The bytes of the file in an output that is not placed yet: shared by reflink, else moved.
void copy_file(const std::shared_ptr<const InputFile>& from, OutputFile& to, bool reflink = true);

}  // namespace gedit
