// Ops that the rules of optimize know, by what they are to them. The one table is in what.cc.
#pragma once

#include <cstdint>
#include <string_view>

#include "prove/labels.h"

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

// Which rules have anything to find out of nodes of an op: most have not, of most nodes.
struct Asks {
  bool values : 1 = false;   // that it gives ones, zeros, ...
  bool shape : 1 = false;    // that it gives the shape of what it reads
  bool branch : 1 = false;   // which branch is taken
  bool drop : 1 = false;     // that inference does not need it
  bool dropout : 1 = false;  // that it keeps all that it reads
  bool algebra : 1 = false;  // that it gives what it reads
  bool sharing : 1 = false;  // that another one computes the same
};
Asks asks_of(const ProofOp& op, What what);

// What decide_drop() may know: gives on what it reads, or looks at it.
constexpr bool is_looked_through(What what) { return what >= What::kIdentity && what <= What::kSummary; }

}  // namespace gedit::optimizing
