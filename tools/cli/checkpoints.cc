#include "cli/checkpoints.h"

#include "base/error.h"
#include "base/size.h"
#include "checkpoint/list.h"
#include "checkpoint/open.h"
#include "cli/say.h"

namespace gedit {

void CheckpointOperand::setup(CommandLine& line) {
  line.add_option("CKPT", path_,
                  R"(A prefix, its .index, .meta or a data file, a directory or `checkpoint` state file, a
                     SavedModel, a file or pattern of a V1 checkpoint)")
      ->required();
}

void CheckpointOperand::setup_quiet(CommandLine& line) {
  line.add_flag("-q,--quiet", quiet_, "Say nothing but errors");
}

Checkpoint CheckpointOperand::open(const std::string& path) const {
  std::vector<std::string> warnings;
  Checkpoint checkpoint = open_checkpoint(path, &warnings);
  for (const std::string& text : warnings) {
    if (!quiet_) say_warning(text);
  }
  return checkpoint;
}

CheckpointCounts count(const Checkpoint& checkpoint) {
  return {checkpoint.tensors.size(), referenced_bytes(checkpoint)};
}

void CheckpointTarget::setup(CommandLine& line) {
  line.add_option("-o,--output", output_, "Prefix of the checkpoint to write")->type_name("PREFIX");
  line.add_flag("-O,--overwrite", options.overwrite, "Replace what is there");
  line.add_flag("--copy-data", options.copy_data, "Copy data files instead of linking them");
  line.add_flag("-n,--dry-run", dry_run_, "Print what would change and write nothing");
}

void CheckpointTarget::setup_in_place(CommandLine& line) {
  setup(line);
  line.add_flag("-i,--in-place", in_place_, "Replace the index of CKPT itself");
}

std::string CheckpointTarget::prefix(const Checkpoint& checkpoint) const {
  if (in_place_ && !output_.empty()) throw Error(Cause::kUsage, "-i and -o exclude each other");
  if (in_place_ && checkpoint.version == 1) {
    throw Error(Cause::kRefused, "a V1 checkpoint is not edited in place")
        .in(checkpoint.prefix)
        .hint("-o PREFIX");
  }
  if (in_place_) return checkpoint.prefix;
  if (output_.empty()) throw Error(Cause::kUsage, "a checkpoint is written under a prefix").hint("-o PREFIX");
  if (output_ == "-")
    throw Error(Cause::kUsage, "a checkpoint cannot be written to standard output").hint("-o PREFIX");
  if (output_.ends_with(".index")) {
    throw Error(Cause::kUsage, "a prefix is meant, not a file")
        .of(quoted("-o", output_))
        .hint("-o " + output_.substr(0, output_.size() - 6));
  }
  return output_;
}

namespace {

std::string change_line(const Checkpoint& checkpoint, const KeyChange& change) {
  if (change.after.empty()) return "- " + shown_name(change.before) + "\n";
  if (!change.before.empty())
    return "~ " + shown_name(change.before) + ": " + shown_name(change.after) + "\n";
  const Tensor* tensor = checkpoint.find(change.after);
  return "+ " + shown_name(change.after) + " = " + dtype_name(tensor->dtype) + " " +
         shape_text(tensor->shape) + "\n";
}

}  // namespace

void CheckpointTarget::write(Checkpoint checkpoint, const CheckpointCounts& before, const KeyChanges& changes,
                             bool quiet) {
  const CheckpointCounts after = count(checkpoint);
  WriteResult result;
  if (dry_run_) {
    std::string text;
    for (const KeyChange& change : changes) text += change_line(checkpoint, change);
    print(text);
  } else {
    const std::string to = prefix(checkpoint);
    options.overwrite = options.overwrite || in_place_;
    result = write_checkpoint(std::move(checkpoint), to, options);
  }
  if (quiet) return;
  std::string line = "tensors " + std::to_string(before.tensors) + " -> " + std::to_string(after.tensors) +
                     ", " + size_text(before.bytes) + " -> " + size_text(after.bytes) + " referenced";
  if (result.data_bytes > after.bytes)
    line += " (data files " + size_text(result.data_bytes) + (hint.empty() ? "" : "; hint: " + hint) + ")";
  say(line);
}

void edit_checkpoint(const CheckpointOperand& operand, CheckpointTarget& target,
                     const std::function<void(Checkpoint& checkpoint, KeyChanges* changes)>& edit) {
  Checkpoint checkpoint = operand.open();
  const CheckpointCounts before = count(checkpoint);
  KeyChanges changes;
  edit(checkpoint, target.dry_run() ? &changes : nullptr);
  target.write(std::move(checkpoint), before, changes, operand.quiet());
}

}  // namespace gedit
