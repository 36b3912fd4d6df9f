#include "prove/prove.h"

#include <algorithm>
#include <array>
#include <optional>

#include "base/error.h"
#include "fold/const_tensor.h"
#include "graph/edges.h"
#include "graph/wiring.h"
#include "model/asset_paths.h"
#include "model/summary.h"
#include "prove/numbering.h"
#include "prove/ordinals.h"
#include "prove/parting.h"
#include "prove/races.h"
#include "prove/same_nodes.h"
#include "select/tensors.h"

namespace gedit {
namespace {

// What a signature calls an output of it: `serving_default.scores`; nothing where no signature does.
std::optional<std::string> output_of_signature(const Model& model, std::string_view text) {
  const size_t dot = text.find('.');
  if (dot == std::string_view::npos) return std::nullopt;
  for (const SignatureSummary& signature : list_signatures(model.meta())) {
    if (!text.starts_with(signature.key) || text.size() <= signature.key.size() ||
        text[signature.key.size()] != '.')
      continue;
    const auto found = signature.outputs.find(std::string(text.substr(signature.key.size() + 1)));
    if (found != signature.outputs.end()) return found->second.tensor;
  }
  return std::nullopt;
}

TensorRef output_tensor(const Side& side, const std::string& text) {
  const std::optional<TensorRef> there = tensor_if_there(side.names(), text);
  const std::optional<std::string> of_signature =
      there ? std::nullopt : output_of_signature(side.model(), text);
  try {
    return find_tensor(side.model(), side.names(), side.ops(), of_signature.value_or(text), true);
  } catch (const Error& error) {
    throw error.in(side.model().path);
  }
}

// Names of B as A has them.
class NamesInA {
 public:
  NamesInA(const ProofSide& a, const ProofRequest& request) {
    for (const auto& [name_a, name_b] : request.map) {
      in_a_[plain(name_b)] = plain(name_a);
      in_b_[plain(name_a)] = plain(name_b);
    }
    if (!request.name_in_b) return;
    Graph& graph = a.model.graph();
    graph.decode();
    for (uint32_t i = 0; i < graph.size(); ++i) {
      if (graph.removed(NodeId{i})) continue;
      const std::string name(graph.name(NodeId{i}));
      if (in_b_.contains(name)) continue;
      const std::string other = request.name_in_b(name);
      if (other == name) continue;
      in_a_.try_emplace(other, name);
      in_b_.emplace(name, other);
    }
  }
  std::string of_b(std::string_view name) const {
    const auto found = in_a_.find(std::string(name));
    if (found != in_a_.end()) return found->second;
    // A name that is another's in B is nobody's here.
    return in_b_.contains(std::string(name)) ? "\x01" + std::string(name) : std::string(name);
  }
  std::string in_b(std::string_view name) const {
    const auto found = in_b_.find(std::string(name));
    return found == in_b_.end() ? std::string(name) : found->second;
  }

