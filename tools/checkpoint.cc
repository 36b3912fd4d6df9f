// gedit checkpoint: its verbs are commands of their own, in checkpoint/.
#include "commands.h"

namespace gedit {

CommandInfo checkpoint_command() {
  return {
      .summary = "lists and edits checkpoints without moving the weights",
      .synopsis = "VERB CKPT.. [OPTIONS] [-o PREFIX]",
      .text = R"(
CKPT is a prefix, its .index, .meta or a data file, a directory or `checkpoint` state file, a SavedModel, a file
or pattern of a V1 checkpoint, or a listing, NAME.ckpt.gtxt.

rename, copy, drop and merge read no values: the index is written anew, data files are reflinked, else
hard-linked, else copied. A data file is never written to.
)",
      .examples = R"(
gedit checkpoint list model 'conv1/'
gedit checkpoint get model conv1/bias -f npy -o bias.npy
gedit checkpoint rename model a/w=decoder/kernel old/=new/ -o renamed
gedit checkpoint drop bert '**/adam_[mv], beta?_power' -o slim
gedit checkpoint copy dqn online/=target/ -o dqn2
gedit checkpoint merge a=run1 b=run2 -o both
)",
  };
}

}  // namespace gedit
