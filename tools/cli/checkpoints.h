// What the verbs of `gedit checkpoint` share.
#pragma once

#include <functional>
#include <string>

#include "checkpoint/bundle.h"
#include "checkpoint/edit.h"
#include "checkpoint/write.h"
#include "cli/command_line.h"

namespace gedit {

// The operand CKPT, and -q.
class CheckpointOperand {
 public:
  void setup(CommandLine& line);        // CKPT
  void setup_quiet(CommandLine& line);  // -q

  // Opens CKPT, or what another operand names, and passes its warnings on.
  Checkpoint open() const { return open(path_); }
  Checkpoint open(const std::string& path) const;

  const std::string& path() const { return path_; }
  bool quiet() const { return quiet_; }

 private:
  std::string path_;
  bool quiet_ = false;
};

struct CheckpointCounts {
  size_t tensors = 0;
  uint64_t bytes = 0;  // that its tensors point at
};
CheckpointCounts count(const Checkpoint& checkpoint);

// Where an edited checkpoint goes.
class CheckpointTarget {
 public:
  std::string in_place_of;  // what -i edits, as the user named it
  void setup(CommandLine& line);
  void setup_in_place(CommandLine& line);    // with -i
  void setup_index_only(CommandLine& line);  // --index-only, --plan

  // Writes it or, with -n, prints the changes; then tells what there was and what there is.
  void write(Checkpoint checkpoint, const CheckpointCounts& before, const KeyChanges& changes, bool quiet);

  // The operand as it is to be read: with --index-only an index may come through a pipe.
  Checkpoint open(const CheckpointOperand& operand, const std::string& path) const;

  bool dry_run() const { return dry_run_; }

  WriteOptions options;  // what a verb asks for beyond these
  std::string hint;      // what to do about data files that hold more than is pointed at
  const std::string& output() const { return output_; }  // -o as it was given

 private:
  std::string prefix(const Checkpoint& checkpoint) const;
  void check_index_only() const;
  std::string write_index_alone(Checkpoint checkpoint, const std::string& to) const;

  std::string output_, plan_;
  bool in_place_ = false, dry_run_ = false, state_ = false, index_only_ = false;
};

// Opens CKPT, edits it and writes it. `changes` is null where nobody wants to know them.
void edit_checkpoint(const CheckpointOperand& operand, CheckpointTarget& target,
                     const std::function<void(Checkpoint& checkpoint, KeyChanges* changes)>& edit);

}  // namespace gedit
