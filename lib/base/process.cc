#include "base/process.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>

#include "base/error.h"

extern "C" char** environ;  // NOLINT: the only way that POSIX has

namespace gedit {
namespace {

constexpr size_t kPipePiece = 65536;

class FileDescriptor {
 public:
  explicit FileDescriptor(int number = -1) : number_(number) {}
  ~FileDescriptor() { close(); }
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  void set(int number) {
    close();
    number_ = number;
  }
  void close() {
    if (number_ >= 0) ::close(number_);
    number_ = -1;
  }
  int number() const { return number_; }

 private:
  int number_;
};

struct Ends {
  FileDescriptor ours, theirs;
};

[[noreturn]] void fail(const std::string& program, int error) {
  throw Error(Cause::kRefused, "cannot be run: " + std::string(std::strerror(error))).of(program);
}

// Sockets, since writing to one whose reader has gone can be told not to raise SIGPIPE.
void open_ends(const std::string& program, Ends& ends) {
  std::array<int, 2> pair{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair.data()) != 0) fail(program, errno);
  ends.ours.set(pair[0]);
  ends.theirs.set(pair[1]);
}

// Ends the child where it is not waited for.
class Child {
 public:
  explicit Child(pid_t pid) : pid_(pid) {}
  ~Child() {
    if (pid_ < 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  int wait() {
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

 private:
  pid_t pid_;
};

// How long a program may still run.
class Deadline {
 public:
  Deadline(const std::string& program, int seconds)
      : program_(program),
        seconds_(seconds),
        end_(std::chrono::steady_clock::now() + std::chrono::seconds(seconds)) {}

  // For poll(): -1 where there is no end. Throws Error (kRefused) where it has come.
  int milliseconds() const {
    if (seconds_ == 0) return -1;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end_ - std::chrono::steady_clock::now());
    if (left.count() <= 0)
      throw Error(Cause::kRefused, "takes more than " + std::to_string(seconds_) + " s").of(program_);
    return static_cast<int>(left.count());
  }

 private:
  const std::string& program_;
  int seconds_;
  std::chrono::steady_clock::time_point end_;
};

// Reads what is there; whether there may be more.
bool read_some(const std::string& program, int from, std::string& to, size_t most) {
  std::array<char, kPipePiece> piece;
  const ssize_t count = ::recv(from, piece.data(), piece.size(), MSG_DONTWAIT);
  if (count < 0) return errno == EAGAIN || errno == EINTR;
  to.append(piece.data(), static_cast<size_t>(count));
  if (to.size() > most) throw Error(Cause::kRefused, "writes too much").of(program);
  return count > 0;
}

}  // namespace

Finished run_program(const std::vector<std::string>& arguments, std::string_view input, int most_seconds,
                     size_t most_output) {
  const std::string& program = arguments.at(0);
  const Deadline deadline(program, most_seconds);
  std::array<Ends, 3> ends;
  for (Ends& end : ends) open_ends(program, end);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  for (int i = 0; i < 3; ++i)
    posix_spawn_file_actions_adddup2(&actions, ends[static_cast<size_t>(i)].theirs.number(), i);
  std::vector<std::string> copies = arguments;
  std::vector<char*> argv;
  for (std::string& argument : copies) argv.push_back(argument.data());
  argv.push_back(nullptr);
  pid_t pid = -1;
  const int error = ::posix_spawnp(&pid, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error == ENOENT) throw Error(Cause::kRefused, "no such program").of(program);
  if (error != 0) fail(program, error);
  Child child(pid);
  for (Ends& end : ends) end.theirs.close();

  Finished finished;
  // All at once, so that neither side waits for the other to read.
  while (ends[1].ours.number() >= 0 || ends[2].ours.number() >= 0) {
    if (input.empty() && ends[0].ours.number() >= 0) ends[0].ours.close();
    std::array<pollfd, 3> polled{{{ends[0].ours.number(), POLLOUT, 0},
                                  {ends[1].ours.number(), POLLIN, 0},
                                  {ends[2].ours.number(), POLLIN, 0}}};
    if (::poll(polled.data(), polled.size(), deadline.milliseconds()) < 0 && errno != EINTR)
      fail(program, errno);
    if (polled[0].revents != 0) {
      const ssize_t count = ::send(ends[0].ours.number(), input.data(), std::min(input.size(), kPipePiece),
                                   MSG_NOSIGNAL | MSG_DONTWAIT);
      if (count >= 0) {
        input.remove_prefix(static_cast<size_t>(count));
      } else if (errno != EAGAIN && errno != EINTR) {
        input = {};  // it reads no more
      }
    }
    if (polled[1].revents != 0 && !read_some(program, ends[1].ours.number(), finished.out, most_output))
      ends[1].ours.close();
    if (polled[2].revents != 0 && !read_some(program, ends[2].ours.number(), finished.err, most_output))
      ends[2].ours.close();
  }
  finished.status = child.wait();
  return finished;
}

}  // namespace gedit
