// The tensors of one graph, or of a function's body for certain arguments, each with its class. Nodes are
// gone through behind what they read; in a loop the loop's variables stand for themselves until
// settle_loops() knows which of both graphs are the same.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graph/wiring.h"
#include "prove/side.h"

namespace gedit {

class Numbering {
 public:
  Numbering(Side& side, ProofState& state);  // of the main graph
  // Of a function, which is called with these.
  Numbering(Side& side, ProofState& state, CalledBody& body, std::vector<ProofTensor> arguments,
            CallPlace place);

  // The numbering of A, of which this is B's: what is the same node, of the same tensors, is the same there.
  // Outlives this.
  void set_twin(const Numbering& twin);

  // Numbers the node and all that it needs.
  void want(NodeId node);
  ProofTensor value(NodeId node, uint32_t index);
  ProofTensor whole(NodeId node);  // all that it gives and does
  // The same, or what it is assumed to be, which was numbered by then.
  ProofTensor assumed_value(NodeId node, uint32_t index);
  ProofTensor value_of(std::string_view input);  // as a node of this graph reads it

  uint64_t reached() const { return reached_; }  // nodes by now

  bool gives_one(NodeId node) const { return (values_[index_of(node)].what & kMany) == 0; }  // tensor
  bool numbered(NodeId node) const { return state_of_[index_of(node)] == kDone; }
  ConditionId condition(NodeId node) const { return values_[index_of(node)].when; }
  uint32_t loops_around(NodeId node) const { return frames_[index_of(node)]; }

  // Nodes with an effect, or of which nobody knows.
  const std::vector<NodeId>& effects() const { return effects_; }

  // What loops' variables are made of, by their part.
  std::unordered_map<uint32_t, std::vector<ClassId>> loop_inputs();
  void number_again();  // all that depends on loops' variables
  size_t loop_nodes() const { return looping_.size(); }
  // Loops are taken to end in their first iteration until something goes back in them, then their variables
  // to stay what they are and to come and go together until one does not; whether any was found of which that
  // is wrong, so that what rests on it was numbered again.
  bool settle_assumptions();
  // Gives each loop's variable its part, by what it is as far as that is known by now; whether more of them
  // became unknown.
  bool refine(std::map<std::vector<uint32_t>, uint32_t>& parts);
  void give_up_loops();  // nothing is known of any

  // The first node, in file order, that gives the class.
  NodeId node_of(ClassId id);

 private:
  struct In {
    uint32_t node;  // of the graph, or one of below
    uint32_t index;
    static constexpr uint32_t kControl = UINT32_MAX;  // as index
    static constexpr uint32_t kArgument = UINT32_MAX, kMissing = UINT32_MAX - 1, kGiven = UINT32_MAX - 2;
    bool control() const { return index == kControl; }
    bool real() const { return node < kGiven; }
  };
  struct Step {  // of the walk, which is as deep as the graph
    NodeId node;
    uint32_t next;        // of its inputs, which end the stack of inputs
    uint32_t begin : 31;  // where they begin
    uint32_t twin : 1;    // these are only nodes: the twin may know the rest
  };
  // A node that is being numbered.
  struct Node {
    NodeId id;
    NodeText& text;
    const Labelled& labelled;
    std::span<const In> data, controls;
    std::vector<uint32_t>& inputs;  // classes of data
    ConditionId when = kAlways;
    static constexpr ClassId kNothing = UINT32_MAX;
    std::optional<ClassId> before{};  // where order counts: all that it waits for
    const ProofOp& op() const { return *labelled.op; }
  };

  void resolve(NodeId node, std::vector<In>& ins);
  std::vector<In> inputs_of(NodeId node);
  bool may_be_twin(NodeId node) const;
  bool number_as_twin(NodeId node);
  void resolve_again(NodeId node, uint32_t begin);
  In resolve_input(std::string_view input) { return resolve_input(parse_input_of(graph_, input)); }
  In resolve_input(const Input& input);
  In input_from(NodeId producer, const Input& input);
  uint32_t port_index(std::string_view node_def, std::string_view port);
  bool is_back_edge(NodeId merge, const In& in) const;
  void number(NodeId node, std::span<const In> ins);

