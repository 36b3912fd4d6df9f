// The nodes of a GraphDef or of a function's body, viewed where they lie in the file.
//
// A node costs twenty bytes: the address of its record, the number of its op and a hash of its name, which
// all are found in one pass over the file (records.h). An edit replaces records, drops them, or attaches a
// mapping that is applied when the graph is written, so prefixing a million nodes changes nothing in memory.
#pragma once

#include <cassert>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/file.h"
#include "graph/arena.h"
#include "graph/mapping.h"
#include "graph/node.h"
#include "graph/records.h"
#include "ops/kinds.h"

namespace gedit {

// Counted while nodes pass by.
struct Tally {
  uint64_t nodes = 0, variables = 0, functions = 0, python = 0;  // python: calls of Python functions
  void add(std::string_view op) {
    ++nodes;
    variables += is_variable_op(op) ? 1 : 0;
    python += is_python_op(op) ? 1 : 0;
  }
  void add(OpKinds op, uint64_t times = 1) {
    nodes += times;
    variables += op.has(OpKind::kVariable) ? times : 0;
    python += op.has(OpKind::kPython) ? times : 0;
  }
  void add_library(std::string_view function_def_library);
  void add_nodes(const Tally& more) {
    nodes += more.nodes;
    variables += more.variables;
    python += more.python;
  }
};

class MappedWriter;
class WrittenPiece;

class Graph {
 public:
  // `message` is a GraphDef (node_field 1) or a FunctionDef (node_field 3); it and `arena` outlive the graph.
  // Nodes are found on the first use of size() or id by decode().
  Graph(std::string_view message, uint32_t node_field, std::shared_ptr<Arena> arena)
      : message_(message), node_field_(node_field), arena_(std::move(arena)) {}

  // Finds the records and their ops: to be called before anything below that takes or gives a NodeId. Accepts
  // whatever is well formed (duplicate names, missing inputs, cycles). Throws Malformed. About 20 ns on all
  // cores together, and 20 bytes a node.
  void decode();
  bool decoded() const { return decoded_; }
  uint32_t node_field() const { return node_field_; }
  bool is_body() const { return node_field_ != 1; }  // of a function: inputs read `node:output:0`

  uint32_t size() const { return static_cast<uint32_t>(records_.size()); }  // removed nodes included
  uint32_t decoded_count() const { return decoded_count_; }  // of the file; those behind were appended
  bool removed(NodeId id) const { return records_[index_of(id)] == nullptr; }
  // The NodeDef before its mapping; not of a removed node. Of two names, ops or devices of a node of the file
  // it has the last alone, as protobuf reads it.
  std::string_view bytes(NodeId id) const;
  // With both, as the file has it.
  std::string_view found_bytes(NodeId id) const;
  // Where its record lies; null of a removed node. In two graphs the bytes of a place are the same.
  const char* place(NodeId id) const { return records_[index_of(id)]; }
  // Of many that are gone over, kAhead before its turn: its record is on its way from memory then.
  void expect(NodeId id) const;
  static constexpr uint32_t kAhead = 16;
  // The same of the node whose turn is kAhead behind `id`, where all up to `end` are gone over in order.
  void expect_behind(NodeId id, uint32_t end) const;
  bool any_doubled() const { return !doubled_.empty(); }
  bool inputs_lead() const { return ordered_; }    // all nodes are fields_ascend()
  bool any_on_device() const { return devices_; }  // or was; before mappings
  std::string_view name(NodeId id) const { return node_name(bytes(id)); }
  std::string_view device(NodeId id) const;  // before its mapping; empty: none
  // name_hash() of its name, known since decode() without a look at the record.
  uint64_t hash(NodeId id) const { return hashes_[index_of(id)]; }
  // Known since decode(), without a look at the record; of a removed node what it was.
  std::string_view op(NodeId id) const { return ops_.op(op_number(id)); }
  OpKinds kinds(NodeId id) const { return ops_.kinds(op_number(id)); }
  bool is(NodeId id, OpKinds any) const { return kinds(id).has_any(any); }
  // Calls use(id) for each node of these kinds, in order; at once where there is none.
  template <typename Use>
  void each_of(OpKinds any, Use use) const;
  bool has_any(OpKinds any) const;
  // Its number among ops(): for what is known of an op once (OpsOf).
  OpNumber op_number(NodeId id) const { return op_numbers_[index_of(id)]; }
  const GraphOps& ops() const { return ops_; }

