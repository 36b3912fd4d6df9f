// A checkpoint as a listing, one tensor a line: how tests write them.
#pragma once

#include <string>
#include <string_view>

#include "checkpoint/bundle.h"

namespace gedit {

// NAME '=' tensor(...) ['slice' "SHAPE SLICE"], `shard` (a new data file), `object_graph {
// TrackableObjectGraph as protobuf text }`. A tensor with a slice is the whole one, of which the slice is
// stored, or the slice itself. The data files are shards in memory. Throws Error (kInput): `FILE: line 3:
// column 9: ...`.
Checkpoint parse_checkpoint_listing(std::string_view text, const std::string& file);

bool is_checkpoint_listing(std::string_view path);  // NAME.ckpt.gtxt

}  // namespace gedit
