// Dimensions that are numbers, symbols or unknown, and lists of them kept once: what shapes and the values of
// small integer tensors are made of.
#pragma once

#include <cstdint>
#include <deque>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash_index.h"

namespace gedit::shaping {

// A number; or one that is not known but is the same wherever the symbol stands; or unknown. Numbers of this
// magnitude that are meant as numbers do not occur: they are taken for unknown.
using Dim = int64_t;
constexpr Dim kUnknown = std::numeric_limits<int64_t>::min();
constexpr int64_t kMostSymbols = int64_t{1} << 24;
constexpr bool is_symbol(Dim dim) { return dim > kUnknown && dim <= kUnknown + kMostSymbols; }
constexpr bool is_number(Dim dim) { return dim > kUnknown + kMostSymbols; }

// A list of dimensions. kNoRank is the shape of a tensor whose rank is unknown, and the value of one whose
// elements are.
using ListId = uint32_t;
constexpr ListId kNoRank = 0;
constexpr ListId kScalar = 1;      // the empty list
constexpr size_t kMostRank = 254;  // tensorflow/core/framework/tensor_shape.h, MaxDimensions

// Keeps lists and symbols once each. A list costs its elements and 32 bytes, a symbol 40.
class Dims {
 public:
  Dims();
  Dims(const Dims&) = delete;
  Dims& operator=(const Dims&) = delete;

  ListId list(std::span<const Dim> dims);
  std::span<const Dim> of(ListId id) const { return lists_[id]; }

  // The symbol that `number` at `place` makes, always the same one; never negative.
  Dim fresh(uint64_t place, uint64_t number);
  // The symbol that stands for argument `number` of a function; known not to be negative where that is so.
  Dim argument(uint64_t number, bool size);

  // What is known of the result: a number, an expression (the same one for the same operands), or unknown.
  Dim add(Dim a, Dim b);
  Dim subtract(Dim a, Dim b);
  Dim multiply(Dim a, Dim b);
  Dim floor_divide(Dim a, Dim b);
  Dim ceil_divide(Dim a, Dim b);
  Dim maximum(Dim a, Dim b);
  Dim minimum(Dim a, Dim b);
  Dim broadcast(Dim a, Dim b);  // of two symbols
  // As something that is a size, which is not negative.
  Dim size(Dim dim);
  bool never_negative(Dim dim) const;
  // Its factors: a number, and symbols, sorted.
  int64_t factors(Dim dim, std::vector<Dim>& symbols) const;

 private:
  enum class Kind : uint8_t {
    kFresh,
    kArgument,
    kAdd,
    kSubtract,
    kMultiply,
    kDivide,
    kCeilDivide,
    kMaximum,
    kMinimum,
    kBroadcast,
    kSize,
  };
  struct Symbol {
    Dim a, b;
    Kind kind;
    bool size;  // never negative
  };
  Dim symbol(Kind kind, Dim a, Dim b, bool size);
  Dim commutative(Kind kind, Dim a, Dim b, bool size);
  const Symbol& symbol_of(Dim dim) const { return symbols_[static_cast<size_t>(dim - kUnknown - 1)]; }

  std::vector<std::span<const Dim>> lists_;
  std::deque<std::vector<Dim>> blocks_;
  HashIndex list_index_;
  std::vector<Symbol> symbols_;
  HashIndex symbol_index_;
};

}  // namespace gedit::shaping
