/*
 * test_states.c - the states of jobs: each transition from each state, claims that are kept, lost
 * and taken over, and what events say of it.
 */
#include <pthread.h>

#include "mcp/clock.h"
#include "store_rig.h"

/* ---- all transitions from all states --------------------------------------------------------- */

enum action { CLAIM, GIVE_BACK, COMPLETE, FAIL, CANCELLED_BY_RUNNER, CANCEL, ACTIONS };

/* A job in that state, with the claim that its runner has or had. */
static int64_t make(store_rig *rig, casparian_job_state state, casparian_claim *claim)
{
    int64_t id = rig_queue(rig);
    casparian_cancelled how;
    if (state == CASPARIAN_JOB_QUEUED) {
        *claim = (casparian_claim){ .job = id, .lease = { .fence = 1 } };
        snprintf(claim->lease.id, sizeof claim->lease.id, "%lld", (long long)id);
        return id;
    }
    *claim = rig_claim(rig, "r1");
    assert_int_equal(claim->job, id);
    if (state == CASPARIAN_JOB_CANCELLED) {
        rig_expect(rig, casparian_job_cancel(&how, rig->store, id, "t", &rig->err), MCP_OK);
    }
    if (state != CASPARIAN_JOB_RUNNING)
        rig_expect(rig,
                   casparian_claim_finish(rig->store, claim, &(casparian_end){ .state = state },
                                          &rig->err),
                   MCP_OK);
    return id;
}

/* Whether the action was done. */
static bool act(store_rig *rig, enum action action, int64_t id, casparian_claim *claim)
{
    static const casparian_job_state ends[ACTIONS] = {
        [COMPLETE] = CASPARIAN_JOB_COMPLETED,
        [FAIL] = CASPARIAN_JOB_FAILED,
        [CANCELLED_BY_RUNNER] = CASPARIAN_JOB_CANCELLED
    };
    const casparian_end end = { .state = ends[action] };
    casparian_cancelled how = CASPARIAN_CANCEL_ABSENT;
    casparian_claim taken;
    bool found = false;
    mcp_status st = MCP_OK;
    switch (action) {
    case CLAIM:
        st = casparian_claim_take(&taken, &found, rig->store, "r2", &rig->err);
        rig_expect(rig, st, MCP_OK);
        return found && taken.job == id;
    case GIVE_BACK:
        st = casparian_claim_give_back(rig->store, claim, &rig->err);
        break;
    case CANCEL:
        rig_expect(rig, casparian_job_cancel(&how, rig->store, id, "t", &rig->err), MCP_OK);
        return how == CASPARIAN_CANCEL_DONE;
    default:
        st = casparian_claim_finish(rig->store, claim, &end, &rig->err);
    }
    if (st != MCP_E_STOPPED)
        rig_expect(rig, st, MCP_OK);
    return st == MCP_OK;
}

static void every_transition_from_every_state(void **state)
{
    static const struct {
        casparian_job_state from;
        enum action action;
        casparian_job_state to;
    } legal[] = {
        { CASPARIAN_JOB_QUEUED, CLAIM, CASPARIAN_JOB_RUNNING },
        { CASPARIAN_JOB_QUEUED, CANCEL, CASPARIAN_JOB_CANCELLED },
        { CASPARIAN_JOB_RUNNING, GIVE_BACK, CASPARIAN_JOB_QUEUED },
        { CASPARIAN_JOB_RUNNING, COMPLETE, CASPARIAN_JOB_COMPLETED },
        { CASPARIAN_JOB_RUNNING, FAIL, CASPARIAN_JOB_FAILED },
        { CASPARIAN_JOB_RUNNING, CANCELLED_BY_RUNNER, CASPARIAN_JOB_CANCELLED },
        { CASPARIAN_JOB_RUNNING, CANCEL, CASPARIAN_JOB_RUNNING }, /* its runner does it */
    };
    (void)state;
    for (int from = 0; from < CASPARIAN_JOB_STATES; from++) {
        for (int action = 0; action < ACTIONS; action++) {
            store_rig rig;
            casparian_claim claim;
            bool expected = false;
            casparian_job_state to = (casparian_job_state)from;
            for (size_t i = 0; i < sizeof legal / sizeof legal[0]; i++) {
                if ((int)legal[i].from != from || (int)legal[i].action != action)
                    continue;
                expected = true;
                to = legal[i].to;
            }
            rig_init(&rig);
            rig_open(&rig);
            int64_t id = make(&rig, (casparian_job_state)from, &claim);
            bool done = act(&rig, (enum action)action, id, &claim);
            if (done != expected || rig_job(&rig, id).state != to)
                fail_msg("state %d, action %d: done %d, then %s", from, action, done,
                         casparian_job_state_text(rig_job(&rig, id).state));
            if (from != (int)to)
                assert_true(casparian_job_may_become((casparian_job_state)from, to));
            rig_close(&rig);
        }
    }
}

