// Weights of any file as a checkpoint, new or like one that is there. docs/rules.md#checkpoint-import
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "checkpoint/bundle.h"
#include "checkpoint/edit.h"
#include "checkpoint/renaming.h"
#include "weights/store.h"
#include "weights/weights.h"

namespace gedit {

// Other names, all at once. Throws Error (kRefused) where a pair hits nothing, or two get one name.
void rename_weights(Weights& weights, const Renaming& renaming);

// Dimension i becomes dimension order[i] of those that are hit. Throws Error (kRefused) for another rank.
void transpose_weights(Weights& weights, const std::vector<bool>& hits, const std::vector<size_t>& order);

// Floating point numbers become `to`, which is floating point: values are made when they are read.
void cast_weights(Weights& weights, DType to);

// `OLD<tab>NEW` and `OLD=NEW`; `@FILE` has one a line. Throws Error (kUsage, kInput).
std::vector<NamePair> parse_map(const std::vector<std::string>& texts);

// The weights as tensors to be stored. Throws Error (kRefused) for what is no number, and what has no name.
std::vector<NewTensor> new_tensors(const Weights& weights);

// What fits of the weights into a checkpoint.
struct FittedWeights {
  std::vector<std::string> missing;     // keys that get no value
  std::vector<std::string> unexpected;  // names of weights that have no key
  std::vector<NewTensor> tensors;       // those that get one, partitioned as they are
};

// A name is a key, or the path of an object with one value. Throws Error (kRefused) for another dtype or
// shape.
FittedWeights fit_weights(const Weights& weights, const Checkpoint& into);

// `into` with the values of `stored`; all other tensors stay where they are.
Checkpoint with_values(Checkpoint into, Checkpoint stored);

}  // namespace gedit
