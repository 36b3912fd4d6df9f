#include "checkpoint/write.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/crc32c.h"
#include "base/error.h"
#include "base/link.h"
#include "checkpoint/exchange.h"
#include "checkpoint/values.h"

namespace gedit {
namespace {

Error exists_error(const std::string& path) {
  return Error(Cause::kRefused, "exists").in(path).hint("-O overwrites it");
}

}  // namespace

// Where a tensor's bytes are: of the tensor itself, or of one of its slices.
struct StoredValue {
  Tensor* tensor;
  Slice* slice;
  Place& place() const { return slice != nullptr ? slice->place : tensor->place; }
};

namespace {

template <typename Use>
void each_piece(Checkpoint& checkpoint, Use use) {
  for (Tensor& tensor : checkpoint.tensors) {
    if (!tensor.partitioned()) use(StoredValue{&tensor, nullptr});
    for (Slice& slice : tensor.slices) use(StoredValue{&tensor, &slice});
  }
}

}  // namespace

struct CheckpointOutput::State {
  static Checkpoint shell_of(const Checkpoint& checkpoint) {
    Checkpoint shell;
    shell.prefix = checkpoint.prefix;
    shell.version = checkpoint.version;
    shell.shards = checkpoint.shards;
    return shell;
  }

  State(Checkpoint checkpoint, std::string to, const WriteOptions& how)
      : source(shell_of(checkpoint)),
        out(std::move(checkpoint)),
        prefix(std::move(to)),
        options(how),
        files(source) {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  void check_target() const;
  void plan();
  void divide();
  void stage_kept();
  void stage_packed();
  void pack_one(OutputFile& file, const StoredValue& piece, uint32_t shard);
  void renumber();
  void write_index(size_t shards, OutputFile& file);
  std::unique_ptr<OutputFile> new_file(size_t shard) const;
  void commit(const std::function<void()>& then);

  Checkpoint source;  // without its tensors, which move to `out`
  Checkpoint out;
  std::string prefix;
  WriteOptions options;
  DataFiles files;
  WriteResult result;
  std::vector<std::optional<uint32_t>> kept;     // by shard of the source: its new number; nothing: packed
  std::vector<std::vector<StoredValue>> packed;  // what goes into each of the new data files
  std::map<Place, Place> moved;                  // shared bytes are packed once
  size_t first_packed = 0;
  std::vector<NewDataFile> staged;
};

void CheckpointOutput::State::check_target() const {
  if (prefix.ends_with('/') || prefix.empty()) {
    throw Error(Cause::kRefused, "a directory; a checkpoint is written under a prefix")
        .in(prefix)
        .hint("-o " + join_path(prefix, "model.ckpt"));
  }
  if (!options.overwrite && exists(index_path(prefix))) throw exists_error(index_path(prefix));
}

void CheckpointOutput::State::plan() {
  kept.resize(source.shards.size());
  uint32_t next = 0;
  for (size_t i = 0; i < source.shards.size(); ++i) {
    const Shard::Form form = source.shards[i].form;
    const bool keep = !options.pack && (form == Shard::Form::kData || form == Shard::Form::kMemory);
    if (keep) kept[i] = next++;
  }
  first_packed = next;
  divide();
}

// Which pieces go to which new data file.
void CheckpointOutput::State::divide() {
  struct Job {
    StoredValue piece;
    uint64_t size;
  };
  std::vector<Job> jobs;
  std::set<Place> seen;
  uint64_t total = 0;
  each_piece(out, [&](const StoredValue& piece) {
    const Place& place = piece.place();
    const Shard& shard = source.shards.at(place.shard);
    if (kept[place.shard]) return;
    uint64_t size = place.size;
    if (shard.form == Shard::Form::kTable) {
      size = stored_bytes(files, *piece.tensor, piece.slice).view().size();
    } else if (!seen.insert(place).second) {
      size = 0;  // shares what is packed already
    }
    total += size;
    jobs.push_back({piece, size});
  });
  const size_t wanted = options.pack ? std::max<size_t>(options.shards, 1) : (jobs.empty() ? 0 : 1);
  packed.resize(wanted);
  uint64_t before = 0, in_this = 0;
  size_t shard = 0;
  for (const Job& job : jobs) {
    if (options.pack && options.max_size != 0) {
      if (in_this != 0 && in_this + job.size > options.max_size) {
        ++shard;
        in_this = 0;
      }
      in_this += job.size;
      if (shard >= packed.size()) packed.emplace_back();
    } else if (total != 0) {
      const long double part = static_cast<long double>(before) * static_cast<long double>(wanted);
      shard = std::min(wanted - 1, static_cast<size_t>(part / static_cast<long double>(total)));
    }
    packed[shard].push_back(job.piece);
    before += job.size;
  }
  result.shards = first_packed + packed.size();
}

void CheckpointOutput::State::stage_kept() {
  std::vector<bool> used(source.shards.size(), false);
  each_piece(out, [&](const StoredValue& piece) { used.at(piece.place().shard) = true; });
  for (size_t i = 0; i < source.shards.size(); ++i) {
    if (!kept[i]) continue;
    const Shard& shard = source.shards[i];
    const std::string target = shard_path(prefix, *kept[i], result.shards);
    if (!options.overwrite && exists(target)) throw exists_error(target);
    if (shard.form == Shard::Form::kMemory) {
      std::unique_ptr<OutputFile> made = new_file(*kept[i]);
      made->write(shard.bytes);
      made->finish();
      staged.push_back({*kept[i], std::move(made), nullptr});
      result.data_bytes += shard.bytes.size();
      continue;
    }
    if (shard.made) {
      if (options.overwrite) shard.made->take_permissions(index_path(prefix));
      result.data_bytes += shard.made->written();
      staged.push_back({*kept[i], shard.made, nullptr});
      continue;
    }
    if (!used[i] && !exists(shard.path)) continue;  // TensorFlow does not miss it either
    const auto data = files.file(static_cast<uint32_t>(i));
    result.data_bytes += data->bytes().size();
    if (same_file(shard.path, target) ||
        (!options.copy_data && can_link(*data, std::string(dir_name(target))))) {
      staged.push_back({*kept[i], nullptr, data});
      continue;
    }
    std::unique_ptr<OutputFile> made = new_file(*kept[i]);
    copy_file(data, *made, !options.copy_data);
    made->finish();
    staged.push_back({*kept[i], std::move(made), nullptr});
  }
}

// Private values stay private under -O and -i.
std::unique_ptr<OutputFile> CheckpointOutput::State::new_file(size_t shard) const {
  auto file = std::make_unique<OutputFile>(shard_path(prefix, shard, result.shards), options.overwrite);
  if (options.overwrite) file->take_permissions(index_path(prefix));
  return file;
}

void CheckpointOutput::State::pack_one(OutputFile& file, const StoredValue& piece, uint32_t shard) {
  const Place from = piece.place();
  const Shard& source_shard = source.shards.at(from.shard);
  const bool table = source_shard.form == Shard::Form::kTable;
  if (!table) {
    if (const auto done = moved.find(from); done != moved.end()) {
      piece.place() = done->second;
      return;
    }
  }
  Place to{.shard = shard, .offset = result.data_bytes};
  const size_t width = dtype_width(piece.tensor->dtype);
  if (source_shard.form == Shard::Form::kData && width != 0) {
    files.bytes(from);  // inside the file
    uint32_t crc = 0;
    read_pieces(*files.file(from.shard), from.offset, from.size, [&](std::string_view part) {
      crc = crc32c(crc, part);
      file.write(part);
    });
    if (masked(crc) != from.crc32c) {
      throw Error(Cause::kInput, "checksum differs").of(tensor_subject(piece.tensor->name)).in(source.prefix);
    }
    to.size = from.size;
    to.crc32c = from.crc32c;
  } else {
    const Bytes bytes = stored_bytes(files, *piece.tensor, piece.slice);
    uint64_t elements = element_count(piece.tensor->shape);
    if (piece.slice != nullptr) {
      elements = 1;
      for (const Extent& extent :
           settle_extents(piece.slice->extents, piece.tensor->shape).value_or(Extents{})) {
        elements *= static_cast<uint64_t>(extent.length);
      }
    }
    file.write(bytes.view());
    to.size = bytes.view().size();
    to.crc32c = masked(value_crc32c(piece.tensor->dtype, elements, bytes.view()));
  }
  result.data_bytes += to.size;
  if (!table) moved.emplace(from, to);
  piece.place() = to;
}

void CheckpointOutput::State::stage_packed() {
  const uint64_t linked = std::exchange(result.data_bytes, 0);
  uint64_t all = linked;
  for (size_t i = 0; i < packed.size(); ++i) {
    const size_t shard = first_packed + i;
    const std::string target = shard_path(prefix, shard, result.shards);
    if (!options.overwrite && exists(target)) throw exists_error(target);
    result.data_bytes = 0;  // counts the offset in this file
    std::unique_ptr<OutputFile> made = new_file(shard);
    for (const StoredValue& piece : packed[i]) pack_one(*made, piece, static_cast<uint32_t>(shard));
    made->finish();
    staged.push_back({shard, std::move(made), nullptr});
    all += result.data_bytes;
  }
  result.data_bytes = all;
}

void CheckpointOutput::State::renumber() {
  // Places of kept shards are given their new numbers last: packing looks at the old ones.
  std::set<const Place*> done;
  for (const auto& pieces : packed) {
    for (const StoredValue& piece : pieces) done.insert(&piece.place());
  }
  each_piece(out, [&](const StoredValue& piece) {
    if (done.contains(&piece.place())) return;
    piece.place().shard = kept.at(piece.place().shard).value_or(0);
  });
  const bool table =
      source.version == 1 || std::any_of(source.shards.begin(), source.shards.end(),
                                         [](const Shard& s) { return s.form == Shard::Form::kTable; });
  for (Tensor& tensor : out.tensors) {
    if (tensor.partitioned() && tensor.place.shard >= result.shards) tensor.place.shard = 0;  // means nothing
    if (!table) continue;
    // Records of tables are keys; entries of other sources stay.
    if (is_slice_key(tensor.record)) tensor.record = {};
    for (Slice& slice : tensor.slices) {
      if (!is_slice_key(slice.record)) continue;
      slice.record = {};
      tensor.record = {};
    }
  }
}

void CheckpointOutput::State::write_index(size_t shards, OutputFile& file) {
  out.shards.assign(shards, Shard{});
  gedit::write_index(out, file);
}

void CheckpointOutput::State::commit(const std::function<void()>& then) {
  NewBundle bundle;
  bundle.prefix = prefix;
  bundle.overwrite = options.overwrite;
  bundle.shards = result.shards;
  bundle.files = std::move(staged);
  bundle.write_index = [this](size_t shards, OutputFile& file) { write_index(shards, file); };
  for (const Shard& shard : source.shards) {
    if (shard.index && (bundle.sources.empty() || bundle.sources.back() != shard.index))
      bundle.sources.push_back(shard.index);
  }
  put_in_place(bundle, then);
}

CheckpointOutput::CheckpointOutput(Checkpoint checkpoint, const std::string& prefix,
                                   const WriteOptions& options)
    : state_(std::make_unique<State>(std::move(checkpoint), prefix, options)) {
  State& state = *state_;
  take_away_what_kills_left(prefix);
  state.check_target();
  state.plan();
  state.stage_kept();
  state.stage_packed();
  state.renumber();
}

CheckpointOutput::~CheckpointOutput() = default;

void CheckpointOutput::commit(const std::function<void()>& then) { state_->commit(then); }

const WriteResult& CheckpointOutput::result() const { return state_->result; }

WriteResult write_checkpoint(Checkpoint checkpoint, const std::string& prefix, const WriteOptions& options) {
  CheckpointOutput output(std::move(checkpoint), prefix, options);
  output.commit();
  return output.result();
}

}  // namespace gedit
