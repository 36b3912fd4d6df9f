#include "shape/infer.h"

#include <algorithm>
#include <set>
#include <unordered_map>

#include "model/model.h"
#include "shape/bodies.h"
#include "shape/walk.h"

namespace gedit {
namespace shaping {
namespace {

constexpr size_t kMostInstances = 10'000;
constexpr int kMostCalls = 100;
constexpr uint64_t kMostWork = 20'000'000;  // nodes looked at in functions
constexpr uint64_t kMostKept = 4'000'000;   // of them those whose shapes are kept
constexpr int kMostRounds = 16;

}  // namespace

// A function with the shapes of its arguments.
struct Instance {
  std::vector<Fact> results;
  std::unique_ptr<Walk> walk;  // where it was kept
  bool open = true;            // while it is looked at: it calls itself
};

class Engine final : public Caller {
 public:
  Engine(const GraphIndex& index, Registry& ops, const InferRequest& request)
      : infos_(ops), bodies_(index.graph()) {
    const Graph& graph = index.graph();
    producer_ = static_cast<int64_t>(last_varint(graph.part(graph_field::kVersions), 1));
    WalkRequest walk;
    walk.trust = request.file_shapes;
    walk.producer = producer_;
    for (const StatedShape& stated : request.inputs)
      walk.stated[index_of(stated.node)].emplace_back(stated.output, stated_list(stated));
    trust_bodies_ = request.file_shapes && request.inputs.empty();
    if (request.like == nullptr) like_ = std::make_unique<const LikeNodes>(graph);
    const LikeNodes& like = request.like != nullptr ? *request.like : *like_;
    main_ = std::make_unique<Walk>(dims_, infos_, *this,
                                   Place{graph, index.names(), index.producers(), like, nullptr, {}},
                                   std::move(walk));
    main_->run();
    take_contradictions(*main_);
  }

  const Walk& main() const { return *main_; }

  void call(Subject& node, const OpInfo& info, bool trust) override {
    if (info.calls == OpInfo::Calls::kNothing && !bodies_.has(node.op)) return;
    const auto functions = Bodies::called(node, info);
    const std::vector<Fact> inputs = node.inputs;
    if (info.calls == OpInfo::Calls::kLoop) {
      const auto state = functions.size() == 2 ? loop_state(node, functions[1], inputs, trust) : std::nullopt;
      if (state) node.outputs = *state;
      if (state) run(node, functions[0], *state, trust);  // for what contradicts in it
      return;
    }
    const bool branches = info.calls == OpInfo::Calls::kBranches || info.calls == OpInfo::Calls::kCases;
    const std::vector<Fact> passed(inputs.begin() + (branches && !inputs.empty() ? 1 : 0), inputs.end());
    std::optional<std::vector<Fact>> all;
    for (const std::string_view function : functions) {
      const auto results = run(node, function, passed, trust);
      if (!results) return;
      all = all ? meet(node, *all, *results) : *results;
    }
    if (!all) return;
    for (size_t i = 0; i < node.outputs.size() && i < all->size(); ++i) node.outputs[i] = (*all)[i];
  }

  std::vector<Inference::Called> called(const Walk& caller, NodeId id) {
    Subject node(dims_, 0);
    caller.prepare(node, id);
    const OpInfo& info = infos_.of(node.op);
    if (info.rule != nullptr || (info.calls == OpInfo::Calls::kNothing && !bodies_.has(node.op))) return {};
    const auto functions = Bodies::called(node, info);
    node.outputs.assign(caller.outputs(id), Fact());
    std::vector<Fact> inputs = node.inputs;
    const bool trust = caller.trusted(id);
    if (info.calls == OpInfo::Calls::kLoop) {
      const auto state = functions.size() == 2 ? loop_state(node, functions[1], inputs, trust) : std::nullopt;
      if (!state) return {};
      inputs = *state;
    } else if (info.calls != OpInfo::Calls::kOne && info.calls != OpInfo::Calls::kNothing &&
               !inputs.empty()) {
      inputs.erase(inputs.begin());
    }
    std::vector<Inference::Called> found;
    for (const std::string_view function : functions) {
      const Instance* instance = instance_of(function, inputs, trust, nullptr);
      if (instance == nullptr || instance->walk == nullptr) break;
      found.push_back({function, instance->walk.get()});
    }
    return found;
  }

