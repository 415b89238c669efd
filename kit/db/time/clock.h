/*
 * clock.h - the time of a database that is steady (db_options): what its clock shows becomes a time
 * that never goes back.
 */
#ifndef DB_CLOCK_H
#define DB_CLOCK_H

#include <pthread.h>

#include "db/types.h"

enum { DB_CLOCK_STEPS = 16 };

/* Any thread. The lock guards the rest. */
struct db_clock {
    pthread_mutex_t lock;
    bool is_steady;
    int64_t time_ms;               /* the last time; 0: none yet */
    int64_t shown_ms;              /* what the clock showed then */
    int64_t sent_ms, read_ms;      /* on the monotonic clock: before that, and after */
    bool is_ahead;                 /* of the clock, which was set back: half as fast since */
    int64_t ahead_ms, ahead_since; /* the time then, and when on the monotonic clock */
    int64_t forth_ms, forth_since; /* steps forth of late, and the last one's monotonic time */
    uint64_t step_count;
    db_clock_step steps[DB_CLOCK_STEPS]; /* the last ones, by number */
};

/* It is not steady: set that before it is read. */
void db_clock_init(struct db_clock *self);

void db_clock_clear(struct db_clock *self);

/* @param shown_ms what the clock has shown. @param sent_ms before that, on the monotonic clock */
int64_t db_clock_time(struct db_clock *self, int64_t shown_ms, int64_t sent_ms);

/* The time by the last reading and what has passed since; false: that was too long ago. */
bool db_clock_recent(struct db_clock *self, int64_t *time_ms);

/* Not before this time from now on. */
void db_clock_reach(struct db_clock *self, int64_t time_ms);

/* As db_clock_step_after. */
db_clock_step db_clock_next_step(struct db_clock *self, uint64_t number);

/* Leases that ended before this time have ended. */
int64_t db_clock_lapsed(struct db_clock *self, int64_t time_ms);

#endif
