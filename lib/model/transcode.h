// What text and JSON share: taking a graph's message apart in small pieces, and putting one together from
// them. Internal to lib/model; only what reads and writes the two includes it.
//
// GraphDef, FunctionDefLibrary, MetaGraphDef and SavedModel are *opened*: their fields come one after the
// other, a few nodes or functions at a time, so that memory is that of one piece. Everything below them is
// parsed as the small message that it is.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "base/messages.h"
#include "model/kind.h"
#include "model/remembered.h"

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

// Makes messages of wire bytes, one at a time.
class PartReader {
 public:
  PartReader(Form form, bool drop_unknown) : form_(form), checker_(form, drop_unknown) {}

  // `bytes`: one field of its message, or several of its kind. Gone with the next one. Throws what Checker
  // throws.
  const Message& read(const FieldDescriptor& field, std::string_view bytes);

  Remembered& printed() { return printed_; }  // by the wire bytes of small parts

 private:
  Form form_;
  Checker checker_;
  PieceArena arena_;
  Remembered printed_;
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
  // Makes a piece of text, to be given to piece() in its turn: `bytes` are a few more elements of a repeated
  // field, or all there is of any other. Called on any thread, several at a time, between a begin() and its
  // end().
  virtual void print(const FieldDescriptor& field, std::string_view bytes, PartReader& reader,
                     std::string& text) const = 0;
  virtual void piece(const FieldDescriptor& field, std::string_view text) = 0;
};

// Takes `message` apart, on all cores. `file` names it in errors; throws what Checker throws, with the byte
// of the file.
void take_apart(Kind kind, std::string_view message, std::string_view file, Form form, bool drop_unknown,
                Receiver& receiver);

// Makes wire bytes of messages. Map entries are sorted by key, so that the same text always makes the same
// bytes.
class PartWriter {
 public:
  explicit PartWriter(std::string_view word) : checker_({.word = word, .reading = true}, false) {}

  // Throws Error (kInput) past 2 GiB, or for a string that is not UTF-8.
  void append(const Message& part, std::string& bytes);

 private:
  Checker checker_;
};

// Puts serialized messages together, in the order given.
class Assembler {
 public:
  explicit Assembler(std::string_view word) : writer_(word) {}

  void append(const Message& part) { writer_.append(part, bytes_); }
  void append(std::string_view fields) { bytes_ += fields; }
  size_t begin() const { return bytes_.size(); }
  void end(const FieldDescriptor& field, size_t begin);  // what came since begin() is one message
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
  PartWriter writer_;
};

// What one thread needs for a piece, used again by whoever comes next:  const auto room = rooms.borrow(make);
template <typename Room>
class Rooms {
 public:
  class Borrowed {
   public:
    Borrowed(Rooms& rooms, std::unique_ptr<Room> room) : rooms_(rooms), room_(std::move(room)) {}
    ~Borrowed() {
      const std::lock_guard lock(rooms_.mutex_);
      rooms_.free_.push_back(std::move(room_));
    }
    Borrowed(const Borrowed&) = delete;
    Borrowed& operator=(const Borrowed&) = delete;
    Room& operator*() const { return *room_; }

   private:
    Rooms& rooms_;
    std::unique_ptr<Room> room_;
  };

  // make() gives a std::unique_ptr<Room> where none is free.
  template <typename Make>
  Borrowed borrow(Make make) {
    {
      const std::lock_guard lock(mutex_);
      if (!free_.empty()) {
        std::unique_ptr<Room> room = std::move(free_.back());
        free_.pop_back();
        return {*this, std::move(room)};
      }
    }
    return {*this, make()};
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<Room>> free_;
};

// Line and column (in bytes), both from 1, of an offset.
struct PlaceInFile {
  size_t line, column;
};
PlaceInFile place_of(std::string_view text, size_t offset);

// `FILE: line 17: column 9: MESSAGE`.
Error error_at(std::string_view text, size_t offset, std::string_view file, std::string message);

}  // namespace gedit
