#include "cli/faults.h"

#include "base/error.h"
#include "cli/called.h"

namespace gedit {

void FaultOptions::setup(CommandLine& line) {
  line.add_option("-f,--format", format_,
                  "text, json, github (annotations of a workflow) or sarif (code scanning)")
      ->one_of({"text", "json", "github", "sarif"})
      ->type_name("FORMAT");
  line.add_flag("-j,--json", json_, "The same as -f json: [{\"level\", \"rule\", \"subject\", \"message\"}]");
}

void FaultOptions::print(const std::vector<Fault>& faults, const std::string& file,
                         std::function<std::string_view(std::string_view rule)> meaning) const {
  if (json_ && format_ != "text" && format_ != "json")
    throw Error(Cause::kUsage, "-j and -f " + format_ + " exclude each other");
  FaultReport report{FaultForm::kText, file, GEDIT_VERSION, std::move(meaning)};
  if (json_ || format_ == "json") report.form = FaultForm::kJson;
  if (format_ == "github") report.form = FaultForm::kGithub;
  if (format_ == "sarif") report.form = FaultForm::kSarif;
  std::vector<Fault> told = faults;
  if (report.form == FaultForm::kText) {  // for people, who type what a hint says
    for (Fault& fault : told) fault.message = with_hint_as_called(fault.message);
  }
  OutputFile out("-", true);
  print_faults(told, report, out);
  out.commit();
}

}  // namespace gedit
