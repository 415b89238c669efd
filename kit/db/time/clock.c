/*
 * clock.c - time that never goes back, out of a clock that may be set.
 *
 * The time is what the database's clock shows, as long as that is not less than the time before. A
 * clock that was set forth is followed at once: it may have been wrong before, or the machine was
 * suspended. When it was set back, the time continues from where it was, half as fast as this
 * process's monotonic clock, until the database's clock has caught up: so nothing waits for a day,
 * and the two meet again. A little (STEP_MS) is waited for instead.
 *
 * A step is a difference between two readings that the monotonic clock did not see. When both were
 * read is known within bounds (a process may be frozen in between), and only what lies outside of
 * them counts.
 */
#include "db/time/clock.h"

#include "fault/fault.h"
#include "mcp/clock.h"

enum { STEP_MS = 10000, LEASE_MS = 60000, NEAR_MS = 1000, RECENT_MS = 250 };

void db_clock_init(struct db_clock *self)
{
    *self = (struct db_clock){ .is_steady = false };
    pthread_mutex_init(&self->lock, NULL);
}

void db_clock_clear(struct db_clock *self)
{
    pthread_mutex_destroy(&self->lock);
}

/* Under the lock. */
static void count_step(struct db_clock *self, int64_t by_ms, int64_t read_ms)
{
    db_clock_step *step = &self->steps[self->step_count % DB_CLOCK_STEPS];
    *step = (db_clock_step){ .number = ++self->step_count, .by_ms = by_ms };
    if (by_ms <= 0)
        return;
    bool is_late = read_ms - self->forth_since >= LEASE_MS;
    self->forth_ms = is_late ? by_ms : self->forth_ms + by_ms;
    self->forth_since = read_ms;
}

/* Under the lock: compare with the reading before. */
static void find_step(struct db_clock *self, int64_t shown_ms, int64_t sent_ms, int64_t read_ms)
{
    int64_t passed_ms = shown_ms - self->shown_ms;
    int64_t least_ms = sent_ms - self->read_ms, most_ms = read_ms - self->sent_ms;
    if (passed_ms > most_ms + STEP_MS)
        count_step(self, passed_ms - most_ms, read_ms);
    else if (passed_ms < least_ms - STEP_MS)
        count_step(self, passed_ms - least_ms, read_ms);
}

/* Under the lock: the clock shows less than the time was. */
static void go_on(struct db_clock *self, int64_t shown_ms, int64_t read_ms)
{
    if (!self->is_ahead && self->time_ms - shown_ms <= STEP_MS)
        return;
    if (!self->is_ahead) {
        self->is_ahead = true;
        self->ahead_ms = self->time_ms;
        self->ahead_since = self->read_ms;
    }
    int64_t time_ms = self->ahead_ms + (read_ms - self->ahead_since) / 2;
    if (time_ms > self->time_ms)
        self->time_ms = time_ms;
}

/* Under the lock: the reading is the last one now. */
static void take(struct db_clock *self, int64_t shown_ms, int64_t sent_ms, int64_t read_ms)
{
    if (self->read_ms != 0) {
        find_step(self, shown_ms, sent_ms, read_ms);
    } else {
        self->read_ms = read_ms;
        if (self->time_ms - STEP_MS > shown_ms) /* it was set back while no process saw it */
            count_step(self, shown_ms - self->time_ms, read_ms);
    }
    if (shown_ms >= self->time_ms) {
        self->time_ms = shown_ms;
        self->is_ahead = false;
    } else {
        go_on(self, shown_ms, read_ms);
    }
    self->shown_ms = shown_ms;
    self->sent_ms = sent_ms;
    self->read_ms = read_ms;
}

int64_t db_clock_time(struct db_clock *self, int64_t shown_ms, int64_t sent_ms)
{
    shown_ms += fault_clock_ms();
    if (!self->is_steady)
        return shown_ms;
    int64_t read_ms = mcp_clock_mono_ms();
    pthread_mutex_lock(&self->lock);
    if (sent_ms >= self->sent_ms) /* else a later reading, of another thread, is known */
        take(self, shown_ms, sent_ms, read_ms);
    int64_t time_ms = self->time_ms;
    pthread_mutex_unlock(&self->lock);
    return time_ms;
}

/* What was shown is older than its answer, so this is not ahead of the clock. */
bool db_clock_recent(struct db_clock *self, int64_t *time_ms)
{
    pthread_mutex_lock(&self->lock);
    int64_t since_ms = mcp_clock_mono_ms() - self->read_ms;
    bool is_recent = self->is_steady && self->read_ms != 0 && since_ms < RECENT_MS;
    if (is_recent && !self->is_ahead && self->shown_ms + since_ms > self->time_ms)
        self->time_ms = self->shown_ms + since_ms;
    *time_ms = self->time_ms;
    pthread_mutex_unlock(&self->lock);
    return is_recent;
}

void db_clock_reach(struct db_clock *self, int64_t time_ms)
{
    pthread_mutex_lock(&self->lock);
    int64_t since_ms = self->read_ms != 0 ? mcp_clock_mono_ms() - self->read_ms : 0;
    int64_t ahead_ms = time_ms - (self->time_ms + since_ms);
    if (self->is_steady && ahead_ms > NEAR_MS) {
        if (self->read_ms != 0 && ahead_ms > STEP_MS)
            count_step(self, -ahead_ms, self->read_ms);
        self->time_ms = time_ms;
        self->is_ahead = false; /* the next reading finds out */
    }
    pthread_mutex_unlock(&self->lock);
}

db_clock_step db_clock_next_step(struct db_clock *self, uint64_t number)
{
    db_clock_step step = { .number = 0 };
    pthread_mutex_lock(&self->lock);
    if (self->step_count > DB_CLOCK_STEPS && number < self->step_count - DB_CLOCK_STEPS)
        number = self->step_count - DB_CLOCK_STEPS;
    if (number < self->step_count)
        step = self->steps[number % DB_CLOCK_STEPS];
    pthread_mutex_unlock(&self->lock);
    return step;
}

int64_t db_clock_lapsed(struct db_clock *self, int64_t time_ms)
{
    pthread_mutex_lock(&self->lock);
    if (self->forth_ms > 0 && mcp_clock_mono_ms() - self->forth_since < LEASE_MS)
        time_ms -= self->forth_ms;
    pthread_mutex_unlock(&self->lock);
    return time_ms;
}
