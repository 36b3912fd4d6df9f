// The listing (.gtxt) of nodes, functions, attribute values and tensors: one node a line, both directions.
// Everything here works on serialized messages; what surrounds a graph is in model/listing.h.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "graph/dtype.h"
#include "graph/scanner.h"

namespace gedit {

// Attribute values within attribute values, through functions and lists: deeper ones are printed as raw bytes
// and refused by the parser.
constexpr int kDeepestValue = 100;

// Tensors with more elements or more bytes of data than this are elided, or written as base64.
constexpr uint64_t kMostElements = 64;
constexpr uint64_t kMostBytes = 1024;

// --- printing; throws Malformed where the bytes are no protobuf ---

// An input as it stands in a node: `x`, `split:1`, `^init`, `mul:z:0`; quoted as a whole where it is none of
// these.
void print_input(std::string& out, std::string_view input);

// `[2,?]`, `[*]`, `["batch"=?]`. False, with nothing appended, for a TensorShapeProto that this cannot hold.
bool print_shape(std::string& out, std::string_view shape);

// `tensor(DT_FLOAT [2], 1.0, 2.0)`; unless `full`, big data is only measured: `<4000 bytes, crc32c
// 1a2b3c4d>`.
void print_tensor(std::string& out, std::string_view tensor, bool full);

// An AttrValue: `3`, `list("a")`, `DT_FLOAT`, ..., `raw "bytes"` for what has no other form.
void print_attr_value(std::string& out, std::string_view value, bool full);

// A NodeDef on one line, without the line end.
void print_node(std::string& out, std::string_view node, bool full);

// print_node() of many nodes: the text of attributes is made once for those in a row that have the same.
class NodeLister {
 public:
  explicit NodeLister(bool full) : full_(full) {}
  void print(std::string& out, std::string_view node);

 private:
  struct Known {
    std::string attrs, text;  // from the first attribute on, and as it is printed
  };
  bool full_;
  std::array<Known, 64> known_;
};

// A FunctionDef from `function` to `end`, with its line ends. False, with nothing appended, where it has no
// signature, which the form cannot tell from an empty one.
bool print_function(std::string& out, std::string_view function, bool full);

// --- parsing; throws the scanner's Error ---

// Where the data of a tensor lies: the field of TensorProto and its content. Packed numbers are one run; of
// string_val these are the records of all strings, tags included.
struct TensorData {
  uint32_t field = 0;
  std::string_view bytes;
};

// The data of a TensorProto, as it is measured where the tensor is elided. `store` keeps what had to be put
// together. Nothing where there is no data, or where it lies in several fields or in one that does not fit
// the type.
std::optional<TensorData> tensor_data(std::string_view tensor, std::string& store);

// Finds the data of elided tensors.
class TensorSource {
 public:
  TensorSource() = default;
  TensorSource(const TensorSource&) = delete;
  TensorSource& operator=(const TensorSource&) = delete;
  virtual ~TensorSource() = default;

  // The view stays valid as long as the source.
  virtual std::optional<TensorData> find(DType type, uint64_t length, uint32_t crc32c) const = 0;
};

// What the parser knows besides the text.
struct ListingContext {
  const TensorSource* elided = nullptr;  // without it, elided tensors are refused
  std::string_view node;                 // whose attributes these are, for messages
};

// Each reads one thing and stops behind it; the result is the serialized message.
std::string parse_shape(Scanner& scanner);
std::string parse_tensor(Scanner& scanner, const ListingContext& context = {});
std::string parse_attr_value(Scanner& scanner, const ListingContext& context = {});
std::string parse_node(Scanner& scanner, const ListingContext& context = {});

// What follows the word `function`, to the word `end`.
std::string parse_function(Scanner& scanner, const ListingContext& context = {});

// An input as it is stored. `what` names it in errors: "an input".
std::string parse_input(Scanner& scanner, std::string_view what);

}  // namespace gedit
