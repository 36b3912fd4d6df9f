// gedit cast: weights of fewer bits, and a graph that computes with them as before.
#include <algorithm>

#include "checkpoint/open.h"
#include "cli/options.h"
#include "cli/say.h"
#include "cli/weights.h"
#include "commands.h"
#include "edit/edits.h"
#include "model/folder.h"
#include "weights/casting.h"
#include "weights/rewrite.h"

namespace gedit {
namespace {

class CastGraph final : public Command {
 public:
  void setup(CommandLine& line) override {
    input_.setup(line);
    line.add_option("--weights", to_, "What they become: float16, bfloat16, float32")
        ->required()
        ->offers({"float16", "bfloat16", "float32"})
        ->type_name("DTYPE");
    line.add_option("-s,--select", request_.select,
                    "These variables and constants alone; default: all variables, without any all constants "
                    "but scalars")
        ->type_name("SELECTOR");
    line.add_option("--checkpoint", checkpoint_,
                    "Where values are, written beside OUT; default: a SavedModel's own, of x.meta the "
                    "checkpoint x")
        ->type_name("CKPT");
    output_.setup(line);
    output_.setup_state(line);
  }

  int run() override {
    request_.to = floating_type("--weights", to_);
    edit_file(input_, output_, [&](Model& model, Registry& ops) { return changed(model, ops); });
    return 0;
  }

 private:
  Changes changed(Model& model, Registry& ops) {
    const std::string named =
        output_.to_standard_output() && !output_.dry_run() ? checkpoint_ : values_of(model, checkpoint_);
    if (!checkpoint_.empty() && output_.to_standard_output() && !output_.dry_run())
      throw Error(Cause::kUsage, "a checkpoint cannot be written beside standard output").hint("-o FILE");
    request_.rewrites_values = !named.empty();
    CastChanges changes = cast(model, ops, request_);
    if (changes.keys.empty()) return changes;
    if (model.meta_graphs.size() > 1)
      throw refused("other MetaGraphs restore the same values")
          .in(model.path)
          .hint("gedit convert --tag-set TAGS -o ONE.meta");
    if (named.empty()) {
      changes.notes.push_back("restores " + dtype_name(request_.to) +
                              " now: gedit checkpoint cast CKPT --to " + dtype_name(request_.to));
    } else if (!output_.dry_run()) {
      output_.base.values = cast_values(model, named, changes);
    }
    return changes;
  }

  // The checkpoint with those keys cast; its data lies without a name in the folder of OUT.
  std::shared_ptr<Checkpoint> cast_values(const Model& model, const std::string& named,
                                          CastChanges& changes) const {
    const Weights weights = checkpoint_weights(open_checkpoint(named, &changes.warnings));
    std::vector<NewTensor> tensors = all_tensors(weights);
    std::vector<bool> hits;
    size_t found = 0;
    for (const NewTensor& tensor : tensors) {
      hits.push_back(changes.keys.contains(tensor.name));
      found += hits.back() ? 1 : 0;
    }
    if (found < changes.keys.size()) {
      const auto& checkpoint = weights.checkpoint->checkpoint;
      const auto missing =
          std::find_if(changes.keys.begin(), changes.keys.end(),
                       [&](const std::string& key) { return checkpoint.find(key) == nullptr; });
      throw refused("no such tensor in the checkpoint").of(tensor_subject(*missing)).in(named);
    }
    cast_tensors(tensors, hits, request_.to);
    StoreOptions store;
    store.shards = std::max<size_t>(
        1, weights.checkpoint->checkpoint.version == 1 ? 1 : weights.checkpoint->checkpoint.shards.size());
    store.overflowed = [&](const std::string& subject, uint64_t count) {
      changes.warnings.push_back(overflow_text(subject, count));
    };
    const std::string out = output_.destination(model).path;
    const std::string beside = join_path(dir_name(out), base_name(out.ends_with('/') ? "model" : out));
    return std::make_shared<Checkpoint>(store_tensors(std::move(tensors), beside, store));
  }

  InputOptions input_;
  OutputOptions output_;
  CastRequest request_;
  std::string to_, checkpoint_;
};

}  // namespace

CommandInfo cast_command() {
  return {
      .summary = "stores weights in half precision; the graph computes as before",
      .synopsis = "FILE --weights DTYPE [-s SELECTOR] [--checkpoint CKPT] -o OUT",
      .text = R"(
Halves what is stored and downloaded, not what is computed with: numbers are cast back before they are used, so
that ops, shapes and signatures stay. What a saver restores is of the new type in the checkpoint and cast before it
is assigned, and what it saves is cast before it is written; the checkpoint is written beside OUT. In a frozen graph each
constant becomes a Cast of its name, which reads the numbers in the new type; in functions, too. Scalars stay
unless a SELECTOR hits them. Rounded to the nearest, ties to even; what becomes infinite is told.

Variables that tf.saved_model.load restores by itself are refused: freeze them first.
)",
      .examples = R"(
gedit cast frozen.pb --weights float16 -o half.pb
gedit cast model.meta --weights bfloat16 -s '!**/gamma' -o half.meta
)",
      .make = make_command<CastGraph>,
  };
}

}  // namespace gedit
