// The thread that moves records out of the kernel's buffer every 10 ms, named whylate-reader.
//
//   DrainThread reader;
//   reader.Start([this] { Drain(); });
//   reader.Stop();  // the last call of Drain() has returned
//   reader.cpu_ns();
#ifndef WHYLATE_USERSPACE_TRACE_DRAIN_THREAD_H_
#define WHYLATE_USERSPACE_TRACE_DRAIN_THREAD_H_

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>

namespace whylate {

class DrainThread {
 public:
  DrainThread() = default;
  DrainThread(const DrainThread&) = delete;
  DrainThread& operator=(const DrainThread&) = delete;
  ~DrainThread() { Stop(); }

  // Calls `drain`, on the thread, until Stop().
  void Start(std::function<void()> drain);
  void Stop();
  bool is_running() const { return thread_.joinable(); }
  // The CPU time of the thread; after Stop().
  int64_t cpu_ns() const { return cpu_ns_; }

 private:
  void Run();

  std::function<void()> drain_;
  std::mutex mutex_;
  std::condition_variable stop_wanted_;
  bool stopping_ = false;  // guarded by mutex_
  int64_t cpu_ns_ = 0;     // written by the thread when it ends
  std::thread thread_;
};

}  // namespace whylate

#endif  // WHYLATE_USERSPACE_TRACE_DRAIN_THREAD_H_
