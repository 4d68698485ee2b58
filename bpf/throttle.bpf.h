/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * The CFS bandwidth controller: who it holds back, and when it lets them go on.
 *
 * Its end has no event of its own: the period timer, or the call that it sends to another CPU, puts
 * the tasks back. So each CPU remembers its throttled tasks and looks at them when an interrupt
 * ends, which is when they can have come back.
 *
 * Functions that are not static are verified once and not at each call; they take numbers alone.
 */
#ifndef WHYLATE_BPF_THROTTLE_BPF_H_
#define WHYLATE_BPF_THROTTLE_BPF_H_

#include "bpf/capture_state.h"

#define RUNTIME_INF (~0ULL) /* kernel/sched/sched.h */
#define MAX_GROUP_DEPTH 8

/*
 * Before the flag, a task of a throttled cfs_rq stays on it, and a task that goes to sleep on one
 * is dequeued like any other.
 */
static __always_inline bool is_throttled(struct task_struct *task)
{
	if (bpf_core_field_exists(struct task_struct, throttled))
		return BPF_CORE_READ(task, throttled);
	if (!BPF_CORE_READ(task, on_rq))
		return false;
	if (bpf_core_field_exists(struct cfs_rq, throttle_count) &&
	    bpf_core_field_exists(struct sched_entity, cfs_rq))
		return BPF_CORE_READ(task, prio) >= 100 &&
		       BPF_CORE_READ(task, se.cfs_rq, throttle_count) > 0;
	return false;
}

/* Of another CPU too, where a wake-up put the task onto its throttled runqueue. */
__noinline int remember_throttled(__u32 cpu_id, __u64 task)
{
	struct whylate_cpu *cpu;

	if (cpu_id >= WHYLATE_MAX_CPUS)
		return 0;
	cpu = &cpus[cpu_id];
	for (__u32 i = 0; i < WHYLATE_THROTTLE_SLOTS; i++) {
		if (cpu->throttled[i] == task)
			return 0;
		if (!cpu->throttled[i] &&
		    __sync_val_compare_and_swap(&cpu->throttled[i], 0, task) == 0)
			return 0;
	}
	return 0;
}

static __always_inline bool has_throttled(struct whylate_cpu *cpu)
{
	__u64 any = 0;

#pragma unroll
	for (__u32 i = 0; i < WHYLATE_THROTTLE_SLOTS; i++)
		any |= cpu->throttled[i];
	return any;
}

/* The nearest group with a quota. */
static __always_inline void fill_group(struct whylate_unthrottle *record, struct task_struct *task)
{
	struct task_group *group;
	__u64 quota_ns;

	if (!bpf_core_field_exists(struct task_group, cfs_bandwidth) ||
	    !bpf_core_field_exists(struct task_struct, sched_task_group))
		return;
	group = BPF_CORE_READ(task, sched_task_group);
	for (int depth = 0; group && depth < MAX_GROUP_DEPTH; depth++) {
		quota_ns = BPF_CORE_READ(group, cfs_bandwidth.quota);
		if (quota_ns != RUNTIME_INF) {
			record->quota_ns = quota_ns;
			record->period_ns = BPF_CORE_READ(group, cfs_bandwidth.period);
			bpf_probe_read_kernel_str(record->group, sizeof(record->group),
						  BPF_CORE_READ(group, css.cgroup, kn, name));
			return;
		}
		group = BPF_CORE_READ(group, parent);
	}
}

__noinline int emit_unthrottle(__u64 address)
{
	struct task_struct *task = (struct task_struct *)address;
	struct whylate_cpu *cpu = recording_cpu();
	struct whylate_unthrottle *record;

	if (!cpu)
		return 0;
	record = begin_record(cpu, bpf_ktime_get_ns(), sizeof(*record), WHYLATE_UNTHROTTLE);
	if (!record)
		return 0;
	record->task = BPF_CORE_READ(task, pid);
	fill_group(record, task);
	end_record(record);
	return 0;
}

/*
 * Lets go of who is not throttled any more; `is_now`: that came about just now. A task that is gone
 * reads as not throttled, or as nothing at all.
 */
__noinline int look_at_throttled(bool is_now)
{
	struct whylate_cpu *cpu = this_cpu();
	__u64 address;

	if (!cpu)
		return 0;
	for (__u32 i = 0; i < WHYLATE_THROTTLE_SLOTS; i++) {
		address = cpu->throttled[i];
		if (!address || is_throttled((struct task_struct *)address))
			continue;
		if (__sync_val_compare_and_swap(&cpu->throttled[i], address, 0) == address &&
		    is_now)
			emit_unthrottle(address);
	}
	return 0;
}

/* At a switch away from current. */
static __always_inline void follow_throttle(struct whylate_cpu *cpu, bool is_throttled)
{
	if (has_throttled(cpu))
		look_at_throttled(false);
	if (is_throttled)
		remember_throttled(bpf_get_smp_processor_id(), bpf_get_current_task());
}

#endif /* WHYLATE_BPF_THROTTLE_BPF_H_ */
