#include "prove/verify.h"

#include <algorithm>
#include <unordered_map>

#include "base/error.h"
#include "graph/edges.h"
#include "graph/names.h"
#include "graph/wiring.h"
#include "model/saver_def.h"
#include "model/summary.h"
#include "ops/kinds.h"

namespace gedit {
namespace {

constexpr size_t kMostPlaces = 1;          // of what is not proved: the first is told
constexpr size_t kMostPlacesRebuilt = 64;  // what tells them apart counts

std::string first_text(const OutputProof& output) {
  std::string text;
  if (!output.a.empty()) {
    text.append("first where '").append(printable(output.a)).append("' and '");
    text.append(printable(output.b)).append("' part: ");
  }
  return text + output.why;
}

// Whether an edit that builds things otherwise may have done that.
bool may_differ(const Verification& request, const OutputProof& output) {
  if (request.reworked) return !output.by_value || output.a != output.b;
  return request.rebuilt && !output.by_value && !output.by_attribute;
}

bool worse(const OutputProof& a, const OutputProof& b) {
  return a.verdict == ProofVerdict::kDiffers && b.verdict != ProofVerdict::kDiffers;
}

}  // namespace

Verified& Verified::operator+=(const Verified& other) {
  if (unknown == 0) {
    what = other.what;
    why = other.why;
  }
  proved += other.proved;
  unknown += other.unknown;
  return *this;
}

std::string Verified::text() const {
  std::string text = "verified: " + std::to_string(proved) + " proved";
  if (unknown == 0) return text;
  text.append(", ").append(std::to_string(unknown)).append(" unknown: ");
  if (!what.empty()) text.append("'").append(printable(what)).append("' ");
  return text + why;
}

std::vector<OutputPair> all_outputs(const ProofSide& before, const ProofSide& after,
                                    const Verification& request) {
  std::vector<OutputPair> pairs;
  Graph& graph = before.model.graph();
  graph.decode();
  const Names by_name(graph);
  NodeSet other(graph.size()), read(graph.size());
  for (const std::string& name : request.changed) {
    if (const NodeId node = by_name.find(name); node != kNoNode) other.add(node);
  }
  if (!request.changed.empty()) other = reach(other, reversed(producers(graph, by_name)), kAnyDistance);

  const std::vector<SignatureSummary> signatures = list_signatures(after.model.meta());
  const auto both = [&](const auto& of_a, const auto& of_b) {
    for (const auto& [key, tensor] : of_a) {
      const auto found = of_b.find(key);
      if (found == of_b.end()) continue;
      const std::vector<std::string> in_a = tensor.tensors(), in_b = found->second.tensors();
      for (size_t i = 0; i < std::min(in_a.size(), in_b.size()); ++i) {
        const NodeId node = by_name.find(parse_input(in_a[i]).node);
        if (node == kNoNode || !other.has(node)) pairs.push_back({in_a[i], in_b[i]});
      }
    }
  };
  for (const SignatureSummary& in_a : list_signatures(before.model.meta())) {
    const auto renamed =
        std::ranges::find(request.signatures, in_a.key, &std::pair<std::string, std::string>::first);
    const std::string& key = renamed == request.signatures.end() ? in_a.key : renamed->second;
    const auto in_b = std::ranges::find(signatures, key, &SignatureSummary::key);
    if (in_b == signatures.end()) continue;
    both(in_a.inputs, in_b->inputs);
    both(in_a.outputs, in_b->outputs);
  }
  for (uint32_t i = 0; i < graph.size(); ++i) {
    if (graph.removed(NodeId{i})) continue;
    each_input(graph.bytes(NodeId{i}), [&](std::string_view text) {
      const Input input = parse_input(text);
      const NodeId node = by_name.find(input.node);
      if (node != kNoNode && !input.control) read.add(node);
    });
  }
  const std::unordered_map<std::string_view, std::string_view> afterwards(request.names.begin(),
                                                                          request.names.end());
  for (uint32_t i = 0; i < graph.size(); ++i) {
    if (graph.removed(NodeId{i}) || read.has(NodeId{i}) || other.has(NodeId{i})) continue;
    const std::string_view name = graph.name(NodeId{i});
    const auto found = afterwards.find(name);
    OutputPair pair{"^", "^"};
    pair.a += name;
    pair.b += found == afterwards.end() ? name : found->second;
    pairs.push_back(std::move(pair));
  }
  return pairs;
}

std::vector<OutputPair> outputs_that_stay(const ProofSide& before, const ProofSide& after,
                                          const Verification& request) {
  std::vector<OutputPair> pairs = all_outputs(before, after, request);
  after.model.graph().decode();
  const Names names(after.model.graph());
  std::erase_if(pairs,
                [&](const OutputPair& pair) { return names.find(parse_input(pair.b).node) == kNoNode; });
  return pairs;
}

std::vector<OutputPair> named_outputs(const ProofSide& before, const ProofSide& after,
                                      const std::vector<std::string>& texts) {
  before.model.graph().decode();
  after.model.graph().decode();
  const Names names_before(before.model.graph()), names_after(after.model.graph());
  std::vector<OutputPair> pairs;
  for (const std::string& text : texts) {
    const Input input = parse_input(text);
    const bool in_both = names_before.find(input.node) != kNoNode && names_after.find(input.node) != kNoNode;
    if (in_both && input.port.empty()) {
      std::string op = "^";
      op += input.node;
      pairs.push_back({op, op});
    } else if (in_both || text.find("//") == std::string::npos) {
      pairs.push_back({text, text});
    }
  }
  return pairs;
}

std::vector<std::string> saver_nodes(const ProofSide& side) {
  const Graph& graph = side.model.graph();
  side.model.graph().decode();
  std::vector<std::string> names;
  for (uint32_t i = 0; i < graph.size(); ++i) {
    const std::string_view op = graph.op(NodeId{i});
    if (is_save_op(op) || is_save_v2_op(op) || is_restore_op(op) || is_restore_v2_op(op))
      names.emplace_back(graph.name(NodeId{i}));
  }
  // What these name may be calls of functions.
  for (const std::string_view bytes : saver_defs(side.model.meta())) {
    const SaverDef def = parse_saver_def(bytes);
    for (const std::string_view named : {def.filename, def.save, def.restore})
      names.emplace_back(parse_input(named).node);
  }
  return names;
}

std::vector<std::pair<std::string, std::string>> names_by_place(const ProofSide& before,
                                                                const ProofSide& after) {
  Graph &a = before.model.graph(), &b = after.model.graph();
  a.decode();
  b.decode();
  if (a.size() != b.size())
    throw refused("has " + std::to_string(b.size()) + " nodes, and " + std::to_string(a.size()) + " before")
        .in(after.model.path);
  std::vector<std::pair<std::string, std::string>> names;
  for (uint32_t i = 0; i < a.size(); ++i) {
    if (a.name(NodeId{i}) != b.name(NodeId{i})) names.emplace_back(a.name(NodeId{i}), b.name(NodeId{i}));
  }
  return names;
}

Verified verify(const ProofSide& before, const ProofSide& after, const Verification& request) {
  ProofRequest wanted;
  wanted.outputs = request.outputs ? *request.outputs : all_outputs(before, after, request);
  // What stands where the graph was cut is another by its make.
  std::erase_if(wanted.outputs, [&](const OutputPair& output) {
    return output.b.starts_with('^') && std::ranges::any_of(request.same, [&](const OutputPair& cut) {
             return cut.b == std::string_view(output.b).substr(1);
           });
  });
  wanted.map = request.names;
  wanted.same = request.same;
  wanted.given = request.given;
  wanted.most_places = request.rebuilt || request.reworked ? kMostPlacesRebuilt : kMostPlaces;
  Proof proof = prove(before, after, wanted);
  for (OutputProof& output : proof.outputs) {
    if (output.verdict != ProofVerdict::kDiffers || !may_differ(request, output)) continue;
    output.verdict = ProofVerdict::kUnknown;
    output.why = "is built otherwise: " + first_text(output);
    output.a.clear();
  }
  Verified verified;
  const OutputProof* worst = nullptr;
  for (const OutputProof& output : proof.outputs) {
    if (output.verdict == ProofVerdict::kProved) {
      ++verified.proved;
      continue;
    }
    if (output.verdict == ProofVerdict::kUnknown) ++verified.unknown;
    if (worst == nullptr || worse(output, *worst)) worst = &output;
  }
  if (worst == nullptr) return verified;
  // Of each verdict the first is told why, and where order counts that may be another one.
  if (worst->why.empty()) {
    std::swap(wanted.outputs[0], wanted.outputs[static_cast<size_t>(worst - proof.outputs.data())]);
    proof = prove(before, after, wanted);
    worst = &proof.outputs[0];
  }
  if (worst->verdict == ProofVerdict::kDiffers) {
    throw Error(Cause::kRefused, "would not be what it was: " + first_text(*worst))
        .in(after.model.path)
        .of(worst->output.b.starts_with('^') ? quoted("node", std::string_view(worst->output.b).substr(1))
                                             : quoted("tensor", worst->output.b));
  }
  verified.what = worst->a.empty() ? worst->b : worst->a;
  verified.why = worst->why;
  return verified;
}

}  // namespace gedit
