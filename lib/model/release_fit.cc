#include "model/release_fit.h"

#include <algorithm>
#include <map>
#include <utility>

#include "graph/alike.h"
#include "graph/equal.h"
#include "graph/index.h"
#include "graph/library.h"
#include "graph/listing.h"

namespace gedit {
namespace {

// The dtypes that came after 1.0 (tensorflow/core/framework/types.proto).
struct TypeRow {
  int32_t first, last;
  std::string_view release;
};
constexpr TypeRow kTypeRows[] = {{21, 21, "1.4"},  {22, 23, "1.5"},  {24, 25, "2.12"},
                                 {29, 30, "2.13"}, {26, 28, "2.21"}, {31, 63, "2.21"}};

// Ops that take tensors of other ranks from a release on, which their OpDefs do not tell: imported there and
// before.
constexpr std::pair<std::string_view, std::string_view> kOtherRanks[] = {{"BoostedTreesBucketize", "1.13"}};

constexpr RankRow kRankRows[] = {{"BiasAdd", "data_format", "NCHW", 4, "1.13"},
                                 {"BiasAddGrad", "data_format", "NCHW", 4, "1.14"}};

// Whether the row is about this node.
bool speaks_of(const RankRow& row, std::string_view node_def) {
  return string_attr(node_def, row.key) == row.value;
}

// The releases in which the op takes tensors of the same ranks as in `reference`.
Releases with_same_ranks(std::string_view op, ReleaseNumber reference, const OpHistory& history) {
  for (const auto& [name, since] : kOtherRanks) {
    const auto first = name == op ? history.find(since) : std::nullopt;
    if (!first) continue;
    const Releases older = release_bit(*first) - 1;
    return reference < *first ? older : ~older;
  }
  return history.all();
}

// Calls use(DType) for the types in an AttrValue, one or a list.
template <typename Use>
void each_type(std::string_view attr_value, Use use) {
  for (Fields fields(attr_value); fields.next();) {
    if (fields->number == attr_field::kType && fields->wire == Wire::kVarint)
      use(static_cast<DType>(fields->varint));
    if (!fields->bytes(attr_field::kList)) continue;
    for (Fields list(fields->value); list.next();) {
      if (list->number == attr_field::kType)
        each_varint(list.field(), [&](uint64_t type) { use(static_cast<DType>(type)); });
    }
  }
}

AttrLimits limits_of(const AttrDef& attr) {
  AttrLimits limits;
  each_type(attr.allowed_values, [&](DType type) { limits.types.push_back(type); });
  std::sort(limits.types.begin(), limits.types.end());
  for (Fields list(last_bytes(attr.allowed_values, attr_field::kList)); list.next();) {
    if (list->bytes(attr_field::kString)) limits.strings.push_back(list->value);
  }
  std::sort(limits.strings.begin(), limits.strings.end());
  limits.has_minimum = attr.has_minimum;
  limits.minimum = attr.minimum;
  return limits;
}

bool same_limits(const AttrLimits& a, const AttrLimits& b) {
  return a.types == b.types && a.strings == b.strings && a.has_minimum == b.has_minimum &&
         a.minimum == b.minimum;
}

size_t list_length(std::string_view list) {
  size_t count = 0;
  for (Fields fields(list); fields.next();) {
    if (fields->number == attr_field::kType || fields->number == attr_field::kInt) {
      each_varint(fields.field(), [&](uint64_t) { ++count; });
    } else if (fields->number == attr_field::kFloat && fields->wire == Wire::kBytes) {
      count += fields->value.size() / 4;
    } else if (fields->number == attr_field::kBool && fields->wire == Wire::kBytes) {
      count += fields->value.size();
    } else {
      ++count;
    }
  }
  return count;
}

bool within(const AttrLimits& limits, std::string_view value) {
  bool fits = true;
  if (!limits.types.empty()) {
    each_type(value, [&](DType type) {
      fits = fits && std::binary_search(limits.types.begin(), limits.types.end(), type);
    });
  }
  for (Fields fields(value); fields.next();) {
    const auto string = [&](std::string_view text) {
      fits = fits && (limits.strings.empty() ||
                      std::binary_search(limits.strings.begin(), limits.strings.end(), text));
    };
    if (fields->bytes(attr_field::kString)) string(fields->value);
    if (fields->number == attr_field::kInt && limits.has_minimum)
      fits = fits && static_cast<int64_t>(fields->varint) >= limits.minimum;
    if (!fields->bytes(attr_field::kList)) continue;
    for (Fields list(fields->value); list.next();) {
      if (list->bytes(attr_field::kString)) string(list->value);
    }
    if (limits.has_minimum) fits = fits && static_cast<int64_t>(list_length(fields->value)) >= limits.minimum;
  }
  return fits;
}

// Whether nodes made for one of these definitions have the same inputs and outputs under the other: where a
// type was fixed and became an attribute, that attribute says whether they do.
bool same_args(const std::vector<ArgDef>& a, const std::vector<ArgDef>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const ArgDef& x, const ArgDef& y) {
    const bool lists = x.type_list_attr.empty() == y.type_list_attr.empty() &&
                       x.number_attr.empty() == y.number_attr.empty();
    return lists && x.is_ref == y.is_ref && (x.type == 0 || y.type == 0 || x.type == y.type);
  });
}

