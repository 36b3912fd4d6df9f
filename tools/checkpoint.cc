// gedit checkpoint: lists, reads, renames, copies, drops, merges, converts and verifies checkpoints.
#include "checkpoint/edit.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <map>

#include "base/error.h"
#include "base/near.h"
#include "base/size.h"
#include "checkpoint/list.h"
#include "checkpoint/listing.h"
#include "checkpoint/open.h"
#include "checkpoint/print.h"
#include "checkpoint/values.h"
#include "checkpoint/verify.h"
#include "checkpoint/write.h"
#include "cli/options.h"
#include "commands.h"
#include "select/keys.h"

namespace gedit {
namespace {

// What print() writes to.
class StandardOutput final : public Sink {
 public:
  void write(std::string_view bytes) override { print(bytes); }
};

class CheckpointCommand final : public Command {
 public:
  void setup(CommandLine& line) override {
    line.add_option("VERB", verb_, "list, get, rename, copy, drop, merge, convert or verify")->required();
    line.add_option("CKPT", operands_,
                    R"(A prefix, its .index, .meta or a data file, a directory or `checkpoint` state file,
                       a SavedModel, a file or pattern of a V1 checkpoint; then what the verb works on)")
        ->required();
    option(line.add_flag("-l,--long", long_, "list: shard, offset, crc32c and slices as well"), {"list"});
    option(line.add_flag("-j,--json", json_, "list, verify: print JSON"), {"list", "verify"});
    option(line.add_option("-f,--format", format_, "get: text (default), npy or raw")
               ->one_of({"text", "npy", "raw"})
               ->type_name("FORMAT"),
           {"get"});
    option(
        line.add_option("-e,--expression", expressions_, "rename: sed on names, RE2 syntax, after the pairs")
            ->one_each()
            ->type_name("s/RE/REPL/[g]"),
        {"rename"});
    option(line.add_flag("--compact", compact_, "drop: rewrite the data files without what went"), {"drop"});
    option(line.add_option("--on-conflict", on_conflict_,
                           "merge: error (default), or the first or last of one name wins")
               ->one_of({"error", "first", "last"})
               ->type_name("RULE"),
           {"merge"});
    option(line.add_option("--shards", shards_, "convert: this many data files (default 1)")
               ->within(1, 99999)
               ->type_name("N"),
           {"convert"});
    option(line.add_option("--max-size", max_size_, "convert: as many data files as keep below this size")
               ->type_name("SIZE"),
           {"convert"});
    const std::vector<std::string> edits{"rename", "copy", "drop", "merge", "convert"};
    std::vector<std::string> writes = edits;
    writes.emplace_back("get");
    option(line.add_option("-o,--output", output_, "Prefix of the checkpoint to write (get: the file)")
               ->type_name("PREFIX"),
           writes);
    option(line.add_flag("-O,--overwrite", overwrite_, "Replace what is there"), writes);
    option(line.add_flag("-i,--in-place", in_place_, "rename, copy, drop: replace the index of CKPT itself"),
           {"rename", "copy", "drop"});
    option(line.add_flag("--copy-data", copy_data_, "Copy data files instead of linking them"), edits);
    option(line.add_flag("-n,--dry-run", dry_run_, "Print what would change and write nothing"), edits);
    line.add_flag("-q,--quiet", quiet_, "Say nothing but errors");
  }

  int run() override {
    const std::map<std::string, int (CheckpointCommand::*)()> verbs{
        {"list", &CheckpointCommand::list},       {"get", &CheckpointCommand::get},
        {"rename", &CheckpointCommand::rename},   {"copy", &CheckpointCommand::copy},
        {"drop", &CheckpointCommand::drop},       {"merge", &CheckpointCommand::merge},
        {"convert", &CheckpointCommand::convert}, {"verify", &CheckpointCommand::verify}};
    const auto verb = verbs.find(verb_);
    if (verb == verbs.end()) {
      Near near(verb_);
      for (const auto& [name, run] : verbs) near.offer(name);
      throw Error(Cause::kUsage, "no such verb").of(quoted("verb", verb_)).hint(near.did_you_mean());
    }
    for (const auto& [option, of] : options_) {
      if (option->count() == 0 || std::find(of.begin(), of.end(), verb_) != of.end()) continue;
      throw Error(Cause::kUsage, verb_ + " has no such option").of(quoted("option", option->name()));
    }
    return (this->*verb->second)();
  }

