// The tensors of a checkpoint as a table for people and as JSON. Data files are not opened.
#pragma once

#include <vector>

#include "base/file.h"
#include "checkpoint/bundle.h"

namespace gedit {

// `name dtype shape bytes`, a line a tensor; `more` adds shard, offset, crc32c and slices. Only those for
// which `shown` says so.
void list_text(const Checkpoint& checkpoint, const std::vector<bool>& shown, bool more, Sink& out);

// {"file","kind","version","shards","tensors":[{"name","dtype","shape","bytes","shard","offset","crc32c","slices":
// []}],"object_graph"}. What a place does not have (of slices, of V1) is null. crc32c is in hexadecimal, not
// masked.
void list_json(const Checkpoint& checkpoint, const std::vector<bool>& shown, Sink& out);

// `[2,3]`.
std::string shape_text(const std::vector<int64_t>& shape);

// The name as it is, in double quotes with escapes where it holds blanks, control characters or broken UTF-8.
std::string shown_name(std::string_view name);

}  // namespace gedit
