#include "edit/copying/request.h"

#include "base/error.h"
#include "edit/basis/addresses.h"
#include "edit/basis/device_name.h"

namespace gedit {

void check(const CopyRequest& request) {
  const int ways = (request.outputs.empty() ? 0 : 1) + (request.select.empty() ? 0 : 1);
  if (ways > 1) throw Error(Cause::kUsage, "--outputs and --select exclude each other");
  if (ways == 0 && !request.has_from_scope) {
    throw Error(Cause::kUsage, "what is to be copied?")
        .hint("--outputs T,.., -s SELECTOR, or --from-scope OLD");
  }
  if (!request.inputs.empty() && request.outputs.empty())
    throw Error(Cause::kUsage, "--inputs needs --outputs");
  if (request.scope.empty() && request.from_scope.empty())
    throw Error(Cause::kUsage, "--scope '' needs --from-scope");
  if (request.has_from_scope && request.from_scope.empty())
    throw Error(Cause::kUsage, "--from-scope needs a scope");
  if (request.device) check_device(*request.device);
}

CopyRequest within(const CopyRequest& request, const std::string& function) {
  if (request.placeholders) {
    throw refused("a function's body has arguments, no Placeholders")
        .of(quoted("function", function))
        .hint("leave out --placeholders");
  }
  CopyRequest inside = request;
  for (std::string* scope : {&inside.scope, &inside.from_scope}) {
    const Address parts = split_address(*scope);
    if (parts.function.empty()) continue;
    if (parts.function != function) {
      throw refused("is of another function than '" + printable(function) + "'").of(quoted("scope", *scope));
    }
    *scope = std::string(parts.rest);
  }
  return inside;
}

}  // namespace gedit
