// Nodes that give what they read though their op is there to compute: a Split into one, and products and
// quotients by 1, these bit for bit where no number is a denormal, which TensorFlow's threads take for zero.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "prove/labels.h"
#include "prove/state.h"

namespace gedit {

// Of a Split, Concat or AddN of one, a Cast to the same dtype, and a Transpose that moves no axis: which of
// its data inputs it gives.
std::optional<size_t> given_input(const ProofState& state, std::string_view op, std::string_view node_def,
                                  std::span<const uint32_t> inputs);

// What an op gives that undoes the one before it, as a Transpose that turns another one back, a Neg of
// integers and a LogicalNot do; and that adds the scalar 0 to integers, or takes it from them.
std::optional<ClassId> undone(const ProofState& state, const ProofOp& op, std::string_view node_def,
                              std::span<const uint32_t> inputs);

// The other operand of what an op makes of these, where one is the scalar 1 and the op a product, or a
// quotient by it.
std::optional<ClassId> scaled_by_one(const ProofState& state, std::string_view op,
                                     std::span<const uint32_t> inputs);
// The same of a class that was made.
std::optional<ClassId> scaled_by_one(const ProofState& state, ClassId id);

// Whether none of its numbers is a denormal or a NaN: integers, and uniform numbers
// (docs/tensorflow.md#dropout). `one`: the scalar by which it is scaled, of its dtype.
bool stays_scaled_by_one(const ProofState& state, ClassId id, ClassId one);

}  // namespace gedit
