/*
 * threads.c - tests how many threads the machine gives, before OpenMP needs them.
 *
 * OpenMP's runtime ends the process when it cannot start a thread (a limit of the user, or of a
 * container), and with it all other calls. So the threads are started and ended here first. Another
 * process could take them in between; the interval is short.
 */
#include "run/threads.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "mcp/alloc.h"

/* The threads stay until all are started. */
struct trial {
    pthread_mutex_t lock; /* guards `is_over` */
    pthread_cond_t over;
    int is_over;
};

static void *stay(void *data)
{
    struct trial *trial = data;

    pthread_mutex_lock(&trial->lock);
    while (!trial->is_over)
        pthread_cond_wait(&trial->over, &trial->lock);
    pthread_mutex_unlock(&trial->lock);
    return NULL;
}

/* The number of threads started, of `most`; `threads` has room for them. */
static unsigned try_threads(pthread_t *threads, unsigned most)
{
    struct trial trial = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0 };
    unsigned started = 0;

    while (started < most && pthread_create(&threads[started], NULL, stay, &trial) == 0)
        started++;
    pthread_mutex_lock(&trial.lock);
    trial.is_over = 1;
    pthread_mutex_unlock(&trial.lock);
    pthread_cond_broadcast(&trial.over);
    for (unsigned i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    pthread_cond_destroy(&trial.over);
    pthread_mutex_destroy(&trial.lock);
    return started;
}

unsigned cobre_threads_given(unsigned wanted)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    unsigned most = (cores > 0 ? (unsigned)cores : 1) * COBRE_THREADS_A_CORE;

    if (wanted > most)
        wanted = most;
    if (wanted <= 1)
        return 1;
    pthread_t *threads = mcp_alloc_zeroed(wanted - 1, sizeof *threads);
    unsigned given = threads ? 1 + try_threads(threads, wanted - 1) : 1;
    free(threads);
    return given;
}