  void replace(NodeId id, std::string_view node_def);
  struct Rewritten {
    NodeId id;
    OpNumber op;    // a number of ops()
    uint32_t size;  // of its record, bytes
  };
  // As replace() for many nodes, none of which is removed or has a stream, and each of which keeps its name:
  // `records` are theirs, tag and length and NodeDef, one behind the other.
  void replace_all(const std::vector<Rewritten>& nodes, std::string records);
  // As replace(), with a node as it is to be written: the mapping of its place does not apply to it.
  void settle(NodeId id, std::string_view node_def);
  // The same for a Const whose value is written behind it: its TensorProto, in the last attribute `value`,
  // has dtype and shape but no elements; the stream is its tensor_content. To whoever looks it is all zeros.
  void replace(NodeId id, std::string_view node_def, std::shared_ptr<const Stream> content);
  bool has_streams() const { return !streams_.empty(); }
  void remove(NodeId id);
  void remove_all(std::span<const NodeId> nodes);
  NodeId append(std::string_view node_def);

  // Appends nodes that are `originals` written through `mapping`.
  void append_mapped(const std::vector<NodeId>& originals, std::shared_ptr<const Mapping> mapping);

  // Appends all nodes of another decoded graph, which lie where they are and outlive this one; the mapping
  // knows them by their ids there. Node k of `source` becomes node (result + k) here.
  uint32_t append_all(const Graph& source, std::shared_ptr<const Mapping> mapping);

  // Every node that is there now is written through `mapping`. Works before decode(), too.
  void map_all(std::shared_ptr<const Mapping> mapping);
  // The mapping makes this op of the node, a number of ops(): op() and all counts tell that from now on.
  void written_as(NodeId id, OpNumber op);

  // Other fields, in file order: library, versions, ...; in a function signature, ret, ...
  const std::vector<Part>& parts() const { return parts_; }
  // The content of the last field `number` (kind bytes), empty where absent.
  std::string_view part(uint32_t number) const;
  // Replaces all fields `number` by one with this content. A field that was not there goes to its place by
  // number.
  void set_part(uint32_t number, std::string content);
  // Another field behind those that are there; `part` outlives the graph.
  void add_part(const Part& part);
  // As set_part() for a repeated field: one field for each content.
  void set_parts(uint32_t number, std::vector<std::string> contents);

  // How often each op occurs among the nodes that are there, decoded or appended. O(ops).
  std::map<std::string_view, uint64_t> op_counts() const;

  bool edited() const { return edited_; }
  bool mapped() const;  // whether nodes are written under other names than their records have
  std::string_view message() const { return message_; }
  const std::shared_ptr<Arena>& arena() const { return arena_; }

  // The message as edited. Untouched stretches are one write each.
  void write(Sink& sink, Tally* tally = nullptr) const;
  Tally tally() const;  // at once where the graph is decoded
  // Calls use(node_def) for each node in order as it would be written, without decode(). The bytes live for
  // the call.
  template <typename Use>
  void each_node(Use use) const;

  // Calls use(node_def) for each node as bytes() gives it, its mapping not applied: enough for what no
  // mapping changes, such as its op.
  template <typename Use>
  void each_record(Use use) const;
  // Those of them of which wanted(node_def) holds, in order; asked by several threads.
  std::vector<std::string_view> records_where(const std::function<bool(std::string_view)>& wanted) const;

 private:
  struct Range {  // nodes from `begin` on, to the next range, are written through `mapping`
    uint32_t begin;
    std::shared_ptr<const Mapping> mapping;
    std::vector<NodeId> originals{};  // of the nodes from `begin` on, where they are copies
    uint32_t offset = 0;              // what to take from a node's position to have its id in its own graph
    NodeId original(uint32_t i) const {
      return originals.empty() ? NodeId{i - offset} : originals[i - begin];
    }
  };