 private:
  static std::string plain(std::string_view tensor) {
    const Input input = parse_input(tensor);
    return std::string(input.node);
  }
  std::unordered_map<std::string, std::string> in_a_, in_b_;
};

using KnownConstants = std::vector<std::pair<NodeId, std::string>>;  // NodeDefs of nodes that are none yet

// One numbering of both graphs under what is assumed.
class Attempt {
 public:
  Attempt(const ProofSide& a, const ProofSide& b, const ProofRequest& request, const NamesInA& names,
          bool ordered, bool shapes_count)
      : a_(a, state_, [](std::string_view name) { return std::string(name); }),
        b_(b, state_, [&names](std::string_view name) { return names.of_b(name); }),
        request_(request) {
    a_.other_has = [this, &names](std::string_view name) {
      return b_.names().find(names.in_b(name)) != kNoNode;
    };
    b_.other_has = [this](std::string_view name) { return a_.names().find(name) != kNoNode; };
    a_.other_lacks_value = [this, &names](std::string_view name) {
      return lacks_value(b_, names.in_b(name));
    };
    b_.other_lacks_value = [this](std::string_view name) { return lacks_value(a_, name); };
    a_.other_contents = [this, &names](std::string_view node_def) {
      return table_contents(b_, node_def, names.in_b(node_name(node_def)));
    };
    b_.other_contents = [this](std::string_view node_def) {
      return table_contents(a_, node_def, b_.name_in_a(node_name(node_def)));
    };
    state_.ordered = ordered;
    state_.shapes_count = shapes_count;
    const auto has_loops = [](const Side& side) { return side.graph().has_any(OpKind::kNextIteration); };
    state_.whiles_as_loops =
        !ordered && (has_loops(a_) || has_loops(b_)) && (a_.has_functions() || b_.has_functions());
    state_.by_checksum = !request.bytes;
    for (const GivenValue& given : request.given) {
      const ClassId value = state_.constant(given.tensor_proto);
      give(a_, given.tensor, value);
      const Input input = parse_input(given.tensor);
      give(b_, tensor_text(names.in_b(input.node), input.index()), value);
    }
    for (const OutputPair& pair : request.same) {
      const ClassId value =
          state_.classes.intern(state_.classes.label(KeyForm::kSource, "same " + pair.a), {});
      give(a_, pair.a, value);
      give(b_, pair.b, value);
    }
    for (const AssumedTensor& assumed : request.assumed) a_.assume(assumed);
  }

  void set_ordinals(Ordinals a, Ordinals b) {
    a_.ordinals = std::move(a);
    b_.ordinals = std::move(b);
  }

  void number() {
    numbers_a_.emplace(a_, state_);
    numbers_b_.emplace(b_, state_);
    numbers_b_->set_twin(*numbers_a_);
    for (const OutputPair& pair : request_.outputs) {
      tensors_.emplace_back(output_tensor(a_, pair.a), output_tensor(b_, pair.b));
      numbers_a_->want(tensors_.back().first.node);
      numbers_b_->want(tensors_.back().second.node);
    }
    settle_loops(*numbers_a_, *numbers_b_);
  }

  bool writes() const { return state_.writes; }

  // Of each graph the nodes that give a constant, as it was found, wherever they run: as Consts.
  std::array<KnownConstants, 2> constants() {
    return {constants_of(a_, *numbers_a_), constants_of(b_, *numbers_b_)};
  }
  // By output: whether it rests on a node with an effect.
  std::vector<bool> behind_writes() {
    const NodeSet behind_a = behind(a_, *numbers_a_), behind_b = behind(b_, *numbers_b_);
    std::vector<bool> found;
    for (const auto& [a, b] : tensors_) found.push_back(behind_a.has(a.node) || behind_b.has(b.node));
    return found;
  }
  Guesses guesses() {
    return guesses_of({a_, [this](NodeId id) { return numbers_a_->numbered(id); }},
                      {b_, [this](NodeId id) { return numbers_b_->numbered(id); }});
  }

  Proof result() {
    Proof proof;
    proof.variables = state_.variables;
    proof.switches = state_.switches;
    proof.merges = state_.merges;
    Partings partings(state_, a_, b_, *numbers_a_, *numbers_b_);
    races_a_.emplace(a_, state_, *numbers_a_);
    races_b_.emplace(b_, state_, *numbers_b_);
    for (size_t i = 0; i < tensors_.size(); ++i) {
      OutputProof output;
      output.output = request_.outputs[i];
      judge(tensors_[i], partings, output);
      proof.outputs.push_back(std::move(output));
    }
    return proof;
  }

 private:
  static bool lacks_value(const Side& side, std::string_view name) {
    const NodeId id = side.names().find(name);
    return id != kNoNode && side.graph().is(id, OpKind::kVariable) && !side.stored(id);
  }

  static std::optional<std::string> table_contents(Side& side, std::string_view node_def,
                                                   const std::string& name) {
    const NodeId same = side.names().find(name);
    const bool there = same != kNoNode && side.graph().is(same, OpKind::kTable);
    return side.contents_of_table(TableContents::state_of(there ? side.graph().bytes(same) : node_def));
  }

