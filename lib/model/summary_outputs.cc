// What a summary takes for the outputs of the model, most likely first.
#include <algorithm>
#include <array>
#include <iterator>
#include <set>

#include "model/collections.h"
#include "model/machinery.h"
#include "model/summary_parts.h"
#include "ops/kinds.h"

namespace gedit {
namespace {

// Nodes visited to rank outputs; past that their order in the file decides.
constexpr uint64_t kMostSumSteps = 100'000'000;

// By what a tensor is taken for an output; the order in which they are shown.
enum class Rank : uint8_t {
  kBeforeLoss,  // it goes into the loss, but for labels all of that is made of it
  kResult,      // named as a result, behind all weights
  kLoss,        // differentiated, or named so
  kTrainOp,     // the collection
  kNamed,       // nobody reads it, and it is named as an output, or a scope around it as a result
  kUnread,      // nobody reads it
  kBeside,      // nobody reads it, and it only tells how large something is, or what has a value
  kInside,      // a loop's counter, a list for its gradient, a variable: only where there is nothing else
  kGradient,    // nobody reads it, and tf.gradients made it
};

// What people name results of a model, in the words of a name: `head/predictions/str_classes`.
constexpr std::array<std::string_view, 14> kResultWords = {
    "argmax",      "classes", "logistic", "logit",         "logits",      "pred",  "prediction",
    "predictions", "preds",   "prob",     "probabilities", "probability", "probs", "softmax"};
constexpr std::array<std::string_view, 7> kFinalWords = {"final",   "output", "outputs", "result",
                                                         "results", "score",  "scores"};
constexpr std::array<std::string_view, 3> kLossWords = {"cost", "loss", "losses"};

template <size_t kCount>
bool is_among(std::string_view word, const std::array<std::string_view, kCount>& words) {
  return std::ranges::find(words, word) != words.end();
}

struct NamedAs {
  bool result = false, final = false, loss = false;
};

// By the words between the underscores of one part of a name, whatever their case, without digits at the end.
NamedAs named_as(std::string_view part) {
  NamedAs found;
  while (!part.empty()) {
    const size_t end = std::min(part.find('_'), part.size());
    std::string word(part.substr(0, end));
    part.remove_prefix(std::min(end + 1, part.size()));
    while (!word.empty() && word.back() >= '0' && word.back() <= '9') word.pop_back();
    for (char& letter : word)
      letter = letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter + 32) : letter;
    found.result = found.result || is_among(word, kResultWords);
    found.final = found.final || is_among(word, kFinalWords);
    found.loss = found.loss || is_among(word, kLossWords);
  }
  return found;
}

class GraphOutputs {
 public:
  GraphOutputs(const SummarizedGraph& of, const Machinery& machinery, GraphSummary& summary)
      : of_(of), machinery_(machinery), summary_(summary) {}

  std::vector<NodeId> run() {
    for (const SignatureSummary& signature : summary_.signatures) {
      for (const auto& [key, info] : signature.outputs) add(info.tensor, "signature " + signature.key);
    }
    const bool by_signature = !summary_.outputs.empty();
    training();
    // With functions as the model's body, the graph's own loose ends are not its results.
    if (!by_signature) {
      for (uint32_t i = 0; i < of_.graph.size(); ++i) consider(NodeId{i});
    }
    rank();
    const bool inside_alone =
        !by_signature && !candidates_.empty() && candidates_.front().rank >= Rank::kInside;
    for (const Candidate& one : candidates_) {
      if (one.rank != Rank::kInside || inside_alone) add_outputs(one);
    }
    return std::move(best_);
  }

 private:
  struct Candidate {
    NodeId id;
    Rank rank;
    bool unread;  // then all outputs of the node count, not the first alone
    std::string reason;
    uint64_t upstream = 0;
  };

  void add(NodeId id, uint32_t output, const std::string& reason) {
    if (!known_.emplace(index_of(id), output).second) return;
    summary_.outputs.push_back(summarize_tensor(of_, id, output, reason));
    best_.push_back(id);
  }
  void add(const std::string& tensor, const std::string& reason) {
    const Input input = parse_input(tensor);
    if (const NodeId id = of_.names.find(input.node); id != kNoNode) add(id, input.index(), reason);
  }

