#include "edit/functions/freeze.h"

#include <algorithm>

#include "base/error.h"
#include "base/first_free.h"

namespace gedit {
namespace {

// Forms of functions: each is made once for the arguments that are resources, and functions that call each
// other in different ways can double them at every call.
constexpr size_t kMostForms = 1000;

}  // namespace

FunctionFreezing::FunctionFreezing(const Library& library, Registry& ops, std::shared_ptr<Arena> arena,
                                   OwnValue value)
    : library_(library), ops_(ops), arena_(std::move(arena)), value_(std::move(value)) {
  for (size_t i = 0; i < library.functions.size(); ++i) {
    by_name_.emplace(library.functions[i].name, i);
    names_.emplace(library.functions[i].name);
  }
}

FrozenFunction FunctionFreezing::specialise(std::string_view name,
                                            const std::map<uint32_t, Carried>& arguments) {
  const auto original = by_name_.find(name);
  if (original == by_name_.end()) throw refused("is not in the library").of(quoted("function", name));
  std::string key(name);
  for (const auto& [index, carried] : arguments) {
    key += '\0' + std::to_string(index) + ':' + std::to_string(static_cast<int32_t>(carried.dtype));
  }
  const auto [found, fresh] = made_.try_emplace(std::move(key));
  Made& made = found->second;
  if (!fresh) {
    if (!made.done) throw refused("calls itself with a resource").of(quoted("function", name));
    return made.function;
  }
  if (made_.size() > kMostForms + by_name_.size() * 16) {
    throw refused("is called with resources in too many ways").of(quoted("function", name));
  }
  if (depth_ >= kDeepest) throw refused("functions call each other too deep").of(quoted("function", name));
  made.original = original->second;
  made.function.name =
      first_free(std::string(name) + "_frozen", [&](const std::string& one) { return names_.contains(one); });
  names_.insert(made.function.name);
  ++depth_;
  make(made, arguments);
  --depth_;
  made.done = true;
  return made.function;
}

void FunctionFreezing::freeze_own(size_t function) {
  const std::string name(library_.functions[function].name);
  Made& made = made_[name];
  made.original = function;
  made.function.name = name;
  made.in_place = true;
  make(made, {});
  made.done = true;
  if (made.function.results.empty()) return;
  throw refused("returns the resource '" + printable(made.function.results.begin()->second.variable) +
                "', which cannot become a constant")
      .of(quoted("function", name));
}

void FunctionFreezing::make(Made& made, const std::map<uint32_t, Carried>& arguments) {
  FrozenBody body = freeze_body({library_.functions[made.original].body.message(), made.function.name,
                                 arguments, ops_, arena_, value_,
                                 [this](std::string_view name, const std::map<uint32_t, Carried>& inner) {
                                   return specialise(name, inner);
                                 },
                                 [this](std::string_view op) { return is_function(op); }});
  made.function_def = std::move(body.function_def);
  made.function.results = std::move(body.results);
  made.function.written = std::move(body.written);
  late_reads_.insert(late_reads_.end(), body.late_reads.begin(), body.late_reads.end());
  writers_.insert(writers_.end(), body.writers.begin(), body.writers.end());
}

std::string FunctionFreezing::library() const {
  std::map<size_t, std::vector<const Made*>> of;
  for (const auto& [key, made] : made_) of[made.original].push_back(&made);
  std::string out;
  for (const Library::Item& item : library_.items) {
    const auto found = item.field == 1 ? of.find(item.function) : of.end();
    const bool replaced = found != of.end() && std::any_of(found->second.begin(), found->second.end(),
                                                           [](const Made* made) { return made->in_place; });
    if (!replaced) out += item.raw;
    if (found == of.end()) continue;
    for (const Made* made : found->second) append_bytes_field(out, 1, made->function_def);
  }
  return out;
}

}  // namespace gedit
