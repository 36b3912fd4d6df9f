// Values that are cast when they are read. Who writes them takes them as they were, and casts them himself:
// so each is read once, and what becomes infinite is counted once.
#pragma once

#include "weights/casting.h"
#include "weights/values.h"

namespace gedit {

ValuesPtr cast_values(ValuesPtr values, const Casting& casting);

struct Uncast {
  ValuesPtr values;
  Casting casting = {};  // that makes of them what was given
};
Uncast uncast(ValuesPtr values);

}  // namespace gedit
