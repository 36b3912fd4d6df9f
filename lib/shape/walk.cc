#include "shape/walk.h"

#include <algorithm>
#include <set>

#include "graph/types.h"
#include "graph/wiring.h"
#include "ops/kinds.h"
#include "shape/ranks.h"

namespace gedit::shaping {
namespace {

constexpr uint8_t kMostVisits = 16;

OpInfo::Calls calls_of(std::string_view op) {
  if (is(op, OpKind::kWhile)) return OpInfo::Calls::kLoop;
  if (is(op, OpKind::kIf)) return OpInfo::Calls::kBranches;
  if (is(op, OpKind::kCase)) return OpInfo::Calls::kCases;
  if (is(op, OpKind::kPartitionedCall)) return OpInfo::Calls::kOne;
  return OpInfo::Calls::kNothing;
}

}  // namespace

const OpInfo& OpInfos::of(std::string_view op) {
  const auto found = infos_.find(op);
  if (found != infos_.end()) return found->second;
  OpInfo info;
  info.rule = rule_of(op);
  info.ranks = ranks_of(op);
  info.calls = calls_of(op);
  info.is_next_iteration = is_next_iteration_op(op);
  if (const std::string_view bytes = ops_.find(op); !bytes.empty()) {
    info.def = parse_op_def(bytes);
    info.defined = true;
    const bool fixed = std::ranges::all_of(info.def.outputs, [](const ArgDef& arg) {
      return arg.number_attr.empty() && arg.type_list_attr.empty();
    });
    if (fixed) info.outputs = static_cast<int32_t>(info.def.outputs.size());
  }
  return infos_.emplace(op, std::move(info)).first->second;
}

Walk::Walk(Dims& dims, OpInfos& ops, Caller& caller, const Place& place, WalkRequest request)
    : dims_(dims),
      caller_(caller),
      place_(place),
      ops_(place.graph, ops),
      request_(std::move(request)),
      subject_(dims, 0),
      alike_(place.graph.size()) {
  subject_.producer = request_.producer;
}

void Walk::run() {
  const uint32_t size = place_.graph.size();
  first_.assign(size, 0);
  count_.assign(size, 0);
  state_.assign(size, kFresh);
  facts_.reserve(size + size / 8);
  if (!request_.stated.empty()) changed_ = NodeSet(size);
  for (uint32_t i = 0; i < size; ++i) {
    if (state_[i] == kFresh && !place_.graph.removed(NodeId{i})) visit(NodeId{i});
  }
  if (!waiting_.empty()) settle_loops();
  state_ = {};
  alike_ = AlikeNodes(0);
}

// What a node reads comes before it, but for what goes around a loop; without recursion.
void Walk::visit(NodeId id) {
  stack_.emplace_back(id, 0);
  state_[index_of(id)] = kOpen;
  while (!stack_.empty()) {
    const NodeId node = stack_.back().first;
    const auto inputs = place_.producers.of(node);
    NodeId next = kNoNode;
    while (stack_.back().second < inputs.size() && next == kNoNode) {
      const NodeId producer = inputs[stack_.back().second++];
      if (state_[index_of(producer)] != kFresh) continue;
      if (place_.graph.is(producer, OpKind::kNextIteration) && place_.graph.is(node, OpKind::kMerge))
        continue;
      next = producer;
    }
    if (next != kNoNode) {
      state_[index_of(next)] = kOpen;
      stack_.emplace_back(next, 0);
      continue;
    }
    evaluate(node);
    state_[index_of(node)] = kDone;
    stack_.pop_back();
  }
}

// Again what waited for something, and then whoever reads what is known otherwise now.
void Walk::settle_loops() {
  const Edges readers = reversed(place_.producers);
  std::vector<uint8_t> visits(place_.graph.size());
  std::set<std::pair<uint32_t, uint32_t>> queue;  // what comes first is asked first
  for (const NodeId id : waiting_) queue.emplace(first_[index_of(id)], index_of(id));
  while (!queue.empty()) {
    const NodeId id{queue.begin()->second};
    queue.erase(queue.begin());
    uint8_t& visited = visits[index_of(id)];
    if (visited > kMostVisits) continue;
    bool changed = evaluate(id);
    if (++visited > kMostVisits) {
      changed = true;
      for (uint32_t i = 0; i < count_[index_of(id)]; ++i) facts_[first_[index_of(id)] + i] = {};
    }
    if (!changed) continue;
    for (const NodeId reader : readers.of(id)) queue.emplace(first_[index_of(reader)], index_of(reader));
  }
}

uint32_t Walk::count_outputs(std::string_view node_def, const OpInfo& info) {
  if (info.outputs >= 0) return static_cast<uint32_t>(info.outputs);
  return info.defined ? static_cast<uint32_t>(output_count(info.def, node_def).value_or(1)) : 1;
}

uint32_t Walk::output_index(NodeId producer, std::string_view port) const {
  if (!place_.graph.is_body()) {
    Input input{{}, port};
    return input.index();
  }
  const BodyPort wanted = parse_body_port(port);
  const std::string_view node_def = place_.graph.bytes(producer);
  const OpInfo& info = ops_.of(producer);
  if (!info.defined) return wanted.number;
  const auto& outputs = info.def.outputs;
  size_t at = 0;
  while (at < outputs.size() && outputs[at].name != wanted.output) ++at;
  if (at == outputs.size()) return count_[index_of(producer)];  // which there is not
  if (info.outputs >= 0 || at == 0) return static_cast<uint32_t>(at) + wanted.number;
  const auto [known, fresh] = offsets_.try_emplace(index_of(producer));
  if (fresh) {
    std::vector<OutputName> names;
    known->second.assign(outputs.size(), count_[index_of(producer)]);
    if (output_names(info.def, node_def, names)) {
      size_t arg = 0;
      for (uint32_t i = 0; i < names.size(); ++i) {
        while (arg < outputs.size() && outputs[arg].name != names[i].arg) ++arg;
        if (arg < outputs.size() && names[i].index == 0) known->second[arg] = i;
      }
    }
  }
  return known->second[at] + wanted.number;
}

Fact Walk::input(std::string_view text) const {
  const Input parsed = parse_input_of(place_.graph, text);
  if (place_.arguments != nullptr) {
    const auto argument = place_.arguments->find(parsed.node);
    if (argument != place_.arguments->end())
      return argument->second < request_.arguments.size() ? request_.arguments[argument->second] : Fact();
  }
  const NodeId producer = place_.names.find(parsed.node);
  return producer == kNoNode ? Fact() : fact(producer, output_index(producer, parsed.port));
}

void Walk::read_inputs(Subject& subject, NodeId id) const {
  subject.start(request_.context << 32 | index_of(id));
  subject.node_def = place_.graph.bytes(id);
  subject.op = place_.graph.op(id);
  subject.attr_fields = {};
  subject.inputs.clear();
  subject.awaited.clear();
  const auto producers = place_.producers.of(id);
  size_t position = 0;
  for (Fields fields(subject.node_def); fields.next();) {
    if (fields->bytes(node_field::kInput)) {
      const size_t at = position++;
      if (fields->value.starts_with('^')) continue;
      if (!place_.producers.complete()) {
        const Input parsed = parse_input_of(place_.graph, fields->value);
        const NodeId producer = place_.names.find(parsed.node);
        subject.awaited.push_back(!state_.empty() && producer != kNoNode &&
                                  state_[index_of(producer)] != kDone);
        subject.inputs.push_back(input(fields->value));
        continue;
      }
      const NodeId producer = producers[at];
      const Input parsed = parse_input_of(place_.graph, fields->value);
      const uint32_t output = parsed.port.empty() ? 0 : output_index(producer, parsed.port);
      subject.awaited.push_back(!state_.empty() && state_[index_of(producer)] != kDone);
      subject.inputs.push_back(fact(producer, output));
    } else if (subject.attr_fields.empty() && fields->bytes(node_field::kAttr)) {
      subject.attr_fields = {fields->raw.data(), subject.node_def.end()};
    }
  }
}

// The same without a look at the record: of a node whose `count` data inputs are first_outputs, all there.
void Walk::take_first_outputs(NodeId id, uint32_t count) {
  subject_.start(request_.context << 32 | index_of(id));
  subject_.inputs.clear();
  subject_.awaited.clear();
  for (const NodeId producer : place_.producers.of(id).first(count)) {
    subject_.inputs.push_back(fact(producer, 0));
    subject_.awaited.push_back(state_[index_of(producer)] != kDone);
  }
}

void Walk::read_attrs(Subject& subject) {
  subject.attrs.clear();
  subject.of_tensorflow = false;
  for (Fields fields(subject.attr_fields); fields.next();) {
    if (!fields->bytes(node_field::kAttr)) continue;
    const MapEntry entry = map_entry(fields->value);
    subject.attrs.emplace_back(entry.key, entry.value);
    subject.of_tensorflow = subject.of_tensorflow || entry.key.starts_with('_');
  }
}

const std::vector<Fact>* AlikeNodes::find(uint16_t number, const std::vector<Fact>& inputs, bool trust) {
  place_ = places_;
  if (number == LikeNodes::kNone) return nullptr;
  uint64_t hash = number;
  for (const Fact& fact : inputs) {
    hash = (hash ^ (uint64_t{fact.shape} << 32 | fact.extra)) * 0x9e3779b97f4a7c15;
    hash ^= hash >> 32;
  }
  place_ = hash & (places_ - 1);
  if (known_.empty()) known_.resize(places_);
  const Known& known = known_[place_];
  const bool alike = known.number == number && known.trust == trust && known.inputs == inputs;
  return alike ? &known.outputs : nullptr;
}

void AlikeNodes::keep(uint16_t number, bool trust, const Subject& node) {
  if (place_ == places_ || node.own() || !node.contradiction.empty()) return;
  known_[place_] = {number, trust, node.inputs, node.outputs};
}

// Shapes that stand in the file: more than what was inferred, at places where that says nothing.
void Walk::take_file_shapes(const OpInfo& info) {
  const auto take = [&](const std::vector<ListId>& shapes) {
    for (size_t i = 0; i < shapes.size() && i < subject_.outputs.size(); ++i) {
      const std::string before = subject_.contradiction;
      const ListId both = subject_.agree(subject_.outputs[i].shape, shapes[i]);
      if (subject_.contradiction == before) subject_.outputs[i].shape = both;
    }
  };
  if (info.calls != OpInfo::Calls::kNothing) take(subject_.shapes_attr("output_shapes"));
  if (subject_.of_tensorflow) take(subject_.shapes_attr("_output_shapes"));
}

void Walk::start_facts(uint32_t i, uint32_t count) {
  first_[i] = static_cast<uint32_t>(facts_.size());
  count_[i] = count;
  facts_.resize(facts_.size() + count);
}

// What node `i`, which subject_ is, gives.
void Walk::infer(uint32_t i, const OpInfo& info, bool trust) {
  subject_.outputs.assign(count_[i], Fact());
  hold_ranks(subject_, info.ranks);
  if (info.rule != nullptr) {
    info.rule(subject_);
  } else {
    caller_.call(subject_, info, trust);
  }
  if (trust) take_file_shapes(info);
  if (subject_.of_tensorflow && !subject_.outputs.empty() && subject_.outputs[0].extra == 0 &&
      subject_.attr("_handle_shapes")) {
    const auto behind = subject_.shapes_attr("_handle_shapes");
    if (!behind.empty()) subject_.outputs[0].extra = handled(kScalar, behind[0]).extra;
  }
}

bool Walk::evaluate(NodeId id) {
  const uint32_t i = index_of(id);
  const uint16_t number = place_.like.of(id);
  const LikeKind& kind = place_.like.kind(number);
  const bool known_inputs = kind.first_outputs && place_.producers.complete();
  if (known_inputs) {
    take_first_outputs(id, kind.data_inputs);
  } else {
    read_inputs(subject_, id);
  }
  work_ += 1;
  const bool awaits = std::ranges::find(subject_.awaited, true) != subject_.awaited.end();
  const bool again = state_[i] == kDone;
  if (awaits && !again) waiting_.push_back(id);
  if (!request_.stated.empty()) {
    for (const NodeId producer : place_.producers.of(id)) {
      if (changed_.has(producer)) changed_.add(id);
    }
  }
  const OpInfo& info = ops_.of(id);
  const bool trust = trusted(id);
  // What functions give, they tell themselves.
  const bool repeats = info.rule != nullptr && !awaits && !again;
  if (const auto* known = repeats ? alike_.find(number, subject_.inputs, trust) : nullptr) {
    subject_.outputs = *known;
    start_facts(i, static_cast<uint32_t>(known->size()));
  } else {
    if (known_inputs) read_inputs(subject_, id);
    read_attrs(subject_);
    if (!again) start_facts(i, count_outputs(subject_.node_def, info));
    infer(i, info, trust);
    if (repeats) alike_.keep(number, trust, subject_);
  }
  if (const auto stated = request_.stated.find(i); stated != request_.stated.end()) {
    for (const auto& [output, shape] : stated->second) {
      if (output >= count_[i]) continue;
      subject_.outputs[output] = {shape, 0};
      changed_.add(id);
      subject_.contradiction.clear();
    }
  }
  if (!subject_.contradiction.empty()) {
    contradictions_[i] = subject_.contradiction;
  } else if (again) {
    contradictions_.erase(i);
  }
  bool changed = false;
  for (uint32_t k = 0; k < count_[i]; ++k) {
    Fact& known = facts_[first_[i] + k];
    changed = changed || known != subject_.outputs[k];
    known = subject_.outputs[k];
  }
  return changed;
}

Shape Walk::shape_of(ListId id) const {
  if (id == kNoRank) return std::nullopt;
  std::vector<int64_t> dims;
  for (const Dim dim : dims_.of(id)) dims.push_back(is_number(dim) ? dim : -1);
  return dims;
}

Shape Walk::shape(NodeId id, uint32_t output) const { return shape_of(fact(id, output).shape); }

std::vector<uint32_t> Walk::symbols_of(ListId list) const {
  std::vector<uint32_t> found;
  if (list == kNoRank) return found;
  for (const Dim dim : dims_.of(list))
    found.push_back(is_symbol(dim) ? static_cast<uint32_t>(dim - kUnknown) : 0);
  return found;
}

std::optional<std::vector<std::optional<int64_t>>> Walk::elements_of(const Fact& known) const {
  if (!known.has_value()) return std::nullopt;
  std::vector<std::optional<int64_t>> found;
  for (const Dim dim : dims_.of(known.list()))
    found.push_back(is_number(dim) ? std::optional<int64_t>(dim) : std::nullopt);
  return found;
}

std::vector<uint32_t> Walk::symbols(NodeId id, uint32_t output) const {
  return symbols_of(fact(id, output).shape);
}

std::optional<std::vector<std::optional<int64_t>>> Walk::elements(NodeId id, uint32_t output) const {
  return elements_of(fact(id, output));
}

Shape Walk::behind(NodeId id, uint32_t output) const {
  const Fact known = fact(id, output);
  return known.has_handle() ? shape_of(known.list()) : std::nullopt;
}

std::vector<Shape> Walk::input_shapes(NodeId id) const {
  std::vector<Shape> found;
  Subject subject(dims_, 0);
  prepare(subject, id);
  for (const Fact& fact : subject.inputs) found.push_back(shape_of(fact.shape));
  return found;
}

std::vector<TensorFacts> Walk::inputs(NodeId id) const {
  std::vector<TensorFacts> found;
  Subject subject(dims_, 0);
  prepare(subject, id);
  for (const Fact& fact : subject.inputs)
    found.push_back({shape_of(fact.shape), symbols_of(fact.shape), elements_of(fact)});
  return found;
}

}  // namespace gedit::shaping
