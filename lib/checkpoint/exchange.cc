#include "checkpoint/exchange.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <exception>
#include <set>
#include <utility>

#include "base/descriptor.h"
#include "base/error.h"
#include "base/folder_lock.h"
#include "base/leftover.h"
#include "base/link.h"
#include "checkpoint/bundle.h"
#include "checkpoint/open.h"

namespace gedit {
namespace {

constexpr size_t kMostDataFiles = 99999;  // five digits in a name

// The files of one checkpoint's name that lie in its folder.
struct Neighbours {
  std::vector<std::string> markers;  // PREFIX.index.tmp-*
  std::vector<std::string> data;     // PREFIX.data-?????-of-?????
};

// `.index.tmp-PID-N`, as it is made here; what else a user calls a copy is none.
bool is_marker(std::string_view rest) {
  rest.remove_prefix(std::string_view(".index.tmp-").size());
  if (rest.ends_with("-old")) rest.remove_suffix(4);
  const size_t dash = rest.find('-');
  return dash != 0 && dash != std::string_view::npos && dash + 1 < rest.size() &&
         rest.find_first_not_of("0123456789-") == std::string_view::npos &&
         rest.find('-', dash + 1) == std::string_view::npos;
}

Neighbours neighbours_of(const std::string& prefix) {
  Neighbours found;
  const std::string dir(dir_name(prefix)), base(base_name(prefix));
  const std::string folder = prefix.find('/') == std::string::npos ? "" : dir;
  for (const std::string& name : names_in(dir)) {
    if (!name.starts_with(base)) continue;
    if (name.starts_with(base + ".index.tmp-") && is_marker(name.substr(base.size())))
      found.markers.push_back(join_path(folder, name));
    if (prefix_of_data_file(name) == base) found.data.push_back(join_path(folder, name));
  }
  return found;
}

std::string_view count_in(std::string_view data_file) { return data_file.substr(data_file.size() - 5); }

std::string digits(size_t count) {
  const std::string path = shard_path("", 0, count);
  return std::string(count_in(path));
}

// Number of data files that an index names; 0 where it is none. Throws Error (kInput) where it cannot be
// read.
size_t shards_named_in(const std::string& index) {
  if (!exists(index)) return 0;
  const auto file = InputFile::open(index);
  try {
    return shards_of_index(file);
  } catch (const Error&) {
    return 0;  // a broken index is overwritten; what it named cannot be told and stays
  }
}

// Whether none of them is there any more.
bool remove_all(const std::vector<std::string>& paths) {
  bool gone = true;
  for (const std::string& path : paths) gone = (::unlink(path.c_str()) == 0 || errno == ENOENT) && gone;
  return gone;
}

bool remove_data(const std::string& prefix, size_t shards) {
  std::vector<std::string> going;
  for (size_t shard = 0; shard < shards; ++shard) going.push_back(shard_path(prefix, shard, shards));
  return remove_all(going);
}

bool is_open_at(const InputFile& file, const std::string& path) {
  struct stat there {
  }, open{};
  return ::stat(path.c_str(), &there) == 0 && ::fstat(file.descriptor(), &open) == 0 &&
         there.st_dev == open.st_dev && there.st_ino == open.st_ino;
}

Error already_there(const std::string& path) {
  return Error(Cause::kRefused, "exists").in(path).hint("-O overwrites it");
}

// Nobody else is at work here: what lies beside is of processes that were killed.
void remove_leftovers_under_lock(const std::string& prefix) {
  const Neighbours there = neighbours_of(prefix);
  if (there.markers.empty()) return;
  const size_t now = shards_named_in(index_path(prefix));
  for (const std::string& marker : there.markers) {
    const size_t named = shards_named_in(marker);
    if (named == now || remove_data(prefix, named)) ::unlink(marker.c_str());
  }
}

class Exchange {
 public:
  explicit Exchange(NewBundle& bundle)
      : bundle_(bundle), index_(index_path(bundle.prefix)), lock_(std::string(dir_name(bundle.prefix))) {}

  void run(const std::function<void()>& then) {
    if (lock_.held()) remove_leftovers_under_lock(bundle_.prefix);
    check_sources();
    const Neighbours there = neighbours_of(bundle_.prefix);
    old_ = shards_named_in(index_);
    const size_t count = free_count(there);
    placed_.reserve(bundle_.files.size());
    const HeldSignals until_all_is_there;
    try {
      place_index(count);
      for (NewDataFile& file : bundle_.files) place(file, shard_path(bundle_.prefix, file.shard, count));
      exchange();
    } catch (...) {
      undo();
      throw;
    }
    try {
      if (then) then();
    } catch (...) {
      exchange_back();
      undo();
      throw;
    }
    // What cannot be removed now is for whoever comes next, whom the marker tells.
    if (old_ == count || remove_data(bundle_.prefix, old_)) remove_marker();
    if (count != bundle_.shards) take_own_names(count);
  }

 private:
  void check_sources() const {
    for (const auto& source : bundle_.sources) {
      if (!still_there(*source))
        throw Error(Cause::kInput, "was replaced while it was read").in(source->path());
    }
  }

