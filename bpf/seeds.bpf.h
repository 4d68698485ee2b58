/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* What was there when the recording began: the tasks, and what each CPU was running. */
#ifndef WHYLATE_BPF_SEEDS_BPF_H_
#define WHYLATE_BPF_SEEDS_BPF_H_

#include "bpf/capture_state.h"

static __always_inline void remember_watched(struct task_struct *task)
{
	__u64 address = (__u64)task;
	__u32 tid = task->pid;

	bpf_map_update_elem(&watched_tasks, &tid, &address, BPF_ANY);
}

/*
 * Never attached: user space runs it on each CPU by BPF_PROG_TEST_RUN, which interrupts that CPU.
 * With interrupts off nobody is in the middle of a switch, so this record agrees with the stream.
 */
SEC("raw_tp/sched_switch")
int seed_cpu(void *context)
{
	struct task_struct *current_task = bpf_get_current_task_btf();
	struct whylate_cpu *cpu = recording_cpu();
	struct whylate_cpu_seed *record;

	if (!cpu)
		return 0;
	record = begin_record(cpu, bpf_ktime_get_ns(), sizeof(*record), WHYLATE_CPU_SEED);
	if (!record)
		return 0;
	record->current_task = current_task->pid;
	record->standing = standing_of(current_task, rq_of(current_task));
	end_record(record);
	return 0;
}

static __always_inline void seed_affinity(struct seq_file *seq, struct task_struct *task,
					  __u64 now_ns)
{
	struct whylate_affinity record;

	for (__u32 chunk = 0; chunk < WHYLATE_MAX_CPUS / WHYLATE_MASK_CPUS; chunk++) {
		if (chunk >= mask_chunks)
			break;
		__builtin_memset(&record, 0, sizeof(record));
		fill_header(&record.header, now_ns, 0, WHYLATE_AFFINITY);
		fill_affinity(&record, task->pid, task->cpus_ptr, chunk,
			      WHYLATE_AFFINITY_OF_RECORD);
		bpf_seq_write(seq, &record, sizeof(record));
	}
}

/*
 * Not through the ring: the reader of an iterator sets its pace, so that seeds cannot be lost. When
 * its buffer is full, the kernel runs the program again for the same task (kernel/bpf/bpf_iter.c),
 * which is why seeds have no sequence.
 */
SEC("iter/task")
int seed_task(struct bpf_iter__task *context)
{
	struct seq_file *seq = context->meta->seq;
	struct task_struct *task = context->task;
	struct whylate_task_seed record = {};
	__u64 now_ns;

	if (!task)
		return 0;
	if (is_watched(task))
		remember_watched(task);
	now_ns = bpf_ktime_get_ns();
	fill_header(&record.header, now_ns, 0, WHYLATE_TASK_SEED);
	record.header.flags = WHYLATE_MASK_PREV;
	record.task = task->pid;
	record.tgid = task->tgid;
	record.queued_on = task->thread_info.cpu;
	record.standing = standing_of(task, rq_of(task));
	if (task->on_rq && !is_delayed(task))
		record.bits |= WHYLATE_SEED_ON_RQ;
	if (task->flags & PF_KTHREAD)
		record.bits |= WHYLATE_SEED_KERNEL_THREAD;
	bpf_probe_read_kernel(record.name, sizeof(record.name), task->comm);
	bpf_seq_write(seq, &record, sizeof(record));
	seed_affinity(seq, task, now_ns);
	return 0;
}

#endif /* WHYLATE_BPF_SEEDS_BPF_H_ */
