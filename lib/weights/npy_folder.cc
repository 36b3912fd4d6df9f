#include "weights/npy_folder.h"

#include <algorithm>
#include <climits>
#include <filesystem>
#include <system_error>

#include "base/descriptor.h"
#include "base/error.h"
#include "base/staged_folder.h"
#include "checkpoint/bundle.h"
#include "weights/npy.h"

namespace gedit {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kNpySuffix = ".npy";
constexpr size_t kOpenAtOnce = 32;  // files that are written at a time; each has a buffer
constexpr std::string_view kDigits = "0123456789ABCDEF";

void append_escaped(std::string& out, char c) {
  const auto byte = static_cast<unsigned char>(c);
  out += '%';
  out += kDigits[byte >> 4];
  out += kDigits[byte & 15];
}

// A part between slashes. An empty one is `%`.
void append_part(std::string& out, std::string_view part, bool last) {
  if (part.empty()) {
    out += '%';
    return;
  }
  const bool dots = part == "." || part == "..";
  const bool like_file = !last && part.ends_with(kNpySuffix);
  for (size_t i = 0; i < part.size(); ++i) {
    const char c = part[i];
    const bool dot = c == '.' && (dots || (like_file && i == part.size() - kNpySuffix.size()));
    if (dot || c == '%' || static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      append_escaped(out, c);
    } else {
      out += c;
    }
  }
}

// Calls use(path below the folder) for each .npy file, until it says false.
template <typename Use>
void each_npy(const std::string& folder, Use use) {
  std::error_code error;
  for (auto entry = fs::recursive_directory_iterator(folder, error);
       !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    if (!entry->path().native().ends_with(kNpySuffix) || entry->is_directory(error)) continue;
    if (!use(entry->path().native().substr(folder.size()))) return;
  }
  if (error) fail_reading(folder, error.value());
}

// Whether a file system bears the path: each part of it, and all of it below the folder while that is made.
bool fits_file_system(std::string_view name, const std::string& target) {
  constexpr size_t kMeanwhile = sizeof "/.tmp-XXXXXX";
  if (target.size() + kMeanwhile + name.size() >= PATH_MAX) return false;
  for (size_t begin = 0; begin <= name.size();) {
    const size_t end = std::min(name.find('/', begin), name.size());
    if (end - begin > NAME_MAX) return false;
    begin = end + 1;
  }
  return true;
}

// What lies below the folder, and is neither a .npy file nor a folder; empty where nothing does.
std::string first_other(const std::string& folder) {
  std::string first;
  std::error_code error;
  for (auto entry = fs::recursive_directory_iterator(folder, error);
       !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    const fs::file_type type = entry->symlink_status(error).type();
    std::string name = entry->path().native().substr(folder.size());
    const bool own =
        type == fs::file_type::directory || (type == fs::file_type::regular && name.ends_with(kNpySuffix));
    if (!own && (first.empty() || name < first)) first = std::move(name);
  }
  if (error) fail_reading(folder, error.value());
  return first;
}

// -O takes nothing away that no export wrote.
void refuse_others(const std::string& target) {
  if (!exists(target)) return;
  if (const std::string other = first_other(target + "/"); !other.empty()) {
    throw refused("holds '" + printable(other) + "', which is no .npy file")
        .in(target)
        .hint("move it away, or -o another folder");
  }
}

}  // namespace

std::string npy_file_name(std::string_view tensor) {
  std::string out;
  for (;;) {
    const size_t slash = tensor.find('/');
    append_part(out, tensor.substr(0, slash), slash == std::string_view::npos);
    if (slash == std::string_view::npos) break;
    out += '/';
    tensor.remove_prefix(slash + 1);
  }
  out += kNpySuffix;
  return out;
}

