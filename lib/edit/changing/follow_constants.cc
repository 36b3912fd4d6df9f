#include "edit/changing/follow_constants.h"

#include <algorithm>
#include <map>

#include "base/error.h"
#include "edit/basis/addresses.h"
#include "edit/changing/rebake.h"

namespace gedit {

template <typename Use>
void FollowedConstants::each_place(Inference& now, Use use) {
  use(BakedPlace{setting_.graph(), setting_.names(""), setting_.consumers(""), before_.main(), now.main()},
      setting_.graph(), std::string());
  for (const std::string& name : functions_) {
    const GraphShapes* was = before_.function(name);
    const GraphShapes* is = now.function(name);
    if (was == nullptr || is == nullptr) continue;
    Graph& body = find_function(setting_.selecting.library(), name).body;
    body.decode();
    use(BakedPlace{body, setting_.names(name), setting_.consumers(name), *was, *is}, body, name);
  }
}

// Whether an entry that changes may stand for more than the one size that it was: another size than that was
// changed, and a 1 is beside it, which does not grow: height and width of an image that was one pixel.
bool FollowedConstants::may_hold_more(const std::vector<int64_t>& numbers,
                                      const std::vector<BakedEntry>& entries) const {
  const auto is_one = [&](size_t i) { return i < numbers.size() && numbers[i] == 1; };
  const auto changes = [&](size_t i) {
    return std::ranges::any_of(entries, [&](const BakedEntry& one) { return one.element == i; });
  };
  return std::ranges::any_of(entries, [&](const BakedEntry& entry) {
    const size_t i = entry.element;
    const bool beside = (i > 0 && is_one(i - 1) && !changes(i - 1)) || (is_one(i + 1) && !changes(i + 1));
    return beside && std::ranges::any_of(shapes_, [&](const NewShape& shape) {
             for (size_t k = 0; shape.before && k < shape.before->size(); ++k) {
               const int64_t now = shape.now && k < shape.now->size() ? (*shape.now)[k] : -1;
               if (now != (*shape.before)[k] && (*shape.before)[k] != entry.old) return true;
             }
             return false;
           });
  });
}

void FollowedConstants::find(BakedPlace place, Graph& graph, const std::string& function, bool rebake) {
  std::map<NodeId, std::vector<BakedEntry>> constants;
  for (const BakedEntry& entry : baked_sizes(place)) constants[entry.constant].push_back(entry);
  for (const auto& [constant, entries] : constants) {
    if (std::none_of(entries.begin(), entries.end(), [](const BakedEntry& one) { return one.mends; }))
      continue;
    const std::string name =
        "'" + printable(address(function, graph.name(constant))) + "' = " + sizes_text(graph.bytes(constant));
    auto made = rebaked(place, constant, entries);
    if (function.empty()) named_.insert(constant);
    if (made && rebake) {
      const bool follows = std::all_of(entries.begin(), entries.end(),
                                       [](const BakedEntry& one) { return one.now == -1 || !one.mends; });
      setting_.changes.notes.push_back(name + " becomes " + sizes_text(*made));
      if (may_hold_more(const_sizes(graph.bytes(constant)).numbers, entries)) {
        setting_.changes.warnings.push_back(name +
                                            ": its dimensions of 1 stay; what else grows is counted where " +
                                            std::to_string(entries.front().old) + " was");
      }
      edits_.push_back({&graph, constant, function, std::move(*made), follows});
    } else if (made) {
      could_mend_ = any_named_ = true;
      setting_.changes.warnings.push_back(name + " holds an old size; hint: --rebake makes it " +
                                          sizes_text(*made));
    } else {
      any_named_ = true;
      setting_.changes.warnings.push_back(name + " holds an old size of '" +
                                          printable(setting_.graph().name(shapes_.front().node)) + "'");
    }
  }
}

void FollowedConstants::apply(const Edit& edit) {
  setting_.say(edit.function, edit.graph->name(edit.constant),
               sizes_text(edit.graph->bytes(edit.constant)) + " -> " + sizes_text(edit.node_def));
  setting_.replace(*edit.graph, edit.constant, edit.node_def);
}

// With the shapes that were in the place of the new ones.
std::unique_ptr<Inference> FollowedConstants::as_before() const {
  InferRequest request;
  for (const NewShape& shape : shapes_) request.inputs.push_back({shape.node, 0, shape.before});
  return std::make_unique<Inference>(setting_.graph(), setting_.ops, request);
}

void FollowedConstants::check(Inference& old) {
  const auto now = as_before();
  const auto compare = [&](const Graph& graph, const GraphShapes& a, const GraphShapes& b,
                           const std::string& function) {
    for (uint32_t i = 0; i < graph.size(); ++i) {
      const NodeId id{i};
      for (uint32_t k = 0; !graph.removed(id) && k < a.outputs(id); ++k) {
        if (a.shape(id, k) == b.shape(id, k)) continue;
        throw refused("with --rebake the old shape would no longer give " +
                      (a.shape(id, k) ? shape_text(a.shape(id, k)) : "[*]"))
            .of(quoted("node", address(function, graph.name(id))));
      }
    }
  };
  compare(setting_.graph(), old.main(), now->main(), "");
  for (const std::string& name : functions_) {
    const GraphShapes* a = old.function(name);
    const GraphShapes* b = now->function(name);
    if (a != nullptr && b != nullptr)
      compare(find_function(setting_.selecting.library(), name).body, *a, *b, name);
  }
}

std::vector<ShapeContradiction> FollowedConstants::fresh_contradictions(const Inference& now) const {
  std::set<std::pair<std::string, std::string>> known;
  for (const ShapeContradiction& found : before_.contradictions()) known.emplace(found.function, found.node);
  std::vector<ShapeContradiction> fresh;
  for (const ShapeContradiction& found : now.contradictions()) {
    if (!known.contains({found.function, found.node})) fresh.push_back(found);
  }
  return fresh;
}

// Sizes of Fill, ResizeBilinear and others: what they are of does not say what they have to be. They are
// changed where something contradicts them and nothing does afterwards.
void FollowedConstants::name_others(Inference& now, bool rebake, std::unique_ptr<Inference>& result) {
  Graph& graph = setting_.graph();
  const BakedPlace place{graph, setting_.names(""), setting_.consumers(""), before_.main(), now.main()};
  NodeSet contradictory(graph.size());
  const auto fresh = fresh_contradictions(now);
  for (const ShapeContradiction& found : fresh) {
    const NodeId id = found.function.empty() ? setting_.names("").find(found.node) : kNoNode;
    if (id != kNoNode) contradictory.add(id);
  }
  const NodeSet blamed = reach(contradictory, setting_.selecting.producers(), kAnyDistance);
  std::map<NodeId, std::string> changed;
  std::map<NodeId, OldSize> named;
  for (const NewShape& shape : shapes_) {
    const auto take = [&](const std::vector<OldSize>& sizes, bool in_the_way) {
      for (const OldSize& old : sizes) {
        // Those of Reshapes alone were looked at one by one.
        if (named_.contains(old.constant) || reshapes_of(place, old.constant)) continue;
        named.emplace(old.constant, old);
        const int64_t size =
            shape.now && old.dimension < shape.now->size() ? (*shape.now)[old.dimension] : -1;
        if (!in_the_way || size < 0 ||
            !only_a_size(graph, setting_.names(""), setting_.consumers(""), setting_.ops, old.constant))
          continue;
        const std::string_view node_def = graph.bytes(old.constant);
        ConstSizes numbers = const_sizes(node_def);
        for (size_t i = 0; i < numbers.numbers.size(); ++i) {
          if (numbers.numbers[i] == old.size && (old.size > 1 || i == old.dimension))
            numbers.numbers[i] = size;
        }
        changed.emplace(old.constant, with_sizes(node_def, numbers.numbers));
      }
    };
    take(old_sizes_of(graph, setting_.names(""), blamed, setting_.ops, shape.before, shape.now), true);
    take(old_sizes(graph, setting_.names(""), setting_.consumers(""), setting_.ops, shape.node, shape.before,
                   shape.now),
         false);
  }
  if (rebake && !changed.empty()) {
    std::map<NodeId, std::string> were;
    for (const auto& [id, node_def] : changed) {
      were.emplace(id, graph.bytes(id));
      graph.replace(id, node_def);
    }
    auto mended = std::make_unique<Inference>(graph, setting_.ops);
    const bool better = fresh_contradictions(*mended).empty();
    for (const auto& [id, node_def] : were) graph.replace(id, node_def);
    if (better) {
      for (const auto& [id, node_def] : changed) {
        setting_.changes.notes.push_back("'" + printable(graph.name(id)) + "' = " +
                                         sizes_text(graph.bytes(id)) + " becomes " + sizes_text(node_def));
        named.erase(id);
        apply({&graph, id, "", node_def, false});
      }
      result = std::move(mended);
    }
  } else if (!changed.empty()) {
    could_mend_ = true;
  }
  for (const auto& [id, old] : named) {
    setting_.changes.warnings.push_back(
        "'" + printable(graph.name(id)) + "' = " + sizes_text(graph.bytes(id)) + " holds " +
        std::to_string(old.size) + ", the old size of dimension " + std::to_string(old.dimension));
  }
}

void FollowedConstants::look(std::unique_ptr<Inference>& now, bool rebake) {
  each_place(*now, [&](const BakedPlace& place, Graph& graph, const std::string& function) {
    find(place, graph, function, rebake);
  });
  if (!edits_.empty()) {
    const auto old = as_before();
    for (const bool follows : {true, false}) {
      for (const Edit& edit : edits_) {
        if (edit.follows == follows) apply(edit);
      }
      strip_();
      if (follows) check(*old);
    }
    now = std::make_unique<Inference>(setting_.graph(), setting_.ops);
  }
  name_others(*now, rebake, now);
}

}  // namespace gedit
