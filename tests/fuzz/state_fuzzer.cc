// Any text as a `checkpoint` state file, and any bytes as an op list: refused in one line, or read.
#include "checkpoint/state.h"
#include "fuzzed.h"
#include "model/ops_file.h"
#include "ops/registry.h"

namespace gedit {

void fuzz_state(const uint8_t* data, size_t size) {
  const std::string_view bytes = as_text(data, size);
  looks_like_state(bytes);
  accepted([&] { require(!parse_state(bytes, "checkpoint").latest.empty()); });
  const BytesFile file(bytes);
  accepted([&] {
    const auto input = InputFile::open(file.path());
    Arena arena;
    Registry ops;
    ops.add_op_list(read_op_list(*input, arena));
    ops.each_name([](std::string_view name) { require(!name.empty()); });
  });
}

}  // namespace gedit
