// How the names in a node are written: an edit is a mapping that is applied while the node goes to the
// output.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "graph/node.h"
#include "graph/references.h"

namespace gedit {

// A prefix before a node's name, its inputs and its colocations.
struct Prefixing {
  std::string prefix;
  // Before every string that identifies something at run time, too (references.h); a colocation with a node
  // that is neither the node itself nor one that it reads is left to the mapping. Else only before a frame's
  // name, and before a shared_name that is the node's own.
  bool identities = false;
  bool shapes = false;  // nodes with `_output_shapes` are left to the mapping

  bool nothing() const { return prefix.empty() && !identities && !shapes; }
};

inline bool does_nothing(const Prefixing* prefixing) { return prefixing != nullptr && prefixing->nothing(); }

// A NodeDef, in parts that lie somewhere.
using NodeParts = std::array<std::string_view, 4>;
inline size_t size_of(const NodeParts& parts) {
  size_t size = 0;
  for (const std::string_view part : parts) size += part.size();
  return size;
}

// What becomes of each name that a NodeDef can hold (the table in graph/references.h). Every function appends
// to `out`, so that nothing is allocated per name; the ones that return false leave their entry out. All
// names come in as they stand in the file. The defaults follow node().
class Mapping {
 public:
  Mapping() = default;
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  virtual ~Mapping() = default;

  virtual void node(std::string_view name, std::string& out) const = 0;

  // Where all that the mapping does to the node is to put a prefix before the names in it; null otherwise.
  // Lets the writer take a shorter way, on several cores: this and leaves() are asked by several threads.
  virtual const Prefixing* prefixing(NodeId /*id*/) const { return nullptr; }

  // Whether the mapping writes the node as it stands, where that is told sooner than done.
  virtual bool leaves(std::string_view /*node_def*/) const { return false; }

  // What is written in place of the node, one part behind the other, where the mapping decides on the node as
  // a whole; all empty where the functions below do. Asked by several threads, too.
  virtual NodeParts rewritten(NodeId /*id*/, std::string_view /*node_def*/) const { return {}; }

  // An entry of NodeDef.input of the node `reader`.
  virtual bool input(const NodeHead& reader, std::string_view input, std::string& out) const;

  // An entry `loc:@name` of `_class`; `name` comes without the prefix. The attribute goes with its last
  // entry.
  virtual bool colocation(const NodeHead& holder, std::string_view name, std::string& out) const;

  // A string attribute that identifies something at run time: a frame, shared state, a rendezvous.
  virtual void identity(const NodeHead& holder, Role role, std::string_view value, std::string& out) const;

  // collective instance_key
  virtual int64_t instance_key(int64_t key) const { return key; }

  virtual void function(std::string_view name, std::string& out) const { out += name; }
  virtual bool maps_functions() const { return false; }

  // A device to stand in place of the node's own.
  virtual const std::string* device(NodeId /*id*/) const { return nullptr; }

  // Attributes to leave out.
  virtual bool drops(const NodeHead& /*holder*/, std::string_view /*key*/) const { return false; }

  // An attribute that the mapped node has although the original lacks it, as a serialized NodeDef.attr field:
  // a VarHandleOp whose shared_name is absent.
  virtual void add(const NodeHead& /*holder*/, std::string_view /*node_def*/, std::string& /*out*/) const {}

 protected:
  // An entry of NodeDef.input, its node as node() writes it.
  void put_input(const Input& input, std::string& out) const;
};

// A message under construction: small parts gathered, long ones (tensors) only viewed.
class Pieces {
 public:
  void clear() {
    small_.clear();
    views_.clear();
    viewed_ = 0;
  }
  // Bytes of at least kView are viewed and must stay valid until write().
  void append(std::string_view bytes) {
    if (bytes.size() < kView) {
      small_ += bytes;
    } else {
      views_.push_back({small_.size(), bytes});
      viewed_ += bytes.size();
    }
  }
  std::string& small() { return small_; }  // appending here is appending to the message
  uint64_t size() const { return small_.size() + viewed_; }
  void write(Sink& sink) const;

 private:
  static constexpr size_t kView = 4096;
  struct View {
    size_t at;
    std::string_view bytes;
  };
  std::string small_;
  std::vector<View> views_;
  uint64_t viewed_ = 0;
};

// Appends `node_def` as the mapping writes it: fields are replaced where they stand, everything between them
// is verbatim.
// `id` is the node's, for mappings that know the graph.
void map_node(std::string_view node_def, const Mapping& mapping, Pieces& out, NodeId id = kNoNode);

// The same into a string, for an edit upon an edit.
std::string mapped_node(std::string_view node_def, const Mapping& mapping, NodeId id = kNoNode);

// `attr_value` with the names of functions in it mapped, at any depth up to kDeepest.
std::string map_functions(std::string_view attr_value, const Mapping& mapping);

}  // namespace gedit