  const Walk* function(std::string_view name) {
    Body* body = bodies_.find(name);
    if (body == nullptr) return nullptr;
    look_at_roots();
    auto& made = wholes_[body];
    if (!made) made = whole(*body);
    return made.get();
  }
  std::vector<Shape> arguments(std::string_view name) {
    std::vector<Shape> found;
    const Walk* walk = function(name);
    for (size_t i = 0; walk != nullptr && i < walk->argument_count(); ++i)
      found.push_back(walk->argument_shape(i));
    return found;
  }
  std::vector<Shape> results(std::string_view name) {
    std::vector<Shape> found;
    const Walk* walk = function(name);
    if (walk == nullptr) return found;
    for (const std::string_view result : bodies_.find(name)->results)
      found.push_back(walk->input_shape(result));
    return found;
  }
  const Graph* body(std::string_view name) {
    Body* found = bodies_.find(name);
    return found == nullptr ? nullptr : &found->function.body;
  }

  std::vector<ShapeContradiction> contradictions;

 private:
  ListId stated_list(const StatedShape& stated) {
    if (!stated.shape) return kNoRank;
    DimList dims;
    for (const int64_t dim : *stated.shape)
      dims.push_back(dim >= 0 ? dim : dims_.fresh(index_of(stated.node), dims.size()));
    return dims_.list(dims);
  }

  void take_contradictions(const Walk& walk) {
    for (const auto& [index, message] : walk.contradictions()) {
      const std::string_view node_def = walk.place().graph.bytes(NodeId{index});
      ShapeContradiction found{std::string(walk.place().function), std::string(node_name(node_def)),
                               std::string(node_op(node_def)), message};
      if (said_.emplace(found.function, found.node).second) contradictions.push_back(std::move(found));
    }
  }

  // Symbols of the caller become arguments by number, so that calls that differ in nothing else are one.
  Dim as_argument(Dim dim, std::unordered_map<Dim, Dim>& arguments) {
    if (!is_symbol(dim)) return dim;
    const auto [place, fresh] = arguments.try_emplace(dim, 0);
    if (fresh) place->second = dims_.argument(arguments.size(), dims_.never_negative(dim));
    return place->second;
  }
  template <typename Change>
  Fact changed(Fact fact, Change change) {
    const auto list = [&](ListId id) {
      if (id <= kScalar) return id;
      DimList dims(dims_.of(id).begin(), dims_.of(id).end());
      for (Dim& dim : dims) dim = change(dim);
      return dims_.list(dims);
    };
    fact.shape = list(fact.shape);
    if (fact.extra != 0) fact.extra = 2 * list(fact.list()) + fact.extra % 2;
    return fact;
  }

  // The function with these arguments, looked at where that was not done; null where it cannot be.
  // `arguments` gets what stands for the caller's symbols.
  Instance* instance_of(std::string_view name, const std::vector<Fact>& given, bool trust,
                        std::unordered_map<Dim, Dim>* arguments) {
    Body* body = bodies_.find(name);
    if (body == nullptr || !body->plain) return nullptr;
    std::unordered_map<Dim, Dim> own;
    auto& numbered = arguments != nullptr ? *arguments : own;
    std::vector<Fact> inner;
    inner.reserve(given.size());
    std::string key(name);
    key += trust ? '\1' : '\0';
    for (const Fact& fact : given) {
      inner.push_back(changed(fact, [&](Dim dim) { return as_argument(dim, numbered); }));
      key.append(reinterpret_cast<const char*>(&inner.back()), sizeof(Fact));
    }
    if (const auto known = instances_.find(key); known != instances_.end())
      return known->second->open ? nullptr : known->second.get();
    if (instances_.size() >= kMostInstances || depth_ >= kMostCalls || work_ >= kMostWork) return nullptr;
    Instance& instance = *(instances_[key] = std::make_unique<Instance>());
    given_[body].push_back(inner);
    instance.walk = walk_of(*body, std::move(inner), trust);
    for (const std::string_view result : body->results)
      instance.results.push_back(instance.walk->input(result));
    take_contradictions(*instance.walk);
    kept_ += body->function.body.size();
    if (kept_ > kMostKept) instance.walk.reset();
    instance.open = false;
    return &instance;
  }

