// Object graphs as text, so that a case of a test is a line: objects with a bar between them, which hold
//   x>1 child x is object 1; x~1 dependency; m:1+2 slot m of variable 1 is object 2; s!1,2 saveable s, saved
//   by object 1 and restored by 2; @k value of key k; =V kind of a SavedObject, by the letters of kKinds.
#pragma once

#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "checkpoint/objects.h"
#include "model/saved_objects.h"
#include "refusal.h"

namespace gedit {

using Strings = std::vector<std::string>;

inline const std::map<char, ObjectKind> kKinds{{'U', ObjectKind::kUserObject},   {'A', ObjectKind::kAsset},
                                               {'F', ObjectKind::kFunction},     {'V', ObjectKind::kVariable},
                                               {'B', ObjectKind::kBareFunction}, {'C', ObjectKind::kConstant},
                                               {'R', ObjectKind::kResource}};

inline void add_own(ObjectGraph::Object& object, const std::string& token) {
  object.attributes.push_back({.full_name = "", .key = token.substr(1)});
}
inline void add_own(SavedObjects::Object& object, const std::string& token) {
  object.kind = kKinds.at(token[1]);
}

inline std::string own_text(const ObjectGraph::Object& object) {
  std::string text;
  for (const ObjectGraph::Attribute& attribute : object.attributes) text += " @" + attribute.key;
  return text;
}
inline std::string own_text(const SavedObjects::Object& object) {
  for (const auto& [letter, kind] : kKinds) {
    if (kind == object.kind) return std::string(" =") + letter;
  }
  return "";
}

template <typename Object>
std::vector<Object> objects_of(const std::string& text) {
  std::vector<Object> objects(1);
  std::istringstream words(text);
  for (std::string token; words >> token;) {
    Object& object = objects.back();
    const size_t mark = token.find_first_of(">~:!");
    const std::string name = token.substr(0, mark);
    const auto number = [&](size_t from) { return static_cast<uint32_t>(std::stoul(token.substr(from))); };
    if (token == "|") {
      objects.emplace_back();
    } else if (token[0] == '@' || token[0] == '=') {
      add_own(object, token);
    } else if (token[mark] == '>') {
      object.children.push_back({number(mark + 1), name});
    } else if (token[mark] == '~') {
      object.dependencies.push_back({number(mark + 1), name});
    } else if (token[mark] == ':') {
      object.slots.push_back({number(mark + 1), number(token.find('+') + 1), name});
    } else {
      object.saveables.push_back({name, number(mark + 1), number(token.find(',') + 1)});
    }
  }
  for (Object& object : objects) object.changed = true;
  return objects;
}

template <typename Object>
inline std::string text_of(const std::vector<Object>& objects) {
  std::string text;
  for (size_t i = 0; i < objects.size(); ++i) {
    const Object& object = objects[i];
    if (i > 0) text += " |";
    const auto id = [](uint32_t number) { return std::to_string(number); };
    for (const auto& child : object.children) text += " " + child.name + ">" + id(child.id);
    for (const auto& one : object.dependencies) text += " " + one.name + "~" + id(one.id);
    for (const auto& slot : object.slots)
      text += " " + slot.name + ":" + id(slot.variable) + "+" + id(slot.slot);
    for (const auto& one : object.saveables)
      text += " " + one.name + "!" + id(one.save) + "," + id(one.restore);
    text += own_text(object);
  }
  return text.starts_with(' ') ? text.substr(1) : text;
}

inline ObjectGraph graph_of(const std::string& text) {
  return {.objects = objects_of<ObjectGraph::Object>(text), .rest = ""};
}
inline SavedObjects saved_of(const std::string& text) {
  SavedObjects saved;
  saved.objects = objects_of<SavedObjects::Object>(text);
  return saved;
}

inline SavedObjects::Function function_of(const std::string& name, std::vector<uint32_t> bound_inputs) {
  SavedObjects::Function function;
  function.name = name;
  function.bound_inputs = std::move(bound_inputs);
  return function;
}

inline std::vector<bool> bits(const std::string& text) {
  std::vector<bool> out;
  for (const char c : text) out.push_back(c == '1');
  return out;
}
inline std::string bits_text(const std::vector<bool>& bits) {
  std::string out;
  for (const bool bit : bits) out += bit ? '1' : '0';
  return out;
}

}  // namespace gedit
