#include "userspace/workload/baton.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace whylate {
namespace {

// The kernel's futex is a plain word.
static_assert(sizeof(std::atomic<uint32_t>) == sizeof(uint32_t) &&
              std::atomic<uint32_t>::is_always_lock_free);

void Futex(std::atomic<uint32_t>* word, int operation, uint32_t value) {
  // Not woken, interrupted, changed meanwhile: whoever waits looks at the word again.
  (void)syscall(SYS_futex, word, operation | FUTEX_PRIVATE_FLAG, value, nullptr, nullptr, 0);
}

}  // namespace

void Baton::Pass(uint32_t number) {
  if (word_.exchange(number + kFirst, std::memory_order_acq_rel) == kAwaited) {
    Futex(&word_, FUTEX_WAKE, 1);
  }
}

uint32_t Baton::Take() {
  uint32_t seen = word_.load(std::memory_order_acquire);
  while (seen < kFirst) {
    if (seen == kNothing && !word_.compare_exchange_strong(seen, kAwaited)) continue;
    Futex(&word_, FUTEX_WAIT, kAwaited);
    seen = word_.load(std::memory_order_acquire);
  }
  // The passer waits until this one is done with.
  word_.store(kNothing, std::memory_order_relaxed);
  return seen - kFirst;
}

}  // namespace whylate
