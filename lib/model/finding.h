// What detect.cc puts together from the searches in find_text.cc and find_wire.cc. Internal to lib/model.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "model/detect.h"

namespace gedit {

struct Finding {
  Content content = Content::kOther;
  std::string words;      // "a GraphDef", "a git-lfs pointer"
  std::string hint = {};  // the way out, for what is no graph
  std::optional<Detected> graph = {};
  bool kind_open = false;                // the content fits other kinds as well
  bool format_open = false;              // text that is a listing, too
  std::optional<size_t> broken_at = {};  // the byte where the graph breaks off
  std::string broken = {};               // what is wrong there
};

Finding graph_finding(Kind kind, Format format);

// Text of any kind; nothing where the bytes are not text.
std::optional<Finding> find_text(std::string_view bytes);

// A protobuf message in binary.
Finding find_wire(std::string_view bytes);

}  // namespace gedit
