#include "edit/objects/structured_value.h"

#include <algorithm>

#include "base/map_entry.h"
#include "base/message_edit.h"
#include "edit/functions/function_def.h"

namespace gedit {
namespace {

namespace structured {  // StructuredValue (tensorflow/core/protobuf/struct.proto)
constexpr uint32_t kNone = 1, kString = 13, kTensorSpec = 33, kList = 51, kTuple = 52, kDict = 53,
                   kNamedTuple = 54;

std::string value(uint32_t kind, std::string_view content) {
  std::string bytes;
  append_bytes_field(bytes, kind, content);
  return bytes;
}

std::string none() { return value(kNone, ""); }

std::string sequence(uint32_t kind, const std::vector<std::string>& values) {
  std::string list;
  for (const std::string& one : values) append_bytes_field(list, 1, one);
  return value(kind, list);
}

}  // namespace structured

}  // namespace

bool is_identifier(std::string_view name) {
  if (name.empty() || (name[0] >= '0' && name[0] <= '9')) return false;
  return std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
}

std::string renamed_key(const NameTable& names, std::string_view name) {
  const auto found = names.find(name);
  return found == names.end() ? std::string(name) : found->second;
}

std::string tensor_dict(const std::vector<SignatureTensor>& tensors) {
  std::string dict;
  for (const SignatureTensor& tensor : tensors) {
    std::string spec;
    append_bytes_field(spec, 1, tensor.key);
    append_bytes_field(spec, 2, shape_proto(tensor.shape));
    append_varint_field(spec, 3, static_cast<uint64_t>(tensor.type));
    append_bytes_field(dict, 1,
                       map_entry_bytes(tensor.key, structured::value(structured::kTensorSpec, spec)));
  }
  return structured::value(structured::kDict, dict);
}

std::string tensor_arguments(const std::vector<SignatureTensor>& tensors) {
  return structured::sequence(structured::kTuple,
                              {structured::sequence(structured::kTuple, {}), tensor_dict(tensors)});
}

std::string function_spec(const std::vector<SignatureTensor>& inputs) {
  std::vector<std::string> keywords;
  for (const SignatureTensor& input : inputs)
    keywords.push_back(structured::value(structured::kString, input.key));
  const std::string no_list = structured::sequence(structured::kList, {});
  std::string arguments;
  append_bytes_field(arguments, 1, "FullArgSpec");
  const auto add = [&](std::string_view key, const std::string& value) {
    append_bytes_field(arguments, 2, map_entry_bytes(key, value));
  };
  add("args", no_list);
  add("varargs", structured::none());
  add("varkw", structured::none());
  add("defaults", structured::none());
  add("kwonlyargs", structured::sequence(structured::kList, keywords));
  add("kwonlydefaults", structured::none());
  add("annotations", structured::value(structured::kDict, ""));
  std::string spec;
  append_bytes_field(spec, 1, structured::value(structured::kNamedTuple, arguments));
  append_bytes_field(spec, 5, structured::none());  // input_signature
  return spec;
}

std::string rename_dict(std::string_view value, const NameTable& names) {
  return with_each_field(value, structured::kDict, [&](std::string_view dict) {
    return with_each_field(dict, 1, [&](std::string_view bytes) {
      const MapEntry entry = map_entry(bytes);
      const auto found = names.find(entry.key);
      if (found == names.end()) return std::string(bytes);
      const std::string content =
          with_each_field(entry.value, structured::kTensorSpec, [&](std::string_view spec) {
            return with_each_field(spec, 1, [&](std::string_view) { return found->second; });
          });
      return map_entry_bytes(found->second, content);
    });
  });
}

std::string rename_arguments(std::string_view value, const NameTable& names) {
  return with_each_field(value, structured::kTuple, [&](std::string_view tuple) {
    return with_each_field(tuple, 1, [&](std::string_view part) { return rename_dict(part, names); });
  });
}

std::string rename_spec(std::string_view spec, const NameTable& names) {
  const auto in_list = [&](std::string_view value) {
    return with_each_field(value, structured::kList, [&](std::string_view list) {
      return with_each_field(list, 1, [&](std::string_view item) {
        return with_each_field(item, structured::kString,
                               [&](std::string_view name) { return renamed_key(names, name); });
      });
    });
  };
  return with_each_field(spec, 1, [&](std::string_view arguments) {
    return with_each_field(arguments, structured::kNamedTuple, [&](std::string_view tuple) {
      return with_each_field(tuple, 2, [&](std::string_view pair) {
        const std::string_view key = last_bytes(pair, 1);
        return with_each_field(pair, 2, [&](std::string_view value) {
          if (key == "args" || key == "kwonlyargs") return in_list(value);
          if (key == "kwonlydefaults" || key == "annotations") return rename_dict(value, names);
          return std::string(value);
        });
      });
    });
  });
}

std::optional<std::vector<std::string>> tensor_keys(std::string_view value) {
  std::vector<std::string> keys;
  bool plain = true;
  const auto read = [&](std::string_view dict) {
    for (Fields entries(dict); entries.next();) {
      if (!entries->bytes(1)) continue;
      const MapEntry entry = map_entry(entries->value);
      keys.emplace_back(entry.key);
      plain = plain && has_field(entry.value, structured::kTensorSpec);
    }
  };
  for (Fields fields(value); fields.next();) {
    if (fields->bytes(structured::kDict)) read(fields->value);
    if (!fields->bytes(structured::kTuple)) continue;
    for (Fields tuple(fields->value); tuple.next();) {
      if (tuple->bytes(1)) read(last_bytes(tuple->value, structured::kDict));
    }
  }
  if (!plain) return std::nullopt;
  std::sort(keys.begin(), keys.end());
  return keys;
}

}  // namespace gedit
