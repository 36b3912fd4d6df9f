#include "select/keys.h"

#include <re2/re2.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "base/error.h"
#include "base/glob.h"
#include "checkpoint/edit.h"
#include "checkpoint/objects.h"

namespace gedit {
namespace {

using Is = Selector::Is;

[[noreturn]] void refuse(const Selector& selector, const std::string& what) {
  throw Error(Cause::kUsage, what).of(quoted("selector", selector.written));
}

// Whether one of the scopes that the name lies in, or the name itself, is the scope.
bool in_scope(const Selector& selector, std::string_view name) {
  if (selector.literal || !is_glob(selector.text)) {
    return name.starts_with(selector.text) &&
           (name.size() == selector.text.size() || name[selector.text.size()] == '/');
  }
  for (size_t end = name.find('/');; end = name.find('/', end + 1)) {
    if (glob_match(selector.text, name.substr(0, end))) return true;
    if (end == std::string_view::npos) return false;
  }
}

// The test of names that a selector is; tried on the key and on the object's path.
template <typename Test>
std::vector<bool> by_name(const Checkpoint& checkpoint, Test test) {
  std::vector<bool> hits;
  hits.reserve(checkpoint.tensors.size());
  for (const Tensor& tensor : checkpoint.tensors) {
    const std::string_view key = tensor.name;
    bool hit = test(key);
    if (!hit) {
      if (const std::string_view path = key.substr(0, key.find("/.ATTRIBUTES/")); path.size() != key.size()) {
        hit = test(path);
      }
    }
    hits.push_back(hit);
  }
  return hits;
}

std::vector<bool> by_size(const Checkpoint& checkpoint, const Selector& selector) {
  std::vector<bool> hits;
  for (const Tensor& tensor : checkpoint.tensors) {
    const std::optional<uint64_t> size = stored_size(checkpoint, tensor);
    const bool beyond = size && (selector.compare == '>' ? *size > selector.number : *size < selector.number);
    hits.push_back(beyond || (size && selector.or_equal && *size == selector.number));
  }
  return hits;
}

std::vector<bool> by_dtype(const Checkpoint& checkpoint, const Selector& selector) {
  const std::optional<DType> dtype = parse_dtype(selector.text);
  if (!dtype) refuse(selector, "no such type");
  std::vector<bool> hits;
  for (const Tensor& tensor : checkpoint.tensors) hits.push_back(tensor.dtype == *dtype);
  return hits;
}

}  // namespace

std::vector<bool> select_tensors(const Checkpoint& checkpoint, const Selector& selector) {
  switch (selector.is) {
    case Is::kName:
      if (selector.literal || !is_glob(selector.text)) {
        // An object is its values and its slots.
        return by_name(checkpoint, [&](std::string_view name) {
          return name == selector.text || object_path(name) == selector.text;
        });
      }
      return by_name(checkpoint, [&](std::string_view name) { return glob_match(selector.text, name); });
    case Is::kScope:
      return by_name(checkpoint, [&](std::string_view name) { return in_scope(selector, name); });
    case Is::kRegex: {
      RE2::Options options;
      options.set_log_errors(false);
      const RE2 regex(selector.text, options);
      if (!regex.ok()) refuse(selector, regex.error());
      return by_name(checkpoint, [&](std::string_view name) {
        return RE2::PartialMatch(re2::StringPiece(name.data(), name.size()), regex);
      });
    }
    case Is::kSize:
      return by_size(checkpoint, selector);
    case Is::kDtype:
      return by_dtype(checkpoint, selector);
    case Is::kNot: {
      std::vector<bool> hits = select_tensors(checkpoint, selector.operands.front());
      hits.flip();
      return hits;
    }
    case Is::kAnd:
    case Is::kOr: {
      std::vector<bool> hits = select_tensors(checkpoint, selector.operands.front());
      for (size_t i = 1; i < selector.operands.size(); ++i) {
        const std::vector<bool> more = select_tensors(checkpoint, selector.operands[i]);
        for (size_t k = 0; k < hits.size(); ++k) {
          hits[k] = selector.is == Is::kAnd ? hits[k] && more[k] : hits[k] || more[k];
        }
      }
      return hits;
    }
    default:
      refuse(selector, "a checkpoint has tensors only: names, scopes, re:, dtype:, size>");
  }
}

Error nothing_hit(const Checkpoint& checkpoint, std::string_view text) {
  const Selector selector = parse_selector(text);
  const Error error =
      Error(Cause::kRefused, "matches nothing").of(quoted("selector", text)).in(checkpoint.prefix);
  const Selector* first = &selector;
  while (!first->operands.empty()) first = &first->operands.front();
  if (first->is != Is::kName && first->is != Is::kScope) return error;
  return error.hint(name_hint(checkpoint, first->is == Is::kScope ? first->text + "/" : first->text));
}

std::vector<bool> require_tensors(const Checkpoint& checkpoint, std::string_view text) {
  std::vector<bool> hits = select_tensors(checkpoint, parse_selector(text));
  if (std::find(hits.begin(), hits.end(), true) == hits.end()) throw nothing_hit(checkpoint, text);
  return hits;
}

}  // namespace gedit
