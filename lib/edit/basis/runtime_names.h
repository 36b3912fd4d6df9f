// Names that two networks in one graph must not share: of loops, shared state, rendezvous
// (docs/rules.md#identities).
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/first_free.h"
#include "graph/edges.h"
#include "graph/node.h"
#include "graph/references.h"

namespace gedit {

// What a name becomes in the new scope: `OLD/x` is `NEW/x`, any other x is `NEW/x`.
class ScopeNames {
 public:
  ScopeNames(std::string_view from, bool has_from, std::string_view to);
  void append(std::string_view name, std::string& out) const;
  std::string of(std::string_view name) const {
    std::string out;
    append(name, out);
    return out;
  }
  bool renames() const { return has_from_; }

  // The names that can become `name`.
  std::vector<std::string> origins(std::string_view name) const;

 private:
  std::string from_, to_;
  bool has_from_;
};

// Names that a copy must not share with anything that is there: M of the string, made unique by `_1` where it
// is taken.
class FreshNames {
 public:
  using Made = std::map<std::string, std::string, std::less<>>;

  explicit FreshNames(const ScopeNames& scope) : scope_(scope) {}
  void take(std::string_view name) { taken_.emplace(name); }
  const std::string& of(std::string_view name);  // the same for the same name
  const Made& made() const { return made_; }

 private:
  const ScopeNames& scope_;
  std::set<std::string, std::less<>> taken_;
  FreeNames free_names_;
  Made made_;
};

// What becomes of the strings and numbers in a network's nodes that identify something at run time.
class Identities {
 public:
  explicit Identities(const ScopeNames& scope)
      : scope_(scope), frames_(scope), shared_(scope), pairs_(scope) {}

  // What the node has is in use, as it stands.
  void take(std::string_view node_def);
  // What has been made of the other network's is in use; the names of shared state where `shared` is set.
  void take_made(const Identities& other, bool shared = true);
  // What the node has gets a name of its own, the first time that it is seen.
  void want(std::string_view node_def);
  // The same for a node in a function's body, of which frames and rendezvous are the call's own
  // (common_runtime/inline_function_utils.cc makes frames unique).
  void want_in_body(std::string_view node_def);

  // What `value` has become; where it was not wanted M of it. Nothing, and the name of what is made anew at
  // every run, stay.
  void append(Role role, std::string_view value, std::string& out) const;
  int64_t instance_key(int64_t key) const;
  const FreshNames::Made& made(Role role) const { return names(role).made(); }
  bool any_changed() const;   // whether something that was wanted is not what it was
  bool any_numbered() const;  // whether some string that was wanted is not M of it, which was taken

 private:
  void want(Role role, std::string_view attr_value);
  const FreshNames& names(Role role) const {
    return role == Role::kFrame ? frames_ : role == Role::kSharedName ? shared_ : pairs_;
  }
  FreshNames& names(Role role) {
    return role == Role::kFrame ? frames_ : role == Role::kSharedName ? shared_ : pairs_;
  }

  const ScopeNames& scope_;
  FreshNames frames_, shared_, pairs_;
  std::set<int64_t> taken_keys_;
  int64_t lowest_key_ = 0;  // no key below it is free
  std::map<int64_t, int64_t> keys_;
};

// The empty string, and the name of what is made anew at every run.
inline bool stays_as_it_is(std::string_view identity) {
  return identity.empty() || identity == kAnonymousName;
}

// The nodes, in order, that have such a string or number and not one that stays, and VarHandleOps, which lack
// one where they have none: of those that are alike the first at least. Found on all cores.
std::vector<NodeId> identity_holders(const Graph& graph);
std::vector<NodeId> identity_holders(const Graph& graph, const NodeSet& among);

// Whether it is known by the node's name where it has no shared_name, as reference variables are, and tables
// that say so (core/framework/resource_mgr.h, ContainerInfo::Init). In a function's body that is the name in
// the body, whoever calls it. Queues, accumulators and barriers are each call's own.
bool shares_by_node_name(std::string_view node_def);

// A VarHandleOp whose shared_name is absent or empty.
bool is_handle_without_name(std::string_view node_def);

// A VarHandleOp is what its shared_name says, and nothing says nothing: without the attribute two are one
// variable.
bool needs_shared_name(std::string_view op, std::string_view node_def);
// The attribute as a field of a NodeDef.
void append_shared_name(std::string_view name, std::string& out);

}  // namespace gedit
