// A checkpoint of several files takes its place: at every moment, and after any kill, the old or the new is
// there, whole. docs/rules.md#checkpoint-beside-the-output
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/file.h"

namespace gedit {

// A data file that is complete and has no name at its place yet: one that was made, or one that is there and
// gets another name.
struct NewDataFile {
  size_t shard = 0;
  std::shared_ptr<OutputFile> made;
  std::shared_ptr<const InputFile> linked;
};

struct NewBundle {
  std::string prefix;
  bool overwrite = false;
  size_t shards = 0;
  std::vector<NewDataFile> files;
  // The index of a checkpoint of so many data files.
  std::function<void(size_t shards, OutputFile& out)> write_index;
  std::vector<std::shared_ptr<const InputFile>> sources;  // indexes that nobody may have replaced meanwhile
};

// Before anything is looked for at the prefix: what the next command takes away, see put_in_place().
void take_away_what_kills_left(const std::string& prefix);

// One process at a time does this in a folder. Data files whose names are taken get names of another count
// first; the index is exchanged in one step; then data goes that the old index alone names, and last the new
// files get the names that they would have had. An index that is on its way lies beside as
// PREFIX.index.tmp-*: whoever comes next takes it away, and data that it alone names, so that a kill leaves
// nothing that lasts or is in the way.
// `then` runs after the exchange; where it throws, the old checkpoint is put back. Throws Error: kRefused
// (exists without `overwrite`), kInput (a source was replaced), kWrite.
void put_in_place(NewBundle& bundle, const std::function<void()>& then);

}  // namespace gedit