  void add_outputs(const Candidate& one) {
    const auto types = output_types(of_.ops, of_.graph.bytes(one.id));
    const size_t count = one.unread && types ? std::max<size_t>(1, types->size()) : 1;
    for (uint32_t i = 0; i < count; ++i) {
      if (i == 0 || !is_handle((*types)[i])) add(one.id, i, one.reason);
    }
  }

  static bool is_handle(DType type) {
    return base_type(type) == DType::kResource || base_type(type) == DType::kVariant;
  }

  void propose(NodeId id, Rank rank, std::string reason, bool unread = false) {
    candidates_.push_back({id, rank, unread, std::move(reason), 0});
  }

  // Where tf.gradients began, what the model says before the loss, and what trains it.
  void training() {
    std::vector<NodeId> losses;
    for (const NodeId id : machinery_.differentiated()) {
      const auto readers = of_.consumers.of(id);
      if (std::ranges::none_of(readers, [&](NodeId reader) { return machinery_.is_differentiated(reader); }))
        losses.push_back(id);
    }
    for (const NodeId loss : losses) before_loss(loss);
    for (const NodeId loss : losses) {
      const bool inside = !may_be(loss) || of_.graph.is(loss, OpKind::kExit);
      propose(loss, inside ? Rank::kInside : Rank::kLoss, "differentiated");
    }
    for (const Collection& collection : collections(of_.meta)) {
      if (collection.key != collection_key::kTrainOp || collection.kind != collection_kind::kNodeList)
        continue;
      for (const std::string_view item : collection.items) {
        if (const NodeId id = of_.names.find(parse_input(item).node); id != kNoNode)
          propose(id, Rank::kTrainOp, "train_op");
      }
    }
  }

  // The last tensors that do not depend on an input (the label) that the loss depends on.
  void before_loss(NodeId loss) {
    NodeSet from(of_.graph.size());
    from.add(loss);
    const NodeSet upstream = reach(from, of_.producers, kAnyDistance);
    std::vector<NodeSet> downstream;
    for (const NodeId placeholder : of_.placeholders) {
      if (!upstream.has(placeholder) || downstream.size() == 16) continue;
      NodeSet set(of_.graph.size());
      set.add(placeholder);
      downstream.push_back(reach(set, of_.consumers, kAnyDistance));
    }
    if (downstream.size() < 2) return;
    const auto mask = [&](NodeId id) {
      uint32_t bits = 0;
      for (size_t i = 0; i < downstream.size(); ++i) bits |= downstream[i].has(id) ? 1U << i : 0U;
      return bits;
    };
    for (const NodeId id : upstream.nodes()) {
      const uint32_t own = mask(id);
      if (own == 0 || !machinery_.is_differentiated(id) || id == loss || !may_be(id)) continue;
      bool last = true, any = false, only = true;
      for (const NodeId reader : of_.consumers.of(id)) {
        const bool of_loss = upstream.has(reader);
        any = any || of_loss;
        last = last && (!of_loss || (mask(reader) & ~own) != 0);
        only = only && (of_loss || machinery_.of_gradients(reader));
      }
      if (any && last)
        propose(id, Rank::kBeforeLoss, only ? "nobody reads it but the loss" : "the loss is made of it");
    }
  }

  // Whether it may be a result at all.
  bool may_be(NodeId id) const {
    constexpr OpKinds kNever =
        OpKind::kNoResult | OpKind::kSwitch | OpKind::kEnter | OpKind::kNextIteration | OpKind::kLoopCond;
    if (of_.graph.is(id, kNever) || machinery_.in_loop(id) || machinery_.initializes(id) ||
        machinery_.saves(id))
      return false;
    return std::ranges::none_of(of_.producers.of(id),
                                [&](NodeId source) { return machinery_.saves(source); });
  }

