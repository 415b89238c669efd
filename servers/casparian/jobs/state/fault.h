/**
 * fault.h - named points at which a test ends the process as a failure of the machine would.
 *
 * A build with CAUSEWAY_FAULT_POINTS hears CASPARIAN_FAULT=POINT:COUNT: the process is killed when
 * it reaches that point for the COUNTth time, and CASPARIAN_LEASE_MS, how long a claim lasts. In
 * other builds the points are nothing, and the variables are not read.
 *
 * The points are in the order of a job's way: queued, claimed, file-begun, file-done, prepared,
 * guarded, commit (before each file gets its name), renamed (all have it), committed.
 */
#ifndef CASPARIAN_JOBS_STATE_FAULT_H
#define CASPARIAN_JOBS_STATE_FAULT_H

#ifdef CAUSEWAY_FAULT_POINTS
#define CASPARIAN_FAULT(point) casparian_fault_reach(point)

/** The process is here; it may end. Any thread. */
void casparian_fault_reach(const char *point);

/** The lease of a claim; 0: the usual one. */
int casparian_fault_lease_ms(void);
#else
#define CASPARIAN_FAULT(point) ((void)0)
#define casparian_fault_lease_ms() 0
#endif

#endif
