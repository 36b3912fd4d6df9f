// gedit checkpoint rekey: keys by name become keys by object, or the other way round.
#include "checkpoint/rekey.h"

#include "base/error.h"
#include "checkpoint/list.h"
#include "cli/checkpoints.h"
#include "cli/say.h"
#include "commands.h"
#include "weights/import.h"

namespace gedit {
namespace {

class RekeyCheckpoint final : public Command {
 public:
  void setup(CommandLine& line) override {
    operand_.setup(line);
    line.add_option(
            "--model", model_,
            "Keys by object, those of this SavedModel or object-based checkpoint; without it keys by name")
        ->type_name("MODEL");
    line.add_option("--map", map_,
                    "OLD=NEW where the model's names are others, a name and an object's path; @FILE")
        ->type_name("OLD=NEW")
        ->one_each();
    line.add_flag("--partly", partly_, "Objects without a value go, values without an object are left out");
    target_.setup(line);
    operand_.setup_quiet(line);
  }

  int run() override {
    Checkpoint checkpoint = operand_.open();
    const CheckpointCounts before = count(checkpoint);
    KeyChanges changes;
    const ObjectNames names = parse_names();
    if (checkpoint.object_based()) {
      checkpoint = by_name(std::move(checkpoint), model_.empty() ? names : ObjectNames{},
                           model_.empty() ? &changes : nullptr);
    } else if (model_.empty()) {
      throw Error(Cause::kUsage, "which objects the names belong to says a model")
          .hint("--model SAVED_MODEL");
    }
    if (!model_.empty()) {
      KeyedByObject made = keyed_by_object(std::move(checkpoint), operand_.open(model_), names, &changes);
      if (!partly_ && (!made.missing.empty() || !made.unexpected.empty())) return tell(made);
      checkpoint = std::move(made.checkpoint);
    }
    target_.write(std::move(checkpoint), before, changes, operand_.quiet());
    return 0;
  }

 private:
  ObjectNames parse_names() const {
    ObjectNames names;
    for (const NamePair& pair : parse_map(map_)) {
      if (pair.scope) throw misused(pair.text, "is a scope").of(quoted("--map", pair.text));
      if (!names.emplace(pair.from, pair.to).second)
        throw misused(pair.text, "is mapped twice").of(quoted("--map", pair.text));
    }
    return names;
  }

  Checkpoint by_name(Checkpoint checkpoint, const ObjectNames& names, KeyChanges* changes) const {
    std::vector<std::string> left_out;
    checkpoint = keyed_by_name(std::move(checkpoint), names, left_out, changes);
    if (!operand_.quiet() && model_.empty()) {
      for (const std::string& key : left_out)
        say_warning("left out: " + tensor_subject(key) + ": has no name");
    }
    return checkpoint;
  }

  int tell(const KeyedByObject& made) const {
    std::string text;
    for (const std::string& key : made.missing) text += "missing " + shown_name(key) + "\n";
    for (const std::string& name : made.unexpected) text += "unexpected " + shown_name(name) + "\n";
    print(text);
    if (!operand_.quiet())
      say("missing " + std::to_string(made.missing.size()) + ", unexpected " +
          std::to_string(made.unexpected.size()) + "; hint: --map NAME=OBJECT or --partly");
    return 1;
  }

  CheckpointOperand operand_;
  CheckpointTarget target_;
  std::string model_;
  std::vector<std::string> map_;
  bool partly_ = false;
};

}  // namespace

CommandInfo checkpoint_rekey_command() {
  return {
      .summary = "makes keys by name of keys by object, or the other way",
      .synopsis = "CKPT [--model MODEL] [--map OLD=NEW].. [--partly] -o PREFIX",
      .text = R"(
Without --model: of an object-based checkpoint (tf.train.Checkpoint, Keras) one that tf.compat.v1.train.Saver
restores: each value gets the name that its variable has. With --model: what tf.train.Checkpoint restores into the
objects of MODEL, a SavedModel or an object-based checkpoint; values are found by the names that MODEL's variables
have. What has no value and what has no object is listed, with exit status 1, unless --partly allows it.

No value is read: the index is written anew, data files are reflinked, else hard-linked, else copied.
)",
      .examples = R"(
gedit checkpoint rekey ckpt-1 -o model.ckpt
gedit checkpoint rekey model.ckpt --model saved_model/ -o ckpt-1
)",
      .make = make_command<RekeyCheckpoint>,
  };
}

}  // namespace gedit
