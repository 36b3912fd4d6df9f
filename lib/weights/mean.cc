// Means of tensors that lie in several files.
#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>

#include "base/error.h"
#include "base/float16.h"
#include "weights/block.h"
#include "weights/rewrite.h"
#include "weights/small_numbers.h"

namespace gedit {
namespace {

using Totals = Block<double>;

// The nearest float, or one whose last bit says that there is more: rounded from there to 16 bits, a double
// is rounded once.
float to_odd(double value) {
  const auto near = static_cast<float>(value);
  const auto back = static_cast<double>(near);
  const uint32_t beyond = std::fabs(back) > std::fabs(value) ? 1 : 0, more = back != value ? 1 : 0;
  return std::bit_cast<float>((std::bit_cast<uint32_t>(near) - beyond) | more);
}

template <typename Number, typename Widen>
void add_block(const char* from, size_t count, Totals& sums, Widen widen) {
  Block<Number> numbers;
  load(numbers, from, count);
  for (size_t i = 0; i < kBlockOfNumbers; ++i) sums[i] += static_cast<double>(widen(numbers[i]));
}

void add_numbers(DType dtype, const char* from, size_t count, Totals& sums) {
  if (dtype == DType::kFloat) return add_block<float>(from, count, sums, std::identity());
  if (dtype == DType::kDouble) return add_block<double>(from, count, sums, std::identity());
  if (dtype == DType::kHalf)
    return add_block<uint16_t>(from, count, sums, [](uint16_t bits) { return half_value(bits); });
  add_block<uint16_t>(from, count, sums, [](uint16_t bits) { return bfloat16_value(bits); });
}

void put_means(DType dtype, const Totals& sums, double inputs, char* to, size_t count) {
  if (dtype == DType::kFloat)
    return store_made<float>(sums, to, count, [&](double sum) { return static_cast<float>(sum / inputs); });
  if (dtype == DType::kDouble)
    return store_made<double>(sums, to, count, [&](double sum) { return sum / inputs; });
  const auto mean = [&](double sum) { return to_odd(sum / inputs); };
  if (dtype == DType::kHalf)
    return store_made<uint16_t>(sums, to, count, [&](double sum) { return half_bits(mean(sum)); });
  store_made<uint16_t>(sums, to, count, [&](double sum) { return bfloat16_bits(mean(sum)); });
}

// The last of `inputs`, or their mean. Each piece is read once, so that checksums are taken on the way.
class MergedValues final : public Values {
 public:
  struct From {
    ValuesPtr values;
    std::string file;
  };
  // `whole`: it is read in steps of grain(), each once.
  MergedValues(std::vector<From> inputs, DType dtype, std::string subject, bool whole)
      : inputs_(std::move(inputs)), dtype_(dtype), subject_(std::move(subject)), whole_(whole) {
    for (const From& from : inputs_) {
      if (from.values->grain() > kGrain) grain_ = std::max(grain_, from.values->grain());
    }
    const size_t pieces = (size() + grain_ - 1) / grain_;
    for (const From& from : inputs_) sums_.emplace_back(whole_ && from.values->expected() ? pieces : 0);
  }

  uint64_t size() const override { return inputs_.front().values->size(); }
  uint64_t grain() const override { return grain_; }

  Piece read(uint64_t offset, uint64_t size) const override {
    std::vector<Piece> pieces;
    pieces.reserve(inputs_.size());
    for (size_t i = 0; i < inputs_.size(); ++i) {
      try {
        pieces.push_back(inputs_[i].values->read(offset, size));
      } catch (const Error& error) {
        throw error.of(subject_).in(inputs_[i].file);
      }
      const auto expected = inputs_[i].values->expected();
      if (whole_ && expected && size != 0)
        sums_[i][offset / grain_] = checksum_of(expected->kind, pieces.back().bytes());
    }
    if (is_floating(dtype_)) return mean(pieces, size);
    for (size_t i = 0; i + 1 < pieces.size(); ++i) {
      if (pieces[i].bytes() == pieces.back().bytes()) continue;
      throw refused("differs from that of " + printable(inputs_.back().file) +
                    (is_small_float(dtype_) ? ", and is not averaged" : ", and is no floating point number"))
          .of(subject_)
          .in(inputs_[i].file)
          .hint("--last takes the last one's");
    }
    return std::move(pieces.back());
  }

