// The tensors of a file, found by what a listing says of the ones that it elides.
#pragma once

#include <cstdint>
#include <list>
#include <string>
#include <string_view>
#include <unordered_map>

#include "graph/listing.h"
#include "model/kind.h"

namespace gedit {

// Every tensor in the attributes of nodes, of functions' nodes and of functions. Costs a checksum over the
// tensors that are big enough to be elided; their data stays where it is.
class TensorIndex final : public TensorSource {
 public:
  // `message` must stay as long as the index. Throws Malformed where it is no protobuf.
  void add(Kind kind, std::string_view message);

  std::optional<TensorData> find(DType type, uint64_t length, uint32_t crc32c) const override;

 private:
  void add_graph(std::string_view graph);
  void add_node(std::string_view node);
  void add_attrs(std::string_view message, uint32_t field, int depth);
  void add_value(std::string_view value, int depth);
  void add_tensor(std::string_view tensor);

  struct Found {
    DType type;
    TensorData data;
  };
  std::unordered_multimap<uint32_t, Found> by_crc32c_;
  std::list<std::string> kept_;  // data that does not lie in one piece
};

}  // namespace gedit
