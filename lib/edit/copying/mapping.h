// How the copies are written: docs/rules.md#copy-names, docs/rules.md#copy-inputs-from-outside,
// docs/rules.md#identities.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/first_free.h"
#include "edit/around/extend.h"
#include "edit/basis/runtime_names.h"
#include "edit/copying/selection.h"
#include "graph/mapping.h"

namespace gedit {

// The mapping of the copies, and of what surrounds them. Decided in full before the first node is written.
class CopyMapping final : public Mapping {
 public:
  CopyMapping(const Facts& facts, const CopySelection& selection, const CopyRequest& request);

  const ScopeNames& scope() const { return scope_; }
  bool copied(NodeId id) const { return selection_.has(id); }

  // Another source for all copies that read the tensor: KEYs, Placeholders, StopGradients.
  // `except_references`: readers that need a reference keep what they had.
  void replace(const TensorRef& tensor, std::string source, bool except_references = false);
  // Copies that keep the device of their originals whatever is asked for; to be called once it is decided
  // what all of them read (docs/rules.md#copy-devices).
  const NodeSet& hold_devices();
  void drop_output_shapes(NodeId original) { stale_shapes_.insert(index_of(original)); }

  // The tensor as the copies read it; `needs_itself`: as those do that take no StopGradient for it.
  std::string source_of(const TensorRef& tensor, bool needs_itself = false) const;

  const std::map<std::string, std::string, std::less<>>& frames() const {
    return identities_.made(Role::kFrame);
  }

  // The node whose copy is called `name`; kNoNode where no copy is.
  NodeId original_of(std::string_view name) const;

  // Names of nodes that are added besides the copies; refuses a name that is taken.
  void add_name(const std::string& name);
  // The first of `base`, `base_1`, ... that is free, which is then taken.
  std::string free_name(std::string_view base);

  void node(std::string_view name, std::string& out) const override;
  const Prefixing* prefixing(NodeId id) const override;
  bool input(const NodeHead& reader, std::string_view input, std::string& out) const override;
  bool colocation(const NodeHead& holder, std::string_view name, std::string& out) const override;
  void identity(const NodeHead& holder, Role role, std::string_view value, std::string& out) const override;
  int64_t instance_key(int64_t key) const override { return identities_.instance_key(key); }
  const std::string* device(NodeId id) const override {
    return device_ && !held_.has(id) ? &*device_ : nullptr;
  }
  bool drops(const NodeHead& holder, std::string_view key) const override;
  void add(const NodeHead& holder, std::string_view node_def, std::string& out) const override;

  // Refuses names that are taken, by nodes or by other copies.
  void check_names() const;

 private:
  struct Replacement {
    std::string source;
    bool except_references;
  };

  NodeId find(std::string_view name) const { return facts_.names().find(name); }
  bool is_taken(std::string_view name) const {
    return find(name) != kNoNode || facts_.tensors().is_argument(name);
  }
  bool needs_reference(const NodeHead& reader, std::string_view input) const;
  void collect_identities();

  const Facts& facts_;
  const NodeSet selection_;
  ScopeNames scope_;
  std::optional<std::string> device_;
  NodeSet held_;  // copies that keep the device of their originals
  std::unordered_map<TensorRef, Replacement, TensorHash> replaced_;
  std::unordered_set<uint32_t> stale_shapes_;
  std::unordered_set<std::string> added_names_;
  FreeNames free_names_;
  Identities identities_;
  const Edges& producers_;     // asked by several threads while copies are written
  const Prefixing prefixing_;  // `NEW/`
  bool prefixes_ = false;      // that is all that becomes of what is copied with all that it reads
};

// The same mapping for messages around the graph.
class NamesOfCopies final : public CopiedNames {
 public:
  NamesOfCopies(const Facts& facts, const CopyMapping& mapping) : facts_(facts), mapping_(mapping) {}
  bool copied(std::string_view name) const override;
  bool append(NameKind kind, std::string_view name, bool outside, std::string& out) const override;

 private:
  const Facts& facts_;
  const CopyMapping& mapping_;
};

}  // namespace gedit
