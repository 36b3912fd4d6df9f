// What fills the tables of a main graph when it is loaded, as far as that is constants and files of assets
// (docs/rules.md#prove-state).
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "graph/names.h"
#include "prove/contents.h"
#include "prove/labels.h"

namespace gedit {

class Side;
struct CalledBody;

class TableContents {
 public:
  // By what `contents` and the side's labels say of both graphs of a proof. Looks at the graph once, and
  // reads the files of assets that fill tables.
  TableContents(Side& side, Classes& classes, Contents& contents);

  // What the state of a table goes by.
  static std::string state_of(std::string_view node_def);
  // The same text for the same contents; nothing where the state is none that is filled once, with what is
  // known.
  std::optional<std::string> of(const std::string& state) const;

 private:
  // An input of an initializer, or what is handed to a function in which one is.
  struct Value {
    std::string table{};                 // the name of its state
    std::string_view const_def{};        // a Const
    const std::string* asset = nullptr;  // the file of which the Const is the path
  };

  // Where inputs are looked up: the main graph, or a body with what it is given.
  struct Place {
    const Graph& graph;
    const Names& names;
    const CalledBody* body = nullptr;
    const std::vector<Value>* arguments = nullptr;
    int depth = 0;  // of calls
  };

  void look_over(const Place& place);
  void look_at(const Place& place, std::string_view node_def);
  void look_into(std::string_view function, const std::vector<Value>& arguments, int depth);
  Value value_of(const Place& place, std::string_view input);
  std::string text_of(const Value& value);

  Side& side_;
  Classes& classes_;
  Contents& contents_;
  std::map<std::string, std::string, std::less<>> assets_;    // names of files by the node that is the path
  std::map<std::string, std::optional<std::string>> filled_;  // by state
  // Functions with the tables, and the very constants, that they were given.
  std::set<std::pair<std::string, std::vector<const char*>>> looked_into_;
};

}  // namespace gedit
