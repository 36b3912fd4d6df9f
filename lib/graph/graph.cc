#include "graph/graph.h"

#include <algorithm>
#include <cassert>
#include <optional>
#include <utility>

#include "base/parallel.h"
#include "graph/name_hash.h"
#include "graph/piece_walk.h"

namespace gedit {

namespace {
constexpr uint32_t kLibrary = 2;  // GraphDef.library
}  // namespace

void Tally::add_library(std::string_view function_def_library) {
  for (Fields fields(function_def_library); fields.next();) functions += fields->bytes(1) ? 1 : 0;
}

Tally Graph::tally() const {
  Tally tally;
  if (decoded_) {
    for (OpNumber op = 0; op < counts_.size(); ++op) tally.add(ops_.kinds(op), counts_[op]);
    tally.add_library(part(kLibrary));
    return tally;
  }
  for (Fields fields(message_); fields.next();) {
    if (fields->bytes(node_field_)) tally.add(node_op(fields->value));
    if (fields->bytes(kLibrary)) tally.add_library(fields->value);
  }
  return tally;
}

std::vector<std::string_view> Graph::records_where(
    const std::function<bool(std::string_view)>& wanted) const {
  std::vector<std::string_view> found;
  if (decoded_) {
    each_record([&](std::string_view node_def) {
      if (wanted(node_def)) found.push_back(node_def);
    });
    return found;
  }
  const auto look = [&](const char* from, const char* stop, bool only_nodes, auto use) {
    return walk_fields(from, stop, message_.end(), [&](const Field& field) {
      const bool node = field.bytes(node_field_);
      if (node) use(field.value);
      return node || !only_nodes;
    });
  };
  const auto add = [&](std::string_view node_def) {
    const std::string_view once = once_each(node_def, *arena_);
    if (wanted(once)) found.push_back(once);
  };
  Places<std::vector<std::string_view>> pieces(walk_places(message_));
  walk_in_pieces(message_, node_field_,
                 {[&](size_t place, const char* from, const char* stop) {
                    pieces[place].clear();
                    return look(from, stop, true, [&](std::string_view node_def) {
                      if (!fields_ascend(node_def) || wanted(node_def)) pieces[place].push_back(node_def);
                    });
                  },
                  [&](size_t place, std::string_view fields) {
                    if (!fields.empty()) std::ranges::for_each(pieces[place], add);
                  },
                  [&](const char* from, const char* stop) { return look(from, stop, false, add); }});
  return found;
}

void Graph::decode() {
  if (decoded_) return;
  FoundNodes found = find_nodes(message_, node_field_);
  records_ = SharedRows(std::move(found.nodes.records));
  op_numbers_ = SharedRows(std::move(found.nodes.ops));
  hashes_ = SharedRows(std::move(found.nodes.hashes));
  devices_ = found.nodes.devices;
  ops_ = std::move(found.ops);
  parts_ = std::move(found.parts);
  nodes_before_ = std::move(found.nodes_before);
  decoded_count_ = size();
  decoded_ = true;
  for (const uint32_t node : found.nodes.unusual) {
    ordered_ = false;
    const std::string_view node_def = bytes(NodeId{node});
    std::optional<std::string> once = without_doubles(node_def);
    if (!once) continue;
    doubled_.emplace(node, node_def);
    records_.own()[node] = arena_->keep(bytes_field(node_field_, std::move(*once))).data();
  }
  counts_.resize(ops_.size());
  for (const OpNumber op : op_numbers_) ++counts_[op];
  ranges_.push_back({0, std::move(whole_), {}});
}

std::vector<bool> Graph::numbers_of(OpKinds any) const {
  std::vector<bool> found;
  for (OpNumber number = 0; number < counts_.size(); ++number) {
    if (counts_[number] == 0 || !ops_.kinds(number).has_any(any)) continue;
    found.resize(counts_.size());
    found[number] = true;
  }
  return found;
}

bool Graph::has_any(OpKinds any) const { return !numbers_of(any).empty(); }

std::string_view Graph::found_bytes(NodeId id) const {
  const auto doubled = doubled_.empty() ? doubled_.end() : doubled_.find(index_of(id));
  return doubled == doubled_.end() ? bytes(id) : doubled->second;
}

void Graph::count(NodeId id) {
  const OpNumber op = op_number(id);
  if (op >= counts_.size()) counts_.resize(ops_.size());
  ++counts_[op];
}

void Graph::discount(NodeId id) { --counts_[op_number(id)]; }

std::map<std::string_view, uint64_t> Graph::op_counts() const {
  std::map<std::string_view, uint64_t> found;
  for (OpNumber number = 0; number < counts_.size(); ++number) {
    if (counts_[number] > 0) found.emplace(ops_.op(number), counts_[number]);
  }
  return found;
}

std::string_view Graph::device(NodeId id) const {
  if (!devices_) return {};
  if (!ordered_) return node_device(bytes(id));
  for (Fields fields(bytes(id)); fields.next() && fields->number <= node_field::kDevice;) {
    if (fields->number == node_field::kDevice) return fields->value;
  }
  return {};  // attributes, most of a node, were not looked at
}

void Graph::start_range(std::shared_ptr<const Mapping> mapping) {
  if (ranges_.back().mapping == mapping && ranges_.back().offset == 0) return;
  if (ranges_.back().begin == size()) ranges_.pop_back();
  ranges_.push_back({size(), std::move(mapping), {}});
}

void Graph::replace(NodeId id, std::string_view node_def) {
  if (!removed(id)) discount(id);
  streams_.erase(index_of(id));
  doubled_.erase(index_of(id));
  ordered_ = ordered_ && fields_ascend(node_def);
  devices_ = devices_ || !node_device(node_def).empty();
  std::string record;
  append_bytes_field(record, node_field_, node_def);
  records_.own()[index_of(id)] = arena_->keep(std::move(record)).data();
  op_numbers_.own()[index_of(id)] = ops_.number(node_op(bytes(id)));
  hashes_.own()[index_of(id)] = name_hash(name(id));
  count(id);
  edited_ = true;
}

void Graph::replace_all(const std::vector<Rewritten>& nodes, std::string records) {
  const char* next = arena_->keep(std::move(records)).data();
  const std::span<const char*> own = records_.own();
  for (const auto& [id, op, size] : nodes) {
    own[index_of(id)] = next;
    if (op_number(id) != op) {
      discount(id);
      op_numbers_.own()[index_of(id)] = op;
      count(id);
    }
    next += size;
  }
  edited_ = edited_ || !nodes.empty();
  ordered_ = ordered_ && nodes.empty();
  devices_ = devices_ || !nodes.empty();
}

void Graph::replace(NodeId id, std::string_view node_def, std::shared_ptr<const Stream> content) {
  replace(id, node_def);
  streams_.insert_or_assign(index_of(id), std::move(content));
}

void Graph::remove(NodeId id) { remove_all({&id, 1}); }

void Graph::remove_all(std::span<const NodeId> nodes) {
  if (nodes.empty()) return;
  const std::span<const char*> own = records_.own();
  for (const NodeId id : nodes) {
    if (!streams_.empty()) streams_.erase(index_of(id));
    if (!removed(id)) discount(id);
    own[index_of(id)] = nullptr;
  }
  edited_ = true;
}

void Graph::settle(NodeId id, std::string_view node_def) {
  replace(id, node_def);
  if (settled_.size() <= index_of(id)) settled_.resize(size_t{index_of(id)} + 1);
  settled_[index_of(id)] = true;
}

NodeId Graph::append(std::string_view node_def) {
  decode();
  start_range(nullptr);
  const NodeId id{size()};
  records_.push_back(nullptr);
  op_numbers_.push_back(0);
  hashes_.push_back(0);
  replace(id, node_def);
  return id;
}

void Graph::append_mapped(const std::vector<NodeId>& originals, std::shared_ptr<const Mapping> mapping) {
  decode();
  if (originals.empty()) return;
  ranges_.push_back({size(), std::move(mapping), originals});
  const size_t nodes = size() + originals.size();
  records_.reserve(nodes);
  op_numbers_.reserve(nodes);
  hashes_.reserve(nodes);
  for (const NodeId id : originals) {
    records_.push_back(records_[index_of(id)]);
    op_numbers_.push_back(op_numbers_[index_of(id)]);
    hashes_.push_back(hashes_[index_of(id)]);
    count(id);
  }
  edited_ = true;
}

uint32_t Graph::append_all(const Graph& source, std::shared_ptr<const Mapping> mapping) {
  decode();
  const uint32_t begin = size();
  ranges_.push_back({begin, std::move(mapping), {}, begin});
  records_.append(source.records_);
  op_numbers_.append(source.op_numbers_);
  hashes_.append(source.hashes_);
  devices_ = devices_ || source.devices_;
  ordered_ = ordered_ && source.ordered_;
  std::vector<OpNumber> numbers;
  for (OpNumber op = 0; op < source.ops_.size(); ++op) numbers.push_back(ops_.number(source.ops_.op(op)));
  for (OpNumber& op : op_numbers_.own().subspan(begin)) op = numbers[op];
  counts_.resize(ops_.size());
  for (size_t op = 0; op < source.counts_.size(); ++op) counts_[numbers[op]] += source.counts_[op];
  edited_ = true;
  return begin;
}

bool Graph::mapped() const {
  return whole_ != nullptr || std::any_of(ranges_.begin(), ranges_.end(),
                                          [](const Range& range) { return range.mapping != nullptr; });
}

void Graph::map_all(std::shared_ptr<const Mapping> mapping) {
  edited_ = true;
  if (!decoded_) {
    whole_ = std::move(mapping);
    return;
  }
  ranges_.assign(1, {0, std::move(mapping), {}});
}

void Graph::written_as(NodeId id, OpNumber op) {
  if (op_number(id) == op) return;
  discount(id);
  op_numbers_.own()[index_of(id)] = op;
  count(id);
}

std::string_view Graph::part(uint32_t number) const {
  std::string_view found;
  if (!decoded_) return last_bytes(message_, number);
  for (const Part& part : parts_) {
    if (part.field == number) found = record_at(part.raw.data()).node_def;
  }
  return found;
}

void Graph::add_part(const Part& part) {
  decode();
  edited_ = true;
  parts_.push_back(part);
  nodes_before_.push_back(decoded_count_);
}

void Graph::set_part(uint32_t number, std::string content) {
  std::vector<std::string> contents(1);  // not {content}, which would copy it
  contents[0] = std::move(content);
  set_parts(number, std::move(contents));
}

void Graph::set_parts(uint32_t number, std::vector<std::string> contents) {
  decode();
  edited_ = true;
  std::vector<Part> parts;
  std::vector<uint32_t> nodes_before;
  size_t at = parts_.size(), kept = 0;  // where the new ones go: the first one's place, else by number
  for (size_t i = 0; i < parts_.size(); ++i) {
    if (parts_[i].field == number) {
      at = std::min(at, i);
      continue;
    }
    if (parts_[i].field < number && at == parts_.size()) kept = parts.size() + 1;
    parts.push_back(parts_[i]);
    nodes_before.push_back(nodes_before_[i]);
  }
  const bool there = at < parts_.size();
  const size_t place = there ? at : kept;
  const uint32_t before = there ? nodes_before_[at] : number < node_field_ ? 0 : decoded_count_;
  std::vector<Part> made;
  for (std::string& content : contents)
    made.push_back({number, arena_->keep(bytes_field(number, std::move(content)))});
  parts.insert(parts.begin() + static_cast<std::ptrdiff_t>(place), made.begin(), made.end());
  nodes_before.insert(nodes_before.begin() + static_cast<std::ptrdiff_t>(place), made.size(), before);
  parts_ = std::move(parts);
  nodes_before_ = std::move(nodes_before);
}

}  // namespace gedit
