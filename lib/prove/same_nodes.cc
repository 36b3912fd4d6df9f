// The claim "node i gives the same in both" is checked for each node by what the nodes that it reads are
// claimed to give. In a graph without cycles that proves all of them, each by those before it: so the nodes
// can be looked at in any order, on all cores, and nothing is kept of them.
#include "prove/same_nodes.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/error.h"
#include "base/parallel.h"
#include "prove/conduct.h"
#include "prove/contents.h"
#include "prove/input_texts.h"
#include "select/tensors.h"

namespace gedit {
namespace {

// What they give follows from more than what they read.
constexpr OpKinds kOfMore = OpKind::kSwitch | OpKind::kMerge | OpKind::kEnter | OpKind::kExit |
                            OpKind::kNextIteration | OpKind::kLoopCond | OpKind::kTensorArray |
                            OpKind::kMakesTensorArray | OpKind::kWhile | OpKind::kIf | OpKind::kCase |
                            OpKind::kCall;

enum class Gives : uint8_t {
  kMore,    // nothing is said here of graphs with such nodes
  kInput,   // what is fed under its name
  kConst,   // what it holds
  kPassed,  // what it reads
  kMade,    // what follows from what it reads
};

class GivesTable {
 public:
  explicit GivesTable(Registry& ops) : ops_(ops) {}
  const Gives& of(std::string_view op) {
    const auto [found, fresh] = known_.try_emplace(op, Gives::kMore);
    if (fresh) found->second = gives(op);
    return found->second;
  }

 private:
  Gives gives(std::string_view op) const {
    const OpKinds kinds = kinds_of(op);
    const std::string_view bytes = ops_.find(op);
    if (bytes.empty() || kinds.has_any(kOfMore)) return Gives::kMore;
    if (kinds.has(OpKind::kConst)) return Gives::kConst;
    if (kinds.has(OpKind::kPlaceholder)) return Gives::kInput;
    const OpDef op_def = parse_op_def(bytes);
    // What a function is its name does not say.
    for (const AttrDef& attr : op_def.attrs) {
      if (attr.type == "func" || attr.type == "list(func)") return Gives::kMore;
    }
    switch (conduct_of(op, &op_def)) {
      case Conduct::kPure:
        return Gives::kMade;
      case Conduct::kPasses:
        return Gives::kPassed;
      default:
        return Gives::kMore;
    }
  }

  Registry& ops_;
  std::unordered_map<std::string_view, Gives> known_;
};

std::string_view value_proto(std::string_view const_def) {
  const auto value = find_attr(const_def, "value");
  return value ? last_bytes(*value, attr_field::kTensor) : std::string_view();
}

class SameNodes {
 public:
  SameNodes(const ProofSide& a, const GraphIndex& index, const ProofSide& b)
      : a_(a.model.graph()),
        b_(b.model.graph()),
        index_(index),
        table_(a.ops),
        ops_a_(a_, table_),
        ops_b_(b_, table_) {}

  // Whether anything can be said of these graphs here.
  bool is_plain() {
    for (const Graph* graph : {&a_, &b_}) {
      for (const auto& [op, count] : graph->op_counts()) {
        if (table_.of(op) == Gives::kMore) return false;
      }
    }
    // What was appended is found by its name, which nothing else has.
    for (uint32_t i = a_.size(); i < b_.size(); ++i) {
      if (b_.removed(NodeId{i})) continue;
      const NodeId other = index_.names().find(b_.name(NodeId{i}));
      if (other != kNoNode && !b_.removed(other)) return false;
      if (!appended_.emplace(b_.name(NodeId{i}), NodeId{i}).second) return false;
    }
    return true;
  }

