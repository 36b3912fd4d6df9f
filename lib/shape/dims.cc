#include "shape/dims.h"

#include <algorithm>

namespace gedit::shaping {
namespace {

constexpr size_t kBlock = 4096;
constexpr int kDeepestProduct = 64;

uint64_t mixed(uint64_t hash, uint64_t value) {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15;
  return hash ^ hash >> 29;
}

uint64_t hash_of_list(std::span<const Dim> dims) {
  uint64_t hash = dims.size();
  for (const Dim dim : dims) hash = mixed(hash, static_cast<uint64_t>(dim));
  return hash;
}

Dim number_or_unknown(bool overflow, int64_t number) {
  return overflow || !is_number(number) ? kUnknown : number;
}

}  // namespace

Dims::Dims() {
  lists_.emplace_back();  // kNoRank
  lists_.emplace_back();  // kScalar
}

ListId Dims::list(std::span<const Dim> dims) {
  if (dims.empty()) return kScalar;
  const uint64_t hash = hash_of_list(dims);
  const uint32_t found =
      list_index_.find(hash, [&](uint32_t index) { return std::ranges::equal(lists_[index], dims); });
  if (found != HashIndex::kNone) return found;
  if (blocks_.empty() || blocks_.back().capacity() - blocks_.back().size() < dims.size()) {
    blocks_.emplace_back().reserve(std::max(kBlock, dims.size()));
  }
  std::vector<Dim>& block = blocks_.back();
  const size_t begin = block.size();
  block.insert(block.end(), dims.begin(), dims.end());
  const auto id = static_cast<ListId>(lists_.size());
  lists_.emplace_back(block.data() + begin, dims.size());
  list_index_.add(hash, id);
  return id;
}

Dim Dims::symbol(Kind kind, Dim a, Dim b, bool size) {
  const uint64_t hash =
      mixed(mixed(static_cast<uint64_t>(kind), static_cast<uint64_t>(a)), static_cast<uint64_t>(b));
  const uint32_t found = symbol_index_.find(hash, [&](uint32_t index) {
    const Symbol& there = symbols_[index];
    return there.kind == kind && there.a == a && there.b == b && there.size == size;
  });
  if (found != HashIndex::kNone) return kUnknown + 1 + found;
  if (symbols_.size() >= static_cast<size_t>(kMostSymbols)) return kUnknown;
  const auto index = static_cast<uint32_t>(symbols_.size());
  symbols_.push_back({a, b, kind, size});
  symbol_index_.add(hash, index);
  return kUnknown + 1 + index;
}

Dim Dims::commutative(Kind kind, Dim a, Dim b, bool size) {
  return is_number(a) || (!is_number(b) && a < b) ? symbol(kind, a, b, size) : symbol(kind, b, a, size);
}

Dim Dims::fresh(uint64_t place, uint64_t number) {
  return symbol(Kind::kFresh, static_cast<Dim>(place), static_cast<Dim>(number), true);
}

Dim Dims::argument(uint64_t number, bool size) {
  return symbol(Kind::kArgument, static_cast<Dim>(number), 0, size);
}

bool Dims::never_negative(Dim dim) const {
  return is_number(dim) ? dim >= 0 : is_symbol(dim) && symbol_of(dim).size;
}

Dim Dims::size(Dim dim) {
  if (is_number(dim)) return dim >= 0 ? dim : kUnknown;
  if (dim == kUnknown || symbol_of(dim).size) return dim;
  return symbol(Kind::kSize, dim, 0, true);
}

Dim Dims::add(Dim a, Dim b) {
  if (a == kUnknown || b == kUnknown) return kUnknown;
  if (is_number(a) && is_number(b)) {
    int64_t sum = 0;
    const bool overflow = __builtin_add_overflow(a, b, &sum);
    return number_or_unknown(overflow, sum);
  }
  if (is_number(b)) std::swap(a, b);
  if (a == 0) return b;
  if (is_number(a) && symbol_of(b).kind == Kind::kAdd && is_number(symbol_of(b).a)) {
    const Symbol inner = symbol_of(b);
    return add(add(a, inner.a), inner.b);
  }
  return commutative(Kind::kAdd, a, b, never_negative(a) && never_negative(b));
}

Dim Dims::subtract(Dim a, Dim b) {
  if (a == kUnknown || b == kUnknown) return kUnknown;
  if (a == b) return 0;
  if (is_number(a) && is_number(b)) {
    int64_t difference = 0;
    const bool overflow = __builtin_sub_overflow(a, b, &difference);
    return number_or_unknown(overflow, difference);
  }
  return is_number(b) ? add(a, -b) : symbol(Kind::kSubtract, a, b, false);
}

Dim Dims::multiply(Dim a, Dim b) {
  if (a == 0 || b == 0) return 0;
  if (a == kUnknown || b == kUnknown) return kUnknown;
  if (is_number(a) && is_number(b)) {
    int64_t product = 0;
    const bool overflow = __builtin_mul_overflow(a, b, &product);
    return number_or_unknown(overflow, product);
  }
  if (is_number(b)) std::swap(a, b);
  if (a == 1) return b;
  const Symbol second = symbol_of(b);
  if (second.kind == Kind::kMultiply && is_number(second.a)) {
    if (is_number(a)) return multiply(multiply(a, second.a), second.b);
    return multiply(second.a, multiply(a, second.b));
  }
  if (is_symbol(a) && symbol_of(a).kind == Kind::kMultiply && is_number(symbol_of(a).a)) {
    const Symbol first = symbol_of(a);
    return multiply(first.a, multiply(first.b, b));
  }
  return commutative(Kind::kMultiply, a, b, never_negative(a) && never_negative(b));
}

int64_t Dims::factors(Dim dim, std::vector<Dim>& symbols) const {
  int64_t number = 1;
  std::vector<Dim> open{dim};
  for (int step = 0; !open.empty(); ++step) {
    const Dim next = open.back();
    open.pop_back();
    if (is_number(next)) {
      if (__builtin_mul_overflow(number, next, &number)) {
        symbols.assign(1, dim);
        return 1;
      }
    } else if (is_symbol(next) && symbol_of(next).kind == Kind::kMultiply && step < kDeepestProduct) {
      open.push_back(symbol_of(next).a);
      open.push_back(symbol_of(next).b);
    } else {
      symbols.push_back(next);
    }
  }
  std::ranges::sort(symbols);
  return number;
}

Dim Dims::floor_divide(Dim a, Dim b) {
  if (a == kUnknown || b == kUnknown || b == 0) return kUnknown;
  if (b == 1) return a;
  if (is_number(a) && is_number(b)) {
    if (b == -1) return subtract(0, a);
    const int64_t quotient = a / b;
    return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
  }
  if (is_number(b) && symbol_of(a).kind == Kind::kMultiply && is_number(symbol_of(a).a) &&
      symbol_of(a).a % b == 0) {
    const Symbol product = symbol_of(a);
    return multiply(product.a / b, product.b);
  }
  return symbol(Kind::kDivide, a, b, never_negative(a) && never_negative(b));
}

Dim Dims::ceil_divide(Dim a, Dim b) {
  if (a == kUnknown || b == kUnknown || b == 0) return kUnknown;
  if (b == 1) return a;
  if (is_number(a) && is_number(b)) return subtract(0, floor_divide(subtract(0, a), b));
  if (is_number(b) && symbol_of(a).kind == Kind::kMultiply && is_number(symbol_of(a).a) &&
      symbol_of(a).a % b == 0) {
    return floor_divide(a, b);
  }
  return symbol(Kind::kCeilDivide, a, b, never_negative(a) && never_negative(b));
}

Dim Dims::maximum(Dim a, Dim b) {
  if (a == b) return a;
  if (is_number(a) && is_number(b)) return std::max(a, b);
  if (a == kUnknown || b == kUnknown) return kUnknown;
  if (is_number(a) && a <= 0 && never_negative(b)) return b;
  if (is_number(b) && b <= 0 && never_negative(a)) return a;
  return commutative(Kind::kMaximum, a, b, never_negative(a) || never_negative(b));
}

Dim Dims::minimum(Dim a, Dim b) {
  if (a == b) return a;
  if (is_number(a) && is_number(b)) return std::min(a, b);
  if (a == kUnknown || b == kUnknown) return kUnknown;
  return commutative(Kind::kMinimum, a, b, never_negative(a) && never_negative(b));
}

Dim Dims::broadcast(Dim a, Dim b) { return a == b ? a : commutative(Kind::kBroadcast, a, b, true); }

}  // namespace gedit::shaping
