// Every definition of every op in every TensorFlow release from 1.0 on (lib/ops/README.md says from where).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ops/registry.h"

namespace gedit {

// A release by its number: its place in the order of releases, in which 1.15 stands before 2.0.
using ReleaseNumber = uint32_t;

// A set of releases: bit k is release k.
using Releases = uint64_t;
constexpr Releases release_bit(ReleaseNumber release) { return Releases{1} << release; }
// `first` to `last`, both inclusive.
constexpr Releases release_span(ReleaseNumber first, ReleaseNumber last) {
  return (last >= 63 ? ~Releases{0} : release_bit(last + 1) - 1) & ~(release_bit(first) - 1);
}

struct Release {
  std::string_view name;  // `1.12.0`
  int64_t producer = 0;   // GraphDef.versions.producer of what it writes, and the most that it takes

  std::string_view short_name() const { return name.substr(0, name.rfind('.')); }  // `1.12`
};

// A definition of an op and when it was in force.
struct OpEra {
  ReleaseNumber first = 0, last = 0;  // both inclusive
  bool contrib = false;               // known only when its library of tf.contrib is loaded
  std::string_view op_def;            // serialized
  OpDef op{};
  Releases releases() const { return release_span(first, last); }
};

class OpHistory {
 public:
  // Unpacked on the first call, which costs a millisecond. Not to be called by two threads at once, nor
  // eras().
  static OpHistory& get();

  const std::vector<Release>& releases() const { return releases_; }
  ReleaseNumber latest() const { return static_cast<ReleaseNumber>(releases_.size() - 1); }
  Releases all() const { return release_span(0, latest()); }

  // The release that a person means by `1.12`, `1.12.0`, `v1.12.3`, or a file by `2.4.0-dev20200811`; a later
  // patch release is its first. Nothing where there is none.
  std::optional<ReleaseNumber> find(std::string_view version) const;
  // Those that may have written a graph with this producer: of a nightly build's, the next release.
  Releases with_producer(int64_t producer) const;

  // The newest first; none where no release knows the op. Valid for the life of the program.
  const std::vector<OpEra>& eras(std::string_view op);
  // The one in force; null where the release does not know the op.
  const OpEra* era(std::string_view op, ReleaseNumber release);

 private:
  OpHistory();

  std::string bytes_, latest_ops_;
  std::vector<Release> releases_;
  struct Op {
    std::string_view packed, latest;
    bool unpacked = false;
    std::vector<OpEra> eras{};
    std::vector<std::string> made{};  // what the eras view
  };
  std::unordered_map<std::string_view, Op> ops_;
};

}  // namespace gedit
