/**
 * fault.h - named points at which a test ends the process as a failure of the machine would.
 *
 *     FAULT_POINT("commit");
 *
 * A build with CAUSEWAY_FAULT_POINTS reads three variables of the environment.
 * CAUSEWAY_FAULT=POINT:COUNT kills the process when it reaches that point for the COUNTth time.
 * CAUSEWAY_LEASE_MS is how long a lease lasts, so that a test need not wait for the usual one.
 * CAUSEWAY_CLOCK names a file with a number of milliseconds, which clocks of databases show more or
 * less than they would. In other builds the points are nothing, and the variables are not read.
 */
#ifndef FAULT_H
#define FAULT_H

#ifdef CAUSEWAY_FAULT_POINTS
#include <stdint.h>

#define FAULT_POINT(point) fault_reach(point)

/** The process is here; it may end. Any thread. */
void fault_reach(const char *point);

/** The wanted lease, at most ten minutes; 0: the usual one. */
int fault_lease_ms(void);

/** By how much the clock of a database was set, at most a year. Any thread. */
int64_t fault_clock_ms(void);
#else
#define FAULT_POINT(point) ((void)0)
#define fault_lease_ms() 0
#define fault_clock_ms() 0
#endif

#endif
