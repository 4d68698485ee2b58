/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* What every program of the capture shares: the ring, each CPU's state, and how a record begins. */
#ifndef WHYLATE_BPF_CAPTURE_STATE_H_
#define WHYLATE_BPF_CAPTURE_STATE_H_

#include <linux/bpf.h>
#include "bpf/kernel_types.h"
#include "bpf/sched_event.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

/* include/linux/sched.h */
#define PF_WQ_WORKER 0x00000020
#define PF_KTHREAD 0x00200000

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 8 << 20); /* user space sets the size it was asked for */
} records SEC(".maps");

struct irq_name {
	char name[WHYLATE_NAME_LEN];
};

/* Names of the device interrupts that woke somebody. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024);
	__type(key, __u32);
	__type(value, struct irq_name);
} irq_names SEC(".maps");

/* The watched tasks by tid: 6.1 has no way from a tid to its task_struct (bpf_task_from_pid: 6.2).
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__type(key, __u32);
	__type(value, __u64);
} watched_tasks SEC(".maps");

/* Kernel stacks, at which watched tasks went to sleep; innermost first. */
struct {
	__uint(type, BPF_MAP_TYPE_STACK_TRACE);
	__uint(max_entries, 1024);
	__type(key, __u32);
	__uint(value_size, WHYLATE_STACK_DEPTH * sizeof(__u64));
} stacks SEC(".maps");

/* Written by user space: before loading ... */
const volatile __u32 abi_version = WHYLATE_ABI_VERSION;
const volatile __u32 mask_chunks = WHYLATE_MAX_CPUS / WHYLATE_MASK_CPUS;
/* ... and while the programs run. A tgid is stored before the count that includes it. */
__u32 enabled;
__u32 watched_count;
__u32 watched_tgids[WHYLATE_MAX_WATCHED];

/*
 * An array in .bss and not a per-CPU map: lookups in those are calls before 6.10, and user space
 * reads this one without a system call.
 */
struct whylate_cpu cpus[WHYLATE_MAX_CPUS];

static __always_inline struct whylate_cpu *this_cpu(void)
{
	__u32 cpu = bpf_get_smp_processor_id();

	if (cpu >= WHYLATE_MAX_CPUS)
		return NULL;
	return &cpus[cpu];
}

/* The CPU's state, or NULL while nothing is to be recorded. */
static __always_inline struct whylate_cpu *recording_cpu(void)
{
	if (!*(volatile __u32 *)&enabled)
		return NULL;
	return this_cpu();
}

static __always_inline void fill_header(struct whylate_header *header, __u64 time_ns,
					__u32 sequence, __u8 type)
{
	header->time_ns = time_ns;
	header->sequence = sequence;
	header->cpu = bpf_get_smp_processor_id();
	header->type = type;
}

/* In words: the compiler does not know that the ring aligns its records, and would use bytes. */
static __always_inline void zero(void *record, __u64 size)
{
#pragma unroll
	for (__u64 i = 0; i < size / sizeof(__u64); i++)
		((__u64 *)record)[i] = 0;
}

/*
 * A zeroed record of `size` (a constant), or NULL and the loss counted. The sequence is taken
 * atomically, because an interrupt may run a program in the middle of one that allows interrupts.
 */
static __always_inline void *begin_record(struct whylate_cpu *cpu, __u64 time_ns, __u64 size,
					  __u8 type)
{
	__u32 sequence = __sync_fetch_and_add(&cpu->attempts, 1) + 1;
	void *record = bpf_ringbuf_reserve(&records, size, 0);

	if (!record) {
		__sync_fetch_and_add(&cpu->lost, 1);
		return NULL;
	}
	zero(record, size);
	fill_header(record, time_ns, sequence, type);
	return record;
}

/*
 * Never wakes the reader: a wake-up is itself a scheduler event, and made the switch program three
 * times as slow in a pipe benchmark. The reader polls.
 */
static __always_inline void end_record(void *record)
{
	bpf_ringbuf_submit(record, BPF_RB_NO_WAKEUP);
}

/* Not static: the verifier looks at it once, and not on every path that leads to a call. */
__noinline bool is_watched_tgid(__u32 tgid)
{
	__u32 count = *(volatile __u32 *)&watched_count;

	for (__u32 i = 0; i < WHYLATE_MAX_WATCHED; i++) {
		if (i >= count)
			return false;
		if (watched_tgids[i] == tgid)
			return true;
	}
	return false;
}

static __always_inline bool is_watched(struct task_struct *task)
{
	return watched_count && is_watched_tgid(task->tgid);
}

/* Asleep, and on the runqueue in name only (delayed dequeue). */
static __always_inline bool is_delayed(struct task_struct *task)
{
	return bpf_core_field_exists(struct sched_entity, sched_delayed) && task->se.sched_delayed;
}

/* The runqueue that the task is on or was last on, or NULL without CONFIG_FAIR_GROUP_SCHED. */
static __always_inline struct rq *rq_of(struct task_struct *task)
{
	if (!bpf_core_field_exists(struct cfs_rq, rq))
		return NULL;
	/* set_task_rq() keeps se.cfs_rq right for tasks of every class. */
	return task->se.cfs_rq->rq;
}

static __always_inline struct whylate_standing standing_of(struct task_struct *task, struct rq *rq)
{
	struct whylate_standing standing;

	standing.prio = task->prio + 1;
	standing.policy = task->policy & WHYLATE_POLICY_MASK;
	/* Priority and policy of the stop task are those of a FIFO task of priority 99. */
	if (rq && bpf_core_field_exists(struct rq, stop) && rq->stop == task)
		standing.policy |= WHYLATE_POLICY_STOP;
	return standing;
}

/* The task's mask from `first_cpu` on; bits past the possible CPUs are whatever lies behind it. */
static __always_inline void fill_affinity(struct whylate_affinity *record, __u32 tid,
					  const void *mask, __u32 chunk, __u8 kind)
{
	record->task = tid;
	record->first_cpu = chunk * WHYLATE_MASK_CPUS;
	record->kind = kind;
	record->is_last = chunk + 1 >= mask_chunks;
	bpf_probe_read_kernel(record->mask, sizeof(record->mask),
			      (const char *)mask + chunk * sizeof(record->mask));
}

/* Not static, either. */
__noinline int emit_mask(__u64 time_ns, __u32 tid, __u64 mask, __u8 kind)
{
	__u32 by = kind == WHYLATE_AFFINITY_SET ? (__u32)bpf_get_current_pid_tgid() : 0;
	struct whylate_cpu *cpu = this_cpu();
	struct whylate_affinity *record;

	if (!cpu)
		return 0;
	for (__u32 chunk = 0; chunk < WHYLATE_MAX_CPUS / WHYLATE_MASK_CPUS; chunk++) {
		if (chunk >= mask_chunks)
			break;
		record = begin_record(cpu, time_ns, sizeof(*record), WHYLATE_AFFINITY);
		if (!record)
			continue;
		fill_affinity(record, tid, (const void *)mask, chunk, kind);
		record->by = by;
		end_record(record);
	}
	return 0;
}

/* The current affinity of a watched task, after the record that announced it. */
static __always_inline void emit_affinity(__u64 time_ns, struct task_struct *task)
{
	/* Read, and so a number: such a function takes no pointers. */
	emit_mask(time_ns, task->pid, (__u64)BPF_CORE_READ(task, cpus_ptr),
		  WHYLATE_AFFINITY_OF_RECORD);
}

#endif /* WHYLATE_BPF_CAPTURE_STATE_H_ */
