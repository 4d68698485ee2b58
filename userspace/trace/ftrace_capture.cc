#include "userspace/trace/ftrace_capture.h"

#include <algorithm>
#include <optional>
#include <queue>
#include <tuple>
#include <utility>
#include <variant>

#include "absl/container/flat_hash_set.h"
#include "analysis/model/recording.h"
#include "userspace/trace/ftrace_settle.h"
#include "userspace/trace/keep_plan.h"

namespace whylate {
namespace {

// The records of one CPU, in the order of its pages.
class CpuStream {
 public:
  CpuStream(CpuId cpu, const FtracePageLayout& layout) : cpu_(cpu), layout_(layout) {}

  void AddPage(const StoredPage& page) { pages_.push_back(page); }
  void SetDroppedAtEnd(uint64_t count) { dropped_at_end_ = count; }

  // To the next record; false after the last. What lost() and lost_count() say is of the time
  // between the two.
  bool Advance() {
    if (record_.has_value()) last_ns_ = record_->time_ns;
    lost_ = false;
    lost_count_ = 0;
    for (;;) {
      if (page_.has_value()) {
        record_ = page_->Next();
        if (record_.has_value()) break;
        if (page_->damaged()) AddLoss(0);
        page_.reset();
      }
      if (next_page_ == pages_.size()) {
        record_.reset();
        if (dropped_at_end_ > 0) AddLoss(dropped_at_end_);
        return false;
      }
      OpenPage(pages_[next_page_++]);
    }
    // Within a CPU's buffer time does not go back; whatever says so is damage.
    if (last_ns_.has_value()) record_->time_ns = std::max(record_->time_ns, *last_ns_);
    ++sequence_;
    return true;
  }

  CpuId cpu() const { return cpu_; }
  const FtraceRecord& record() const { return *record_; }
  uint64_t sequence() const { return sequence_; }
  bool lost() const { return lost_; }
  uint64_t lost_count() const { return lost_count_; }  // 0: how many is not known
  std::optional<int64_t> last_ns() const { return last_ns_; }

 private:
  void OpenPage(const StoredPage& stored) {
    if (stored.dropped_before > 0) AddLoss(stored.dropped_before);
    absl::StatusOr<FtracePage> page = FtracePage::Open(layout_, stored.bytes);
    if (!page.ok()) return AddLoss(0);
    if (page->missed()) AddLoss(page->missed_count().value_or(0));
    page_ = *std::move(page);
  }

  void AddLoss(uint64_t count) {
    lost_ = true;
    lost_count_ += count;
    sequence_ += std::max<uint64_t>(count, 1);
  }

  CpuId cpu_;
  FtracePageLayout layout_;
  std::vector<StoredPage> pages_;
  size_t next_page_ = 0;
  std::optional<FtracePage> page_;
  std::optional<FtraceRecord> record_;
  std::optional<int64_t> last_ns_;  // of the record before
  uint64_t sequence_ = 0;
  uint64_t dropped_at_end_ = 0;
  bool lost_ = false;
  uint64_t lost_count_ = 0;
};

// Holds what a KeepPlan keeps; events come in order of time.
class Keeper {
 public:
  Keeper(const KeepEvents& keep, int64_t begin_ns, int64_t end_ns)
      : plan_(keep, begin_ns, end_ns), begin_ns_(begin_ns), end_ns_(end_ns) {}

  void Add(SchedEvent event) {
    ReachWindow(event.time_ns);
    if (IsAlwaysKept(event.body)) {
      AddAlways(std::move(event));
    } else if (plan_.Covers(event.time_ns)) {
      kept_.push_back(std::move(event));
    } else if (event.time_ns >= begin_ns_ && event.time_ns <= end_ns_ &&
               std::holds_alternative<SwitchEvent>(event.body)) {
      last_switch_[event.cpu] = std::move(event);
    }
  }

  // At any time: what came before the recording holds from its begin on.
  void AddAlways(SchedEvent event) {
    event.time_ns = std::clamp(event.time_ns, begin_ns_, end_ns_);
    kept_.push_back(std::move(event));
  }

  std::vector<SchedEvent> Finish() {
    // A window that no event lies in still begins with somebody on each CPU.
    if (next_window_ < plan_.windows().size()) Flush();
    return std::move(kept_);
  }
  std::vector<OmittedInterval> Omitted() const { return plan_.Omitted(); }

