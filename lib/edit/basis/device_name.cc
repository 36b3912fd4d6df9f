#include "edit/basis/device_name.h"

#include <algorithm>
#include <cctype>
#include <string>

#include "base/error.h"

namespace gedit {
namespace {

bool device_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool device_digit(char c) { return c >= '0' && c <= '9'; }

bool take(std::string_view& text, std::string_view what) {
  if (!text.starts_with(what)) return false;
  text.remove_prefix(what.size());
  return true;
}

bool take_name(std::string_view& text, std::string_view more) {
  if (text.empty() || !device_letter(text.front())) return false;
  while (!text.empty() && (device_letter(text.front()) || device_digit(text.front()) ||
                           more.find(text.front()) != std::string_view::npos))
    text.remove_prefix(1);
  return true;
}

bool take_number(std::string_view& text) {
  if (text.empty() || !device_digit(text.front())) return false;
  while (!text.empty() && device_digit(text.front())) text.remove_prefix(1);
  return true;
}

// One part, `/task:0` or `/device:GPU:*`.
bool take_part(std::string_view& text) {
  if (take(text, "/job:")) return take(text, "*") || take_name(text, "_-");
  if (take(text, "/device:")) {
    if (!take(text, "*") && !take_name(text, "_")) return false;
    return !take(text, ":") || take(text, "*") || take_number(text);
  }
  for (const std::string_view numbered : {"/replica:", "/task:", "/cpu:", "/CPU:", "/gpu:", "/GPU:"}) {
    if (take(text, numbered)) return take(text, "*") || take_number(text);
  }
  return false;
}

bool agrees(std::string_view a, std::string_view b) {
  const auto same = [](char x, char y) { return std::tolower(x) == std::tolower(y); };  // cpu is CPU
  return a.empty() || b.empty() || a.ends_with('*') || b.ends_with('*') || std::ranges::equal(a, b, same);
}

// `/device:GPU:0` and `/gpu:0` as `GPU:0` and `gpu:0`.
std::string_view processor(std::string_view device) {
  std::string_view part = processor_part(device);
  if (!take(part, "/device:")) take(part, "/");
  return part;
}

}  // namespace

std::string_view device_part(std::string_view device, std::string_view what) {
  const size_t at = device.find(what);
  if (at == std::string_view::npos) return {};
  return device.substr(at, device.find('/', at + 1) - at);
}

std::string_view processor_part(std::string_view device) {
  for (const std::string_view what : {"/device:", "/cpu:", "/gpu:", "/CPU:", "/GPU:"}) {
    const std::string_view part = device_part(device, what);
    if (!part.empty()) return part;
  }
  return {};
}

bool devices_agree(std::string_view a, std::string_view b) {
  for (const std::string_view what : kDeviceOwners) {
    if (!agrees(device_part(a, what), device_part(b, what))) return false;
  }
  const std::string_view of_a = processor(a), of_b = processor(b);
  const size_t type_a = of_a.find(':'), type_b = of_b.find(':');
  if (!agrees(of_a.substr(0, type_a), of_b.substr(0, type_b))) return false;
  return type_a == std::string_view::npos || type_b == std::string_view::npos ||
         agrees(of_a.substr(type_a), of_b.substr(type_b));
}

void check_device(std::string_view device) {
  if (device == "/") return;
  for (std::string_view left = device; !left.empty();) {
    if (take_part(left)) continue;
    std::string hint = "/job:worker/task:0/device:GPU:0";
    // What tf.device() takes, too, and a graph does not.
    if (device.find('/') == std::string_view::npos && device.find(':') != std::string_view::npos) {
      const std::string spelled = "/device:" + std::string(device);
      std::string_view rest = spelled;
      if (take_part(rest) && rest.empty()) hint = spelled;
    }
    throw Error(Cause::kUsage, "is no device").of(quoted("device", device)).hint(hint);
  }
}

}  // namespace gedit
