#include "edit/merging/functions.h"

#include <optional>
#include <set>
#include <unordered_set>

#include "base/error.h"
#include "base/first_free.h"
#include "graph/equal.h"
#include "graph/function_names.h"
#include "ops/kinds.h"

namespace gedit {
namespace {

// Function bodies: names in them are their own business, but for functions and shared state.
class BodyMapping final : public Mapping {
 public:
  // `handles`: what variables without a shared_name are called. `by_name`: nodes that are known by their own
  // names, which other bodies may have, too.
  BodyMapping(const MergePart& part, bool functions, const std::string* handles,
              std::unordered_set<std::string_view> by_name = {})
      : part_(part), functions_(functions), handles_(handles), by_name_(std::move(by_name)) {}

  void node(std::string_view name, std::string& out) const override { out += name; }
  bool input(const NodeHead& /*reader*/, std::string_view input, std::string& out) const override {
    out += input;
    return true;
  }
  void identity(const NodeHead& holder, Role role, std::string_view value, std::string& out) const override {
    const bool of_handle = handles_ != nullptr && role == Role::kSharedName;
    if (role == Role::kGradientType && functions_) {
      part_.gradient_type(value, out);
    } else if (of_handle && value.empty() && part_.names->name_empty_handles && is_var_handle_op(holder.op)) {
      out += *handles_;
    } else if (of_handle && part_.names->fresh_identities) {
      part_.names->identities.append(
          role, value.empty() && by_name_.contains(holder.name) ? holder.name : value, out);
    } else {
      out += value;
    }
  }
  int64_t instance_key(int64_t key) const override {
    return handles_ == nullptr ? key : part_.instance_key(key);
  }
  void add(const NodeHead& holder, std::string_view node_def, std::string& out) const override {
    if (handles_ == nullptr || find_attr(node_def, "shared_name")) return;
    if (part_.names->name_empty_handles && is_var_handle_op(holder.op)) {
      append_shared_name(*handles_, out);
    } else if (part_.names->fresh_identities && by_name_.contains(holder.name)) {
      std::string name;
      part_.names->identities.append(Role::kSharedName, holder.name, name);
      append_shared_name(name, out);
    }
  }
  void function(std::string_view name, std::string& out) const override {
    if (functions_) {
      part_.function(name, out);
    } else {
      out += name;
    }
  }
  bool maps_functions() const override { return functions_; }

