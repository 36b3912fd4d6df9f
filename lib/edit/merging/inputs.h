// What reads a KEY reads its VALUE: docs/rules.md#merge-input-map.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "edit/basis/inferred_shapes.h"
#include "edit/merging/names.h"
#include "select/tensors.h"

namespace gedit {

// A KEY and its VALUE; the texts are as inputs are written, by the names in the merged graph.
struct MergedInput {
  std::string key, value;
  MergePlace key_node, value_node;
  uint32_t key_index = 0, value_index = 0;
  bool control = false;

  struct Reader {
    size_t part;
    NodeId node;
    uint32_t slot;
  };
  std::vector<Reader> readers{};
};

class InputMap {
 public:
  // `signatures` holds the signatures of the merged model, through which a tensor may be named. Throws Error:
  // kUsage for a pair that is none, kRefused where a node or output does not exist or the types do not fit.
  InputMap(MergeParts& parts, const MergedNames& names, const Model& signatures,
           const std::vector<std::string>& pairs, bool share);

  InputMap(const InputMap&) = delete;  // the operands ask this one
  InputMap& operator=(const InputMap&) = delete;

  bool empty() const { return pairs_.empty(); }
  const std::vector<MergedInput>& pairs() const { return pairs_; }

  // Throws Error (kRefused) where the merged graph has a cycle through a mapped input. Costs nothing where no
  // operand reads, through the map, what comes from itself. `twin` tells for a node that is one with another
  // operand's which one that is.
  void check_cycles() const;

  // Throws Error (kRefused) where a KEY lies in a branch of a cond and its VALUE does not.
  void check_branches() const;

  // Throws Error (kRefused) where a KEY or its VALUE lies in a loop in which the other does not.
  void check_loops() const;

  void warn(std::vector<std::string>& warnings) const;
  // Signatures of the merged graph whose outputs come, by way of the map, of a placeholder of another operand
  // that is none of their inputs: a warning each.
  void warn_of_unfed(const MergedNames& names, const MetaGraph& merged,
                     std::vector<std::string>& warnings) const;
  // What a loader that calls functions does not see of the map.
  void note(std::vector<std::string>& notes) const;

  // Whether the VALUE comes from a call, or a call reads it, that a session replaces by the function's nodes
  // before it looks at what is fed (common_runtime/lower_functional_ops.cc).
  bool inlined(const MergedInput& pair) const;

 private:
  struct Shapes {
    bool same = false;       // dtype and shape are known to be equal
    std::string difference;  // of shapes that cannot agree
  };

  void locate(const MergedNames& names, const Model& signatures, const std::vector<std::string>& pairs);
  void check_output(const MergePlace& place, uint32_t index, const std::string& text);
  void find_readers(bool share);
  void drop_repeated_controls();
  void check_types(const MergedInput& pair);
  using Types = std::optional<std::vector<DType>>;
  const Types& types_of_outputs(const MergePlace& place);
  const Types& types_of_inputs(const MergePlace& place);
  DType type_of(const MergePlace& place, uint32_t index);
  Shape shape_of(const MergePlace& place, uint32_t index);
  Shape known_shape_of(const MergePlace& place, uint32_t index);
  Shapes compare_shapes(const MergedInput& pair);
  void drop_stale_shapes();
  void find_stale() const;
  // Whether the node lies below a tensor that got another source.
  bool stale_shapes(size_t part, NodeId id) const;
  std::vector<size_t> inputs_of(size_t position, const std::map<std::string, size_t>& values) const;
  [[noreturn]] void refuse_cycle(const MergedInput& pair, size_t reader,
                                 const std::map<std::string, size_t>& values) const;
  MergePlace place_at(size_t position) const;
  size_t position(const MergePlace& place) const { return parts_[place.part]->first + index_of(place.node); }

  MergeParts& parts_;
  std::vector<MergedInput> pairs_;
  std::vector<Shapes> shapes_;  // by pair
  // By position in the merged graph, of nodes that pairs name and of readers: one may have as many tensors as
  // there are pairs.
  std::unordered_map<size_t, Types> output_types_, input_types_;
  std::unordered_map<size_t, std::vector<Shape>> shapes_of_nodes_;
  std::map<size_t, InferredShapes> inferred_;  // by part
  mutable std::vector<NodeSet> stale_;         // by part; made when it is first asked for
};

}  // namespace gedit
