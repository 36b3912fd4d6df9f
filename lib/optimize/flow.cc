#include "optimize/flow.h"

#include <algorithm>
#include <atomic>
#include <numeric>

#include "base/error.h"
#include "base/parallel.h"
#include "graph/function_names.h"
#include "optimize/constant.h"

namespace gedit::optimizing {

namespace {

// What says when others run.
constexpr OpKinds kBranches = OpKind::kSwitch | OpKind::kMerge | OpKind::kEnter | OpKind::kExit |
                              OpKind::kNextIteration | OpKind::kLoopCond | OpKind::kIf | OpKind::kCase |
                              OpKind::kWhile;

}  // namespace

bool is_dropped(const Droppable& drops, What what) {
  switch (what) {
    case What::kAssert:
    case What::kCheckNumerics:
      return drops.checks;
    case What::kPrint:
    case What::kPrintV2:
      return drops.prints;
    case What::kSummary:
      return drops.summaries;
    default:
      return false;
  }
}

Effects::Effects(const Library& library, Labels& labels, Droppable drops) : drops_(drops) {
  for (const Function& function : library.functions) functions_.insert(function.name);
  // Who calls whom, and what has an effect itself; the callers of these have one, too.
  std::unordered_map<std::string_view, std::vector<std::string_view>> callers;
  std::vector<std::string_view> effective, writing;
  for (const Library::Item& item : library.items) {
    if (item.field != library_field::kFunction) continue;
    const std::string_view name = library.functions[item.function].name;
    bool effect = false, writes = false;
    library.functions[item.function].body.each_record([&](std::string_view node_def) {
      const std::string_view op = node_op(node_def);
      each_function_named(node_def, [&](std::string_view called) {
        if (functions_.contains(called)) callers[called].push_back(name);
      });
      if (functions_.contains(op)) return;
      effect = effect || own(labels.op(op), what_of(op));
      writes = writes || own_write(labels.op(op));
    });
    if (effect) effective.push_back(name);
    if (writes) writing.push_back(name);
  }
  const auto spread = [&](std::vector<std::string_view>& open, std::unordered_set<std::string_view>& all) {
    while (!open.empty()) {
      const std::string_view name = open.back();
      open.pop_back();
      if (!all.insert(name).second) continue;
      for (const std::string_view caller : callers[name]) open.push_back(caller);
    }
  };
  spread(effective, effective_);
  spread(writing, writing_);
}

bool Effects::own_write(const ProofOp& op) {
  return op.conduct == Conduct::kWrites || op.conduct == Conduct::kUnknown || op.conduct == Conduct::kInPlace;
}

bool Effects::own(const ProofOp& op, What what) const {
  if (is_dropped(drops_, what)) return false;
  // What an array holds, and whether it is closed, goes by an edge of data; the order of what closes it does
  // not.
  if (what == What::kAssert || what == What::kCheckNumerics || what == What::kPrint ||
      what == What::kPrintV2 || what == What::kArray)
    return true;
  return own_write(op);
}

bool Effects::calls(std::string_view node_def, const ProofOp& op,
                    const std::unordered_set<std::string_view>& functions) const {
  if (functions.empty()) return false;
  if (functions.contains(op.name)) return true;
  bool found = false;
  if (op.kinds.has_any(OpKind::kCall | OpKind::kIf | OpKind::kCase | OpKind::kWhile) || !op.known ||
      op.conduct != Conduct::kPure) {
    each_function_named(node_def, [&](std::string_view name) { found = found || functions.contains(name); });
  }
  return found;
}

bool Effects::none_in(const Net& net) const {
  return functions_.empty() && !net.has_op([&](const ProofOp& op, What what) { return own(op, what); });
}

bool Effects::of(const Net& net, Number n) const {
  const ProofOp& op = net.op(n);
  if (!functions_.empty() && functions_.contains(op.name)) return effective_.contains(op.name);
  return own(op, net.what(n)) || calls(net.def(n), op, effective_);
}

bool Effects::writes(const Net& net, Number n) const { return writes(net.def(n), net.op(n), net.what(n)); }

bool Effects::writes(std::string_view node_def, Labels& labels) const {
  const ProofOp& op = labels.op(node_op(node_def));
  return writes(node_def, op, what_of(op.name));
}

bool Effects::writes(std::string_view node_def, const ProofOp& op, What what) const {
  if (!functions_.empty() && functions_.contains(op.name)) return writing_.contains(op.name);
  if (is_dropped(drops_, what)) return false;
  return own_write(op) || calls(node_def, op, writing_);
}

bool is_back_edge(const Net& net, Number reader, In in) {
  return !in.argument() && !in.control() && net.is(in.node, OpKind::kNextIteration) &&
         net.is(reader, OpKind::kMerge);
}

Flow::Flow(const Net& net, const Effects& effects, const std::vector<Number>& asked, NodeSet needed,
           const NodeSet& apart)
    : net_(net), needed_(std::move(needed)), read_(net.size()), read_again_(net.size()) {
  if (!pass_all()) find_order();
  // What goes back into a loop was not known when the loop's beginning was passed.
  if (goes_back_ && any_dead_) find_alive_around(edges());
  find_effects(effects, apart);
  if (goes_back_ && any_effect_) find_effects_around(edges());
  if (any_dead_ && any_effect_) find_effects_for_dead(asked);
}

// Where nothing branches, nothing is known to be true, and all stand behind what they read, as most graphs
// are written, no node waits for another to be passed. False where that is not so.
bool Flow::pass_all() {
  const bool branches = net_.has_op([](const ProofOp& op, What what) {
    return op.kinds.has_any(kBranches) || what == What::kControlTrigger;
  });
  if (branches) return false;
  std::atomic<bool> usual = true;
  in_pieces(net_.size(), [&](size_t, PieceRange nodes) {
    for (Number n = nodes.begin; n < nodes.end && usual; ++n) {
      if (!needed(n)) continue;
      if (net_.is(n, OpKind::kConst) && net_.constant(n).truth_known) usual = false;
      for (const In& in : net_.inputs(n)) {
        if (in.argument()) continue;
        if (in.node >= n) usual = false;
        count_reader(in.node);
      }
    }
  });
  if (!usual) {
    read_ = read_again_ = SharedBits(net_.size());
    return false;
  }
  all_alive_ = needed_.count() == net_.size();
  if (all_alive_) {
    order_.resize(net_.size());
    in_pieces(net_.size(), [&](size_t, PieceRange nodes) {
      std::iota(order_.begin() + nodes.begin, order_.begin() + nodes.end, nodes.begin);
    });
    return true;
  }
  states_.resize(net_.size(), State());
  for (const NodeId id : needed_.nodes()) {
    order_.push_back(index_of(id));
    states_[index_of(id)].alive = true;
  }
  return true;
}

void Flow::find_order() {
  order_.reserve(needed_.count());
  states_ = filled_in_pieces(net_.size(), State());
  enum : uint8_t { kNew, kOpen, kDone };
  std::vector<uint8_t> state(net_.size(), kNew);
  std::vector<std::pair<Number, uint32_t>> stack;
  for (Number root = 0; root < net_.size(); ++root) {
    if (!needed(root) || state[root] != kNew) continue;
    // Mostly all that it reads stands before it.
    const std::span<const In> read = net_.inputs(root);
    if (std::ranges::all_of(read, [&](const In& in) { return in.argument() || state[in.node] == kDone; })) {
      state[root] = kDone;
      pass(root);
      continue;
    }
    stack.emplace_back(root, 0);
    state[root] = kOpen;
    while (!stack.empty()) {
      auto& [n, next] = stack.back();
      const std::span<const In> inputs = net_.inputs(n);
      if (next == inputs.size()) {
        state[n] = kDone;
        pass(n);
        stack.pop_back();
        continue;
      }
      const In in = inputs[next++];
      if (in.argument() || state[in.node] == kDone || is_back_edge(net_, n, in)) continue;
      if (state[in.node] == kOpen)
        throw refused("is in a cycle that is no loop").of(quoted("node", net_.name(in.node)));
      state[in.node] = kOpen;
      stack.emplace_back(in.node, 0);
    }
  }
}

// What is known of a node once all that it reads was passed.
void Flow::pass(Number n) {
  order_.push_back(n);
  const bool merge = net_.is(n, OpKind::kMerge);
  for (const In& in : net_.inputs(n)) {
    if (in.argument()) continue;
    count_reader(in.node);
    if (in.index == 1) states_[in.node].second = true;
    goes_back_ = goes_back_ || (merge && is_back_edge(net_, n, in));
  }
  any_branch_ = any_branch_ || net_.is(n, kBranches) || net_.what(n) == What::kControlTrigger;
  states_[n].truth = truth_of(n);
  states_[n].alive = always() || alive_by_inputs(n);  // as far as was passed
  any_dead_ = any_dead_ || !states_[n].alive;
}

int8_t Flow::truth_of(Number n) const {
  const ProofOp& op = net_.op(n);
  const std::span<const In> data = net_.data(n);
  const auto input = [&](size_t k) -> int8_t {
    if (k >= data.size() || data[k].argument() || data[k].index != 0) return -1;
    return states_[data[k].node].truth;
  };
  if (op.kinds.has(OpKind::kConst)) {
    const ConstFacts constant = net_.constant(n);
    return constant.truth_known ? static_cast<int8_t>(constant.truth ? 1 : 0) : int8_t{-1};
  }
  if (op.conduct == Conduct::kPasses && data.size() == 1 && !op.gives_references) return input(0);
  if (op.kinds.has(OpKind::kEnter)) return input(0);
  if (op.kinds.has(OpKind::kLoopCond)) return input(0) == 0 ? 0 : -1;  // a loop without end stays as it is
  const What what = net_.what(n);
  if (what == What::kNot) return input(0) < 0 ? int8_t{-1} : static_cast<int8_t>(1 - input(0));
  if (what == What::kAnd && input(0) >= 0 && input(1) >= 0) return static_cast<int8_t>(input(0) & input(1));
  if (what == What::kOr && input(0) >= 0 && input(1) >= 0) return static_cast<int8_t>(input(0) | input(1));
  return -1;
}

// Whether what the node reads lets it run, as far as that was passed.
bool Flow::alive_by_inputs(Number n) const {
  // A ControlTrigger runs whatever is dead, and what is fed does not run.
  if (net_.what(n) == What::kControlTrigger || net_.is(n, OpKind::kMustBeFed)) return true;
  const bool merge = net_.is(n, OpKind::kMerge);
  bool all = true, any = false, none = true;
  for (const In& in : net_.inputs(n)) {
    if (in.argument()) continue;
    none = false;
    const bool there = !dead(in);
    all = all && there;
    any = any || (there && !in.control());
  }
  return none || (merge ? any : all);
}

std::optional<bool> Flow::truth(In in) const {
  if (in.argument() || in.index != 0 || in.node >= states_.size() || states_[in.node].truth < 0)
    return std::nullopt;
  return states_[in.node].truth == 1;
}

bool Flow::dead(In in) const {
  if (in.argument()) return false;
  if (dead(in.node)) return true;
  if (in.control() || !net_.is(in.node, OpKind::kSwitch) || net_.data(in.node).size() != 2 || in.index > 1 ||
      net_.what(in.node) == What::kSwitchN)
    return false;
  const std::optional<bool> known = truth(net_.data(in.node)[1]);
  return known && *known != (in.index == 1);
}

void Flow::find_effects(const Effects& effects, const NodeSet& apart) {
  if (effects.none_in(net_)) return;
  if (states_.empty()) states_ = filled_in_pieces(net_.size(), State{.alive = true});
  for (const Number n : order_) {
    if (states_[n].alive) {
      ordered_ = ordered_ || (!apart.has(NodeId{n}) && effects.writes(net_, n));
      states_[n].effect = states_[n].own_effect = effects.of(net_, n);
    }
    for (const In& in : any_effect_ ? net_.inputs(n) : std::span<const In>()) {
      if (!in.argument() && states_[in.node].effect) states_[n].effect = true;
    }
    any_effect_ = any_effect_ || states_[n].effect;
  }
}

// --- where there are loops ---

Flow::Edges Flow::edges() const {
  Edges edges;
  edges.first.assign(net_.size() + 1, 0);
  for (const Number n : order_) {
    for (const In& in : net_.inputs(n)) {
      if (!in.argument()) ++edges.first[in.node + 1];
    }
  }
  std::partial_sum(edges.first.begin(), edges.first.end(), edges.first.begin());
  edges.all.resize(edges.first.back());
  std::vector<uint32_t> next(edges.first.begin(), edges.first.end() - 1);
  for (const Number n : order_) {
    uint32_t slot = 0;
    for (const In& in : net_.inputs(n)) {
      if (!in.argument()) edges.all[next[in.node]++] = {n, slot};
      ++slot;
    }
  }
  return edges;
}

// What may run is what is fed by what may run: found from the sources on, so that a loop that nothing enters
// is dead as a whole.
void Flow::find_alive_around(const Edges& edges) {
  for (State& state : states_) state.alive = false;
  std::vector<uint32_t> waits(net_.size());  // inputs that are not known to be alive
  std::vector<Number> open;
  for (const Number n : order_) {
    uint32_t count = 0;
    for (const In& in : net_.inputs(n)) count += in.argument() ? 0 : 1;
    waits[n] = count;
    if (count == 0) {
      states_[n].alive = true;
      open.push_back(n);
    }
  }
  while (!open.empty()) {
    const Number n = open.back();
    open.pop_back();
    for (const Edge& edge : edges.of(n)) {
      const Number reader = edge.reader;
      if (states_[reader].alive) continue;
      const In in = net_.inputs(reader)[edge.slot];
      const bool there = !dead(in);
      if (there) --waits[reader];
      const bool alive = net_.what(reader) == What::kControlTrigger ||
                         (net_.is(reader, OpKind::kMerge) ? there && !in.control() : waits[reader] == 0);
      if (!alive) continue;
      states_[reader].alive = true;
      open.push_back(reader);
    }
  }
}

void Flow::find_effects_around(const Edges& edges) {
  std::vector<Number> open;
  for (const Number n : order_) {
    if (states_[n].effect) open.push_back(n);
  }
  while (!open.empty()) {
    const Number n = open.back();
    open.pop_back();
    for (const Edge& edge : edges.of(n)) {
      if (states_[edge.reader].effect) continue;
      states_[edge.reader].effect = true;
      open.push_back(edge.reader);
    }
  }
}

void Flow::find_effects_for_dead(const std::vector<Number>& asked) {
  const NodeSet taken = net_.needed_by(asked, [&](Number reader, const In& in) {
    return in.control() || !net_.is(reader, OpKind::kMerge) || !dead(in);
  });
  for (const Number n : order_) {
    State& state = states_[n];
    state.effect_for_dead = state.own_effect && !taken.has(NodeId{n});
    for (const In& in : net_.inputs(n)) {
      if (!in.argument() && states_[in.node].effect_for_dead) state.effect_for_dead = true;
    }
  }
}

}  // namespace gedit::optimizing
