// gedit checkpoint import: weights of safetensors, npz, npy or another checkpoint as a checkpoint.
#include "weights/import.h"

#include <algorithm>
#include <charconv>

#include "base/error.h"
#include "base/size.h"
#include "checkpoint/list.h"
#include "cli/checkpoints.h"
#include "cli/say.h"
#include "cli/weights.h"
#include "commands.h"
#include "weights/rewrite.h"

namespace gedit {
namespace {

// `SELECTOR=1,0`.
std::pair<std::string, std::vector<size_t>> parse_transposition(const std::string& text) {
  const size_t equals = text.rfind('=');
  std::vector<size_t> order;
  const char* end = text.data() + text.size();
  for (const char* p = text.data() + (equals == std::string::npos ? text.size() : equals + 1); p < end;) {
    size_t number = 0;
    const auto [next, error] = std::from_chars(p, end, number);
    if (error != std::errc() || (next != end && *next != ',')) break;
    order.push_back(number);
    p = next == end ? end : next + 1;
  }
  std::vector<size_t> sorted = order;
  std::sort(sorted.begin(), sorted.end());
  bool whole = !sorted.empty() && equals != 0 && text.back() != ',';
  for (size_t i = 0; i < sorted.size(); ++i) whole = whole && sorted[i] == i;
  if (!whole)
    throw misused(text, "is not SELECTOR=ORDER").of(quoted("--transpose", text)).hint("'**/kernel=1,0'");
  return {text.substr(0, equals), order};
}

class ImportWeights final : public Command {
 public:
  void setup(CommandLine& line) override {
    line.add_option("FILE", path_,
                    "NAME.safetensors, NAME.npz, a folder of .npy files, a checkpoint, a graph")
        ->required();
    line.add_option("--into", into_,
                    "Take keys, types and shapes, and what is not in FILE, from this checkpoint")
        ->type_name("CKPT");
    line.add_flag("--partly", partly_, "Keys without a value keep theirs, values without a key are left out");
    line.add_option("--map", map_, "Other names, OLD=NEW; @FILE has OLD<tab>NEW or OLD=NEW a line")
        ->type_name("OLD=NEW")
        ->one_each();
    line.add_option("--transpose", transpose_, "Other order of dimensions, by the new names: '**/kernel=1,0'")
        ->type_name("SELECTOR=ORDER")
        ->one_each();
    line.add_option("--cast", cast_, "Floating point numbers become this type")->type_name("DTYPE");
    line.add_option("-s,--select", selector_, "These alone, by the new names")->type_name("SELECTOR");
    line.add_flag("--skip", skip_, "Leave out what is no number, and name it");
    line.add_option("--shards", shards_, "This many data files (default 1)")
        ->within(1, 99999)
        ->type_name("N");
    partition_.setup(line, "Store these in N slices, along axis 0 or AXIS");
    part_.setup(line);
    target_.setup(line);
    operand_.setup_quiet(line);
  }

