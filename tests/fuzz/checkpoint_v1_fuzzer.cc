// A checkpoint of saved tensor slices (V1) from any bytes: every value is read, or refused.
#include "checkpoint/v1.h"
#include "checkpoint/values.h"
#include "checkpoint/verify.h"
#include "table_file.h"

namespace gedit {
void fuzz_checkpoint_v1(const uint8_t* data, size_t size) {
  accepted([&] {
    const TableFile file(data, size);
    const Checkpoint checkpoint = read_v1({file.path()}, "x");
    verify_checkpoint(checkpoint);
    DataFiles files(checkpoint);
    for (const Tensor& tensor : checkpoint.tensors) tensor_bytes(files, tensor);
  });
}

}  // namespace gedit
