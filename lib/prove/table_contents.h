// What fills the tables of a main graph when it is loaded, as far as that is constants and files of assets
// (docs/rules.md#prove-state).
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "prove/contents.h"
#include "prove/labels.h"

namespace gedit {

class Side;

class TableContents {
 public:
  // By what `contents` and `labels` say of both graphs of a proof. Looks at the graph once, and reads the
  // files of assets that fill tables.
  TableContents(Side& side, Classes& classes, Contents& contents);

  // The same text for the same contents; nothing where nobody fills the table, or it is not known with what.
  std::optional<std::string> of(NodeId table) const;

 private:
  // What an input of an initializer is.
  struct Value {
    NodeId table = kNoNode;
    std::string text{};  // empty: not known
  };
  struct Filled {
    std::set<std::string> by;
    bool known = true;
  };

  template <typename ValueOf>
  void look_at(std::string_view node_def, const ValueOf& value_of, int depth);
  void look_into(std::string_view function, const std::vector<Value>& arguments, int depth);
  Value in_main(std::string_view input);
  Value of_const(std::string_view node_def);

  Side& side_;
  Classes& classes_;
  Contents& contents_;
  std::map<std::string, std::string, std::less<>> assets_;  // files by the node that is their path
  std::unordered_map<uint32_t, Filled> filled_;             // by table
};

}  // namespace gedit
