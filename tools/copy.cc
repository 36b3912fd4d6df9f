// gedit copy: a network once more under a new scope.
#include "edit/edits.h"

#include "base/size.h"
#include "checkpoint/open.h"
#include "cli/json.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "cli/verifying.h"
#include "commands.h"
#include "edit/savers/checkpoint_keys.h"
#include "model/folder.h"

namespace gedit {
namespace {

constexpr size_t kMostNamed = 8;  // keys in a note

class Copy final : public Command {
 public:
  void setup(CommandLine& line) override {
    input_.setup(line);
    line.add_option("--outputs", outputs_, "Copy the closure of these")->type_name("T,..")->one_each();
    line.add_option("--inputs", inputs_,
                    "Cut it at these tensors; T:DTYPE[SHAPE] states a type for --placeholders")
        ->type_name("T,..")
        ->one_each();
    line.add_option("-s,--select", request_.select,
                    "Copy exactly these nodes, and what belongs to their variables")
        ->type_name("SELECTOR");
    line.add_option("--scope", request_.scope, "The new scope")->required()->type_name("NEW");
    from_scope_ = line.add_option("--from-scope", request_.from_scope,
                                  "OLD/x becomes NEW/x; alone it also is the selection")
                      ->type_name("OLD");
    line.add_option("--input-map", request_.input_map,
                    "Copies that read KEY read VALUE; ^a=^b for control inputs")
        ->type_name("KEY=VALUE")
        ->one_each();
    line.add_flag("--placeholders", request_.placeholders, "Tensors from outside become new Placeholders");
    line.add_option("--share", request_.share, "What this hits is not copied; copies read the original")
        ->type_name("SELECTOR");
    device_ =
        line.add_option("--device", device_text_, "Device of every new node; '' clears it")->type_name("DEV");
    line.add_option("--stop-gradient", stop_gradient_, "StopGradient behind these tensors of the copy")
        ->type_name("T,..")
        ->one_each();
    line.add_option("--checkpoint", checkpoint_,
                    "Write the copies' values beside OUT, too; of a SavedModel always")
        ->type_name("CKPT");
    line.add_flag("--copy-data", output_.base.copy_data,
                  "Move the bytes of the checkpoint instead of linking its files");
    line.add_option("--map-out", map_out_, "Write what became what, as JSON")->type_name("F.json");
    devices_.setup(line);
    output_.setup(line);
    output_.setup_state(line);
    verifying_.setup(line);
  }

  int run() override {
    request_.outputs = split_list(outputs_);
    request_.inputs = split_list(inputs_);
    request_.stop_gradient = split_list(stop_gradient_);
    request_.has_from_scope = from_scope_->count() > 0;
    if (device_->count() > 0) request_.device = device_text_;
    if (request_.device && devices_.clears())
      throw Error(Cause::kUsage, "--device and --clear-devices exclude each other");
    request_.values = !checkpoint_.empty();
    request_.want_names = !map_out_.empty() || output_.dry_run() || verifying_.wanted();

    input_.quiet = output_.quiet();
    Model model = input_.load_one();
    output_.check(model);
    verifying_.read(model);
    Registry ops = input_.registry(model);
    Counts before;
    CopyChanges result = [&] {
      const Progress deciding("deciding what changes", output_.quiet());
      before = decode_and_count(model);
      devices_.before(model);
      CopyChanges changes = with_file(model, [&] { return copy(model, ops, request_); });
      devices_.after(model, changes, output_.dry_run());
      return changes;
    }();
    for (std::string& note : add_values(model, result)) result.notes.push_back(std::move(note));
    if (verifying_.wanted()) verify(result);
    if (output_.dry_run()) output_.listed = result.text();
    const std::unique_ptr<OutputFile> map = output_.dry_run() ? nullptr : written_map(model, result);
    output_.save(model, {before}, warnings_, result.notes);
    if (map) map->commit();
    return 0;
  }

 private:
  // The checkpoint with the copies' values, to be written beside the output.
  std::vector<std::string> add_values(const Model& model, const CopyChanges& result) {
    warnings_ = result.warnings;
    if (!result.function.empty()) {
      if (checkpoint_.empty()) return {};
      throw Error(Cause::kRefused, "its variables are arguments, which the copies share")
          .in(model.path)
          .of(quoted("function", result.function))
          .hint("leave out --checkpoint");
    }
    const std::string named = checkpoint_of(model, checkpoint_);
    std::map<std::string, std::string> keys = result.values;
    if (named.empty() || (checkpoint_.empty() && keys.empty())) return {};
    if (output_.to_standard_output() && !output_.dry_run()) {
      if (checkpoint_.empty()) return {};
      throw Error(Cause::kUsage, "a checkpoint cannot be written beside standard output").hint("-o FILE");
    }
    auto values = std::make_shared<Checkpoint>(open_checkpoint(named, &warnings_));
    for (const auto& [from, to] : result.other_values) {
      if (values->find(from) != nullptr) {
        keys.emplace(from, to);
      } else {
        warnings_.push_back("key '" + printable(to) + "' is not in the checkpoint: '" + printable(from) +
                            "' is not, which another saver than saver_def's reads");
      }
    }
    with_file(model, [&] {
      add_keys(*values, keys, named);
      add_objects(*values, result.objects);
    });
    output_.base.values = std::move(values);
    if (keys.empty()) return {};
    std::string list;
    size_t shown = 0;
    for (const auto& [from, to] : keys) {
      if (shown++ == kMostNamed) {
        list += ", ...";
        break;
      }
      list += (list.empty() ? "" : ", ") + printable(to);
    }
    const std::string where =
        model.directory ? "variables" : twin_prefix(output_.destination(model).path) + ".index";
    return {counted(keys.size(), "key") + " added to " + where + ": " + list};
  }