/* ---- the queue ------------------------------------------------------------------------------- */

static void the_queue_is_bounded_and_ordered(void **state)
{
    store_rig rig;
    int64_t id = 0;
    int64_t position = 0;
    (void)state;
    rig_init(&rig);
    rig.settings.jobs = (casparian_jobs_settings){ .max_queued = 3, .max_concurrent = 8 };
    rig_open(&rig);
    casparian_job_request request = rig_backtest(&rig);
    int64_t first = rig_queue(&rig);
    int64_t second = rig_queue(&rig);
    request.priority = 5;
    rig_expect(&rig, casparian_job_create(&id, &position, rig.store, &request, &rig.err), MCP_OK);
    assert_int_equal(position, 1);
    rig_expect(&rig, casparian_job_create(&position, NULL, rig.store, &request, &rig.err),
               MCP_E_LIMIT);
    assert_int_equal(rig_claim(&rig, "r").job, id);
    assert_int_equal(rig_claim(&rig, "r").job, first);
    assert_int_equal(rig_claim(&rig, "r").job, second);
    assert_string_equal(rig_events(&rig, id), "job_queued job_started");
    rig_close(&rig);
}

static void only_so_many_run_at_once(void **state)
{
    store_rig rig;
    casparian_claim claim;
    bool found = true;
    (void)state;
    rig_init(&rig);
    rig.settings.jobs.max_concurrent = 2;
    rig_open(&rig);
    for (int i = 0; i < 3; i++)
        rig_queue(&rig);
    claim = rig_claim(&rig, "r1");
    rig_claim(&rig, "r2");
    rig_expect(&rig, casparian_claim_take(&claim, &found, rig.store, "r3", &rig.err), MCP_OK);
    assert_false(found);
    rig_close(&rig);
}

/* Threads with a store each are to one another as processes are. */
typedef struct racer {
    pthread_t thread;
    const store_rig *rig;
    char name[16];
    int claimed;
} racer;

static void *race(void *data)
{
    racer *self = data;
    casparian_store *store = NULL;
    mcp_error err = MCP_ERROR_INIT;
    mcp_status st = casparian_store_open(&store, &self->rig->options, &err);
    for (bool found = true; st == MCP_OK && found;) {
        casparian_claim claim;
        st = casparian_claim_take(&claim, &found, store, self->name, &err);
        self->claimed += st == MCP_OK && found;
    }
    casparian_store_close(store);
    return st == MCP_OK ? NULL : self;
}

