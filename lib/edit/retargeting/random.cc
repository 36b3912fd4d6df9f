// Replacements of random numbers that are drawn of a seed.
#include "base/error.h"
#include "edit/retargeting/limits.h"
#include "edit/retargeting/replacements.h"
#include "edit/retargeting/seed_keys.h"
#include "graph/seed_draw.h"
#include "graph/wiring.h"
#include "ops/kinds.h"

namespace gedit {
namespace {

constexpr std::string_view kMakerWithAlgorithm = "StatelessRandomGetKeyCounterAlg";

// Whether the input is that output of a node that makes keys.
bool reads(const Site& site, size_t slot, std::string_view maker, uint32_t output) {
  Rewriting& in = site.in;
  return slot < site.inputs.size() &&
         in.canonical(site.inputs[slot]) == in.canonical(in.output(maker, kMakerWithAlgorithm, output));
}

bool draws_by_philox(const Site& site, std::string_view maker) {
  if (site.all(seed_draw::kAlgorithm, seed_draw::kPhilox) ||
      site.all(seed_draw::kAlgorithm, seed_draw::kAnyAlgorithm))
    return true;
  if (site.inputs.size() <= seed_draw::kAlgorithm) return false;
  if (reads(site, seed_draw::kAlgorithm, maker, seed_draw::kAlgorithmMade)) return true;
  const NodeId id = site.in.producer(site.inputs[seed_draw::kAlgorithm]);
  return id != kNoNode && site.in.graph().op(id) == seed_draw::kAlgorithmOp;
}

// Why the node, which reads what `maker` makes, cannot draw of the seed.
std::string why_not_of_seed(const Site& site, std::string_view maker) {
  const std::string node = quoted("node", site.name);
  if (!is(site.op, OpKind::kDrawsByKey)) return node + " reads what it makes";
  if (!site.in.takes(seed_draw::op_of_seed(site.op)))
    return std::string(seed_draw::op_of_seed(site.op)) + " is not known either";
  if (!reads(site, seed_draw::kKey, maker, seed_draw::kKeyMade) ||
      !reads(site, seed_draw::kCounter, maker, seed_draw::kCounterMade))
    return node + " reads only a part of what it makes";
  if (!draws_by_philox(site, maker)) return node + " is not known to draw by Philox";
  return {};
}

}  // namespace

SeedKeys::SeedKeys(Rewriting& in) {
  in.graph().each_record([&](std::string_view node_def) {
    if (is(node_op(node_def), OpKind::kMakesSeedKey)) makers_.emplace(node_name(node_def), "");
  });
  in.graph().each_record([&](std::string_view node_def) {
    each_input(node_def, [&](std::string_view input) {
      if (input.starts_with('^')) return;
      const auto maker = makers_.find(std::string(parse_input_of(in.graph(), input).node));
      if (maker == makers_.end() || !maker->second.empty()) return;
      maker->second = why_not_of_seed(Site(in, std::string(node_def)), maker->first);
    });
  });
  for (auto& [maker, why] : makers_) {
    for (uint32_t output = 0; output <= seed_draw::kAlgorithmMade && why.empty(); ++output) {
      if (in.leaves(in.canonical(in.output(maker, kMakerWithAlgorithm, output))))
        why = "what it makes leaves the graph";
    }
  }
}

std::string SeedKeys::why_not(std::string_view maker) const {
  const auto found = makers_.find(std::string(maker));
  return found == makers_.end() ? "no node makes its key of a seed" : found->second;
}

std::string replace_seed_key(Site& site, std::vector<std::string>&) {
  const std::string type = type_value(seed_draw::seed_type(site.node_def));
  if (site.in.takes(kMakerWithAlgorithm)) {
    site.become({.op = std::string(kMakerWithAlgorithm),
                 .inputs = site.inputs,
                 .attrs = {{"Tseed", type}},
                 .same_outputs = false});
    return {};
  }
  if (std::string why = site.in.seed_keys().why_not(site.name); !why.empty()) return why;
  site.become({.op = "Identity", .inputs = {site.inputs[0]}, .attrs = {{"T", type}}, .same_outputs = false});
  site.move_output(0, 0);
  return {};
}

std::string replace_draw(Site& site, std::vector<std::string>&) {
  const std::string_view maker = parse_input_of(site.in.graph(), site.inputs[seed_draw::kKey]).node;
  if (std::string why = site.in.seed_keys().why_not(maker); !why.empty()) return "of its key: " + why;
  // It gives the seed on, or will.
  const std::string_view made = site.in.graph().bytes(site.in.names().find(maker));
  const DType seed = is(node_op(made), OpKind::kMakesSeedKey)
                         ? seed_draw::seed_type(made)
                         : type_attr(made, "T").value_or(DType::kInvalid);
  NodeAttrs attrs;
  for (const auto& [key, type] : seed_draw::types_of_seed(site.node_def, seed))
    attrs.emplace_back(key, type_value(type));
  std::vector<std::string> inputs{site.inputs[seed_draw::kShape], site.inputs[seed_draw::kKey]};
  inputs.insert(inputs.end(), site.inputs.begin() + seed_draw::kBounds, site.inputs.end());
  site.become({.op = std::string(seed_draw::op_of_seed(site.op)), .inputs = inputs, .attrs = attrs});
  return {};
}

std::string replace_draw_algorithm(Site& site, std::vector<std::string>&) {
  site.become({.op = "Const",
               .attrs = {{"dtype", type_value(DType::kInt32)},
                         {"value", tensor_value(scalar_proto(DType::kInt32, seed_draw::kPhilox))}}});
  return {};
}

std::string limit_draw_algorithm(Site& site) {
  if (!site.all(seed_draw::kAlgorithm, seed_draw::kAnyAlgorithm)) return {};
  std::vector<std::string> inputs = site.inputs;
  inputs[seed_draw::kAlgorithm] =
      site.add_const("alg", DType::kInt32, scalar_proto(DType::kInt32, seed_draw::kPhilox));
  site.take_inputs(std::move(inputs));
  return {};
}

}  // namespace gedit
