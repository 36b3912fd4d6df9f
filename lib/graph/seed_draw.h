// Random numbers of a seed: newer releases make a key and a counter of it in a node of its own, older ones in
// the op that draws (docs/tensorflow.md#random-numbers-of-a-seed).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "graph/node.h"

namespace gedit::seed_draw {

// Inputs of an OpKind::kDrawsByKey. Its bounds, if it has any, stand behind them.
constexpr size_t kShape = 0, kKey = 1, kCounter = 2, kAlgorithm = 3, kBounds = 4;
// Outputs of an OpKind::kMakesSeedKey. Not all have the last one.
constexpr uint32_t kKeyMade = 0, kCounterMade = 1, kAlgorithmMade = 2;

constexpr std::string_view kAlgorithmOp = "StatelessRandomGetAlg";  // gives that of its device: Philox
constexpr int32_t kPhilox = 1, kAnyAlgorithm = 3;                   // any is Philox on CPUs

// The op that reads a seed in place of key, counter and algorithm, and draws the same numbers.
inline std::string_view op_of_seed(std::string_view op) { return op.substr(0, op.size() - 2); }

// The types that it has for attributes, by those of the one that draws by a key.
inline std::array<std::pair<std::string_view, DType>, 3> types_of_seed(std::string_view node_def,
                                                                       DType seed) {
  return {{{"dtype", type_attr(node_def, "dtype").value_or(DType::kFloat)},
           {"T", type_attr(node_def, "Tshape").value_or(DType::kInt32)},
           {"Tseed", seed}}};
}

// Of a node that makes a key.
inline DType seed_type(std::string_view maker) { return type_attr(maker, "Tseed").value_or(DType::kInt64); }

}  // namespace gedit::seed_draw
