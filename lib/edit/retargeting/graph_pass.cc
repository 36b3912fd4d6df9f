#include "edit/retargeting/graph_pass.h"

#include <algorithm>
#include <span>

#include "base/map_entry.h"
#include "base/parallel.h"
#include "base/size.h"
#include "edit/retargeting/around.h"
#include "edit/retargeting/replacements.h"
#include "graph/alike.h"
#include "graph/equal.h"
#include "graph/index.h"
#include "graph/node.h"
#include "graph/types.h"
#include "ops/kinds.h"
#include "select/tensors.h"

namespace gedit {
namespace {

constexpr int kMostReplacements = 8;  // replacements and attributes of one node; V5 to V3 are four

constexpr std::string_view kIdenticalShapes = "identical_element_shapes";

// Attributes that change how a graph runs and not what it gives (docs/rules.md#retarget-attributes).
constexpr std::string_view kHints[] = {"config",
                                       "config_proto",
                                       "debug_name",
                                       "executor_type",
                                       "grad_a",
                                       "grad_b",
                                       "grad_x",
                                       "grad_y",
                                       "metadata",
                                       kIdenticalShapes,
                                       "parallel_iterations",
                                       "use_default_device",
                                       "use_inter_op_parallelism",
                                       "validate_shape"};

// Of an AssignVariableOp validate_shape refuses another shape, as who builds a graph does where it is known.
bool is_hint(std::string_view op, std::string_view key) {
  constexpr OpKinds kFunctional = OpKinds(OpKind::kIf) | OpKind::kWhile | OpKind::kCase;
  if (key == "output_shapes") return kinds_of(op).has_any(kFunctional);
  return std::find(std::begin(kHints), std::end(kHints), key) != std::end(kHints);
}

// What an array gives of elements that nobody wrote are zeros of that shape, else of that of the others where
// all are said to be identical (tensor_array.h, LockedRead).
bool knows_element_shape(std::string_view node_def) {
  const auto value = find_attr(node_def, "element_shape");
  const Shape shape = value ? parse_shape_proto(last_bytes(*value, attr_field::kShape)) : Shape();
  return shape && std::ranges::all_of(*shape, [](int64_t size) { return size >= 0; });
}

// Of arguments that are no lists.
size_t least_inputs(std::span<const OpEra> eras) {
  size_t least = eras.empty() ? 0 : SIZE_MAX;
  for (const OpEra& era : eras) {
    const auto single = [](const ArgDef& arg) {
      return arg.number_attr.empty() && arg.type_list_attr.empty();
    };
    least = std::min(least, static_cast<size_t>(std::ranges::count_if(era.op.inputs, single)));
  }
  return least;
}

std::string with_written_attr(std::string_view node_def, std::string_view key, std::string_view value) {
  std::string node(node_def);
  append_map_entry(node, node_field::kAttr, key, value);
  return node;
}

std::string joined(std::string_view op, std::string_view key) {
  return std::string(op).append(".").append(key);
}

bool is_int64(std::string_view node_def, std::string_view key) {
  return type_attr(node_def, key) == DType::kInt64;
}

}  // namespace

const GraphPass::OpPlan& GraphPass::plan(std::string_view op) {
  const auto found = plans_.find(op);
  if (found != plans_.end()) return found->second;
  OpPlan plan;
  const OpFit* fit = fit_.op(op);
  plan.known = fit != nullptr || fit_.is_function(op) || !ops_.find(op).empty();
  const OpEra* was = fit_.history().era(op, fit_.reference());
  const OpEra* is = fit_.history().era(op, release_);
  plan.least_inputs = least_inputs(fit_.history().eras(op));
  plan.replacement = replacement_of(op);
  if (is != nullptr && plan.replacement != nullptr && !plan.replacement->attr.empty()) {
    const std::string_view attr = plan.replacement->attr;
    const bool lacks = is->op.find_attr(attr) == nullptr;
    plan.differs = lacks && was != nullptr && was->op.find_attr(attr) != nullptr;
    if (!lacks) plan.replacement = nullptr;
  }
  if (fit != nullptr && writer_known_) {
    if (was != nullptr && is != nullptr && was != is) {
      for (const AttrDef& attr : was->op.attrs) {
        const AttrDef* now = is->op.find_attr(attr.name);
        if (now != nullptr && attr.has_default && now->has_default &&
            !same_attr_value(attr.default_value, now->default_value))
          plan.defaults.emplace_back(attr.name, attr.default_value);
      }
    }
  }
  plan.shaped = want_all_shaped || kinds_of(op).has(OpKind::kShapedOtherwise);
  plan.ranked = fit != nullptr && fit->ranks != nullptr;
  if (is != nullptr) {
    plan.limits = limits_of(op, release_, fit_.reference());
    plan.spoiling = spoiling_of(op, release_);
  }
  if (plan.defaults.empty() && !plan.differs && plan.limits.empty() && plan.spoiling.empty())
    plan.plain = fit_.plain_of(op, release_);
  return plans_.emplace(op, std::move(plan)).first->second;
}

std::string_view GraphPass::default_of(std::string_view op, std::string_view key) const {
  // Of the release that brought the attribute: its default is what all before did.
  const OpEra* brought = nullptr;
  for (const OpEra& era : fit_.history().eras(op)) {  // the newest first
    const AttrDef* attr = era.op.find_attr(key);
    if (attr == nullptr || !attr->has_default) continue;
    if (brought == nullptr || era.first > release_) brought = &era;
  }
  return brought != nullptr ? brought->op.find_attr(key)->default_value : std::string_view();
}

std::string GraphPass::lacking_inputs(const Site& site) {
  const size_t least = plan(site.op).least_inputs;
  if (site.inputs.size() >= least) return {};
  return "it has " + counted(site.inputs.size(), "input") + " of " + std::to_string(least);
}

std::vector<std::string> GraphPass::limit(Rewriting& in, std::string& node_def, const OpPlan& planned) {
  std::vector<std::string> met;
  for (const LimitRow* row : planned.limits) {
    Site site(in, node_def);
    if (!lacking_inputs(site).empty()) break;
    std::string why;
    if (!row->cast.empty()) {
      if (!is_int64(node_def, row->cast) || !cast_indices(site, row->cast, true).empty()) continue;
      ++tally_.casts;
    } else if (row->limit != nullptr) {
      why = row->limit(site);
      if (why.empty() && site.result().empty()) continue;
    }
    const std::string they = std::string(row->op).append(" ").append(row->they);
    if (!site.result().empty()) {
      node_def = site.result();
      if (!row->they.empty()) tally_.notes.insert(they);
      continue;
    }
    met.push_back(they + " before " + std::string(row->since) + (why.empty() ? "" : ", and " + why));
  }
  for (const SpoilingRow* row : planned.spoiling) {
    if ((row->in_bodies && !in.graph().is_body()) || !find_attr(node_def, row->key)) continue;
    node_def = without_attr(node_def, row->key);
    count(tally_.hints, joined(row->op, row->key));
  }
  return met;
}

bool GraphPass::mend(std::string& node_def, const Obstacle& obstacle) {
  const std::string op(node_op(node_def));
  if (obstacle.is == Obstacle::Is::kMissing) {
    const OpEra* was = fit_.history().era(op, fit_.reference());
    const AttrDef* attr = was != nullptr ? was->op.find_attr(obstacle.key) : nullptr;
    if (attr == nullptr || !attr->has_default) return false;
    node_def = with_written_attr(node_def, obstacle.key, attr->default_value);
    count(tally_.written, joined(op, obstacle.key));
    return true;
  }
  if (obstacle.is != Obstacle::Is::kAttr) return false;
  const auto value = find_attr(node_def, obstacle.key);
  const std::string_view otherwise = default_of(op, obstacle.key);
  const std::string_view before = value_before(op, obstacle.key);
  if (value && ((otherwise.data() != nullptr && same_attr_value(*value, otherwise)) ||
                (!before.empty() && same_attr_value(*value, before)))) {
    count(tally_.dropped, joined(op, obstacle.key));
  } else if (is_hint(op, obstacle.key)) {
    count(tally_.hints, joined(op, obstacle.key));
    if (obstacle.key == kIdenticalShapes && !knows_element_shape(node_def)) {
      if (tally_.arrays == 0) tally_.first_array = node_name(node_def);
      count(tally_.arrays);
    }
  } else {
    return false;
  }
  node_def = without_attr(node_def, obstacle.key);
  return true;
}

bool GraphPass::replace(Rewriting& in, std::string& node_def, const std::vector<Obstacle>& left,
                        bool& removed, std::string& why) {
  Site site(in, node_def);
  std::vector<std::string> notes;
  why.clear();
  const ReplacementRow* replacement = plan(site.op).replacement;
  if (replacement != nullptr && replacement->replace == nullptr) {
    if (fit_.of_values(with_op(node_def, replacement->renamed)) == 0) {
      why = std::string(replacement->renamed).append(" takes it in no release");
    } else {
      site.rename_op(replacement->renamed, {});
    }
  } else if (replacement != nullptr) {
    why = lacking_inputs(site);
    if (why.empty()) why = replacement->replace(site, notes);
  }
  if (replacement == nullptr || !why.empty()) {
    if (left.empty()) return false;
    // An index that is int64 and may be int32.
    const Obstacle& first = left.front();
    const bool value = first.is == Obstacle::Is::kValue;
    if ((!value && first.is != Obstacle::Is::kAttr) || !is_int64(node_def, first.key)) return false;
    if (!value) {
      const std::string_view otherwise = default_of(site.op, first.key);
      if (last_varint(otherwise, attr_field::kType) != static_cast<uint64_t>(DType::kInt32)) return false;
    }
    why = cast_indices(site, first.key, value);
    if (!why.empty()) return false;
    ++tally_.casts;
  } else if (site.removed()) {
    ++tally_.removed[std::string(site.op)];
  } else if (node_op(site.result()) == site.op && Site(in, site.result()).inputs != site.inputs) {
    count(tally_.replaced, std::string(site.op).append(" -> ").append(site.op).append(" of other inputs"));
  }
  for (std::string& note : notes) tally_.notes.insert(std::move(note));
  removed = site.removed();
  node_def = site.result();
  return true;
}

void GraphPass::count(RetargetTally::Counts& counts, std::string what) { count(counts[std::move(what)]); }

void GraphPass::count(uint64_t& number) {
  ++number;
  counted_.push_back(&number);
}

void GraphPass::tell(std::string_view function, std::string_view name, std::string_view before,
                     std::string_view now) {
  tally_.changed.emplace_back(address(function, name), now != before
                                                           ? std::string(before).append(" -> ").append(now)
                                                           : std::string("attributes"));
}

std::shared_ptr<const Became> GraphPass::became(const Graph& graph, NodeId id, std::string_view node_def,
                                                bool shaped) const {
  const std::string_view before = graph.bytes(id), attrs = like_of(before).attrs;
  if (attrs.empty()) return nullptr;
  const std::string_view op = graph.op(id), now = node_op(node_def);
  const std::string_view front = before.substr(0, before.size() - attrs.size());
  const std::string front_now = now == op ? std::string(front) : with_op(front, now);
  if (!node_def.starts_with(front_now)) return nullptr;
  std::string op_now;
  if (now != op) append_bytes_field(op_now, node_field::kOp, now);
  Became became{.changed = node_def != before,
                .op = std::move(op_now),
                .attrs = std::string(node_def.substr(front_now.size())),
                .counts = counted_};
  // What changes loses them at once: see retarget().
  if (became.changed && shaped && has_output_shapes(became.attrs)) {
    became.attrs = without_output_shapes(became.attrs);
    became.counts.push_back(&tally_.shapes);
  }
  return std::make_shared<const Became>(std::move(became));
}

std::shared_ptr<const Became> GraphPass::retarget(Rewriting& in, NodeId id, std::string_view function,
                                                  bool added) {
  Graph& graph = in.graph();
  counted_.clear();
  std::string node_def(graph.bytes(id));
  const std::string before = node_def, op(node_op(node_def)), name(node_name(node_def));
  const OpPlan& planned = plan(node_op(graph.bytes(id)));
  for (const auto& [key, value] : planned.defaults) {
    if (find_attr(node_def, key)) continue;
    node_def = with_written_attr(node_def, key, value);
    count(tally_.written, joined(op, key));
  }
  const std::string subject = address(function, name);
  const auto tell_limits = [&](const OpPlan& of) {
    for (std::string& met : limit(in, node_def, of))
      tally_.obstacles.push_back({"tf", subject, std::move(met)});
  };
  tell_limits(planned);
  std::string why;
  std::vector<Obstacle> left;
  bool removed = false, replaced = added;  // what is added is what the release takes it for
  // Op and attributes alone tell what becomes of it.
  bool by_attrs = !added && !planned.ranked && planned.limits.empty();
  for (int step = 0; step < kMostReplacements && !removed; ++step) {
    left = fit_.obstacles(node_def, release_);
    bool mended = false;
    std::erase_if(left, [&](const Obstacle& obstacle) {
      if (obstacle.is == Obstacle::Is::kContrib) {
        count(tally_.contrib, std::string(node_op(node_def)));
        return true;
      }
      const bool done = mend(node_def, obstacle);
      mended = mended || done;
      return done;
    });
    if (mended) continue;
    if (left.empty() && (replaced || !plan(node_op(node_def)).differs)) break;
    const ReplacementRow* row = plan(node_op(node_def)).replacement;
    by_attrs = by_attrs && row != nullptr && row->replace == nullptr && !graph.is_body();
    if (!replace(in, node_def, left, removed, why)) break;
    replaced = true;
    left.clear();
  }
  std::string now(removed ? std::string_view() : node_op(node_def));
  if (!removed && now != op) {
    // What stands in has limits of its own.
    const OpPlan& of_now = plan(now);
    by_attrs = by_attrs && of_now.limits.empty();
    tell_limits(of_now);
    now = node_op(node_def);
  }
  for (const Obstacle& obstacle : left) {
    std::string message = obstacle.message;
    if (now != op) message.append(", which stands in for ").append(op);
    if (!why.empty()) message.append(", and ").append(why);
    tally_.obstacles.push_back({"tf", subject, std::move(message)});
  }
  if (removed) {
    if (want_changes) tally_.changed.emplace_back(name, op + " dropped");
    return nullptr;
  }
  if (now != op) count(tally_.replaced, std::string(op).append(" -> ").append(now));
  std::shared_ptr<const Became> same =
      by_attrs && left.empty() ? became(graph, id, node_def, planned.shaped) : nullptr;
  if (node_def == before) return same;
  if (want_changes) tell(function, name, op, now);
  graph.replace(id, node_def);
  return same;
}

void GraphPass::write_defaults(Graph& body) {
  for (uint32_t i = 0; i < body.size(); ++i) {
    const NodeId id{i};
    const OpEra* era = body.removed(id) ? nullptr : fit_.history().era(body.op(id), release_);
    if (era == nullptr) continue;
    std::string node_def(body.bytes(id));
    const uint64_t before = tally_.filled;
    for (const AttrDef& attr : era->op.attrs) {
      if (!attr.has_default || find_attr(node_def, attr.name)) continue;
      node_def = with_written_attr(node_def, attr.name, attr.default_value);
      ++tally_.filled;
    }
    if (tally_.filled != before) body.replace(id, node_def);
  }
}

std::shared_ptr<Repeats> GraphPass::to_look_at(const Graph& graph) {
  Plans plans{*this};
  const OpsOf<Plans> planned(graph, plans);
  struct Known {
    size_t data_inputs = 0;
    uint32_t group = Repeats::Piece::kNone;
  };
  auto repeats = std::make_shared<Repeats>();
  repeats->pieces = made_in_pieces(graph.size(), [&](PieceRange nodes) {
    Repeats::Piece piece;
    AlikeAttrs<Known> alike(graph);
    for (uint32_t i = nodes.begin; i < nodes.end; ++i) {
      const NodeId id{i};
      if (graph.removed(id)) continue;
      const OpPlan& op = planned.of(id);
      const ReleaseFit::Plain plain = op.plain;
      const bool all = plain == ReleaseFit::Plain::kAll, shaped = op.shaped;
      if (all && !shaped) continue;
      const std::string_view node_def = graph.bytes(id);
      NodeLike like = like_of(node_def);
      // Of what stands elsewhere than usual, each node is looked at by itself.
      if (!graph.inputs_lead() && !fields_ascend(node_def)) like.attrs = {};
      const Known* known = alike.find(id, like.attrs);
      if (known != nullptr && known->data_inputs == like.data_inputs) {
        if (known->group != Repeats::Piece::kNone) piece.put(i - nodes.begin, known->group);
        continue;
      }
      AlikeNodes group{.attrs = static_cast<uint32_t>(like.attrs.size())};
      group.stay = all || (plain == ReleaseFit::Plain::kByTypes && fit_.knows_types(node_def, release_));
      if (shaped) group.shapes = shapes_in(node_def);
      uint32_t at = Repeats::Piece::kNone;
      if (!group.stay || group.shapes.size > 0) {
        at = static_cast<uint32_t>(piece.groups.size());
        piece.groups.push_back(std::move(group));
        piece.put(i - nodes.begin, at);
      }
      alike.keep(id, like.attrs, {like.data_inputs, at});
    }
    return piece;
  });
  return repeats;
}

std::shared_ptr<Repeats> GraphPass::run(Graph& graph, std::string_view function,
                                        const std::set<std::string, std::less<>>* named_outside,
                                        ShapesOfGraph shapes) {
  graph.decode();
  Rewriting in(graph, ops_, named_outside, std::move(shapes), [&](std::string_view op) {
    const OpFit* fit = fit_.op(op);
    return fit == nullptr || (fit->known & release_bit(release_)) != 0;
  });
  fit_.set_ranks([&](std::string_view node_def) -> std::optional<size_t> {
    std::string_view first;
    each_input(node_def, [&](std::string_view input) {
      if (first.empty() && !input.starts_with('^')) first = input;
    });
    const Shape shape = first.empty() ? Shape() : in.shape(first).shape;
    return shape ? std::optional<size_t>(shape->size()) : std::nullopt;
  });
  for (const auto& [op, nodes] : graph.op_counts()) {
    if (!plan(op).known) tally_.unknown[std::string(op)] += nodes;
  }
  std::shared_ptr<Repeats> repeats = to_look_at(graph);
  const uint32_t count = graph.size();
  for (size_t number = 0; number < repeats->pieces.size(); ++number) {
    Repeats::Piece& piece = repeats->pieces[number];
    const auto [begin, end] = piece_range(number, count);
    for (uint32_t i = begin; i < end && !piece.empty(); ++i) {
      if (until_obstacle && !tally_.obstacles.empty()) break;
      const NodeId id{i};
      const uint32_t at = piece.at(i - begin);
      if (at == Repeats::Piece::kNone || piece.groups[at].stay) continue;
      AlikeNodes& group = piece.groups[at];
      if (const Became* became = group.became.get()) {
        ++group.times;
        if (became->changed && want_changes) {
          const std::string_view op = graph.op(id);
          tell(function, graph.name(id), op, became->op.empty() ? op : node_op(became->op));
        }
        continue;
      }
      std::shared_ptr<const Became> became = retarget(in, id, function, false);
      piece.put(i - begin, Repeats::Piece::kNone);
      if (group.shapes.size > 0) repeats->alone.push_back(id);
      if (group.looked_at == kNoNode) {
        group.looked_at = id;
        group.became = std::move(became);
      }
      // What a replacement adds may need one itself.
      for (std::vector<NodeId> added = in.take_added(); !added.empty(); added = in.take_added()) {
        for (const NodeId more : added) {
          if (!fit_.plain(graph.bytes(more), release_)) retarget(in, more, function, true);
        }
      }
    }
  }
  repeats->count();
  fit_.set_ranks(nullptr);
  in.finish();
  return repeats;
}

}  // namespace gedit
