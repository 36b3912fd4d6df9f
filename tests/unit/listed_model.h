// A model of a listing's text, for tests on small graphs.
#pragma once

#include <memory>
#include <string>

#include "model/listing.h"
#include "model/model.h"

namespace gedit {

inline Model listed_model(const std::string& listing, const std::string& path = "m") {
  const auto arena = std::make_shared<Arena>();
  const std::string_view message = arena->keep(parse_listing(listing, path, nullptr).message);
  Model model = model_of(path, Kind::kGraphDef, Format::kBinary, message, arena);
  model.graph().decode();
  return model;
}

}  // namespace gedit
