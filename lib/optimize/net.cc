#include "optimize/net.h"

#include <algorithm>
#include <atomic>
#include <cassert>
#include <charconv>

#include "base/error.h"
#include "base/parallel.h"
#include "graph/alike.h"
#include "graph/colocation.h"
#include "graph/index.h"
#include "graph/library.h"
#include "graph/node_front.h"
#include "graph/types.h"
#include "graph/wiring.h"

namespace gedit::optimizing {
namespace {

constexpr size_t kMostAlike = size_t{1} << 16;  // bytes of attributes that are compared as they are written

// As Net::text() has it; of a main graph, in the node of that name.
void append_input(std::string_view name, In in, std::string& record) {
  char port[12] = ":";
  size_t size = 0;  // of the port
  if (!in.control() && in.index != 0)
    size = static_cast<size_t>(std::to_chars(port + 1, std::end(port), in.index).ptr - port);
  append_tag(record, node_field::kInput, Wire::kBytes);
  append_varint(record, name.size() + size + (in.control() ? 1 : 0));
  if (in.control()) record += '^';
  record += name;
  record.append(port, size);
}

}  // namespace

Net::Net(Graph& graph, Registry& ops, Labels& labels, const GraphIndex* known)
    : graph_(graph),
      ops_(ops),
      labels_(labels),
      names_(known != nullptr ? known->names() : own_names_.emplace(graph)),
      new_names_(names_),
      ops_there_{labels} {
  nodes_.resize(graph.size());
  if (in_body()) {
    for (const std::string_view name : argument_names(function_signature(graph))) {
      arguments_.emplace(name, static_cast<uint32_t>(argument_names_.size()));
      argument_names_.push_back(name);
      new_names_.reserve(name);
    }
  }
  const OpsOf<OpTable> ops_of(graph, ops_there_);
  Edges own;
  if (known == nullptr) own = producers(graph, names_);
  const Edges& sources = known == nullptr ? own : known->producers();
  // What an input of a body means the op says that it names, wherever that stands.
  for (Number n = 0; n < size() && in_body(); ++n) {
    nodes_[n] = Node();
    if (graph.removed(NodeId{n})) continue;
    nodes_[n].def = graph.bytes(NodeId{n});
    nodes_[n].op = ops_of.of(NodeId{n}).op;
  }
  // Where each input has a node it is known where those of a node lie. On all cores then; but ops are asked
  // for a body's words by one at a time.
  const bool placed = sources.complete();
  const size_t piece = in_body() || !placed ? std::max<size_t>(size(), 1) : kPerPiece;
  if (placed) ins_.resize(sources.count());
  std::atomic<uint32_t> there = 0;
  std::atomic<bool> any_class = false;
  const auto look = [&](size_t, PieceRange range) {
    ConstsAlike consts;
    AlikeAttrs<bool> classes(graph);
    uint32_t count = 0;
    for (Number n = range.begin; n < range.end; ++n) {
      graph.expect_behind(NodeId{n}, range.end);
      if (!in_body()) nodes_[n] = Node();
      if (graph.removed(NodeId{n})) continue;
      nodes_[n].there = true;
      ++count;
      Node& node = nodes_[n];
      node.begin = static_cast<uint32_t>(placed ? sources.count_before(NodeId{n}) : ins_.size());
      if (!placed) ins_.resize(ins_.size() + input_views(graph.bytes(NodeId{n})).size());
      read_node(n, ops_of.of(NodeId{n}), placed ? &sources : nullptr, consts);
      const std::string_view attrs = node.def.substr(node.def.size() - node.attrs);
      const bool* const known_class = classes.find(NodeId{n}, attrs);
      node.may_have_class =
          known_class != nullptr ? *known_class : may_have_class(attrs.empty() ? node.def : attrs);
      if (known_class == nullptr) classes.keep(NodeId{n}, attrs, node.may_have_class);
      if (node.may_have_class) any_class = true;
    }
    there += count;
  };
  in_pieces(size(), look, piece);
  there_ = there;
  any_class_ = any_class;
}

// In one look at its record; data inputs first.
void Net::read_node(Number n, const OpFacts& facts, const Edges* producers, ConstsAlike& consts) {
  Node& node = nodes_[n];
  In* const ins = ins_.data() + node.begin;
  const NodeId* producer = producers != nullptr ? producers->of(NodeId{n}).data() : nullptr;
  const bool first_outputs = producers != nullptr && !in_body() && producers->first_outputs(NodeId{n});
  put_def(node, graph_.bytes(NodeId{n}), facts, true, [&](std::string_view text) {
    if (first_outputs) {
      ins[node.count++] = {index_of(*producer++), 0};
      return;
    }
    if (text.starts_with('^') && arguments_.contains(text.substr(1))) return;  // which are there anyway
    const std::optional<In> in =
        producer != nullptr ? input_from(index_of(*producer++), parse_input_of(graph_, text)) : find(text);
    if (!in)
      throw refused("reads '" + printable(text) + "', which is not there")
          .of(quoted("node", node_name(node.def)))
          .hint("gedit check");
    ins[node.count++] = *in;
    if (!in->control()) {
      std::rotate(ins + node.data, ins + node.count - 1, ins + node.count);
      ++node.data;
    }
  });
  if (first_outputs) node.data = node.count;
  if (facts.op->kinds.has(OpKind::kConst)) consts.look_at(n, node);
}

Number Net::find_node(std::string_view name) const {
  const NodeId id = names_.find(name);
  if (id != kNoNode) return index_of(id);
  const auto found = added_.find(name);
  return found == added_.end() ? In::kArgument : found->second;
}

NodeSet Net::all() const {
  NodeSet all = NodeSet::all(size());
  for (Number n = 0; all.count() > there_; ++n) {
    if (!there(n)) all.remove(NodeId{n});
  }
  return all;
}

// The number of an output that a body calls by name.
std::optional<uint32_t> Net::port(Number producer, std::string_view port) const {
  const ProofOp& op = *nodes_[producer].op;
  const BodyPort wanted = parse_body_port(port);
  if (op.known && !op.def.outputs.empty() && op.def.outputs[0].name == wanted.output) return wanted.number;
  return body_output_index(ops_, def(producer), port);
}

std::optional<In> Net::find(std::string_view text) const {
  const Input input = parse_input_of(graph_, text);
  if (in_body() && !input.control) {
    const auto argument = arguments_.find(input.node);
    if (argument != arguments_.end() && input.port.empty()) return In{In::kArgument, argument->second};
  }
  const Number n = find_node(input.node);
  if (n == In::kArgument) return std::nullopt;
  return input_from(n, input);
}

std::optional<In> Net::input_from(Number n, const Input& input) const {
  if (input.control) return control_of(n);
  const std::optional<uint32_t> index = in_body() ? port(n, input.port) : input.index();
  if (!index || *index == In::kControl) return std::nullopt;  // no node has as many outputs
  return In{n, *index};
}

std::optional<Number> Net::same_const(Number n) const {
  const Node& node = nodes_[n];
  if (node.label == kNoLabel) return std::nullopt;
  const Node& other = nodes_[node.label];  // which may have become another node since
  return other.label == node.label && other.op == node.op ? std::optional(Number{node.label}) : std::nullopt;
}

LabelId Net::label(Number n) {
  Node& node = nodes_[n];
  assert(!node.op->kinds.has(OpKind::kConst));
  if (node.label == kNoLabel)
    node.label =
        labels_.label_of(node.def, node.op->name, node.def.substr(node.def.size() - node.attrs), text_);
  return node.label;
}

const Net::OpFacts& Net::OpTable::of(std::string_view op) {
  const ProofOp* const proof_op = &labels.op(op);
  const auto found = known.find(proof_op);
  if (found != known.end()) return found->second;
  const What what = what_of(op);
  return known.emplace(proof_op, OpFacts{proof_op, what, asks_of(*proof_op, what)}).first->second;
}

// Calls read(input) for each. What a Const holds may be looked at `later`. Where inputs and device stand in
// front of attributes these are passed over.
template <typename Read>
void Net::put_def(Node& node, std::string_view def, const OpFacts& facts, bool later, Read read) const {
  node.def = def;
  node.op = facts.op;
  node.what = facts.what;
  node.asks = facts.asks;
  node.has_device = false;
  const char* first_attr = nullptr;
  if (later && graph_.inputs_lead()) {
    const size_t front = each_before_attrs(def, [&](uint32_t number, std::string_view value) {
      if (number == node_field::kInput) read(value);
      if (number == node_field::kDevice) node.has_device = true;
    });
    if (front < def.size()) first_attr = def.data() + front;
  } else {
    for (Fields fields(def); fields.next();) {
      if (fields->bytes(node_field::kInput)) read(fields->value);
      if (fields->bytes(node_field::kDevice)) node.has_device = true;
      if (first_attr == nullptr && fields->bytes(node_field::kAttr)) first_attr = fields->raw.data();
    }
  }
  const std::string_view attrs = first_attr == nullptr ? std::string_view() : attrs_from(first_attr, def);
  node.attrs = static_cast<uint32_t>(attrs.size());
  node.constant = {};
  if (later) return;
  if (facts.op->kinds.has(OpKind::kConst)) node.constant = const_facts(def);
  node.may_have_class = true;  // it is not looked for
}

void Net::ConstsAlike::look_at(Number n, Node& node) {
  const std::string_view attrs = node.def.substr(node.def.size() - node.attrs);
  if (attrs.empty() || attrs.size() > kMostAlike) {
    node.constant = const_facts(node.def);
    return;
  }
  // Mostly as the one before it.
  if (known_.empty() || known_[last_].attrs != attrs) {
    const uint64_t hash = name_hash(attrs);
    last_ = index_.find(hash, [&](uint32_t i) { return known_[i].attrs == attrs; });
    if (last_ == HashIndex::kNone) {
      last_ = static_cast<uint32_t>(known_.size());
      index_.add(hash, last_);
      known_.push_back({attrs, const_facts(node.def), n});
    }
  }
  node.constant = known_[last_].facts;
  node.label = known_[last_].first;
}

void Net::put_inputs(Node& node, std::span<const In> inputs) {
  uint32_t data = 0;
  while (data < inputs.size() && !inputs[data].control()) ++data;
  if (inputs.size() > node.count) {
    node.begin = static_cast<uint32_t>(ins_.size());
    ins_.insert(ins_.end(), inputs.begin(), inputs.end());
  } else {
    std::copy(inputs.begin(), inputs.end(), ins_.begin() + node.begin);
  }
  node.count = static_cast<uint32_t>(inputs.size());
  node.data = data;
  node.rewired = true;
  changed_ = true;
}

void Net::set_inputs(Number n, std::span<const In> inputs) { put_inputs(nodes_[n], inputs); }

void Net::become(Number n, std::string node_def, const std::vector<In>& inputs) {
  Node& node = nodes_[n];
  const std::string_view def = graph_.arena()->keep(std::move(node_def));
  put_def(node, def, ops_there_.of(node_op(def)), false, [](std::string_view) {});
  node.label = kNoLabel;
  node.made = any_made_ = any_class_ = true;
  put_inputs(node, inputs);
}

Number Net::append(std::string_view base, std::string_view op,
                   const std::vector<std::pair<std::string, std::string>>& attrs, std::string_view device,
                   const std::vector<In>& inputs) {
  NodeBuilder builder(new_names_.free(base), op);
  builder.device(device);
  for (const auto& [key, value] : attrs) builder.attr(key, value);
  Node node;
  node.there = true;
  const std::string_view def = graph_.arena()->keep(builder.take());
  put_def(node, def, ops_there_.of(node_op(def)), false, [](std::string_view) {});
  node.made = any_made_ = any_class_ = true;
  put_inputs(node, inputs);
  nodes_.push_back(node);
  ++there_;
  added_.emplace(node_name(node.def), size() - 1);
  return size() - 1;
}

void Net::remove(Number n) {
  there_ -= there(n) ? 1 : 0;
  nodes_[n].there = false;
  any_gone_ = changed_ = true;
}

uint32_t Net::outputs(Number n) {
  const ProofOp& op = *nodes_[n].op;
  return op.known ? static_cast<uint32_t>(output_count(op.def, def(n)).value_or(0)) : 0;
}

DType Net::type(In in) {
  if (in.argument() || in.control()) return DType::kInvalid;
  const ProofOp& op = *nodes_[in.node].op;
  return op.known ? output_type(op.def, def(in.node), in.index) : DType::kInvalid;
}

std::string Net::text(In in) const {
  if (in.argument()) return std::string(argument_names_[in.index]);
  if (in.control()) return "^" + std::string(name(in.node));
  if (!in_body()) return tensor_text(name(in.node), in.index);
  const std::optional<std::string> text = body_output_text(ops_, def(in.node), name(in.node), in.index);
  if (!text) throw refused("has an output that has no name").of(quoted("node", name(in.node)));
  return *text;
}

// Without entries of `_class` that name what is gone; empty where there are none.
void Net::forget_colocations() {
  if (!any_gone_ || !any_class_) return;
  const auto is_gone = [&](std::string_view name) {
    const Number n = find_node(name);
    return n != In::kArgument && !nodes_[n].there;
  };
  const auto look = [&](PieceRange range) {
    std::vector<std::pair<Number, std::string>> shrunk;
    for (Number n = range.begin; n < range.end; ++n) {
      if (!nodes_[n].there || !nodes_[n].may_have_class) continue;
      if (auto left = without_colocations(nodes_[n].def, is_gone)) shrunk.emplace_back(n, std::move(*left));
    }
    return shrunk;
  };
  for (auto& [n, left] : found_in_pieces(size(), look)) {
    nodes_[n].def = graph_.arena()->keep(std::move(left));
    nodes_[n].made = any_made_ = true;
  }
}

void Net::store() {
  forget_colocations();
  // What only reads others is made on all cores; but in a body, where the ops are asked for words. Records of
  // a piece are megabytes of a large graph, which come in large pages.
  const uint32_t stood = graph_.size();
  const size_t piece = in_body() ? std::max<size_t>(stood, 1) : std::max<size_t>(4 * kPerPiece, stood / 16);
  struct Made {
    std::vector<Graph::Rewritten> nodes;
    std::string records;
  };
  const auto make = [&](PieceRange range) {
    Made made;
    store_some(range, made.nodes, made.records);
    return made;
  };
  for (Made& some : made_in_pieces(stood, make, piece)) {
    if (!some.nodes.empty()) graph_.replace_all(some.nodes, std::move(some.records));
  }
  struct Left {
    std::vector<NodeId> gone;
    std::vector<Number> made;
  };
  const auto settle = [&](PieceRange range) {
    Left left;
    for (Number n = range.begin; n < range.end; ++n) {
      Node& node = nodes_[n];
      if (!node.there) {
        if (n < stood && !graph_.removed(NodeId{n})) left.gone.push_back(NodeId{n});
      } else if (node.made) {
        left.made.push_back(n);
      } else {
        node.rewired = false;
      }
    }
    return left;
  };
  for (const Left& left : made_in_pieces(size(), settle)) {
    graph_.remove_all(left.gone);
    for (const Number n : left.made) {
      std::string def;
      append_rewired(n, around_inputs(nodes_[n]), def);
      if (n < stood) {
        graph_.replace(NodeId{n}, def);
      } else {
        graph_.append(def);
      }
      nodes_[n].rewired = nodes_[n].made = false;
    }
  }
  changed_ = any_made_ = false;
}

// Records of nodes that read others than they did.
void Net::store_some(PieceRange range, std::vector<Graph::Rewritten>& nodes, std::string& records) const {
  const auto is_rewritten = [&](Number n) {
    const Node& node = nodes_[n];
    if (!node.there || node.made) return false;
    // In a body an input names the output by the op's own word, and another op has others.
    return node.rewired || (any_made_ && std::ranges::any_of(inputs(n), [&](const In& in) {
                              return !in.argument() && !in.control() && nodes_[in.node].made;
                            }));
  };
  std::vector<Number> rewritten;
  size_t bytes = 0;  // that they have now: mostly they have as many then
  for (Number n = range.begin; n < range.end; ++n) {
    if (!is_rewritten(n)) continue;
    rewritten.push_back(n);
    bytes += 1 + varint_size(nodes_[n].def.size()) + nodes_[n].def.size();
  }
  nodes.reserve(rewritten.size());
  records.reserve(bytes);
  std::string node_def;
  for (size_t k = 0; k < rewritten.size(); ++k) {
    if (k + Graph::kAhead < rewritten.size()) graph_.expect(NodeId{rewritten[k + Graph::kAhead]});
    const NodeId id{rewritten[k]};
    node_def.clear();
    append_rewired(rewritten[k], around_inputs(nodes_[rewritten[k]]), node_def);
    const size_t begin = records.size();
    append_bytes_field(records, graph_.node_field(), node_def);
    nodes.push_back({id, graph_.op_number(id), static_cast<uint32_t>(records.size() - begin)});
  }
}

// Nothing where they do not stand in one place.
std::optional<Net::Around> Net::around_inputs(const Node& node) const {
  const std::string_view def = node.def;
  const bool lead = graph_.inputs_lead() && !node.made;
  if (lead && !node.has_device && node.attrs > 0) {
    // Mostly they are all that stands between op and attributes.
    const std::string_view op = node_op(def), behind = def.substr(def.size() - node.attrs);
    if (!op.empty()) return Around{{def.data(), op.end()}, behind};
  }
  if (!lead && !fields_ascend(def)) return std::nullopt;
  const char *begin = def.data(), *end = def.data();  // of the inputs that it had
  each_before_attrs(def, [&](uint32_t number, std::string_view value) {
    if (number <= node_field::kInput) end = value.end();
    if (number < node_field::kInput) begin = end;
  });
  return Around{{def.data(), begin}, {end, def.end()}};
}

// As with_inputs() does it.
void Net::append_rewired(Number n, const std::optional<Around>& around, std::string& def) const {
  if (!around) {
    std::vector<std::string> texts;
    for (const In& in : inputs(n)) texts.push_back(text(in));
    def += with_inputs(nodes_[n].def, texts);
    return;
  }
  def += around->before;
  for (const In& in : inputs(n)) {
    if (in_body()) {
      append_bytes_field(def, node_field::kInput, text(in));
    } else {
      append_input(name(in.node), in, def);
    }
  }
  def += around->behind;
}

}  // namespace gedit::optimizing
