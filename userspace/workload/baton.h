// A number that one thread hands to another, which sleeps until it comes: a futex word.
//
// One thread passes and one takes, in turn: a number is taken before the next one is passed. What was
// written before Pass() is seen after Take(). Passing makes a system call only where the other one
// sleeps, and taking only where nothing is there yet; neither allocates or locks. For the threads of
// one process.
//
//   baton.Pass(7);                      // in one thread
//   const uint32_t frame = baton.Take();  // in another: 7
#ifndef WHYLATE_USERSPACE_WORKLOAD_BATON_H_
#define WHYLATE_USERSPACE_WORKLOAD_BATON_H_

#include <atomic>
#include <cstdint>
#include <limits>

namespace whylate {

// On a cache line of its own, so that passing one disturbs nobody else.
class alignas(64) Baton {
 public:
  static constexpr uint32_t kMostNumber = std::numeric_limits<uint32_t>::max() - 2;

  // `number` is at most kMostNumber.
  void Pass(uint32_t number);
  uint32_t Take();

 private:
  // The states of the word; a number n is n + kFirst.
  static constexpr uint32_t kNothing = 0;
  static constexpr uint32_t kAwaited = 1;  // nothing, and the taker sleeps or is about to
  static constexpr uint32_t kFirst = 2;

  std::atomic<uint32_t> word_{kNothing};
};

}  // namespace whylate

#endif  // WHYLATE_USERSPACE_WORKLOAD_BATON_H_