std::optional<std::string> npy_tensor_name(std::string_view file) {
  if (!file.ends_with(kNpySuffix)) return std::nullopt;
  file.remove_suffix(kNpySuffix.size());
  std::string out;
  for (size_t i = 0; i < file.size(); ++i) {
    if (file[i] != '%') {
      out += file[i];
      continue;
    }
    const size_t high = i + 1 < file.size() ? kDigits.find(file[i + 1]) : std::string_view::npos;
    const size_t low = i + 2 < file.size() ? kDigits.find(file[i + 2]) : std::string_view::npos;
    if (high == std::string_view::npos || low == std::string_view::npos) continue;  // an empty part
    out += static_cast<char>(high << 4 | low);
    i += 2;
  }
  return out;
}

bool looks_like_npy_folder(const std::string& path) {
  bool found = false;
  each_npy(path, [&](const std::string&) {
    found = true;
    return false;
  });
  return found;
}

Weights read_npy_folder(const std::string& path, bool skip) {
  Weights weights;
  weights.path = path;
  const std::string folder = path.ends_with('/') ? path : path + "/";
  each_npy(folder, [&](const std::string& below) {
    const std::string file_path = folder + below;
    const auto file = InputFile::open(file_path);
    try {
      const NpyHeader header = parse_npy_header(file->bytes().substr(0, kMostNpyHeader));
      const std::string name = npy_tensor_name(below).value_or(below);
      if (leaves_out(header, name, skip, weights)) return true;
      const uint64_t there = file->bytes().size() - header.length;
      if (there != header.size) {
        throw Error(Cause::kInput,
                    (there < header.size ? "is cut short: " : "is too long: ") + std::to_string(there) +
                        " bytes of elements are there, its header says " + std::to_string(header.size));
      }
      weights.weights.push_back({name, header.dtype, header.shape,
                                 npy_values(header, path_values(file_path, header.length, header.size))});
    } catch (const Error& error) {
      throw error.in(file_path);
    }
    return true;
  });
  sort_weights(weights);
  return weights;
}

void write_npy_folder(const Weights& weights, const std::string& path, bool overwrite,
                      const Overflowed& overflowed) {
  std::string target = path;
  while (target.size() > 1 && target.ends_with('/')) target.pop_back();
  for (const Weight& weight : weights.weights) {
    try {
      npy_header(weight.dtype, weight.shape);
    } catch (const Error& error) {
      throw error.of(tensor_subject(weight.name));
    }
    if (!fits_file_system(npy_file_name(weight.name), target))
      throw refused("no file has a name that long").of(tensor_subject(weight.name)).hint("--map OLD=NEW");
  }
  if (exists(target)) {
    if (!overwrite) throw refused("exists").in(target).hint("-O overwrites it");
    std::error_code error;
    const bool empty = fs::is_empty(target, error);
    if (!is_directory(target) || (!empty && !looks_like_npy_folder(target + "/")))
      throw refused("is no folder of .npy files").in(target);
    refuse_others(target);
  }
  StagedFolder folder(target);
  for (size_t begin = 0; begin < weights.weights.size(); begin += kOpenAtOnce) {
    const size_t end = std::min(begin + kOpenAtOnce, weights.weights.size());
    std::vector<std::unique_ptr<OutputFile>> files;
    std::vector<Streamed> items;
    for (size_t i = begin; i < end; ++i) {
      const Weight& weight = weights.weights[i];
      const std::string name = npy_file_name(weight.name);
      folder.make(dir_name(name));
      files.push_back(std::make_unique<OutputFile>(folder.path(name), false));
      const std::string head = npy_header(weight.dtype, weight.shape);
      files.back()->write_at(0, head);
      items.push_back({.values = weight.values,
                       .out = files.back().get(),
                       .at = head.size(),
                       .subject = tensor_subject(weight.name),
                       .file = weights.path});
    }
    stream(items, overflowed);
    for (size_t i = 0; i < files.size(); ++i) {
      files[i]->end_at(items[i].at + items[i].size());
      files[i]->commit();
    }
  }
  refuse_others(target);
  folder.commit();
}

}  // namespace gedit
