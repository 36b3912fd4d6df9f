// gedit checkpoint export: weights as safetensors, npz or a folder of .npy.
#include "weights/export.h"

#include "base/error.h"
#include "base/size.h"
#include "cli/progress.h"
#include "cli/say.h"
#include "cli/weights.h"
#include "commands.h"
#include "weights/import.h"

namespace gedit {
namespace {

class ExportWeights final : public Command {
 public:
  void setup(CommandLine& line) override {
    line.add_option(
            "CKPT", path_,
            R"(A checkpoint, as every verb takes it; a graph or a SavedModel without variables, of which
                       the constants are meant)")
        ->required();
    line.add_option("-o,--output", output_, "NAME.safetensors, NAME.npz, or NAME/ for a folder of .npy")
        ->required()
        ->type_name("OUT");
    line.add_option("-s,--select", selector_, "These alone")->type_name("SELECTOR");
    line.add_option("--map", map_, "Other names, OLD=NEW; @FILE has OLD<tab>NEW or OLD=NEW a line")
        ->type_name("OLD=NEW")
        ->one_each();
    line.add_option("--cast", cast_, "Floating point numbers become this type")->type_name("DTYPE");
    line.add_flag("--skip", skip_, "Leave out what the format cannot hold, and name it");
    part_.setup(line);
    line.add_flag("-O,--overwrite", overwrite_, "Replace what is there");
    line.add_flag("-q,--quiet", quiet_, "Say nothing but errors");
  }

  int run() override {
    const WeightsFormat format = format_of(output_);
    Weights weights = read_weights(path_, quiet_, skip_);
    if (!selector_.empty()) keep_weights(weights, require_weights(weights, selector_));
    if (!cast_.empty()) cast_weights(weights, floating_type("--cast", cast_));
    if (!map_.empty()) {
      Renaming renaming;
      for (NamePair& pair : parse_map(map_)) renaming.add(std::move(pair));
      rename_weights(weights, renaming);
    }
    if (skip_) {
      for (const std::string& text : leave_out(weights, format)) {
        if (!quiet_) say_warning("left out: " + text);
      }
    }
    keep_part(weights, part_.part());
    Overflows overflows;
    {
      const Progress writing("writing " + output_, quiet_);
      export_weights(weights, format, output_, overwrite_, overflows.noting());
    }
    overflows.tell(quiet_);
    if (!quiet_)
      say("tensors " + std::to_string(weights.weights.size()) + ", " + size_text(bytes_of(weights)));
    return 0;
  }

 private:
  std::string path_, output_, selector_, cast_;
  std::vector<std::string> map_;
  bool skip_ = false, overwrite_ = false, quiet_ = false;
  PartOption part_;
};

}  // namespace

CommandInfo checkpoint_export_command() {
  return {
      .summary = "writes weights as safetensors, npz or .npy files",
      .synopsis = "CKPT [-s SELECTOR] [--map OLD=NEW].. [--cast DTYPE] [--skip] -o OUT",
      .text = R"(
OUT tells the format: NAME.safetensors, NAME.npz, or a folder, NAME/, of .npy files. The names are the keys;
slices of partitioned tensors are put together; an object-based checkpoint's object graph stays behind. Of a
graph or a SavedModel without variables the constants are written.

Strings, and types that the format does not have, are refused; --skip leaves them out. numpy has no bfloat16:
--cast float32. Values are streamed, their checksums compared.
)",
      .examples = R"(
gedit checkpoint export bert -o bert.safetensors
gedit checkpoint export model -s '!**/Adam*' -o weights.npz
)",
      .make = make_command<ExportWeights>,
  };
}

}  // namespace gedit
