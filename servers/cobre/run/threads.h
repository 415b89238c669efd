/**
 * threads.h - the number of threads of a run.
 */
#ifndef RUN_THREADS_H
#define RUN_THREADS_H

/** `wanted`, but at most COBRE_THREADS_A_CORE per core, and at least 1. A study works with fewer
 *  where the system starts no more. */
unsigned cobre_threads_given(unsigned wanted);

/** More per core gain nothing. */
#define COBRE_THREADS_A_CORE 4

#endif
