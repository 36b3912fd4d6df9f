// The saver of a TF2 SavedModel, which is calls of functions with every variable, made smaller
// (command_reference, extract 5; tensorflow_semantics 5.6).
#pragma once

#include <functional>
#include <string>

#include "edit/changes.h"
#include "edit/closure.h"

namespace gedit {

class SaverFunctionShrinking {
 public:
  SaverFunctionShrinking(Facts& facts, Closure& closure) : facts_(facts), closure_(closure) {}

  // Adds to the closure the calls that saver_def names and what they pass on but variables that do not stay.
  // Nothing where saver_def names no calls or no variable stays. Throws Error (kRefused) where a function
  // uses a variable in a way that cannot be taken out.
  void complete(const std::function<bool(NodeId variable)>& stays);

  // Makes the calls and the functions smaller.
  void apply(Changes& changes);

 private:
  struct Call {
    NodeId node;
    std::vector<bool> dropped;  // by argument
  };
  std::vector<Call> calls_;
  Facts& facts_;
  Closure& closure_;
};

}  // namespace gedit
