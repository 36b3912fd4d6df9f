#include "completion/complete.h"

#include "base/number.h"
#include "completion/candidates.h"
#include "completion/files.h"
#include "completion/in_file.h"
#include "completion/line.h"
#include "completion/selector.h"
#include "completion/values.h"
#include "model/operand.h"
#include "ops/history.h"

namespace gedit {
namespace {

// What stands before the last item of a list, with the mark: `a,` of `a,b`.
std::string through_last(const std::string& text, char mark) { return text.substr(0, text.rfind(mark) + 1); }

// One value of an option, or an operand.
class ValueOffer {
 public:
  ValueOffer(const UnfinishedLine& line, Candidates& candidates) : line_(line), candidates_(candidates) {}

  void offer() {
    const CommandLine::Entry& entry = *line_.takes;
    for (const std::string& word : entry.offered) candidates_.offer(line_.before + word);
    if (!entry.offered.empty()) return;
    const Value value = value_of(entry.type, entry.names.empty(), line_.command->name);
    const std::string &before = line_.before, &word = line_.word;
    switch (value) {
      case Value::kNothing:
        return;
      case Value::kAnyFile:
        return candidates_.offer_files();
      case Value::kGraphFile:
      case Value::kCheckpoint:
        return offer_file(entry.type, value);
      case Value::kSelector:
        return on_checkpoint() ? offer_key_selector(line_.files[0].path, candidates_, before, word)
                               : offer_selector(graphs(), candidates_, before, word);
      case Value::kTensors:
        return names(through_last(word, ','));
      case Value::kNamedTensors: {
        const size_t equals = word.find('=', through_last(word, ',').size());
        if (equals != std::string::npos) names(word.substr(0, equals + 1));
        return;
      }
      case Value::kTensorMap:
        return names(through_last(word, '='));
      case Value::kTensorPairs:
        return names(word.substr(0, word.find_last_of(",=") + 1));
      case Value::kTensorShape:
        return word.find('=') == std::string::npos ? names("") : void();
      case Value::kPair:
        if (word.find('=') == std::string::npos) on_checkpoint() ? keys() : names("");
        return;
      case Value::kKeyPair:
        if (word.find('=') == std::string::npos) each(offer_signatures, "");
        return;
      case Value::kScope:
        return names("", true);
      case Value::kSignature:
        return each(offer_signatures, "");
      case Value::kKey:
        return keys();
      case Value::kSelectorAndDevice:
        if (word.find('=') == std::string::npos) return offer_selector(graphs(), candidates_, before, word);
        return each(offer_devices, through_last(word, '='));
      case Value::kDevice:
        return each(offer_devices, "");
      case Value::kTags:
        return each(offer_tags, "");
      case Value::kRelease:
        for (const Release& release : OpHistory::get().releases())
          candidates_.offer(before + std::string(release.short_name()));
    }
  }

 private:
  std::vector<GraphOnLine> graphs() const { return graphs_of(line_.files); }
  bool on_checkpoint() const {
    return !line_.files.empty() && names_checkpoint(expanded(line_.files[0].path));
  }

  void offer_file(const std::string& type, Value value) {
    const FileOnLine file = file_on_line(line_.word, type);
    const std::string before = line_.before + (file.name.empty() ? "" : file.name + "=");
    const bool either = line_.command->name == "diff" || line_.command->name == "inspect";
    if (value == Value::kGraphFile) offer_graph_files(candidates_, before, file.path);
    if (value == Value::kCheckpoint || either) offer_checkpoints(candidates_, before, file.path);
  }

  void each(void (*offer)(const GraphOnLine&, Candidates&, const std::string&), const std::string& within) {
    for (const GraphOnLine& graph : graphs()) offer(graph, candidates_, line_.before + within);
  }

  // Nodes behind `within`, which is the beginning of the word.
  void names(const std::string& within, bool scopes = false) {
    std::string start = line_.word.substr(within.size()), before = line_.before + within;
    if (start.starts_with('^')) {
      before += '^';
      start.erase(0, 1);
    }
    for (const GraphOnLine& graph : graphs()) {
      NameOffer names(candidates_, before, start, scopes);
      offer_nodes(graph, names);
    }
  }

  void keys() {
    if (line_.files.empty()) return;
    NameOffer names(candidates_, line_.before, line_.word);
    offer_keys(line_.files[0].path, names);
  }

  const UnfinishedLine& line_;
  Candidates& candidates_;
};

void offer_commands(const std::vector<const CommandInfo*>& infos, Candidates& candidates) {
  for (const CommandInfo* info : infos) candidates.offer(std::string(last_word(*info)), info->summary);
}

void offer_all(const UnfinishedLine& line, Candidates& candidates) {
  if (line.command == nullptr) {
    offer_commands(top_commands(), candidates);
    if (line.word.starts_with('-')) {
      for (const char* option : {"-h", "--help", "--version"}) candidates.offer(option);
    }
    return;
  }
  if (line.in_verb) offer_commands(verbs_of(*line.command), candidates);
  if (line.in_option) {
    for (const CommandLine::Entry& entry : line.entries) {
      for (const std::string& name : entry.names) candidates.offer(name, entry.about);
    }
  }
  if (line.takes != nullptr) ValueOffer(line, candidates).offer();
}

}  // namespace

std::string complete(const std::vector<std::string>& words) {
  if (words.size() < 2 || words[1] != "--") return "";
  const size_t at = read_number<size_t>(words[0]).value_or(0);
  if (at == 0 || at + 2 >= words.size()) return "";
  try {
    const UnfinishedLine line = read_unfinished({words.begin() + 2, words.end()}, at);
    if (at > 1 && line.command == nullptr) return "";
    Candidates candidates(line.before + line.word);
    offer_all(line, candidates);
    return candidates.text();
  } catch (const std::exception&) {
    return "";  // a person is typing: an unfinished line is no error
  }
}

}  // namespace gedit
