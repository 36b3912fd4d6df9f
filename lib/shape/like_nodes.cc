#include "shape/like_nodes.h"

#include <optional>
#include <string>

#include "base/hash_index.h"
#include "base/parallel.h"
#include "graph/alike.h"
#include "graph/name_hash.h"
#include "ops/kinds.h"

namespace gedit {
namespace {

constexpr size_t kMostKinds = 16'384;  // each takes up to half a kilobyte while they are looked for
constexpr size_t kLongestText = 512;

// An attribute as every writer lays it out: the key, the value, nothing else.
std::optional<MapEntry> plain_entry(const Field& attr) {
  Fields fields(attr.value);
  if (!attr.bytes(node_field::kAttr) || !fields.next() || !fields->bytes(1)) return std::nullopt;
  const std::string_view key = fields->value;
  if (!fields.next() || !fields->bytes(2) || fields->raw.end() != attr.raw.end()) return std::nullopt;
  return MapEntry{key, fields->value};
}

// Whether an AttrValue is a list of strings alone, as `_class` is.
bool is_string_list(std::string_view value) {
  Fields fields(value);
  if (!fields.next() || !fields->bytes(attr_field::kList) || fields->raw.size() != value.size()) return false;
  for (Fields list(fields->value); list.next();) {
    if (!list->bytes(attr_field::kString)) return false;
  }
  return true;
}

// How much of a Const's value counts: up to the content, which ends it as every writer lays it out; all of it
// where it does not, and of integers, which may be sizes.
size_t counting_bytes(std::string_view value) {
  Fields fields(value);
  if (!fields.next() || !fields->bytes(attr_field::kTensor) || fields->raw.size() != value.size())
    return value.size();
  Fields tensor(fields->value);
  if (!tensor.next() || tensor->number != 1 || tensor->wire != Wire::kVarint) return value.size();
  const auto type = static_cast<DType>(tensor->varint);
  if (type == DType::kInt32 || type == DType::kInt64) return value.size();
  if (!tensor.next() || !tensor->bytes(2) || !tensor.next() || !tensor->bytes(4)) return value.size();
  const bool last = tensor->value.end() == value.end();
  return last ? value.size() - tensor->value.size() : value.size();
}

// Kinds by the text that tells them apart.
class Kinds {
 public:
  size_t size() const { return kinds_.size(); }
  const LikeKind& kind(size_t number) const { return kinds_[number]; }
  std::string_view text(size_t number) const {
    return std::string_view(texts_).substr(begins_[number], begins_[number + 1] - begins_[number]);
  }
  std::vector<LikeKind> take_kinds() { return std::move(kinds_); }

  uint32_t find(std::string_view text) const {
    return index_.find(name_hash(text), [&](uint32_t number) { return this->text(number) == text; });
  }
  uint32_t add(std::string_view text, const LikeKind& kind) {
    const auto number = static_cast<uint32_t>(size());
    index_.add(name_hash(text), number);
    texts_ += text;
    begins_.push_back(texts_.size());
    kinds_.push_back(kind);
    return number;
  }

 private:
  std::vector<LikeKind> kinds_;
  std::string texts_;  // one behind the other
  std::vector<size_t> begins_{0};
  HashIndex index_;
};

// The nodes of one piece after the other, by kinds of its own.
class Sorter {
 public:
  explicit Sorter(const Graph& graph) : graph_(graph) { seen_.emplace(graph); }

  void sort(PieceRange nodes) {
    found_.clear();
    for (uint32_t i = nodes.begin; i < nodes.end; ++i) {
      try {
        found_.push_back(number(NodeId{i}));
      } catch (const Malformed&) {  // whoever reads it tells
        found_.push_back(HashIndex::kNone);
      }
    }
  }

  // What each node of the piece is in `all`, which gets the kinds that it has not.
  void join(Kinds& all, std::vector<uint16_t>& numbers) {
    while (joined_.size() < own_.size()) {
      const size_t number = joined_.size();
      uint32_t known = all.find(own_.text(number));
      if (known == HashIndex::kNone && all.size() < kMostKinds)
        known = all.add(own_.text(number), own_.kind(number));
      joined_.push_back(known == HashIndex::kNone ? LikeNodes::kNone : static_cast<uint16_t>(known));
    }
    for (const uint32_t number : found_)
      numbers.push_back(number == HashIndex::kNone ? LikeNodes::kNone : joined_[number]);
    if (own_.size() < kMostKept) return;
    own_ = Kinds();
    joined_.clear();
    seen_.emplace(graph_);
  }