  KnownConstants constants_of(Side& side, Numbering& numbers) {
    constexpr uint64_t kMost = 1024;  // bytes: shapes are computed from few numbers
    KnownConstants found;
    const Graph& graph = side.graph();
    for (uint32_t i = 0; i < graph.size(); ++i) {
      const NodeId id{i};
      if (graph.removed(id) || !numbers.numbered(id) || numbers.loops_around(id) > 0) continue;
      if (graph.is(id, OpKind::kConst | OpKind::kPlaceholder) || side.op(id).conduct != Conduct::kPure ||
          !numbers.gives_one(id))
        continue;
      const ProofTensor value = numbers.value(id, 0);
      if (value.when != kAlways) continue;
      const std::optional<folding::ConstTensor> tensor = state_.tensor(value.what);
      if (!tensor || folding::tensor_proto_size(*tensor) > kMost) continue;
      found.emplace_back(id, folding::const_node(graph.bytes(id), *tensor));
    }
    return found;
  }

  static void give(Side& side, std::string_view tensor, ClassId value) {
    const std::optional<TensorRef> found = tensor_if_there(side.names(), tensor);
    if (found && !found->control)
      side.given[uint64_t{index_of(found->node)} << 32 | found->index] = {value, kAlways};
  }

  ProofTensor value(Side& side, Numbering& numbers, const TensorRef& tensor) {
    if (tensor.control) return numbers.whole(tensor.node);
    const auto given = side.given.find(uint64_t{index_of(tensor.node)} << 32 | tensor.index);
    return given != side.given.end() ? given->second : numbers.assumed_value(tensor.node, tensor.index);
  }

  static NodeSet behind(Side& side, const Numbering& numbers) {
    NodeSet effects(side.graph().size());
    for (const NodeId id : numbers.effects()) effects.add(id);
    return reach(effects, reversed(side.producers()), kAnyDistance);
  }

  static bool writes(Side& side, const std::string& name) {
    const NodeId node = side.names().find(name);
    return node != kNoNode && side.labels().op(side.graph().op(node)).conduct == Conduct::kWrites;
  }

  void judge(const std::pair<TensorRef, TensorRef>& tensors, Partings& partings, OutputProof& output) {
    const ProofTensor a = value(a_, *numbers_a_, tensors.first), b = value(b_, *numbers_b_, tensors.second);
    if (request_.most_places == SIZE_MAX) output.tensors = partings.count(a.what);
    // Of each verdict: what differs is looked for whatever is not known.
    const auto here = [&](ProofVerdict verdict) {
      return places_[static_cast<size_t>(verdict)]++ < request_.most_places;
    };
    const auto tell = [&](ProofVerdict verdict, const Parting& parting) {
      output.verdict = verdict;
      output.a = parting.a;
      output.b = parting.b;
      output.why = parting.why;
      output.by_value = parting.by_value;
      output.by_attribute = parting.by_attribute;
    };
    const bool unknown = state_.classes.unknown(a.what) || state_.conditions.unknown(a.when);
    if (a.when == kNever || b.when == kNever) {
      const bool first = a.when == kNever;
      tell(ProofVerdict::kUnknown, {std::string(a_.graph().name(tensors.first.node)),
                                    std::string(b_.graph().name(tensors.second.node)),
                                    first && b.when == kNever ? "is dead in both"
                                    : first                   ? "is dead in A"
                                                              : "is dead in B"});
    } else if (a.what != b.what && state_.calls_left < 0) {
      tell(ProofVerdict::kUnknown, {"", "", "calls too much"});
    } else if (a.what != b.what) {
      const bool told = here(ProofVerdict::kDiffers);
      // What is not known may be what tells them apart.
      const bool doubtful = state_.classes.unknown(a.what) || state_.classes.unknown(b.what) ||
                            a_.has_functions() || b_.has_functions();
      const bool looked_at = told || (doubtful && doubts_++ < kMostDoubts);
      const Parting parting = looked_at ? partings.first(a.what, b.what) : Parting{};
      if (!looked_at && doubtful) {
        tell(ProofVerdict::kUnknown, {"", "", "rests on what is not known"});
      } else if (writes(a_, parting.a) || writes(b_, parting.b)) {
        tell(ProofVerdict::kUnknown, {parting.a, "", "writes, or what stands in its place does"});
      } else if (parting.unknown) {
        tell(ProofVerdict::kUnknown, parting);
      } else {
        tell(ProofVerdict::kDiffers, told ? parting : Parting{});
      }
    } else if (unknown) {
      output.alike = true;
      tell(ProofVerdict::kUnknown, here(ProofVerdict::kUnknown) ? partings.unknown(a.what) : Parting{});
    } else if (a.when != b.when) {
      tell(ProofVerdict::kDiffers, {std::string(a_.graph().name(tensors.first.node)),
                                    std::string(b_.graph().name(tensors.second.node)), "when it is there"});
    } else if (const auto race_a = races_a_->of(tensors.first.node)) {
      tell(ProofVerdict::kUnknown, {race_a->node, "", race_a->why});
    } else if (const auto race_b = races_b_->of(tensors.second.node)) {
      tell(ProofVerdict::kUnknown, {race_b->node, "", race_b->why});
    } else {
      output.verdict = ProofVerdict::kProved;
    }
  }

