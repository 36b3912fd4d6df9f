#include "cli/checkpoints.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <system_error>

#include "base/error.h"
#include "base/size.h"
#include "checkpoint/list.h"
#include "checkpoint/open.h"
#include "checkpoint/plan.h"
#include "cli/progress.h"
#include "cli/say.h"
#include "weights/training_state.h"

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
  line.add_flag("--state", state_, "Note it in the folder's `checkpoint` file as the latest one");
  line.add_flag("-n,--dry-run", dry_run_, "Print what would change and write nothing");
}

void CheckpointTarget::setup_in_place(CommandLine& line) {
  setup(line);
  line.add_flag("-i,--in-place", in_place_, "Replace the index of CKPT itself");
}

void CheckpointTarget::setup_index_only(CommandLine& line) {
  line.add_flag("--index-only", index_only_,
                "Read and write the index alone, `-` through a pipe; data files are elsewhere");
  line.add_option("--plan", plan_, "Then: which data files are to be copied, a line each; - prints it")
      ->type_name("FILE");
}

Checkpoint CheckpointTarget::open(const CheckpointOperand& operand, const std::string& path) const {
  check_index_only();
  return index_only_ && is_index_in_pipe(path) ? read_index_in_pipe(path) : operand.open(path);
}

void CheckpointTarget::check_index_only() const {
  if (!index_only_ && !plan_.empty()) throw Error(Cause::kUsage, "--plan goes with --index-only");
  if (!index_only_) return;
  if (options.pack) throw Error(Cause::kUsage, "--index-only and --compact exclude each other");
  if (options.copy_data) throw Error(Cause::kUsage, "--index-only and --copy-data exclude each other");
  if (output_ == "-" && plan_ == "-") throw Error(Cause::kUsage, "the index and the plan to one place");
  if (output_ == "-" && state_) throw Error(Cause::kUsage, "--state needs a folder").hint("-o PREFIX");
}

namespace {

std::string real_path(const std::string& path) {
  std::error_code code;
  const std::filesystem::path real = std::filesystem::weakly_canonical(path, code);
  return code ? path : real.string();
}

// What -i edits lies where the user said, not where a `checkpoint` state file in there leads.
void require_inside(const std::string& operand, const std::string& prefix) {
  const std::string folder = is_directory(operand) ? operand : std::string(dir_name(operand));
  const std::string real = real_path(folder) + "/";
  if (real_path(std::string(dir_name(prefix))).append("/").starts_with(real)) return;
  throw Error(Cause::kRefused, "leads out of its folder, to '" + printable(prefix) + "'")
      .in(operand)
      .hint("name that: gedit checkpoint .. " + printable(prefix) + " -i");
}

// Where the index is a link, the checkpoint that it is the index of.
std::string prefix_behind_link(const std::string& prefix) {
  const std::string index = index_path(prefix), real = behind_link(index);
  if (real == index) return prefix;
  if (!real.ends_with(".index"))
    throw Error(Cause::kRefused, "a link to '" + printable(real) + "', which is no name for an index")
        .in(index)
        .hint("-o PREFIX");
  return real.substr(0, real.size() - 6);
}

// The fingerprint of a SavedModel says what is in its index.
void drop_fingerprint_beside(const std::string& prefix, bool quiet) {
  if (!prefix.ends_with("/variables/variables")) return;
  const std::string path = join_path(dir_name(dir_name(prefix)), "fingerprint.pb");
  if (std::remove(path.c_str()) == 0 && !quiet)
    say_note("fingerprint.pb is gone: it held for the model before");
}

}  // namespace

std::string CheckpointTarget::prefix(const Checkpoint& checkpoint) const {
  if (in_place_ && !output_.empty()) throw Error(Cause::kUsage, "-i and -o exclude each other");
  if (in_place_ && checkpoint.version == 1) {
    throw Error(Cause::kRefused, "a V1 checkpoint is not edited in place")
        .in(checkpoint.prefix)
        .hint("-o PREFIX");
  }
  if (in_place_ && index_only_ && is_index_in_pipe(in_place_of))
    throw Error(Cause::kUsage, "a pipe is not edited in place").hint("-o -");
  if (in_place_) {
    require_inside(in_place_of, checkpoint.prefix);
    return prefix_behind_link(checkpoint.prefix);
  }
  if (is_directory(output_)) {
    throw Error(Cause::kRefused, "a directory; a checkpoint is written under a prefix")
        .in(output_)
        .hint("-o " + join_path(output_, "model.ckpt"));
  }
  if (output_.empty()) throw Error(Cause::kUsage, "a checkpoint is written under a prefix").hint("-o PREFIX");
  if (output_ == "-" && index_only_) return output_;
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
  std::string more;
  const std::string written = in_place_ ? checkpoint.prefix : output_;
  if (dry_run_) {
    std::string text;
    for (const KeyChange& change : changes) text += change_line(checkpoint, change);
    print(text);
  } else {
    const std::string to = prefix(checkpoint);
    options.overwrite = options.overwrite || in_place_;
    if (index_only_) {
      more = write_index_alone(std::move(checkpoint), to);
    } else {
      const Progress writing("writing " + to, quiet);
      result = write_checkpoint(std::move(checkpoint), to, options);
    }
    drop_fingerprint_beside(to, quiet);
  }
  if (state_ && !dry_run_) note_checkpoint(written);
  if (quiet) return;
  std::string line = "tensors " + std::to_string(before.tensors) + " -> " + std::to_string(after.tensors) +
                     ", " + size_text(before.bytes) + " -> " + size_text(after.bytes) + " referenced";
  if (result.data_bytes > after.bytes)
    line += " (data files " + size_text(result.data_bytes) + (hint.empty() ? "" : "; hint: " + hint) + ")";
  say(line + more);
}

// Gives what to tell of it. Where the plan cannot be written, it is not there, and neither is the index.
std::string CheckpointTarget::write_index_alone(Checkpoint checkpoint, const std::string& to) const {
  std::unique_ptr<OutputFile> out;
  if (!plan_.empty()) out = std::make_unique<OutputFile>(plan_, options.overwrite);
  const DataPlan plan = write_index_only(std::move(checkpoint), to, options.overwrite, in_place_);
  if (out != nullptr) {
    out->write(plan_text(plan));
    out->commit();
  }
  const auto made =
      std::count_if(plan.begin(), plan.end(), [](const PlannedFile& file) { return file.made; });
  std::string text = "; data files to copy " + std::to_string(plan.size() - static_cast<size_t>(made));
  if (made != 0) text += ", made " + std::to_string(made);
  return text;
}

void edit_checkpoint(const CheckpointOperand& operand, CheckpointTarget& target,
                     const std::function<void(Checkpoint& checkpoint, KeyChanges* changes)>& edit) {
  Checkpoint checkpoint = target.open(operand, operand.path());
  const CheckpointCounts before = count(checkpoint);
  KeyChanges changes;
  target.in_place_of = operand.path();
  edit(checkpoint, target.dry_run() ? &changes : nullptr);
  target.write(std::move(checkpoint), before, changes, operand.quiet());
}

}  // namespace gedit
