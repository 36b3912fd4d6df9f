// A checkpoint of which the index alone is read and written: its data files lie in a store that copies them
// itself, or are too large to be here. docs/rules.md#checkpoint-index-only
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "checkpoint/bundle.h"

namespace gedit {

// What has to happen to one data file before the index may take its place.
struct PlannedFile {
  bool made = false;     // lies at `from`, written beside the index; else `from` is one of the inputs'
  std::string from, to;  // of an index without a name what follows the prefix: `.data-00000-of-00001`
};
using DataPlan = std::vector<PlannedFile>;

// An index that comes by itself: `-`, standard input, or a pipe. Nothing for other paths.
bool is_index_in_pipe(const std::string& path);
Checkpoint read_index_in_pipe(const std::string& path);

// Writes PREFIX.index, or with `-` the index to standard output, and data files for values that are new; no
// data file of the inputs is opened. Gives what the index expects to be at PREFIX that is not there under its
// name. Throws Error: kRefused where values would have to be written anew, where something is there (of data
// files with `overwrite`, too), and with `in_place` where data files get other names; kWrite.
DataPlan write_index_only(Checkpoint checkpoint, const std::string& prefix, bool overwrite, bool in_place);

// `copy<tab>FROM<tab>TO`, `made<tab>FROM<tab>TO`, a line a data file.
std::string plan_text(const DataPlan& plan);

}  // namespace gedit
