// Fuzzers of files of weights: the input as a file, which is read, and then every value of it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/file.h"
#include "fuzzed.h"
#include "weights/stream.h"
#include "weights/weights.h"

namespace gedit {

constexpr uint64_t kMostRead = uint64_t{1} << 24;  // bytes of values; a few bytes may claim many more

inline void read_weights_from(const uint8_t* data, size_t size,
                              const std::function<Weights(std::shared_ptr<const InputFile>)>& read) {
  const BytesFile file(as_text(data, size));
  accepted([&] {
    const Weights weights = read(InputFile::open(file.path()));
    std::vector<ValuesPtr> values;
    uint64_t bytes = 0;
    for (const Weight& weight : weights.weights) {
      if (weight.values == nullptr || weight.values->size() > kMostRead - bytes) continue;
      bytes += weight.values->size();
      values.push_back(weight.values);
    }
    check_all(values, "file", [](size_t) { return std::string("value"); });
  });
}

}  // namespace gedit
