#include "shape/walk.h"

#include <algorithm>
#include <set>

#include "graph/types.h"
#include "graph/wiring.h"
#include "ops/kinds.h"

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
      ops_(ops),
      caller_(caller),
      place_(place),
      request_(std::move(request)),
      subject_(dims, 0) {
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
      const std::string_view op = node_op(place_.graph.bytes(producer));
      if (is_next_iteration_op(op) && is_merge_op(node_op(place_.graph.bytes(node)))) continue;
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
  if (info.defined && output_types(info.def, node_def, types_)) return static_cast<uint32_t>(types_.size());
  return 1;
}

uint32_t Walk::output_index(NodeId producer, std::string_view port) const {
  if (!place_.graph.is_body()) {
    Input input{{}, port};
    return input.index();
  }
  const BodyPort wanted = parse_body_port(port);
  const std::string_view node_def = place_.graph.bytes(producer);
  const OpInfo& info = ops_.of(node_op(node_def));
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

void Walk::prepare(Subject& subject, NodeId id) const {
  subject.start(request_.context << 32 | index_of(id));
  subject.node_def = place_.graph.bytes(id);
  subject.op = node_op(subject.node_def);
  subject.inputs.clear();
  subject.awaited.clear();
  subject.attrs.clear();
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
    } else if (fields->bytes(node_field::kAttr)) {
      const MapEntry entry = map_entry(fields->value);
      subject.attrs.emplace_back(entry.key, entry.value);
    }
  }
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
  take(subject_.shapes_attr("_output_shapes"));
}

bool Walk::evaluate(NodeId id) {
  const uint32_t i = index_of(id);
  prepare(subject_, id);
  work_ += 1;
  if (std::ranges::find(subject_.awaited, true) != subject_.awaited.end() && state_[i] != kDone)
    waiting_.push_back(id);
  const OpInfo& info = ops_.of(subject_.op);
  const bool again = state_[i] == kDone;
  if (!again) {
    first_[i] = static_cast<uint32_t>(facts_.size());
    count_[i] = count_outputs(subject_.node_def, info);
    facts_.resize(facts_.size() + count_[i]);
  }
  if (!request_.stated.empty()) {
    for (const NodeId producer : place_.producers.of(id)) {
      if (changed_.has(producer)) changed_.add(id);
    }
  }
  subject_.outputs.assign(count_[i], Fact());
  const bool trust = trusted(id);
  if (info.rule != nullptr) {
    info.rule(subject_);
  } else {
    caller_.call(subject_, info, trust);
  }
  if (trust) take_file_shapes(info);
  if (!subject_.outputs.empty() && subject_.outputs[0].extra == 0 && subject_.attr("_handle_shapes")) {
    const auto behind = subject_.shapes_attr("_handle_shapes");
    if (!behind.empty()) subject_.outputs[0].extra = handled(kScalar, behind[0]).extra;
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
