// Where the values of a graph's variables are in a checkpoint: docs/rules.md#freeze-values.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

#include "checkpoint/constant.h"
#include "edit/basis/facts.h"
#include "prove/prove.h"

namespace gedit {

class VariableValues {
 public:
  // `named`: the checkpoint as messages call it. The facts outlive it.
  VariableValues(Facts& facts, std::shared_ptr<ValueSource> source, std::string named);

  // The value of a variable. Its key is what the savers say, in the graph or in functions; else what the
  // checkpoint's object graph calls it; else its name. It has the dtype of the variable, or a narrower one
  // that savers cast. Throws Error (kRefused) where the key is not there or dtype or shape is another, kInput
  // where the checkpoint is damaged.
  ConstantValue value(NodeId variable);

  // The serialized TensorProto of a variable that a function holds: that of the main graph which shares its
  // name, else by that name. All of it is in memory.
  std::string value_of_own(std::string_view node_def);

  // The same for a comparison: nothing where the checkpoint does not have it, or has another dtype or shape.
  // Nothing is read before it is asked for.
  std::optional<KnownValue> stored(NodeId variable) const;

  // The key under which value() finds it.
  std::string key_of(NodeId variable) const;

 private:
  struct Where {
    std::string key, slice;         // slice: as a saver writes it, `4 2 0,2:-`, or empty
    DType saved = DType::kInvalid;  // as a saver has it, and casts it; kInvalid: as the variable has it
  };

  void read_savers();
  void read_computed();
  void read_objects();  // of a TF2 SavedModel
  void read_slice_infos();
  Where find(NodeId variable) const;
  std::optional<Where> numbered_part(std::string_view name) const;
  std::optional<Extents> part_of(const Where& where, const Tensor& tensor, std::string_view node_def) const;
  void check(std::string_view node_def, const Tensor& tensor, const std::optional<Extents>& part,
             DType saved) const;
  ConstantValue value_at(const Where& where, std::string_view node_def) const;

  Facts& facts_;
  const Graph& graph_;
  std::shared_ptr<ValueSource> source_;
  std::string named_;
  std::unordered_map<uint32_t, Where> known_;  // of savers and VariableDefs
  // Variables that no saver restores as they are stored.
  std::unordered_map<uint32_t, const FilledState*> computed_;
  std::unordered_map<std::string, std::string> by_full_name_;  // of the checkpoint's objects
};

}  // namespace gedit