static void racing_runners_claim_each_job_once(void **state)
{
    enum { RACERS = 4, JOBS = 7 };
    racer racers[RACERS];
    store_rig rig;
    int claimed = 0;
    (void)state;
    rig_init(&rig);
    rig.settings.jobs.max_concurrent = 8;
    rig_open(&rig);
    for (int i = 0; i < JOBS; i++)
        rig_queue(&rig);
    for (int i = 0; i < RACERS; i++) {
        racers[i] = (racer){ .rig = &rig };
        snprintf(racers[i].name, sizeof racers[i].name, "r%d", i);
        assert_int_equal(pthread_create(&racers[i].thread, NULL, race, &racers[i]), 0);
    }
    for (int i = 0; i < RACERS; i++) {
        void *failed = NULL;
        pthread_join(racers[i].thread, &failed);
        assert_null(failed);
        claimed += racers[i].claimed;
    }
    assert_int_equal(claimed, JOBS);
    assert_int_equal(rig_count(&rig, "SELECT count(*) FROM cf_api_events WHERE "
                                     "event_type = 'job_started'"),
                     JOBS);
    rig_close(&rig);
}

/* ---- leases ---------------------------------------------------------------------------------- */

static void expire_leases(store_rig *rig)
{
    rig_sql(rig, "UPDATE cf_api_jobs SET lease_until = 1 WHERE lease_owner IS NOT NULL");
}

static casparian_recovered recover(store_rig *rig)
{
    casparian_recovered how = CASPARIAN_RECOVERED_QUEUED;
    casparian_claim claim;
    bool found = false;
    rig_expect(rig, casparian_claim_take_expired(&claim, &found, rig->store, "r9", &rig->err),
               MCP_OK);
    assert_true(found);
    rig_expect(rig, casparian_claim_recover(&how, rig->store, &claim, &rig->err), MCP_OK);
    return how;
}

static void a_job_whose_runner_died_runs_once_more(void **state)
{
    store_rig rig;
    (void)state;
    rig_init(&rig);
    rig_open(&rig);
    int64_t id = rig_queue(&rig);
    rig_claim(&rig, "r1");
    expire_leases(&rig);
    assert_int_equal(recover(&rig), CASPARIAN_RECOVERED_QUEUED);
    assert_int_equal(rig_job(&rig, id).restart_count, 1);
    rig_claim(&rig, "r2");
    expire_leases(&rig);
    assert_int_equal(recover(&rig), CASPARIAN_RECOVERED_FAILED);
    casparian_job job = rig_job(&rig, id);
    assert_int_equal(job.state, CASPARIAN_JOB_FAILED);
    assert_string_equal(job.error_code, "interrupted");
    assert_string_equal(job.error_message, "runner disappeared");
    assert_string_equal(rig_events(&rig, id),
                        "job_queued job_started requeued job_started job_finished");
    rig_close(&rig);
}

static void a_cancelled_job_whose_runner_died_is_cancelled(void **state)
{
    casparian_cancelled how;
    store_rig rig;
    (void)state;
    rig_init(&rig);
    rig_open(&rig);
    int64_t id = rig_queue(&rig);
    rig_claim(&rig, "r1");
    rig_expect(&rig, casparian_job_cancel(&how, rig.store, id, "t", &rig.err), MCP_OK);
    expire_leases(&rig);
    assert_int_equal(recover(&rig), CASPARIAN_RECOVERED_CANCELLED);
    assert_int_equal(rig_job(&rig, id).state, CASPARIAN_JOB_CANCELLED);
    rig_close(&rig);
}

static void who_lost_a_job_changes_nothing(void **state)
{
    casparian_text payload;
    bool is_cancelled = false;
    store_rig rig;
    (void)state;
    rig_init(&rig);
    rig_open(&rig);
    int64_t id = rig_queue(&rig);
    casparian_claim old = rig_claim(&rig, "r1");
    expire_leases(&rig);
    recover(&rig);
    casparian_claim now = rig_claim(&rig, "r1"); /* the same name does not help */
    rig_expect(&rig, casparian_claim_beat(rig.store, &old, &is_cancelled, &rig.err), MCP_E_STOPPED);
    rig_expect(
        &rig,
        casparian_claim_report(rig.store, &old, &(casparian_progress){ .phase = "done" }, &rig.err),
        MCP_E_STOPPED);
    rig_expect(&rig, casparian_claim_guard(rig.store, &old, "[]", &rig.err), MCP_E_STOPPED);
    casparian_text_init(&payload);
    rig_expect(&rig, casparian_claim_event(rig.store, &old, "phase", &payload, &rig.err),
               MCP_E_STOPPED);
    rig_expect(&rig,
               casparian_claim_finish(
                   rig.store, &old, &(casparian_end){ .state = CASPARIAN_JOB_COMPLETED }, &rig.err),
               MCP_E_STOPPED);
    assert_int_equal(rig_job(&rig, id).state, CASPARIAN_JOB_RUNNING);
    rig_expect(&rig, casparian_claim_beat(rig.store, &now, &is_cancelled, &rig.err), MCP_OK);
    rig_close(&rig);
}

