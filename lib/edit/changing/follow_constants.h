// Constants while shapes follow: those that hold a size that is gone, named or changed
// (docs/rules.md#set-baked-constants).
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "edit/changing/baked_sizes.h"
#include "edit/changing/setting.h"
#include "edit/changing/stale_sizes.h"
#include "shape/infer.h"

namespace gedit {

// A tensor of the main graph that gets another shape.
struct NewShape {
  NodeId node;
  Shape before, now;
};

class FollowedConstants {
 public:
  using Functions = std::set<std::string, std::less<>>;
  // `functions` are those that nodes downstream call; `strip` takes what the file says of their shapes out of
  // the graph once more after their nodes changed.
  FollowedConstants(Setting& setting, Inference& before, const std::vector<NewShape>& shapes,
                    const Functions& functions, std::function<void()> strip)
      : setting_(setting),
        before_(before),
        shapes_(shapes),
        functions_(functions),
        strip_(std::move(strip)) {}

  // Finds them, and with `rebake` changes what can be: `now` is what holds then. Throws Error (kRefused)
  // where the changed graph would give other shapes than before for the shape that it had.
  void look(std::unique_ptr<Inference>& now, bool rebake);
  // Whether a constant was named; and one that --rebake would change.
  bool named() const { return any_named_; }
  bool could_mend() const { return could_mend_; }

 private:
  struct Edit {
    Graph* graph;
    NodeId constant;
    std::string function, node_def;
    bool follows;  // holds for the old shape, too
  };

  template <typename Use>
  void each_place(Inference& now, Use use);
  void find(BakedPlace place, Graph& graph, const std::string& function, bool rebake);
  bool may_hold_more(const std::vector<int64_t>& numbers, const std::vector<BakedEntry>& entries) const;
  void apply(const Edit& edit);
  void check(Inference& old);
  std::unique_ptr<Inference> as_before() const;
  void name_others(Inference& now, bool rebake, std::unique_ptr<Inference>& result);
  std::vector<ShapeContradiction> fresh_contradictions(const Inference& now) const;

  Setting& setting_;
  Inference& before_;
  const std::vector<NewShape>& shapes_;
  const Functions& functions_;
  std::function<void()> strip_;
  std::vector<Edit> edits_;
  std::set<NodeId> named_;  // of the main graph: named or to be changed
  bool could_mend_ = false, any_named_ = false;
};

}  // namespace gedit
