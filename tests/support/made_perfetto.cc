#include "tests/support/made_perfetto.h"

#include <zlib.h>

#include "analysis/model/perfetto_fields.h"

namespace whylate {

using protozero::pbf_writer;

std::string MadePacket(FillProto fill) {
  std::string bytes;
  pbf_writer trace(bytes);
  pbf_writer packet(trace, perfetto::Trace::kPacket);
  fill(packet);
  packet.commit();
  return bytes;
}

std::string MadeCompressedPacket(const std::string& packets) {
  uLongf size = compressBound(packets.size());
  std::string packed(size, '\0');
  compress(reinterpret_cast<Bytef*>(packed.data()), &size,
           reinterpret_cast<const Bytef*>(packets.data()), packets.size());
  packed.resize(size);
  return MadePacket(
      [&](pbf_writer& packet) { packet.add_bytes(perfetto::Packet::kCompressedPackets, packed); });
}

MadeBundle::MadeBundle(uint32_t cpu) {
  pbf_writer(bytes_).add_uint32(perfetto::FtraceBundle::kCpu, cpu);
}

MadeBundle& MadeBundle::Lost() {
  pbf_writer(bytes_).add_bool(perfetto::FtraceBundle::kLostEvents, true);
  return *this;
}

MadeBundle& MadeBundle::Clock(int32_t clock) {
  pbf_writer(bytes_).add_enum(perfetto::FtraceBundle::kFtraceClock, clock);
  return *this;
}

MadeBundle& MadeBundle::Event(uint64_t time_ns, uint32_t pid, uint32_t field, FillProto fill) {
  pbf_writer bundle(bytes_);
  pbf_writer event(bundle, perfetto::FtraceBundle::kEvent);
  event.add_uint64(perfetto::FtraceEvent::kTimestamp, time_ns);
  event.add_uint32(perfetto::FtraceEvent::kPid, pid);
  pbf_writer body(event, field);
  fill(body);
  return *this;
}

MadeBundle& MadeBundle::Switch(uint64_t time_ns, const MadeTask& prev, int64_t state,
                               const MadeTask& next) {
  using perfetto::SchedSwitch;
  return Event(time_ns, static_cast<uint32_t>(prev.tid), perfetto::FtraceEvent::kSchedSwitch,
               [&](pbf_writer& body) {
                 body.add_string(SchedSwitch::kPrevComm, prev.comm);
                 body.add_int32(SchedSwitch::kPrevPid, prev.tid);
                 body.add_int32(SchedSwitch::kPrevPrio, prev.prio);
                 body.add_int64(SchedSwitch::kPrevState, state);
                 body.add_string(SchedSwitch::kNextComm, next.comm);
                 body.add_int32(SchedSwitch::kNextPid, next.tid);
                 body.add_int32(SchedSwitch::kNextPrio, next.prio);
               });
}

MadeBundle& MadeBundle::Waking(uint64_t time_ns, uint32_t pid, const MadeTask& wakee,
                               int64_t flags) {
  pbf_writer bundle(bytes_);
  pbf_writer event(bundle, perfetto::FtraceBundle::kEvent);
  event.add_uint64(perfetto::FtraceEvent::kTimestamp, time_ns);
  event.add_uint32(perfetto::FtraceEvent::kPid, pid);
  if (flags >= 0) {
    event.add_uint32(perfetto::FtraceEvent::kCommonFlags, static_cast<uint32_t>(flags));
  }
  pbf_writer body(event, perfetto::FtraceEvent::kSchedWaking);
  body.add_string(perfetto::SchedWakeup::kComm, wakee.comm);
  body.add_int32(perfetto::SchedWakeup::kPid, wakee.tid);
  body.add_int32(perfetto::SchedWakeup::kPrio, wakee.prio);
  return *this;
}

MadeBundle& MadeBundle::Wakeup(uint64_t time_ns, const MadeTask& wakee, int32_t target) {
  return Event(time_ns, 0, perfetto::FtraceEvent::kSchedWakeup, [&](pbf_writer& body) {
    body.add_string(perfetto::SchedWakeup::kComm, wakee.comm);
    body.add_int32(perfetto::SchedWakeup::kPid, wakee.tid);
    body.add_int32(perfetto::SchedWakeup::kPrio, wakee.prio);
    body.add_int32(perfetto::SchedWakeup::kTargetCpu, target);
  });
}

MadeBundle& MadeBundle::Columns(const Compact& compact) {
  using perfetto::CompactSched;
  pbf_writer bundle(bytes_);
  pbf_writer columns(bundle, perfetto::FtraceBundle::kCompactSched);
  for (const std::string& name : compact.names)
    columns.add_string(CompactSched::kInternTable, name);
  const auto& c = compact;
  columns.add_packed_uint64(CompactSched::kSwitchTimestamp, c.switch_deltas.begin(),
                            c.switch_deltas.end());
  columns.add_packed_int64(CompactSched::kSwitchPrevState, c.switch_states.begin(),
                           c.switch_states.end());
  columns.add_packed_int32(CompactSched::kSwitchNextPid, c.switch_tids.begin(),
                           c.switch_tids.end());
  columns.add_packed_int32(CompactSched::kSwitchNextPrio, c.switch_priorities.begin(),
                           c.switch_priorities.end());
  columns.add_packed_uint32(CompactSched::kSwitchNextCommIndex, c.switch_names.begin(),
                            c.switch_names.end());
  columns.add_packed_uint64(CompactSched::kWakingTimestamp, c.waking_deltas.begin(),
                            c.waking_deltas.end());
  columns.add_packed_int32(CompactSched::kWakingPid, c.waking_tids.begin(), c.waking_tids.end());
  columns.add_packed_int32(CompactSched::kWakingTargetCpu, c.waking_targets.begin(),
                           c.waking_targets.end());
  columns.add_packed_uint32(CompactSched::kWakingCommIndex, c.waking_names.begin(),
                            c.waking_names.end());
  columns.add_packed_uint32(CompactSched::kWakingCommonFlags, c.waking_flags.begin(),
                            c.waking_flags.end());
  return *this;
}

std::string MadeBundle::PacketAfterDropped() const {
  return MadePacket([&](pbf_writer& packet) {
    packet.add_bool(perfetto::Packet::kPreviousPacketDropped, true);
    packet.add_message(perfetto::Packet::kFtraceEvents, bytes_);
  });
}

std::string MadeBundle::Packet() const {
  return MadePacket(
      [&](pbf_writer& packet) { packet.add_message(perfetto::Packet::kFtraceEvents, bytes_); });
}

}  // namespace whylate