  ProofState state_;
  Side a_, b_;
  const ProofRequest& request_;
  std::optional<Numbering> numbers_a_, numbers_b_;
  std::optional<Races> races_a_, races_b_;
  std::vector<std::pair<TensorRef, TensorRef>> tensors_;
  std::array<size_t, 3> places_{};  // by verdict
  static constexpr size_t kMostDoubts = 64;
  size_t doubts_ = 0;
};

struct Assumptions {
  bool ordered = false, shapes_count = false;
};

// With `behind_writes` also which outputs rest on a node with an effect; it stays empty where there is none.
// With `constants` also what is known of both graphs; nothing where something writes.
Proof proof_of(const ProofSide& a, const ProofSide& b, const ProofRequest& request, const NamesInA& names,
               Assumptions assumed, std::vector<bool>* behind_writes,
               std::array<KnownConstants, 2>* constants) {
  const auto begin = [&] {
    return std::make_unique<Attempt>(a, b, request, names, assumed.ordered, assumed.shapes_count);
  };
  std::unique_ptr<Attempt> attempt = begin();
  attempt->number();
  const auto guessed = [&](std::pair<Ordinals, Ordinals> ordinals) {
    std::unique_ptr<Attempt> guess = begin();
    guess->set_ordinals(std::move(ordinals.first), std::move(ordinals.second));
    guess->number();
    return guess;
  };
  Guesses guesses = attempt->guesses();
  const bool any_guessed = !guesses.by_readers.first.empty() || !guesses.by_readers.second.empty();
  const bool names_differ = guesses.by_names != guesses.by_readers;
  if (any_guessed) attempt = guessed(std::move(guesses.by_readers));
  Proof proof = attempt->result();
  if (any_guessed && names_differ && !proof.proved()) {
    std::unique_ptr<Attempt> other = guessed(std::move(guesses.by_names));
    if (Proof more = other->result(); more.proved_outputs() > proof.proved_outputs()) {
      attempt = std::move(other);
      proof = std::move(more);
    }
  }
  if (behind_writes != nullptr && attempt->writes()) *behind_writes = attempt->behind_writes();
  if (constants != nullptr && !attempt->writes()) *constants = attempt->constants();
  return proof;
}

// How many places are told is counted from output to output, and once more where the order counts.
void keep_reason(const OutputProof& from, OutputProof& output) {
  if (output.verdict != from.verdict || !output.why.empty()) return;
  output.a = from.a;
  output.b = from.b;
  output.why = from.why;
}

Proof proof_with(const ProofSide& a, const ProofSide& b, const ProofRequest& request, const NamesInA& names,
                 bool shapes_count, std::array<KnownConstants, 2>* constants = nullptr) {
  std::vector<bool> behind_writes;
  Proof proof = proof_of(a, b, request, names, {false, shapes_count}, &behind_writes, constants);
  if (behind_writes.empty()) return proof;
  Proof ordered = proof_of(a, b, request, names, {true, shapes_count}, nullptr, nullptr);
  for (size_t i = 0; i < proof.outputs.size(); ++i) {
    if (!behind_writes[i]) continue;
    OutputProof &free = proof.outputs[i], &behind = ordered.outputs[i];
    // Where what writes is another, so may be every number: but where the rest is another, too, that is said.
    if (behind.verdict == ProofVerdict::kDiffers && free.verdict != ProofVerdict::kProved) continue;
    if (behind.verdict == ProofVerdict::kDiffers) {
      behind.verdict = ProofVerdict::kUnknown;
      behind.b.clear();
      behind.why = "is written, or writes, in another order";
    }
    keep_reason(free, behind);
    free = std::move(behind);
  }
  return proof;
}

// From shapes to what is computed of them, and to further shapes.
constexpr int kMostShapeRounds = 4;

// In a function, too.
bool any_asks_for_shapes(const Model& model) {
  const auto asks = [](const Graph& graph) {
    return std::ranges::any_of(graph.op_counts(), [](const auto& op) {
      return folding::follows_from_shapes(op.first) || folding::only_shapes(op.first);
    });
  };
  if (asks(model.graph())) return true;
  Library library = Library::decode(model.graph().part(graph_field::kLibrary), model.arena);
  return std::ranges::any_of(library.functions, [&](Function& function) {
    function.body.decode();
    return asks(function.body);
  });
}

}  // namespace

size_t Proof::proved_outputs() const {
  return static_cast<size_t>(std::ranges::count(outputs, ProofVerdict::kProved, &OutputProof::verdict));
}
bool Proof::proved() const { return proved_outputs() == outputs.size(); }

// Shapes are only looked at where that may prove more. Where a graph was cut anything may be fed.
Proof prove(const ProofSide& given_a, const ProofSide& given_b, const ProofRequest& request) {
  AssetDigests assets_a(given_a.model), assets_b(given_b.model);
  ProofSide a = given_a, b = given_b;
  a.assets = &assets_a;
  b.assets = &assets_b;
  if (request.most_places != SIZE_MAX && a.index != nullptr && same_by_nodes(a, *a.index, b, request)) {
    Proof proof;
    for (const OutputPair& output : request.outputs) {
      proof.outputs.emplace_back().output = output;
      proof.outputs.back().verdict = ProofVerdict::kProved;
    }
    return proof;
  }
  const NamesInA names(a, request);
  Proof proof = proof_with(a, b, request, names, false);
  const auto is_proved = [](const OutputProof& output) { return output.verdict == ProofVerdict::kProved; };
  if (proof.proved() || !request.same.empty()) return proof;
  if (!any_asks_for_shapes(a.model) && !any_asks_for_shapes(b.model)) return proof;
  // What is still not proved when more is known parts further on, or is alike and rests on what is not known.
  const auto take = [&](Proof more) {
    for (size_t i = 0; i < proof.outputs.size(); ++i) {
      OutputProof &output = proof.outputs[i], &now = more.outputs[i];
      const bool still = now.alike || (now.verdict == ProofVerdict::kDiffers && !now.a.empty());
      const bool further = output.verdict == ProofVerdict::kDiffers && still;
      if (!is_proved(output) && (is_proved(now) || further)) output = std::move(now);
    }
  };
  std::array<KnownConstants, 2> constants;
  take(proof_with(a, b, request, names, true, &constants));
  // What was computed of shapes may be a shape itself.
  Model model_a = a.model, model_b = b.model;
  const auto any_differs = [&] {
    return std::ranges::any_of(
        proof.outputs, [](const OutputProof& output) { return output.verdict == ProofVerdict::kDiffers; });
  };
  for (int round = 0; round < kMostShapeRounds && any_differs(); ++round) {
    if (constants[0].empty() && constants[1].empty()) break;
    for (auto& [id, node_def] : constants[0]) model_a.graph().replace(id, node_def);
    for (auto& [id, node_def] : constants[1]) model_b.graph().replace(id, node_def);
    constants = {};
    const ProofSide known_a{model_a, a.ops, a.values, nullptr, a.assets},
        known_b{model_b, b.ops, b.values, nullptr, b.assets};
    take(proof_with(known_a, known_b, request, names, true, &constants));
  }
  return proof;
}

}  // namespace gedit
