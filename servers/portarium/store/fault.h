/**
 * fault.h - named points at which a test ends the process as a failure of the machine would.
 *
 * A build with CAUSEWAY_FAULT_POINTS hears PORTARIUM_FAULT=POINT:COUNT: the process is killed when
 * it reaches that point for the COUNTth time, and PORTARIUM_LEASE_MS, how long an attempt is
 * leased. In other builds the points are nothing, and the variables are not read.
 *
 * The points are in the order of a run's way: step-begun, step-made, attempt-stored,
 * dispatch-begun, dispatch-done, result-made, result-stored; gate-made, decision-made; committed
 * (any command, before its caller has the reply); timer-begun, timer-made, timer-fired; feed-read;
 * webhook-taken, webhook-posted; checkpoint-made. "-made" is before the commit, "-stored" after it.
 */
#ifndef PORTARIUM_FAULT_H
#define PORTARIUM_FAULT_H

#ifdef CAUSEWAY_FAULT_POINTS
#define PORTARIUM_FAULT(point) portarium_fault_reach(point)

/** The process is here; it may end. Any thread. */
void portarium_fault_reach(const char *point);

/** The lease of an attempt; 0: the usual one. */
int portarium_fault_lease_ms(void);
#else
#define PORTARIUM_FAULT(point) ((void)0)
#define portarium_fault_lease_ms() 0
#endif

#endif
