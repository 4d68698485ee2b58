/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * The high-resolution sleeps of watched tasks: clock_nanosleep(), poll(), futexes with a timeout.
 *
 * Such a sleep is a struct hrtimer_sleeper on the sleeper's stack: a timer whose function is
 * hrtimer_wakeup(), and the task behind it. That function's address is learnt from the first timer
 * that a watched task arms for itself, so kallsyms is not needed.
 */
#ifndef WHYLATE_BPF_TIMERS_BPF_H_
#define WHYLATE_BPF_TIMERS_BPF_H_

#include "bpf/capture_state.h"

__u64 sleeper_function; /* 0: not learnt yet */

static __always_inline struct task_struct *sleeper_task(struct hrtimer *timer)
{
	return BPF_CORE_READ((struct hrtimer_sleeper *)(void *)timer, task);
}

/* A timer's clock is CLOCK_MONOTONIC plus its base's offset (kernel/time/hrtimer.c). */
static __always_inline __s64 clock_offset_ns(struct hrtimer *timer)
{
	return timer->base->offset;
}

/* The expiry is absolute by now, and soft: the instant asked for, without the timer slack. */
SEC("tp_btf/hrtimer_start")
int BPF_PROG(on_hrtimer_start, struct hrtimer *timer, unsigned int mode)
{
	struct task_struct *current_task;
	struct whylate_timer_start *record;
	struct whylate_cpu *cpu;

	if (!watched_count || !is_watched_tgid(bpf_get_current_pid_tgid() >> 32))
		return 0;
	current_task = bpf_get_current_task_btf();
	if (sleeper_task(timer) != current_task)
		return 0;
	sleeper_function = (__u64)timer->function;
	cpu = recording_cpu();
	if (!cpu)
		return 0;
	record = begin_record(cpu, bpf_ktime_get_ns(), sizeof(*record), WHYLATE_TIMER_START);
	if (!record)
		return 0;
	record->task = current_task->pid;
	record->mode = mode;
	record->expires_ns = timer->_softexpires - clock_offset_ns(timer);
	end_record(record);
	return 0;
}

SEC("tp_btf/hrtimer_expire_entry")
int BPF_PROG(on_hrtimer_expire_entry, struct hrtimer *timer, __s64 *now)
{
	struct whylate_timer_expire *record;
	struct task_struct *task;
	struct whylate_cpu *cpu;
	__s64 now_ns = 0;

	if (!watched_count || !recording_cpu())
		return 0;
	if (sleeper_function && (__u64)timer->function != sleeper_function)
		return 0;
	/* Until the function is known this may be no task: then the read below fails or says 0. */
	task = sleeper_task(timer);
	if (!is_watched_tgid(BPF_CORE_READ(task, tgid)))
		return 0;
	cpu = recording_cpu();
	if (!cpu)
		return 0;
	record = begin_record(cpu, bpf_ktime_get_ns(), sizeof(*record), WHYLATE_TIMER_EXPIRE);
	if (!record)
		return 0;
	bpf_probe_read_kernel(&now_ns, sizeof(now_ns), now);
	record->task = BPF_CORE_READ(task, pid);
	record->expires_ns = timer->_softexpires - clock_offset_ns(timer);
	record->now_ns = now_ns - clock_offset_ns(timer);
	end_record(record);
	return 0;
}

#endif /* WHYLATE_BPF_TIMERS_BPF_H_ */