  ProofTensor in_value(const In& in);
  ClassId done_class(const In& in) const;
  ClassId done_by(const Node& node, bool effect);
  void set(NodeId node, ProofTensor value) { values_[index_of(node)] = value; }
  void set_outputs(NodeId node, std::vector<ProofTensor> outputs, ConditionId when);
  ClassId after(Node& node, ClassId what);
  ClassId all_before(std::vector<uint32_t> classes);
  void wait_for(Node& node, std::vector<uint32_t> before);
  void add_wait(ClassId done, std::vector<uint32_t>& before) const;
  void add_group(ClassId group, std::vector<uint32_t>& before) const;
  ClassId behind(ClassId what, std::span<const ClassId> others);
  void put_behind(std::vector<ProofTensor>& outputs, std::span<const ClassId> inputs);
  bool rests_on(ClassId what, ClassId part) const;
  std::vector<uint32_t> waits_of_inputs(const Node& node);
  ClassId without_wait(ClassId what, std::vector<uint32_t>* before = nullptr) const;
  std::vector<uint32_t> arrays_before(const Node& node) const;
  ClassId after_arrays(const Node& node, ClassId what);
  void note_arrays(const Node& node);
  ClassId own(const Node& node, ClassId what);

  bool follows(const Node& node, std::span<const In> ins) const;
  bool has_effect(const Node& node);
  void number_alive(Node& node);
  bool number_assumed(Node& node);
  void number_input(Node& node);
  void number_switch(Node& node);
  void number_merge(Node& node);
  struct Choice {
    LabelId label;               // of the class of what it gives: the key is `by` and a class for each branch
    ClassId by;                  // the predicate, or the index
    std::vector<size_t> inputs;  // by branch
  };
  std::optional<Choice> choice_of(const Conditions::Split& split);
  struct CaseBranch {
    ClassId index;
    uint32_t number;
    std::optional<uint32_t> count{};  // of branches, where it tells
  };
  std::optional<CaseBranch> case_branch(const Holds& holds) const;
  // Of what is chosen by a predicate that is a bool, else by an index.
  LabelId branch_label(bool by_bool) {
    return by_bool ? state_.classes.label(KeyForm::kChoice, "")
                   : state_.classes.label(KeyForm::kNode, "Case");
  }
  void set_taken(Node& node, const ProofTensor& taken, uint32_t position);

  // A loop's variable: a Merge that reads a NextIteration.
  struct LoopVariable {
    NodeId merge;
    uint32_t part = 0;
    bool unknown = false;
    bool once = false;  // as far as is known, nothing goes back: it is what it begins with
    bool stays = true;  // as far as is known, it is in every iteration what it was in the one before
  };
  // A loop of version 1, in the main graph where nothing writes.
  struct Loop {
    // As far as is known, each of its variables is there in every iteration that begins; then `when` of what
    // is in it says what holds of an iteration, and nothing of what was around the loop.
    bool together = true;
    // Seen in this round:
    std::optional<ConditionId> entered{};  // when the variables are
    ConditionId constants = kAlways;       // when all is there that is constant in it
    std::optional<ClassId> goes_on{};      // the predicate of which it takes another iteration
    bool apart = false;                    // something speaks against it
  };
  // Whether it is what was seen of the loop before, if anything was.
  static bool is_as_seen(std::optional<uint32_t>& seen, uint32_t now) {
    const uint32_t before = seen.value_or(now);
    seen = now;
    return before == now;
  }
  struct Entry {  // of a loop's variable
    In in;
    uint32_t position;  // among the Merge's inputs
    ClassId outside = kDeadClass;
  };
  struct Round {
    Entry entry;
    In back;
  };
  const Frames& frames();
  Loop* loop_of(NodeId node);
  ClassId entered(ClassId what, bool constant);
  ClassId next(ClassId what);
  ClassId loop_condition(ClassId what);
  ClassId left(ClassId what, ConditionId when);
  LabelId exit_label() { return state_.classes.label(KeyForm::kMerge, "Exit"); }
  bool comes_out_of_loop(ClassId what);
  ClassId in_first_iteration();
  ClassId loop_variable(uint32_t part, bool unknown);
  bool number_into_iteration(Node& node);
  bool number_entered(Node& node);
  std::optional<Entry> entry_of(std::span<const In> ins, NodeId merge);
  void number_loop_variable(Node& node);
  void number_loop_condition(Node& node);
  bool is_left_at_once(const In& left);
  bool goes_back(NodeId merge);
  void number_exit(Node& node);
  std::vector<uint32_t> signature(const LoopVariable& variable);
  std::vector<ClassId> loop_inputs(NodeId merge);
  bool next_is_unknown(const LoopVariable& variable);
  std::optional<Round> round_of(NodeId merge);
  bool part_first_iterations(bool all);
  bool part_staying(bool all);
  bool goes_on_with(Loop& loop, NodeId merge);
  bool part_loops(bool all);
  void number_passing(Node& node);
  void number_state(Node& node);
  bool number_read(Node& node);
  const Labelled& labelled(std::string_view node_def);
  void number_plain(Node& node);
  bool number_folded(Node& node);
  bool number_of_one_shape(Node& node);
  bool number_as_input(Node& node);
  bool number_unpacked(Node& node);
  bool number_draw(Node& node);
  bool gives_memory(const Node& node) const;
  bool is_memory(const In& in) const;
  bool reads_memory(const Node& node) const;
  bool waits_for_constants(Node& node, size_t but);
  std::vector<ClassId> folded(const Node& node, std::vector<uint32_t>& before);
  ClassId constant(const folding::ConstTensor& value);
  ClassId int32_constant(int64_t number);  // a scalar
  void number_call(Node& node);
  void number_odd(const Node& node);
  void number_choice(Node& node);
  void number_while(Node& node);
  void number_while_as_loop(Node& node, std::string_view condition, std::string_view body);
  std::vector<bool> staying(const Node& node, ClassId body);
  ClassId when_ended(ClassId what, ClassId loop);
  bool is_never_entered(const Node& node, std::string_view condition);
  CallPlace place_of_call(NodeId node, uint32_t function);
  bool sees_loops(const Node& node);