// Whether there are as many inputs as there are arguments.
bool counts(const std::vector<ArgDef>& args) {
  return std::all_of(args.begin(), args.end(),
                     [](const ArgDef& arg) { return arg.number_attr.empty() && arg.type_list_attr.empty(); });
}

bool is_internal(std::string_view key) { return key.starts_with('_'); }

// In a body: the caller's value, which is not known here.
bool is_placeholder(std::string_view value) { return has_field(value, attr_field::kPlaceholder); }

}  // namespace

Releases releases_with_type(DType type, const OpHistory& history) {
  const auto number = static_cast<int32_t>(base_type(type));
  for (const TypeRow& row : kTypeRows) {
    if (row.first <= number && number <= row.last)
      return release_span(*history.find(row.release), history.latest());
  }
  return history.all();
}

Releases writers_of(const MetaGraph& meta) {
  const OpHistory& history = OpHistory::get();
  const std::string_view version = last_bytes(meta.part(meta_field::kInfo), 5);
  if (const auto release = history.find(version)) return release_bit(*release);
  const auto producer = static_cast<int64_t>(last_varint(meta.graph.part(graph_field::kVersions), 1));
  return producer > 0 ? history.with_producer(producer) : 0;
}

void define_ops_of_writer(Registry& ops, const MetaGraph& meta) {
  const Releases writers = writers_of(meta);
  const std::string_view versions = meta.graph.part(graph_field::kVersions);
  const std::string_view library = meta.graph.part(graph_field::kLibrary);
  ReleaseFit fit(writers, static_cast<int64_t>(last_varint(versions, 1)), library);
  const Releases newest = release_bit(fit.history().latest()), own = release_bit(fit.reference());
  if (writers == 0 || newest == own) return;
  struct Verdict {
    bool newest_refuses = false, own_takes = true;
  };
  std::map<std::string_view, Verdict> verdicts;
  const auto takes_as_much = [&](const OpFit* op) { return op == nullptr || (op->plain & newest) != 0; };
  const auto look = [&](std::string_view node_def) {
    if (takes_as_much(fit.op(node_op(node_def)))) return;
    const Releases takes = fit.of(node_def);
    Verdict& verdict = verdicts[node_op(node_def)];
    verdict.newest_refuses = verdict.newest_refuses || (takes & newest) == 0;
    verdict.own_takes = verdict.own_takes && (takes & own) != 0;
  };
  AlikeAttrs<size_t> seen(meta.graph);  // how many data inputs they have
  FitOfOps fit_of_ops(fit);
  const OpsOf<FitOfOps> fit_of(meta.graph, fit_of_ops);
  for (uint32_t i = 0; i < meta.graph.size(); ++i) {
    const NodeId id{i};
    if (meta.graph.removed(id) || takes_as_much(fit_of.of(id))) continue;
    const NodeLike like = like_of(meta.graph.bytes(id));
    const size_t* inputs = seen.find(id, like.attrs);
    if (inputs != nullptr && *inputs == like.data_inputs) continue;
    look(meta.graph.bytes(id));
    seen.keep(id, like.attrs, like.data_inputs);
  }
  each_body_node(library, *meta.graph.arena(),
                 [&](std::string_view, std::string_view node_def) { look(node_def); });
  for (const auto& [op, verdict] : verdicts) {
    const OpEra* era = fit.history().era(op, fit.reference());
    if (verdict.newest_refuses && verdict.own_takes && era != nullptr &&
        ops.find(op) == fit.history().eras(op).front().op_def)
      ops.define(era->op.name, era->op_def);
  }
}