  bool run(const std::vector<NodeId>& outputs) {
    std::atomic<bool> unlike = false;
    const auto pieces = made_in_pieces(a_.size(), [&](PieceRange nodes) {
      Piece piece;
      Looking looking;
      if (!unlike && !look(nodes, looking, piece)) unlike = true;
      return piece;
    });
    if (unlike) return false;
    bool walk = !appended_.empty();
    Looking looking;
    looking.contents = &contents_;
    for (const Piece& piece : pieces) {
      walk = walk || piece.forward;
      for (const NodeId id : piece.open) {
        bool forward = false;
        if (is_same(id, a_.bytes(id), b_.bytes(id), looking, forward)) continue;
        differ_.push_back(id);
        walk = true;
      }
    }
    return !walk || walk_from(outputs);
  }

 private:
  struct Tensor {
    NodeId node;
    uint32_t index;
    bool operator==(const Tensor&) const = default;
  };
  struct Piece {
    std::vector<NodeId> open;  // not the same as far as was seen
    bool forward = false;      // a node reads one that stands behind it
  };
  // What is needed while nodes are looked at, of one thread.
  struct Looking {
    InputTexts a, b, left, right;
    std::vector<std::pair<Tensor, Tensor>> equal;  // of A, to be found the same
    Contents* contents = nullptr;                  // null: constants are only compared as they are written
    std::map<std::pair<const char*, const char*>, bool> long_ones{};  // constants that were compared
  };

  // False where a node has another name, so that A's names are not those of B.
  bool look(PieceRange nodes, Looking& looking, Piece& piece) {
    for (uint32_t i = nodes.begin; i < nodes.end; ++i) {
      const NodeId id{i};
      const NodeId next{i + Graph::kAhead};
      if (index_of(next) < nodes.end && a_.place(next) != b_.place(next)) {
        a_.expect(next);
        b_.expect(next);
      }
      if (b_.removed(id)) continue;
      if (a_.removed(id)) return false;
      if (a_.place(id) != b_.place(id)) {
        const std::string_view def_a = a_.bytes(id), def_b = b_.bytes(id);
        if (node_name(def_a) != node_name(def_b)) return false;
        if (!is_same(id, def_a, def_b, looking, piece.forward)) piece.open.push_back(id);
        continue;
      }
      bool there = true;
      for (const NodeId from : index_.producers().of(id)) {
        there = there && !b_.removed(from);
        piece.forward = piece.forward || index_of(from) >= i;
      }
      if (!there) piece.open.push_back(id);
    }
    return true;
  }

  // By what stands in the records of both, and what the nodes that they read give in A.
  bool is_same(NodeId id, std::string_view def_a, std::string_view def_b, Looking& looking,
               bool& forward) const {
    if (!looking.a.read(def_a)) return false;
    const bool alike = looking.b.read_alike(def_b, def_a, looking.a) ||
                       (node_op(def_a) == node_op(def_b) && fields_ascend(def_b) && looking.b.read(def_b) &&
                        alike_attributes(looking.a.attrs, looking.b.attrs));
    if (!alike || looking.a.data != looking.b.data) return false;
    const std::span<const NodeId> from_a = index_.producers().of(id);
    for (size_t k = 0; k < looking.b.inputs.size(); ++k) {
      if (k < from_a.size() && looking.b.inputs[k] == looking.a.inputs[k] && !b_.removed(from_a[k])) {
        forward = forward || from_a[k] >= id;
        continue;
      }
      const Input input_b = parse_input(looking.b.inputs[k]);
      const NodeId from_b = find_in_b(input_b.node, k < from_a.size() ? from_a[k] : kNoNode);
      if (from_b == kNoNode) return false;
      forward = forward || from_b >= id;
      if (input_b.control) continue;
      const Tensor tensor_a{from_a[k], parse_input(looking.a.inputs[k]).index()};
      const Tensor tensor_b{from_b, input_b.index()};
      if (tensor_a != tensor_b && !gives_same(tensor_a, tensor_b, looking)) return false;
    }
    return true;
  }

  // `near`: the node that it mostly is.
  NodeId find_in_b(std::string_view name, NodeId near) const {
    if (near != kNoNode && !b_.removed(near) && a_.name(near) == name) return near;
    const NodeId id = index_.names().find(name);
    if (id != kNoNode && !b_.removed(id)) return id;
    const auto found = appended_.find(name);
    return found == appended_.end() ? kNoNode : found->second;
  }

