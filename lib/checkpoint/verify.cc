#include "checkpoint/verify.h"

#include <algorithm>
#include <set>

#include "base/crc32c.h"
#include "base/error.h"
#include "checkpoint/proto.h"
#include "checkpoint/values.h"

namespace gedit {
namespace {

class Verifier {
 public:
  explicit Verifier(const Checkpoint& checkpoint) : checkpoint_(checkpoint), files_(checkpoint) {}

  std::vector<Fault> run() {
    find_missing();
    for (const Tensor& tensor : checkpoint_.tensors) check_slices(tensor);
    check_pieces();
    return std::move(faults_);
  }

 private:
  struct Piece {
    const Tensor* tensor;
    const Slice* slice;
    Place place;
  };

  void fault(const char* rule, const Tensor& tensor, std::string message) {
    faults_.push_back({rule, tensor_subject(tensor.name), std::move(message)});
  }

  void add(const Tensor& tensor, const Slice* slice) {
    const Place& place = slice != nullptr ? slice->place : tensor.place;
    if (missing_[place.shard]) return;
    pieces_.push_back({&tensor, slice, place});
  }

  // Data files that entries point at and that are not there: one fault each, not one a tensor.
  void find_missing() {
    missing_.resize(checkpoint_.shards.size(), false);
    std::vector<bool> used(checkpoint_.shards.size(), false);
    for (const Tensor& tensor : checkpoint_.tensors) {
      if (!tensor.partitioned()) used.at(tensor.place.shard) = true;
      for (const Slice& slice : tensor.slices) used.at(slice.place.shard) = true;
    }
    for (size_t i = 0; i < used.size(); ++i) {
      const Shard& shard = checkpoint_.shards[i];
      if (!used[i] || shard.form == Shard::Form::kMemory || exists(shard.path)) continue;
      missing_[i] = true;
      faults_.push_back({"file", std::string(base_name(shard.path)), "no such file"});
    }
    for (const Tensor& tensor : checkpoint_.tensors) {
      if (!tensor.partitioned()) add(tensor, nullptr);
      for (const Slice& slice : tensor.slices) add(tensor, &slice);
    }
  }

  // The slices that are there, and those the entry lists: readers go by the list.
  void check_slices(const Tensor& tensor) {
    if (!tensor.partitioned()) return;
    const SlicesFit fit = slices_fit(tensor.slices, tensor.shape);
    if (!fit.fault.empty()) fault("slices", tensor, fit.fault);
    if (!fit.whole)
      faults_.push_back({"slices", tensor_subject(tensor.name),
                         "slices leave a part uncovered, which nobody can restore", Level::kWarning});
    if (tensor.record.empty() || is_slice_key(tensor.record)) return;
    std::set<std::string> listed, there;
    for (Fields fields(tensor.record); fields.next();) {
      if (fields->bytes(7)) listed.insert(slice_text(parse_slice(fields->value)));
    }
    for (const Slice& slice : tensor.slices) there.insert(slice_text(slice.extents));
    for (const std::string& text : listed) {
      if (!there.contains(text)) fault("slices", tensor, "slice " + text + " is not there");
    }
    for (const std::string& text : there) {
      if (!listed.contains(text)) fault("slices", tensor, "slice " + text + " is not in its list");
    }
  }

  void check_pieces() {
    // In the order of the files, so that they are read from front to back.
    std::stable_sort(pieces_.begin(), pieces_.end(),
                     [](const Piece& a, const Piece& b) { return a.place < b.place; });
    const Piece* last = nullptr;  // the one that ends last so far
    const Piece* before = nullptr;
    bool good = false;
    for (const Piece& piece : pieces_) {
      const bool table = in_table(checkpoint_, piece.place);
      if (!table && last != nullptr && last->place.shard == piece.place.shard && piece.place.size > 0 &&
          last->place.offset + last->place.size > piece.place.offset && !same_bytes(*last, piece)) {
        fault("overlap", *piece.tensor,
              "bytes " + range(piece.place) + " overlap those of " + tensor_subject(last->tensor->name));
      }
      const bool alias = !table && before != nullptr && before->place == piece.place &&
                         before->tensor->dtype == piece.tensor->dtype &&
                         before->tensor->shape == piece.tensor->shape &&
                         (before->slice == nullptr) == (piece.slice == nullptr) && piece.slice == nullptr;
      if (!alias || !good) good = check_values(piece);
      before = &piece;
      if (last == nullptr || last->place.shard != piece.place.shard ||
          piece.place.offset + piece.place.size > last->place.offset + last->place.size) {
        last = &piece;
      }
    }
  }

  static bool same_bytes(const Piece& a, const Piece& b) {
    return a.place.offset == b.place.offset && a.place.size == b.place.size;
  }

  static std::string range(const Place& place) {
    return std::to_string(place.offset) + " to " + std::to_string(place.offset + place.size);
  }

  bool check_values(const Piece& piece) {
    const Tensor& tensor = *piece.tensor;
    const Shard& shard = checkpoint_.shards[piece.place.shard];
    const size_t width = dtype_width(tensor.dtype);
    try {
      if (shard.form == Shard::Form::kTable || shard.form == Shard::Form::kMemory || width == 0) {
        stored_bytes(files_, tensor, piece.slice);
        return true;
      }
      std::vector<int64_t> shape = tensor.shape;
      if (piece.slice != nullptr) {
        const auto settled = settle_extents(piece.slice->extents, tensor.shape);
        if (!settled) return false;  // told by check_slices()
        shape.clear();
        for (const Extent& extent : *settled) shape.push_back(extent.length);
      }
      files_.bytes(piece.place);
      const uint64_t elements = element_count(shape);
      if (piece.place.size / width != elements || piece.place.size % width != 0) {
        fault("size", tensor,
              std::to_string(piece.place.size) + " bytes are stored, its shape has " +
                  std::to_string(elements) + " elements of " + std::to_string(width));
        return false;
      }
      uint32_t crc = 0;
      read_pieces(*files_.file(piece.place.shard), piece.place.offset, piece.place.size,
                  [&](std::string_view part) { crc = crc32c(crc, part); });
      if (masked(crc) == piece.place.crc32c) return true;
      fault("checksum", tensor, slice_prefix(piece) + "checksum differs");
    } catch (const Error& error) {
      const std::string& what = error.message();
      fault(what.find("lie outside") != std::string::npos ? "range" : "checksum", tensor,
            slice_prefix(piece) + what);
    }
    return false;
  }

  static std::string slice_prefix(const Piece& piece) {
    return piece.slice == nullptr ? "" : "slice " + slice_text(piece.slice->extents) + ": ";
  }

  const Checkpoint& checkpoint_;
  DataFiles files_;
  std::vector<bool> missing_;
  std::vector<Piece> pieces_;
  std::vector<Fault> faults_;
};

}  // namespace

std::vector<Fault> verify_checkpoint(const Checkpoint& checkpoint) { return Verifier(checkpoint).run(); }

}  // namespace gedit
