// Fuzzers of files of weights: the input as a file, which is read, and then every value of it.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "weights/stream.h"
#include "weights/weights.h"

namespace gedit {

constexpr uint64_t kMostRead = uint64_t{1} << 24;  // bytes of values; a few bytes may claim many more

inline void read_weights_from(const uint8_t* data, size_t size,
                              const std::function<Weights(std::shared_ptr<const InputFile>)>& read) {
  const int descriptor = ::memfd_create("weights", MFD_CLOEXEC);
  for (size_t at = 0; at < size;) {
    const ssize_t wrote = ::write(descriptor, data + at, size - at);
    if (wrote <= 0) break;
    at += static_cast<size_t>(wrote);
  }
  try {
    const Weights weights = read(InputFile::open("/proc/self/fd/" + std::to_string(descriptor)));
    std::vector<ValuesPtr> values;
    uint64_t bytes = 0;
    for (const Weight& weight : weights.weights) {
      if (weight.values == nullptr || weight.values->size() > kMostRead - bytes) continue;
      bytes += weight.values->size();
      values.push_back(weight.values);
    }
    check_all(values, "file", [](size_t) { return std::string("value"); });
  } catch (const Error&) {  // refusing is right; crashing is not
  }
  ::close(descriptor);
}

}  // namespace gedit