 private:
  void option(Option* added, std::vector<std::string> verbs) {
    options_.emplace_back(added, std::move(verbs));
  }

  // The operands behind CKPT; throws where they are fewer or more than these.
  std::vector<std::string> arguments(size_t least, size_t most, const std::string& what) const {
    std::vector<std::string> rest(operands_.begin() + 1, operands_.end());
    if (rest.size() < least) throw Error(Cause::kUsage, verb_ + " needs " + what);
    if (rest.size() > most)
      throw Error(Cause::kUsage, "one operand too many").of(quoted("operand", rest[most]));
    return rest;
  }

  void warn(const std::string& text) const {
    if (!quiet_) say_warning(text);
  }

  Checkpoint open(const std::string& operand) const {
    std::vector<std::string> warnings;
    Checkpoint checkpoint = open_checkpoint(operand, &warnings);
    for (const std::string& text : warnings) warn(text);
    return checkpoint;
  }

  int list() {
    const auto selectors = arguments(0, 1, "");
    const Checkpoint checkpoint = open(operands_[0]);
    std::vector<bool> shown(checkpoint.tensors.size(), true);
    if (!selectors.empty()) shown = select_tensors(checkpoint, parse_selector(selectors[0]));
    StandardOutput out;
    if (json_) {
      list_json(checkpoint, shown, out);
    } else {
      list_text(checkpoint, shown, long_, out);
    }
    return std::find(shown.begin(), shown.end(), true) == shown.end() && !selectors.empty() ? 1 : 0;
  }

  int get() {
    const std::string name = arguments(1, 1, "the NAME of a tensor")[0];
    if (format_.empty()) format_ = output_.ends_with(".npy") ? "npy" : "text";
    const bool to_file = !output_.empty() && output_ != "-";
    if (!to_file && output_.empty() && format_ != "text" && ::isatty(STDOUT_FILENO) != 0) {
      throw Error(Cause::kUsage, "standard output is a terminal").hint("-o FILE");
    }
    const Checkpoint checkpoint = open(operands_[0]);
    const Tensor& tensor = require_tensor(checkpoint, name);
    DataFiles files(checkpoint);
    const Bytes bytes = tensor_bytes(files, tensor);
    OutputFile out(to_file ? output_ : "-", overwrite_);
    try {
      (format_ == "npy"   ? print_npy
       : format_ == "raw" ? print_raw
                          : print_text)(tensor.dtype, tensor.shape, bytes.view(), out);
    } catch (const Error& error) {
      throw error.of(tensor_subject(tensor.name)).in(checkpoint.prefix);
    }
    out.commit();
    return 0;
  }

  int rename() {
    Renaming renaming;
    for (NamePair& pair : parse_name_pairs(arguments(expressions_.empty() ? 1 : 0, SIZE_MAX, "OLD=NEW"))) {
      renaming.add(std::move(pair));
    }
    for (const std::string& text : expressions_) renaming.add_sed(text);
    Checkpoint checkpoint = open(operands_[0]);
    const Counts before = count(checkpoint);
    KeyChanges changes;
    rename_tensors(checkpoint, renaming, dry_run_ ? &changes : nullptr);
    return write(std::move(checkpoint), before, changes, {});
  }

  int copy() {
    const auto pairs = parse_name_pairs(arguments(1, SIZE_MAX, "OLD=NEW"));
    Checkpoint checkpoint = open(operands_[0]);
    const Counts before = count(checkpoint);
    KeyChanges changes;
    copy_tensors(checkpoint, pairs, dry_run_ ? &changes : nullptr);
    if (checkpoint.object_based())
      warn("the new keys belong to no object: tf.train.Checkpoint does not restore them");
    return write(std::move(checkpoint), before, changes, {});
  }

