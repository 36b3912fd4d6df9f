// What the verbs of `gedit checkpoint` that work on values share.
#pragma once

#include <string>
#include <vector>

#include "cli/command_line.h"
#include "weights/part.h"
#include "weights/store.h"
#include "weights/stream.h"
#include "weights/weights.h"

namespace gedit {

// A file of weights: a checkpoint, safetensors, npz, npy, a graph; its warnings are passed on. `skip` as in
// open_weights().
Weights read_weights(const std::string& path, bool quiet, bool skip = false);

// What became infinite while values were written, to be told when they are.
class Overflows {
 public:
  Overflowed noting();
  void tell(bool quiet) const;

 private:
  std::vector<std::string> texts_;
};

// store_tensors() with its progress, and told of what became infinite.
Checkpoint store_told(std::vector<NewTensor> tensors, const std::string& output, StoreOptions store,
                      bool quiet);

// By weight, whether the selector hits it. Throws Error (kRefused) where it hits nothing.
std::vector<bool> require_weights(const Weights& weights, const std::string& selector);

// Leaves those that are hit.
void keep_weights(Weights& weights, const std::vector<bool>& hits);

// `--part I/N`.
class PartOption {
 public:
  void setup(CommandLine& line);
  bool given() const { return !text_.empty(); }
  WorkPart part() const { return text_.empty() ? WorkPart{} : parse_part(text_); }

 private:
  std::string text_;
};

// `SELECTOR=N` or `SELECTOR=N,AXIS`: N slices of each tensor that is hit.
struct Partition {
  std::string selector;
  size_t count = 0, axis = 0;
};

// `--partition SELECTOR=N[,AXIS]`, any number of times.
class PartitionOption {
 public:
  void setup(CommandLine& line, const std::string& about);
  bool given() const { return !texts_.empty(); }
  std::vector<Partition> partitions() const;  // throws Error (kUsage)

 private:
  std::vector<std::string> texts_;
};

// float16, bfloat16, float32 or float64, or TensorFlow's word. Throws Error (kUsage).
DType floating_type(const std::string& option, const std::string& text);

uint64_t bytes_of(const Weights& weights);

}  // namespace gedit
