#include "diff/lines.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "base/crc32c.h"
#include "base/file.h"
#include "base/map_entry.h"
#include "base/message_edit.h"
#include "checkpoint/list.h"
#include "checkpoint/values.h"
#include "diff/nodes.h"
#include "graph/library.h"
#include "graph/listing.h"
#include "graph/listing_text.h"
#include "graph/scanner.h"
#include "model/asset_paths.h"
#include "model/collections.h"
#include "model/listing.h"
#include "model/sorted_maps.h"

#include <fmt/core.h>

namespace gedit {
namespace {

std::vector<std::string> lines_of(Kind kind, std::string_view message) {
  StringSink sink;
  print_listing(kind, message, false, sink);
  std::vector<std::string> lines;
  for (std::string_view left = sink.text; !left.empty();) {
    const size_t end = left.find('\n');
    lines.emplace_back(left.substr(0, end));
    left.remove_prefix(std::min(end, left.size() - 1) + 1);
  }
  return lines;
}

// The parts of a MetaGraph that are compared, with other names where there are any.
std::string surroundings(const MetaGraph& meta, const RenamedScopes* names) {
  const auto mapped = [&](std::string_view bytes, const Schema& schema) {
    return with_maps_sorted(
        names == nullptr || names->empty() ? bytes : map_names(bytes, schema, ScopeNameMap(*names)), schema);
  };
  std::string message;
  for (const Collection& collection : collections(meta)) {
    const bool any = collection.kind == collection_kind::kAnyList;
    const Schema* schema = any ? &kAnyItem : collection_row(collection.key).schema;
    const bool proto = any || (collection.kind == collection_kind::kBytesList && schema != nullptr);
    if (!proto && collection.kind != collection_kind::kNodeList) {
      append_bytes_field(message, meta_field::kCollection, collection.entry);
      continue;
    }
    std::vector<std::string> items;
    for (const std::string_view item : collection.items) {
      std::string name;
      if (proto) {
        name = mapped(item, *schema);
      } else if (names != nullptr) {
        ScopeNameMap(*names).map(NameKind::kNode, item, name);
      } else {
        name = item;
      }
      items.push_back(std::move(name));
    }
    append_bytes_field(message, meta_field::kCollection,
                       collection_entry(collection.key, collection.kind, items));
  }
  const auto add = [&](uint32_t field, const Schema& schema) {
    for (const std::string_view part : meta.parts_of(field))
      append_bytes_field(message, field, mapped(part, schema));
  };
  add(meta_field::kSaver, kSaverDef);
  for (const std::string_view part : meta.parts_of(meta_field::kSignature)) {
    const MapEntry entry = map_entry(part);
    append_map_entry(message, meta_field::kSignature, entry.key, mapped(entry.value, kSignatureDef));
  }
  add(meta_field::kAsset, kAssetFileDef);
  add(meta_field::kObjectGraph, kSavedObjectGraph);
  return message;
}

// Each field of a message by the key of its map, as text.
std::map<std::string, std::string> map_texts(const Graph& body, uint32_t field) {
  std::map<std::string, std::string> texts;
  for (const Part& part : body.parts()) {
    if (part.field != field) continue;
    const MapEntry entry = map_entry(record_at(part.raw.data()).node_def);
    texts[std::string(entry.key)] =
        field == function_field::kAttr ? value_text(entry.value) : std::string(entry.value);
  }
  return texts;
}

std::string without_numbers(std::string_view name) {
  std::string text;
  for (const char c : name) {
    if (c < '0' || c > '9') text += c;
  }
  return text;
}

// An OpDef whose input arguments are called by their places.
std::string with_numbered_arguments(std::string_view op_def) {
  constexpr uint32_t kInputArg = 2, kName = 1;
  std::string numbered;
  size_t place = 0;
  for (Fields fields(op_def); fields.next();) {
    if (fields->bytes(kInputArg)) {
      append_bytes_field(numbered, kInputArg, with_field(fields->value, kName, std::to_string(place++)));
    } else {
      numbered += fields->raw;
    }
  }
  return numbered;
}

std::string checksum_text(uint32_t masked_crc) { return fmt::format("{:08x}", unmasked(masked_crc)); }

}  // namespace

std::vector<std::string> surrounding_lines(const Model& model, Kind other, const RenamedScopes* names) {
  std::string versions;
  append_bytes_field(versions, graph_field::kVersions, model.graph().part(graph_field::kVersions));
  std::vector<std::string> lines = lines_of(Kind::kGraphDef, versions);
  if (model.kind == Kind::kGraphDef || other == Kind::kGraphDef) return lines;
  std::vector<std::string> set;  // a MetaGraphDef need not have any
  if (model.kind == other) {
    for (const std::string_view tag : tags(model.meta())) set.emplace_back(tag);
  }
  std::sort(set.begin(), set.end());
  for (const std::string& tag : set) {
    std::string line = "tag ";
    print_name(line, tag);
    lines.push_back(std::move(line));
  }
  std::vector<std::string> around = lines_of(Kind::kMetaGraphDef, surroundings(model.meta(), names));
  std::erase_if(around, [](const std::string& line) { return line.starts_with("metagraph"); });
  lines.insert(lines.end(), around.begin(), around.end());
  return lines;
}

std::vector<std::string> asset_file_lines(const Model& model) {
  std::vector<std::string> lines;
  std::set<std::string_view> seen;
  AssetDigests digests(model);
  for (const Asset& asset : assets(model.meta())) {
    if (!seen.insert(asset.file).second) continue;
    const auto digest = digests.of(std::string(asset.file));
    if (!digest) continue;
    std::string line = "file ";
    print_name(line, join_path("assets", std::string(asset.file)));
    line += fmt::format(" {} B crc32c {:08x}", digest->first, digest->second);
    lines.push_back(std::move(line));
  }
  return lines;
}

std::vector<std::string> gradient_lines(std::string_view library) {
  std::string gradients, graph;
  for (Fields fields(library); fields.next();) {
    if (!fields->bytes(1)) gradients += fields->raw;
  }
  if (gradients.empty()) return {};
  append_bytes_field(graph, graph_field::kLibrary, gradients);
  return lines_of(Kind::kGraphDef, graph);
}

std::vector<LoneLine> lone_lines(const std::vector<std::string>& before,
                                 const std::vector<std::string>& after) {
  std::unordered_map<std::string_view, int64_t> more;  // in `before` than in `after`
  for (const std::string& line : before) ++more[line];
  for (const std::string& line : after) --more[line];
  std::vector<LoneLine> lone;
  // The last of several equal lines are those that the other side lacks.
  const auto collect = [&](const std::vector<std::string>& lines, bool added, int64_t sign) {
    const size_t begin = lone.size();
    for (auto line = lines.rbegin(); line != lines.rend(); ++line) {
      int64_t& count = more[*line];
      if (count * sign <= 0) continue;
      count -= sign;
      lone.push_back({added, *line});
    }
    std::reverse(lone.begin() + static_cast<std::ptrdiff_t>(begin), lone.end());
  };
  collect(before, false, 1);
  collect(after, true, -1);
  return lone;
}

std::vector<RenamedArgument> renamed_arguments(const Graph& before, const Graph& after) {
  const std::vector<std::string_view> from = argument_names(function_signature(before)),
                                      to = argument_names(function_signature(after));
  std::vector<RenamedArgument> renamed;
  for (size_t i = 0; from.size() == to.size() && i < from.size(); ++i) {
    if (from[i] != to[i]) renamed.push_back({from[i], to[i]});
  }
  return renamed;
}

std::vector<std::string> function_differences(const Graph& before, const Graph& after,
                                              const RenamedScopes& names, bool renumbered,
                                              const DiffOptions& options) {
  std::vector<std::string> what;
  const ScopeMapping mapping(names, true);
  for (const auto& [from, to] : renamed_arguments(before, after)) {
    if (renumbered && without_numbers(from) == without_numbers(to)) continue;
    std::string text = "argument ";
    print_name(text, from);
    text += " -> ";
    print_name(text, to);
    what.push_back(std::move(text));
  }
  const auto signature = [](const Graph& body) {
    std::string text;
    print_text(text, TextMessage::kOpDef, with_numbered_arguments(function_signature(body)));
    return text;
  };
  if (signature(before) != signature(after)) what.emplace_back("signature");
  struct Map {
    const char* word;
    uint32_t field;
  };
  for (const Map& map : {Map{"ret", function_field::kRet}, Map{"control_ret", function_field::kControlRet},
                         Map{"attr", function_field::kAttr}}) {
    auto a = map_texts(before, map.field), b = map_texts(after, map.field);
    if (map.field != function_field::kAttr) {
      for (auto& [key, value] : a) {
        std::string mapped;
        if (map.field == function_field::kRet) {
          mapping.input({}, value, mapped);
        } else {
          mapping.node(value, mapped);
        }
        value = std::move(mapped);
      }
    } else {
      for (auto* texts : {&a, &b}) {
        std::erase_if(*texts, [&](const auto& attr) {
          return is_ignored(options, attr.first) || is_minor(options, attr.first);
        });
      }
    }
    const auto entry = [&](const char* sign, const std::string& key) {
      std::string text = std::string(sign) + map.word + " ";
      print_name(text, key);
      return text + ": ";
    };
    for (const auto& [key, value] : a) {
      const auto other = b.find(key);
      if (other == b.end()) {
        what.push_back(entry("- ", key) + value);
      } else if (other->second != value) {
        what.push_back(entry("", key) + value + " -> " + other->second);
      }
    }
    for (const auto& [key, value] : b) {
      if (!a.contains(key)) what.push_back(entry("+ ", key) + value);
    }
  }
  return what;
}

namespace {

// `tensor w float32 [2,3] crc32c 1a2b3c4d`; slices each with its own.
std::string tensor_line(DataFiles& files, const Tensor& tensor) {
  const Checkpoint& checkpoint = files.checkpoint();
  const auto checksum = [&](const Place& place, const Slice* slice, uint64_t elements) {
    if (!in_table(checkpoint, place)) return checksum_text(place.crc32c);
    return fmt::format("{:08x}",
                       value_crc32c(tensor.dtype, elements, stored_bytes(files, tensor, slice).view()));
  };
  std::string line =
      "tensor " + shown_name(tensor.name) + " " + dtype_name(tensor.dtype) + " " + shape_text(tensor.shape);
  if (!tensor.partitioned())
    return line + " crc32c " + checksum(tensor.place, nullptr, element_count(tensor.shape));
  for (const Slice& slice : tensor.slices) {
    const auto settled = settle_extents(slice.extents, tensor.shape);
    uint64_t elements = settled ? 1 : 0;
    if (settled) {
      for (const Extent& extent : *settled) elements *= static_cast<uint64_t>(extent.length);
    }
    line += " slice " + slice_text(slice.extents) + " crc32c " + checksum(slice.place, &slice, elements);
  }
  return line;
}

}  // namespace

Diff diff_checkpoints(const Checkpoint& before, const Checkpoint& after) {
  std::unordered_map<std::string, std::string> names;  // by line
  const auto lines = [&](const Checkpoint& checkpoint) {
    DataFiles files(checkpoint);
    std::vector<std::string> all;
    for (const Tensor& tensor : checkpoint.tensors) {
      all.push_back(tensor_line(files, tensor));
      names.emplace(all.back(), tensor.name);
    }
    return all;
  };
  Diff diff;
  diff.other = lone_lines(lines(before), lines(after));
  for (LoneLine& line : diff.other) {
    line.tensor = names[line.line];
    line.facts = line.line.substr(std::string_view("tensor ").size() + shown_name(line.tensor).size() + 1);
  }
  // Both lines of a tensor that changed stand side by side.
  std::ranges::stable_sort(diff.other, {}, &LoneLine::tensor);
  return diff;
}

}  // namespace gedit
