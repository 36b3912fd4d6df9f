// Goes over one graph, main or a function's body, and finds what holds of every tensor.
#pragma once

#include <algorithm>
#include <bit>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "graph/index.h"
#include "ops/registry.h"
#include "shape/infer.h"
#include "shape/like_nodes.h"
#include "shape/rule.h"

namespace gedit::shaping {

// What is known of an op, once for all its nodes.
struct OpInfo {
  Rule rule = nullptr;
  std::string_view ranks;  // that its inputs must have
  enum class Calls : uint8_t { kNothing, kOne, kBranches, kCases, kLoop } calls = Calls::kNothing;
  bool is_next_iteration = false;
  int32_t outputs = -1;  // how many, where every node has as many
  bool defined = false;
  OpDef def;
};

class OpInfos {
 public:
  explicit OpInfos(Registry& ops) : ops_(ops) {}
  const OpInfo& of(std::string_view op);

 private:
  Registry& ops_;
  std::unordered_map<std::string_view, OpInfo> infos_;
};

// A graph and what is derived from it; `arguments` are those of a function.
struct Place {
  const Graph& graph;
  const Names& names;
  const Edges& producers;
  const LikeNodes& like;
  const std::unordered_map<std::string_view, uint32_t>* arguments = nullptr;
  std::string_view function;
};

// Looks into functions.
class Caller {
 public:
  virtual ~Caller() = default;
  // The outputs of a node that calls something, from its inputs. `trust`: whether shapes in the file count.
  virtual void call(Subject& node, const OpInfo& info, bool trust) = 0;
};

struct WalkRequest {
  std::vector<Fact> arguments;
  std::unordered_map<uint32_t, std::vector<std::pair<uint32_t, ListId>>> stated;  // by node: output, shape
  bool trust = true;                                                              // shapes in the file
  uint64_t context = 0;  // tells the symbols of one walk from those of another
  int64_t producer = 0;
};

// What nodes gave that were looked at, for those that are like one of them: layers of a network are made of
// the same nodes over and over.
class AlikeNodes {
 public:
  explicit AlikeNodes(size_t nodes) : places_(std::min(std::bit_ceil(nodes), kMostPlaces)) {}
  // What a node of this number (LikeNodes) gave that read the same; null where there was none lately.
  const std::vector<Fact>* find(uint16_t number, const std::vector<Fact>& inputs, bool trust);
  // The node that was not found gave this.
  void keep(uint16_t number, bool trust, const Subject& node);

 private:
  struct Known {
    uint16_t number = LikeNodes::kNone;
    bool trust = false;  // as in WalkRequest
    std::vector<Fact> inputs{}, outputs{};
  };
  static constexpr size_t kMostPlaces = 1024;
  size_t places_;  // a power of two
  std::vector<Known> known_;
  size_t place_ = 0;  // of the node that was asked for last
};

class Walk final : public GraphShapes {
 public:
  Walk(Dims& dims, OpInfos& ops, Caller& caller, const Place& place, WalkRequest request);

  void run();
  Fact fact(NodeId id, uint32_t output) const {
    const uint32_t i = index_of(id);
    return i < first_.size() && output < count_[i] ? facts_[first_[i] + output] : Fact();
  }
  // What an input, as it is written, is.
  Fact input(std::string_view text) const;
  const std::map<uint32_t, std::string>& contradictions() const { return contradictions_; }
  const Place& place() const { return place_; }
  Shape argument_shape(size_t number) const { return shape_of(request_.arguments[number].shape); }
  size_t argument_count() const { return request_.arguments.size(); }
  Shape input_shape(std::string_view text) const { return shape_of(input(text).shape); }
  // Makes `subject` what it was when the node was looked at.
  void prepare(Subject& subject, NodeId id) const {
    read_inputs(subject, id);
    read_attrs(subject);
  }
  bool trusted(NodeId id) const { return request_.trust && !changed_.has(id); }
  uint64_t work() const { return work_; }
  int64_t producer() const { return request_.producer; }

  uint32_t outputs(NodeId id) const override {
    return index_of(id) < count_.size() ? count_[index_of(id)] : 0;
  }
  Shape shape(NodeId id, uint32_t output) const override;
  std::vector<uint32_t> symbols(NodeId id, uint32_t output) const override;
  std::optional<std::vector<std::optional<int64_t>>> elements(NodeId id, uint32_t output) const override;
  Shape behind(NodeId id, uint32_t output) const override;
  std::vector<Shape> input_shapes(NodeId id) const override;
  std::vector<TensorFacts> inputs(NodeId id) const override;

 private:
  enum : uint8_t { kFresh, kOpen, kDone };

  void visit(NodeId id);
  bool evaluate(NodeId id);  // whether something is known otherwise than before
  void start_facts(uint32_t i, uint32_t count);
  void infer(uint32_t i, const OpInfo& info, bool trust);
  void read_inputs(Subject& subject, NodeId id) const;
  void take_first_outputs(NodeId id, uint32_t count);
  static void read_attrs(Subject& subject);
  void settle_loops();
  uint32_t count_outputs(std::string_view node_def, const OpInfo& info);
  uint32_t output_index(NodeId producer, std::string_view port) const;
  void take_file_shapes(const OpInfo& info);
  Shape shape_of(ListId id) const;
  std::vector<uint32_t> symbols_of(ListId id) const;
  std::optional<std::vector<std::optional<int64_t>>> elements_of(const Fact& known) const;

  Dims& dims_;
  Caller& caller_;
  Place place_;
  OpsOf<OpInfos> ops_;
  WalkRequest request_;
  Subject subject_;
  AlikeNodes alike_;
  std::vector<uint32_t> first_, count_;  // by node: its facts
  std::vector<Fact> facts_;
  std::vector<uint8_t> state_;
  NodeSet changed_;  // nodes that something with a stated shape feeds
  std::vector<NodeId> waiting_;
  std::vector<std::pair<NodeId, uint32_t>> stack_;
  mutable std::unordered_map<uint32_t, std::vector<uint32_t>>
      offsets_;  // by node: where its output lists begin
  std::map<uint32_t, std::string> contradictions_;
  uint64_t work_ = 0;
};

}  // namespace gedit::shaping