  int drop() {
    const auto selectors = arguments(1, SIZE_MAX, "a SELECTOR");
    Checkpoint checkpoint = open(operands_[0]);
    const Counts before = count(checkpoint);
    std::vector<bool> hits(checkpoint.tensors.size(), false);
    for (const std::string& selector : selectors) {
      const std::vector<bool> more = require_tensors(checkpoint, selector);
      std::transform(hits.begin(), hits.end(), more.begin(), hits.begin(), std::logical_or<>());
    }
    KeyChanges changes;
    drop_tensors(checkpoint, hits, dry_run_ ? &changes : nullptr);
    WriteOptions options;
    options.pack = compact_;
    return write(std::move(checkpoint), before, changes, options);
  }

  int merge() {
    arguments(1, SIZE_MAX, "two checkpoints");
    std::vector<MergeInput> inputs;
    Counts before;
    for (const std::string& operand : operands_) {
      MergeInput input;
      const size_t equals = operand.find('=');
      const bool named = equals != std::string::npos && equals != 0 && !find_checkpoint(operand);
      if (named) input.name = operand.substr(0, equals);
      while (input.name.ends_with('/')) input.name.pop_back();
      input.checkpoint = open(named ? operand.substr(equals + 1) : operand);
      const Counts one = count(input.checkpoint);
      before.tensors += one.tensors;
      before.bytes += one.bytes;
      inputs.push_back(std::move(input));
    }
    const OnConflict rule = on_conflict_ == "first"  ? OnConflict::kFirst
                            : on_conflict_ == "last" ? OnConflict::kLast
                                                     : OnConflict::kError;
    Checkpoint merged = merge_checkpoints(std::move(inputs), rule);
    KeyChanges changes;
    if (dry_run_) {
      for (const Tensor& tensor : merged.tensors) changes.push_back({"", tensor.name});
    }
    return write(std::move(merged), before, changes, {});
  }

  int convert() {
    arguments(0, 0, "");
    WriteOptions options;
    // The listing of a checkpoint says itself how many data files there are.
    options.pack = shards_ != 0 || !max_size_.empty() || !is_checkpoint_listing(operands_[0]);
    options.shards = std::max<size_t>(shards_, 1);
    if (!max_size_.empty()) {
      const auto size = parse_size(max_size_);
      if (!size || *size == 0) throw Error(Cause::kUsage, "not a size").of(quoted("--max-size", max_size_));
      options.max_size = *size;
    }
    Checkpoint checkpoint = open(operands_[0]);
    const Counts before = count(checkpoint);
    return write(std::move(checkpoint), before, {}, options);
  }

  int verify() {
    arguments(0, 0, "");
    const Checkpoint checkpoint = open(operands_[0]);
    const std::vector<Fault> faults = verify_checkpoint(checkpoint);
    StandardOutput out;
    print_faults(faults, json_, out);
    if (!quiet_) {
      fmt::print(stderr, "tensors {}, data files {}, {}: {}\n", checkpoint.tensors.size(),
                 checkpoint.shards.size(), size_text(referenced_bytes(checkpoint)),
                 faults.empty() ? "no faults" : fmt::format("faults {}", faults.size()));
    }
    return faults.empty() ? 0 : 1;
  }

  struct Counts {
    size_t tensors = 0;
    uint64_t bytes = 0;
  };
  static Counts count(const Checkpoint& checkpoint) {
    return {checkpoint.tensors.size(), referenced_bytes(checkpoint)};
  }

  std::string target(const Checkpoint& checkpoint) const {
    if (in_place_ && !output_.empty()) throw Error(Cause::kUsage, "-i and -o exclude each other");
    if (in_place_ && checkpoint.version == 1) {
      throw Error(Cause::kRefused, "a V1 checkpoint is not edited in place")
          .in(checkpoint.prefix)
          .hint("-o PREFIX");
    }
    if (in_place_) return checkpoint.prefix;
    if (output_.empty())
      throw Error(Cause::kUsage, "a checkpoint is written under a prefix").hint("-o PREFIX");
    if (output_ == "-")
      throw Error(Cause::kUsage, "a checkpoint cannot be written to standard output").hint("-o PREFIX");
    if (output_.ends_with(".index")) {
      throw Error(Cause::kUsage, "a prefix is meant, not a file")
          .of(quoted("-o", output_))
          .hint("-o " + output_.substr(0, output_.size() - 6));
    }
    return output_;
  }

