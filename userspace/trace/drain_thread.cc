#include "userspace/trace/drain_thread.h"

#include <pthread.h>

#include <chrono>
#include <utility>

#include "userspace/platform/clock.h"

namespace whylate {
namespace {

constexpr std::chrono::milliseconds kPeriod(10);

}  // namespace

void DrainThread::Start(std::function<void()> drain) {
  drain_ = std::move(drain);
  thread_ = std::thread([this] { Run(); });
  pthread_setname_np(thread_.native_handle(), "whylate-reader");
}

void DrainThread::Stop() {
  if (!thread_.joinable()) return;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    stopping_ = true;
  }
  stop_wanted_.notify_one();
  thread_.join();
}

void DrainThread::Run() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (!stopping_) {
    stop_wanted_.wait_for(lock, kPeriod);
    lock.unlock();
    drain_();
    lock.lock();
  }
  cpu_ns_ = ThreadCpuNs();
}

}  // namespace whylate
