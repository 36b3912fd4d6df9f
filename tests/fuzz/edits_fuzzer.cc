// Any bytes as a graph: every edit refuses it in one line, or makes a model that is written, read and written
// again the same. A copy changes no node that was there, what is extracted was there, what is merged is there
// as often as it was given.
#include "base/map_entry.h"
#include "draw/page.h"
#include "edit/edits.h"
#include "fuzzed.h"
#include "graph/library.h"

namespace gedit {
namespace {

// What was written is a model again, the same one.
void check_written(const Model& model) {
  const std::string bytes = written(model);
  require(written(model_of_bytes(model.kind, bytes)) == bytes);
}

// One run of the target: a kind and a message that was taken apart and written once.
class Edits {
 public:
  Edits(Kind kind, std::string_view message) : kind_(kind), message_(message) {
    Model model = fresh();
    for (uint32_t i = 0; i < model.graph().size(); ++i) names_.emplace_back(model.graph().name(NodeId{i}));
    const Library library = Library::decode(model.graph().part(graph_field::kLibrary), model.arena);
    for (const Function& function : library.functions) {
      if (function.body.size() == 0) continue;
      inner_ = std::string(function.name) + "//" +
               std::string(function.body.name(NodeId{function.body.size() - 1}));
    }
    for (const std::string_view entry : model.meta().parts_of(meta_field::kSignature))
      keys_.emplace_back(map_entry(entry).key);
  }

  void run() {
    if (names_.empty()) return;
    const std::string last = names_.back(), middle = names_[names_.size() / 2];
    edit([&](Model& m, Registry& ops) {
      CopyRequest request;
      request.outputs = {last};
      request.scope = "twin";
      copy(m, ops, request);
      require(m.graph().size() >= names_.size());
      for (uint32_t i = 0; i < names_.size(); ++i) require(m.graph().name(NodeId{i}) == names_[i]);
    });
    edit([&](Model& m, Registry& ops) {
      CopyRequest request;
      request.outputs = {last};
      request.inputs = {middle};
      request.scope = "twin";
      request.placeholders = true;
      copy(m, ops, request);
    });
    edit([&](Model& m, Registry& ops) {
      extract(m, ops, {.outputs = {last}, .inputs = {}, .signature = {}});
    });
    edit([&](Model& m, Registry& ops) {
      extract(m, ops, {.outputs = {last}, .inputs = {middle}, .signature = {}});
    });
    edit([&](Model& m, Registry& ops) {
      FreezeRequest request;
      request.outputs = {last};
      freeze(m, ops, request);
    });
    edit([&](Model& m, Registry& ops) {
      insert(m, ops, {.op = "Identity", .at_reads = {}, .after = {last}, .attrs = {}});
    });
    edit([&](Model& m, Registry& ops) {
      SyncRequest request;
      request.all = true;
      request.from_scope = "a";
      request.to_scope = "b";
      sync(m, ops, request);
    });
    edit([&](Model& m, Registry& ops) {
      RenameRequest request;
      request.pairs = {middle + "=renamed_node"};
      request.expressions = {"s/a/b/g"};
      rename(m, ops, request);
    });
    edit([&](Model& m, Registry& ops) {
      SetRequest request;
      request.steps = {{SetStep::Is::kDevice, "**=/device:CPU:0"}, {SetStep::Is::kShape, last + "=[2,?]"}};
      request.follow = true;
      set(m, ops, request);
    });
    edit([&](Model& m, Registry& ops) {
      NewSignature signature;
      signature.key = "fuzzed";
      signature.inputs = {"x=" + middle};
      signature.outputs = {"y=" + last};
      add_signature(m, ops, signature);
    });
    edit([&](Model& m, Registry& ops) {
      FreezeRequest request;
      request.outputs = {last};
      request.keep = "**";
      freeze(m, ops, request);
    });
    edit([&](Model& m, Registry& ops) { cast(m, ops, {.to = DType::kBfloat16, .select = "**"}); });
    edit_inside();
    edit_signatures();
    merge_with_itself({});
    merge_with_itself({"a/" + middle + "=b/" + last});
    draw_it();
  }

 private:
  Model fresh() const { return decoded_model(kind_, message_); }

  template <typename Edit>
  void edit(Edit with) const {
    accepted([&] {
      Model model = fresh();
      Registry ops = builtin_registry();
      with_file(model, [&] {
        with(model, ops);
        check_written(model);
      });
    });
  }

  // Of a function's body.
  void edit_inside() const {
    if (inner_.empty()) return;
    edit([&](Model& m, Registry& ops) {
      extract(m, ops, {.outputs = {inner_}, .inputs = {}, .signature = {}});
    });
    edit([&](Model& m, Registry& ops) {
      insert(m, ops, {.op = "Identity", .at_reads = {}, .after = {inner_}, .attrs = {}});
    });
    edit([&](Model& m, Registry& ops) {
      RenameRequest request;
      request.pairs = {inner_ + "=renamed_node"};
      rename(m, ops, request);
    });
    edit([&](Model& m, Registry& ops) {
      NewSignature signature;
      signature.key = "fuzzed";
      signature.outputs = {"y=" + inner_};
      add_signature(m, ops, signature);
    });
  }

  void edit_signatures() const {
    if (keys_.empty()) return;
    edit([&](Model& m, Registry& ops) { rename_signatures(m, ops, {keys_.front() + "=renamed"}); });
    edit([&](Model& m, Registry&) { remove_signatures(m, keys_); });
    edit([&](Model& m, Registry& ops) {
      extract(m, ops, {.outputs = {}, .inputs = {}, .signature = keys_.back()});
    });
  }

  void merge_with_itself(std::vector<std::string> input_map) const {
    accepted([&] {
      std::vector<MergeOperand> operands;
      for (const char* name : {"a", "b"}) {
        operands.push_back({.name = name, .model = fresh(), .ops = builtin_registry()});
      }
      MergeRequest request;
      request.input_map = std::move(input_map);
      const MergeChanges merged = merge(std::move(operands), request);
      require(merged.model.graph().size() >= 2 * names_.size());
      check_written(merged.model);
    });
  }

  void draw_it() const {
    accepted([&] {
      Model model = fresh();
      Registry ops;
      with_file(model, [&] {
        StringSink page;
        write_page(make_sheets(model, ops), {"fuzz", 1}, page);
      });
    });
  }

  Kind kind_;
  std::string message_;
  std::vector<std::string> names_;
  std::string inner_;              // the last node of the last function that has any
  std::vector<std::string> keys_;  // of signatures
};

}  // namespace
void fuzz_edits(const uint8_t* data, size_t size) { run_on_messages<Edits>(data, size); }

}  // namespace gedit