  void made_of(std::vector<const Values*>& leaves) const override {
    for (const From& from : inputs_) {
      if (!whole_) leaves.push_back(from.values.get());
      from.values->made_of(leaves);
    }
  }

  void check_read() const override {
    for (size_t i = 0; i < inputs_.size(); ++i) {
      const auto expected = inputs_[i].values->expected();
      if (!whole_ || !expected) continue;
      uint32_t sum = expected->before;
      for (size_t k = 0; k < sums_[i].size(); ++k)
        sum = join_checksums(expected->kind, sum, sums_[i][k], std::min(grain_, size() - k * grain_));
      if (sum != expected->value)
        throw Error(Cause::kInput, "checksum differs").of(subject_).in(inputs_[i].file);
    }
  }

 private:
  Piece mean(const std::vector<Piece>& pieces, uint64_t size) const {
    auto buffer = std::make_unique_for_overwrite<char[]>(size);
    const size_t width = dtype_width(dtype_);
    Totals sums;
    for (uint64_t at = 0; at < size;) {
      const size_t count = std::min<uint64_t>(kBlockOfNumbers, (size - at) / width);
      sums.fill(-0.0);  // the sum of nothing: -0 + -0 is -0
      for (const Piece& piece : pieces) add_numbers(dtype_, piece.bytes().data() + at, count, sums);
      put_means(dtype_, sums, static_cast<double>(pieces.size()), buffer.get() + at, count);
      at += count * width;
    }
    return {std::move(buffer), size};
  }

  std::vector<From> inputs_;
  DType dtype_;
  std::string subject_;
  bool whole_;
  uint64_t grain_ = kGrain;                          // of each input
  mutable std::vector<std::vector<uint32_t>> sums_;  // by input and piece; each written by one thread
};

const Weight& same_weight(const Weights& weights, const Weight& like, const Weights& last) {
  const Weight* found = weights.find(like.name);
  if (found == nullptr)
    throw refused("is in " + printable(last.path) + ", not here")
        .of(tensor_subject(like.name))
        .in(weights.path);
  if (found->dtype != like.dtype || found->shape != like.shape || found->parts != like.parts) {
    throw refused(weight_text(*found) + ", in " + printable(last.path) + " " + weight_text(like))
        .of(tensor_subject(like.name))
        .in(weights.path);
  }
  return *found;
}

}  // namespace

std::vector<NewTensor> mean_tensors(const std::vector<Weights>& inputs, bool last) {
  const Weights& latest = inputs.back();
  std::vector<NewTensor> tensors = all_tensors(latest);
  for (const Weights& one : inputs) {
    for (const Weight& weight : one.weights) {
      if (latest.find(weight.name) == nullptr)
        throw refused("is not in " + printable(latest.path)).of(tensor_subject(weight.name)).in(one.path);
    }
  }
  for (NewTensor& tensor : tensors) {
    const Weight* weight = latest.find(tensor.name);
    if (weight == nullptr) continue;  // the object graph
    std::vector<MergedValues::From> from;
    for (const Weights& one : inputs) from.push_back({same_weight(one, *weight, latest).values, one.path});
    if (tensor.values == nullptr || (last && !is_floating(tensor.dtype))) continue;
    tensor.values = std::make_shared<MergedValues>(std::move(from), tensor.dtype, tensor_subject(tensor.name),
                                                   tensor.slices.empty());
  }
  return tensors;
}

}  // namespace gedit
