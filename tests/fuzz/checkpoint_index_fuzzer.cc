// An index of a V2 checkpoint from any bytes: read, written, read again, or refused.
#include "checkpoint/bundle.h"
#include "checkpoint/objects.h"
#include "checkpoint/verify.h"
#include "table_file.h"

namespace gedit {
void fuzz_checkpoint_index(const uint8_t* data, size_t size) {
  accepted([&] {
    const TableFile file(data, size);
    const Checkpoint checkpoint = read_index(InputFile::open(file.path()), "/dev/null/x");
    StringSink out;
    write_index(checkpoint, out);
    verify_checkpoint(checkpoint);
    for (const Tensor& tensor : checkpoint.tensors) {
      object_paths(parse_object_graph(tensor.record).objects);
    }
  });
}

}  // namespace gedit