 private:
  const MergePart& part_;
  bool functions_;
  const std::string* handles_;
  std::unordered_set<std::string_view> by_name_;
};

std::unordered_set<std::string_view> known_by_name(std::string_view function_def, Arena& arena) {
  std::unordered_set<std::string_view> names;
  each_node_in(function_def, arena, [&](std::string_view node_def) {
    if (shares_by_node_name(node_def)) names.insert(node_name(node_def));
  });
  return names;
}

// Whether something in the body is called otherwise in the merged graph.
bool holds_state(const MergePart& part, std::string_view function_def, Arena& arena) {
  bool any = false;
  each_node_in(function_def, arena, [&](std::string_view node_def) {
    any = any || (part.names->name_empty_handles && is_handle_without_name(node_def));
    if (any || !part.names->fresh_identities) return;
    any = shares_by_node_name(node_def);
    each_attr(node_def, [&](std::string_view key, std::string_view value) {
      const Role role = attr_role(node_op(node_def), key);
      any = any || role == Role::kInstanceKey ||
            (role == Role::kSharedName && !stays_as_it_is(last_bytes(value, attr_field::kString)));
    });
  });
  return any;
}

// Variables without a shared_name are one variable, in bodies and out of them: in bodies they all are what
// the first one of the main graph becomes, else one named after the first body.
std::string name_of_handles(const MergePart& part) {
  std::string name;
  part.graph().each_record([&](std::string_view node_def) {
    if (name.empty() && is_handle_without_name(node_def)) name = part.name_of(node_name(node_def));
  });
  each_body_node(part.graph().part(graph_field::kLibrary), *part.graph().arena(),
                 [&](std::string_view function, std::string_view node_def) {
                   if (name.empty() && is_handle_without_name(node_def))
                     name = part.prefix + std::string(function) + "/" + std::string(node_name(node_def));
                 });
  return name;
}

std::string_view library_of(const MergePart& part) { return part.graph().part(graph_field::kLibrary); }

}  // namespace

MergedLibrary::MergedLibrary(MergeParts& parts, NameConflict on_conflict)
    : parts_(parts), definitions_(parts.size()) {
  for (const auto& part : parts_) read(*part);
  for (const auto& part : parts_) {
    decide(*part, on_conflict);
    name_gradients(*part);
  }
}

void MergedLibrary::read(MergePart& part) {
  for (const Part& field : part.graph().parts()) present_ = present_ || field.field == graph_field::kLibrary;
  std::unordered_map<std::string_view, std::string_view> gradients, registered;
  for (Fields fields(library_of(part)); fields.next();) {
    if (fields->bytes(library_field::kGradient))
      gradients[last_bytes(fields->value, 1)] = last_bytes(fields->value, 2);
    if (fields->bytes(library_field::kRegisteredGradient))
      registered[last_bytes(fields->value, 2)] = last_bytes(fields->value, 1);
  }
  std::optional<std::string> handles;
  for (Fields fields(library_of(part)); fields.next();) {
    if (!fields->bytes(library_field::kFunction)) continue;
    Definition definition{function_name(fields->value), fields->value, fields->value, {}, false};
    if (const std::string* changed = part.redefined_function(std::string(definition.name))) {
      if (changed->empty()) continue;
      definition.current = *changed;
    }
    if (holds_state(part, definition.current, arena_)) {
      if (!handles) handles = name_of_handles(part);
      const BodyMapping mapping(part, false, &*handles, known_by_name(definition.current, arena_));
      std::string library;
      append_bytes_field(library, library_field::kFunction, definition.current);
      definition.current = last_bytes(arena_.keep(map_library(library, mapping)), library_field::kFunction);
    }
    if (const auto gradient = gradients.find(definition.name); gradient != gradients.end())
      definition.gradient = gradient->second;
    if (!registered.empty()) {
      each_node_in(definition.current, arena_, [&](std::string_view node_def) {
        const auto type = string_attr(node_def, "_gradient_op_type");
        const auto found = type ? registered.find(*type) : registered.end();
        if (found != registered.end()) definition.registered.insert(*found);
      });
    }
    names_.emplace(definition.name);
    definitions_[part.number].push_back(definition);
  }
}

void MergedLibrary::rename(MergePart& part, std::string_view name) {
  std::string fresh = free_names_.first(
      name, [&](const std::string& one) { return names_.contains(one) || !part.ops.find(one).empty(); });
  names_.insert(fresh);
  part.rename_function(name, std::move(fresh));
}

void MergedLibrary::decide(MergePart& part, NameConflict on_conflict) {
  std::vector<Definition>& all = definitions_[part.number];
  std::vector<std::string_view> renamed;
  for (Definition& definition : all) {
    const auto found = known_.find(std::string(definition.name));
    if (found == known_.end() || part.renames_function(std::string(definition.name))) continue;
    const Definition& other = *found->second;
    // Of one text, but with another gradient: TensorFlow has one of each registered type.
    const bool own =
        part.function_apart(std::string(definition.name)) || definition.registered != other.registered;
    const bool gradients =
        definition.gradient.empty() || other.gradient.empty() || definition.gradient == other.gradient;
    // The same text calls something else where its file's callee got another name.
    const MergePart& owner = *known_from_.at(found->first);
    const auto renamed_there = [&](std::string_view name) {
      return owner.renames_function(std::string(name));
    };
    bool calls_others = !other.gradient.empty() && renamed_there(other.gradient);
    each_function_named_in(other.current, arena_, [&](std::string_view name) {
      calls_others = calls_others || renamed_there(name);
    });
    definition.merged =
        !own && gradients && !calls_others && same_function(definition.current, other.current);
    if (definition.merged) continue;
    // What gedit itself makes different is no conflict.
    const bool ours = own || (gradients && same_function(definition.original, other.original));
    if (!ours && on_conflict != NameConflict::kUniquify) {
      throw Error(Cause::kRefused,
                  "differs from that of " + printable(known_from_.at(found->first)->model.path))
          .in(part.model.path)
          .of(quoted("function", definition.name))
          .hint("--on-conflict uniquify");
    }
    rename(part, definition.name);
    renamed.push_back(definition.name);
  }
  // What calls a function that is not the other operand's calls another one, and so is another one.
  if (!renamed.empty()) {
    std::unordered_map<std::string_view, std::vector<Definition*>> callers;
    for (Definition& definition : all) {
      each_function_named_in(definition.current, arena_,
                             [&](std::string_view name) { callers[name].push_back(&definition); });
      if (!definition.gradient.empty()) callers[definition.gradient].push_back(&definition);
    }
    // A registered gradient reads tensors of the function that names it: it is of that one alone.
    std::unordered_map<std::string_view, Definition*> by_name;
    for (Definition& definition : all) by_name.emplace(definition.name, &definition);
    for (Definition& definition : all) {
      for (const auto& [type, gradient] : definition.registered) {
        callers[gradient].push_back(&definition);
        if (const auto found = by_name.find(gradient); found != by_name.end())
          callers[definition.name].push_back(found->second);
      }
    }
    while (!renamed.empty()) {
      const std::string_view name = renamed.back();
      renamed.pop_back();
      for (Definition* caller : callers[name]) {
        if (!caller->merged) continue;
        caller->merged = false;
        rename(part, caller->name);
        renamed.push_back(caller->name);
      }
    }
  }
  for (const Definition& definition : all) {
    if (definition.merged) continue;
    std::string name;
    part.function(definition.name, name);
    known_[name] = &definition;
    known_from_[name] = &part;
  }
}

// Types that the library registers count the gradients of a process, so that two models have the same ones.
void MergedLibrary::name_gradients(MergePart& part) {
  std::vector<std::pair<std::string, std::string_view>> own;  // function as it will be, type
  for (Fields fields(library_of(part)); fields.next();) {
    if (!fields->bytes(library_field::kRegisteredGradient)) continue;
    std::string function;
    part.function(last_bytes(fields->value, 1), function);
    const std::string_view type = last_bytes(fields->value, 2);
    const auto known = gradient_types_.find(function);
    if (known == gradient_types_.end()) {
      own.emplace_back(std::move(function), type);
    } else if (known->second != type) {  // it is one with an earlier operand's
      part.rename_gradient(type, known->second);
    }
  }
  std::set<std::string, std::less<>> here;
  for (const auto& [function, type] : own) here.emplace(type);
  for (const auto& [function, type] : own) {
    std::string now(type);
    if (taken_types_.contains(type)) {
      now = free_types_.first(
          type, [&](const std::string& one) { return taken_types_.contains(one) || here.contains(one); });
      part.rename_gradient(type, now);
    }
    taken_types_.insert(now);
    gradient_types_.emplace(function, std::move(now));
  }
}

// What the operand adds to the library.
std::string MergedLibrary::encode_part(const MergePart& part) const {
  std::string library;
  auto next = definitions_[part.number].begin();
  const auto end = definitions_[part.number].end();
  for (Fields fields(library_of(part)); fields.next();) {
    if (!fields->bytes(library_field::kFunction)) {
      library += fields->raw;
    } else if (next != end && next->original.data() == fields->value.data()) {
      if (!next->merged && next->current.data() == fields->value.data()) {
        library += fields->raw;
      } else if (!next->merged) {
        append_bytes_field(library, library_field::kFunction, next->current);
      }
      ++next;
    }
  }
  return !part.maps_functions() ? library : map_library(library, BodyMapping(part, true, nullptr));
}

std::string MergedLibrary::encode() const {
  std::string merged;
  std::set<std::string> others;  // gradients and unknown fields that are there
  for (const auto& part : parts_) {
    const std::string library = encode_part(*part);
    const bool first = merged.empty();
    for (Fields fields(library); fields.next();) {
      if (fields->bytes(library_field::kFunction) || others.insert(std::string(fields->raw)).second || first)
        merged += fields->raw;
    }
  }
  return merged;
}

}  // namespace gedit
