// What an action is refused with, for tests.
#pragma once

#include <string>

#include "base/error.h"

namespace gedit {

// The line of the Error that it throws; empty where it throws none.
template <typename Action>
std::string refusal(Action action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace gedit
