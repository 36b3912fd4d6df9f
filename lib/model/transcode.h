// What text and JSON share: taking a graph's message apart in small pieces, and putting one together from
// them. Internal to lib/model; only what reads and writes the two includes it.
//
// GraphDef, FunctionDefLibrary, MetaGraphDef and SavedModel are *opened*: their fields come one after the
// other, a few nodes or functions at a time, so that memory is that of one piece. Everything below them is
// printed or parsed as the small message that it is.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "message/type.h"
#include "model/kind.h"

namespace gedit {

// A piece of wire or text is cut off after this many bytes, unless a single node or function is larger.
constexpr size_t kPieceBytes = size_t{64} << 10;

const MessageType& message_type_of(Kind kind);
bool is_opened(const MessageType& type);

// Whether the field holds messages that are opened in turn (graph_def, library, meta_graphs).
bool leads_to_opened(const MessageField& field);

// A form other than binary: what it cannot hold is refused.
struct Form {
  std::string_view word;     // "text" or "JSON", for messages
  bool expands_any = false;  // shows what is inside a google.protobuf.Any
  bool reading = false;      // bytes made from that form, not to be turned into it
};

// Whether a form can hold the wire bytes of a message.
//   Checker({.word = "text"}, /*drop_unknown=*/false).check(message_type("tensorflow.NodeDef"), bytes);
class Checker {
 public:
  Checker(Form form, bool drop_unknown) : form_(form), drop_unknown_(drop_unknown) {}

  // `bytes`: a message of type `type`. Throws Error (kRefused) for an unknown field that is not to be dropped
  // and for a string that is not UTF-8, named by node or function; Error (kInput) for nesting past 100;
  // Malformed.
  void check(const MessageType& type, std::string_view bytes);

  // An unknown field of an opened message itself; throws unless it is to be dropped.
  void unknown(const MessageType& type, uint32_t number) const;

 private:
  struct Level {
    const MessageField* field;
    std::string_view bytes;
  };

  void walk(const MessageType& type, std::string_view bytes);
  void look_into_any(std::string_view any);
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
  virtual void begin(const MessageField& field) = 0;
  virtual void end(const MessageField& field) = 0;
  // Makes a piece of text, to be given to piece() in its turn: `bytes` are a few more elements of a repeated
  // field, or all there is of any other. Called on any thread, several at a time, between a begin() and its
  // end().
  virtual void print(const MessageField& field, std::string_view bytes, std::string& text) const = 0;
  virtual void piece(const MessageField& field, std::string_view text) = 0;
};

// Takes `message` apart, on all cores. `file` names it in errors; throws what Checker throws, with the byte
// of the file.
void take_apart(Kind kind, std::string_view message, std::string_view file, Form form, bool drop_unknown,
                Receiver& receiver);

}  // namespace gedit
