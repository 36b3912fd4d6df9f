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

// Empty where the device may be any.
struct DeviceParts {
  std::string_view job, replica, task, type, number;
};

DeviceParts device_parts(std::string_view device) {
  DeviceParts parts;
  while (!device.empty()) {
    device.remove_prefix(1);
    std::string_view part = device.substr(0, device.find('/'));
    device.remove_prefix(part.size());
    const std::string_view key = part.substr(0, part.find(':'));
    std::string_view value = part.substr(std::min(key.size() + 1, part.size()));
    if (key == "job") parts.job = value;
    if (key == "replica") parts.replica = value;
    if (key == "task") parts.task = value;
    if (key == "job" || key == "replica" || key == "task") continue;
    parts.type = key == "device" ? value.substr(0, value.find(':')) : key;
    if (key == "device") value.remove_prefix(std::min(parts.type.size() + 1, value.size()));
    parts.number = value;
  }
  return parts;
}

bool agrees(std::string_view a, std::string_view b) {
  const auto same = [](char x, char y) { return std::tolower(x) == std::tolower(y); };  // cpu is CPU
  return a.empty() || b.empty() || a == "*" || b == "*" || std::ranges::equal(a, b, same);
}

}  // namespace

bool devices_agree(std::string_view a, std::string_view b) {
  const DeviceParts of_a = device_parts(a), of_b = device_parts(b);
  return agrees(of_a.job, of_b.job) && agrees(of_a.replica, of_b.replica) && agrees(of_a.task, of_b.task) &&
         agrees(of_a.type, of_b.type) && agrees(of_a.number, of_b.number);
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
