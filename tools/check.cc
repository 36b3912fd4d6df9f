// gedit check: faults that TensorFlow would meet.
#include "check/check.h"

#include <fmt/core.h>

#include "cli/options.h"
#include "commands.h"

namespace gedit {
namespace {

class Check final : public Command {
 public:
  void setup(CLI::App& app) override {
    input_.setup(app);
    app.add_option("--fetch", fetch_, "Look only at what these tensors or nodes need")
        ->type_name("T,..")
        ->allow_extra_args(false);
    app.add_flag("--security", request_.security,
                 "Also tell ops that read or write files, run code or open sockets");
    app.add_flag("-j,--json", json_, "[{\"level\", \"rule\", \"subject\", \"message\"}]");
  }

  int run() override {
    request_.fetch = split_list(fetch_);
    Model model = request_.fetch.empty() ? input_.load() : input_.load_one();
    const bool several = model.meta_graphs.size() > 1 && !input_.tag_set_given();
    std::vector<Fault> faults;
    with_file(model, [&] {
      for (size_t i = 0; i < model.meta_graphs.size(); ++i) {
        if (input_.tag_set_given() && i != model.selected) continue;
        Registry ops = input_.registry(model, i);
        for (Fault& fault : check(model, i, ops, request_)) {
          if (several) fault.subject = tag_set(model.meta_graphs[i]) + " " + fault.subject;
          faults.push_back(std::move(fault));
        }
      }
    });
    OutputFile out("-", true);
    print_faults(faults, json_, out);
    out.commit();
    const size_t errors = count_errors(faults), warnings = faults.size() - errors;
    fmt::print(stderr, "{} error{}, {} warning{}\n", errors, errors == 1 ? "" : "s", warnings,
               warnings == 1 ? "" : "s");
    return errors > 0 ? 1 : 0;
  }

 private:
  static std::string tag_set(const MetaGraph& meta) {
    std::string text;
    for (const std::string_view tag : tags(meta)) text += (text.empty() ? "" : ",") + std::string(tag);
    return "{" + text + "}";
  }

  InputOptions input_;
  CheckRequest request_;
  std::vector<std::string> fetch_;
  bool json_ = false;
};

}  // namespace

const CommandInfo kCheck{
    "check",
    "Look",
    "tells what TensorFlow would refuse",
    "FILE [--fetch T,..] [--security] [-j]",
    "Looks for faults that TensorFlow would meet at import, restore or run, and prints one a line: "
    "error|warning RULE SUBJECT: MESSAGE. SUBJECT is a node, FUNCTION//node, a collection, a signature, ... "
    "Exit status 1 where there is an error; 0 with warnings alone.\n"
    "\n"
    "  name, duplicate          not a node name; two nodes of one name\n"
    "  input, input-order       no such node or output; a control input before a data input\n"
    "  cycle, frame             a cycle without NextIteration; two loops in one frame, edges across frames\n"
    "  arity, dtype, reference  inputs against the op; a value where a reference or resource is needed\n"
    "  attribute                required and missing, not in the op, of another type\n"
    "  unknown-op               (warning) see --ops; deprecated-op: gone for graphs of this producer\n"
    "  colocation               beside a node that is not there\n"
    "  function                 missing, or takes and gives something else; not called (warning)\n"
    "  output-shapes, const     shapes that contradict themselves; bytes against the shape\n"
    "  variable, collection, context, queue-runner, signature, init-op\n"
    "                           they name what is not there, or VariableDefs differ between collections\n"
    "  saver, checkpoint        keys against dtypes; a SavedModel's variables against the saver\n"
    "  asset, object-graph      files, objects and functions that are not there\n"
    "  versions, size           for a newer TensorFlow; over 2 GiB\n"
    "  shared-name              two VarHandleOps of one identity and different types\n"
    "  import                   (warning) an attribute that is newer than the producer\n"
    "  unsafe-op                with --security: ops that reach files, code or sockets; savers are a warning",
    "gedit check merged.pb && echo fine\n"
    "gedit check saved_model/ --security -j | jq -r '.[].rule' | sort | uniq -c",
    [] { return std::unique_ptr<Command>(std::make_unique<Check>()); }};

}  // namespace gedit
