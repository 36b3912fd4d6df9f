// Writes a checkpoint: data files linked, never moved, or packed anew; all of it complete before the first
// file appears.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "checkpoint/bundle.h"

namespace gedit {

struct WriteOptions {
  bool overwrite = false;  // replaces what is there; data files of the old one that are left over go last
  bool copy_data = false;  // neither reflinks nor hard links
  // Rewrites the values: what no tensor uses is left behind, places that several share stay shared. Shards
  // that are not little-endian V2 data are always rewritten.
  bool pack = false;
  size_t shards = 1;  // pack: number of data files, filled evenly
  uint64_t max_size =
      0;  // pack: instead, as many as it takes so that none is larger (one tensor always fits); 0: no limit
};

struct WriteResult {
  uint64_t data_bytes = 0;  // in all data files
  size_t shards = 0;
};

// A checkpoint that is complete, its files without names. Without commit() nothing of it stays.
//   CheckpointOutput output(checkpoint, "dir/model", options);  // throws kInput, kRefused, kWrite
//   output.commit();                                            // data files, then the index: exchange.h
// With `overwrite` the prefix may be the checkpoint's own; where its data files keep their names and their
// bytes, the index alone is replaced.
class CheckpointOutput {
 public:
  CheckpointOutput(Checkpoint checkpoint, const std::string& prefix, const WriteOptions& options);
  ~CheckpointOutput();
  CheckpointOutput(const CheckpointOutput&) = delete;
  CheckpointOutput& operator=(const CheckpointOutput&) = delete;

  // `then` runs when the checkpoint is there; where it throws, what was there before is there again.
  void commit(const std::function<void()>& then = {});
  const WriteResult& result() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

WriteResult write_checkpoint(Checkpoint checkpoint, const std::string& prefix,
                             const WriteOptions& options = {});

}  // namespace gedit
