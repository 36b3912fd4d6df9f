// gedit checkpoint list: the tensors of a checkpoint.
#include "checkpoint/list.h"

#include <algorithm>

#include "base/error.h"
#include "cli/checkpoints.h"
#include "cli/say.h"
#include "commands.h"
#include "select/keys.h"

namespace gedit {
namespace {

class ListTensors final : public Command {
 public:
  void setup(CommandLine& line) override {
    operand_.setup(line);
    line.add_option("SELECTOR", selector_, "Only the tensors that this hits");
    line.add_flag("-l,--long", long_, "Shard, offset, crc32c and slices as well");
    line.add_flag("-j,--json", json_, "JSON");
    operand_.setup_quiet(line);
  }

  int run() override {
    const Checkpoint checkpoint = operand_.open();
    std::vector<bool> shown(checkpoint.tensors.size(), true);
    if (!selector_.empty()) shown = select_tensors(checkpoint, parse_selector(selector_));
    OutputFile out("-", true);
    if (json_) {
      list_json(checkpoint, shown, out);
    } else {
      list_text(checkpoint, shown, long_, out);
    }
    out.commit();
    const bool any = std::find(shown.begin(), shown.end(), true) != shown.end();
    if (any || selector_.empty()) return 0;
    if (!operand_.quiet()) say_note(nothing_hit(checkpoint, selector_).what());
    return 1;
  }

 private:
  CheckpointOperand operand_;
  std::string selector_;
  bool long_ = false, json_ = false;
};

}  // namespace

CommandInfo checkpoint_list_command() {
  return {
      .summary = "lists tensors with dtype, shape and bytes",
      .synopsis = "CKPT [SELECTOR] [-l] [-j]",
      .text = R"(
Prints name, type, shape and bytes of each tensor, or of those that SELECTOR hits, sorted by name. The slices
of a partitioned tensor are behind it with -l. Data files are not opened. Exit status 1 where SELECTOR hits
nothing.

SELECTOR is a name, a glob, scope/, re:, dtype:, size>1M (bytes), or several of them with , & ! and ( ). In an
object-based checkpoint a name is a key or the path of an object.
)",
      .examples = R"(
gedit checkpoint list model 'conv1/'
gedit checkpoint list model 'dtype:float32 & size>1M' -l
)",
      .make = make_command<ListTensors>,
  };
}

}  // namespace gedit
