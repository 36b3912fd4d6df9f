// Loads a graph, selects nodes, copies them below a new scope, and saves what came of it:
//   copy_network dqn.meta 'online/' twin two.meta
#include <iostream>

#include "edit/edits.h"
#include "model/model.h"
#include "model/save.h"
#include "select/selection.h"

int main(int argc, char** argv) try {
  if (argc != 5) {
    std::cerr << "usage: copy_network FILE SELECTOR SCOPE OUT\n";
    return 2;
  }
  gedit::Model model = gedit::load(argv[1]);
  gedit::Registry ops;
  ops.add_builtin();

  const gedit::Selection selected = gedit::Selecting(model, ops).require(argv[2]);
  std::cout << selected.count() << " nodes selected\n";

  gedit::CopyRequest request;
  request.select = argv[2];
  request.scope = argv[3];
  for (const std::string& warning : gedit::copy(model, ops, request).warnings) std::cerr << warning << "\n";

  gedit::save(model, {.path = argv[4]});
  return 0;
} catch (const gedit::Error& error) {
  std::cerr << error.what() << "\n";
  return static_cast<int>(error.cause());
}
