// Descriptors of files: bytes written whole, and what went wrong.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/file.h"

namespace gedit {

// What is written at once. For more, the kernel looks for as much memory in one piece: where memory is in
// many pieces, making one takes several times as long as writing it. Less costs system calls.
inline constexpr size_t kFileBuffer = size_t{128} << 10;

// As many files as the system lets this user have: a checkpoint may have a thousand data files.
void open_many_files();

// What errno means, as part of a message.
std::string system_text(int error);

// Throws Error (kInput) of the file.
[[noreturn]] void fail_reading(const std::string& path, int error);
// Throws Error (kWrite) of it.
[[noreturn]] void fail_writing(const std::string& path, int error);

// Whether renameat2() says that the file system does not know its flags.
bool lacks_rename_flags(int error);

// Sets `error` to an errno where not all could be written.
void write_all(int descriptor, const char* p, size_t size, int& error);

// A file without a name in a directory, to be read again at path_of(), and to be named by link_open_file();
// -1 and errno where there is none: EOPNOTSUPP where the file system has no such files, or no /proc is
// mounted.
int open_unnamed(const std::string& directory, int flags, unsigned mode);
std::string path_of(int descriptor);

// Another name for an open file, also for one that has none yet; gives an errno, or 0.
int link_open_file(int descriptor, const std::string& path);

// What went wrong while bytes were written.
struct WriteFailure {
  int error = 0;                      // errno
  const InputFile* source = nullptr;  // where it was the source's; with error 0 it became shorter
  bool any() const { return error != 0 || source != nullptr; }
};

// Part of a mapped file, which outlives this. Whole megabytes that are mapped at once cost the kernel half of
// what reading and writing them does, and are in memory for a moment only.
struct Mapped {
  const InputFile* source = nullptr;
  std::string_view bytes;
};

WriteFailure write_mapped(const Mapped& part, int to);

}  // namespace gedit
