// Any bytes as a graph are refused in one line, or written again as they are, can be checked and compared,
// and are still a graph after an edit.
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>

#include "base/error.h"
#include "check/check.h"
#include "diff/diff.h"
#include "edit/edits.h"
#include "model/model.h"
#include "prove/prove.h"

namespace {

using gedit::Kind;
using gedit::Model;

Model graph_of(Kind kind, std::string_view message) {
  return gedit::model_of("fuzz.pb", kind, gedit::Format::kBinary, message, std::make_shared<gedit::Arena>());
}

std::string written(const Model& model) {
  gedit::StringSink sink;
  gedit::write_message(model, sink);
  return sink.text;
}

void require(bool holds) {
  if (!holds) std::abort();
}

// A graph never differs from itself; what is not known may stay so.
void check_proof(Kind kind, std::string_view message, gedit::Registry& ops) {
  Model a = graph_of(kind, message), b = graph_of(kind, message);
  a.graph().decode();
  gedit::ProofRequest request;
  for (uint32_t i = 0; i < a.graph().size() && request.outputs.size() < 8; ++i) {
    const std::string name(a.graph().name(gedit::NodeId{i}));
    request.outputs.push_back({name, name});
  }
  for (const gedit::OutputProof& output : gedit::prove({a, ops}, {b, ops}, request).outputs)
    require(output.verdict != gedit::ProofVerdict::kDiffers);
}

void check(Kind kind, std::string_view message) {
  try {
    Model model = graph_of(kind, message);
    if (kind == Kind::kSavedModel && model.meta_graphs.empty()) return;
    // A field that protobuf would merge is merged on reading; after that nothing changes any more.
    const std::string merged = written(model);
    require(merged == message || model.edited());
    require(written(graph_of(kind, merged)) == merged);
    gedit::Registry builtin;
    builtin.add_builtin();
    gedit::check(model, model.selected, builtin, {.fetch = {}, .security = true});
    gedit::Registry ops;
    gedit::RenameRequest request;
    request.pairs = {"/=p/"};
    gedit::rename(model, ops, request);
    const std::string renamed = written(model);
    Model again = graph_of(kind, renamed);
    again.graph().decode();
    model.graph().decode();
    require(again.graph().size() == model.graph().size());
    require(written(again) == renamed);
    Model before = graph_of(kind, merged);
    gedit::diff_models(before, again, builtin, builtin);
    gedit::StringSink lines;
    gedit::diff_json(gedit::diff_models(again, before, builtin, builtin), lines);
    check_proof(kind, merged, builtin);
  } catch (const gedit::Error& refusal) {
    require(std::string_view(refusal.what()).find('\n') == std::string_view::npos);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  for (const Kind kind : {Kind::kGraphDef, Kind::kMetaGraphDef, Kind::kSavedModel}) check(kind, bytes);
  return 0;
}