 private:
  static constexpr size_t kMostKept = 4096;  // from piece to piece

  uint32_t number(NodeId id) {
    if (graph_.removed(id)) return HashIndex::kNone;
    const std::string_view node_def = graph_.bytes(id);
    LikeKind kind{.first_outputs = !graph_.is_body() && graph_.inputs_lead()};
    bool control = false;
    const char* first = node_def.end();
    for (Fields fields(node_def); fields.next();) {
      if (fields->bytes(node_field::kAttr)) {
        first = fields->raw.data();
        break;
      }
      if (!fields->bytes(node_field::kInput)) {
        kind.placed = kind.placed || fields->number > node_field::kInput;
        continue;
      }
      if (fields->value.starts_with('^')) {
        control = true;
        continue;
      }
      ++kind.data_inputs;
      kind.first_outputs = kind.first_outputs && !control && parse_input(fields->value).port.empty();
    }
    // Mostly they are those of a node that came lately, byte by byte.
    const std::string_view raw = attrs_from(first, node_def);
    const uint32_t* seen = seen_->find(id, raw);
    if (seen != nullptr && same_head(own_.kind(*seen), kind)) return *seen;
    if (!write_text(id, {first, node_def.end()}, kind)) return HashIndex::kNone;
    uint32_t found = own_.find(text_);
    if (found == HashIndex::kNone) found = own_.add(text_, kind);
    seen_->keep(id, raw, found);
    return found;
  }

  // In what is not attributes.
  static bool same_head(const LikeKind& a, const LikeKind& b) {
    return a.data_inputs == b.data_inputs && a.first_outputs == b.first_outputs && a.placed == b.placed;
  }

  // Into text_ what tells the node's kind from others; false where that is long.
  bool write_text(NodeId id, std::string_view attrs, LikeKind& kind) {
    text_.clear();
    const auto add_number = [&](uint32_t number) {
      text_.append(reinterpret_cast<const char*>(&number), sizeof number);
    };
    add_number(graph_.op_number(id));
    add_number(kind.data_inputs << 2 | (kind.first_outputs ? 2 : 0) | (kind.placed ? 1 : 0));
    for (Fields fields(attrs); fields.next();) {
      std::string_view counts = fields->raw;
      kind.placed = kind.placed || !fields->bytes(node_field::kAttr);
      const std::optional<MapEntry> entry = plain_entry(fields.field());
      if (entry && entry->key == "_class" && is_string_list(entry->value)) {
        kind.colocated = true;
        kind.exact = false;
        counts = {"\0", 1};  // a zero, with which no field begins
      } else if (entry && entry->key == "value" && graph_.is(id, OpKind::kConst)) {
        counts.remove_suffix(entry->value.size() - counting_bytes(entry->value));
        kind.exact = kind.exact && counts.size() == fields->raw.size();
      }
      if (text_.size() + counts.size() > kLongestText) return false;
      text_ += counts;
    }
    return true;
  }

  const Graph& graph_;
  std::optional<AlikeAttrs<uint32_t>> seen_;
  Kinds own_;
  std::vector<uint16_t> joined_;  // by own number
  std::vector<uint32_t> found_;   // own numbers of the piece's nodes
  std::string text_;
};

}  // namespace

LikeNodes::LikeNodes(const Graph& graph) {
  Kinds all;
  all.add({}, {});  // kNone
  numbers_.reserve(graph.size());
  const size_t pieces = pieces_of(graph.size());
  Places<Sorter> sorters(places_for(pieces), Sorter(graph));
  in_order(
      pieces, [&](size_t piece, size_t place) { sorters[place].sort(piece_range(piece, graph.size())); },
      [&](size_t place) { sorters[place].join(all, numbers_); });
  kinds_ = all.take_kinds();
}

}  // namespace gedit
