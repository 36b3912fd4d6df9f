// Any bytes as a graph: it never differs from itself, nor from itself with one node under another name; and
// no proof says that two graphs are the same of which another says that they differ.
#include "edit/edits.h"
#include "fuzzed.h"
#include "prove/prove.h"

namespace gedit {
namespace {

// One run of the target: a kind and a message that was taken apart and written once.
class Proofs {
 public:
  Proofs(Kind kind, std::string_view message) : kind_(kind), message_(message) {
    Model model = fresh();
    for (uint32_t i = 0; i < model.graph().size(); ++i) names_.emplace_back(model.graph().name(NodeId{i}));
  }

  void run() {
    if (names_.empty()) return;
    const std::string first = names_.front(), middle = names_[names_.size() / 2], last = names_.back();
    const std::vector<OutputPair> outputs{
        {first, first}, {middle, middle}, {last, last}, {"^" + last, "^" + last}};
    for (const OutputPair& output : outputs) {
      const auto verdict = proved(fresh(), fresh(), {output}, {});
      require(verdict != ProofVerdict::kDiffers);
    }
    accepted([&] {
      const std::string message = renamed(middle);
      const OutputPair output{last, last == middle ? kNewName : last};
      const auto verdict = proved(fresh(), read(message), {output}, {{middle, kNewName}});
      require(verdict != ProofVerdict::kDiffers);
    });
    // Two nodes of one graph, both ways.
    const auto there = proved(fresh(), fresh(), {{middle, last}}, {}),
               back = proved(fresh(), fresh(), {{last, middle}}, {});
    const auto tells = [](const auto& verdict) { return verdict && *verdict != ProofVerdict::kUnknown; };
    require(!tells(there) || !tells(back) || *there == *back);
  }

 private:
  static constexpr const char* kNewName = "renamed_node";

  Model fresh() const { return read(message_); }
  Model read(std::string_view message) const { return decoded_model(kind_, message); }

  // The message with one node under another name.
  std::string renamed(const std::string& node) const {
    Model model = fresh();
    Registry ops = builtin_registry();
    RenameRequest request;
    request.pairs = {node + "=" + kNewName};
    rename(model, ops, request);
    return written(model);
  }

  // Nothing where it is refused, as an output that is not there is.
  static std::optional<ProofVerdict> proved(Model a, Model b, const std::vector<OutputPair>& outputs,
                                            const std::vector<std::pair<std::string, std::string>>& map) {
    std::optional<ProofVerdict> verdict;
    accepted([&] {
      Registry ops_a = builtin_registry(), ops_b = builtin_registry();
      ProofRequest request;
      request.outputs = outputs;
      request.map = map;
      with_file(a, [&] {
        const Proof proof = prove({a, ops_a}, {b, ops_b}, request);
        require(proof.outputs.size() == outputs.size());
        verdict = proof.outputs.front().verdict;
      });
    });
    return verdict;
  }

  Kind kind_;
  std::string message_;
  std::vector<std::string> names_;
};

}  // namespace
void fuzz_prove(const uint8_t* data, size_t size) { run_on_messages<Proofs>(data, size); }

}  // namespace gedit