const OpFit* const& FitOfOps::of(std::string_view op) {
  const auto [found, fresh] = known_.try_emplace(op);
  if (fresh) found->second = fit_.op(op);
  return found->second;
}

const AttrFit* OpFit::find(std::string_view key) const {
  for (const AttrFit& attr : attrs) {
    if (attr.key == key) return &attr;
  }
  return nullptr;
}

ReleaseFit::ReleaseFit(Releases writers, int64_t producer, std::string_view library)
    : history_(OpHistory::get()), reference_(history_.latest()), producer_(producer) {
  for (ReleaseNumber i = 0; i <= history_.latest(); ++i) {
    if ((writers & release_bit(i)) != 0) reference_ = i;
  }
  for (Fields fields(library); fields.next();) {
    if (fields->bytes(library_field::kFunction)) functions_.insert(function_name(fields->value));
  }
  untyped_ = history_.all();
  for (const TypeRow& row : kTypeRows)
    untyped_ &= release_span(*history_.find(row.release), history_.latest());
}

const OpFit* ReleaseFit::op(std::string_view op) {
  if (last_fit_ != nullptr && last_op_ == op) return last_fit_;
  const auto found = ops_.find(op);
  const OpFit* fit = nullptr;
  if (found != ops_.end()) {
    last_op_ = found->first;
    fit = found->second.get();
  } else {
    const std::vector<OpEra>& eras = history_.eras(op);
    if (eras.empty() || functions_.contains(op)) {
      ops_.emplace(op, nullptr);
      return nullptr;
    }
    last_op_ = eras.front().op.name;
    fit = &add(last_op_, eras);
  }
  last_fit_ = fit;
  return fit;
}

const OpFit& ReleaseFit::add(std::string_view op, const std::vector<OpEra>& eras) {
  auto fit = std::make_unique<OpFit>();
  const OpEra* reference = history_.era(op, reference_);
  if (reference == nullptr) reference = &eras.front();
  Releases attributes_seen = 0;
  for (const OpEra& era : eras) {
    fit->known |= era.releases();
    if (era.contrib) fit->contrib |= era.releases();
    if (same_args(era.op.inputs, reference->op.inputs) && same_args(era.op.outputs, reference->op.outputs)) {
      fit->arguments |= era.releases();
    } else if (same_args(era.op.outputs, reference->op.outputs) && counts(era.op.inputs) &&
               counts(reference->op.inputs) && era.op.inputs.size() != reference->op.inputs.size()) {
      fit->by_count.emplace_back(era.releases(), era.op.inputs.size());
      fit->inputs = reference->op.inputs.size();
    }
    for (ReleaseNumber i = era.first; i <= era.last; ++i) {
      if (era.op.deprecated > 0 && std::min(producer_, history_.releases()[i].producer) >= era.op.deprecated)
        fit->deprecated |= release_bit(i);
    }
    for (const AttrDef& def : era.op.attrs) {
      AttrFit* attr = nullptr;
      for (AttrFit& known : fit->attrs) attr = known.key == def.name ? &known : attr;
      if (attr == nullptr) attr = &fit->attrs.emplace_back(AttrFit{.key = def.name});
      attr->known |= era.releases();
      if (!def.has_default) attr->required |= era.releases();
      AttrLimits limits = limits_of(def);
      if ((def.type == "type" || def.type == "list(type)") && limits.types.empty()) fit->any_type = true;
      const auto same = std::find_if(attr->limits.begin(), attr->limits.end(),
                                     [&](const AttrLimits& known) { return same_limits(known, limits); });
      if (same != attr->limits.end()) {
        same->releases |= era.releases();
      } else {
        limits.releases = era.releases();
        attr->limits.push_back(std::move(limits));
      }
    }
    attributes_seen |= era.releases();
  }
  fit->arguments &= with_same_ranks(op, reference_, history_);
  fit->ranked = history_.all();
  for (const RankRow& row : kRankRows) {
    if (row.op != op) continue;
    fit->ranks = &row;
    fit->ranked = release_span(*history_.find(row.since), history_.latest());
  }
  fit->plain = fit->arguments & fit->ranked & ~fit->contrib & ~fit->deprecated & attributes_seen;
  for (AttrFit& attr : fit->attrs) {
    fit->plain &= attr.known;
    if ((attr.required & release_bit(reference->last)) == 0) fit->plain &= ~attr.required;
    for (const AttrLimits& limits : attr.limits) {
      if ((limits.releases & release_bit(reference->last)) != 0) fit->plain &= limits.releases;
    }
    if (attr.limits.size() < 2) attr.limits.clear();
    if (attr.required == fit->known) attr.required = 0;  // no release takes a node without it
  }
  return *ops_.emplace(op, std::move(fit)).first->second;
}

