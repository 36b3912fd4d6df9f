#include "cli/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>

#include "base/error.h"
#include "base/near.h"
#include "base/number.h"
#include "cli/text.h"

namespace gedit {
namespace {

// Those that the help shows.
std::vector<const CLI::Option*> options_of(const CLI::App& app) {
  std::vector<const CLI::Option*> options;
  for (const CLI::Option* option : app.get_options()) {
    if (!option->get_group().empty()) options.push_back(option);
  }
  return options;
}

bool takes_value(const CLI::Option& option) { return option.get_expected_max() != 0; }

std::string option_text(const CLI::Option& option) {
  if (!option.nonpositional()) return option.get_name();
  std::string text;
  for (const std::string& name : option.get_snames()) text += (text.empty() ? "-" : ", -") + name;
  for (const std::string& name : option.get_lnames()) text += (text.empty() ? "--" : ", --") + name;
  if (takes_value(option)) text += " " + option.get_type_name();
  return text;
}

// A longer option that begins like `name`: `--output` for `--outputs`.
std::string longer_option(const CLI::App& app, const std::string& name) {
  for (const CLI::Option* option : options_of(app)) {
    for (const std::string& one : option->get_lnames()) {
      const std::string dashed = "--" + one;
      if (dashed.size() > name.size() && dashed.starts_with(name)) return dashed;
    }
  }
  return "";
}

Error usage_error(const CLI::App& app, const CLI::ParseError& error, const std::string& hint) {
  const bool extras = dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr;
  const std::string help = hint.empty() ? app.get_name() + " --help" : hint;
  for (const std::string& extra : app.remaining()) {
    if (extra == "--") continue;  // only says that operands follow
    // What is missing may be what was mistyped.
    const bool option = extra.starts_with('-') && extra != "-";
    if (!option && !extras) continue;
    if (!option) return Error(Cause::kUsage, "one operand too many").of(quoted("operand", extra)).hint(help);
    Near near(extra.substr(0, extra.find('=')));
    for (const CLI::Option* known : options_of(app)) {
      for (const std::string& name : known->get_lnames()) near.offer("--" + name);
    }
    return Error(Cause::kUsage, "no such option")
        .of(quoted("option", extra))
        .hint(near.best().empty() ? help : near.did_you_mean());
  }
  std::string message = error.what();
  std::replace(message.begin(), message.end(), '\n', ' ');
  const std::string name = message.substr(0, message.find_first_of(": "));
  if (name.starts_with("--") && message.find("At Most 1 required") != std::string::npos) {
    const std::string longer = longer_option(app, name);
    return Error(Cause::kUsage, "is given twice")
        .of(quoted("option", name))
        .hint(longer.empty() ? help : "did you mean '" + longer + "'?");
  }
  // The first letter of a sentence; an operand's name stays.
  if (message.size() > 1 && std::isupper(message[0]) != 0 && std::islower(message[1]) != 0)
    message[0] = static_cast<char>(message[0] - 'A' + 'a');
  while (message.ends_with('.') || message.ends_with(' ')) message.pop_back();
  return Error(Cause::kUsage, printable(message)).hint(app.get_name() + " --help");
}

}  // namespace

Option* Option::required() {
  option_->required();
  return this;
}

Option* Option::type_name(const std::string& name) {
  option_->type_name(name);
  return this;
}

Option* Option::one_each() {
  option_->type_size(1)->allow_extra_args(false);
  return this;
}

Option* Option::one_of(const std::vector<std::string>& words) {
  option_->check(CLI::IsMember(words));
  return offers(words);
}

Option* Option::offers(const std::vector<std::string>& words) {
  offered_ = words;
  return this;
}

Option* Option::within(int least, int most) {
  // CLI11's own check says it otherwise in each version.
  option_->check([least, most](const std::string& text) {
    const std::optional<int> value = read_number<int>(text);
    if (value && *value >= least && *value <= most) return std::string();
    return "Value " + text + " not in range " + std::to_string(least) + " to " + std::to_string(most);
  });
  return this;
}

size_t Option::count() const { return option_->count(); }
std::string Option::name() const { return option_->get_name(); }

CommandLine::CommandLine(const std::string& program, std::string hint)
    : app_(std::make_unique<CLI::App>()), hint_(std::move(hint)) {
  app_->name(program);
  app_->set_help_flag("-h,--help", "Print this help");
  app_->allow_windows_style_options(false);
}

CommandLine::~CommandLine() = default;

Option* CommandLine::keep(CLI::Option* option) {
  return options_.emplace_back(std::make_unique<Option>(option)).get();
}

Option* CommandLine::add_option(const std::string& names, std::string& value, const std::string& about) {
  return keep(app_->add_option(names, value, about));
}
Option* CommandLine::add_option(const std::string& names, std::vector<std::string>& values,
                                const std::string& about) {
  return keep(app_->add_option(names, values, about));
}
Option* CommandLine::add_option(const std::string& names, uint32_t& value, const std::string& about) {
  return keep(app_->add_option(names, value, about));
}
Option* CommandLine::add_option(const std::string& names, size_t& value, const std::string& about) {
  return keep(app_->add_option(names, value, about));
}
Option* CommandLine::add_option(const std::string& names, double& value, const std::string& about) {
  return keep(app_->add_option(names, value, about));
}
Option* CommandLine::add_flag(const std::string& names, bool& value, const std::string& about) {
  return keep(app_->add_flag(names, value, about));
}
Option* CommandLine::add_each(const std::string& names, const std::function<void(const std::string&)>& use,
                              const std::string& about) {
  return keep(app_->add_option_function<std::string>(names, use, about)->trigger_on_parse());
}

// `--option=` gives nothing to an option that takes something, where CLI11 would give it the next word.
static std::vector<std::string> with_empty_values(const CLI::App& app,
                                                  const std::vector<std::string>& arguments) {
  std::vector<std::string> words;
  for (auto word = arguments.begin(); word != arguments.end(); ++word) {
    if (*word == "--") {
      words.insert(words.end(), word, arguments.end());
      break;
    }
    words.push_back(*word);
    if (!word->starts_with("--") || word->find('=') + 1 != word->size()) continue;
    const std::string name = word->substr(0, word->size() - 1);
    const CLI::Option* option = app.get_option_no_throw(name);
    if (option == nullptr || !takes_value(*option)) continue;
    words.back() = name;
    words.emplace_back();
  }
  return words;
}

bool CommandLine::parse(std::vector<std::string> arguments) {
  arguments = with_empty_values(*app_, arguments);
  std::reverse(arguments.begin(), arguments.end());  // as CLI11 wants them
  try {
    app_->parse(std::move(arguments));
  } catch (const CLI::CallForHelp&) {
    return false;
  } catch (const CLI::ParseError& error) {
    throw usage_error(*app_, error, hint_);
  }
  return true;
}

std::vector<CommandLine::Entry> CommandLine::entries() const {
  std::vector<Entry> entries;
  for (const CLI::Option* option : options_of(*app_)) {
    Entry entry{.text = option_text(*option), .about = one_line(option->get_description())};
    for (const std::string& name : option->get_snames()) entry.names.push_back("-" + name);
    for (const std::string& name : option->get_lnames()) entry.names.push_back("--" + name);
    entry.value = takes_value(*option);
    entry.list = option->get_items_expected_max() > 1 && option->get_allow_extra_args();
    const bool unnamed = !option->nonpositional() && option->get_type_name() == "TEXT";
    entry.type = unnamed ? option->get_name() : option->get_type_name();
    for (const auto& declared : options_) {
      if (declared->is(option)) entry.offered = declared->offered();
    }
    entries.push_back(std::move(entry));
  }
  return entries;
}

}  // namespace gedit
