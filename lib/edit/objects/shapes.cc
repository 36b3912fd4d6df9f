#include "edit/objects/shapes.h"

#include <algorithm>

#include "base/message_edit.h"
#include "graph/references.h"

namespace gedit {
namespace {

constexpr uint32_t kTensorSpec = 33, kTypeSpec = 34, kBoundedTensorSpec = 35, kList = 51, kTuple = 52,
                   kDict = 53, kNamedTuple = 54;  // of StructuredValue
constexpr uint32_t kSpecShape = 2;                // of TensorSpecProto and BoundedTensorSpecProto
constexpr uint32_t kFunctionSpec = 2, kBareFunctionSpec = 4, kInputSignature = 5;

// Tensors of a StructuredValue, in the order in which tf.nest flattens it: use(spec) gives the spec.
class Specs {
 public:
  // With `shapes` for those of the tensors, one each.
  Specs(std::string_view value, const std::vector<Shape>& shapes) : shapes_(shapes) {
    value_ = changed(value, 0);
  }
  bool fits() const { return plain_ && at_ <= shapes_.size(); }
  size_t count() const { return at_; }
  const std::string& value() const { return value_; }
  const std::vector<Shape>& before() const { return before_; }

 private:
  std::string spec(std::string_view bytes) {
    before_.push_back(parse_shape_proto(last_bytes(bytes, kSpecShape)));
    const size_t i = at_++;
    if (i >= shapes_.size() || before_.back() == shapes_[i]) return std::string(bytes);
    return with_field(bytes, kSpecShape, shape_proto(shapes_[i]));
  }

  // Keys of a dict are flattened in their order, whatever the file's is.
  std::string dict(std::string_view bytes, int depth) {
    std::vector<MapEntry> entries;
    for (Fields fields(bytes); fields.next();) {
      if (fields->bytes(1)) entries.push_back(map_entry(fields->value));
    }
    std::vector<size_t> order(entries.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return entries[a].key < entries[b].key; });
    std::vector<std::string> values(entries.size());
    for (const size_t i : order) values[i] = changed(entries[i].value, depth);
    size_t next = 0;
    return with_each_field(bytes, 1, [&](std::string_view) {
      const size_t i = next++;
      return map_entry_bytes(entries[i].key, values[i]);
    });
  }

  std::string changed(std::string_view value, int depth) {
    plain_ = plain_ && depth < kDeepest;
    if (!plain_) return std::string(value);
    std::string out;
    for (Fields fields(value); fields.next();) {
      const uint32_t kind = fields->wire == Wire::kBytes ? fields->number : 0;
      if (kind == kTensorSpec || kind == kBoundedTensorSpec) {
        append_bytes_field(out, kind, spec(fields->value));
      } else if (kind == kList || kind == kTuple) {
        append_bytes_field(out, kind, with_each_field(fields->value, 1, [&](std::string_view item) {
                             return changed(item, depth + 1);
                           }));
      } else if (kind == kDict) {
        append_bytes_field(out, kind, dict(fields->value, depth + 1));
      } else if (kind == kNamedTuple) {
        append_bytes_field(out, kind, with_each_field(fields->value, 2, [&](std::string_view pair) {
                             return with_each_field(
                                 pair, 2, [&](std::string_view item) { return changed(item, depth + 1); });
                           }));
      } else {
        plain_ = plain_ && kind != kTypeSpec;  // which may be several tensors
        out += fields->raw;
      }
    }
    return out;
  }

  const std::vector<Shape>& shapes_;
  std::string value_;
  std::vector<Shape> before_;
  size_t at_ = 0;
  bool plain_ = true;
};

// The FunctionSpec's input_signature, where it says what the arguments' shapes were.
std::string spec_with_shapes(std::string_view function_spec, const std::vector<Shape>& before,
                             const std::vector<Shape>& now) {
  return with_each_field(function_spec, kInputSignature, [&](std::string_view value) {
    const Specs specs(value, now);
    const bool same = specs.fits() && specs.count() <= before.size() &&
                      std::equal(specs.before().begin(), specs.before().end(), before.begin());
    return same ? specs.value() : std::string(value);
  });
}

}  // namespace

std::vector<std::string> set_function_shapes(
    SavedObjects& objects, const std::map<std::string, FunctionShapes, std::less<>>& shapes) {
  std::vector<std::string> unfit;
  std::map<std::string_view, std::vector<Shape>> before;  // of those that changed
  for (SavedObjects::Function& function : objects.functions) {
    const auto wanted = shapes.find(function.name);
    if (wanted == shapes.end()) continue;
    const auto& [arguments, results] = wanted->second;
    const Specs inputs(function.input_signature, arguments), outputs(function.output_signature, results);
    if (!inputs.fits() || inputs.count() + function.bound_inputs.size() != arguments.size() ||
        !outputs.fits() || outputs.count() != results.size()) {
      unfit.push_back(function.name);
      continue;
    }
    if (function.input_signature == inputs.value() && function.output_signature == outputs.value()) continue;
    function.input_signature = inputs.value();
    function.output_signature = outputs.value();
    function.changed = true;
    before.emplace(wanted->first, inputs.before());
  }
  for (SavedObjects::Object& object : objects.objects) {
    const bool bare = object.kind == ObjectKind::kBareFunction;
    if (!bare && object.kind != ObjectKind::kFunction) continue;
    for (const std::string_view name : concrete_functions(object)) {
      const auto old = before.find(name);
      if (old == before.end()) continue;
      std::string content = with_each_field(
          object.content, bare ? kBareFunctionSpec : kFunctionSpec, [&](std::string_view spec) {
            return spec_with_shapes(spec, old->second, shapes.find(name)->second.arguments);
          });
      if (content == object.content) continue;
      object.content = std::move(content);
      object.changed = true;
      break;
    }
  }
  return unfit;
}

}  // namespace gedit
