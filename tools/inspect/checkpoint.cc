// What is told of a checkpoint.
#include <algorithm>
#include <map>

#include "base/size.h"
#include "checkpoint/list.h"
#include "inspect/describe.h"

namespace gedit {
namespace {

struct Share {
  uint64_t tensors = 0, elements = 0, bytes = 0;
};

// The first `depth` parts of a name; of a shorter one all but the last.
std::string scope_of(std::string_view name, int depth) {
  size_t end = 0;
  for (int level = 0; level < depth; ++level) {
    const size_t slash = name.find('/', end == 0 ? 0 : end + 1);
    if (slash == std::string_view::npos) break;
    end = slash;
  }
  return std::string(name.substr(0, end));
}

}  // namespace

std::string describe(const Checkpoint& checkpoint, int depth, bool color) {
  std::map<std::string, uint64_t> types;
  std::map<std::string, Share> scopes;
  std::vector<std::pair<uint64_t, const Tensor*>> largest;
  Share all;
  size_t partitioned = 0, slices = 0;
  for (const Tensor& tensor : checkpoint.tensors) {
    const uint64_t elements = element_count(tensor.shape);
    const uint64_t bytes = stored_size(checkpoint, tensor).value_or(0);
    ++types[dtype_name(tensor.dtype)];
    for (Share* share : {&all, &scopes[scope_of(tensor.name, depth)]}) {
      ++share->tensors;
      share->elements += elements;
      share->bytes += bytes;
    }
    partitioned += tensor.partitioned() ? 1 : 0;
    slices += tensor.slices.size();
    largest.emplace_back(bytes, &tensor);
  }
  LabelledText text(color);
  std::string tensors = count_text(all.tensors);
  for (const auto& [type, count] : types)
    tensors += (&type == &types.begin()->first ? ": " : ", ") + type + " " + count_text(count);
  text.line("tensors", tensors + "; " + count_text(all.elements) + " elements, " + size_text(all.bytes));
  if (partitioned > 0)
    text.line("partitioned", count_text(partitioned) + ", in " + count_text(slices) + " slices");
  text.line("objects", checkpoint.object_based() ? "an object graph" : "none");
  std::stable_sort(largest.begin(), largest.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<std::vector<std::string>> rows;
  for (const auto& [bytes, tensor] : largest) {
    if (rows.size() == kMostRows) break;
    rows.push_back(
        {shown_name(tensor->name), dtype_name(tensor->dtype) + shape_text(tensor->shape), size_text(bytes)});
  }
  text.table("largest", rows);
  if (depth == 0) return text.take();
  std::vector<std::pair<std::string, Share>> ranked(scopes.begin(), scopes.end());
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const auto& a, const auto& b) { return a.second.bytes > b.second.bytes; });
  rows = {{"scope", "tensors", "elements", "bytes"}};
  for (const auto& [scope, share] : ranked) {
    rows.push_back({scope.empty() ? "(none)" : shown_name(scope), count_text(share.tensors),
                    count_text(share.elements), size_text(share.bytes)});
  }
  text.table("scopes", rows);
  return text.take();
}

}  // namespace gedit
