// Puts every name around a graph through a mapping: collections, saver, signatures, assets, object graph,
// aliases.
#pragma once

#include "model/model.h"
#include "model/references.h"

namespace gedit {

// Items, fields and map entries whose name the map leaves out go; what changes nothing keeps its bytes.
void map_surroundings(MetaGraph& meta, const NameMap& map);

// Calls `use` with each of these names.
void each_name_around(const MetaGraph& meta, const NameUse& use);

}  // namespace gedit
