// A table by node that copies of a graph share until one of them changes it: most are only looked at.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace gedit {

// Copies may be read by several threads at once, as long as none of them is changed or goes meanwhile.
template <typename T>
class SharedRows {
 public:
  SharedRows() = default;
  explicit SharedRows(std::vector<T> rows) : rows_(std::make_shared<std::vector<T>>(std::move(rows))) {
    look();
  }
  SharedRows(const SharedRows&) = default;
  SharedRows(SharedRows&& other) noexcept
      : rows_(std::move(other.rows_)), seen_(std::exchange(other.seen_, {})) {}
  SharedRows& operator=(const SharedRows&) = default;
  SharedRows& operator=(SharedRows&& other) noexcept {
    rows_ = std::move(other.rows_);
    seen_ = std::exchange(other.seen_, {});
    return *this;
  }
  ~SharedRows() = default;

  size_t size() const { return seen_.size(); }
  const T& operator[](size_t i) const { return seen_[i]; }
  auto begin() const { return seen_.begin(); }
  auto end() const { return seen_.end(); }

  // To be written: nobody else's from now on.
  std::span<T> own() {
    rows();
    return {rows_->data(), rows_->size()};
  }
  void reserve(size_t size) {
    rows().reserve(size);
    look();
  }
  void push_back(T row) {
    rows().push_back(row);
    look();
  }
  void append(const SharedRows& more) {
    std::vector<T>& all = rows();
    all.insert(all.end(), more.begin(), more.end());
    look();
  }

 private:
  std::vector<T>& rows() {
    if (rows_ == nullptr) rows_ = std::make_shared<std::vector<T>>();
    if (rows_.use_count() > 1) rows_ = std::make_shared<std::vector<T>>(*rows_);
    look();
    return *rows_;
  }
  void look() { seen_ = *rows_; }

  std::shared_ptr<std::vector<T>> rows_;
  std::span<const T> seen_;  // all of them
};

}  // namespace gedit