  Numbering(Side& side, ProofState& state, const Graph& graph, const Names& names);

  bool in_body() const { return body_ != nullptr; }
  // Of this graph, where they count and are known.
  const GraphShapes* shapes() const {
    if (!state_.shapes_count) return nullptr;
    return in_body() ? side_.shapes(body_->function) : &side_.shapes();
  }

  Side& side_;
  ProofState& state_;
  const Graph& graph_;
  const Names& names_;
  CalledBody* body_ = nullptr;
  std::vector<ProofTensor> arguments_;
  CallPlace place_;

  static constexpr uint8_t kNew = 0, kOpen = 1, kDone = 2;
  static constexpr uint32_t kMany = 1U << 31;  // in ProofTensor::what: the rest is a place in outputs_
  std::vector<uint8_t> state_of_;
  std::vector<ProofTensor> values_;
  std::vector<std::vector<ProofTensor>> outputs_;
  std::vector<ClassId> done_;    // where order counts: that the node ran
  std::vector<uint8_t> frames_;  // how many loops the node is in; empty where there are none
  std::vector<bool> depends_on_loop_, of_array_;
  std::vector<bool> is_memory_;  // where order counts: it may give the memory of a variable itself
  bool special_ = false;         // a node is in a loop, or of a TensorArray
  std::vector<bool> follows_;    // by node: follows() of it as it was numbered last
  const Numbering* twin_ = nullptr;
  // Of a node that waits for TensorArrays: which of their ops ran by then.
  std::unordered_map<uint32_t, ClassId> arrays_done_;
  std::vector<NodeId> effects_;
  std::vector<NodeId> node_of_;  // by class, made when first asked for
  std::vector<NodeId> looping_;  // in the order in which they are numbered
  std::vector<LoopVariable> loop_variables_;
  std::vector<Loop> loops_;                                  // by frame
  std::unordered_map<uint32_t, uint32_t> loop_variable_of_;  // by node
  std::vector<Step> steps_;
  std::vector<In> ins_;
  NodeText text_;
  std::vector<uint32_t> classes_of_inputs_;  // of the node that is being numbered
  uint64_t reached_ = 0;
};

// Refines the loops' variables of both graphs in one partition until none is told from another any more:
// equal parts unfold to the same computation.
void settle_loops(Numbering& a, Numbering& b);

// What a function gives for these arguments.
std::vector<ProofTensor> results_of(Side& side, ProofState& state, std::string_view function,
                                    const std::vector<ProofTensor>& arguments, CallPlace place);

// A tensor that is only sometimes there, where one is wanted in any case.
ClassId always_there(ProofState& state, const ProofTensor& value);

}  // namespace gedit
