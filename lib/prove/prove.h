// Whether two graphs compute the same, found without running them (docs/rules.md#prove).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "checkpoint/constant.h"
#include "graph/dtype.h"
#include "model/model.h"
#include "ops/registry.h"

namespace gedit {

class AssetDigests;

class GraphIndex;

// The value of a variable, which lies in a checkpoint.
struct KnownValue {
  DType dtype = DType::kInvalid;
  std::vector<int64_t> shape;
  std::optional<uint32_t> crc32c;        // of all its bytes, not masked, where the checkpoint stores it
  std::function<ConstantValue()> value;  // read when bytes are to be compared
};

// What a checkpoint knows of the variables of one model.
class KnownValues {
 public:
  KnownValues() = default;
  KnownValues(const KnownValues&) = delete;
  KnownValues& operator=(const KnownValues&) = delete;
  virtual ~KnownValues() = default;
  // Nothing where the checkpoint does not have it.
  virtual std::optional<KnownValue> find(NodeId variable) = 0;
};

// One of the two. All of it outlives the proof; the selected graph is the one that counts, as it is in its
// records: a model that was edited through a mapping is written and read again first.
struct ProofSide {
  Model& model;
  Registry& ops;
  KnownValues* values = nullptr;
  const GraphIndex* index = nullptr;  // of the model's graph, where it is known
  AssetDigests* assets = nullptr;     // of the model; prove() has its own, for all that it tries
};

// Tensors as a user writes them: `y`, `y:1`, `serving_default.scores`; `^op`: all that an op gives and does.
struct OutputPair {
  std::string a, b;
};

// A tensor that is known to have a value: a serialized TensorProto.
struct GivenValue {
  std::string tensor, tensor_proto;
};

// What is taken as given of A, and what a proof that rests on it leaves to who says it: a tensor is the same
// as another one wherever it is there, or has this value. `function` is empty for the main graph; tensors as
// `node` and `node:1` in bodies, too, and an argument by its name.
struct AssumedTensor {
  std::string function, tensor, same_as, tensor_proto;
};

struct ProofRequest {
  std::vector<OutputPair> outputs;
  std::vector<std::pair<std::string, std::string>> map;  // inputs and state of other names: of A, of B
  // The name in B of a node of A that `map` does not name; without it the same.
  std::function<std::string(std::string_view)> name_in_b;
  // Known of both graphs, by the names of A; one that a graph lacks is no error.
  std::vector<GivenValue> given;
  // Tensors that are taken to be the same, whatever they are made of: where one graph was cut.
  std::vector<OutputPair> same;
  std::vector<AssumedTensor> assumed;
  bool bytes = false;  // variables are compared by their bytes, not by the checksums that are stored
  // The rest of what is not proved has no place; and with none, no tensors are counted.
  size_t most_places = SIZE_MAX;
};

enum class ProofVerdict : uint8_t { kProved, kDiffers, kUnknown };

struct OutputProof {
  OutputPair output;
  ProofVerdict verdict = ProofVerdict::kUnknown;
  uint64_t tensors = 0;  // that the output of A is made of, itself included; equal ones counted once
  std::string a, b;      // where the two part, or what is not known: nodes; empty where there is none
  std::string why;       // `transpose_b true, false`, `has no seed`
  bool alike = false;    // of kUnknown: both are built alike, of what is not known
  // Of kDiffers: a constant, or an attribute, tells them apart, not how they are built.
  bool by_value = false, by_attribute = false;
};

struct Proof {
  std::vector<OutputProof> outputs;   // in the order asked
  uint64_t variables = 0;             // of both, whose values were compared
  uint64_t switches = 0, merges = 0;  // of both, that a given value decides

  size_t proved_outputs() const;
  bool proved() const;
};

// Proved means: where both graphs give a value at all, they give the same bits for the same inputs, variables
// and state. Every comparison is of whole keys, no hash decides. Throws Error (kRefused) for an output that
// is not there.
Proof prove(const ProofSide& a, const ProofSide& b, const ProofRequest& request);

// The pairs that are asked for where nobody says which: outputs of signatures that both have under one key,
// else what looks like an output in A and is a tensor of B by the same name. `map` gains the inputs of those
// signatures that have other names.
std::vector<OutputPair> common_outputs(const ProofSide& a, const ProofSide& b,
                                       std::vector<std::pair<std::string, std::string>>& map);

// `[true, 0.5, ...]` as the listing writes a value becomes the TensorProto of this dtype: `false`, `1`,
// `tensor(DT_FLOAT [2], 1.0, 2.0)`. Throws Error (kUsage).
std::string given_tensor(DType dtype, std::string_view value);

}  // namespace gedit
