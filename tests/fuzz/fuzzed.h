// What fuzz targets share: what has to hold aborts, refusals are one line, bytes as a file.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>

#include "base/error.h"
#include "model/model.h"
#include "ops/registry.h"

namespace gedit {

inline void require(bool holds) {
  if (!holds) std::abort();
}

// Runs what may refuse; false where it did, which it does in one line.
template <typename Work>
bool accepted(Work work) {
  try {
    work();
    return true;
  } catch (const Error& refusal) {
    require(std::string_view(refusal.what()).find('\n') == std::string_view::npos);
    return false;
  }
}

inline std::string_view as_text(const uint8_t* data, size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

inline Model model_of_bytes(Kind kind, std::string_view message) {
  return model_of("fuzz.pb", kind, Format::kBinary, message, std::make_shared<Arena>());
}

inline std::string written(const Model& model) {
  StringSink sink;
  write_message(model, sink);
  return sink.text;
}

constexpr Kind kKinds[] = {Kind::kGraphDef, Kind::kMetaGraphDef, Kind::kSavedModel};

inline Model decoded_model(Kind kind, std::string_view message) {
  Model model = model_of_bytes(kind, message);
  model.graph().decode();
  return model;
}

inline Registry builtin_registry() {
  Registry ops;
  ops.add_builtin();
  return ops;
}

// Runs a Target(kind, message) for each kind as which the bytes are read, with what is written of it.
template <typename Target>
void run_on_messages(const uint8_t* data, size_t size) {
  for (const Kind kind : kKinds) {
    accepted([&] {
      Model model = model_of_bytes(kind, as_text(data, size));
      if (model.meta_graphs.empty()) return;
      const std::string message = written(model);
      with_file(model, [&] { Target(kind, message).run(); });
    });
  }
}

// Bytes as a file that is nowhere in a folder.
class BytesFile {
 public:
  explicit BytesFile(std::string_view bytes) : descriptor_(::memfd_create("fuzz", MFD_CLOEXEC)) {
    for (size_t at = 0; at < bytes.size();) {
      const ssize_t wrote = ::write(descriptor_, bytes.data() + at, bytes.size() - at);
      if (wrote <= 0) break;
      at += static_cast<size_t>(wrote);
    }
  }
  ~BytesFile() { ::close(descriptor_); }
  BytesFile(const BytesFile&) = delete;
  BytesFile& operator=(const BytesFile&) = delete;

  std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

 private:
  int descriptor_;
};

}  // namespace gedit
