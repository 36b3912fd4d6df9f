#include "optimize/certify.h"

#include "base/error.h"

namespace gedit {
namespace {

std::string text_of(const OutputProof& proof) {
  std::string text = printable(proof.output.a);
  text += ": ";
  if (!proof.a.empty()) text.append("'").append(printable(proof.a)).append("' ");
  if (!proof.b.empty() && proof.b != proof.a) text.append("and '").append(printable(proof.b)).append("' ");
  return text + proof.why;
}

}  // namespace

Certificate certify(Model& before, Model& after, Registry& ops, const OptimizeResult& result) {
  ProofRequest request;
  for (const std::string& output : result.outputs) request.outputs.push_back({output, output});
  request.given = result.given;
  for (const optimizing::Assumption& assumption : result.assumptions)
    request.assumed.push_back(
        {assumption.function, assumption.tensor, assumption.same_as, assumption.tensor_proto});
  const ProofSide a{before, ops}, b{after, ops};
  const Proof proof = prove(a, b, request);
  Certificate certificate;
  ProofRequest again = request;
  again.outputs.clear();
  std::vector<const OutputProof*> open;
  for (const OutputProof& output : proof.outputs) {
    if (output.verdict == ProofVerdict::kProved) {
      ++certificate.proved;
      certificate.tensors += output.tensors;
    } else {
      open.push_back(&output);
      again.outputs.push_back({output.output.a, output.output.a});
    }
  }
  if (open.empty()) return certificate;
  again.assumed.clear();
  const Proof of_itself = prove(a, a, again);
  for (size_t i = 0; i < open.size(); ++i) {
    if (of_itself.outputs[i].verdict == ProofVerdict::kProved)
      throw refused("the result is not proved to compute the same, and nothing was written: " +
                    text_of(*open[i]))
          .of("gedit optimize")
          .hint("report it; --no-proof writes it all the same");
    certificate.unknown.push_back(text_of(of_itself.outputs[i]));
  }
  return certificate;
}

}  // namespace gedit
