// Goes over a net once, from what is read to who reads it: every node gets the inputs that stand for its own
// by then, loses control inputs that tell nothing, and then either stays, or another tensor stands for it.
#pragma once

#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "optimize/rules.h"

namespace gedit::optimizing {

class Sweep {
 public:
  // The flow is of the net as it is; all outlive this.
  Sweep(Subject& subject, const Flow& flow, Classes& classes);

  // Whether anything changed.
  bool run();

 private:
  struct Alias {
    uint32_t index = 0;  // of the output for which it stands
    In to;
    bool exact = true;  // is there whenever the original is, without the controls besides
  };
  // Lists of some of the nodes that the sweep began with.
  template <typename T>
  class Lists {
   public:
    explicit Lists(uint32_t nodes) : places_(nodes) {}
    bool has(Number n) const { return places_[n].begin != kNowhere; }
    // Empty where there is none.
    std::span<const T> of(Number n) const {
      const Place place = places_[n];
      return place.count == 0 ? std::span<const T>() : std::span(all_).subspan(place.begin, place.count);
    }
    void set(Number n, std::span<const T> list) {
      places_[n] = {static_cast<uint32_t>(all_.size()), static_cast<uint32_t>(list.size())};
      all_.insert(all_.end(), list.begin(), list.end());
    }

   private:
    static constexpr uint32_t kNowhere = UINT32_MAX;
    struct Place {
      uint32_t begin = kNowhere, count = 0;
    };
    std::vector<Place> places_;
    std::vector<T> all_;
  };
  static uint64_t key_of(In in) { return uint64_t{in.node} << 32 | in.index; }
  const Alias* alias_of(In in) const;

  bool settled(In in) const { return in.argument() || in.node >= gone_.size() || !gone_[in.node]; }
  void resolve(Number n);
  bool is_device_between(Number reader, In in, In to) const;
  void add_control(Number reader, Number control, std::vector<Number>& controls);
  std::vector<Number> needed_controls(Number n, const std::vector<In>& data,
                                      const std::vector<Number>& controls);
  void decide(Number n);
  bool take(Number n, const Decision& decision);
  bool alias(Number n, const Decision& decision);
  bool vanish(Number n, Reason reason);
  bool keep_name(Number n, const Decision& decision);
  std::optional<Number> find_equal(Number n);
  bool share(Number n);
  void resolve_returned();

  Subject& subject_;
  Net& net_;
  const Flow& flow_;
  Whens whens_;
  View view_;
  std::vector<bool> gone_;            // by node: something stands for it
  Lists<Alias> aliases_;              // of what is gone
  Lists<Number> carried_;             // controls besides, of who reads it
  Lists<Number> control_alias_;       // of who waits for it
  Classes shared_;                    // what computes the same from the same is one
  std::vector<Number> first_shared_;  // by class
  std::unordered_map<std::string_view, uint32_t> devices_;
  std::vector<uint32_t> last_waiter_;  // by node: the mark of the last that was found to wait for it
  uint32_t mark_ = 0;
  std::vector<uint32_t> key_;
  NodeText text_;
  bool changed_ = false;
};

}  // namespace gedit::optimizing