  // The number of data files that the names will tell: the true one where they are free.
  size_t free_count(const Neighbours& there) const {
    if (!bundle_.overwrite && exists(index_)) throw already_there(index_);
    bool taken = false;
    for (const NewDataFile& file : bundle_.files) {
      const std::string path = shard_path(bundle_.prefix, file.shard, bundle_.shards);
      if (!exists(path) || (file.linked && is_open_at(*file.linked, path))) continue;
      if (!bundle_.overwrite) throw already_there(path);
      taken = true;
    }
    if (!taken) return bundle_.shards;
    std::set<std::string, std::less<>> counts{digits(old_)};
    for (const std::string& path : there.data) counts.emplace(count_in(path));
    for (size_t count = bundle_.shards + 1; count <= kMostDataFiles; ++count) {
      if (!counts.contains(digits(count))) return count;
    }
    throw Error(Cause::kRefused, "holds data files of every count").in(bundle_.prefix);
  }

  void place_index(size_t count) {
    OutputFile index(index_, true);  // with the permissions of the old one
    bundle_.write_index(count, index);
    index.finish();
    for (int attempt = 0;; ++attempt) {
      marker_ = index_ + ".tmp-" + std::to_string(::getpid()) + "-" + std::to_string(attempt);
      if (exists(marker_)) continue;
      index.place(marker_);
      return;
    }
  }

  // No memory is taken between a file's name and its note.
  void place(NewDataFile& file, std::string path) {
    if (file.linked && is_open_at(*file.linked, path)) return;  // stays where it is
    if (file.made) {
      file.made->place(path);
    } else if (const int error = link_open_file(file.linked->descriptor(), path); error != 0) {
      if (error == EEXIST) throw already_there(path);
      OutputFile copy(path, false);
      copy_file(file.linked, copy);
      copy.commit();
    }
    placed_.push_back(std::move(path));
  }

  // In one step; the old index is the marker then.
  void exchange() {
    if (!exists(index_)) {
      if (::renameat2(AT_FDCWD, marker_.c_str(), AT_FDCWD, index_.c_str(), RENAME_NOREPLACE) != 0) {
        if (errno == EEXIST) throw already_there(index_);
        if (!lacks_rename_flags(errno)) fail_writing(index_, errno);
        if (::rename(marker_.c_str(), index_.c_str()) != 0) fail_writing(index_, errno);
      }
      marker_.clear();
      return;
    }
    if (::renameat2(AT_FDCWD, marker_.c_str(), AT_FDCWD, index_.c_str(), RENAME_EXCHANGE) == 0) return;
    if (!lacks_rename_flags(errno)) fail_writing(index_, errno);
    const std::string old = marker_ + "-old";
    if (::link(index_.c_str(), old.c_str()) != 0) fail_writing(index_, errno);
    if (::rename(marker_.c_str(), index_.c_str()) != 0) {
      const int error = errno;
      ::unlink(old.c_str());
      fail_writing(index_, error);
    }
    marker_ = old;
  }

  void exchange_back() {
    if (marker_.empty()) {
      ::unlink(index_.c_str());
    } else {
      ::rename(marker_.c_str(), index_.c_str());
      marker_.clear();
    }
  }

  void undo() {
    if (remove_all(placed_)) remove_marker();
  }

  void remove_marker() {
    if (!marker_.empty()) ::unlink(marker_.c_str());
    marker_.clear();
  }

  // The names of `count` data files become those of the true count; where that fails, all is well without.
  void take_own_names(size_t count) {
    const auto at = [&](const NewDataFile& file, size_t of) {
      return shard_path(bundle_.prefix, file.shard, of);
    };
    placed_.clear();
    try {
      // Not the old checkpoint's, which went; -O replaces them.
      for (const NewDataFile& file : bundle_.files) ::unlink(at(file, bundle_.shards).c_str());
      place_index(bundle_.shards);
      for (const NewDataFile& file : bundle_.files) {
        std::string own = at(file, bundle_.shards);
        if (::link(at(file, count).c_str(), own.c_str()) != 0) fail_writing(own, errno);
        placed_.push_back(std::move(own));
      }
      exchange();
    } catch (const std::exception&) {
      return undo();
    }
    std::vector<std::string> other_names;
    for (const NewDataFile& file : bundle_.files) other_names.push_back(at(file, count));
    if (remove_all(other_names)) remove_marker();
  }

  NewBundle& bundle_;
  const std::string index_;
  const FolderLock lock_;
  size_t old_ = 0;                   // data files that the old index names
  std::string marker_;               // an index that is not the checkpoint's; empty: there is none
  std::vector<std::string> placed_;  // data files
};

}  // namespace

void take_away_what_kills_left(const std::string& prefix) {
  const FolderLock lock{std::string(dir_name(prefix))};
  if (lock.held()) remove_leftovers_under_lock(prefix);
}

void put_in_place(NewBundle& bundle, const std::function<void()>& then) { Exchange(bundle).run(then); }

}  // namespace gedit
