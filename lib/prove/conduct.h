// What an op does besides giving what follows from its inputs: nothing, reads state, draws at random, writes
// (docs/rules.md#prove-state).
#pragma once

#include <cstdint>
#include <string_view>

#include "graph/dtype.h"
#include "ops/kinds.h"
#include "ops/registry.h"

namespace gedit {

enum class Conduct : uint8_t {
  kPure,
  kPasses,    // gives its inputs on as they are
  kReads,     // what it gives follows from its inputs and from state that it leaves as it is
  kState,     // holds state that outlives a run: it is known by its name
  kFresh,     // makes something that lives for one run
  kRandom,    // draws numbers, from a seed or without
  kWrites,    // anything else that has an effect
  kTriggers,  // nothing, and is never dead, whatever it waits for
  kInPlace,   // writes into what it reads, without saying so
  kUnknown,   // nobody knows
};

// `op_def`: of the op, null where it is unknown.
Conduct conduct_of(std::string_view op, const OpDef* op_def);

// Whether the two inputs of a node, of an op of these kinds and of this T, may change places without a change
// of any bit: those of Add, AddV2 and Mul of integers. Of two NaNs TensorFlow gives one by position, as
// Maximum and Minimum do of +0 and -0.
bool commutes(OpKinds op, DType type);

}  // namespace gedit