  const Mapping* mapping_of(size_t range, uint32_t node) const {
    return node < settled_.size() && settled_[node] ? nullptr : ranges_[range].mapping.get();
  }
  // By number of an op, whether nodes of it are there and it is one of these kinds; empty: of none.
  std::vector<bool> numbers_of(OpKinds any) const;
  void count(NodeId id);
  void discount(NodeId id);
  void start_range(std::shared_ptr<const Mapping> mapping);
  size_t range_of(uint32_t node) const;
  // Calls stays(run) for records that are written as they lie there, one behind the other, and edited(node)
  // for every other node, in order.
  template <typename Stays, typename Edited>
  void each_written(uint32_t begin, uint32_t end, Stays stays, Edited edited) const;
  void write_nodes(MappedWriter& writer, uint32_t begin, uint32_t end) const;  // on all cores
  void write_piece(WrittenPiece& piece, uint32_t begin, uint32_t end) const;
  void write_some(MappedWriter& writer, uint32_t begin, uint32_t end) const;
  // The same before decode(), and for fields from `from` on to the first that begins at `stop` or behind it,
  // which is given; where `only_nodes`, to the first that is none.
  template <typename Stays, typename Edited>
  const char* each_field(const char* from, const char* stop, bool only_nodes, Tally* tally, Stays stays,
                         Edited edited) const;
  void write_undecoded(Sink& sink, Tally* tally) const;  // on all cores
  const char* write_piece(WrittenPiece& piece, const char* from, const char* stop, Tally& tally) const;
  const char* write_fields(MappedWriter& writer, const char* from, const char* stop, Tally* tally) const;

  std::string_view message_;
  uint32_t node_field_;
  std::shared_ptr<Arena> arena_;
  bool decoded_ = false;
  bool edited_ = false;
  std::shared_ptr<const Mapping> whole_;  // map_all() before decode()
  GraphOps ops_;
  // By node, as NodeRecords have them.
  SharedRows<const char*> records_;
  SharedRows<OpNumber> op_numbers_;
  SharedRows<uint64_t> hashes_;
  bool devices_ = false;
  std::vector<Range> ranges_;
  std::vector<bool> settled_;  // by node; shorter where the rest are not
  std::unordered_map<uint32_t, std::shared_ptr<const Stream>> streams_;  // by node
  std::unordered_map<uint32_t, std::string_view> doubled_;  // by node: with its two names, ops or devices
  bool ordered_ = true;
  std::vector<Part> parts_;
  std::vector<uint32_t> nodes_before_;  // for each part, how many of the decoded nodes stand before it
  uint32_t decoded_count_ = 0;
  std::vector<uint64_t> counts_;  // of the decoded nodes as they are now: how many there are of each op
};

// ---------------------------------------------------------------------------------------------------------------------

inline std::string_view Graph::bytes(NodeId id) const {
  assert(decoded_ && !removed(id));
  return record_at(records_[index_of(id)]).node_def;
}

// Always inlined, since to the compiler a function that does no more has no effect, and calls of it go.
[[gnu::always_inline]] inline void Graph::expect(NodeId id) const {
  constexpr size_t kLine = 64, kMost = 6 * kLine;  // of a record: most are not longer
  const char* const record = place(id);
  if (record == nullptr) return;
  for (size_t at = 0; at < kMost; at += kLine) __builtin_prefetch(record + at);
}

[[gnu::always_inline]] inline void Graph::expect_behind(NodeId id, uint32_t end) const {
  if (index_of(id) + kAhead < end) expect(NodeId{index_of(id) + kAhead});
}

template <typename Use>
void Graph::each_of(OpKinds any, Use use) const {
  const std::vector<bool> wanted = numbers_of(any);
  if (wanted.empty()) return;
  for (uint32_t i = 0; i < size(); ++i) {
    const OpNumber number = op_numbers_[i];
    if (number < wanted.size() && wanted[number] && !removed(NodeId{i})) use(NodeId{i});
  }
}

template <typename Use>
void Graph::each_record(Use use) const {
  if (!decoded_) {
    for (Fields fields(message_); fields.next();) {
      if (fields->bytes(node_field_)) use(once_each(fields->value, *arena_));
    }
    return;
  }
  for (const char* record : records_) {
    if (record != nullptr) use(record_at(record).node_def);
  }
}

template <typename Use>
void Graph::each_node(Use use) const {
  if (!decoded_) {
    each_record([&](std::string_view node_def) {
      if (whole_ == nullptr) return use(node_def);
      use(std::string_view(mapped_node(node_def, *whole_)));
    });
    return;
  }
  size_t range = 0;
  for (uint32_t i = 0; i < size(); ++i) {
    while (range + 1 < ranges_.size() && ranges_[range + 1].begin <= i) ++range;
    if (records_[i] == nullptr) continue;
    const std::string_view node_def = record_at(records_[i]).node_def;
    const Mapping* mapping = mapping_of(range, i);
    const NodeId original = ranges_[range].original(i);
    if (mapping == nullptr || does_nothing(mapping->prefixing(original))) {
      use(node_def);
    } else {
      use(std::string_view(mapped_node(node_def, *mapping, original)));
    }
  }
}

}  // namespace gedit
