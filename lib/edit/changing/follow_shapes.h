// `gedit set --shape --follow`: what the file says of shapes downstream becomes what follows from the new
// ones:
// `_output_shapes` and `output_shapes`, signatures, arguments of functions, the object graph
// (docs/rules.md#set-follow).
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "edit/changing/follow_constants.h"
#include "edit/changing/setting.h"
#include "edit/objects/shapes.h"
#include "shape/infer.h"

namespace gedit {

class ShapeFollowing {
 public:
  // Looks at the graph as it is before anything changes. The setting outlives it.
  explicit ShapeFollowing(Setting& setting);

  void add(NewShape shape) { shapes_.push_back(std::move(shape)); }
  const std::vector<NewShape>& shapes() const { return shapes_; }

  // Once all nodes have their new shapes; `rebake`: constants that hold a size that is gone change. Throws
  // Error (kRefused) where these contradict what the graph computes, and did not before.
  void finish(bool rebake);

 private:
  void find_downstream();
  void find_functions();
  void strip_nodes();
  void strip_library();
  void write_nodes(Inference& now);
  void write_signatures(Inference& now);
  void write_functions(Inference& now);
  void refuse_contradictions(const Inference& now, bool could_mend) const;
  void warn_of_fixed_sizes();

  Setting& setting_;
  Inference before_;
  std::vector<NewShape> shapes_;
  NodeSet downstream_, affected_;  // affected: downstream, and the nodes of the shapes themselves
  std::unordered_map<uint32_t, std::string_view> stripped_;  // by node: as it was
  std::set<std::string, std::less<>> functions_;             // that nodes downstream call
};

}  // namespace gedit
