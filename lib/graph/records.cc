// What one look at each node tells, kept in rows by node.
#include "graph/records.h"

#include <algorithm>

#include "base/parallel.h"
#include "graph/name_hash.h"
#include "graph/node.h"
#include "graph/piece_walk.h"

namespace gedit {

namespace {

// Where the fields `number` end that stand from `at` on, one behind the other, each under 16 KiB long; behind
// the end where one is not whole.
size_t behind(std::string_view node_def, size_t at, uint32_t number) {
  while (at + 2 < node_def.size() && node_def[at] == static_cast<char>(number << 3 | 2)) {
    size_t length = static_cast<unsigned char>(node_def[at + 1]);
    at += 2;
    if (length >= 0x80) {
      const auto second = static_cast<unsigned char>(node_def[at++]);
      if (second >= 0x80) return node_def.size() + 1;
      length = (length & 0x7f) | size_t{second} << 7;
    }
    at += length;
  }
  return at;
}

// Whether behind name and op nothing stands but inputs, a device and attributes: what is quickly seen of
// nearly every node for which fields_ascend(). Gives the device.
bool usual_from(std::string_view node_def, size_t at, std::string_view& device) {
  at = behind(node_def, at, node_field::kInput);
  device = short_field(node_def, at, node_field::kDevice);
  if (device.data() != nullptr) at += 2 + device.size();
  return behind(node_def, at, node_field::kAttr) == node_def.size();
}

}  // namespace

void NodeRecords::reserve(size_t nodes) {
  records.reserve(nodes);
  ops.reserve(nodes);
  hashes.reserve(nodes);
}

void NodeRecords::clear() {
  records.clear();
  ops.clear();
  hashes.clear();
  unusual.clear();
  devices = false;
}

void NodeRecords::add(const char* record, std::string_view node_def, GraphOps& table, RecentOps& recent) {
  NodeHead head;
  head.name = short_field(node_def, 0, node_field::kName);
  head.op = short_field(node_def, 2 + head.name.size(), node_field::kOp);
  const bool usual = head.name.data() != nullptr && head.op.data() != nullptr &&
                     usual_from(node_def, 4 + head.name.size() + head.op.size(), head.device);
  if (!usual) {
    head = node_head(node_def);
    if (!fields_ascend(node_def)) unusual.push_back(static_cast<uint32_t>(size()));
  }
  records.push_back(record);
  ops.push_back(recent.number(table, head.op));
  hashes.push_back(name_hash(head.name));
  devices = devices || !head.device.empty();
}

void NodeRecords::append(const NodeRecords& more) {
  for (const uint32_t node : more.unusual) unusual.push_back(static_cast<uint32_t>(size()) + node);
  records.insert(records.end(), more.records.begin(), more.records.end());
  ops.insert(ops.end(), more.ops.begin(), more.ops.end());
  hashes.insert(hashes.end(), more.hashes.begin(), more.hashes.end());
  devices = devices || more.devices;
}

namespace {

constexpr size_t kMostKept = 4096;  // ops, from piece to piece

class NodeWalk {
 public:
  NodeWalk(std::string_view message, uint32_t node_field) : message_(message), node_field_(node_field) {}

  FoundNodes run() {
    reserve();
    if (thread_count() == 1) {  // what looks no further than a piece is quicker alone
      walk(message_.data(), end(), found_.nodes, found_.ops, recent_, &found_);
      return std::move(found_);
    }
    Places<Piece> pieces(walk_places(message_));
    walk_in_pieces(
        message_, node_field_,
        {[&](size_t place, const char* from, const char* stop) { return make(pieces[place], from, stop); },
         [&](size_t place, std::string_view fields) { use(pieces[place], !fields.empty()); },
         [&](const char* from, const char* stop) {
           return walk(from, stop, found_.nodes, found_.ops, recent_, &found_);
         }});
    return std::move(found_);
  }

 private:
  struct Piece {
    NodeRecords nodes;
    GraphOps ops;  // of those before, too
    RecentOps recent;
  };

  const char* end() const { return message_.data() + message_.size(); }

  // Space for as many nodes as there would be if all were like the first ones; untouched pages of it cost
  // nothing.
  void reserve() {
    constexpr size_t kSample = 256;
    size_t nodes = 0;
    std::string_view seen;
    try {
      for (Fields fields(message_); nodes < kSample && fields.next(); ++nodes)
        seen = message_.substr(0, static_cast<size_t>(fields->raw.end() - message_.data()));
    } catch (const Malformed&) {
      return;  // is told when it is walked over
    }
    if (nodes == kSample) found_.nodes.reserve(message_.size() / (seen.size() / kSample + 1) * 5 / 4);
  }

  // Walks over the fields from `at` to the first that begins at `stop` or behind it, and gives where that is.
  // Without `parts` only nodes may come.
  const char* walk(const char* at, const char* stop, NodeRecords& nodes, GraphOps& table, RecentOps& recent,
                   FoundNodes* parts) {
    return walk_fields(at, stop, end(), [&](const Field& field) {
      if (field.bytes(node_field_)) {
        nodes.add(field.raw.data(), field.value, table, recent);
      } else if (parts != nullptr) {
        parts->parts.push_back(part_of(field));
        parts->nodes_before.push_back(static_cast<uint32_t>(nodes.size()));
      } else {
        return false;
      }
      return true;
    });
  }

  const char* make(Piece& piece, const char* from, const char* stop) {
    piece.nodes.clear();
    if (piece.ops.size() > kMostKept) piece.ops = GraphOps();
    return walk(from, stop, piece.nodes, piece.ops, piece.recent, nullptr);
  }

  void use(Piece& piece, bool right) {
    if (!right) {
      piece.ops = GraphOps();  // of which there may be none in the graph
      return;
    }
    std::vector<OpNumber> numbers;
    for (OpNumber op = 0; op < piece.ops.size(); ++op) numbers.push_back(found_.ops.number(piece.ops.op(op)));
    const size_t first = found_.nodes.size();
    found_.nodes.append(piece.nodes);
    for (size_t i = first; i < found_.nodes.size(); ++i) found_.nodes.ops[i] = numbers[found_.nodes.ops[i]];
  }

  std::string_view message_;
  uint32_t node_field_;
  FoundNodes found_;
  RecentOps recent_;
};

}  // namespace

FoundNodes find_nodes(std::string_view message, uint32_t node_field) {
  return NodeWalk(message, node_field).run();
}

}  // namespace gedit
