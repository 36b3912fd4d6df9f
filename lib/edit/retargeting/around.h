// What a graph says around its nodes of the TensorFlow that wrote it, and what names its tensors.
#pragma once

#include <set>
#include <string>

#include "edit/retargeting/graph_pass.h"
#include "graph/alike.h"
#include "model/model.h"
#include "ops/history.h"

namespace gedit {

// All nodes and tensors of the main graph that signatures, collections, savers and assets name, as they write
// them.
std::set<std::string, std::less<>> named_around(const MetaGraph& meta);

// versions.producer becomes the release's where it is above it; tensorflow_version the release's name; and
// stripped_op_list, where there is one, what the release says of the ops that are in the graph and its
// functions.
void set_release(MetaGraph& meta, ReleaseNumber release);

bool has_output_shapes(std::string_view node_def);  // `_output_shapes`
std::string without_output_shapes(std::string_view node_def);
// Nodes of one graph without them, for one thread: of nodes that are alike their place is found once.
class WithoutOutputShapes {
 public:
  explicit WithoutOutputShapes(const Graph& graph) : graph_(graph), alike_(graph) {}
  // Appends the record of what is left of the node; nothing, and false, where it has none.
  bool append(NodeId id, std::string& records);

 private:
  struct Place {
    size_t to_end = 0, size = 0;  // from where they stand to the end of the node; 0: it has none
    bool several = false;
  };
  static Place place_of(std::string_view node_def);

  const Graph& graph_;
  AlikeAttrs<Place> alike_;
};
// Drops them from these nodes, of which some may be gone, on all cores: the number of those that had them.
uint64_t drop_output_shapes(Graph& graph, const std::vector<NodeId>& nodes);

// Notes and warnings for the user.
void describe_tally(const RetargetTally& tally, const Release& release, std::vector<std::string>& notes,
                    std::vector<std::string>& warnings);

}  // namespace gedit
