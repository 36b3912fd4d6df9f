// What text and JSON share: taking a graph's message apart in small pieces, and putting one together from
// them. Internal to lib/model; only text.cc and json.cc include it.
//
// GraphDef, FunctionDefLibrary, MetaGraphDef and SavedModel are *opened*: their fields come one after the
// other, a few nodes or functions at a time, so that memory is that of one piece. Everything below them is
// parsed as the small message that it is.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "base/messages.h"
#include "model/kind.h"

namespace google::protobuf {
class Arena;
class Descriptor;
class FieldDescriptor;
class Message;
}  // namespace google::protobuf

namespace gedit {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

// A piece of wire or text is cut off after this many bytes, unless a single node or function is larger.
constexpr size_t kPieceBytes = size_t{64} << 10;

const Descriptor& descriptor_of(Kind kind);
bool is_opened(const Descriptor& type);

// Whether the field holds messages that are opened in turn (graph_def, library, meta_graphs).
bool leads_to_opened(const FieldDescriptor& field);

// A form other than binary: what it cannot hold is refused.
struct Form {
  std::string_view word;     // "text" or "JSON", for messages
  bool expands_any = false;  // shows what is inside a google.protobuf.Any
  bool reading = false;      // bytes made from that form, not to be turned into it
};

// Examines the wire bytes of a message before protobuf does, since protobuf logs to stderr where it should
// refuse.
//   Checker checker({.word = "text"}, /*drop_unknown=*/false);
//   bool dirty = checker.check(message_type("tensorflow.NodeDef"), bytes);
class Checker {
 public:
  Checker(Form form, bool drop_unknown) : form_(form), drop_unknown_(drop_unknown) {}

  // Whether there are unknown fields in `bytes`, a message of type `type`. Throws Error (kRefused) for an
  // unknown field that is not to be dropped and for a string that is not UTF-8, named by node or function;
  // Error (kInput) for nesting past 100; Malformed.
  bool check(const Descriptor& type, std::string_view bytes);

  // An unknown field of an opened message itself; throws unless it is to be dropped.
  void unknown(const Descriptor& type, uint32_t number) const;

 private:
  struct Level {
    const FieldDescriptor* field;
    std::string_view bytes;
  };

  bool walk(const Descriptor& type, std::string_view bytes);
  bool look_into_any(std::string_view any);
  std::string place(std::string_view last, std::string& subject) const;

  Form form_;
  bool drop_unknown_;
  std::vector<Level> levels_;
};

// Receives an opened message. Fields come in the order of their numbers, whatever the order in the file;
// several occurrences of a singular message come merged, as protobuf reads them.
class Receiver {
 public:
  Receiver() = default;
  Receiver(const Receiver&) = delete;
  Receiver& operator=(const Receiver&) = delete;
  virtual ~Receiver() = default;

  // One message of an opened field; what follows up to end() is inside.
  virtual void begin(const FieldDescriptor& field) = 0;
  virtual void end(const FieldDescriptor& field) = 0;
  // Makes a piece of text, to be given to piece() in its turn: `part` is an opened message of which only one
  // field is set, a few more elements of a repeated field, or all there is of any other. Called on any
  // thread, several at a time, between a begin() and its end().
  virtual void print(const Message& part, std::string& text) const = 0;
  virtual void piece(const FieldDescriptor& field, std::string_view text) = 0;
};

// Takes `message` apart, on all cores. `file` names it in errors; throws what Checker throws, with the byte
// of the file.
void take_apart(Kind kind, std::string_view message, std::string_view file, Form form, bool drop_unknown,
                Receiver& receiver);

// Puts serialized messages together, in the order given. Map entries are sorted by key within a piece, so
// that the same text always makes the same bytes.
class Assembler {
 public:
  explicit Assembler(std::string_view word) : checker_({.word = word, .reading = true}, false) {}

  void append(const Message& part);  // throws Error (kInput) past 2 GiB, or for a string that is not UTF-8
  size_t begin() const { return bytes_.size(); }
  void end(const FieldDescriptor& field, size_t begin);  // what came since begin() is one message
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
  Checker checker_;
};

// Reuses one block of memory for piece after piece.
class PieceArena {
 public:
  PieceArena();
  ~PieceArena();
  PieceArena(const PieceArena&) = delete;
  PieceArena& operator=(const PieceArena&) = delete;

  Message& make(const Descriptor& type);  // what was made before is gone

 private:
  std::vector<char> block_;
  std::unique_ptr<google::protobuf::Arena> arena_;
};

// Line and column (in bytes), both from 1, of an offset.
struct PlaceInFile {
  size_t line, column;
};
PlaceInFile place_of(std::string_view text, size_t offset);

// `FILE: line 17: column 9: MESSAGE`.
Error error_at(std::string_view text, size_t offset, std::string_view file, std::string message);

}  // namespace gedit
