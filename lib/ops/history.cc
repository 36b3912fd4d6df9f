#include "ops/history.h"

#include <algorithm>
#include <charconv>

#include "base/embedded.h"
#include "base/wire.h"

extern "C" {
extern const char gedit_op_history[];      // NOLINT(readability-identifier-naming): a symbol of gedit_embed()
extern const char gedit_op_history_end[];  // NOLINT(readability-identifier-naming)
}

namespace gedit {
namespace {

// The format is described at the head of making/join_releases.py.
constexpr uint32_t kReleaseField = 1, kOpField = 2, kEraField = 2;

struct MajorMinor {
  int major = -1, minor = -1;
  bool operator==(const MajorMinor&) const = default;
};

MajorMinor major_minor(std::string_view version) {
  if (version.starts_with('v')) version.remove_prefix(1);
  MajorMinor found;
  const char* const end = version.data() + version.size();
  const auto major = std::from_chars(version.data(), end, found.major);
  if (major.ec != std::errc() || major.ptr == end || *major.ptr != '.') return {};
  const auto minor = std::from_chars(major.ptr + 1, end, found.minor);
  // Behind it a patch number, or what a build says of itself.
  if (minor.ec != std::errc() || (minor.ptr != end && *minor.ptr != '.' && *minor.ptr != '-')) return {};
  return found;
}

OpEra parse_era(std::string_view packed, std::string_view before, std::string& op_def) {
  OpEra era;
  std::string_view middle;
  size_t prefix = 0, suffix = 0;
  for (Fields fields(packed); fields.next();) {
    if (fields->bytes(1)) middle = fields->value;
    if (fields->number == 2) era.first = static_cast<ReleaseNumber>(fields->varint);
    if (fields->number == 3) era.last = static_cast<ReleaseNumber>(fields->varint);
    if (fields->number == 4) era.contrib = fields->varint != 0;
    if (fields->number == 5) prefix = fields->varint;
    if (fields->number == 6) suffix = fields->varint;
  }
  op_def.append(before.substr(0, prefix)).append(middle).append(before.substr(before.size() - suffix));
  return era;
}

}  // namespace

OpHistory& OpHistory::get() {
  static OpHistory history;
  return history;
}

OpHistory::OpHistory()
    : bytes_(embedded(gedit_op_history, gedit_op_history_end)), latest_ops_(builtin_ops()) {
  for (Fields fields(bytes_); fields.next();) {
    if (fields->bytes(kReleaseField))
      releases_.push_back(
          {last_bytes(fields->value, 1), static_cast<int64_t>(last_varint(fields->value, 2))});
    if (fields->bytes(kOpField)) ops_[last_bytes(fields->value, 1)].packed = fields->value;
  }
  for (Fields fields(latest_ops_); fields.next();) {
    if (!fields->bytes(1)) continue;
    if (const auto op = ops_.find(last_bytes(fields->value, 1)); op != ops_.end())
      op->second.latest = fields->value;
  }
}

std::optional<ReleaseNumber> OpHistory::find(std::string_view version) const {
  const MajorMinor wanted = major_minor(version);
  if (wanted.major < 0) return std::nullopt;
  for (ReleaseNumber i = 0; i < releases_.size(); ++i) {
    if (major_minor(releases_[i].name) == wanted) return i;
  }
  return std::nullopt;
}

Releases OpHistory::with_producer(int64_t producer) const {
  Releases found = 0;
  ReleaseNumber next = latest();
  for (ReleaseNumber i = 0; i < releases_.size(); ++i) {
    if (releases_[i].producer == producer) found |= release_bit(i);
    if (releases_[i].producer > producer && releases_[i].producer < releases_[next].producer) next = i;
  }
  return found != 0 ? found : release_bit(next);
}

const std::vector<OpEra>& OpHistory::eras(std::string_view name) {
  static const std::vector<OpEra> none;
  const auto found = ops_.find(name);
  if (found == ops_.end()) return none;
  Op& op = found->second;
  if (!op.unpacked) {
    op.unpacked = true;
    size_t count = 0;
    for (Fields fields(op.packed); fields.next();) count += fields->bytes(kEraField) ? 1 : 0;
    op.made.reserve(count);
    std::string_view before = op.latest;
    for (Fields fields(op.packed); fields.next();) {
      if (!fields->bytes(kEraField)) continue;
      OpEra era = parse_era(fields->value, before, op.made.emplace_back());
      before = era.op_def = op.made.back();
      era.op = parse_op_def(era.op_def);
      op.eras.push_back(std::move(era));
    }
  }
  return op.eras;
}

const OpEra* OpHistory::era(std::string_view op, ReleaseNumber release) {
  for (const OpEra& era : eras(op)) {
    if (era.first <= release && release <= era.last) return &era;
  }
  return nullptr;
}

}  // namespace gedit
