// gedit checkpoint get: the values of one tensor.
#include <unistd.h>

#include "base/error.h"
#include "checkpoint/edit.h"
#include "checkpoint/print.h"
#include "checkpoint/values.h"
#include "cli/checkpoints.h"
#include "commands.h"
#include "select/selector.h"

namespace gedit {
namespace {

class GetTensor final : public Command {
 public:
  void setup(CommandLine& line) override {
    operand_.setup(line);
    line.add_option("NAME", name_, "The tensor; in an object-based checkpoint also the path of an object")
        ->required();
    line.add_option("-f,--format", format_, "text (default), npy or raw; npy where FILE ends in .npy")
        ->one_of({"text", "npy", "raw"})
        ->type_name("FORMAT");
    line.add_option("-o,--output", output_, "Where it goes; without it, or for -, standard output")
        ->type_name("FILE");
    line.add_flag("-O,--overwrite", overwrite_, "Replace what is there");
    operand_.setup_quiet(line);
  }

  int run() override {
    if (format_.empty()) format_ = output_.ends_with(".npy") ? "npy" : "text";
    const bool to_file = !output_.empty() && output_ != "-";
    if (output_.empty() && format_ != "text" && ::isatty(STDOUT_FILENO) != 0)
      throw Error(Cause::kUsage, "standard output is a terminal").hint("-o FILE");
    const Checkpoint checkpoint = operand_.open();
    const Tensor& tensor = require_tensor(checkpoint, name_in(checkpoint));
    DataFiles files(checkpoint);
    const Bytes bytes = tensor_bytes(files, tensor);
    OutputFile out(to_file ? output_ : "-", overwrite_);
    const auto print_values = format_ == "npy" ? print_npy : format_ == "raw" ? print_raw : print_text;
    try {
      print_values(tensor.dtype, tensor.shape, bytes.view(), out);
    } catch (const Error& error) {
      throw error.of(tensor_subject(tensor.name)).in(checkpoint.prefix);
    }
    out.commit();
    return 0;
  }

 private:
  // A name in quotes, as `list` prints some, is that name, where no tensor is called so with its quotes.
  std::string name_in(const Checkpoint& checkpoint) const {
    const bool quoted = name_.size() > 2 && name_.starts_with('"') && name_.ends_with('"');
    if (!quoted || checkpoint.find(name_) != nullptr) return name_;
    const Selector selector = parse_selector(name_);
    return selector.literal ? selector.text : name_;
  }

  CheckpointOperand operand_;
  std::string name_, format_, output_;
  bool overwrite_ = false;
};

}  // namespace

CommandInfo checkpoint_get_command() {
  return {
      .summary = "prints one tensor as text, .npy or raw bytes",
      .synopsis = "CKPT NAME [-f text|npy|raw] [-o FILE]",
      .text = R"(
Prints the values of one tensor, its checksum compared. The slices of a partitioned tensor are put together.
)",
      .examples = R"(
gedit checkpoint get model conv1/bias
gedit checkpoint get model conv1/bias -f npy -o bias.npy
)",
      .make = make_command<GetTensor>,
  };
}

}  // namespace gedit