  bool gives_same(Tensor a, Tensor b, Looking& looking) const {
    for (int step = 0; index_of(b.node) >= a_.size(); ++step) {
      // Of what only B has: what passes on, and a constant.
      const std::string_view def = b_.bytes(b.node);
      if (step == kMostSteps || !fields_ascend(def)) return false;
      const Gives gives = ops_b_.of(b.node);
      if (gives == Gives::kConst && b.index == 0) {
        const Tensor source = passed(a, looking.left);
        return source.index == 0 && ops_a_.of(source.node) == Gives::kConst &&
               same_values(value_proto(a_.bytes(source.node)), value_proto(def), looking);
      }
      if (gives != Gives::kPassed || !looking.right.read_short(def)) return false;
      const size_t slot = looking.right.data == 1 ? 0 : b.index;
      if (slot >= looking.right.data || (looking.right.data == 1 && b.index != 0)) return false;
      const Input input = parse_input(looking.right.inputs[slot]);
      b = {find_in_b(input.node, kNoNode), input.index()};
      if (b.node == kNoNode) return false;
    }
    return equal_in_a(a, b, looking);
  }

  // Of two tensors of A: unfolded until they meet, or a few steps were taken.
  bool equal_in_a(Tensor a, Tensor b, Looking& looking) const {
    looking.equal.assign(1, {a, b});
    for (int step = 0; !looking.equal.empty(); ++step) {
      if (step == kMostSteps) return false;
      const auto [first, second] = looking.equal.back();
      looking.equal.pop_back();
      const Tensor left = passed(first, looking.left), right = passed(second, looking.right);
      if (left == right) continue;
      const std::string_view def_left = a_.bytes(left.node), def_right = a_.bytes(right.node);
      const Gives gives = ops_a_.of(left.node);
      if (left.index != right.index || node_op(def_left) != node_op(def_right)) return false;
      if (gives == Gives::kConst) {
        const std::string_view attrs = attrs_of(def_left);
        if (left.index == 0 && !attrs.empty() && attrs == attrs_of(def_right)) continue;
        if (left.index != 0 || !same_values(value_proto(def_left), value_proto(def_right), looking))
          return false;
        continue;
      }
      if (gives != Gives::kMade || !looking.left.read_short(def_left) ||
          !looking.right.read_short(def_right) || looking.left.data != looking.right.data ||
          looking.left.data == 0 || !alike_attributes(looking.left.attrs, looking.right.attrs))
        return false;
      for (size_t k = 0; k < looking.left.data; ++k) {
        looking.equal.push_back(
            {{index_.producers().of(left.node)[k], parse_input(looking.left.inputs[k]).index()},
             {index_.producers().of(right.node)[k], parse_input(looking.right.inputs[k]).index()}});
      }
    }
    return true;
  }

  // The tensor of A that is passed on.
  Tensor passed(Tensor tensor, InputTexts& text) const {
    for (int step = 0; step < kMostSteps && ops_a_.of(tensor.node) == Gives::kPassed; ++step) {
      if (!text.read_short(a_.bytes(tensor.node))) break;
      const size_t slot = text.data == 1 ? 0 : tensor.index;
      if (slot >= text.data || (text.data == 1 && tensor.index != 0)) break;
      tensor = {index_.producers().of(tensor.node)[slot], parse_input(text.inputs[slot]).index()};
    }
    return tensor;
  }

  static bool same_values(std::string_view a, std::string_view b, Looking& looking) {
    constexpr size_t kLong = 4096;
    if (a.size() <= kLong && a == b) return true;
    if (looking.contents == nullptr) return false;
    if (std::max(a.size(), b.size()) <= kLong)
      return looking.contents->of_tensor(a) == looking.contents->of_tensor(b);
    // Once for all who read them.
    const auto [found, fresh] = looking.long_ones.try_emplace({a.data(), b.data()});
    if (fresh) found->second = a == b || looking.contents->of_tensor(a) == looking.contents->of_tensor(b);
    return found->second;
  }

