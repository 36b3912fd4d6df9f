// What a summary takes for the inputs and outputs of the model, most likely first.
#include <algorithm>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "model/collections.h"
#include "model/summary_parts.h"
#include "ops/kinds.h"

namespace gedit {
namespace {

constexpr uint64_t kMostSumSteps =
    100'000'000;  // nodes visited to rank outputs; past that their order in the file decides

class GraphEnds {
 public:
  GraphEnds(const SummarizedGraph& of, GraphSummary& summary) : of_(of), summary_(summary) {}

  void run() {
    outputs();
    inputs();
  }

 private:
  std::optional<DType> type_of(NodeId id, uint32_t index) {
    const auto types = output_types(of_.ops, of_.graph.bytes(id));
    if (!types || index >= types->size() || (*types)[index] == DType::kInvalid) return std::nullopt;
    return base_type((*types)[index]);
  }

  // A Placeholder from before producer 24 cannot tell a scalar from an unknown shape (ops/array_ops.cc).
  Shape shape_of(NodeId id, uint32_t index) const {
    const std::string_view node_def = of_.graph.bytes(id);
    Shape shape = output_shape(node_def, index);
    const bool old = summary_.producer < 24 && node_op(node_def) == "Placeholder" &&
                     !find_attr(node_def, "_output_shapes");
    if (old && shape && shape->empty()) return std::nullopt;
    return shape;
  }

  TensorSummary tensor(NodeId id, uint32_t index, std::string reason) {
    TensorSummary summary;
    summary.tensor = std::string(of_.graph.name(id)) + (index > 0 ? ":" + std::to_string(index) : "");
    summary.dtype = type_of(id, index);
    summary.shape = shape_of(id, index);
    summary.reason = std::move(reason);
    return summary;
  }

  void add_output(const std::string& name, const std::string& reason) {
    const Input input = parse_input(name);
    const NodeId id = of_.names.find(input.node);
    if (id == kNoNode ||
        !outputs_known_.insert(std::string(input.node) + ":" + std::to_string(input.index())).second)
      return;
    summary_.outputs.push_back(tensor(id, input.index(), reason));
    best_outputs_.push_back(id);
  }

  void outputs() {
    for (const SignatureSummary& signature : summary_.signatures) {
      for (const auto& [key, info] : signature.outputs) add_output(info.tensor, "signature " + signature.key);
    }
    const size_t by_signature = summary_.outputs.size();
    training_outputs();
    struct Unread {
      NodeId id;
      uint64_t upstream;
    };
    std::vector<Unread> unread;
    std::unordered_set<uint32_t> initializers;
    for (const Collection& collection : collections(of_.meta)) {
      if (collection.kind != collection_kind::kBytesList || !holds_variables(collection.key)) continue;
      for (const std::string_view def : collection.items) {
        const VariableNames of = variable_names(def);
        for (const std::string_view name : {of.initializer, of.snapshot, of.initial_value}) {
          if (const NodeId id = of_.names.find(node_of(name)); id != kNoNode)
            initializers.insert(index_of(id));
        }
      }
    }
    for (uint32_t i = 0; i < of_.graph.size(); ++i) {
      const NodeId id{i};
      if (!of_.consumers.of(id).empty() || initializers.contains(i)) continue;
      if (of_.graph.is(id, OpKind::kNoResult)) continue;
      const auto types = output_types(of_.ops, of_.graph.bytes(id));
      if (types && types->empty()) continue;
      unread.push_back({id, 0});
    }
    // With functions as the model's body, the graph's own loose ends are not its results.
    if (by_signature > 0) return;
    if (unread.size() * summary_.nodes <= kMostSumSteps) {
      for (Unread& one : unread) {
        NodeSet set(of_.graph.size());
        set.add(one.id);
        one.upstream = reach(set, of_.producers, kAnyDistance).count();
      }
      std::stable_sort(unread.begin(), unread.end(),
                       [](const Unread& a, const Unread& b) { return a.upstream > b.upstream; });
    } else {
      std::reverse(unread.begin(), unread.end());
    }
    for (const Unread& one : unread) {
      if (one.upstream == 1 || helps_training_or_saving(one.id)) continue;  // a loose end, not a result
      add_output(std::string(of_.graph.name(one.id)), "nobody reads it");
    }
  }

  // Where tf.gradients began, what the model says before the loss, and what trains it.
  void training_outputs() {
    std::vector<NodeId> losses;
    for (uint32_t i = 0; i < of_.graph.size(); ++i) {
      const std::string_view name = of_.graph.name(NodeId{i});
      // `gradients/grad_ys_0` or `gradients/Fill` is the first gradient; the loss is the node whose own
      // gradient nobody of the forward graph asks for.
      const size_t at = name.find("gradients");
      if (at == std::string_view::npos) continue;
      const size_t slash = name.find('/', at);
      if (slash == std::string_view::npos) continue;
      const size_t end = name.find("_grad/", slash);
      if (end == std::string_view::npos) continue;
      const NodeId forward = of_.names.find(name.substr(slash + 1, end - slash - 1));
      if (forward != kNoNode) differentiated_.insert(index_of(forward));
    }
    through_identities();
    for (const uint32_t index : differentiated_) {
      bool last = true;
      for (const NodeId reader : of_.consumers.of(NodeId{index}))
        last = last && !differentiated_.contains(index_of(reader));
      if (last) losses.push_back(NodeId{index});
    }
    std::sort(losses.begin(), losses.end());
    for (const NodeId loss : losses) before_loss(loss);
    for (const NodeId loss : losses) add_output(std::string(of_.graph.name(loss)), "differentiated");
    for (const Collection& collection : collections(of_.meta)) {
      if (collection.key != collection_key::kTrainOp || collection.kind != collection_kind::kNodeList)
        continue;
      for (const std::string_view item : collection.items) add_output(std::string(item), "train_op");
    }
  }

