// What is proved where nobody says which outputs, and values as a user gives them.
#include <algorithm>
#include <charconv>

#include "graph/listing.h"
#include "graph/names.h"
#include "graph/node.h"
#include "graph/numbers.h"
#include "graph/scanner.h"
#include "graph/types.h"
#include "model/summary.h"
#include "prove/prove.h"

namespace gedit {
namespace {

std::string name_of_node(const std::string& tensor) { return std::string(parse_input(tensor).node); }

// Of what is not known to have fewer outputs.
bool has_tensor(const ProofSide& side, const Names& names, const std::string& tensor) {
  const Input input = parse_input(tensor);
  const NodeId node = names.find(input.node);
  if (node == kNoNode) return false;
  const std::optional<size_t> count = output_count(side.ops, side.model.graph().bytes(node));
  return !count || input.control || input.index() < *count;
}

}  // namespace

std::vector<OutputPair> common_outputs(const ProofSide& a, const ProofSide& b,
                                       std::vector<std::pair<std::string, std::string>>& map) {
  std::vector<OutputPair> pairs;
  const std::vector<SignatureSummary> signatures_a = list_signatures(a.model.meta()),
                                      signatures_b = list_signatures(b.model.meta());
  for (const SignatureSummary& in_a : signatures_a) {
    const auto in_b = std::ranges::find(signatures_b, in_a.key, &SignatureSummary::key);
    if (in_b == signatures_b.end()) continue;
    for (const auto& [key, input] : in_a.inputs) {
      const auto other = in_b->inputs.find(key);
      if (other == in_b->inputs.end()) continue;
      const std::vector<std::string> of_a = input.tensors(), of_b = other->second.tensors();
      for (size_t i = 0; i < std::min(of_a.size(), of_b.size()); ++i) {
        const std::string name_a = name_of_node(of_a[i]), name_b = name_of_node(of_b[i]);
        const bool known =
            std::ranges::any_of(map, [&](const auto& pair) { return name_of_node(pair.first) == name_a; });
        if (name_a != name_b && !known) map.emplace_back(name_a, name_b);
      }
    }
    for (const auto& [key, output] : in_a.outputs) {
      const auto other = in_b->outputs.find(key);
      if (other == in_b->outputs.end()) continue;
      const std::vector<std::string>&of_a = output.parts, &of_b = other->second.parts;
      if (of_a.empty() || of_a.size() != of_b.size())
        pairs.push_back({in_a.key + "." + key, in_a.key + "." + key});
      for (size_t i = 0; i < of_a.size() && of_a.size() == of_b.size(); ++i)
        pairs.push_back({of_a[i], of_b[i]});
    }
  }
  if (!pairs.empty()) return pairs;
  a.model.graph().decode();
  b.model.graph().decode();
  const Names names(b.model.graph());
  for (const TensorSummary& output : summarize(a.model, a.model.selected, a.ops).outputs) {
    if (has_tensor(b, names, output.tensor)) pairs.push_back({output.tensor, output.tensor});
  }
  return pairs;
}

std::string given_tensor(DType dtype, std::string_view value) {
  // A number or word alone is a scalar.
  std::string text(value);
  if (!value.starts_with("tensor("))
    text = "tensor(" + dtype_word(dtype) + " [], " + std::string(value) + ")";
  Scanner scanner(text, "");
  try {
    std::string proto = parse_tensor(scanner);
    if (scanner.peek() != '\n' || !scanner.at_end()) scanner.fail_expected("the end of the value");
    return proto;
  } catch (const Error& error) {
    throw Error(Cause::kUsage, "not a value of " + dtype_name(dtype) + ": " + printable(value));
  }
}

}  // namespace gedit
