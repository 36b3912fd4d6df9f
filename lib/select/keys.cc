#include "select/keys.h"

#include <re2/re2.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <unordered_map>

#include "base/error.h"
#include "checkpoint/edit.h"
#include "checkpoint/objects.h"
#include "select/name_patterns.h"

namespace gedit {
namespace {

using Is = Selector::Is;

[[noreturn]] void refuse(const Selector& selector, const std::string& what) {
  throw Error(Cause::kUsage, what).of(quoted("selector", selector.written));
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

std::vector<bool> by_patterns(const Checkpoint& checkpoint, const NamePatterns& patterns) {
  return by_name(checkpoint, [&](std::string_view name) {
    // An object is its values and its slots.
    return patterns.names().contains(name) || patterns.names().contains(object_path(name)) ||
           patterns.wide(name);
  });
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

// Elements of lists are named by their numbers.
bool is_of_list(std::string_view path) {
  return last_of_path(path).find_first_not_of("0123456789") == std::string_view::npos;
}

}  // namespace

std::vector<bool> select_tensors(const Checkpoint& checkpoint, const Selector& selector) {
  switch (selector.is) {
    case Is::kName:
    case Is::kScope: {
      NamePatterns patterns;
      patterns.add(selector);
      return by_patterns(checkpoint, patterns);
    }
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
    case Is::kAnd: {
      std::vector<bool> hits = select_tensors(checkpoint, selector.operands.front());
      for (size_t i = 1; i < selector.operands.size(); ++i) {
        const std::vector<bool> more = select_tensors(checkpoint, selector.operands[i]);
        for (size_t k = 0; k < hits.size(); ++k) hits[k] = hits[k] && more[k];
      }
      return hits;
    }
    case Is::kOr: {
      NamePatterns patterns;
      std::vector<const Selector*> others;
      for (const Selector& operand : selector.operands) {
        if (!patterns.add(operand)) others.push_back(&operand);
      }
      std::vector<bool> hits = by_patterns(checkpoint, patterns);
      for (const Selector* other : others) {
        const std::vector<bool> more = select_tensors(checkpoint, *other);
        for (size_t k = 0; k < hits.size(); ++k) hits[k] = hits[k] || more[k];
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

std::vector<HeldElsewhere> held_elsewhere(const Checkpoint& checkpoint, const std::vector<bool>& hits,
                                          const std::vector<std::string>& selectors) {
  std::vector<HeldElsewhere> held;
  if (!checkpoint.object_based()) return held;
  const std::string bytes = load_object_graph(checkpoint);
  const ObjectGraph graph = parse_object_graph(bytes);
  std::unordered_map<std::string_view, uint32_t> holders;  // by key
  for (uint32_t id = 0; id < graph.objects.size(); ++id) {
    for (const ObjectGraph::Attribute& attribute : graph.objects[id].attributes)
      holders.emplace(attribute.key, id);
  }
  const OtherPaths others(graph.objects);
  Checkpoint elsewhere = checkpoint;
  elsewhere.tensors.clear();
  for (size_t i = 0; i < hits.size(); ++i) {
    const std::string_view key = checkpoint.tensors[i].name;
    const auto holder = hits[i] ? holders.find(key) : holders.end();
    if (holder == holders.end()) continue;
    const std::string_view path = object_path(key);
    if (!is_of_list(path)) continue;
    const std::string other = others.of(holder->second, path);
    if (other.empty() || is_of_list(other)) continue;
    held.push_back({key, other + std::string(key.substr(path.size()))});
    elsewhere.tensors.push_back(checkpoint.tensors[i]);
    elsewhere.tensors.back().name = held.back().other;
  }
  std::vector<bool> too(held.size());
  for (const std::string& selector : selectors) {
    const std::vector<bool> more = select_tensors(elsewhere, parse_selector(selector));
    for (size_t i = 0; i < too.size(); ++i) too[i] = too[i] || more[i];
  }
  size_t kept = 0;
  for (size_t i = 0; i < held.size(); ++i) {
    if (too[i]) continue;
    if (kept != i) held[kept] = std::move(held[i]);
    ++kept;
  }
  held.resize(kept);
  return held;
}

}  // namespace gedit
