// A Diff as lines, as counts, as JSON.
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "base/size.h"
#include "diff/diff.h"
#include "graph/listing.h"
#include "graph/node.h"
#include "graph/scanner.h"

namespace gedit {
namespace {

constexpr size_t kMostNames = 2;      // of changed nodes, in the counts
constexpr size_t kMostScopes = 4;     // of added and removed ones
constexpr size_t kMostRenamed = 8;    // lines on other names, in the counts
constexpr size_t kPrinted = 1 << 16;  // bytes gathered before they are written

std::string node_line(const LoneNode& node) {
  std::string line;
  print_node(line, node.node_def, false);
  return node.place + line;
}

std::string renamed_line(const RenamedScope& scope) {
  std::string line = "> ";
  print_name(line, scope.from);
  line += " -> ";
  print_name(line, scope.to);
  if (scope.is != RenamedScope::Is::kScope) return line;
  return line + " (" + count_text(scope.nodes, "node") + ")";
}

// The lines on other names: single nodes and functions are counted where they are many.
std::vector<std::string> renamed_lines(const Diff& diff) {
  constexpr size_t kMany = 16;
  std::vector<std::string> lines;
  size_t nodes = 0, functions = 0;
  for (const RenamedScope& one : diff.renamed) {
    nodes += one.is == RenamedScope::Is::kNode ? 1 : 0;
    functions += one.is == RenamedScope::Is::kFunction ? 1 : 0;
  }
  // A copy of which somebody took the names.
  const bool all = nodes >= kMany && nodes * 10 >= diff.nodes * 9;
  if (functions > 0) {
    lines.push_back("> " + count_text(functions, "function") +
                    (functions == 1 ? " has another number" : " have other numbers"));
  }
  if (all) {
    lines.push_back("> " + count_text(nodes) + " of " + count_text(diff.nodes) +
                    " nodes have other names and are otherwise the same");
  }
  for (const RenamedScope& one : diff.renamed) {
    if (one.is == RenamedScope::Is::kScope || (one.is == RenamedScope::Is::kNode && !all))
      lines.push_back(renamed_line(one));
  }
  return lines;
}

std::string changed_name(const Change& change) {
  std::string text = change.function ? "function " : "";
  print_name(text, change.name);
  return text;
}

std::string changed_line(const Change& change) {
  std::string line = "~ " + changed_name(change);
  for (size_t i = 0; i < change.what.size(); ++i) line += (i == 0 ? ": " : "; ") + change.what[i];
  return line;
}

// `+39 nodes (target/ 35, save/ 4)`: the outermost scopes, those with most nodes first.
std::string lone_counts(char sign, const std::vector<LoneNode>& nodes) {
  std::map<std::string, uint64_t> scopes;
  for (const LoneNode& node : nodes) {
    const std::string name = node.place + std::string(node_name(node.node_def));
    const size_t slash = name.find('/');
    if (slash != std::string::npos) ++scopes[name.substr(0, slash + 1)];
  }
  std::vector<std::pair<std::string, uint64_t>> sorted(scopes.begin(), scopes.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string text = sign + count_text(nodes.size(), "node");
  for (size_t i = 0; i < sorted.size() && i < kMostScopes; ++i) {
    text += i == 0 ? " (" : ", ";
    print_name(text, sorted[i].first);
    text += " " + count_text(sorted[i].second);
  }
  if (sorted.size() > kMostScopes) text += ", ...";
  return sorted.empty() ? text : text + ")";
}

// `collection variables VariableDef {...}` counts for `collections`, `variables`; `function F (3 nodes)` for
// `functions`; a word of its own for the rest.
struct Heading {
  std::string word, key;
};
Heading heading(const std::string& line) {
  const size_t blank = line.find(' ');
  const std::string word = line.substr(0, blank);
  if (word == "collection") {
    // A key with blanks stands in quotes.
    std::string store;
    Scanner scanner(std::string_view(line).substr(blank));
    return {"collections", std::string(scanner.name(store, "a collection"))};
  }
  const bool plural = word == "function" || word == "signature" || word == "tensor" || word == "gradient" ||
                      word == "asset" || word == "object" || word == "tag" || word == "concrete_function" ||
                      word == "file";
  return {plural ? word + "s" : word, ""};
}

std::string other_counts(const std::vector<LoneLine>& lines) {
  struct Count {
    uint64_t added = 0, removed = 0;
  };
  std::vector<std::string> order;
  std::map<std::string, std::vector<std::string>> keys;
  std::map<std::pair<std::string, std::string>, Count> counts;
  for (const LoneLine& line : lines) {
    const Heading at = heading(line.line);
    if (!keys.contains(at.word)) order.push_back(at.word);
    auto& known = keys[at.word];
    if (std::find(known.begin(), known.end(), at.key) == known.end()) known.push_back(at.key);
    Count& count = counts[{at.word, at.key}];
    ++(line.added ? count.added : count.removed);
  }
  std::string text;
  for (const std::string& word : order) {
    text += (text.empty() ? "" : ", ") + word;
    bool first = true;
    for (const std::string& key : keys[word]) {
      const Count& count = counts[{word, key}];
      text += first ? " " : ", ";
      first = false;
      if (!key.empty()) {
        print_name(text, key);
        text += ' ';
      }
      // There is one of them, or none: versions, a saver.
      if (key.empty() && (word == "versions" || word == "saver") && count.added == 1 && count.removed == 1) {
        text += "changed";
        continue;
      }
      if (count.added > 0) text += "+" + count_text(count.added);
      if (count.removed > 0) text += (count.added > 0 ? " -" : "-") + count_text(count.removed);
    }
  }
  return text;
}

}  // namespace

void print_diff(const Diff& diff, Sink& out) {
  std::string text;
  const auto line = [&](const std::string& words) {
    text += words;
    text += '\n';
    if (text.size() < kPrinted) return;
    out.write(text);
    text.clear();
  };
  for (const std::string& renamed : renamed_lines(diff)) line(renamed);
  for (const LoneNode& node : diff.removed) line("- " + node_line(node));
  for (const LoneNode& node : diff.added) line("+ " + node_line(node));
  for (const Change& change : diff.changed) line(changed_line(change));
  for (const LoneLine& other : diff.other) line((other.added ? "+ " : "- ") + other.line);
  out.write(text);
}

std::string diff_counts(const Diff& diff) {
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  if (!diff.added.empty()) add(lone_counts('+', diff.added));
  if (!diff.removed.empty()) add(lone_counts('-', diff.removed));
  if (!diff.changed.empty()) {
    std::string names;
    for (size_t i = 0; i < diff.changed.size() && i < kMostNames; ++i) {
      if (i > 0) names += ", ";
      names += changed_name(diff.changed[i]);
    }
    if (diff.changed.size() > kMostNames) names += ", ...";
    add("~" + count_text(diff.changed.size(), "node") + " (" + names + ")");
  }
  const std::vector<std::string> renamed = renamed_lines(diff);
  for (size_t i = 0; i < renamed.size() && i < kMostRenamed; ++i) add(renamed[i]);
  if (renamed.size() > kMostRenamed) add("> " + count_text(renamed.size() - kMostRenamed) + " more");
  if (!diff.other.empty()) add(other_counts(diff.other));
  return text;
}

void diff_json(const Diff& diff, Sink& out) {
  using Json = nlohmann::ordered_json;
  std::string text = "{";
  bool first_list = true;
  const auto dumped = [](const Json& json) {
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
  };
  // An element a line, so that a million of them are not one value in memory.
  const auto list = [&](const char* key, const auto& items, auto json) {
    text += (first_list ? "\"" : ",\n \"") + std::string(key) + "\":[";
    first_list = false;
    bool first = true;
    for (const auto& item : items) {
      text += (first ? "\n  " : ",\n  ") + dumped(json(item));
      first = false;
      if (text.size() < kPrinted) continue;
      out.write(text);
      text.clear();
    }
    text += "]";
  };
  const auto name = [](const LoneNode& node) {
    return Json(node.place + std::string(node_name(node.node_def)));
  };
  // Of checkpoints tensors by name stand in the place of nodes.
  std::vector<Json> added, removed, changed, other;
  for (size_t i = 0; i < diff.other.size(); ++i) {
    const LoneLine& line = diff.other[i];
    if (line.tensor.empty()) {
      other.emplace_back((line.added ? "+ " : "- ") + line.line);
    } else if (i + 1 < diff.other.size() && diff.other[i + 1].tensor == line.tensor) {
      const LoneLine& next = diff.other[++i];
      const LoneLine &from = line.added ? next : line, &to = line.added ? line : next;
      changed.push_back(Json{{"name", line.tensor}, {"what", {from.facts + " -> " + to.facts}}});
    } else {
      (line.added ? added : removed).emplace_back(line.tensor);
    }
  }
  const auto with = [&](const auto& items, auto json, const std::vector<Json>& more) {
    std::vector<Json> all;
    for (const auto& item : items) all.push_back(json(item));
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  const auto as_is = [](const Json& json) { return json; };
  const auto change = [](const Change& change) {
    return Json{{"name", (change.function ? "function " : "") + change.name}, {"what", change.what}};
  };
  if (added.empty() && removed.empty() && changed.empty()) {
    list("added", diff.added, name);
    list("removed", diff.removed, name);
    list("changed", diff.changed, change);
  } else {
    list("added", with(diff.added, name, added), as_is);
    list("removed", with(diff.removed, name, removed), as_is);
    list("changed", with(diff.changed, change, changed), as_is);
  }
  list("renamed", diff.renamed, [](const RenamedScope& scope) {
    return Json{{"from", scope.from}, {"to", scope.to}, {"nodes", scope.nodes}};
  });
  list("other", other, as_is);
  out.write(text + "}\n");
}

}  // namespace gedit
