// What a graph is about, for people and scripts: inputs, outputs, variables, signatures, savers. Weights are
// never read.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/dtype.h"
#include "graph/index.h"
#include "graph/types.h"
#include "model/model.h"
#include "ops/registry.h"

namespace gedit {

struct TensorSummary {
  std::string tensor;  // `x` for output 0 of x, `x:1`
  std::optional<DType> dtype;
  Shape shape;
  std::string reason;                // why it is taken for an input or output of the model
  std::vector<std::string> parts{};  // of a sparse or composite one, which is no tensor itself

  std::vector<std::string> tensors() const { return tensor.empty() ? parts : std::vector{tensor}; }
};

// Of one example: `bytes` counts 1 for each dimension that is not known, 0 where the type has no size.
struct LargestActivation {
  std::string tensor;
  std::optional<DType> dtype;
  Shape shape;
  uint64_t bytes = 0;
};

struct VariableSummary {
  std::string name;
  DType dtype = DType::kInvalid;
  Shape shape;
  bool trainable = false;
  std::optional<std::string> key;  // in a checkpoint; nothing where no saver tells
  std::vector<std::string> collections;
  std::string initializer, snapshot, initial_value;  // of its VariableDef; empty where none says
};

struct SignatureSummary {
  std::string key, method;
  std::map<std::string, TensorSummary> inputs, outputs;
};

struct CollectionSummary {
  std::string key, kind;  // node_list, bytes_list, ...
  size_t items = 0;
};

struct SaverSummary {
  std::string restore_op, save_tensor, filename_tensor,
      version;                    // V1, V2, legacy; empty: found from nodes alone
  std::vector<std::string> keys;  // sorted; a slice as `KEY SLICE`
  bool sharded = false;
};

struct ScopeSummary {
  std::string scope;
  uint64_t nodes = 0, variables = 0, parameters = 0, bytes = 0;
};

struct GraphSummary {
  std::vector<std::string> tags;
  std::string tensorflow_version;
  int64_t producer = 0, min_consumer = 0;
  // Releases as `1.5`, of whoever asks which take the graph: as it is from the first to the last, and the op
  // that none before takes; and from which on after a retarget. Empty: none.
  std::string runs_from, runs_to, runs_because, retargeted_from;
  uint64_t nodes = 0;
  std::map<std::string, uint64_t> ops;
  uint64_t functions = 0, function_nodes = 0;
  std::vector<std::string> unreachable_functions;
  uint64_t parameters = 0;  // elements of all variables whose shape is known
  uint64_t parameter_bytes = 0;
  uint64_t constants = 0;  // elements of Consts, in a graph without variables
  std::vector<std::string> devices, function_devices, assets;
  std::string init_op;
  std::vector<TensorSummary> inputs, outputs;           // most likely first
  std::optional<LargestActivation> largest_activation;  // of whoever asks for shapes that follow
  std::vector<VariableSummary> variables;
  std::vector<SignatureSummary> signatures;    // without init and train signatures
  std::vector<CollectionSummary> collections;  // sorted by key
  std::vector<SaverSummary> savers;
  std::vector<ScopeSummary> scopes;  // largest first; for depth > 0
};

// The signatures by key, without those of initialization and training. Throws Malformed.
std::vector<SignatureSummary> list_signatures(const MetaGraph& meta);

// `meta` is one of the model's MetaGraphs, `index` that of its graph. `depth`: how deep `scopes` goes, 0 for
// none. Throws Malformed.
GraphSummary summarize(Model& model, size_t meta, Registry& ops, const GraphIndex& index, int depth = 0);
GraphSummary summarize(Model& model, size_t meta, Registry& ops);

}  // namespace gedit
