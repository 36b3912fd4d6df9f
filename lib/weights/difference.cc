#include "weights/difference.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/error.h"
#include "base/float16.h"
#include "base/parallel.h"
#include "checkpoint/bundle.h"
#include "weights/casting.h"
#include "weights/small_numbers.h"
#include "weights/stream.h"

namespace gedit {
namespace {

struct Sums {
  double squares = 0;  // of the differences
  double norm = 0;     // squares of a
  double largest = 0;
  uint64_t different = 0;

  void add(const Sums& more) {
    squares += more.squares;
    norm += more.norm;
    largest = std::max(largest, more.largest);
    different += more.different;
  }
};

// |p - q|, of integers exactly up to the rounding of the result.
template <typename Number>
double distance(Number p, Number q) {
  if constexpr (std::is_integral_v<Number>) {
    return static_cast<double>(p > q ? static_cast<uint64_t>(p) - static_cast<uint64_t>(q)
                                     : static_cast<uint64_t>(q) - static_cast<uint64_t>(p));
  } else {
    const double d = std::fabs(p - q);
    return std::isnan(d) ? std::numeric_limits<double>::infinity() : d;
  }
}

// `load` makes the number of what is stored; `lanes` numbers are one element.
template <typename Stored, typename Load>
Sums compare_numbers(std::string_view a, std::string_view b, size_t lanes, Load load) {
  Sums sums;
  const size_t count = a.size() / sizeof(Stored);
  bool differs = false;
  for (size_t i = 0; i < count; ++i) {
    Stored x, y;
    std::memcpy(&x, a.data() + i * sizeof x, sizeof x);
    std::memcpy(&y, b.data() + i * sizeof y, sizeof y);
    const auto p = load(x), q = load(y);
    const auto size = static_cast<double>(p);
    if (std::isfinite(size)) sums.norm += size * size;
    // -0 is 0, a NaN a NaN. NOLINTNEXTLINE(misc-redundant-expression)
    if (!(p == q) && !(p != p && q != q)) {
      const double d = distance(p, q);
      sums.squares += d * d;
      sums.largest = std::max(sums.largest, d);
      differs = true;
    }
    if ((i + 1) % lanes == 0) {
      sums.different += differs ? 1 : 0;
      differs = false;
    }
  }
  return sums;
}

template <typename Integer>
Sums compare_integers(std::string_view a, std::string_view b) {
  return compare_numbers<Integer>(a, b, 1, [](Integer x) { return x; });
}

Sums compare_bytes(DType dtype, std::string_view a, std::string_view b) {
  switch (dtype) {
    case DType::kFloat:
    case DType::kComplex64:
      return compare_numbers<float>(a, b, dtype == DType::kFloat ? 1 : 2,
                                    [](float x) { return static_cast<double>(x); });
    case DType::kDouble:
    case DType::kComplex128:
      return compare_numbers<double>(a, b, dtype == DType::kDouble ? 1 : 2, [](double x) { return x; });
    case DType::kHalf:
      return compare_numbers<uint16_t>(a, b, 1,
                                       [](uint16_t x) { return static_cast<double>(half_value(x)); });
    case DType::kBfloat16:
      return compare_numbers<uint16_t>(a, b, 1,
                                       [](uint16_t x) { return static_cast<double>(bfloat16_value(x)); });
    case DType::kInt64:
      return compare_integers<int64_t>(a, b);
    case DType::kUint64:
      return compare_integers<uint64_t>(a, b);
    case DType::kInt32:
    case DType::kQint32:
      return compare_integers<int32_t>(a, b);
    case DType::kUint32:
      return compare_integers<uint32_t>(a, b);
    case DType::kInt16:
    case DType::kQint16:
      return compare_integers<int16_t>(a, b);
    case DType::kUint16:
    case DType::kQuint16:
      return compare_integers<uint16_t>(a, b);
    case DType::kInt8:
    case DType::kQint8:
      return compare_integers<int8_t>(a, b);
    default:  // of one byte
      if (const auto* numbers = small_numbers(dtype))
        return compare_numbers<uint8_t>(a, b, 1,
                                        [&](uint8_t x) { return static_cast<double>((*numbers)[x]); });
      return compare_integers<uint8_t>(a, b);
  }
}

// Of values that are known by a checksum alone.
bool known_alike(const Weight& a, const Weight& b) {
  const auto x = a.values->expected(), y = b.values->expected();
  return x && y && x->kind == y->kind && x->before == y->before && x->value == y->value &&
         a.values->size() == b.values->size();
}

struct Pair {
  const Weight *a, *b;
};

struct PairStretch {
  size_t pair;
  uint64_t offset, size, grain;
  Sums sums = {};
  uint32_t crc_a = 0, crc_b = 0;
};

void require_checksum(const Weight& weight, const Weights& weights, const std::vector<PairStretch>& stretches,
                      size_t begin, size_t end, uint32_t PairStretch::*crc) {
  const auto expected = weight.values->expected();
  if (!expected) return;
  uint32_t sum = expected->before;
  for (size_t i = begin; i < end; ++i)
    sum = join_checksums(expected->kind, sum, stretches[i].*crc, stretches[i].size);
  if (sum != expected->value)
    throw Error(Cause::kInput, "checksum differs").of(tensor_subject(weight.name)).in(weights.path);
}

// Those of which values are made are read first, to be checked.
void check_leaves(const Weights& weights, const std::vector<Pair>& pairs, const Weight* Pair::*side) {
  std::vector<ValuesPtr> leaves;
  std::vector<const Weight*> owners;
  for (const Pair& pair : pairs) {
    std::vector<const Values*> found;
    (pair.*side)->values->made_of(found);
    for (const Values* leaf : found) {
      leaves.emplace_back(ValuesPtr(), leaf);  // owned by the weight
      owners.push_back(pair.*side);
    }
  }
  check_all(leaves, weights.path, [&](size_t i) { return tensor_subject(owners[i]->name); });
}

std::vector<Sums> compare_all(const Weights& a, const Weights& b, const std::vector<Pair>& pairs) {
  check_leaves(a, pairs, &Pair::a);
  check_leaves(b, pairs, &Pair::b);
  std::vector<PairStretch> stretches;
  for (size_t i = 0; i < pairs.size(); ++i) {
    const Values &x = *pairs[i].a->values, &y = *pairs[i].b->values;
    // Both are read in steps that suit both.
    uint64_t grain = std::max(x.grain(), y.grain());
    if (grain % x.grain() != 0 || grain % y.grain() != 0)
      grain = std::max(x.grain(), uint64_t{1}) * y.grain();
    const uint64_t step = stretch_of(grain);
    for (uint64_t at = 0; at < x.size(); at += step)
      stretches.push_back({i, at, std::min(step, x.size() - at), grain});
  }
  in_parallel(stretches.size(), [&](size_t i) {
    PairStretch& stretch = stretches[i];
    const Pair& pair = pairs[stretch.pair];
    const uint64_t end = stretch.offset + stretch.size;
    for (uint64_t at = stretch.offset; at < end; at += stretch.grain) {
      const auto read = [&](const Weight& weight, const Weights& weights) {
        try {
          return weight.values->read(at, std::min(stretch.grain, end - at));
        } catch (const Error& error) {
          throw error.of(tensor_subject(weight.name)).in(weights.path);
        }
      };
      const Piece x = read(*pair.a, a), y = read(*pair.b, b);
      stretch.crc_a = checksum_read(pair.a->values->expected(), x.bytes(), stretch.crc_a);
      stretch.crc_b = checksum_read(pair.b->values->expected(), y.bytes(), stretch.crc_b);
      stretch.sums.add(compare_bytes(pair.a->dtype, x.bytes(), y.bytes()));
    }
  });
  std::vector<Sums> sums(pairs.size());
  for (size_t begin = 0; begin < stretches.size();) {
    size_t end = begin;
    const size_t pair = stretches[begin].pair;
    for (; end < stretches.size() && stretches[end].pair == pair; ++end) sums[pair].add(stretches[end].sums);
    require_checksum(*pairs[pair].a, a, stretches, begin, end, &PairStretch::crc_a);
    require_checksum(*pairs[pair].b, b, stretches, begin, end, &PairStretch::crc_b);
    begin = end;
  }
  return sums;
}

double relative_of(const Sums& sums) {
  if (sums.squares == 0 && sums.different == 0) return 0;
  if (!std::isfinite(sums.squares) || sums.norm == 0) return std::numeric_limits<double>::infinity();
  return std::sqrt(sums.squares / sums.norm);
}

// Strings: alike where size and checksum are.
std::optional<bool> strings_alike(const Weights& a, const Weights& b, const std::string& name) {
  if (!a.checkpoint || !b.checkpoint) return std::nullopt;
  const Tensor* x = a.checkpoint->checkpoint.find(name);
  const Tensor* y = b.checkpoint->checkpoint.find(name);
  if (x == nullptr || y == nullptr || x->partitioned() || y->partitioned() ||
      in_table(a.checkpoint->checkpoint, x->place) || in_table(b.checkpoint->checkpoint, y->place))
    return std::nullopt;
  return x->place.size == y->place.size && x->place.crc32c == y->place.crc32c;
}

}  // namespace

WeightsDifference difference(const Weights& a, const Weights& b, bool bytes) {
  WeightsDifference out;
  std::vector<Pair> pairs;
  auto x = a.weights.begin();
  auto y = b.weights.begin();
  while (x != a.weights.end() || y != b.weights.end()) {
    if (y == b.weights.end() || (x != a.weights.end() && x->name < y->name)) {
      out.only_a.push_back((x++)->name);
    } else if (x == a.weights.end() || y->name < x->name) {
      out.only_b.push_back((y++)->name);
    } else {
      const Weight &p = *x++, &q = *y++;
      if (p.dtype != q.dtype || p.shape != q.shape || p.parts != q.parts) {
        out.unlike.push_back({p.name, weight_text(p), weight_text(q)});
        continue;
      }
      if (p.values == nullptr || q.values == nullptr) {
        const auto alike = strings_alike(a, b, p.name);
        if (!alike) {
          out.unread.push_back(p.name);
          continue;
        }
        ++out.compared;
        const double all = std::numeric_limits<double>::infinity();
        const uint64_t count = element_count(p.shape);
        if (!*alike) out.changed.push_back({p.name, p.dtype, p.shape, all, all, count, count});
        continue;
      }
      ++out.compared;
      if (bytes || !known_alike(p, q)) pairs.push_back({&p, &q});
    }
  }
  const std::vector<Sums> sums = compare_all(a, b, pairs);
  for (size_t i = 0; i < pairs.size(); ++i) {
    if (sums[i].different == 0) continue;
    const Weight& weight = *pairs[i].a;
    out.changed.push_back({weight.name, weight.dtype, weight.shape, relative_of(sums[i]), sums[i].largest,
                           sums[i].different, element_count(weight.shape)});
  }
  std::sort(out.changed.begin(), out.changed.end(), [](const TensorDifference& p, const TensorDifference& q) {
    return p.relative != q.relative ? p.relative > q.relative : p.name < q.name;
  });
  return out;
}

}  // namespace gedit
