#include "base/fault.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.h"

namespace gedit {
namespace {

constexpr size_t kFlush = 1 << 16;  // bytes gathered before they are written

std::string fault_json(const Fault& fault) {
  const nlohmann::ordered_json object{{"level", fault.level == Level::kError ? "error" : "warning"},
                                      {"rule", fault.rule},
                                      {"subject", fault.subject},
                                      {"message", fault.message}};
  return object.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace

void print_faults(const std::vector<Fault>& faults, bool json, Sink& out) {
  std::string text = json ? "[" : "";
  for (const Fault& fault : faults) {
    if (json) {
      text += (&fault == faults.data() ? "" : ",\n ") + fault_json(fault);
    } else {
      text += fault.level == Level::kError ? "error " : "warning ";
      text += fault.rule + " " + printable(fault.subject) + ": " + printable(fault.message) + "\n";
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
