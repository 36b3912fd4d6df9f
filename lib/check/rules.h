// The rules that a graph is checked by: what each is called, how bad it is, and what TensorFlow does.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/fault.h"

namespace gedit {

enum class Rule : uint8_t {
  kName,
  kTwice,
  kDuplicate,
  kInput,
  kInputOrder,
  kCycle,
  kArity,
  kDtype,
  kReference,
  kAttribute,
  kUnknownOp,
  kDeprecatedOp,
  kColocation,
  kFrame,
  kFunction,
  kOutputShapes,
  kShapes,
  kConst,
  kVariable,
  kCollection,
  kContext,
  kQueueRunner,
  kSaver,
  kSignature,
  kAsset,
  kInitOp,
  kObjectGraph,
  kVersions,
  kCheckpoint,
  kSharedName,
  kSize,
  kImport,
  kUnsafeOp,
  kUnsafeFile,
};

struct RuleInfo {
  Rule rule;
  std::string_view name;
  Level level;               // where nothing else is said
  std::string_view meaning;  // for the man page, one clause
};
std::span<const RuleInfo> rules();

// A line a rule, for the man page.
std::string rules_text();

// Gathers what the rules find.
class Report {
 public:
  void add(Rule rule, std::string subject, std::string message);
  void warn(Rule rule, std::string subject, std::string message);
  void append(Report more);
  bool has_errors() const;
  size_t size() const { return faults_.size(); }
  std::vector<Fault> take() { return std::move(faults_); }

 private:
  std::vector<Fault> faults_;
};

}  // namespace gedit