  void consider(NodeId id) {
    const bool read = !of_.consumers.of(id).empty();
    if (read && (machinery_.before_weights(id) || !machinery_.behind_weights(id))) return;
    const std::string_view name = of_.graph.name(id);
    const size_t slash = name.rfind('/');
    const NamedAs own = named_as(slash == std::string_view::npos ? name : name.substr(slash + 1));
    if (read && !own.result && !own.loss) return;
    if (!may_be(id) || of_.producers.of(id).empty()) return;
    if (machinery_.of_gradients(id)) {
      if (!read && !machinery_.trains()) propose(id, Rank::kGradient, "a gradient nobody reads");
      return;
    }
    const auto types = output_types(of_.ops, of_.graph.bytes(id));
    if (types && types->empty()) return;
    const DType type = types ? base_type(types->front()) : DType::kInvalid;
    const bool value = type != DType::kBool && machinery_.behind_weights(id);
    if (read) {
      if (value && !is_handle(type) && !of_.graph.is(id, OpKind::kExit))
        propose(id, own.result ? Rank::kResult : Rank::kLoss,
                own.result ? "named as a result" : "named as a loss");
      return;
    }
    Rank rank = own.final || scope_is_named(name) ? Rank::kNamed : Rank::kUnread;
    if (value && own.loss) rank = Rank::kLoss;
    if (value && own.result) rank = Rank::kResult;
    if (tells_size(id) || machinery_.asks_initialized(id)) rank = Rank::kBeside;
    if (is_handle(type) || of_.graph.is(id, OpKind::kExit) || hands_on(id)) rank = Rank::kInside;
    propose(id, rank, "nobody reads it", true);
  }

  // What a variable or a condition is, under another name.
  bool hands_on(NodeId id) const {
    return of_.graph.is(id, OpKind::kReadsValue) &&
           of_.graph.is(of_.producers.of(id)[0], OpKind::kVariable | OpKind::kSwitch);
  }

  // Shape, ShapeN and Size say in which integers they give it.
  bool tells_size(NodeId id) const {
    const auto type = type_attr(of_.graph.bytes(id), "out_type");
    return type && (*type == DType::kInt32 || *type == DType::kInt64);
  }

  static bool scope_is_named(std::string_view name) {
    for (size_t slash = name.find('/'); slash != std::string_view::npos; slash = name.find('/')) {
      const NamedAs scope = named_as(name.substr(0, slash));
      if (scope.result) return true;
      name.remove_prefix(slash + 1);
    }
    return false;
  }

  // In a rank, what more is upstream of comes first; what goes into losses, by their order.
  void rank() {
    const bool count = candidates_.size() * summary_.nodes <= kMostSumSteps;
    if (count) {
      Reacher upstream(of_.producers, of_.graph.size());
      for (Candidate& one : candidates_) one.upstream = upstream.from(one.id).size();
    } else {
      std::ranges::reverse(candidates_);
    }
    std::ranges::stable_sort(candidates_, [](const Candidate& a, const Candidate& b) {
      return a.rank != b.rank ? a.rank < b.rank : a.rank != Rank::kBeforeLoss && a.upstream > b.upstream;
    });
    if (count && machinery_.differentiated().empty()) last_first();
  }

  // In a graph for inference, what a model ends in is its result whatever its name: a decoder behind logits.
  // It is made of more than they are, and of the same inputs, as what measures them is not.
  void last_first() {
    if (candidates_.empty() || candidates_.front().rank != Rank::kResult) return;
    const auto last = std::ranges::find(candidates_, Rank::kUnread, &Candidate::rank);
    if (last == candidates_.end() || last->upstream <= candidates_.front().upstream) return;
    if (inputs_of(last->id) != inputs_of(candidates_.front().id)) return;
    last->rank = Rank::kResult;
    std::rotate(candidates_.begin(), last, last + 1);
  }

  std::vector<NodeId> inputs_of(NodeId id) const {
    NodeSet set(of_.graph.size());
    set.add(id);
    const NodeSet upstream = reach(set, of_.producers, kAnyDistance);
    std::vector<NodeId> found;
    std::ranges::copy_if(of_.placeholders, std::back_inserter(found),
                         [&](NodeId placeholder) { return upstream.has(placeholder); });
    return found;
  }

  const SummarizedGraph& of_;
  const Machinery& machinery_;
  GraphSummary& summary_;
  std::vector<Candidate> candidates_;
  std::vector<NodeId> best_;
  std::set<std::pair<uint32_t, uint32_t>> known_;
};

}  // namespace

std::vector<NodeId> summarize_outputs(const SummarizedGraph& of, const Machinery& machinery,
                                      GraphSummary& summary) {
  return GraphOutputs(of, machinery, summary).run();
}

}  // namespace gedit
