// Any bytes as an object graph, of a SavedModel or a checkpoint: refused, or written again with the same
// meaning, and paths lead to what they are of.
#include <set>

#include "checkpoint/objects.h"
#include "fuzzed.h"
#include "model/saved_objects.h"

namespace gedit {
namespace {

// Whether every child of an object has a name of its own, as those have that TensorFlow saves.
bool names_tell(const Trackables& objects) {
  for (size_t id = 0; id < objects.size(); ++id) {
    std::set<std::string_view> names;
    for (const Trackable::Reference& child : objects[id].children) {
      if (child.name.empty() || !names.insert(child.name).second) return false;
    }
  }
  return true;
}

void check_paths(const Trackables& objects) {
  if (find_bad_reference(objects)) return;
  const bool unique = names_tell(objects);
  const std::vector<std::string> paths = object_paths(objects);
  require(paths.size() == objects.size());
  ObjectFinder finder(objects);
  for (size_t id = 0; id < paths.size() && id < 64; ++id) {
    const std::optional<uint32_t> found = finder.find(paths[id]);
    if (!paths[id].empty() && unique) require(found == id);
  }
}

void check_saved(std::string_view bytes) {
  try {
    const SavedObjects objects = read_saved_objects(bytes);
    accepted([&] { check_saved_objects(objects); });
    const std::string once = saved_objects_bytes(objects);
    require(saved_objects_bytes(read_saved_objects(once)) == once);
    accepted([&] { check_paths(objects.objects); });
  } catch (const Malformed&) {  // refusing is right; crashing is not
  }
}

void check_tracked(std::string_view bytes) {
  accepted([&] {
    const ObjectGraph graph = parse_object_graph(bytes);
    const std::string once = object_graph_bytes(graph);
    require(object_graph_bytes(parse_object_graph(once)) == once);
    check_paths(graph.objects);
  });
}

}  // namespace
void fuzz_objects(const uint8_t* data, size_t size) {
  check_saved(as_text(data, size));
  check_tracked(as_text(data, size));
}

}  // namespace gedit