 private:
  static bool IsAlwaysKept(const SchedEventBody& body) {
    return std::holds_alternative<TaskNameEvent>(body) || std::holds_alternative<ForkEvent>(body) ||
           std::holds_alternative<ExitEvent>(body) || std::holds_alternative<AffinityEvent>(body) ||
           std::holds_alternative<CgroupEvent>(body) || std::holds_alternative<StopEvent>(body);
  }

  // Each CPU's last switch before a window tells who is on it when the window begins.
  void ReachWindow(int64_t time_ns) {
    const std::vector<TimeWindow>& windows = plan_.windows();
    bool reached = false;
    while (next_window_ < windows.size() && windows[next_window_].begin_ns <= time_ns) {
      reached = true;
      ++next_window_;
    }
    if (reached) Flush();
  }

  void Flush() {
    for (auto& [cpu, event] : last_switch_) kept_.push_back(std::move(event));
    last_switch_.clear();
  }

  KeepPlan plan_;
  int64_t begin_ns_;
  int64_t end_ns_;
  size_t next_window_ = 0;
  std::map<CpuId, SchedEvent> last_switch_;
  std::vector<SchedEvent> kept_;
};

class Builder {
 public:
  Builder(const FtracePageStore& store, const FtraceFormats& formats,
          const FtraceCaptureInput& input)
      : input_(input),
        decoder_(&formats, input.decoder),
        keeper_(input.keep, input.begin_ns, input.end_ns) {
    store.ForEach(
        [&](const StoredPage& page) { StreamOf(page.cpu, store.layout()).AddPage(page); });
    for (const auto& [cpu, count] : store.dropped_at_end()) {
      StreamOf(cpu, store.layout()).SetDroppedAtEnd(count);
    }
  }

  BuiltCapture Build() {
    for (const KnownTask& task : input_.decoder.tasks) {
      keeper_.Add({input_.begin_ns, CpuId{0}, 0,
                   TaskNameEvent{task.tid, task.tgid, task.name, task.is_kernel_thread}});
    }
    for (auto& [cpu, stream] : streams_) Advance(&stream);
    while (!heads_.empty()) {
      CpuStream* stream = heads_.top().stream;
      heads_.pop();
      ++built_.record_count;
      events_.clear();
      decoder_.Decode(stream->record(), stream->cpu(), stream->sequence(), &events_);
      for (SchedEvent& event : events_) {
        NoteWhoIsSeen(event);
        keeper_.Add(std::move(event));
      }
      Advance(stream);
    }
    return Finish();
  }

 private:
  struct Head {
    int64_t time_ns;
    CpuId cpu;
    CpuStream* stream;
    bool operator<(const Head& other) const {  // the queue's top is its largest
      return std::tie(time_ns, cpu) > std::tie(other.time_ns, other.cpu);
    }
  };

  CpuStream& StreamOf(CpuId cpu, const FtracePageLayout& layout) {
    return streams_.try_emplace(cpu, cpu, layout).first->second;
  }

  void Advance(CpuStream* stream) {
    const bool has_record = stream->Advance();
    if (stream->lost()) {
      const int64_t end_ns = has_record ? stream->record().time_ns : input_.end_ns;
      AddLoss(stream->cpu(), stream->last_ns().value_or(input_.begin_ns), end_ns,
              stream->lost_count());
      decoder_.Lost(stream->cpu());
    }
    if (has_record) heads_.push({stream->record().time_ns, stream->cpu(), stream});
  }

  void AddLoss(CpuId cpu, int64_t begin_ns, int64_t end_ns, uint64_t count) {
    begin_ns = std::clamp(begin_ns, input_.begin_ns, input_.end_ns);
    end_ns = std::clamp(end_ns, begin_ns, input_.end_ns);
    told_[cpu] += count;
    built_.lost_count += count;
    built_.losses.push_back({cpu, begin_ns, end_ns, count});
  }

  void NoteWhoIsSeen(const SchedEvent& event) {
    const auto* switched = std::get_if<SwitchEvent>(&event.body);
    if (switched == nullptr) return;
    const auto current = current_.try_emplace(event.cpu, switched->prev).first;
    if (current->second != switched->prev) slipped_away_.insert(current->second);
    current->second = switched->next;
    came_.insert(switched->next);
    left_.insert(switched->prev);
  }

