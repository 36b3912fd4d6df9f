#include "graph/graph.h"

#include <algorithm>
#include <cassert>

#include "base/parallel.h"

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
    tally = tally_;
    tally.add_library(part(kLibrary));
    return tally;
  }
  for (Fields fields(message_); fields.next();) {
    if (fields->bytes(node_field_)) tally.add(node_op(fields->value));
    if (fields->bytes(kLibrary)) tally.add_library(fields->value);
  }
  return tally;
}

void Graph::decode() {
  if (decoded_) return;
  try {
    find_records();
  } catch (const Malformed&) {
    number_ops();  // what is wrong with a node stands in front of it
    throw;
  }
  number_ops();
  decoded_count_ = size();
  decoded_ = true;
  ranges_.push_back({0, std::move(whole_), {}});
}

void Graph::find_records() {
  // Space for as many nodes as there would be if all were like the first ones; untouched pages of it cost
  // nothing.
  constexpr size_t kSample = 256;
  for (Fields fields(message_); fields.next();) {
    if (fields->bytes(node_field_)) {
      if (records_.size() == kSample) {
        const auto seen = static_cast<size_t>(fields->raw.data() - message_.data());
        records_.reserve(message_.size() / std::max<size_t>(seen / kSample, 1) * 5 / 4);
      }
      records_.push_back(fields->raw.data());
    } else {
      parts_.push_back(part_of(fields.field()));
      nodes_before_.push_back(static_cast<uint32_t>(records_.size()));
    }
  }
}

void Graph::number_ops() {
  node_ops_.resize(records_.size());
  constexpr size_t kOps = 16 * kPerPiece;
  const size_t pieces = pieces_of(size(), kOps);
  const auto number = [&](size_t piece, GraphOps& table) {
    const size_t end = std::min<size_t>((piece + 1) * kOps, size());
    for (size_t i = piece * kOps; i < end; ++i)
      node_ops_[i] = table.number(node_op(record_at(records_[i]).node_def));
  };
  if (pieces <= 1) {
    for (size_t piece = 0; piece < pieces; ++piece) number(piece, ops_);
  } else {
    // Each with numbers of its own, which then become those of the whole, in the order of the file.
    std::vector<GraphOps> tables(pieces);
    in_parallel(pieces, [&](size_t piece) { number(piece, tables[piece]); });
    std::vector<std::vector<uint16_t>> whole(pieces);
    for (size_t piece = 0; piece < pieces; ++piece) {
      for (size_t op = 0; op < tables[piece].size(); ++op)
        whole[piece].push_back(ops_.number(tables[piece].op(static_cast<uint16_t>(op))));
    }
    in_parallel(pieces, [&](size_t piece) {
      const size_t end = std::min<size_t>((piece + 1) * kOps, size());
      for (size_t i = piece * kOps; i < end; ++i) {
        if (node_ops_[i] != GraphOps::kOther) node_ops_[i] = whole[piece][node_ops_[i]];
      }
    });
  }
  std::vector<uint64_t> counts(ops_.size());
  for (uint32_t i = 0; i < size(); ++i) {
    const uint16_t op = node_ops_[i];
    if (op != GraphOps::kOther) {
      ++counts[op];
    } else {
      tally_.add(node_op(record_at(records_[i]).node_def));
    }
  }
  for (size_t op = 0; op < counts.size(); ++op) tally_.add(ops_.kinds(static_cast<uint16_t>(op)), counts[op]);
}

std::map<std::string_view, uint64_t> Graph::op_counts() const {
  std::vector<uint64_t> counts(ops_.size());
  std::map<std::string_view, uint64_t> found;
  for (uint32_t i = 0; i < size(); ++i) {
    if (records_[i] == nullptr) continue;
    if (node_ops_[i] != GraphOps::kOther) {
      ++counts[node_ops_[i]];
    } else {
      ++found[op(NodeId{i})];
    }
  }
  for (size_t number = 0; number < counts.size(); ++number) {
    if (counts[number] > 0) found.emplace(ops_.op(static_cast<uint16_t>(number)), counts[number]);
  }
  return found;
}

void Graph::start_range(std::shared_ptr<const Mapping> mapping) {
  if (ranges_.back().mapping == mapping && ranges_.back().offset == 0) return;
  if (ranges_.back().begin == size()) ranges_.pop_back();
  ranges_.push_back({size(), std::move(mapping), {}});
}

void Graph::replace(NodeId id, std::string node_def) {
  if (!removed(id)) tally_.remove(kinds(id));
  streams_.erase(index_of(id));
  std::string record;
  append_bytes_field(record, node_field_, node_def);
  records_[index_of(id)] = arena_->keep(std::move(record)).data();
  node_ops_[index_of(id)] = ops_.number(node_op(bytes(id)));
  tally_.add(kinds(id));
  edited_ = true;
}

void Graph::replace(NodeId id, std::string node_def, std::shared_ptr<const Stream> content) {
  replace(id, std::move(node_def));
  streams_.insert_or_assign(index_of(id), std::move(content));
}

void Graph::remove(NodeId id) {
  streams_.erase(index_of(id));
  if (!removed(id)) tally_.remove(kinds(id));
  records_[index_of(id)] = nullptr;
  edited_ = true;
}

void Graph::settle(NodeId id, std::string node_def) {
  replace(id, std::move(node_def));
  if (settled_.size() <= index_of(id)) settled_.resize(size_t{index_of(id)} + 1);
  settled_[index_of(id)] = true;
}

NodeId Graph::append(std::string node_def) {
  decode();
  start_range(nullptr);
  const NodeId id{size()};
  records_.push_back(nullptr);
  node_ops_.push_back(GraphOps::kOther);
  replace(id, std::move(node_def));
  return id;
}

void Graph::append_mapped(const std::vector<NodeId>& originals, std::shared_ptr<const Mapping> mapping) {
  decode();
  if (originals.empty()) return;
  ranges_.push_back({size(), std::move(mapping), originals});
  records_.reserve(records_.size() + originals.size());
  for (const NodeId id : originals) {
    records_.push_back(records_[index_of(id)]);
    node_ops_.push_back(node_ops_[index_of(id)]);
    tally_.add(kinds(id));
  }
  edited_ = true;
}

uint32_t Graph::append_all(const Graph& source, std::shared_ptr<const Mapping> mapping) {
  decode();
  const uint32_t begin = size();
  ranges_.push_back({begin, std::move(mapping), {}, begin});
  records_.insert(records_.end(), source.records_.begin(), source.records_.end());
  std::vector<uint16_t> numbers;
  for (size_t op = 0; op < source.ops_.size(); ++op)
    numbers.push_back(ops_.number(source.ops_.op(static_cast<uint16_t>(op))));
  node_ops_.reserve(records_.size());
  for (const uint16_t op : source.node_ops_) node_ops_.push_back(op == GraphOps::kOther ? op : numbers[op]);
  tally_.nodes += source.tally_.nodes;
  tally_.variables += source.tally_.variables;
  tally_.python += source.tally_.python;
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
