// What the values of options and operands are, told from the words that stand for them in the help.
#pragma once

#include <string_view>

namespace gedit {

enum class Value {
  kNothing,     // nothing is known of it
  kAnyFile,     // a file of any kind
  kGraphFile,   // a file with a graph in it
  kCheckpoint,  // a checkpoint
  kSelector,
  kTensors,       // tensors, at commas
  kNamedTensors,  // KEY=TENSOR, at commas
  kTensorMap,     // TENSOR=TENSOR
  kTensorPairs,   // TENSOR or TENSOR=TENSOR, at commas
  kPair,          // OLD=NEW: of nodes, of tensors of a checkpoint
  kKeyPair,       // OLD=NEW of signatures
  kTensorShape,   // TENSOR=SHAPE, or a value
  kScope,
  kSignature,  // its key
  kKey,        // of a tensor in a checkpoint
  kSelectorAndDevice,
  kDevice,
  kTags,
  kRelease,  // of TensorFlow
};

// `type`: as CommandLine::Entry has it; `command`: its name.
Value value_of(std::string_view type, bool operand, std::string_view command);

// Whether a word of this type names a file that other words of the line are about.
bool names_file(std::string_view type);

}  // namespace gedit
