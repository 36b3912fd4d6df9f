#include "cli/rewriting.h"

#include "base/error.h"
#include "checkpoint/list.h"
#include "cli/say.h"
#include "select/keys.h"

namespace gedit {
namespace {

std::string described(const NewTensor& tensor) {
  return dtype_name(tensor.dtype) + " " + shape_text(tensor.shape);
}

// What -n tells of a tensor: nothing where it stays what it was.
std::string change_text(const NewTensor& tensor, const Checkpoint& before) {
  const Tensor* was = before.find(tensor.name);
  std::string line;
  if (was != nullptr && was->dtype == tensor.dtype && was->slices.size() == tensor.slices.size()) return line;
  line += "~ " + shown_name(tensor.name) + " = " + described(tensor);
  if (was != nullptr && was->slices.size() != tensor.slices.size())
    line += " in " + std::to_string(std::max<size_t>(1, tensor.slices.size()));
  line += "\n";
  return line;
}

}  // namespace

void RewritingOptions::setup(CommandLine& line) {
  line.add_option("--shards", shards_, "This many data files (default: as many as there are)")
      ->within(1, 99999)
      ->type_name("N");
  part_.setup(line);
}

std::vector<bool> RewritingOptions::hits(const Weights& weights, const std::string& selector) const {
  const Checkpoint& checkpoint = weights.checkpoint->checkpoint;
  if (selector.empty()) return std::vector<bool>(checkpoint.tensors.size(), true);
  return require_tensors(checkpoint, selector);
}

void RewritingOptions::run(
    const CheckpointOperand& operand, CheckpointTarget& target,
    const std::function<void(const Weights& weights, std::vector<NewTensor>& tensors)>& change) const {
  const Weights weights = checkpoint_weights(operand.open());
  std::vector<NewTensor> tensors = all_tensors(weights);
  change(weights, tensors);
  write(weights, std::move(tensors), target, operand.quiet());
}

void RewritingOptions::write(const Weights& like, std::vector<NewTensor> tensors, CheckpointTarget& target,
                             bool quiet) const {
  const Checkpoint& before = like.checkpoint->checkpoint;
  if (target.dry_run()) {
    std::string text;
    for (const NewTensor& tensor : tensors) text += change_text(tensor, before);
    print(text);
    return;
  }
  StoreOptions store{.part = part_.part()};
  if (part_.given() && shards_ != 0) throw Error(Cause::kUsage, "--part writes one data file").of("--shards");
  const size_t there = before.version == 1 ? 1 : std::max<size_t>(1, before.shards.size());
  store.shards = shards_ != 0 ? shards_ : there;
  Checkpoint stored = store_told(std::move(tensors), target.output(), store, quiet);
  stored.header = stored.keep(std::string(before.version == 1 ? std::string_view() : before.header));
  target.write(std::move(stored), count(before), {}, quiet);
}

}  // namespace gedit
