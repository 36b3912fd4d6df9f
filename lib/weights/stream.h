// Values written to their places in files, from all processors, in pieces: nothing is in memory for longer.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/file.h"
#include "weights/casting.h"
#include "weights/values.h"

namespace gedit {

// What goes where. Those of one file come in the order of their places.
struct Streamed {
  ValuesPtr values;
  Casting casting = {};  // on the way
  const OutputFile* out = nullptr;
  uint64_t at = 0;
  std::optional<ChecksumKind> take = {};  // of what is written, into `checksum`
  std::string subject = {}, file = {};    // whose they are, for messages
  uint32_t checksum = 0;
  uint64_t overflows = 0;  // finite numbers that became infinite

  uint64_t size() const { return casting.size_of(values->size()); }
};

// Told of a tensor of which finite numbers became infinite when they were cast.
using Overflowed = std::function<void(const std::string& subject, uint64_t count)>;

// Items of one subject, one behind the other, are told of once. Throws Error: kInput where a checksum differs
// from what the file says, kWrite.
void stream(std::vector<Streamed>& items, const Overflowed& overflowed = {});

// Reads all of the values, which may be null, and compares the checksums. Throws as above; `subject_of(i)`
// gives the tensor for messages.
void check_all(const std::vector<ValuesPtr>& values, const std::string& file,
               const std::function<std::string(size_t)>& subject_of);

}  // namespace gedit