bool ReleaseFit::asks_rank(std::string_view node_def, ReleaseNumber release) {
  const OpFit* fit = op(node_op(node_def));
  return fit != nullptr && fit->ranks != nullptr && (fit->ranked & release_bit(release)) == 0 &&
         speaks_of(*fit->ranks, node_def);
}

ReleaseFit::Plain ReleaseFit::plain_of(std::string_view op_name, ReleaseNumber release) {
  const OpFit* fit = op(op_name);
  if (fit == nullptr) return Plain::kAll;
  if ((fit->plain & release_bit(release)) == 0) return Plain::kNone;
  return !fit->any_type || (untyped_ & release_bit(release)) != 0 ? Plain::kAll : Plain::kByTypes;
}

bool ReleaseFit::plain(std::string_view node_def, ReleaseNumber release) {
  const Plain known = plain_of(node_op(node_def), release);
  return known == Plain::kByTypes ? knows_types(node_def, release) : known == Plain::kAll;
}

Releases ReleaseFit::quick(const OpFit* fit, std::string_view node_def) const {
  if (fit == nullptr) return history_.all();
  return fit->any_type && fit->plain != 0 ? fit->plain & releases_of_types(node_def) : fit->plain;
}

Releases ReleaseFit::releases_of_types(std::string_view node_def) const {
  Releases fits = history_.all();
  each_attr(node_def, [&](std::string_view, std::string_view value) {
    if (value.empty() || (value[0] != (attr_field::kType << 3) && value[0] != (attr_field::kList << 3 | 2)))
      return;
    each_type(value, [&](DType type) {
      if (base_type(type) >= DType::kVariant) fits &= releases_with_type(type, history_);
    });
  });
  return fits;
}

bool ReleaseFit::stripped(std::string_view op, std::string_view key, std::string_view value) {
  const std::string_view op_def = stripped_.find(op);
  if (op_def.empty()) return false;
  const OpDef def = parse_op_def(op_def);
  const AttrDef* attr = def.find_attr(key);
  return attr != nullptr && attr->has_default && same_attr_value(attr->default_value, value);
}

template <typename Use>
void ReleaseFit::each_limit(std::string_view node_def, Use use) {
  using Is = Obstacle::Is;
  const std::string_view name = node_op(node_def);
  const OpFit* fit = op(name);
  if (fit == nullptr) return;
  const std::string_view none;
  use(Is::kOp, none, none, fit->known);
  const Releases others = ~fit->known;  // where there is nothing more to say
  Releases arguments = fit->arguments;
  if (!fit->by_count.empty()) {
    size_t inputs = 0;
    each_input(node_def, [&](std::string_view input) { inputs += input.starts_with('^') ? 0 : 1; });
    if (inputs != fit->inputs) arguments = 0;
    for (const auto& [releases, count] : fit->by_count) arguments |= count == inputs ? releases : 0;
  }
  use(Is::kArguments, none, none, arguments | others);
  use(Is::kDeprecated, none, none, ~fit->deprecated);
  use(Is::kContrib, none, none, ~fit->contrib);
  if (fit->ranks != nullptr && rank_of_ && speaks_of(*fit->ranks, node_def)) {
    if (const auto rank = rank_of_(node_def); rank && *rank != fit->ranks->rank)
      use(Is::kRank, fit->ranks->key, none, fit->ranked | others);
  }
  Releases absent = 0;
  for (const AttrFit& attr : fit->attrs) absent |= attr.required;
  std::vector<std::string_view> there;
  each_attr(node_def, [&](std::string_view key, std::string_view value) {
    if (absent != 0) there.push_back(key);
    Releases unknown_types = 0;
    each_type(value, [&](DType type) {
      if (base_type(type) >= DType::kVariant) unknown_types |= ~releases_with_type(type, history_);
    });
    if (unknown_types != 0) use(Is::kType, key, value, ~unknown_types);
    if (is_internal(key)) return;
    const AttrFit* attr = fit->find(key);
    if (attr == nullptr) return;  // of no release: what such a node is taken for is not known
    if ((attr->known & fit->known) != fit->known && !stripped(name, key, value))
      use(Is::kAttr, key, value, attr->known | others);
    if (attr->limits.empty() || is_placeholder(value)) return;
    Releases fits = 0;
    for (const AttrLimits& limits : attr->limits) fits |= within(limits, value) ? limits.releases : 0;
    use(Is::kValue, key, value, fits | ~attr->known);
  });
  for (const AttrFit& attr : fit->attrs) {
    if (attr.required != 0 && std::find(there.begin(), there.end(), attr.key) == there.end())
      use(Is::kMissing, attr.key, none, ~attr.required);
  }
}

