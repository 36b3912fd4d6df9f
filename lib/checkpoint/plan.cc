#include "checkpoint/plan.h"

#include <sys/stat.h>

#include <memory>

#include "base/error.h"
#include "base/file.h"

namespace gedit {
namespace {

// By data file, whether a tensor is in it.
std::vector<bool> used_shards(const Checkpoint& checkpoint) {
  std::vector<bool> used(checkpoint.shards.size(), false);
  for (const Tensor& tensor : checkpoint.tensors) {
    if (!tensor.partitioned()) used.at(tensor.place.shard) = true;
    for (const Slice& slice : tensor.slices) used.at(slice.place.shard) = true;
  }
  return used;
}

// A tab or a line's end in a name would make two of it.
void require_one_word(const std::string& path) {
  if (path.find_first_of("\t\n") != std::string::npos)
    throw refused("a name with a tab or a line's end fits into no plan").in(path);
}

}  // namespace

bool is_index_in_pipe(const std::string& path) {
  if (path == "-") return true;
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode));
}

Checkpoint read_index_in_pipe(const std::string& path) {
  Checkpoint checkpoint = read_index(InputFile::open(path), "");
  checkpoint.prefix = path;
  for (Shard& shard : checkpoint.shards) shard.index = nullptr;  // nobody replaces what came through a pipe
  return checkpoint;
}

DataPlan write_index_only(Checkpoint checkpoint, const std::string& prefix, bool overwrite, bool in_place) {
  const bool piped = prefix == "-";
  const std::vector<bool> used = used_shards(checkpoint);
  const size_t count = checkpoint.shards.size();
  DataPlan plan;
  std::vector<std::unique_ptr<OutputFile>> made;
  for (size_t i = 0; i < count; ++i) {
    const Shard& shard = checkpoint.shards[i];
    if (!used[i]) continue;  // TensorFlow does not miss it
    const std::string to = shard_path(piped ? "" : prefix, i, count);
    if (shard.form == Shard::Form::kMemory) {
      if (piped)
        throw refused("the new object graph needs a data file").in(checkpoint.prefix).hint("-o PREFIX");
      if (exists(to)) throw refused("exists, and is no index").in(to).hint("another PREFIX");
      made.push_back(std::make_unique<OutputFile>(to, false));
      made.back()->write(shard.bytes);
      made.back()->finish();
      plan.push_back({true, to, to});
    } else if (shard.form == Shard::Form::kData) {
      if (shard.path != to || piped) plan.push_back({false, shard.path, to});
    } else {
      throw refused("its values have to be written anew")
          .in(checkpoint.prefix)
          .hint("gedit checkpoint convert");
    }
  }
  for (const PlannedFile& file : plan) {
    require_one_word(file.from);
    require_one_word(file.to);
    if (in_place && !file.made) {
      throw refused("data files get other names, as '" + printable(file.to) + "'")
          .in(checkpoint.prefix)
          .hint("-o PREFIX");
    }
  }
  OutputFile index(piped ? prefix : index_path(prefix), overwrite);
  checkpoint.shards.assign(count, Shard{});
  write_index(checkpoint, index);
  for (const auto& file : made) file->commit();
  index.commit();
  return plan;
}

std::string plan_text(const DataPlan& plan) {
  std::string text;
  for (const PlannedFile& file : plan) {
    text += file.made ? "made\t" : "copy\t";
    text += file.from;
    text += '\t';
    text += file.to;
    text += '\n';
  }
  return text;
}

}  // namespace gedit