  int run() override {
    Weights weights = read_weights(path_, operand_.quiet(), skip_);
    if (!map_.empty()) {
      Renaming renaming;
      for (NamePair& pair : parse_map(map_)) renaming.add(std::move(pair));
      rename_weights(weights, renaming);
    }
    if (!selector_.empty()) keep_weights(weights, require_weights(weights, selector_));
    for (const std::string& text : transpose_) {
      const auto [selector, order] = parse_transposition(text);
      transpose_weights(weights, require_weights(weights, selector), order);
    }
    if (!cast_.empty()) cast_weights(weights, floating_type("--cast", cast_));
    if (skip_) leave_out(weights);
    if (part_.given() && shards_ != 0)
      throw Error(Cause::kUsage, "--part writes one data file").of("--shards");
    const StoreOptions store{.shards = std::max<size_t>(shards_, 1), .part = part_.part()};
    if (into_.empty()) {
      std::vector<NewTensor> tensors = new_tensors(weights);
      for (const Partition& partition : partition_.partitions())
        make_slices(tensors, require_weights(weights, partition.selector), partition.count, partition.axis);
      return finish({}, std::move(tensors), store);
    }
    if (partition_.given())
      throw Error(Cause::kUsage, "tensors are in slices where they are in CKPT")
          .of("--partition with --into");
    if (part_.given())
      throw Error(Cause::kUsage, "a part of the work has no keys to be missed").of("--part with --into");
    Checkpoint into = operand_.open(into_);
    FittedWeights fit = fit_weights(weights, into);
    if (!partly_ && (!fit.missing.empty() || !fit.unexpected.empty())) {
      std::string text;
      for (const std::string& name : fit.missing) text += "missing " + shown_name(name) + "\n";
      for (const std::string& name : fit.unexpected) text += "unexpected " + shown_name(name) + "\n";
      print(text);
      if (!operand_.quiet())
        say("missing " + std::to_string(fit.missing.size()) + ", unexpected " +
            std::to_string(fit.unexpected.size()) + "; hint: --map OLD=NEW or --partly");
      return 1;
    }
    if (fit.tensors.empty())
      throw refused("has no value for any key of " + printable(into.prefix)).in(weights.path);
    return finish(std::move(into), std::move(fit.tensors), store);
  }

 private:
  void leave_out(Weights& weights) const {
    std::vector<bool> numbers;
    for (const Weight& weight : weights.weights) {
      numbers.push_back(weight.values != nullptr && (weight.parts.empty() || !into_.empty()));
      if (!numbers.back() && !operand_.quiet())
        say_warning("left out: " + tensor_subject(weight.name) + ": " + weight_text(weight));
    }
    keep_weights(weights, numbers);
  }

  int finish(Checkpoint into, std::vector<NewTensor> tensors, const StoreOptions& store) {
    const CheckpointCounts before = count(into);
    KeyChanges changes;
    if (target_.dry_run()) {
      std::string text;
      for (const NewTensor& tensor : tensors)
        text += (into_.empty() ? "+ " : "~ ") + shown_name(tensor.name) + " = " + dtype_name(tensor.dtype) +
                " " + shape_text(tensor.shape) +
                (tensor.slices.empty() ? "" : " in " + std::to_string(tensor.slices.size())) + "\n";
      print(text);
      return 0;
    }
    Checkpoint stored = store_told(std::move(tensors), target_.output(), store, operand_.quiet());
    Checkpoint checkpoint =
        into_.empty() ? std::move(stored) : with_values(std::move(into), std::move(stored));
    target_.write(std::move(checkpoint), before, changes, operand_.quiet());
    return 0;
  }

  std::string path_, into_, cast_, selector_;
  std::vector<std::string> map_, transpose_;
  bool partly_ = false, skip_ = false;
  size_t shards_ = 0;
  PartOption part_;
  PartitionOption partition_;
  CheckpointOperand operand_;
  CheckpointTarget target_;
};

}  // namespace

CommandInfo checkpoint_import_command() {
  return {
      .summary = "makes a checkpoint of safetensors, npz or .npy files",
      .synopsis = R"(FILE [--into CKPT [--partly]] [--map OLD=NEW].. [--transpose SELECTOR=ORDER]..
                     [--partition SELECTOR=N[,AXIS]].. -o PREFIX)",
      .text = R"(
Without --into: a new checkpoint with the names of FILE as keys. With it: CKPT with other values. Keys, types and
shapes must fit; in an object-based checkpoint a name may be the path of an object. What is missing or not
expected is listed, with exit status 1, unless --partly allows it. Partitioned tensors stay partitioned.

FILE may be a checkpoint or a graph as well, of which the constants are taken.
)",
      .examples = R"(
gedit checkpoint import w.safetensors -o model
gedit checkpoint import w.npz --into model --map @names.tsv --transpose '**/kernel=1,0' -o model2
)",
      .make = make_command<ImportWeights>,
  };
}

}  // namespace gedit
