#include "optimize/sweep.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/parallel.h"
#include "optimize/constant.h"
#include "select/tensors.h"

namespace gedit::optimizing {
namespace {

constexpr size_t kMostCarried = 4;   // controls that every reader of a node would get
constexpr size_t kMostGrouped = 16;  // of a node that is nothing but its controls

}  // namespace

Sweep::Sweep(Subject& subject, const Flow& flow, Classes& classes)
    : subject_(subject),
      net_(subject.net),
      flow_(flow),
      whens_(subject.net, flow, classes),
      view_{subject,
            subject.net,
            flow,
            whens_,
            BlankVector<View::Known>(subject.net.size()),
            subject.net.has_op([](const ProofOp& op, What) { return op.gives_references; })},
      gone_(subject.net.size()),
      stands_(filled_in_pieces(subject.net.size(), kNothing)),
      aliases_(subject.net.size()),
      carried_(subject.net.size()),
      control_alias_(subject.net.size()),
      first_shared_{In::kArgument},
      first_reader_(filled_in_pieces<Number>(subject.passes.share ? subject.net.size() : 0, kNobody)) {
  subject.scopes.reset();
  in_pieces(net_.size(), [&](size_t, PieceRange range) {
    for (Number n = range.begin; n < range.end; ++n) {
      view_.known[n] = {.like = {n, 0}};
      if (net_.there(n) && net_.is(n, OpKind::kConst)) look_at_values(view_, n);
    }
  });
}

bool Sweep::run() {
  for (const Number n : flow_.order()) {
    if (flow_.dead(n)) continue;
    const bool untouched = subject_.is_untouched(n);
    if (!untouched) resolve(n);
    whens_.look(n);
    if (!net_.is(n, OpKind::kConst)) look_at_values(view_, n);  // at which it was looked before all others
    if (!untouched) decide(n);
  }
  resolve_returned();
  return changed_;
}

std::optional<Sweep::Alias> Sweep::alias_of(In in) const {
  if (stands_[in.node] != kNothing)
    return in.index == 0 ? std::optional(Alias{0, stands_[in.node]}) : std::nullopt;
  for (const Alias& alias : aliases_.of(in.node)) {
    if (alias.index == in.index) return alias;
  }
  return std::nullopt;
}

// What waits for what is gone waits for these.
std::span<const Number> Sweep::waits_of(Number gone) const {
  return stands_[gone] != kNothing ? std::span(&stands_[gone].node, 1) : control_alias_.of(gone);
}

// And waits for nothing: as most nodes.
bool Sweep::reads_what_stays(Number n) const {
  return net_.controls(n).empty() && std::ranges::all_of(net_.data(n), [&](const In& in) {
           return settled(in) || is_back_edge(net_, n, in);
         });
}

// What the node reads, where it waits for nothing, and one tensor stands exactly for each that is gone, as of
// most. Else nothing is done.
bool Sweep::resolve_data(Number n) {
  if (!net_.controls(n).empty()) return false;
  data_.assign(net_.data(n).begin(), net_.data(n).end());
  for (In& in : data_) {
    if (settled(in) || is_back_edge(net_, n, in)) continue;
    const In stands = stands_[in.node];
    if (in.index != 0 || stands == kNothing || is_device_between(n, in, stands)) return false;
    in = stands;
  }
  if (adds_up_switched(n, data_)) return false;
  net_.set_inputs(n, data_);
  changed_ = true;
  return true;
}

// What the node reads and waits for, by what stands for it now.
void Sweep::resolve(Number n) {
  if (reads_what_stays(n) || resolve_data(n)) return;
  const bool merge = net_.is(n, OpKind::kMerge);
  std::vector<In>& data = data_;
  std::vector<Number>& controls = controls_;
  data.clear();
  controls.clear();
  ++mark_;
  for (const In& in : net_.inputs(n)) {
    if (settled(in) || is_back_edge(net_, n, in)) {
      if (in.control()) {
        add_control(n, in.node, controls);
      } else {
        data.push_back(in);
      }
      continue;
    }
    if (in.control()) {
      if (stands_[in.node] == kNothing && !control_alias_.has(in.node)) add_control(n, in.node, controls);
      for (const Number control : waits_of(in.node)) add_control(n, control, controls);
      continue;
    }
    const std::optional<Alias> alias = alias_of(in);
    if (!alias || (merge && !alias->exact) || is_device_between(n, in, alias->to)) {
      data.push_back(in);
      more_ = true;
      continue;
    }
    data.push_back(alias->to);
    for (const Number control : carried_.of(in.node)) add_control(n, control, controls);
  }
  if (adds_up_switched(n, data)) {
    data.assign(net_.data(n).begin(), net_.data(n).end());
    more_ = true;
  }
  keep_needed(n, data, controls);
  for (const Number control : controls) data.push_back(control_of(control));
  if (std::ranges::equal(data, net_.inputs(n))) return;
  net_.set_inputs(n, data);
  changed_ = true;
}

// Whether the node would add what the second side of a Switch gives to itself: Grappler makes a product of
// that, and holds its factor to the first side (core/grappler/optimizers/arithmetic_optimizer.cc,
// SimplifyAggregation), so that neither is there.
bool Sweep::adds_up_switched(Number n, std::span<const In> data) const {
  const What what = net_.what(n);
  if ((what != What::kAdd && what != What::kAddN) || data.size() < 2) return false;
  const In first = data[0];
  return !first.argument() && first.index != 0 && net_.is(first.node, OpKind::kSwitch) &&
         std::ranges::all_of(data, [&](const In& in) { return in == first; });
}

// Whether the node in between is on a third device: then it is there for the way.
bool Sweep::is_device_between(Number reader, In in, In to) const {
  const std::string_view device = net_.device(in.node);
  if (device.empty() || to.argument()) return false;
  const std::string_view from = net_.device(to.node), at = net_.device(reader);
  return device != from && device != at && from != at;
}

void Sweep::add_control(Number reader, Number control, std::vector<Number>& controls) {
  last_waiter_.resize(net_.size(), 0);
  if (control == reader || last_waiter_[control] == mark_) return;
  last_waiter_[control] = mark_;
  controls.push_back(control);
}

// Leaves those that the node has to wait for: there is an effect behind them, or they tell when it runs, or
// in which loop.
void Sweep::keep_needed(Number n, std::span<const In> data, std::vector<Number>& controls) {
  if (controls.empty() || !subject_.passes.controls) return;
  const bool merge = net_.is(n, OpKind::kMerge);
  ConditionId when = kAlways;
  bool in_frame = !data.empty();
  for (const In& in : data) {
    if (!merge) when = whens_.both(when, whens_.of(in));
  }
  const auto read = [&](Number control) {
    return data.size() < 64 &&
           std::ranges::any_of(data, [&](const In& in) { return in.node == control && !in.argument(); });
  };
  std::vector<uint8_t> stays(controls.size());
  for (size_t i = 0; i < controls.size(); ++i) {
    const Number control = controls[i];
    if (!flow_.ordered() && !flow_.effect(control)) continue;
    if (!merge && !flow_.ordered() && read(control)) continue;
    stays[i] = 1;
    when = whens_.both(when, whens_.of(control));
    in_frame = true;
  }
  for (size_t i = 0; i < controls.size(); ++i) {
    const Number control = controls[i];
    if (stays[i] != 0 || merge) continue;
    const bool tells_when = !whens_.implies(when, whens_.of(control));
    if (!tells_when && (in_frame || whens_.frame(control) == 0)) continue;
    stays[i] = 1;
    when = whens_.both(when, whens_.of(control));
    in_frame = true;
  }
  size_t needed = 0;
  for (size_t i = 0; i < controls.size(); ++i) {
    if (stays[i] != 0) controls[needed++] = controls[i];
  }
  controls.resize(needed);
}

void Sweep::decide(Number n) {
  const Passes& passes = subject_.passes;
  const Asks asks = net_.asks(n);
  const bool bypassed = subject_.is_bypassed(n);
  const bool shaped = !subject_.same_shape.empty() && subject_.same_shape.contains(n);
  const bool folds =
      passes.fold && !net_.data(n).empty() && (!subject_.known.empty() || reads_constant_first(n));
  using Rule = Decision (*)(const View&, Number);
  const auto tried = [&](Rule rule) {
    const Decision decision = rule(view_, n);
    return decision.any() && take(n, decision);
  };
  if (asks.branch && passes.branches && tried(decide_branch)) {
    subject_.learns_more = true;
    return;
  }
  if ((asks.drop || bypassed) && tried(decide_drop)) return;
  if (asks.dropout && passes.dropout && tried(decide_dropout)) return;
  if (asks.dropout && passes.any_dropout && tried(decide_any_dropout)) return;
  if ((asks.algebra || bypassed || shaped) && passes.algebra && tried(decide_algebra)) return;
  if (folds && tried(decide_fold)) return;
  if (passes.share) share(n);
}

bool Sweep::reads_constant_first(Number n) const {
  const In in = net_.data(n)[0];
  return !in.argument() && net_.is(in.node, OpKind::kConst | OpKind::kEnter);
}

bool Sweep::take(Number n, const Decision& decision) {
  const bool passes = decision.outputs.size() > 0 && !decision.assumed && decision.changes == nullptr &&
                      net_.op(n).conduct == Conduct::kPasses;
  const bool taken = carry_out(n, decision);
  more_ = more_ || !taken || !passes;
  return taken;
}

bool Sweep::carry_out(Number n, const Decision& decision) {
  if (!decision.becomes.empty()) {
    if (n < subject_.content_ids.size()) subject_.content_ids[n] = 0;
    net_.become(n, decision.becomes, decision.inputs);
    resolve(n);  // what it need not wait for any more
    whens_.look(n);
    look_at_values(view_, n);
    changed_ = true;
    return true;
  }
  return decision.vanishes ? vanish(n, decision.reason) : alias(n, decision);
}

// A Const that waits for nothing orders nothing.
bool Sweep::is_source(Number n) const { return net_.is(n, OpKind::kConst) && net_.inputs(n).empty(); }

// Whether the node has copied what it would be replaced by: the memory of a reference variable, which others
// write, where no proof sees it, since what is assumed is taken as given.
bool Sweep::copies_memory(Number n, const Decision& decision) const {
  if (!view_.any_references || !decision.assumed || decision.changes != nullptr) return false;
  const ProofOp& op = net_.op(n);
  if (op.conduct == Conduct::kPasses || op.kinds.has(OpKind::kGivesView)) return false;
  return std::ranges::any_of(decision.outputs,
                             [&](const auto& output) { return view_.is_memory(output.second); });
}

// Whether the node, or something that it needs, has an effect; what the tensor needs that stands for another
// is left aside, since who reads that waits for it.
bool Sweep::brings_effect(Number n, In stands) const {
  constexpr size_t kMost = 64;
  if (!flow_.effect(n)) return false;
  std::vector<Number> found{n};
  for (size_t i = 0; i < found.size(); ++i) {
    if (flow_.own_effect(found[i]) || found.size() > kMost) return true;
    for (const In& in : net_.inputs(found[i])) {
      if (in.argument() || in.node == stands.node || !flow_.effect(in.node)) continue;
      if (std::ranges::find(found, in.node) == found.end()) found.push_back(in.node);
    }
  }
  return false;
}

// What else its readers are to wait for where others stand for the node, and whether these are there exactly
// when the node is; nothing where that is too much to say.
std::optional<bool> Sweep::find_carried(Number n, const Decision& decision, std::vector<Number>& carried) {
  const ConditionId when = whens_.of(n);
  const bool exit = net_.is(n, OpKind::kExit);  // its frame's inside is nobody's business outside
  std::vector<Number> others;
  standing_.clear();
  for (const auto& [index, to] : decision.outputs) standing_.push_back(key_of(to));
  std::ranges::sort(standing_);
  for (const In& in : net_.inputs(n)) {
    if (in.argument()) continue;
    const bool stands = std::ranges::binary_search(standing_, key_of(in));
    // Who reads one of several outputs waits for what stands for the others, too.
    const bool waited_for = stands && decision.outputs.size() > 1 && flow_.effect(in.node);
    if (waited_for || (!stands && !flow_.dead(in) && !exit && !is_source(in.node))) others.push_back(in.node);
  }
  ConditionId all = kAlways;
  for (const auto& [index, to] : decision.outputs) {
    if (index == decision.outputs.front().first) all = whens_.of(to);
    if (whens_.of(to) != whens_.of(decision.outputs.front().second)) return std::nullopt;
  }
  const ConditionId own = all;
  std::ranges::sort(others);
  others.erase(std::unique(others.begin(), others.end()), others.end());
  if (flow_.ordered() && !others.empty()) return std::nullopt;
  const bool merge = net_.is(n, OpKind::kMerge);
  for (const Number other : others) {
    const bool effect = decision.outputs.size() == 1 ? brings_effect(other, decision.outputs.front().second)
                                                     : flow_.effect(other);
    if (!effect && !flow_.ordered()) continue;
    if (merge) return std::nullopt;  // waits for it, dead or not
    carried.push_back(other);
    all = whens_.both(all, whens_.of(other));
    if (carried.size() > kMostCarried) return std::nullopt;
  }
  for (const Number other : others) {
    if (merge || whens_.implies(all, whens_.of(other))) continue;
    if (carried.size() == kMostCarried) return std::nullopt;
    carried.push_back(other);
    all = whens_.both(all, whens_.of(other));
  }
  if ((all != when && !exit) || carried.size() > kMostCarried) return std::nullopt;
  std::ranges::sort(carried);
  carried.erase(std::unique(carried.begin(), carried.end()), carried.end());
  return own == when;
}

// Who reads the node reads what stands for it, and waits for what the node waited for where that counts.
bool Sweep::alias(Number n, const Decision& decision) {
  if (copies_memory(n, decision)) return false;
  std::vector<Number> carried;
  // Where all run always, and nothing has an effect, nobody waits for anything that counts.
  const bool plain = flow_.plain() && !flow_.ordered();
  const std::optional<bool> as_often = plain ? std::optional(true) : find_carried(n, decision, carried);
  if (!as_often) return false;
  const bool exact = *as_often || net_.is(n, OpKind::kExit);
  gone_[n] = 1;
  const auto& [first, stands] = decision.outputs.front();
  if (plain && decision.outputs.size() == 1 && first == 0 && !stands.argument()) {
    stands_[n] = stands;
    return tell(n, decision, true);
  }
  new_aliases_.clear();
  for (const auto& [index, to] : decision.outputs) new_aliases_.push_back({index, to, exact});
  aliases_.set(n, new_aliases_);
  if (!carried.empty()) carried_.set(n, carried);
  // Who waits for it waits for the node that gives the tensor, if that says as much.
  std::vector<Number>& waits = waits_;
  waits = carried;
  for (const auto& [index, to] : decision.outputs) {
    if (waits.size() > kMostCarried) break;
    if (!to.argument() && std::ranges::find(waits, to.node) == waits.end()) waits.push_back(to.node);
  }
  const auto say_as_much = [&] {
    ConditionId told = kAlways;
    for (const Number control : waits) told = whens_.both(told, whens_.of(control));
    return told == whens_.of(n);
  };
  // Who waits for a cond or a call waits for little where a session lowers or inlines it; for what reads it,
  // for all that this is made of.
  const auto may_give_way = [&](Number node) {
    const bool calls = net_.is(node, OpKind::kIf | OpKind::kCase | OpKind::kCall) || !net_.op(node).known;
    return calls && (flow_.effect(node) || flow_.ordered());
  };
  if (waits.size() <= kMostCarried &&
      (plain || (say_as_much() && std::ranges::none_of(waits, may_give_way)))) {
    control_alias_.set(n, waits);
  } else {
    more_ = true;
    // It stays for who waits for it: one of its kind does.
    const bool shared = subject_.passes.share && !subject_.is_kept(n);
    if (const std::optional<Number> first = shared ? find_equal(n) : std::nullopt)
      control_alias_.set(n, {&*first, 1});
  }
  return tell(n, decision, *as_often);
}

// Of what is gone: why, and what the proof is to know; it stays as an Identity where its name does.
bool Sweep::tell(Number n, const Decision& decision, bool as_often) {
  if (decision.assumed) {
    for (const auto& [index, to] : decision.outputs) subject_.assume({n, index}, to);
  }
  if (decision.changes != nullptr) {
    std::string told = "'" + printable(address(subject_.function, net_.name(n))) + "' (" +
                       printable(net_.op(n).name) + ") " + decision.changes;
    std::vector<std::string>& all_told = subject_.inexact;
    if (std::ranges::find(all_told, told) == all_told.end()) all_told.push_back(std::move(told));
  }
  subject_.give_reason(n, decision.reason);
  // A Merge goes on reading what is only there because of what it waits for.
  const bool merged = decision.changes != nullptr && !as_often;
  if (subject_.is_kept(n) || merged) keep_name(n, decision);
  return true;
}

// A node that keeps its name and is more than an Identity becomes one.
bool Sweep::keep_name(Number n, const Decision& decision) {
  if (net_.is(n, OpKind::kIdentity) || subject_.keeps_more(n) || decision.outputs.size() != 1 ||
      decision.outputs.front().first != 0)
    return false;
  const In to = decision.outputs.front().second;
  const DType type = base_type(net_.type({n, 0}));
  if (type == DType::kInvalid || net_.op(n).gives_references) return false;
  std::vector<In> inputs{to};
  for (const Number control : carried_.of(n)) inputs.push_back(control_of(control));
  NodeBuilder identity(net_.name(n), "Identity");
  identity.device(net_.device(n)).type("T", type);
  net_.become(n, identity.take(), inputs);
  changed_ = more_ = true;
  return true;
}

// Who waits for the node waits for what it reads.
bool Sweep::vanish(Number n, Reason reason) {
  // Where something writes, it counts what runs behind what.
  if (subject_.is_kept(n) || flow_.ordered()) return false;
  std::vector<Number> waits;
  ConditionId told = kAlways;
  for (const In& in : net_.inputs(n)) {
    if (in.argument()) continue;
    const bool counts = flow_.ordered() || flow_.effect(in.node) || whens_.of(in.node) != kAlways ||
                        whens_.frame(in.node) != 0;
    if (!counts || std::ranges::find(waits, in.node) != waits.end()) continue;
    if (waits.size() == kMostGrouped) return false;
    waits.push_back(in.node);
    told = whens_.both(told, whens_.of(in.node));
  }
  if (told != whens_.of(n)) return false;
  gone_[n] = 1;
  control_alias_.set(n, waits);
  subject_.give_reason(n, reason);
  return true;
}

// What a function returns is read without waiting for anything else; an argument is returned by way of a
// node.
void Sweep::resolve_returned() {
  for (In& in : subject_.returned) {
    if (settled(in)) continue;
    const std::optional<Alias> alias = alias_of(in);
    if (!alias || !alias->exact || !carried_.of(in.node).empty() || alias->to.argument()) continue;
    in = alias->to;
    changed_ = true;
  }
}

}  // namespace gedit::optimizing
