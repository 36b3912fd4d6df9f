#include "cli/completion.h"

#include "cli/help.h"
#include "commands.h"

namespace gedit {
namespace {

std::string joined(const std::vector<std::string>& words, std::string_view between) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : std::string(between)) + word;
  return text;
}

// `text` with a backslash before each of `special`.
std::string escaped(std::string_view text, std::string_view special) {
  std::string out;
  for (const char c : text) {
    if (special.find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

// One word: in bash and zsh, and in fish.
std::string quoted_word(std::string_view text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}
std::string fish_word(std::string_view text) { return "'" + escaped(text, "\\'") + "'"; }

std::string verb_words(const CommandInfo& info) {
  std::vector<std::string> words;
  for (const CommandInfo* verb : verbs_of(info)) words.emplace_back(last_word(*verb));
  return joined(words, " ");
}

// `'checkpoint list'` and all others of two words.
std::vector<std::string> quoted_verbs() {
  std::vector<std::string> names;
  for (const CommandInfo& info : commands()) {
    if (info.name.find(' ') != std::string_view::npos) names.push_back(quoted_word(info.name));
  }
  return names;
}

// --- bash

std::string bash_command(const CommandInfo& info) {
  std::string operands, values;
  std::vector<std::string> options;
  for (const CommandLine::Entry& entry : entries_of(info)) {
    options.insert(options.end(), entry.names.begin(), entry.names.end());
    if (entry.offered.empty()) continue;
    const std::string words = "words='" + joined(entry.offered, " ") + "'";
    if (entry.names.empty()) {
      operands = "      " + words + "\n";
    } else {
      values += "        " + joined(entry.names, " | ") + ") " + words + " ;;\n";
    }
  }
  std::string text = "    " + quoted_word(info.name) + ")\n";
  if (!options.empty()) text += "      options='" + joined(options, " ") + "'\n";
  if (const std::string verbs = verb_words(info); !verbs.empty())
    text += "      ((COMP_CWORD == 2)) && words='" + verbs + "'\n";
  text += operands;
  if (!values.empty()) text += "      case $before in\n" + values + "      esac\n";
  return text + "      ;;\n";
}

std::string bash() {
  std::string text = R"(# Completion of gedit in bash: `gedit help --completion bash` renders it.
_gedit() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[1]}
  local words= options=
  # `--option=value` are three words.
  if [[ $word == = ]]; then
    word=
  elif [[ $before == = ]]; then
    before=${COMP_WORDS[COMP_CWORD - 2]}
  fi
  if ((COMP_CWORD == 1)); then
    command=
  elif ((COMP_CWORD > 2)); then
    case "$command ${COMP_WORDS[2]}" in
)";
  text += "      " + joined(quoted_verbs(), " | ") + ") command+=\" ${COMP_WORDS[2]}\" ;;\n    esac\n  fi\n";
  std::vector<std::string> names;
  for (const CommandInfo* info : top_commands()) names.emplace_back(info->name);
  text += "  case $command in\n    '')\n      options='-h --help --version'\n      words='" +
          joined(names, " ") + "'\n      ;;\n";
  for (const CommandInfo& info : commands()) text += bash_command(info);
  return text + R"(  esac
  [[ $word == -* ]] && words=$options
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}
complete -o default -F _gedit gedit
)";
}

// --- zsh

// `'list:lists tensors'`, a line each.
std::string zsh_described(const std::vector<const CommandInfo*>& commands) {
  std::string text;
  for (const CommandInfo* info : commands)
    text += "        " + quoted_word(std::string(last_word(*info)) + ":" + info->summary) + "\n";
  return text;
}

std::string zsh_values(const CommandLine::Entry& entry) {
  return entry.offered.empty() ? "_files" : "(" + joined(entry.offered, " ") + ")";
}