  // Whether all that the outputs need is the same, and in no cycle.
  bool walk_from(const std::vector<NodeId>& outputs) {
    enum : uint8_t { kNew, kOpen, kDone, kDiffers };
    std::vector<uint8_t> state(b_.size(), kNew);
    for (const NodeId id : differ_) state[index_of(id)] = kDiffers;
    struct Step {
      NodeId node;
      size_t begin;  // of its inputs, which end the stack of inputs
    };
    std::vector<Step> steps;
    std::vector<NodeId> reads;
    InputTexts text;
    const auto begin = [&](NodeId id) {
      state[index_of(id)] = kOpen;
      steps.push_back({id, reads.size()});
      if (index_of(id) < a_.size() && a_.place(id) == b_.place(id)) {
        const std::span<const NodeId> same = index_.producers().of(id);
        reads.insert(reads.end(), same.begin(), same.end());
        return true;
      }
      if (!fields_ascend(b_.bytes(id)) || !text.read(b_.bytes(id))) return false;
      for (const std::string_view input : text.inputs) {
        reads.push_back(find_in_b(parse_input(input).node, kNoNode));
        if (reads.back() == kNoNode) return false;
      }
      return true;
    };
    for (const NodeId output : outputs) {
      if (state[index_of(output)] == kDiffers) return false;
      if (state[index_of(output)] == kNew && !begin(output)) return false;
      while (!steps.empty()) {
        if (reads.size() == steps.back().begin) {
          state[index_of(steps.back().node)] = kDone;
          steps.pop_back();
          continue;
        }
        const NodeId next = reads.back();
        reads.pop_back();
        const uint8_t there = state[index_of(next)];
        if (there == kDone) continue;
        if (there != kNew || b_.removed(next) || !begin(next)) return false;
      }
    }
    return true;
  }

  static constexpr int kMostSteps = 64;

  const Graph &a_, &b_;
  const GraphIndex& index_;
  GivesTable table_;
  const OpsOf<GivesTable> ops_a_, ops_b_;
  std::unordered_map<std::string_view, NodeId> appended_;  // to B, by name
  Contents contents_;
  std::vector<NodeId> differ_;
};

// The nodes of the outputs, the same in both; nothing where one is not there.
std::optional<std::vector<NodeId>> output_nodes(const ProofSide& a, const GraphIndex& index,
                                                const ProofSide& b, const ProofRequest& request) {
  std::vector<NodeId> nodes;
  for (const OutputPair& pair : request.outputs) {
    if (pair.a != pair.b || !tensor_if_there(index.names(), pair.a)) return std::nullopt;
    nodes.push_back(find_tensor(a.model, index.names(), a.ops, pair.a, true).node);
    if (b.model.graph().removed(nodes.back())) return std::nullopt;
  }
  return nodes;
}

}  // namespace

bool same_by_nodes(const ProofSide& a, const GraphIndex& index, const ProofSide& b,
                   const ProofRequest& request) {
  const Graph &graph_a = a.model.graph(), &graph_b = b.model.graph();
  const bool as_they_are = request.given.empty() && request.same.empty() && request.map.empty() &&
                           !request.name_in_b && a.values == nullptr && b.values == nullptr;
  const bool of_one = &a.ops == &b.ops && graph_a.message().data() == graph_b.message().data() &&
                      graph_a.size() <= graph_b.size();
  if (!as_they_are || !of_one) return false;
  for (const Graph* graph : {&graph_a, &graph_b}) {
    if (graph->is_body() || graph->has_streams() || graph->any_doubled() || graph->mapped() ||
        !graph->part(graph_field::kLibrary).empty())
      return false;
  }
  if (!graph_a.inputs_lead() || !index.names().duplicates().empty() || !index.producers().complete())
    return false;
  // What is wrong with a record is told by who reads it in order.
  try {
    const std::optional<std::vector<NodeId>> outputs = output_nodes(a, index, b, request);
    if (!outputs) return false;
    SameNodes same(a, index, b);
    return same.is_plain() && same.run(*outputs);
  } catch (const Error&) {
    return false;
  }
}

}  // namespace gedit