static void an_expired_lease_that_nobody_took_is_still_held(void **state)
{
    bool is_cancelled = true;
    store_rig rig;
    casparian_claim other;
    bool found = true;
    (void)state;
    rig_init(&rig);
    rig_open(&rig);
    rig_queue(&rig);
    casparian_claim claim = rig_claim(&rig, "r1");
    expire_leases(&rig);
    rig_expect(&rig, casparian_claim_beat(rig.store, &claim, &is_cancelled, &rig.err), MCP_OK);
    assert_false(is_cancelled);
    rig_expect(&rig, casparian_claim_take_expired(&other, &found, rig.store, "r2", &rig.err),
               MCP_OK);
    assert_false(found);
    rig_close(&rig);
}

/* ---- cancelling and committing --------------------------------------------------------------- */

static void a_cancellation_before_the_guard_wins_and_after_it_loses(void **state)
{
    casparian_cancelled how;
    store_rig rig;
    (void)state;
    rig_init(&rig);
    rig.settings.jobs.max_concurrent = 2;
    rig_open(&rig);
    int64_t first = rig_queue(&rig);
    casparian_claim claim = rig_claim(&rig, "r1");
    rig_expect(&rig, casparian_job_cancel(&how, rig.store, first, "tool:x", &rig.err), MCP_OK);
    assert_int_equal(how, CASPARIAN_CANCEL_DONE);
    rig_expect(&rig, casparian_claim_guard(rig.store, &claim, "[]", &rig.err), MCP_E_DENIED);
    assert_string_equal(rig_events(&rig, first), "job_queued job_started cancel_requested");

    int64_t second = rig_queue(&rig);
    claim = rig_claim(&rig, "r1");
    rig_expect(&rig, casparian_claim_guard(rig.store, &claim, "[]", &rig.err), MCP_OK);
    rig_expect(&rig, casparian_job_cancel(&how, rig.store, second, "tool:x", &rig.err), MCP_OK);
    assert_int_equal(how, CASPARIAN_CANCEL_LATE);
    rig_expect(&rig,
               casparian_claim_finish(rig.store, &claim,
                                      &(casparian_end){ .state = CASPARIAN_JOB_COMPLETED,
                                                        .result = "{\"files_total\":1}" },
                                      &rig.err),
               MCP_OK);
    assert_int_equal(rig_job(&rig, second).state, CASPARIAN_JOB_COMPLETED);
    assert_int_equal(rig_count(&rig, "SELECT count(*) FROM cf_commit_intents"), 0);
    rig_expect(&rig, casparian_job_cancel(&how, rig.store, 999, "tool:x", &rig.err), MCP_OK);
    assert_int_equal(how, CASPARIAN_CANCEL_ABSENT);
    rig_close(&rig);
}

/* ---- stalls ---------------------------------------------------------------------------------- */

