/**
 * fault.h - points at which a test ends the process as a failure of the machine would.
 *
 * A build with CAUSEWAY_FAULT_POINTS hears CASPARIAN_FAULT=POINT:COUNT: the process is killed when
 * it reaches that point for the COUNT-th time. In other builds the points are nothing, and the
 * variable is not read.
 */
#ifndef CASPARIAN_SINKS_FAULT_H
#define CASPARIAN_SINKS_FAULT_H

#ifdef CAUSEWAY_FAULT_POINTS
#define CASPARIAN_FAULT(point) casparian_fault_reach(point)

/** The process is here; it may end. Any thread. */
void casparian_fault_reach(const char *point);
#else
#define CASPARIAN_FAULT(point) ((void)0)
#endif

#endif
