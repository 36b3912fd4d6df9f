#include "weights/cast_values.h"

namespace gedit {
namespace {

class CastValues final : public Values {
 public:
  CastValues(ValuesPtr values, const Casting& casting) : values_(std::move(values)), casting_(casting) {}
  uint64_t size() const override { return casting_.size_of(values_->size()); }
  uint64_t grain() const override {
    return values_->grain() / dtype_width(casting_.from) * dtype_width(casting_.to);
  }
  Piece read(uint64_t offset, uint64_t size) const override {
    const size_t from = dtype_width(casting_.from), to = dtype_width(casting_.to);
    const Piece piece = values_->read(offset / to * from, size / to * from);
    auto buffer = std::make_unique_for_overwrite<char[]>(size);
    cast_elements(casting_, piece.bytes().data(), buffer.get(), size / to);
    return {std::move(buffer), size};
  }
  void made_of(std::vector<const Values*>& leaves) const override {
    leaves.push_back(values_.get());
    values_->made_of(leaves);
  }
  Uncast uncast() const { return {values_, casting_}; }

 private:
  ValuesPtr values_;
  Casting casting_;
};

}  // namespace

ValuesPtr cast_values(ValuesPtr values, const Casting& casting) {
  return std::make_shared<CastValues>(std::move(values), casting);
}

Uncast uncast(ValuesPtr values) {
  if (const auto* cast = dynamic_cast<const CastValues*>(values.get())) return cast->uncast();
  return {std::move(values)};
}

}  // namespace gedit