static void silence_is_a_stall_until_there_is_progress(void **state)
{
    static const char progress[] = "{\"phase\":\"parsing\"}";
    const casparian_job *jobs = NULL;
    size_t count = 0;
    store_rig rig;
    (void)state;
    rig_init(&rig);
    rig_open(&rig);
    int64_t id = rig_queue(&rig);
    casparian_claim claim = rig_claim(&rig, "r1");
    assert_false(rig_job(&rig, id).is_stalled);
    rig_sql(&rig, "UPDATE cf_api_jobs SET progress_updated_at = progress_updated_at - 30001");
    assert_true(rig_job(&rig, id).is_stalled);
    rig_expect(&rig, casparian_note_stalls(rig.store, &rig.err), MCP_OK);
    rig_expect(&rig, casparian_note_stalls(rig.store, &rig.err), MCP_OK);
    rig_expect(&rig,
               casparian_job_list(&jobs, &count, rig.store, rig.arena,
                                  &(casparian_job_filter){ .status = "stalled" }, &rig.err),
               MCP_OK);
    assert_int_equal(count, 1);
    casparian_progress report = { .phase = "parsing",
                                  .progress = progress,
                                  .length = sizeof progress - 1 };
    rig_expect(&rig, casparian_claim_report(rig.store, &claim, &report, &rig.err), MCP_OK);
    assert_true(rig_job(&rig, id).is_stalled); /* a report that nothing has moved */
    report.has_advanced = true;
    rig_expect(&rig, casparian_claim_report(rig.store, &claim, &report, &rig.err), MCP_OK);
    assert_false(rig_job(&rig, id).is_stalled);
    assert_string_equal(rig_events(&rig, id), "job_queued job_started stalled resumed");
    rig_close(&rig);
}

/* ---- what clients see ------------------------------------------------------------------------ */

static const mcp_json *shown(store_rig *rig, int64_t id)
{
    casparian_job job = rig_job(rig, id);
    casparian_text text;
    const mcp_json *json = NULL;
    casparian_text_init(&text);
    casparian_job_write(&text.out, &job);
    rig_expect(rig, casparian_text_end(&text, &rig->err), MCP_OK);
    rig_expect(rig, mcp_json_read(&json, rig->arena, text.buf.data, text.buf.length, &rig->err),
               MCP_OK);
    casparian_text_free(&text);
    return json;
}

static void a_failed_job_shows_its_code_and_what_there_was(void **state)
{
    store_rig rig;
    char id_text[24];
    (void)state;
    rig_init(&rig);
    rig_open(&rig);
    int64_t id = rig_queue(&rig);
    snprintf(id_text, sizeof id_text, "%lld", (long long)id);
    assert_string_equal(mcp_json_get_string(shown(&rig, id), "job_id"), id_text);
    assert_string_equal(mcp_json_get_string(shown(&rig, id), "status"), "queued");
    casparian_claim claim = rig_claim(&rig, "r1");
    const casparian_end end = { .state = CASPARIAN_JOB_FAILED,
                                .error_code = "quarantine_not_allowed",
                                .error_message = "3 of 4 rows of 'trades' are invalid",
                                .result = "{\"files_total\":1}" };
    rig_expect(&rig, casparian_claim_finish(rig.store, &claim, &end, &rig.err), MCP_OK);
    const mcp_json *json = shown(&rig, id);
    assert_string_equal(mcp_json_get_string(json, "error"),
                        "quarantine_not_allowed: 3 of 4 rows of 'trades' are invalid");
    assert_string_equal(mcp_json_get_string(json, "error_code"), "quarantine_not_allowed");
    assert_non_null(mcp_json_get(json, "partial_result"));
    assert_null(mcp_json_get(json, "result"));
    assert_null(mcp_json_get(json, "poll_after_ms"));
    rig_close(&rig);
}

typedef struct waker {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int outcome; /* negative: none yet */
} waker;

static void on_wait_end(void *data, jobs_outcome outcome)
{
    waker *self = data;
    pthread_mutex_lock(&self->lock);
    self->outcome = (int)outcome;
    pthread_cond_signal(&self->changed);
    pthread_mutex_unlock(&self->lock);
}