  std::unique_ptr<Walk> walk_of(Body& body, std::vector<Fact> arguments, bool trust) {
    WalkRequest request;
    request.arguments = std::move(arguments);
    request.trust = trust && trust_bodies_;
    request.producer = producer_;
    request.context = ++contexts_;
    auto walk = std::make_unique<Walk>(dims_, infos_, *this, body.place(), std::move(request));
    ++depth_;
    walk->run();
    --depth_;
    work_ += walk->work();
    return walk;
  }

  std::optional<std::vector<Fact>> run(Subject& node, std::string_view function,
                                       const std::vector<Fact>& given, bool trust) {
    std::unordered_map<Dim, Dim> arguments;
    const Instance* instance = instance_of(function, given, trust, &arguments);
    if (instance == nullptr) return std::nullopt;
    std::unordered_map<Dim, Dim> back;
    for (const auto& [outer, inner] : arguments) back.emplace(inner, outer);
    std::vector<Fact> results = instance->results;
    for (Fact& fact : results) {
      fact = changed(fact, [&](Dim dim) {
        if (!is_symbol(dim)) return dim;
        const auto outer = back.find(dim);
        if (outer != back.end()) return outer->second;
        return dims_.never_negative(dim)
                   ? node.fresh(uint64_t{1} << 62 | static_cast<uint64_t>(dim - kUnknown))
                   : kUnknown;
      });
    }
    return results;
  }

  // What holds of both, tensor by tensor.
  std::vector<Fact> meet(Subject& node, const std::vector<Fact>& a, const std::vector<Fact>& b) {
    std::vector<Fact> found(std::min(a.size(), b.size()));
    for (size_t i = 0; i < found.size(); ++i) {
      found[i].shape = meet(node, a[i].shape, b[i].shape, i << 16);
      if (a[i].extra == b[i].extra) {
        found[i].extra = a[i].extra;
      } else if (a[i].has_handle() && b[i].has_handle()) {
        found[i].extra = handled(kScalar, meet(node, a[i].list(), b[i].list(), i << 16 | 1 << 15)).extra;
      }
    }
    return found;
  }
  ListId meet(Subject& node, ListId a, ListId b, size_t number) {
    if (a == b) return a;
    if (a == kNoRank || b == kNoRank) return kNoRank;
    const auto x = dims_.of(a), y = dims_.of(b);
    if (x.size() != y.size()) return kNoRank;
    DimList found(x.begin(), x.end());
    for (size_t i = 0; i < x.size(); ++i) {
      if (x[i] != y[i]) found[i] = node.fresh(uint64_t{1} << 61 | number << 16 | i);
    }
    return dims_.list(found);
  }

  // What holds of a loop's variables in every round.
  std::optional<std::vector<Fact>> loop_state(Subject& node, std::string_view body, std::vector<Fact> state,
                                              bool trust) {
    for (int round = 0; round < kMostRounds; ++round) {
      const auto after = run(node, body, state, trust);
      if (!after || after->size() != state.size()) return std::nullopt;
      std::vector<Fact> both = meet(node, state, *after);
      if (both == state) return state;
      state = std::move(both);
    }
    return std::nullopt;
  }

