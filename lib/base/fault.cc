#include "base/fault.h"

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>

#include "base/crc32c.h"
#include "base/error.h"

namespace gedit {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kFlush = 1 << 16;  // bytes gathered before they are written

std::string_view level_word(const Fault& fault) { return fault.level == Level::kError ? "error" : "warning"; }

std::string text_of(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

// `%XX` for each of the letters that `escaped` tells.
template <typename Escaped>
std::string percent(std::string_view text, Escaped escaped) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    if (!escaped(c)) {
      out += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    out += '%';
    out += kDigits[byte >> 4];
    out += kDigits[byte & 15];
  }
  return out;
}

// Of what ends a workflow command's message, or one of its properties (actions/toolkit, command.ts).
std::string in_message(std::string_view text) {
  return percent(text, [](char c) { return std::string_view("%\r\n").find(c) != std::string_view::npos; });
}
std::string in_property(std::string_view text) {
  return percent(text, [](char c) { return std::string_view("%\r\n:,").find(c) != std::string_view::npos; });
}

// A path as a relative or absolute URI reference (RFC 3986).
std::string uri(std::string_view path) {
  const std::string text = percent(path, [](char c) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    return !letter && std::string_view("-._~/+@=,").find(c) == std::string_view::npos;
  });
  return (path.starts_with('/') ? "file://" : "") + text;
}

std::string github_line(const Fault& fault, const std::string& file) {
  return "::" + std::string(level_word(fault)) + " file=" + in_property(printable(file)) +
         ",title=" + in_property("gedit " + fault.rule) +
         "::" + in_message(printable(fault.subject) + ": " + printable(fault.message)) + "\n";
}

// Braces are doubled where they stand for no argument (SARIF 2.1.0, 3.11.5).
std::string in_sarif(std::string_view text) {
  std::string out;
  for (const char c : text) out.append(c == '{' || c == '}' ? 2 : 1, c);
  return out;
}

// The same fault in the same file has the same one, whatever else is found there.
std::string fingerprint(const Fault& fault) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  const uint32_t crc = crc32c(fault.rule + '\n' + fault.subject + '\n' + fault.message);
  std::string text;
  for (int shift = 28; shift >= 0; shift -= 4) text += kDigits[(crc >> shift) & 15];
  return text + ":1";
}

Json sarif_result(const Fault& fault, size_t rule, const std::string& file) {
  const std::string subject = printable(fault.subject);
  return {
      {"ruleId", fault.rule},
      {"ruleIndex", rule},
      {"level", level_word(fault)},
      {"message", {{"text", in_sarif(subject + ": " + printable(fault.message))}}},
      // Code scanning shows nothing without a line; that of a binary file is its first.
      {"locations",
       {{{"physicalLocation", {{"artifactLocation", {{"uri", uri(file)}}}, {"region", {{"startLine", 1}}}}},
         {"logicalLocations", {{{"fullyQualifiedName", subject}}}}}}},
      {"partialFingerprints", {{"primaryLocationLineHash", fingerprint(fault)}}}};
}

// One run; the rules are those that were broken, in the order of their names.
void print_sarif(const std::vector<Fault>& faults, const FaultReport& report, Sink& out) {
  std::map<std::string_view, size_t> rules;
  for (const Fault& fault : faults) rules.emplace(fault.rule, 0);
  Json described = Json::array();
  for (auto& [rule, index] : rules) {
    index = described.size();
    Json one{{"id", rule}};
    const std::string_view meaning = report.meaning ? report.meaning(rule) : std::string_view();
    if (!meaning.empty()) one["shortDescription"] = {{"text", in_sarif(meaning)}};
    described.push_back(std::move(one));
  }
  const Json driver{{"name", "gedit"}, {"version", report.version}, {"rules", described}};
  std::string text =
      R"({"$schema":"https://json.schemastore.org/sarif-2.1.0.json","version":"2.1.0","runs":[{"tool":)" +
      text_of({{"driver", driver}}) + R"(,"columnKind":"unicodeCodePoints","results":[)";
  for (const Fault& fault : faults) {
    text += (&fault == faults.data() ? "\n " : ",\n ") +
            text_of(sarif_result(fault, rules.find(fault.rule)->second, report.file));
    if (text.size() < kFlush) continue;
    out.write(text);
    text.clear();
  }
  out.write(text + "]}]}\n");
}

std::string json_object(const Fault& fault) {
  return text_of({{"level", level_word(fault)},
                  {"rule", fault.rule},
                  {"subject", fault.subject},
                  {"message", fault.message}});
}

std::string text_line(const Fault& fault) {
  return std::string(level_word(fault)) + " " + fault.rule + " " + printable(fault.subject) + ": " +
         printable(fault.message) + "\n";
}

}  // namespace

void print_faults(const std::vector<Fault>& faults, const FaultReport& report, Sink& out) {
  if (report.form == FaultForm::kSarif) {
    print_sarif(faults, report, out);
    return;
  }
  const bool json = report.form == FaultForm::kJson;
  std::string text = json ? "[" : "";
  for (const Fault& fault : faults) {
    if (json) {
      text += (&fault == faults.data() ? "" : ",\n ") + json_object(fault);
    } else {
      text += report.form == FaultForm::kGithub ? github_line(fault, report.file) : text_line(fault);
    }
    if (text.size() < kFlush) continue;
    out.write(text);
    text.clear();
  }
  if (json) text += "]\n";
  out.write(text);
}

size_t count_errors(const std::vector<Fault>& faults) {
  return static_cast<size_t>(std::count_if(faults.begin(), faults.end(),
                                           [](const Fault& fault) { return fault.level == Level::kError; }));
}

}  // namespace gedit