/* A second store is to the first as another process is. */
static void a_change_of_another_process_ends_a_wait(void **state)
{
    waker wait = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, -1 };
    casparian_cancelled how;
    char key[CASPARIAN_KEY_SIZE];
    store_rig rig;
    (void)state;
    rig_init(&rig);
    rig_open(&rig);
    int64_t id = rig_queue(&rig);
    casparian_store *other = rig.store;
    rig.options.has_waits = true;
    rig_open(&rig);
    casparian_job_key(key, id);
    jobs_waits *waits = casparian_store_waits(rig.store);
    rig_expect(&rig,
               jobs_wait(waits, key, jobs_waits_mark(waits, key), mcp_clock_mono_ms() + 60000,
                         on_wait_end, &wait, &rig.err),
               MCP_OK);
    rig_expect(&rig, casparian_job_cancel(&how, other, id, "t", &rig.err), MCP_OK);
    pthread_mutex_lock(&wait.lock);
    while (wait.outcome < 0)
        pthread_cond_wait(&wait.changed, &wait.lock);
    pthread_mutex_unlock(&wait.lock);
    assert_int_equal(wait.outcome, JOBS_WOKEN);
    casparian_store_close(other);
    rig_close(&rig);
}

static void ids_of_jobs(void **state)
{
    int64_t id = 0;
    (void)state;
    assert_true(casparian_job_id_read(&id, "42"));
    assert_int_equal(id, 42);
    assert_false(casparian_job_id_read(&id, "042"));
    assert_false(casparian_job_id_read(&id, "0"));
    assert_false(casparian_job_id_read(&id, ""));
    assert_false(casparian_job_id_read(&id, "-1"));
    assert_false(casparian_job_id_read(&id, "4x"));
    assert_false(casparian_job_id_read(&id, "1234567890123456789"));
    assert_false(casparian_job_id_read(&id, NULL));
}

static void events_are_bounded_and_the_last_one_is_written(void **state)
{
    const casparian_event *events = NULL;
    size_t count = 0;
    int64_t dropped = 0;
    store_rig rig;
    (void)state;
    rig_init(&rig);
    rig_open(&rig);
    int64_t id = rig_queue(&rig);
    casparian_claim claim = rig_claim(&rig, "r1");
    rig_sql(&rig, "UPDATE cf_api_events SET event_id = 5000 WHERE event_id = 2");
    for (int i = 0; i < 3; i++) {
        casparian_text payload;
        casparian_text_init(&payload);
        rig_expect(&rig, casparian_claim_event(rig.store, &claim, "progress", &payload, &rig.err),
                   MCP_OK);
    }
    rig_expect(&rig,
               casparian_claim_finish(rig.store, &claim,
                                      &(casparian_end){ .state = CASPARIAN_JOB_COMPLETED },
                                      &rig.err),
               MCP_OK);
    rig_expect(&rig,
               casparian_job_events(&events, &count, rig.store, rig.arena, id, 5000, 10, &rig.err),
               MCP_OK);
    assert_int_equal(count, 1);
    assert_string_equal(events[0].type, "job_finished");
    assert_true(mcp_json_int(mcp_json_get(events[0].payload, "dropped_events"), &dropped));
    assert_int_equal(dropped, 3);
    rig_close(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_transition_from_every_state),
        cmocka_unit_test(the_queue_is_bounded_and_ordered),
        cmocka_unit_test(only_so_many_run_at_once),
        cmocka_unit_test(racing_runners_claim_each_job_once),
        cmocka_unit_test(a_job_whose_runner_died_runs_once_more),
        cmocka_unit_test(a_cancelled_job_whose_runner_died_is_cancelled),
        cmocka_unit_test(who_lost_a_job_changes_nothing),
        cmocka_unit_test(an_expired_lease_that_nobody_took_is_still_held),
        cmocka_unit_test(a_cancellation_before_the_guard_wins_and_after_it_loses),
        cmocka_unit_test(silence_is_a_stall_until_there_is_progress),
        cmocka_unit_test(a_failed_job_shows_its_code_and_what_there_was),
        cmocka_unit_test(a_change_of_another_process_ends_a_wait),
        cmocka_unit_test(ids_of_jobs),
        cmocka_unit_test(events_are_bounded_and_the_last_one_is_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
