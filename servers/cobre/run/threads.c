/*
 * threads.c - bounds the threads of a run by the machine's processors.
 */
#include "run/threads.h"

#include <unistd.h>

unsigned cobre_threads_given(unsigned wanted)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    unsigned most = (cores > 0 ? (unsigned)cores : 1) * COBRE_THREADS_A_CORE;

    if (wanted > most)
        wanted = most;
    return wanted > 1 ? wanted : 1;
}