  int write(Checkpoint checkpoint, const Counts& before, const KeyChanges& changes, WriteOptions options) {
    const Counts after = count(checkpoint);
    WriteResult result;
    if (dry_run_) {
      std::string text;
      for (const KeyChange& change : changes) {
        if (change.before.empty()) {
          const Tensor* tensor = checkpoint.find(change.after);
          text += fmt::format("+ {} = {} {}\n", shown_name(change.after), dtype_name(tensor->dtype),
                              shape_text(tensor->shape));
        } else if (change.after.empty()) {
          text += "- " + shown_name(change.before) + "\n";
        } else {
          text += "~ " + shown_name(change.before) + ": " + shown_name(change.after) + "\n";
        }
      }
      print(text);
    } else {
      options.overwrite = overwrite_ || in_place_;
      options.copy_data = copy_data_;
      const std::string prefix = target(checkpoint);
      result = write_checkpoint(std::move(checkpoint), prefix, options);
    }
    if (quiet_) return 0;
    std::string line = fmt::format("tensors {} -> {}, {} -> {} referenced", before.tensors, after.tensors,
                                   size_text(before.bytes), size_text(after.bytes));
    if (result.data_bytes > after.bytes) {
      line += " (data files " + size_text(result.data_bytes) + (verb_ == "drop" ? "; hint: --compact)" : ")");
    }
    fmt::print(stderr, "{}\n", line);
    return 0;
  }

  std::string verb_;
  std::vector<std::string> operands_;
  std::string format_, on_conflict_, max_size_, output_;
  std::vector<std::string> expressions_;
  size_t shards_ = 0;
  bool long_ = false, json_ = false, compact_ = false, overwrite_ = false, in_place_ = false,
       copy_data_ = false, dry_run_ = false, quiet_ = false;
  std::vector<std::pair<const Option*, std::vector<std::string>>> options_;
};

}  // namespace

CommandInfo checkpoint_command() {
  return {
      .summary = "lists and edits checkpoints without moving the weights",
      .synopsis = "VERB CKPT.. [OPTIONS] [-o PREFIX]",
      .text = R"(
list CKPT [SELECTOR]: name, type, shape and bytes of each tensor, sorted by name; data files are not opened.

get CKPT NAME: one tensor, its checksum compared, as text, .npy or raw bytes.

rename CKPT OLD=NEW..: a=b one tensor, a/=b/ a scope, a/= strips it, /=b/ puts all below b; @FILE one pair a
line; all at once, then the -e. In an object-based checkpoint OLD and NEW are paths of objects.

copy CKPT OLD=NEW..: the same with the old kept; the bytes are shared.

drop CKPT SELECTOR..: without these. The object graph is mended, so that the rest restores without
complaint.

merge [NAME=]CKPT..: the union; NAME/ comes before each key.

convert CKPT: V1, big-endian, compressed indexes and scattered data files become one plain V2 checkpoint.

verify CKPT: every checksum, size, range and slice; a line for each fault, and exit status 1.

rename, copy, drop and merge read no values: the index is written anew, data files are reflinked, else
hard-linked, else copied. A data file is never written to.
)",
      .examples = R"(
gedit checkpoint list model 'conv1/'
gedit checkpoint get model conv1/bias -f npy -o bias.npy
gedit checkpoint rename model a/w=decoder/kernel old/=new/ -o renamed
gedit checkpoint drop bert '**/adam_[mv], beta?_power' -o slim
gedit checkpoint copy dqn online/=target/ -o dqn2
gedit checkpoint merge a=run1 b=run2 -o both
)",
      .make = make_command<CheckpointCommand>,
  };
}

}  // namespace gedit
