// Whether two serialized graphs mean the same, for tests: by way of the generated classes, map entries
// sorted.
#pragma once

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/message.h>
#include <google/protobuf/text_format.h>

#include <memory>
#include <string>
#include <string_view>

#include "graph.pb.h"
#include "meta_graph.pb.h"
#include "model/kind.h"

namespace gedit {

inline std::unique_ptr<google::protobuf::Message> new_message(Kind kind) {
  if (kind == Kind::kMetaGraphDef) return std::make_unique<tensorflow::MetaGraphDef>();
  if (kind == Kind::kSavedModel) return std::make_unique<tensorflow::SavedModel>();
  return std::make_unique<tensorflow::GraphDef>();
}

inline std::string sorted_bytes(const google::protobuf::Message& message) {
  std::string bytes;
  {
    google::protobuf::io::StringOutputStream stream(&bytes);
    google::protobuf::io::CodedOutputStream coded(&stream);
    coded.SetSerializationDeterministic(true);
    message.SerializePartialToCodedStream(&coded);
  }
  return bytes;
}

// "not a message" where the bytes cannot be parsed.
inline std::string sorted_bytes(Kind kind, std::string_view bytes) {
  const auto message = new_message(kind);
  if (!message->ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return "not a message";
  return sorted_bytes(*message);
}

class Quiet final : public google::protobuf::io::ErrorCollector {
 public:
  void AddError(int /*line*/, int /*column*/, const std::string& /*message*/) override {}
};

// TextFormat's own reading of the whole; nothing where it refuses.
inline std::unique_ptr<google::protobuf::Message> whole_file(Kind kind, std::string_view text) {
  auto message = new_message(kind);
  Quiet quiet;
  google::protobuf::TextFormat::Parser parser;
  parser.RecordErrorsTo(&quiet);
  if (!parser.ParseFromString(std::string(text), message.get())) message.reset();
  return message;
}

}  // namespace gedit
