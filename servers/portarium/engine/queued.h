/**
 * queued.h - the steps of this process that are on their way through the committer.
 *
 * A run stays due until its step is committed. Each look at the database finds it again; a look
 * queues only what is not queued. One thread at a time.
 */
#ifndef PORTARIUM_ENGINE_QUEUED_H
#define PORTARIUM_ENGINE_QUEUED_H

#include <stdbool.h>

/** A step of a run, or of one of its actions. Its owner keeps it in place while it is here. */
typedef struct portarium_queued_step {
    const char *workspace, *run;
    const char *action; /* whose lease has expired; NULL: none */
    struct portarium_queued_step *next;
} portarium_queued_step;

enum { PORTARIUM_QUEUED_BUCKETS = 1024 };

/** Zeros are an empty set. */
typedef struct portarium_queued {
    portarium_queued_step *buckets[PORTARIUM_QUEUED_BUCKETS];
} portarium_queued;

/** Whether an equal step is in the set. */
bool portarium_queued_has(const portarium_queued *self, const portarium_queued_step *step);

/** Add a step, also where an equal one is in the set. */
void portarium_queued_add(portarium_queued *self, portarium_queued_step *step);

/** Remove this step; one that is not in the set is passed over. */
void portarium_queued_remove(portarium_queued *self, const portarium_queued_step *step);

#endif
