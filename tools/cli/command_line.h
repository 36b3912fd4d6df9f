// The operands and options of a command: declared here, parsed by CLI11. Only command_line.cc sees CLI11's
// headers, which take each file that includes them ten seconds to compile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace gedit {

// One of them. Each call that declares more of it gives it back.
class Option {
 public:
  explicit Option(CLI::Option* option) : option_(option) {}

  Option* required();
  Option* type_name(const std::string& name);  // stands for the value in the help
  Option* one_each();                          // takes the one word behind it; given again, the next one
  Option* one_of(const std::vector<std::string>& words);
  Option* offers(const std::vector<std::string>& words);  // to completion, and takes others as well
  Option* within(int least, int most);

  size_t count() const;  // how often it was given
  std::string name() const;
  bool is(const CLI::Option* option) const { return option_ == option; }
  const std::vector<std::string>& offered() const { return offered_; }

 private:
  CLI::Option* option_;
  std::vector<std::string> offered_;
};

class CommandLine {
 public:
  // `gedit copy`; the hint for a word that it does not take and that resembles none of its options.
  explicit CommandLine(const std::string& program, std::string hint = "");
  ~CommandLine();
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  // `names`: "-o,--output", or an operand's one name. The value is set while the line is parsed; a list takes
  // all words up to the next option. What comes back lives as long as this.
  Option* add_option(const std::string& names, std::string& value, const std::string& about);
  Option* add_option(const std::string& names, std::vector<std::string>& values, const std::string& about);
  Option* add_option(const std::string& names, uint32_t& value, const std::string& about);
  Option* add_option(const std::string& names, size_t& value, const std::string& about);
  Option* add_option(const std::string& names, double& value, const std::string& about);
  Option* add_flag(const std::string& names, bool& value, const std::string& about);
  // Calls use(word) for each mention, in the order of the line.
  Option* add_each(const std::string& names, const std::function<void(const std::string&)>& use,
                   const std::string& about);

  // False where help is asked for. Throws Error (kUsage), in gedit's words: `option '--ouputs': no such
  // option; hint: did you mean '--outputs'?`
  bool parse(std::vector<std::string> arguments);

  // What there is to tell of an option or operand.
  struct Entry {
    std::string text;                     // `-o,--output OUT`, or the operand's name
    std::string about;                    // what it is
    std::vector<std::string> names = {};  // `-o`, `--output`; of an operand none
    bool value = false;                   // it takes one
    bool list = false;                    // it takes all words up to the next option
    std::string type = {};  // what stands for the value: `SELECTOR`; of an operand without, its name
    std::vector<std::string> offered = {};  // what the value may be, as far as it is known
  };
  std::vector<Entry> entries() const;

 private:
  Option* keep(CLI::Option* option);

  std::unique_ptr<CLI::App> app_;
  std::string hint_;
  std::vector<std::unique_ptr<Option>> options_;
};

}  // namespace gedit