  bool IsHidden(Tid task) const {
    return !left_.contains(task) && (!came_.contains(task) || slipped_away_.contains(task));
  }

  // Some kernels keep from ftrace the switches by which a task leaves its CPU, and show its wake-ups.
  // It would be queued for ever. Of a task that is never seen to leave, though it was gone, only
  // those wake-ups are kept that it is seen to come by. Not where records are missing: its switches
  // may be among them. `events` are in order.
  void LeaveOutHidden(std::vector<SchedEvent>* events) const {
    if (!built_.losses.empty()) return;
    absl::flat_hash_set<Tid> coming;  // hidden tasks whose next event is that they come to a CPU
    const auto kept =
        std::remove_if(events->rbegin(), events->rend(), [&](const SchedEvent& event) {
          if (const auto* switched = std::get_if<SwitchEvent>(&event.body)) {
            if (IsHidden(switched->next)) coming.insert(switched->next);
            return false;
          }
          const std::optional<Tid> task = QueuedTask(event.body);
          if (!task.has_value() || !IsHidden(*task)) return false;
          const bool comes = coming.contains(*task);
          if (std::holds_alternative<WakingEvent>(event.body)) coming.erase(*task);
          return !comes;
        });
    events->erase(events->begin(), kept.base());
  }

  static std::optional<Tid> QueuedTask(const SchedEventBody& body) {
    if (const auto* waking = std::get_if<WakingEvent>(&body)) return waking->wakee;
    if (const auto* wakeup = std::get_if<WakeupEvent>(&body)) return wakeup->wakee;
    if (const auto* moved = std::get_if<MigrateEvent>(&body)) return moved->task;
    return std::nullopt;
  }

  // What a buffer counts, and no page told.
  void AddUntold() {
    for (const auto& [cpu, count] : input_.lost) {
      if (count <= told_[cpu]) continue;
      const uint64_t rest = count - told_[cpu];
      const auto uncounted =
          std::find_if(built_.losses.begin(), built_.losses.end(),
                       [of = cpu](const LossInterval& l) { return l.cpu == of && l.count == 0; });
      if (uncounted != built_.losses.end()) {
        uncounted->count = rest;
        built_.lost_count += rest;
      } else {
        AddLoss(cpu, input_.begin_ns, input_.end_ns, rest);
      }
    }
  }

  BuiltCapture Finish() {
    AddUntold();
    std::sort(built_.losses.begin(), built_.losses.end(),
              [](const LossInterval& a, const LossInterval& b) {
                return std::tie(a.begin_ns, a.cpu) < std::tie(b.begin_ns, b.cpu);
              });
    built_.omitted = keeper_.Omitted();
    Recording recording;
    recording.begin_ns = input_.begin_ns;
    recording.end_ns = input_.end_ns;
    for (const SchedEvent& event : input_.others) keeper_.AddAlways(event);
    recording.events = keeper_.Finish();
    std::stable_sort(recording.events.begin(), recording.events.end(), Before);
    LeaveOutHidden(&recording.events);
    recording.losses = built_.losses;
    recording.omitted = built_.omitted;
    SettleFtraceEvents(input_.delays_dequeue, &recording);
    built_.events = std::move(recording.events);
    return std::move(built_);
  }

  const FtraceCaptureInput& input_;
  FtraceDecoder decoder_;
  Keeper keeper_;
  std::map<CpuId, CpuStream> streams_;
  std::priority_queue<Head> heads_;
  std::vector<SchedEvent> events_;  // of one record
  std::map<CpuId, uint64_t> told_;  // losses that pages told
  // Of all switches of the recording, kept or not.
  std::map<CpuId, Tid> current_;
  absl::flat_hash_set<Tid> came_;
  absl::flat_hash_set<Tid> left_;
  absl::flat_hash_set<Tid> slipped_away_;  // came, and was gone by the CPU's next switch
  BuiltCapture built_;
};

}  // namespace

BuiltCapture BuildFtraceCapture(const FtracePageStore& store, const FtraceFormats& formats,
                                const FtraceCaptureInput& input) {
  return Builder(store, formats, input).Build();
}

}  // namespace whylate