// What _arguments is to know of an option or operand.
std::string zsh_argument(const CommandLine::Entry& entry) {
  if (entry.names.empty()) return quoted_word("*: :" + zsh_values(entry));
  std::vector<std::string> names;
  for (const std::string& name : entry.names)
    names.push_back(entry.value && name.starts_with("--") ? name + "=" : name);
  const std::string about =
      quoted_word("[" + escaped(entry.about, "[]\\") + "]" + (entry.value ? ": :" + zsh_values(entry) : ""));
  return "'*'" + (names.size() > 1 ? "{" + joined(names, ",") + "}" : names[0]) + about;
}

std::string zsh_command(const CommandInfo& info) {
  std::string text = "    (" + quoted_word(info.name) + ")\n";
  if (const auto verbs = verbs_of(info); !verbs.empty()) {
    text += "      if ((CURRENT == 2)); then\n        words_of_gedit=(\n" + zsh_described(verbs) +
            "        )\n        _describe verb words_of_gedit\n      fi\n";
  }
  const std::vector<CommandLine::Entry> entries = entries_of(info);
  if (!entries.empty()) text += "      _arguments -s";
  bool operands = false;  // the last one takes what is left
  for (const CommandLine::Entry& entry : entries) {
    if (entry.names.empty() && operands) continue;
    operands = operands || entry.names.empty();
    text += " \\\n        " + zsh_argument(entry);
  }
  return text + (entries.empty() ? "" : "\n") + "      ;;\n";
}

std::string zsh() {
  std::string text = R"(#compdef gedit
# Completion of gedit in zsh: `gedit help --completion zsh` renders it.
_gedit() {
  local -a words_of_gedit
  if ((CURRENT == 2)); then
    words_of_gedit=(
)";
  text += zsh_described(top_commands()) + R"(    )
    _describe command words_of_gedit
    return
  fi
  local command=$words[2]
  shift words
  ((CURRENT--))
  if ((CURRENT > 2)); then
    case "$command $words[2]" in
)";
  text += "      (" + joined(quoted_verbs(), "|") + R"()
        command+=" $words[2]"
        shift words
        ((CURRENT--))
        ;;
    esac
  fi
  case $command in
)";
  for (const CommandInfo& info : commands()) text += zsh_command(info);
  return text + "  esac\n}\n_gedit \"$@\"\n";
}

// --- fish

std::string fish_option(const CommandInfo& info, const CommandLine::Entry& entry) {
  std::string text = "complete -c gedit -n " + fish_word("__gedit_is " + std::string(info.name));
  for (const std::string& name : entry.names)
    text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  if (!entry.offered.empty()) {
    text += " -xa " + fish_word(joined(entry.offered, " "));
  } else if (entry.value) {
    text += " -r";
  }
  return text + " -d " + fish_word(entry.about) + "\n";
}

std::string fish() {
  std::string text = R"(# Completion of gedit in fish: `gedit help --completion fish` renders it.
function __gedit_is
    set -l words (commandline -opc)[2..]
    if contains -- "$words[1..2]" )";
  text += joined(quoted_verbs(), " ") + R"(
        set words "$words[1..2]"
    end
    test "$argv" = "$words[1]"
end

)";
  // A word that is offered where `__gedit_is PLACE`.
  const auto offer = [&](std::string_view place, const CommandInfo& word, bool files) {
    text += "complete -c gedit -n " + fish_word("__gedit_is " + std::string(place)) +
            (files ? " -a " : " -fa ") + std::string(last_word(word)) + " -d " + fish_word(word.summary) +
            "\n";
  };
  for (const CommandInfo* info : top_commands()) offer("", *info, false);
  for (const CommandInfo& info : commands()) {
    for (const CommandInfo* verb : verbs_of(info)) offer(info.name, *verb, info.make != nullptr);
    for (const CommandLine::Entry& entry : entries_of(info)) {
      if (!entry.names.empty() || !entry.offered.empty()) text += fish_option(info, entry);
    }
  }
  return text;
}

}  // namespace

std::string completion(std::string_view shell) {
  return shell == "bash" ? bash() : shell == "zsh" ? zsh() : fish();
}

}  // namespace gedit
