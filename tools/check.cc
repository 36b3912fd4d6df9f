// gedit check: faults that TensorFlow would meet.
#include "check/check.h"

#include "base/size.h"
#include "check/release.h"
#include "check/rules.h"
#include "cli/faults.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "commands.h"
#include "model/release_fit.h"

namespace gedit {
namespace {

class Check final : public Command {
 public:
  void setup(CommandLine& line) override {
    input_.setup(line);
    line.add_option("--fetch", fetch_, "Look only at what these tensors or nodes need")
        ->type_name("T,..")
        ->one_each();
    line.add_flag("--security", request_.security,
                  "Also tell ops that read or write files, run code or open sockets");
    line.add_option("--tf", release_,
                    "Also what TensorFlow V would not take, with the release that brought it")
        ->type_name("V");
    output_.setup(line);
  }

  int run() override {
    request_.fetch = split_list(fetch_);
    const bool of_release = !release_.empty();
    const auto release = of_release ? find_release(release_) : decltype(find_release(release_))();
    Model model = request_.fetch.empty() ? input_.load() : input_.load_one();
    const bool several = model.meta_graphs.size() > 1 && !input_.tag_set_given();
    std::vector<Fault> faults;
    with_file(model, [&] {
      const Progress checking("checking " + model.path);
      for (size_t i = 0; i < model.meta_graphs.size(); ++i) {
        if (input_.tag_set_given() && i != model.selected) continue;
        Registry ops = input_.registry(model, i);
        model.meta_graphs[i].graph.decode();  // which tells who wrote it
        define_ops_of_writer(ops, model.meta_graphs[i]);
        std::vector<Fault> found = check(model, i, ops, request_);
        if (of_release) {
          for (Fault& fault : release_faults(model.meta_graphs[i], ops, release))
            found.push_back(std::move(fault));
        }
        for (Fault& fault : found) {
          if (several) fault.subject = tag_set(model.meta_graphs[i]) + " " + fault.subject;
          faults.push_back(std::move(fault));
        }
      }
    });
    output_.print(faults, file_of(model), meaning_of);
    const size_t errors = count_errors(faults), warnings = faults.size() - errors;
    say(counted(errors, "error") + ", " + counted(warnings, "warning"));
    return errors > 0 ? 1 : 0;
  }

 private:
  static std::string tag_set(const MetaGraph& meta) {
    std::string text;
    for (const std::string_view tag : tags(meta)) text += (text.empty() ? "" : ",") + std::string(tag);
    return "{" + text + "}";
  }

  // Code scanning shows what is in files, not in folders.
  static std::string file_of(const Model& model) {
    if (model.path == "-") return "stdin";
    return model.file ? model.file->path() : model.path;
  }

  static std::string_view meaning_of(std::string_view name) {
    for (const RuleInfo& rule : rules()) {
      if (rule.name == name) return rule.meaning;
    }
    return name == "tf" ? "what the release of --tf does not take" : "";
  }

  InputOptions input_;
  FaultOptions output_;
  CheckRequest request_;
  std::vector<std::string> fetch_;
  std::string release_;  // a version, or empty
};

}  // namespace

CommandInfo check_command() {
  return {
      .summary = "tells what TensorFlow would refuse",
      .synopsis = "FILE [--fetch T,..] [--security] [--tf V] [-f FORMAT]",
      .text = R"(
Looks for faults that TensorFlow would meet at import, restore or run, and prints one a line:
error|warning RULE SUBJECT: MESSAGE. SUBJECT is a node, FUNCTION//node, a collection, a signature, ... Exit
status 1 where there is an error; 0 with warnings alone. What an unknown op takes and gives is not judged;
--ops tells what it is.

In continuous integration -f github prints them as annotations of a workflow of GitHub Actions, and -f sarif
as a report that code scanning shows; they stand at the first line of the file.

With --tf V, a release such as 1.12, each node that TensorFlow V does not take is an error with the rule tf: ops,
attributes, values and dtypes that it does not know, with the release that brought them, in function bodies, too.
What V takes and does otherwise is not told: gedit retarget knows it, and makes a graph that V takes.

)" + rules_text() +
              R"(
Savers and table initializers read and write where their caller says: with --security they are warnings.
)",
      .examples = R"(
gedit check merged.pb && echo fine
gedit check saved_model/ --tf 1.12
gedit check model.pb -f sarif > gedit.sarif
gedit check saved_model/ --security -j | jq -r '.[].rule' | sort | uniq -c
)",
      .make = make_command<Check>,
  };
}

}  // namespace gedit
