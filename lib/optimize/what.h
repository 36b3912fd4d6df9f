// Ops that the rules of optimize know, by what they are to them. The one table is in what.cc.
#pragma once

#include <cstdint>
#include <string_view>

namespace gedit::optimizing {

enum class What : uint8_t {
  kOther,
  kIdentity,  // gives on what it reads, at inference
  kIdentityN,
  kAssert,
  kCheckNumerics,
  kPrint,  // gives on its first input
  kPrintV2,
  kSummary,
  kArray,  // of a TensorArray, whose order matters to what closes it
  kSwitchN,
  kControlTrigger,
  kStatelessIf,
  kStatelessCase,
  kSelect,
  kSelectV2,
  kFill,
  kZerosLike,
  kOnesLike,
  kShape,
  kCast,
  kFloor,
  kNot,
  kAnd,
  kOr,
  kNegative,
  kAdd,  // to kExtremum: of two, element by element
  kSubtract,
  kMultiply,
  kDivide,
  kGreaterEqual,
  kGreater,
  kLessEqual,
  kLess,
  kExtremum,
  kAddN,
  kConcat,  // the axis first
  kConcatV2,
  kReshape,
  kPad,
  kTile,
  kSlice,
  kSqueeze,
  kBroadcastTo,
  kSplit,  // the axis first
  kTranspose,
};

What what_of(std::string_view op);

// What decide_drop() may know: gives on what it reads, or looks at it.
constexpr bool is_looked_through(What what) { return what >= What::kIdentity && what <= What::kSummary; }

}  // namespace gedit::optimizing
