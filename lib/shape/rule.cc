#include "shape/rule.h"

#include <algorithm>

#include "base/packed.h"
#include "base/wire.h"

namespace gedit::shaping {

Ranked Subject::value(size_t input) const {
  const Fact known = fact(input);
  return known.has_value() ? Ranked(dims_.of(known.list())) : Ranked();
}

Dim Subject::element(size_t input) const {
  const Ranked elements = value(input);
  return elements && elements->size() == 1 ? elements->front() : kUnknown;
}

std::optional<std::string_view> Subject::attr(std::string_view key) const {
  for (auto at = attrs.rbegin(); at != attrs.rend(); ++at) {
    if (at->first == key) return at->second;
  }
  return std::nullopt;
}

int64_t Subject::integer(std::string_view key, int64_t otherwise) const {
  const auto value = attr(key);
  return value && has_field(*value, attr_field::kInt)
             ? static_cast<int64_t>(last_varint(*value, attr_field::kInt))
             : otherwise;
}

bool Subject::flag(std::string_view key, bool otherwise) const {
  const auto value = attr(key);
  return value && has_field(*value, attr_field::kBool) ? last_varint(*value, attr_field::kBool) != 0
                                                       : otherwise;
}

std::string_view Subject::text(std::string_view key, std::string_view otherwise) const {
  const auto value = attr(key);
  return value && has_field(*value, attr_field::kString) ? last_bytes(*value, attr_field::kString)
                                                         : otherwise;
}

std::vector<int64_t> Subject::integers(std::string_view key) const {
  const auto value = attr(key);
  return value ? int_list(*value) : std::vector<int64_t>();
}

DType Subject::type(std::string_view key) const {
  const auto value = attr(key);
  return value ? static_cast<DType>(last_varint(*value, attr_field::kType)) : DType::kInvalid;
}

ListId Subject::shape_of(std::string_view tensor_shape_proto, uint64_t number) {
  DimList found;
  for (Fields fields(tensor_shape_proto); fields.next();) {
    if (fields->number == 3 && fields->wire == Wire::kVarint && fields->varint != 0) return kNoRank;
    if (!fields->bytes(2)) continue;
    const auto dim = static_cast<int64_t>(last_varint(fields->value, 1));
    found.push_back(dim >= 0 ? dim : fresh(number << 32 | found.size()));
    if (found.size() > kMostRank) return kNoRank;
  }
  return list(found);
}

std::optional<ListId> Subject::shape_attr(std::string_view key) {
  const auto value = attr(key);
  if (!value || !has_field(*value, attr_field::kShape)) return std::nullopt;
  return shape_of(last_bytes(*value, attr_field::kShape));
}

std::vector<ListId> Subject::shapes_attr(std::string_view key) {
  std::vector<ListId> found;
  const auto value = attr(key);
  if (!value) return found;
  for (Fields fields(last_bytes(*value, attr_field::kList)); fields.next();) {
    if (fields->bytes(attr_field::kShape)) found.push_back(shape_of(fields->value, found.size()));
  }
  return found;
}

void Subject::give_value(size_t output, std::span<const Dim> elements, bool scalar) {
  const Dim size = static_cast<Dim>(elements.size());
  const ListId shape = scalar ? kScalar : list({&size, 1});
  const bool any = elements.empty() || std::ranges::any_of(elements, [](Dim dim) { return dim != kUnknown; });
  if (elements.size() > kMostElements || !any) return give(output, shape);
  give(output, valued(shape, dims_.list(elements)));
}

DimList Subject::fresh_list(size_t rank, uint64_t number) {
  DimList found(std::min(rank, kMostRank + 1));
  for (size_t i = 0; i < found.size(); ++i) found[i] = fresh(number << 32 | i);
  return found;
}

Dim Subject::agree(Dim a, Dim b) {
  if (is_number(a) && is_number(b)) {
    if (a != b) contradict(shown(a) + " and " + shown(b) + " do not agree");
    return a;
  }
  if (is_number(b)) return b;
  return a == kUnknown ? b : a;
}

ListId Subject::agree(ListId a, ListId b) {
  if (a == b || b == kNoRank) return a;
  if (a == kNoRank) return b;
  const auto x = dims_.of(a), y = dims_.of(b);
  DimList found(x.begin(), x.end());
  bool agreed = x.size() == y.size();
  for (size_t i = 0; agreed && i < x.size(); ++i) {
    agreed = !is_number(x[i]) || !is_number(y[i]) || x[i] == y[i];
    found[i] = agreed ? agree(x[i], y[i]) : x[i];
  }
  if (agreed) return list(found);
  contradict(shown(x) + " and " + shown(y) + " do not agree");
  return a;
}

std::optional<DimList> Subject::of_rank(size_t input, size_t rank) {
  const Ranked known = shape(input);
  if (!known) return fresh_list(rank, 1000 + input);
  if (known->size() == rank) return DimList(known->begin(), known->end());
  contradict("input " + std::to_string(input) + " is " + shown(*known) + ", not of rank " +
             std::to_string(rank));
  return std::nullopt;
}

bool Subject::at_least_rank(size_t input, size_t rank) {
  const Ranked known = shape(input);
  if (!known || known->size() >= rank) return true;
  contradict("input " + std::to_string(input) + " is " + shown(*known) + ", of rank " + std::to_string(rank) +
             " at least");
  return false;
}

Dim Subject::agree_along(size_t input, size_t other, size_t at) {
  const auto dim = [&](size_t of) {
    const Ranked known = shape(of);
    return known && at < known->size() ? (*known)[at] : kUnknown;
  };
  return agree(dim(input), dim(other));
}

void Subject::of_size(size_t input, Dim size) {
  const Ranked known = shape(input);
  if (!known || known->size() != 1 || !is_number(known->front()) || known->front() == size) return;
  contradict("input " + std::to_string(input) + " is " + shown(*known) + ", not " + shown({&size, 1}));
}

std::optional<size_t> Subject::axis(int64_t axis, size_t rank) {
  const auto size = static_cast<int64_t>(rank);
  if (axis >= -size && axis < size) return static_cast<size_t>(axis < 0 ? axis + size : axis);
  contradict("axis " + std::to_string(axis) + " of a tensor of rank " + std::to_string(rank));
  return std::nullopt;
}

ListId Subject::shape_from(size_t input) {
  const Ranked shape_of_it = shape(input);
  const Ranked elements = value(input);
  if (elements) {
    // A scalar -1 stands for an unknown rank.
    if (shape_of_it && shape_of_it->empty()) return kNoRank;
    DimList found(elements->begin(), elements->end());
    for (size_t i = 0; i < found.size(); ++i) {
      if (is_number(found[i]) && found[i] < -1) contradict("a size of " + std::to_string(found[i]));
      if (!dims_.never_negative(found[i])) found[i] = fresh(uint64_t{7} << 32 | i);
    }
    return list(found);
  }
  if (!shape_of_it || shape_of_it->size() != 1 || !is_number(shape_of_it->front())) return kNoRank;
  if (shape_of_it->front() > static_cast<Dim>(kMostRank)) return kNoRank;
  return list(fresh_list(static_cast<size_t>(shape_of_it->front()), 7));
}

std::string Subject::shown(Dim dim) { return is_number(dim) ? std::to_string(dim) : "?"; }

std::string Subject::shown(std::span<const Dim> shape) const {
  std::string text = "[";
  for (const Dim dim : shape) {
    if (text.size() > 1) text += ',';
    text += shown(dim);
  }
  text += ']';
  return text;
}

}  // namespace gedit::shaping