template <typename Counts>
Releases ReleaseFit::where(std::string_view node_def, Counts counts) {
  Releases fits = history_.all();
  each_limit(node_def, [&](Obstacle::Is is, std::string_view, std::string_view, Releases releases) {
    if (counts(is)) fits &= releases;
  });
  return fits;
}

Releases ReleaseFit::of(std::string_view node_def) {
  return where(node_def, [](Obstacle::Is is) { return is != Obstacle::Is::kContrib; });
}

Releases ReleaseFit::of_values(std::string_view node_def) {
  return where(node_def, [](Obstacle::Is is) { return is == Obstacle::Is::kValue; });
}

std::string ReleaseFit::since(Releases known, ReleaseNumber release) const {
  const auto& releases = history_.releases();
  for (ReleaseNumber i = release + 1; i < releases.size(); ++i) {
    if ((known & release_bit(i)) != 0)
      return std::string("known from ").append(releases[i].short_name()).append(" on");
  }
  for (ReleaseNumber i = release; i-- > 0;) {
    if ((known & release_bit(i)) != 0) return std::string("known up to ").append(releases[i].short_name());
  }
  return "known to no release";
}

std::vector<Obstacle> ReleaseFit::obstacles(std::string_view node_def, ReleaseNumber release) {
  using Is = Obstacle::Is;
  std::vector<Obstacle> found;
  const std::string op(node_op(node_def));
  each_limit(node_def, [&](Is is, std::string_view key, std::string_view value, Releases releases) {
    if ((releases & release_bit(release)) != 0) return;
    std::string text, message;
    if (!value.empty()) {
      print_attr_value(text, value, false);
      // Types as people say them.
      if (value[0] == attr_field::kType << 3) each_type(value, [&](DType type) { text = dtype_name(type); });
      if (text.size() > 60) text.resize(text.find_last_not_of("\x80\xbf", 57) + 1), text += "...";
    }
    const std::string name(key);
    switch (is) {
      case Is::kOp:
        message = "op " + op + " is " + since(releases, release);
        break;
      case Is::kContrib:
        message = "op " + op + " is one of tf.contrib, whose library must be loaded first";
        break;
      case Is::kArguments:
        message = "op " + op + " takes or gives other tensors: as here it is " +
                  since(releases & this->op(op)->known, release);
        break;
      case Is::kDeprecated:
        message = "op " + op + " is deprecated and refused";
        break;
      case Is::kAttr:
        message = op + " has attribute " + name + " = " + text + ", " +
                  since(releases & this->op(op)->known, release);
        break;
      case Is::kValue:
        message = op + " has attribute " + name + " = " + text + ", a value " +
                  since(releases & this->op(op)->find(name)->known, release);
        break;
      case Is::kType:
        message = op + " has attribute " + name + " = " + text + ", a type " + since(releases, release);
        break;
      case Is::kRank:
        message = op + " with " + name + " = " + std::string(this->op(op)->ranks->value) + " takes " +
                  std::to_string(*rank_of_(node_def)) + " dimensions from " +
                  std::string(this->op(op)->ranks->since) + " on";
        break;
      case Is::kMissing:
        message = op + " lacks attribute " + name + ", which is required";
        break;
    }
    found.push_back({is, name, std::move(message)});
  });
  return found;
}

}  // namespace gedit