  // The gradient of an Identity is no node of its own: one between differentiated nodes counts as one of
  // them.
  void through_identities() {
    std::vector<uint32_t> open(differentiated_.begin(), differentiated_.end());
    while (!open.empty()) {
      const NodeId at{open.back()};
      open.pop_back();
      for (const NodeId reader : of_.consumers.of(at)) {
        if (!of_.graph.is(reader, OpKind::kIdentity) || differentiated_.contains(index_of(reader))) continue;
        const auto readers = of_.consumers.of(reader);
        const bool between = std::any_of(readers.begin(), readers.end(), [&](NodeId next) {
          return differentiated_.contains(index_of(next));
        });
        if (!between) continue;
        differentiated_.insert(index_of(reader));
        open.push_back(index_of(reader));
      }
    }
  }

  // Save and restore operations, and what names their files.
  const NodeSet& saver_parts() {
    if (saver_parts_.size() == of_.graph.size()) return saver_parts_;
    NodeSet names(of_.graph.size()), operations(of_.graph.size());
    for (uint32_t i = 0; i < of_.graph.size(); ++i) {
      if (!of_.graph.is(NodeId{i}, OpKind::kSave | OpKind::kRestore | OpKind::kMergeCheckpoints)) continue;
      operations.add(NodeId{i});
      const auto sources = of_.producers.of(NodeId{i});
      if (!sources.empty()) names.add(sources[0]);
    }
    saver_parts_ = reach(names, of_.producers, kAnyDistance);
    // A sharded saver's file names are made of what may be the model's own; a Save node is not upstream of a
    // name.
    for (const NodeId id : operations.nodes()) saver_parts_.add(id);
    return saver_parts_;
  }

  // Nodes that tf.gradients made, and what only tells that a file was saved.
  bool helps_training_or_saving(NodeId id) {
    const std::string_view name = of_.graph.name(id);
    if (!differentiated_.empty() &&
        (name.starts_with("gradients") || name.find("/gradients") != std::string_view::npos))
      return true;
    const auto sources = of_.producers.of(id);
    return saver_parts().has(id) || std::any_of(sources.begin(), sources.end(),
                                                [&](NodeId source) { return saver_parts().has(source); });
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
      if (own == 0 || !differentiated_.contains(index_of(id)) || id == loss) continue;
      bool last = true, any = false;
      for (const NodeId reader : of_.consumers.of(id)) {
        if (!upstream.has(reader)) continue;
        any = true;
        last = last && (mask(reader) & ~own) != 0;
      }
      if (any && last) add_output(std::string(of_.graph.name(id)), "nobody reads it but the loss");
    }
  }

  void inputs() {
    struct Ranked {
      NodeId id;
      int rank;
      uint64_t downstream;
      std::string reason;
    };
    std::vector<Ranked> ranked;
    std::unordered_map<std::string, std::string> fed;
    for (const SignatureSummary& signature : summary_.signatures) {
      for (const auto& [key, info] : signature.inputs) {
        fed.emplace(std::string(parse_input(info.tensor).node), "signature " + signature.key);
      }
    }
    std::unordered_set<std::string_view> filenames;
    for (const SaverSummary& saver : summary_.savers) filenames.insert(node_of(saver.filename_tensor));
    NodeSet best(of_.graph.size());
    for (const NodeId id : best_outputs_) best.add(id);
    const NodeSet needed = reach(best, of_.producers, kAnyDistance);
    for (const NodeId id : of_.placeholders) {
      const auto signature = fed.find(std::string(of_.graph.name(id)));
      if (signature == fed.end() && (saver_parts().has(id) || filenames.contains(of_.graph.name(id))))
        continue;  // the name of a checkpoint
      Ranked one{id, 2, 0, ""};
      if (signature != fed.end()) {
        one.rank = 0;
        one.reason = signature->second;
      } else if (needed.has(id)) {
        one.rank = 1;
      }
      if (of_.graph.is(id, OpKind::kPlaceholderWithDefault)) {
        one.rank = one.rank == 0 ? 0 : 3;
        if (one.reason.empty()) one.reason = "has a default";
      }
      if (of_.placeholders.size() * summary_.nodes <= kMostSumSteps) {
        NodeSet set(of_.graph.size());
        set.add(id);
        const NodeSet reached = reach(set, of_.consumers, kAnyDistance);
        one.downstream = reached.count();
        if (one.reason.empty()) one.reason = feeds(reached);
      }
      if (one.reason.empty()) one.reason = "a placeholder";
      ranked.push_back(std::move(one));
    }
    std::stable_sort(ranked.begin(), ranked.end(), [](const Ranked& a, const Ranked& b) {
      return a.rank != b.rank ? a.rank < b.rank : a.downstream > b.downstream;
    });
    for (const Ranked& one : ranked) summary_.inputs.push_back(tensor(one.id, 0, one.reason));
  }

  std::string feeds(const NodeSet& reached) const {
    for (size_t i = 0; i < best_outputs_.size(); ++i) {
      if (reached.has(best_outputs_[i])) return "feeds " + summary_.outputs[i].tensor;
    }
    return reached.count() == 1 ? "nobody reads it" : "";
  }

  const SummarizedGraph& of_;
  GraphSummary& summary_;
  std::vector<NodeId> best_outputs_;
  NodeSet saver_parts_;
  std::set<std::string> outputs_known_;
  std::unordered_set<uint32_t> differentiated_;
};

}  // namespace

void summarize_ends(const SummarizedGraph& of, GraphSummary& summary) { GraphEnds(of, summary).run(); }

}  // namespace gedit
