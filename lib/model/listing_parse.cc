// Parsing a whole listing into the serialized file that it stands for.
#include <algorithm>
#include <array>
#include <list>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "base/error.h"
#include "base/map_entry.h"
#include "base/near.h"
#include "base/wire.h"
#include "graph/listing_text.h"
#include "graph/numbers.h"
#include "model/collection_text.h"
#include "model/listing.h"

namespace gedit {
namespace {

// A message while its statements are read: records in the order of the statements, and submessages that stand
// where their first statement stood.
class ReadMessage {
 public:
  std::string& records() {
    if (pieces_.empty() || pieces_.back().field != 0) pieces_.emplace_back(0);
    return pieces_.back().records;
  }
  ReadMessage& open(uint32_t field) {
    ReadMessage*& known = messages_[field];
    if (known == nullptr) {
      ReadPiece& piece = pieces_.emplace_back(field);
      piece.message = std::make_unique<ReadMessage>();
      known = piece.message.get();
    }
    return *known;
  }
  CollectionItems& collection(std::string_view key) {
    CollectionItems*& known = collections_[std::string(key)];
    if (known == nullptr) {
      ReadPiece& piece = pieces_.emplace_back(kCollection);
      piece.key = key;
      known = &piece.items;
    }
    return *known;
  }

  // The serialized message; what it was put together from is released on the way.
  std::string take() {
    std::string out;
    for (; !pieces_.empty(); pieces_.pop_front()) {
      ReadPiece& piece = pieces_.front();
      if (piece.message) {
        append_bytes_field(out, piece.field, piece.message->take());
      } else if (piece.field == kCollection) {
        append_map_entry(out, kCollection, piece.key, piece.items.collection());
      } else if (out.empty()) {
        out = std::move(piece.records);
      } else {
        out += piece.records;
      }
    }
    return out;
  }

 private:
  static constexpr uint32_t kCollection = 4;  // MetaGraphDef.collection_def

  struct ReadPiece {
    explicit ReadPiece(uint32_t number) : field(number) {}
    uint32_t field;  // 0: records, kCollection: a collection, else a message
    std::string records;
    std::unique_ptr<ReadMessage> message;
    std::string key;
    CollectionItems items;
  };
  std::list<ReadPiece> pieces_;
  std::map<uint32_t, ReadMessage*> messages_;
  std::map<std::string, CollectionItems*> collections_;
};

class ListingParser {
 public:
  ListingParser(std::string_view text, std::string_view file, const TensorSource* elided)
      : scanner_(text, file) {
    context_.elided = elided;
  }
  ParsedListing parse();

 private:
  using Statement = void (ListingParser::*)();
  struct Row {
    std::string_view word;
    Statement read;
  };
  static const std::array<Row, 17> kStatements;

  bool parse_statement();
  ReadMessage& meta();   // of the MetaGraphDef that was begun
  ReadMessage& graph();  // its GraphDef, or the file's
  ReadMessage& library() { return graph().open(2); }
  void once(std::string_view what, std::string_view key);  // refuses a key that was there
  void close_meta_graph();

  void saved_model();
  void meta_graph();
  void op_list();
  void versions();
  void version();
  void debug_info();
  void empty_library();
  void function();
  void gradient();
  void registered_gradient();
  void saver();
  void collection();
  void signature();
  void asset();
  void object();
  void concrete_function();
  void raw();
  void add_gradient(uint32_t field, bool reversed);

