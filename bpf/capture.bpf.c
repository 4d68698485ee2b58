// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * The full-stream capture: one record for every scheduler event of every CPU, facts only.
 *
 * Which programs are loaded where a kernel lacks a tracepoint is decided in user space
 * (userspace/trace/bpf_programs.cc); which fields are read, here, by bpf_core_field_exists().
 */
#include "bpf/capture_state.h"
#include "bpf/interrupts.bpf.h"
#include "bpf/timers.bpf.h"
#include "bpf/seeds.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

static __always_inline __u32 ago_ns(__u64 clock, __u64 then)
{
	if (!then || then > clock || clock - then >= WHYLATE_NS_UNKNOWN)
		return WHYLATE_NS_UNKNOWN;
	return clock - then;
}

static __always_inline __u8 switch_bits(bool preempt, struct task_struct *prev,
					struct task_struct *next)
{
	__u8 bits = preempt ? WHYLATE_PREEMPT : 0;

	if (prev->on_rq)
		bits |= WHYLATE_PREV_ON_RQ;
	if (is_delayed(prev))
		bits |= WHYLATE_PREV_DELAYED;
	if (is_throttled(prev))
		bits |= WHYLATE_PREV_THROTTLED;
	if (BPF_CORE_READ_BITFIELD(prev, in_iowait))
		bits |= WHYLATE_PREV_IOWAIT;
	if (bpf_core_field_exists(struct task_struct, dl_server) && next->dl_server)
		bits |= WHYLATE_NEXT_DL_SERVER;
	return bits;
}

static __always_inline void fill_rq_facts(struct whylate_switch *record, struct rq *rq,
					  struct task_struct *prev, struct task_struct *next)
{
	__u64 clock = rq ? rq->clock : 0;
	__u64 steal_ns;

	record->prev_arrival_ago_ns = WHYLATE_NS_UNKNOWN;
	record->next_queued_ago_ns = WHYLATE_NS_UNKNOWN;
	/* The tracepoint comes before sched_info_switch(): arrival and queueing are still there. */
	if (bpf_core_field_exists(struct task_struct, sched_info)) {
		record->prev_arrival_ago_ns = ago_ns(clock, prev->sched_info.last_arrival);
		record->next_queued_ago_ns = ago_ns(clock, next->sched_info.last_queued);
	}
	if (rq && bpf_core_field_exists(struct rq, prev_steal_time_rq)) {
		steal_ns = rq->prev_steal_time_rq;
		record->steal_ns_low = steal_ns;
		record->steal_ns_high = steal_ns >> 32;
		record->bits |= WHYLATE_HAS_STEAL;
	}
}

/* What a worker of the workqueues worked on: known when it leaves its CPU, and kept until it works
 * on. */
static __always_inline void emit_work(struct whylate_cpu *cpu, __u64 now_ns,
				      struct task_struct *task)
{
	struct whylate_work *record;
	struct worker *worker;

	if (!(task->flags & PF_WQ_WORKER) ||
	    !bpf_core_field_exists(struct task_struct, worker_private) ||
	    !bpf_core_type_exists(struct kthread) || !bpf_core_type_exists(struct worker))
		return;
	worker = BPF_CORE_READ((struct kthread *)task->worker_private, data);
	record = begin_record(cpu, now_ns, sizeof(*record), WHYLATE_WORK);
	if (!record)
		return;
	record->task = task->pid;
	bpf_probe_read_kernel_str(record->work, sizeof(record->work), worker->desc);
	end_record(record);
}

/* Where a sleep begins in the kernel. */
static __always_inline void emit_stack(void *context, struct whylate_cpu *cpu, __u64 now_ns,
				       struct task_struct *task)
{
	long stack = bpf_get_stackid(context, &stacks, BPF_F_FAST_STACK_CMP);
	struct whylate_stack *record;

	if (stack < 0)
		return;
	record = begin_record(cpu, now_ns, sizeof(*record), WHYLATE_STACK);
	if (!record)
		return;
	record->task = task->pid;
	record->stack = stack;
	end_record(record);
}

/*
 * prev_state is the fourth argument since 5.18 ("sched/tracing: Append prev_state to tp args
 * instead"). It is what __schedule() decided by; __state may have been changed by a waker since.
 */