  // What nobody in the graph calls is called from outside, if at all; it calls others in its turn.
  void look_at_roots() {
    if (roots_seen_) return;
    roots_seen_ = true;
    const std::vector<bool> roots = bodies_.called_by_none(infos_, dims_);
    for (size_t i = 0; i < roots.size(); ++i) {
      Body& body = bodies_.at(i);
      if (!roots[i] || given_.contains(&body)) continue;
      auto root = whole(body);
      wholes_[&body] = std::move(root);
    }
  }

  // With arguments of which holds what holds in all its calls, and in that for which it was made: from
  // outside of the graph it may be called, too.
  std::unique_ptr<Walk> whole(Body& body) {
    const auto index = static_cast<size_t>(&body.function - bodies_.library().functions.data());
    Subject node(dims_, uint64_t{1} << 60 | index);
    std::optional<std::vector<Fact>> arguments;
    if (const auto calls = given_.find(&body); calls != given_.end()) {
      for (const std::vector<Fact>& given : calls->second)
        arguments = arguments ? meet(node, *arguments, given) : given;
    }
    if (trust_bodies_ && body.plain && body.has_declared) {
      const bool called = arguments.has_value();
      std::vector<Fact> found = arguments.value_or(std::vector<Fact>(body.arguments.size()));
      for (size_t i = 0; i < found.size() && i < body.declared.size(); ++i) {
        if (body.declared[i].data() == nullptr) continue;
        const ListId stated = node.shape_of(body.declared[i], uint64_t{1} << 58 | i << 16);
        found[i].shape = called ? meet(node, found[i].shape, stated, i << 16) : stated;
      }
      arguments = std::move(found);
    }
    return walk_of(body, arguments.value_or(std::vector<Fact>()), true);
  }

  Dims dims_;
  OpInfos infos_;
  Bodies bodies_;
  std::unordered_map<std::string, std::unique_ptr<Instance>> instances_;
  std::unordered_map<const Body*, std::vector<std::vector<Fact>>> given_;  // arguments
  std::unordered_map<const Body*, std::unique_ptr<Walk>> wholes_;
  std::set<std::pair<std::string, std::string>> said_;
  std::unique_ptr<const LikeNodes> like_;  // of the main graph, where nobody else has it
  std::unique_ptr<Walk> main_;
  int64_t producer_ = 0;
  bool trust_bodies_ = true;
  bool roots_seen_ = false;
  int depth_ = 0;
  uint64_t work_ = 0, kept_ = 0, contexts_ = 0;
};

}  // namespace shaping

struct Inference::State {
  State(std::unique_ptr<const GraphIndex> made, Registry& ops, const InferRequest& request)
      : own(std::move(made)), engine(*own, ops, request) {}
  State(const GraphIndex& index, Registry& ops, const InferRequest& request) : engine(index, ops, request) {}
  std::unique_ptr<const GraphIndex> own;  // where nobody else has one
  shaping::Engine engine;
};

Inference::Inference(const Graph& graph, Registry& ops, const InferRequest& request)
    : state_(std::make_unique<State>(std::make_unique<const GraphIndex>(graph), ops, request)) {}
Inference::Inference(const GraphIndex& index, Registry& ops, const InferRequest& request)
    : state_(std::make_unique<State>(index, ops, request)) {}
Inference::~Inference() = default;

const GraphShapes& Inference::main() const { return state_->engine.main(); }
const GraphShapes* Inference::function(std::string_view name) { return state_->engine.function(name); }
const Graph* Inference::body(std::string_view name) { return state_->engine.body(name); }
std::vector<Inference::Called> Inference::called(const GraphShapes& caller, NodeId id) {
  return state_->engine.called(static_cast<const shaping::Walk&>(caller), id);
}
std::vector<Shape> Inference::arguments(std::string_view name) { return state_->engine.arguments(name); }
std::vector<Shape> Inference::results(std::string_view name) { return state_->engine.results(name); }
const std::vector<ShapeContradiction>& Inference::contradictions() const {
  return state_->engine.contradictions;
}

}  // namespace gedit
