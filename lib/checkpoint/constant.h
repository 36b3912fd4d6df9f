// A tensor of a checkpoint as the value of a Const: short where it can be told in short, else streamed from
// its data file to the output.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/file.h"
#include "checkpoint/bundle.h"
#include "checkpoint/values.h"

namespace gedit {

// A checkpoint and its data files, which streams hold on to.
struct ValueSource {
  explicit ValueSource(Checkpoint opened) : checkpoint(std::move(opened)), files(checkpoint) {}
  ValueSource(const ValueSource&) = delete;
  ValueSource& operator=(const ValueSource&) = delete;

  const Checkpoint checkpoint;
  DataFiles files;
};

// A serialized TensorProto. Where there is a stream, it has dtype and shape alone, and the stream is its
// tensor_content; the checksum is compared while it is written.
struct ConstantValue {
  std::string tensor_proto;
  std::shared_ptr<const Stream> content;
};

// The tensor, or the part of it that the extents say, which lie within its shape. Elements that are all equal
// are stored once (tensorflow/core/framework/tensor.cc reads it so); strings one by one. To know that they
// are equal the bytes are read up to the first that differs. Throws Error (kInput).
ConstantValue constant_value(const std::shared_ptr<ValueSource>& source, const Tensor& tensor,
                             const std::optional<Extents>& part = std::nullopt);

}  // namespace gedit
