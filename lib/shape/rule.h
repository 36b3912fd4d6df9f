// What a rule sees of a node and what it says of it: the shapes and values of its inputs, its attributes, and
// the shapes and values of its outputs.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "graph/node.h"
#include "shape/dims.h"

namespace gedit::shaping {

// What is known of a tensor: its shape, and of small integer tensors their elements, or of a handle the shape
// of what it stands for.
struct Fact {
  ListId shape = kNoRank;
  uint32_t extra = 0;  // 0: nothing; 2 * list: the elements; 2 * list + 1: the shape behind a handle

  bool has_value() const { return extra != 0 && extra % 2 == 0; }
  bool has_handle() const { return extra % 2 == 1; }
  ListId list() const { return extra / 2; }
  friend bool operator==(const Fact&, const Fact&) = default;
};
inline Fact valued(ListId shape, ListId value) { return {shape, 2 * value}; }
inline Fact handled(ListId shape, ListId behind) { return {shape, 2 * behind + 1}; }

// Values of more elements are not carried.
constexpr size_t kMostElements = 64;

using DimList = std::vector<Dim>;
using Ranked = std::optional<std::span<const Dim>>;

class Subject {
 public:
  Subject(Dims& dims, uint64_t place) : dims_(dims), place_(place) {}
  Subject(const Subject&) = delete;
  Subject& operator=(const Subject&) = delete;

  // What the driver fills in.
  std::string_view node_def, op;
  std::vector<Fact> inputs;
  std::vector<bool> awaited;     // inputs that are not inferred yet, on the way around a loop
  std::string_view attr_fields;  // what stands in node_def from its first attribute on
  std::vector<std::pair<std::string_view, std::string_view>> attrs;
  bool of_tensorflow = false;  // whether some of them are TensorFlow's own, `_output_shapes`
  std::vector<Fact> outputs;
  std::string contradiction;
  int64_t producer = 0;  // version of the graph
  void start(uint64_t place) {
    place_ = place;
    contradiction.clear();
    own_ = false;
  }
  // Whether what was said of it holds of this node alone: it has sizes that nobody else has.
  bool own() const { return own_; }

  Dims& dims() { return dims_; }
  size_t count() const { return inputs.size(); }
  Fact fact(size_t input) const { return input < inputs.size() ? inputs[input] : Fact(); }
  ListId shape_id(size_t input) const { return fact(input).shape; }
  Ranked shape(size_t input) const { return ranked(shape_id(input)); }
  // The elements of an input of rank 0 or 1; unknown ones are kUnknown. Nothing where none is known, not even
  // how many there are.
  Ranked value(size_t input) const;
  // The one element of an input; kUnknown where it is not known.
  Dim element(size_t input) const;
  Ranked ranked(ListId id) const { return id == kNoRank ? Ranked() : Ranked(dims_.of(id)); }

  std::optional<std::string_view> attr(std::string_view key) const;
  int64_t integer(std::string_view key, int64_t otherwise = 0) const;
  bool flag(std::string_view key, bool otherwise = false) const;
  std::string_view text(std::string_view key, std::string_view otherwise = {}) const;
  std::vector<int64_t> integers(std::string_view key) const;
  DType type(std::string_view key) const;
  ListId shape_of(std::string_view tensor_shape_proto, uint64_t number = 0);  // unknown dimensions: fresh
  std::optional<ListId> shape_attr(std::string_view key);
  std::vector<ListId> shapes_attr(std::string_view key);

  void give(size_t output, ListId shape) { give(output, Fact{shape, 0}); }
  void give(size_t output, Fact fact) {
    if (output < outputs.size()) outputs[output] = fact;
  }
  void give(size_t output, std::span<const Dim> shape) { give(output, list(shape)); }
  void give(size_t output, std::initializer_list<Dim> shape) {
    give(output, std::span(shape.begin(), shape.size()));
  }
  // An integer tensor of rank 1, or with `scalar` of rank 0, and its elements; the shape alone where there
  // are too many.
  void give_value(size_t output, std::span<const Dim> elements, bool scalar = false);
  void give_element(size_t output, Dim element) { give_value(output, {&element, 1}, true); }

  // kNoRank where there are more dimensions than a tensor has.
  ListId list(std::span<const Dim> dims) { return dims.size() > kMostRank ? kNoRank : dims_.list(dims); }
  // A size that nobody knows, the same one whenever this node is asked.
  Dim fresh(uint64_t number) {
    own_ = true;
    return dims_.fresh(place_, number);
  }
  DimList fresh_list(size_t rank, uint64_t number = 0);

  void contradict(std::string message) {
    if (contradiction.empty()) contradiction = std::move(message);
  }
  // What both are, or a contradiction, of which the first is taken.
  Dim agree(Dim a, Dim b);
  // The same of shapes; a rank that is unknown agrees with all.
  ListId agree(ListId a, ListId b);
  // The input as it is where it has this rank or an unknown one, else a contradiction and nothing; a fresh
  // shape of this rank where it is unknown.
  std::optional<DimList> of_rank(size_t input, size_t rank);
  bool at_least_rank(size_t input, size_t rank);
  // What dimension `at` of two inputs agrees on; unknown where it is known of neither.
  Dim agree_along(size_t input, size_t other, size_t at = 0);
  // Contradicts where the input is a vector of another size.
  void of_size(size_t input, Dim size);
  // `axis` as a position in a rank; contradicts where it is none.
  std::optional<size_t> axis(int64_t axis, size_t rank);
  // The shape that the elements of an input say, of which -1 is unknown.
  ListId shape_from(size_t input);
  static std::string shown(Dim dim);
  std::string shown(std::span<const Dim> shape) const;

 private:
  Dims& dims_;
  uint64_t place_;
  bool own_ = false;
};

// A row of the table of rules.
using Rule = void (*)(Subject&);
// The rule of an op, null where there is none: nothing is known of what it gives then.
Rule rule_of(std::string_view op);
// Every op that has one, sorted.
std::vector<std::string_view> ops_with_rules();

}  // namespace gedit::shaping
