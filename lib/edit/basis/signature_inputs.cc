#include "edit/basis/signature_inputs.h"

#include "base/map_entry.h"
#include "graph/node.h"
#include "model/references.h"

namespace gedit {
namespace {

class FedElsewhere final : public NameMap {
 public:
  explicit FedElsewhere(const std::unordered_map<std::string, std::string>& values) : values_(values) {}
  bool map(NameKind /*kind*/, std::string_view name, std::string& out) const override {
    const auto found = values_.find(canonical_input(name));
    if (found == values_.end()) {
      out += name;
      return true;
    }
    out += found->second;
    if (parse_input(found->second).port.empty()) out += ":0";  // a tensor is written with its number
    return true;
  }

 private:
  const std::unordered_map<std::string, std::string>& values_;
};

}  // namespace

void map_signature_inputs(MetaGraph& meta, const std::unordered_map<std::string, std::string>& tensors) {
  if (tensors.empty()) return;
  const FedElsewhere map(tensors);
  std::vector<std::string> entries;
  for (const std::string_view bytes : meta.parts_of(meta_field::kSignature)) {
    const MapEntry entry = map_entry(bytes);
    entries.push_back(map_entry_bytes(entry.key, map_names(entry.value, kSignatureInputs, map)));
  }
  meta.set_parts(meta_field::kSignature, std::move(entries));
}

}  // namespace gedit
