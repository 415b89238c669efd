/**
 * threads.h - how many threads a run can have.
 */
#ifndef RUN_THREADS_H
#define RUN_THREADS_H

/** Of `wanted`, as many as this machine gives now: at most COBRE_THREADS_A_CORE for each core, and no more than
 *  can be started. At least 1. */
unsigned cobre_threads_given(unsigned wanted);

/** More than that a core gains nothing. */
#define COBRE_THREADS_A_CORE 4

#endif