SEC("tp_btf/sched_switch")
int BPF_PROG(on_sched_switch, bool preempt, struct task_struct *prev, struct task_struct *next,
	     unsigned int prev_state)
{
	struct whylate_cpu *cpu = recording_cpu();
	bool prev_watched, next_watched;
	struct whylate_switch *record;
	struct rq *rq;
	__u64 now_ns;
	__u8 bits;

	if (!cpu)
		return 0;
	now_ns = bpf_ktime_get_ns();
	bits = switch_bits(preempt, prev, next);
	follow_throttle(cpu, bits & WHYLATE_PREV_THROTTLED);
	leave_interrupts(cpu, now_ns);
	if (cpu->irq_slots_used)
		flush_irq_slots(now_ns, prev->pid == 0);
	record = begin_record(cpu, now_ns, sizeof(*record), WHYLATE_SWITCH);
	if (!record)
		return 0;
	prev_watched = is_watched(prev);
	next_watched = is_watched(next);
	if (prev_watched)
		record->header.flags |= WHYLATE_MASK_PREV;
	if (next_watched)
		record->header.flags |= WHYLATE_MASK_NEXT;
	rq = rq_of(prev);
	record->prev = prev->pid;
	record->next = next->pid;
	record->prev_state = prev_state;
	record->prev_standing = standing_of(prev, rq);
	record->next_standing = standing_of(next, rq);
	record->bits = bits;
	record->irq_ns_low = cpu->irq_ns;
	record->irq_ns_high = cpu->irq_ns >> 32;
	record->softirq_ns_low = cpu->softirq_ns;
	record->softirq_ns_high = cpu->softirq_ns >> 32;
	fill_rq_facts(record, rq, prev, next);
	end_record(record);
	if (prev_watched)
		emit_affinity(now_ns, prev);
	if (next_watched)
		emit_affinity(now_ns, next);
	/* It is still current here, and so is its stack. */
	if (prev_watched && prev_state && !(bits & WHYLATE_PREEMPT))
		emit_stack(ctx, cpu, now_ns, prev);
	emit_work(cpu, now_ns, prev);
	return 0;
}

static __always_inline void fill_waker(struct whylate_waking *record, struct whylate_cpu *cpu)
{
	record->waker = (__u32)bpf_get_current_pid_tgid();
	if (cpu->irq_begin_ns) {
		record->context = WHYLATE_IN_IRQ;
		record->source = cpu->irq_source;
		record->irq = cpu->irq;
	} else if (cpu->softirq_begin_ns) {
		record->context = WHYLATE_IN_SOFTIRQ;
		record->source = cpu->softirq_vector;
	}
}

SEC("tp_btf/sched_waking")
int BPF_PROG(on_sched_waking, struct task_struct *task)
{
	struct whylate_cpu *cpu = recording_cpu();
	struct whylate_waking *record;
	bool watched;
	__u64 now_ns;

	if (!cpu)
		return 0;
	now_ns = bpf_ktime_get_ns();
	watched = is_watched(task);
	record = begin_record(cpu, now_ns, sizeof(*record), WHYLATE_WAKING);
	if (record) {
		if (watched)
			record->header.flags |= WHYLATE_MASK_PREV;
		record->wakee = task->pid;
		fill_waker(record, cpu);
		if (task->on_rq)
			record->bits |= WHYLATE_WAKEE_ON_RQ;
		if (task->on_cpu)
			record->bits |= WHYLATE_WAKEE_ON_CPU;
		end_record(record);
		if (watched)
			emit_affinity(now_ns, task);
	}
	if (cpu->irq_begin_ns && cpu->irq_source == WHYLATE_IRQ_DEVICE)
		remember_irq_name(cpu->irq, cpu->irq_name);
	return 0;
}

static __always_inline int emit_wakeup(struct task_struct *task, __u8 type)
{
	struct whylate_cpu *cpu = recording_cpu();
	struct whylate_wakeup *record;
	__u64 address;

	if (!cpu)
		return 0;
	record = begin_record(cpu, bpf_ktime_get_ns(), sizeof(*record), type);
	if (!record)
		return 0;
	record->wakee = task->pid;
	record->target = task->thread_info.cpu;
	record->standing = standing_of(task, rq_of(task));
	/* With the flag a woken task runs first, and is throttled on its way back to user space. */
	if (!bpf_core_field_exists(struct task_struct, throttled) && is_throttled(task)) {
		record->header.flags |= WHYLATE_WAKEE_THROTTLED;
		bpf_probe_read_kernel(&address, sizeof(address), &task);
		remember_throttled(record->target, address);
	}
	end_record(record);
	return 0;
}

SEC("tp_btf/sched_wakeup")
int BPF_PROG(on_sched_wakeup, struct task_struct *task)
{
	return emit_wakeup(task, WHYLATE_WAKEUP);
}

SEC("tp_btf/sched_wakeup_new")
int BPF_PROG(on_sched_wakeup_new, struct task_struct *task)
{
	return emit_wakeup(task, WHYLATE_WAKEUP_NEW);
}

SEC("tp_btf/sched_migrate_task")
int BPF_PROG(on_sched_migrate_task, struct task_struct *task, int to)
{
	struct whylate_cpu *cpu = recording_cpu();
	struct whylate_migrate *record;

	if (!cpu)
		return 0;
	record = begin_record(cpu, bpf_ktime_get_ns(), sizeof(*record), WHYLATE_MIGRATE);
	if (!record)
		return 0;
	record->task = task->pid;
	record->from = task->thread_info.cpu;
	record->to = to;
	end_record(record);
	return 0;
}

#include "bpf/lifecycle.bpf.h"
