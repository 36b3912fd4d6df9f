// A second name for a file's bytes, without moving them where the file system can do that.
#pragma once

#include <string>

namespace gedit {

// `to` gets the bytes of the regular file `from`: shared by reflink, else as a hard link, else copied. `to`
// must not exist. A link is never written through: gedit replaces files, it does not change them. With `copy`
// the bytes are moved. Throws Error (kWrite, kInput).
void link_file(const std::string& from, const std::string& to, bool copy = false);

}  // namespace gedit
