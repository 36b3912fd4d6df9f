#include "base/background_writer.h"

#include <utility>

namespace gedit {
namespace {

// So many that neither thread waits for the other to wake up; large ones take megabytes of memory each.
constexpr size_t kJobs = 4;

}  // namespace

BackgroundWriter::~BackgroundWriter() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

WriteFailure BackgroundWriter::put(std::vector<char>& buffer, size_t size) {
  Job job{{}, std::move(buffer), size};
  const WriteFailure failure = put(std::move(job));
  const std::lock_guard lock(mutex_);
  if (buffers_.empty()) {
    buffer.assign(kFileBuffer, 0);
  } else {
    buffer = std::move(buffers_.back());
    buffers_.pop_back();
  }
  return failure;
}

WriteFailure BackgroundWriter::drain() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return jobs_.empty(); });
  return failure_;
}

WriteFailure BackgroundWriter::put(Job job) {
  std::vector<Mapped> written;
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return jobs_.size() < kJobs; });
  jobs_.push_back(std::move(job));
  written.swap(written_);
  const WriteFailure failure = failure_;
  lock.unlock();
  changed_.notify_one();
  for (const Mapped& one : written) one.source->forget(one.bytes);
  return failure;
}

void BackgroundWriter::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return !jobs_.empty() || stop_; });
    if (jobs_.empty()) return;
    const Job& job = jobs_.front();  // stays where it is while others come after it
    WriteFailure failure = failure_;
    lock.unlock();
    if (!failure.any() && job.mapped.source != nullptr) {
      failure = write_mapped(job.mapped, descriptor_);
    } else if (!failure.any()) {
      write_all(descriptor_, job.buffer.data(), job.size, failure.error);
    }
    lock.lock();
    failure_ = failure;
    if (job.mapped.source != nullptr) {
      written_.push_back(job.mapped);
    } else {
      buffers_.push_back(std::move(jobs_.front().buffer));
    }
    jobs_.pop_front();
    changed_.notify_one();
  }
}

}  // namespace gedit