  Scanner scanner_;
  ListingContext context_;
  size_t start_ = 0;  // of the statement
  Kind kind_ = Kind::kGraphDef;
  bool any_ = false;      // a statement was read
  bool in_meta_ = false;  // a MetaGraphDef was begun
  std::string saved_model_;
  ReadMessage file_;  // the GraphDef or the current MetaGraphDef
  uint64_t objects_ = 0;
  std::set<std::pair<std::string, std::string>> keys_;
  std::string store_;
};

const std::array<ListingParser::Row, 17> ListingParser::kStatements{{
    {"saved_model", &ListingParser::saved_model},
    {"metagraph", &ListingParser::meta_graph},
    {"op_list", &ListingParser::op_list},
    {"versions", &ListingParser::versions},
    {"version", &ListingParser::version},
    {"debug_info", &ListingParser::debug_info},
    {"library", &ListingParser::empty_library},
    {"function", &ListingParser::function},
    {"gradient", &ListingParser::gradient},
    {"registered_gradient", &ListingParser::registered_gradient},
    {"saver", &ListingParser::saver},
    {"collection", &ListingParser::collection},
    {"signature", &ListingParser::signature},
    {"asset", &ListingParser::asset},
    {"object", &ListingParser::object},
    {"concrete_function", &ListingParser::concrete_function},
    {"raw", &ListingParser::raw},
}};

ReadMessage& ListingParser::meta() {
  if (!in_meta_) scanner_.fail_at(start_, "this statement needs a 'metagraph' line before it");
  return file_;
}

ReadMessage& ListingParser::graph() {
  if (kind_ == Kind::kGraphDef) return file_;
  return meta().open(2);
}

void ListingParser::once(std::string_view what, std::string_view key) {
  if (keys_.emplace(what, key).second) return;
  scanner_.fail_at(start_, quoted(what, key) + " is given twice");
}

void ListingParser::close_meta_graph() {
  if (in_meta_ && kind_ == Kind::kSavedModel) {
    append_bytes_field(saved_model_, 2, file_.take());
    file_ = ReadMessage();
  }
  objects_ = 0;
  keys_.clear();
}

void ListingParser::saved_model() {
  if (any_) scanner_.fail_at(start_, "'saved_model' can only be the first line");
  kind_ = Kind::kSavedModel;
  saved_model_ = parse_block(scanner_, TextMessage::kSavedModel);
}

void ListingParser::meta_graph() {
  if (any_ && kind_ != Kind::kSavedModel) {
    scanner_.fail_at(start_, in_meta_ ? "a second MetaGraphDef needs a 'saved_model' line before both"
                                      : "'metagraph' stands before what it holds");
  }
  close_meta_graph();
  if (kind_ == Kind::kGraphDef) kind_ = Kind::kMetaGraphDef;
  in_meta_ = true;
  if (scanner_.peek() == '{') meta().open(1).records() = parse_block(scanner_, TextMessage::kMetaInfoDef);
}

void ListingParser::op_list() {
  append_bytes_field(meta().open(1).open(2).records(), 1, parse_block(scanner_, TextMessage::kOpDef));
}

void ListingParser::versions() {
  append_bytes_field(graph().records(), 4, parse_block(scanner_, TextMessage::kVersionDef));
}

void ListingParser::version() {
  constexpr int64_t kMost = 0x7fffffff;
  append_varint_field(graph().records(), 3, static_cast<uint64_t>(scan_int(scanner_, -kMost - 1, kMost)));
}

void ListingParser::debug_info() {
  append_bytes_field(graph().records(), 5, parse_block(scanner_, TextMessage::kGraphDebugInfo));
}

void ListingParser::empty_library() {
  scanner_.expect('{');
  scanner_.expect('}');
  library();
}

void ListingParser::function() {
  append_bytes_field(library().records(), 1, parse_function(scanner_, context_));
}

void ListingParser::add_gradient(uint32_t field, bool reversed) {
  std::string first(scanner_.name(store_, "a function"));
  scanner_.expect('=');
  std::string second(scanner_.name(store_, "a function"));
  if (reversed) std::swap(first, second);
  std::string message;
  append_bytes_field(message, 1, first);
  append_bytes_field(message, 2, second);
  append_bytes_field(library().records(), field, message);
}

void ListingParser::gradient() { add_gradient(2, false); }
void ListingParser::registered_gradient() { add_gradient(3, true); }

void ListingParser::saver() {
  append_bytes_field(meta().records(), 3, parse_block(scanner_, TextMessage::kSaverDef));
}

void ListingParser::collection() {
  const std::string key(scanner_.name(store_, "the name of a collection"));
  meta().collection(key).parse(scanner_);
}

void ListingParser::signature() {
  const std::string key(scanner_.name(store_, "the name of a signature"));
  once("signature", key);
  append_map_entry(meta().records(), 5, key, parse_block(scanner_, TextMessage::kSignatureDef));
}

void ListingParser::asset() {
  append_bytes_field(meta().records(), 6, parse_block(scanner_, TextMessage::kAssetFileDef));
}

void ListingParser::object() {
  scanner_.peek();
  const size_t start = scanner_.position();
  if (scan_uint(scanner_, ~uint64_t{0}) != objects_) {
    scanner_.fail_at(start, "objects are numbered from 0: this one is " + std::to_string(objects_));
  }
  ++objects_;
  append_bytes_field(meta().open(7).records(), 1, parse_block(scanner_, TextMessage::kSavedObject));
}

void ListingParser::concrete_function() {
  const std::string key(scanner_.name(store_, "the name of a function"));
  once("concrete function", key);
  append_map_entry(meta().open(7).records(), 2, key,
                   parse_block(scanner_, TextMessage::kSavedConcreteFunction));
}

// Records that have no statement of their own, as they are; none: the message is there, and empty.
void ListingParser::raw() {
  scanner_.peek();
  const size_t start = scanner_.position();
  const std::string_view path = scanner_.word("the name of a message");
  ReadMessage* target = nullptr;
  if (path == "graph_def")
    target = &graph();
  else if (path == "library")
    target = &library();
  else if (path == "meta_graph")
    target = &meta();
  else if (path == "stripped_op_list")
    target = &meta().open(1).open(2);
  else if (path == "object_graph_def")
    target = &meta().open(7);
  else
    scanner_.fail_at(start, quoted("message", path) + ": no such message");
  const size_t open = scanner_.position();
  const std::string_view bytes = scanner_.quoted(store_, "bytes in quotes");
  try {
    for (Fields fields(bytes); fields.next();) continue;
  } catch (const Malformed& error) {
    scanner_.fail_at(open, error.what());
  }
  if (!bytes.empty()) target->records() += bytes;
}

// Reads a statement, if one is next; else a node is.
bool ListingParser::parse_statement() {
  if (!scanner_.at_word()) return false;
  start_ = scanner_.position();
  const std::string_view word = scanner_.word("a statement");
  if (scanner_.peek() == '=') {
    scanner_.seek(start_);
    return false;
  }
  for (const Row& row : kStatements) {
    if (row.word != word) continue;
    (this->*row.read)();
    return true;
  }
  Near near(word);
  for (const Row& row : kStatements) near.offer(row.word);
  try {
    scanner_.fail_at(start_, quoted("statement", word) + ": no such statement, and no node without '='");
  } catch (const Error& error) {
    throw error.hint(near.did_you_mean());
  }
}

ParsedListing ListingParser::parse() {
  for (scanner_.skip_lines(); !scanner_.at_end(); scanner_.skip_lines()) {
    if (!parse_statement()) {
      start_ = scanner_.position();
      append_bytes_field(graph().records(), 1, parse_node(scanner_, context_));
    }
    scanner_.end_line();
    any_ = true;
  }
  close_meta_graph();
  if (kind_ == Kind::kSavedModel) return {kind_, std::move(saved_model_)};
  return {kind_, file_.take()};
}

}  // namespace

ParsedListing parse_listing(std::string_view text, std::string_view file, const TensorSource* elided) {
  return ListingParser(text, file, elided).parse();
}

}  // namespace gedit
