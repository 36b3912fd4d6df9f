// gedit checkpoint state: writes or mends the `checkpoint` file of a training folder.
#include "base/error.h"
#include "base/file.h"
#include "checkpoint/bundle.h"
#include "cli/command_line.h"
#include "cli/say.h"
#include "commands.h"
#include "weights/training_state.h"

namespace gedit {
namespace {

class WriteState final : public Command {
 public:
  void setup(CommandLine& line) override {
    line.add_option("FOLDER", folder_, "Where the checkpoints lie")->required();
    line.add_option(
        "NAME", names_,
        "Prefixes in it, the latest one last; default: those that the file has and that are there, else all");
    line.add_flag("-n,--dry-run", dry_run_, "Print the names, the latest one last, and write nothing");
    line.add_flag("-q,--quiet", quiet_, "Say nothing but errors");
  }

  int run() override {
    if (!is_directory(folder_)) throw Error(Cause::kInput, "no folder").in(folder_);
    if (names_.empty()) names_ = known_checkpoints(folder_);
    for (const std::string& name : names_) {
      if (!exists(index_path(join_path(folder_, name))))
        throw refused("no such checkpoint in the folder").in(join_path(folder_, name));
    }
    if (dry_run_) {
      std::string text;
      for (const std::string& name : names_) text += name + "\n";
      print(text);
      return 0;
    }
    write_state(folder_, names_);
    if (!quiet_) say("checkpoints " + std::to_string(names_.size()) + ", latest " + printable(names_.back()));
    return 0;
  }

 private:
  std::string folder_;
  std::vector<std::string> names_;
  bool dry_run_ = false, quiet_ = false;
};

}  // namespace

CommandInfo checkpoint_state_command() {
  return {
      .summary = "writes or mends the checkpoint file of a training folder",
      .synopsis = "FOLDER [NAME..]",
      .text = R"(
tf.train.latest_checkpoint reads FOLDER/checkpoint. What it names and what is gone is taken out, absolute paths
become relative ones; without the file all checkpoints of FOLDER are noted, by the time of their indexes. Every
verb that writes a checkpoint takes --state, which notes it so.
)",
      .examples = R"(
gedit checkpoint state training
gedit checkpoint state training model.ckpt-100 model.ckpt-200
)",
      .make = make_command<WriteState>,
  };
}

}  // namespace gedit
