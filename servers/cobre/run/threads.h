/**
 * threads.h - the number of threads of a run.
 */
#ifndef RUN_THREADS_H
#define RUN_THREADS_H

/** Of `wanted`, as many as the machine gives now: at most COBRE_THREADS_A_CORE per core, and no
 *  more than can be started. At least 1. */
unsigned cobre_threads_given(unsigned wanted);

/** More per core gain nothing. */
#define COBRE_THREADS_A_CORE 4

#endif
