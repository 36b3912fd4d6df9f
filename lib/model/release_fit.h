// Which TensorFlow releases take a node as it stands, and what stands in the way of one
// (docs/rules.md#check-releases).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "graph/dtype.h"
#include "model/model.h"
#include "ops/history.h"

namespace gedit {

// The releases that may have written the MetaGraph: what it says of itself, else those of its producer; none
// where it says neither.
Releases writers_of(const MetaGraph& meta);

// Ops are from now on as the release that wrote the MetaGraph has them, of which the newest refuses a node
// and that release takes all, in functions, too. What somebody else defines stays. The graph is decoded.
void define_ops_of_writer(Registry& ops, const MetaGraph& meta);

// A node, or all that surrounds it, as a release does not take it.
struct Obstacle {
  enum class Is : uint8_t {
    kOp,          // the op is not known
    kContrib,     // known once the library of tf.contrib is loaded: no obstacle in the strict sense
    kArguments,   // an op of that name takes or gives something else
    kDeprecated,  // no longer allowed for this producer
    kAttr,        // an attribute is not known
    kValue,       // an attribute may not have this value
    kType,        // a dtype is not known
    kMissing,     // an attribute is required and not there
    kRank,        // tensors of this rank came later, with this value of an attribute
  } is;
  std::string key{};  // the attribute
  std::string message;
};

// What an attribute may be in some releases.
struct AttrLimits {
  Releases releases = 0;
  std::vector<DType> types{};  // none: all
  std::vector<std::string_view> strings{};
  bool has_minimum = false;
  int64_t minimum = 0;
};

struct AttrFit {
  std::string_view key;
  Releases known = 0, required = 0;
  std::vector<AttrLimits> limits{};  // only where they are not always the same
};

// Of some value of an attribute an op takes tensors of this rank alone, before a release.
struct RankRow {
  std::string_view op, key, value;
  size_t rank;
  std::string_view since;  // from there on, others, too
};

struct OpFit {
  Releases known = 0, contrib = 0;
  Releases arguments = 0;  // in which it takes and gives what it did for the writer
  // Of others those that give the same and tell by how many inputs they take.
  std::vector<std::pair<Releases, size_t>> by_count{};
  size_t inputs = 0;        // that it took for the writer, where by_count has others
  Releases deprecated = 0;  // for this producer
  Releases plain = 0;       // that take every node that the writer's release does, dtypes apart
  bool any_type = false;    // an attribute may be of any dtype
  std::vector<AttrFit> attrs{};
  const RankRow* ranks = nullptr;
  Releases ranked = 0;  // that take all ranks, where there is such a row

  const AttrFit* find(std::string_view key) const;
};

class ReleaseFit {
 public:
  // `producer` of the graph, which an older release's own stands in for. Ops of the functions in `library`,
  // which outlives it, are known to all.
  ReleaseFit(Releases writers, int64_t producer, std::string_view library);

  OpHistory& history() const { return history_; }
  // The release by which ops that changed what they take are understood: the writer's, else the latest.
  ReleaseNumber reference() const { return reference_; }

  // What is known of the op; of one that no release knows null.
  const OpFit* op(std::string_view op);
  bool is_function(std::string_view op) const { return functions_.contains(op); }

  // Whether the release certainly takes the node: the quick answer for most of a million.
  bool plain(std::string_view node_def, ReleaseNumber release);
  // The same of all nodes of an op, for one look at each op: of those that it takes by their dtypes it takes
  // the ones of which knows_types() is true.
  enum class Plain : uint8_t { kAll, kByTypes, kNone };
  Plain plain_of(std::string_view op, ReleaseNumber release);
  // Whether the release knows all dtypes that attributes name. Several threads may ask.
  bool knows_types(std::string_view node_def, ReleaseNumber release) const {
    return (releases_of_types(node_def) & release_bit(release)) != 0;
  }

  // Releases that take every node of its op that has no dtype newer than 1.0, and so the node; told at once.
  // `fit`: of its op, as op() gives it. Several threads may ask.
  Releases quick(const OpFit* fit, std::string_view node_def) const;
  // The releases that take the node as it is.
  Releases of(std::string_view node_def);

  // The releases in which its attributes may have the values that they have; nothing else is looked at.
  Releases of_values(std::string_view node_def);

  // What the release does not take. Empty: it takes the node.
  std::vector<Obstacle> obstacles(std::string_view node_def, ReleaseNumber release);

  // Tells the rank of a node's first input: what nobody knows all releases take. Nothing (the default): none
  // is known.
  using RankOf = std::function<std::optional<size_t>(std::string_view node_def)>;
  void set_ranks(RankOf rank_of) { rank_of_ = std::move(rank_of); }
  // Whether it is the rank that tells if the release takes the node.
  bool asks_rank(std::string_view node_def, ReleaseNumber release);

  // Attributes that importers drop from nodes of a MetaGraph: unknown to them, and at the default that its
  // stripped_op_list (serialized, which outlives this) gives. Of main graphs alone.
  void set_stripped_ops(std::string_view op_list) { stripped_.add_op_list(op_list); }
  void clear_stripped_ops() { stripped_ = Registry(); }

  // `known from 1.5 on`, `known up to 1.14`, for what these releases know and `release` does not.
  std::string since(Releases known, ReleaseNumber release) const;

 private:
  const OpFit& add(std::string_view op, const std::vector<OpEra>& eras);
  bool stripped(std::string_view op, std::string_view key, std::string_view value);
  Releases releases_of_types(std::string_view node_def) const;
  // Calls use(kind, key, releases that take it, value) for whatever some release does not take.
  template <typename Use>
  void each_limit(std::string_view node_def, Use use);
  // The releases that no limit of which `counts(kind)` is true excludes.
  template <typename Counts>
  Releases where(std::string_view node_def, Counts counts);

  OpHistory& history_;
  ReleaseNumber reference_;
  int64_t producer_;
  std::unordered_set<std::string_view> functions_;
  std::unordered_map<std::string_view, std::unique_ptr<OpFit>> ops_;
  std::string_view last_op_;  // asked for again and again
  const OpFit* last_fit_ = nullptr;
  Registry stripped_;
  RankOf rank_of_;
  Releases untyped_ = 0;  // releases that know all dtypes
};

// ReleaseFit::op() as OpsOf (graph/index.h) asks for it.
class FitOfOps {
 public:
  explicit FitOfOps(ReleaseFit& fit) : fit_(fit) {}
  const OpFit* const& of(std::string_view op);

 private:
  ReleaseFit& fit_;
  std::unordered_map<std::string_view, const OpFit*> known_;
};

// The releases that know the dtype.
Releases releases_with_type(DType type, const OpHistory& history);

}  // namespace gedit