  // The originals are what they were, and the copies what the originals are.
  void verify(const CopyChanges& result) {
    verifying_.prepare(input_, output_, [&result](ProofSide&, const ProofSide&) {
      Verification what;
      for (const auto& [name, became] : result.changed) what.changed.push_back(name);
      return what;
    });
    if (!result.function.empty()) return;
    const auto originals = output_.verify;
    verifying_.prepare(input_, output_, [&result](ProofSide&, const ProofSide&) {
      Verification what;
      what.outputs.emplace();
      for (const auto& [from, to] : result.nodes) {
        what.names.emplace_back(from, to);
        what.outputs->push_back({"^" + from, "^" + to});
      }
      for (const auto& [from, to] : result.inputs) what.same.push_back({from, to});
      return what;
    });
    output_.verify = [originals, copies = output_.verify](Model& written) {
      return "originals " + originals(written) + "; copies " + copies(written);
    };
  }

  // Complete, and there once the graph is.
  std::unique_ptr<OutputFile> written_map(const Model& model, const CopyChanges& result) const {
    if (map_out_.empty()) return nullptr;
    if (same_file(map_out_, model.path) || map_out_ == output_.destination(model).path)
      throw Error(Cause::kUsage, "is the file of the graph, too").of(quoted("--map-out", map_out_));
    auto out = std::make_unique<OutputFile>(map_out_, output_.overwrites());
    out->write(maps_json({{"nodes", &result.nodes},
                          {"outputs", &result.outputs},
                          {"inputs", &result.inputs},
                          {"variables", &result.variables},
                          {"keys", &result.keys},
                          {"frames", &result.frames}}));
    out->finish();
    return out;
  }

  InputOptions input_;
  DeviceOption devices_;
  OutputOptions output_;
  Verifying verifying_;
  CopyRequest request_;
  std::vector<std::string> outputs_, inputs_, stop_gradient_;
  std::string device_text_, map_out_, checkpoint_;
  std::vector<std::string> warnings_;
  Option* from_scope_ = nullptr;
  Option* device_ = nullptr;
};

}  // namespace

CommandInfo copy_command() {
  return {
      .summary = "copies a network under a new scope, with variables of its own",
      .synopsis = "FILE (--outputs T,.. [--inputs T,..] | -s SELECTOR | --from-scope OLD) --scope NEW -o OUT",
      .text = R"(
--outputs copies everything that the tensors or ops need, over data and control inputs, cut at --inputs and
at the keys of --input-map. -s copies exactly what the selector hits. --from-scope alone copies the scope,
but not an optimizer's slots in it. Each variable brings its initializer, its reads and its initial value
along; each table its initializer; each loop and each branch comes whole.

A node OLD/x becomes NEW/x, any other node n NEW/n. A name that is taken is refused, never made unique.
Inputs from outside read the VALUE of --input-map, or a new Placeholder with --placeholders, else the
original. The Placeholder for a:k is called as a copy of a would be, with _k behind it; without, where it
stands for output 0 of a Placeholder.

Copies are networks of their own: loop frames, shared names of variables, queues and tables are fresh;
collections gain the copied variables, losses, contexts and queue runners; the groups that initialize an
original initialize its copy; every saver that saves an original saves its copy, under the key renamed in
the same way. Functions are shared.

In a TF2 SavedModel the copied variables and tables are objects below child NEW of the root, with keys of
their own in variables/, so that every loader sees them; gedit signature add makes the copy a signature.

Where all of the selection lies inside one function (FN//node), its copies are added to that body: they read
the same arguments, and what the function returns does not change.
)",
      .examples = R"(
gedit copy dqn.meta --outputs q_values --inputs state --from-scope online --scope target -o two.meta
gedit copy g.pb -s 'tower_0/' --from-scope tower_0 --scope tower_1 --input-map input=input_b -o g2.pb
gedit copy m.meta --outputs logits --scope shadow --share 'var:' --placeholders -o m2.meta
)",
      .make = make_command<Copy>,
  };
}

}  // namespace gedit
