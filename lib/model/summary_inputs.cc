// What a summary takes for the inputs of the model, most likely first.
#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "model/collections.h"
#include "model/machinery.h"
#include "model/summary_parts.h"
#include "ops/kinds.h"

namespace gedit {
namespace {

// Nodes visited to rank inputs; past that their order in the file decides.
constexpr uint64_t kMostInputSteps = 100'000'000;

class GraphInputs {
 public:
  GraphInputs(const SummarizedGraph& of, const Machinery& machinery, const std::vector<NodeId>& outputs,
              GraphSummary& summary)
      : of_(of), machinery_(machinery), outputs_(outputs), summary_(summary) {}

  void run() {
    find();
    NodeSet best(of_.graph.size());
    for (const NodeId id : outputs_) best.add(id);
    const NodeSet needed = reach(best, of_.producers, kAnyDistance);
    std::erase_if(found_, [&](const Ranked& one) { return one.pipeline && !needed.has(one.id); });
    const bool count = found_.size() * summary_.nodes <= kMostInputSteps;
    for (Ranked& one : found_) judge(one, needed, count);
    std::ranges::stable_sort(found_, [](const Ranked& a, const Ranked& b) {
      return a.rank != b.rank ? a.rank < b.rank : a.downstream > b.downstream;
    });
    for (const Ranked& one : found_) {
      for (const uint32_t output : one.outputs)
        summary_.inputs.push_back(summarize_tensor(of_, one.id, output, one.reason));
    }
  }

 private:
  struct Ranked {
    NodeId id;
    std::vector<uint32_t> outputs;
    const char* pipeline = nullptr;  // what gives it where it is no placeholder
    int rank = 2;
    uint64_t downstream = 0;
    std::string reason = {};
  };

  void find() {
    for (const SignatureSummary& signature : summary_.signatures) {
      for (const auto& [key, info] : signature.inputs)
        fed_.emplace(std::string(parse_input(info.tensor).node), "signature " + signature.key);
    }
    std::unordered_set<std::string_view> filenames;
    for (const SaverSummary& saver : summary_.savers) filenames.insert(node_of(saver.filename_tensor));
    for (const NodeId id : of_.placeholders) {
      const std::string_view name = of_.graph.name(id);
      const bool filename = machinery_.saves(id) || filenames.contains(name);
      if (!filename || fed_.contains(std::string(name))) found_.push_back({id, {0}});
    }
    for (uint32_t i = 0; i < of_.graph.size(); ++i) {
      if (const char* pipeline = pipeline_of(NodeId{i})) {
        Ranked one{NodeId{i}, read_outputs(NodeId{i}), pipeline};
        if (!one.outputs.empty()) found_.push_back(std::move(one));
      }
    }
  }

  // What takes an element out of an iterator or a queue: it says what the elements are, and gives no handle.
  const char* pipeline_of(NodeId id) const {
    if (of_.graph.is(id, OpKind::kIterator | OpKind::kTakesFromIterator))
      return find_attr(of_.graph.bytes(id), "output_types") ? "from an iterator" : nullptr;
    const auto sources = of_.producers.of(id);
    if (sources.empty() || !of_.graph.is(sources[0], OpKind::kQueue)) return nullptr;
    return find_attr(of_.graph.bytes(id), "component_types") ? "from a queue" : nullptr;
  }

  std::vector<uint32_t> read_outputs(NodeId id) const {
    std::vector<uint32_t> outputs;
    const auto types = output_types(of_.ops, of_.graph.bytes(id));
    for (uint32_t i = 0; types && i < types->size(); ++i) {
      const DType type = base_type((*types)[i]);
      if (type != DType::kResource && type != DType::kVariant) outputs.push_back(i);
    }
    return outputs;
  }

  void judge(Ranked& one, const NodeSet& needed, bool count) const {
    const auto signature = fed_.find(std::string(of_.graph.name(one.id)));
    if (signature != fed_.end()) {
      one.rank = 0;
      one.reason = signature->second;
    } else if (needed.has(one.id) && !one.pipeline) {
      one.rank = 1;
    }
    if (of_.graph.is(one.id, OpKind::kPlaceholderWithDefault)) {
      one.rank = one.rank == 0 ? 0 : 3;
      if (one.reason.empty()) one.reason = "has a default";
    }
    if (one.pipeline) one.reason = one.pipeline;
    if (count) {
      NodeSet set(of_.graph.size());
      set.add(one.id);
      const NodeSet reached = reach(set, of_.consumers, kAnyDistance);
      one.downstream = reached.count();
      const std::string fed = feeds(reached);
      if (one.pipeline && one.outputs.size() == 1 && !fed.empty()) one.reason += ", " + fed;
      if (one.reason.empty()) one.reason = fed;
    }
    if (one.reason.empty()) one.reason = "a placeholder";
  }

  std::string feeds(const NodeSet& reached) const {
    for (size_t i = 0; i < outputs_.size(); ++i) {
      if (reached.has(outputs_[i])) return "feeds " + summary_.outputs[i].tensor;
    }
    return reached.count() == 1 ? "nobody reads it" : "";
  }

  const SummarizedGraph& of_;
  const Machinery& machinery_;
  const std::vector<NodeId>& outputs_;
  GraphSummary& summary_;
  std::unordered_map<std::string, std::string> fed_;  // by node
  std::vector<Ranked> found_;
};

}  // namespace

void summarize_inputs(const SummarizedGraph& of, const Machinery& machinery,
                      const std::vector<NodeId>& outputs, GraphSummary& summary) {
  GraphInputs(of, machinery, outputs, summary).run();
}

}  // namespace gedit
