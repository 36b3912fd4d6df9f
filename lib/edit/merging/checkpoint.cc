#include "edit/merging/checkpoint.h"

#include "base/error.h"
#include "base/first_free.h"
#include "base/size.h"
#include "checkpoint/edit.h"
#include "checkpoint/objects.h"
#include "checkpoint/open.h"
#include "checkpoint/values.h"
#include "edit/savers/checkpoint_keys.h"

namespace gedit {
namespace {

bool same_value(DataFiles& files, const Tensor& tensor, DataFiles& other_files, const Tensor& other) {
  return tensor.dtype == other.dtype && tensor.shape == other.shape &&
         tensor_bytes(files, tensor).view() == tensor_bytes(other_files, other).view();
}

}  // namespace

MergedCheckpoint::MergedCheckpoint(const MergeParts& parts, NameConflict on_conflict,
                                   std::vector<std::string>& warnings)
    : parts_(parts), values_(parts.size()) {
  open(warnings);
  name_keys(on_conflict);
  size_t with = 0;
  bool same = true;
  for (const Values& values : values_) {
    with += values.checkpoint != nullptr ? 1 : 0;
    same = same && values.prefix.empty() && values.keys.empty();
  }
  keeps_keys_ = with == 1 && same;
}

void MergedCheckpoint::open(std::vector<std::string>& warnings) {
  for (const auto& part : parts_) {
    Values& values = values_[part->number];
    values.path = checkpoint_of(part->model, part->file->checkpoint);
    if (values.path.empty()) {
      const uint64_t variables = part->graph().tally().variables;
      if (variables == 0) continue;
      throw refused(counted(variables, "variable") + " and no checkpoint")
          .in(part->model.path)
          .hint("--checkpoint " + (part->name.empty() ? "" : printable(part->name) + "=") + "PREFIX");
    }
    values.checkpoint = std::make_shared<Checkpoint>(open_checkpoint(values.path, &warnings));
    const std::string name = values.checkpoint->object_based() ? escaped_name(part->name) : part->name;
    values.prefix = name.empty() ? "" : name + "/";
  }
}

// Keys of two operands that would be one.
void MergedCheckpoint::name_keys(NameConflict on_conflict) {
  std::unordered_map<std::string, std::pair<const MergePart*, const Tensor*>> taken;
  for (const auto& part : parts_) {
    Values& values = values_[part->number];
    if (values.checkpoint == nullptr) continue;
    for (const Tensor& tensor : values.checkpoint->tensors) {
      if (tensor.name == kObjectGraphKey) continue;
      const std::string key = values.prefix + tensor.name;
      const auto [known, fresh] = taken.emplace(key, std::pair(part.get(), &tensor));
      if (fresh) continue;
      const auto& [other, earlier] = known->second;
      if (on_conflict == NameConflict::kError) throw already_in(*part, *other, quoted("key", key));
      if (on_conflict == NameConflict::kShare) {
        DataFiles files(*values.checkpoint), other_files(*values_[other->number].checkpoint);
        if (!same_value(files, tensor, other_files, *earlier)) {
          throw refused("has another value in " + printable(values_[other->number].path))
              .in(values.path)
              .of(quoted("key", key))
              .hint("--on-conflict uniquify");
        }
        continue;
      }
      std::string unique = first_free(key, [&](const std::string& one) { return taken.contains(one); });
      taken.emplace(unique, std::pair(part.get(), &tensor));
      values.keys.emplace(tensor.name, std::move(unique));
    }
  }
}

std::string MergedCheckpoint::key_of(const MergePart& part, const std::string& key) const {
  const Values& values = values_[part.number];
  const auto found = values.keys.find(key);
  if (key == kObjectGraphKey) return key;
  return found != values.keys.end() ? found->second : values.prefix + key;
}

const Tensor& MergedCheckpoint::value_of(const MergePart& part, const std::string& key) const {
  const Values& values = values_[part.number];
  const Tensor* tensor = values.checkpoint == nullptr ? nullptr : values.checkpoint->find(key);
  if (tensor != nullptr) return *tensor;
  throw missing_key(key, values.path).in(part.model.path).of(quoted("variable", key));
}

std::shared_ptr<Checkpoint> MergedCheckpoint::merged() const {
  std::vector<MergeInput> inputs;
  for (const auto& part : parts_) {
    const Values& values = values_[part->number];
    if (values.checkpoint == nullptr) continue;
    MergeInput input{part->name, *values.checkpoint};
    for (Tensor& tensor : input.checkpoint.tensors) {
      // The prefix is put before it again.
      if (const auto found = values.keys.find(tensor.name); found != values.keys.end())
        tensor.name = found->second.substr(values.prefix.size());
    }
    sort_tensors(input.checkpoint);
    inputs.push_back(std::move(input));
  }
  if (inputs.empty()) return nullptr;
  return std::make_shared<Checkpoint>(merge_checkpoints(std::move(inputs), OnConflict::kFirst));
}

}  // namespace gedit
