/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* Tasks come, go, and change their names and their affinity. */
#ifndef WHYLATE_BPF_LIFECYCLE_BPF_H_
#define WHYLATE_BPF_LIFECYCLE_BPF_H_

#include "bpf/capture_state.h"
#include "bpf/seeds.bpf.h"

#if defined(__TARGET_ARCH_x86)
#define NR_SCHED_SETAFFINITY 203
#define SYSCALL_NUMBER(regs) ((regs)->orig_ax)
#define SYSCALL_FIRST_ARGUMENT(regs) ((regs)->di)
#else
#define NR_SCHED_SETAFFINITY 122
#define SYSCALL_NUMBER(regs) ((regs)->syscallno)
#define SYSCALL_FIRST_ARGUMENT(regs) ((regs)->orig_x0)
#endif

SEC("tp_btf/sched_process_fork")
int BPF_PROG(on_sched_process_fork, struct task_struct *parent, struct task_struct *child)
{
	struct whylate_cpu *cpu = recording_cpu();
	struct whylate_fork *record;

	if (!cpu)
		return 0;
	if (is_watched(child))
		remember_watched(child);
	record = begin_record(cpu, bpf_ktime_get_ns(), sizeof(*record), WHYLATE_FORK);
	if (!record)
		return 0;
	record->parent = parent->pid;
	record->child = child->pid;
	record->child_tgid = child->tgid;
	record->is_kernel_thread = !!(child->flags & PF_KTHREAD);
	bpf_probe_read_kernel(record->name, sizeof(record->name), child->comm);
	end_record(record);
	return 0;
}

static __always_inline int emit_name(struct task_struct *task, const void *name)
{
	struct whylate_cpu *cpu = recording_cpu();
	struct whylate_name *record;

	if (!cpu)
		return 0;
	record = begin_record(cpu, bpf_ktime_get_ns(), sizeof(*record), WHYLATE_NAME);
	if (!record)
		return 0;
	record->task = task->pid;
	record->tgid = task->tgid;
	record->is_kernel_thread = !!(task->flags & PF_KTHREAD);
	bpf_probe_read_kernel_str(record->name, sizeof(record->name), name);
	end_record(record);
	return 0;
}

/* A thread that is not the leader takes the leader's tid when it executes a program. */
SEC("tp_btf/sched_process_exec")
int BPF_PROG(on_sched_process_exec, struct task_struct *task, int old_tid)
{
	__u32 tid = old_tid;

	if (recording_cpu() && is_watched(task)) {
		bpf_map_delete_elem(&watched_tasks, &tid);
		remember_watched(task);
	}
	return emit_name(task, task->comm);
}

/* Comes before the new name is in the task: it is the second argument. */
SEC("tp_btf/task_rename")
int BPF_PROG(on_task_rename, struct task_struct *task, const char *name)
{
	return emit_name(task, name);
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(on_sched_process_exit, struct task_struct *task)
{
	struct whylate_cpu *cpu = recording_cpu();
	struct whylate_exit *record;
	__u32 tid = task->pid;

	if (is_watched(task))
		bpf_map_delete_elem(&watched_tasks, &tid);
	if (!cpu)
		return 0;
	record = begin_record(cpu, bpf_ktime_get_ns(), sizeof(*record), WHYLATE_EXIT);
	if (!record)
		return 0;
	record->task = tid;
	end_record(record);
	return 0;
}

/*
 * Widening a mask makes no scheduler event, so the system call itself is watched. 32-bit callers
 * have another number and are missed: their new mask comes with the task's next record.
 */
SEC("tp_btf/sys_exit")
int BPF_PROG(on_sys_exit, struct pt_regs *regs, long result)
{
	__u64 *address, cpus_ptr;
	__u32 tid;

	if (SYSCALL_NUMBER(regs) != NR_SCHED_SETAFFINITY || result < 0 || !recording_cpu())
		return 0;
	tid = SYSCALL_FIRST_ARGUMENT(regs);
	if (!tid)
		tid = (__u32)bpf_get_current_pid_tgid();
	address = bpf_map_lookup_elem(&watched_tasks, &tid);
	if (!address)
		return 0;
	cpus_ptr = (__u64)BPF_CORE_READ((struct task_struct *)*address, cpus_ptr);
	emit_mask(bpf_ktime_get_ns(), tid, cpus_ptr, WHYLATE_AFFINITY_SET);
	return 0;
}

#endif /* WHYLATE_BPF_LIFECYCLE_BPF_H_ */
