/*
 * test_clock.c - the clock of the machine is set a day back or forth: leases, requests, proposed
 * schemas and old jobs are judged by what it shows, and no job waits for a day.
 */
#include "jobs/runner.h"
#include "jobs/state/peek.h"
#include "jobs/sweep.h"
#include "mcp/clock.h"
#include "store_rig.h"

#define HOUR_MS INT64_C(3600000)
#define DAY_MS (24 * HOUR_MS)
#define LEASE_MS 45000

/* ---- the clock ------------------------------------------------------------------------------- */

static int64_t set_by_ms;

int64_t __real_mcp_clock_wall_ms(void);
int64_t __wrap_mcp_clock_wall_ms(void);

int64_t __wrap_mcp_clock_wall_ms(void)
{
    return __real_mcp_clock_wall_ms() + set_by_ms;
}

static int rig_begin(void **state)
{
    store_rig *rig = malloc(sizeof *rig);
    set_by_ms = 0;
    rig_init(rig);
    rig_open(rig);
    *state = rig;
    return 0;
}

static int rig_end(void **state)
{
    rig_close(*state);
    free(*state);
    return 0;
}

/* ---- leases ---------------------------------------------------------------------------------- */

static bool take_expired(store_rig *rig, casparian_claim *claim)
{
    casparian_peek peek;
    bool found = false;
    rig_expect(rig, casparian_peek_read(&peek, rig->store, &rig->err), MCP_OK);
    if (!peek.has_expired)
        return false;
    rig_expect(rig, casparian_claim_take_expired(claim, &found, rig->store, "r2", &rig->err),
               MCP_OK);
    return found;
}

static void a_dead_runner_of_tomorrow_holds_a_job_no_longer_than_a_lease(void **state)
{
    store_rig *rig = *state;
    casparian_claim taken;
    casparian_recovered how;
    int64_t id = rig_queue(rig);
    rig_claim(rig, "r1");
    set_by_ms = -DAY_MS;
    assert_false(take_expired(rig, &taken)); /* shortened: its runner may be alive */
    set_by_ms += LEASE_MS - 5000;
    assert_false(take_expired(rig, &taken));
    set_by_ms += 10000;
    assert_true(take_expired(rig, &taken));
    assert_int_equal(taken.job, id);
    rig_expect(rig, casparian_claim_recover(&how, rig->store, &taken, &rig->err), MCP_OK);
    assert_int_equal(how, CASPARIAN_RECOVERED_QUEUED);
    assert_int_equal(rig_claim(rig, "r2").job, id);
}

static void a_live_runner_keeps_its_job(void **state)
{
    static const int64_t steps[] = { -DAY_MS, 2 * DAY_MS, -DAY_MS };
    store_rig *rig = *state;
    casparian_claim taken;
    bool is_cancelled = false;
    rig_queue(rig);
    casparian_claim claim = rig_claim(rig, "r1");
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        set_by_ms += steps[i];
        rig_expect(rig, casparian_claim_beat(rig->store, &claim, &is_cancelled, &rig->err), MCP_OK);
        assert_false(take_expired(rig, &taken));
    }
    rig_expect(rig,
               casparian_claim_finish(rig->store, &claim,
                                      &(casparian_end){ .state = CASPARIAN_JOB_COMPLETED },
                                      &rig->err),
               MCP_OK);
}

static void a_runner_of_tomorrow_is_not_alive(void **state)
{
    store_rig *rig = *state;
    bool is_alive = false;
    rig_expect(rig, casparian_runner_note(rig->store, "r1", &rig->err), MCP_OK);
    rig_expect(rig, casparian_runner_is_alive(rig->store, &is_alive, &rig->err), MCP_OK);
    assert_true(is_alive);
    set_by_ms = -DAY_MS;
    rig_expect(rig, casparian_runner_is_alive(rig->store, &is_alive, &rig->err), MCP_OK);
    assert_false(is_alive);
    rig_expect(rig, casparian_runner_note(rig->store, "r1", &rig->err), MCP_OK); /* it lives */
    rig_expect(rig, casparian_runner_is_alive(rig->store, &is_alive, &rig->err), MCP_OK);
    assert_true(is_alive);
}

/* ---- requests -------------------------------------------------------------------------------- */

static casparian_decided approve(store_rig *rig, const char *id)
{
    const casparian_decision decision = { .id = id, .approves = true, .by = "cli:ada@host" };
    casparian_decided decided = CASPARIAN_DECIDED_ABSENT;
    casparian_approval approval;
    rig_expect(rig,
               casparian_approval_decide(&decided, &approval, rig->store, rig->arena, &decision,
                                         &rig->err),
               MCP_OK);
    return decided;
}

static void a_request_expires_when_the_clock_shows_it(void **state)
{
    store_rig *rig = *state;
    casparian_approval approval;
    const char *before = rig_request(rig).id, *late = rig_request(rig).id;
    set_by_ms = -DAY_MS;
    assert_int_equal(approve(rig, before), CASPARIAN_DECIDED_APPROVED);
    set_by_ms = DAY_MS;
    assert_int_equal(approve(rig, late), CASPARIAN_DECIDED_EXPIRED);
    set_by_ms = 0; /* what has expired stays so */
    rig_expect(rig, casparian_approval_read(&approval, rig->store, rig->arena, late, &rig->err),
               MCP_OK);
    assert_string_equal(approval.status, "expired");
}

/* ---- what the sweep deletes ------------------------------------------------------------------ */

static void jobs_and_proposals_go_when_the_clock_shows_it(void **state)
{
    store_rig *rig = *state;
    casparian_ephemeral proposal;
    casparian_swept swept;
    const casparian_schemas schemas = rig_schemas(
        rig, "{\"a\":{\"output_name\":\"a\",\"columns\":[{\"name\":\"x\",\"type\":\"string\"}]}}");
    rig_expect(rig,
               casparian_ephemeral_propose(&proposal, rig->store, rig->arena, &schemas,
                                           "ai_iteration", NULL, &rig->err),
               MCP_OK);
    rig_queue(rig);
    const casparian_claim claim = rig_claim(rig, "r1");
    rig_expect(rig,
               casparian_claim_finish(rig->store, &claim,
                                      &(casparian_end){ .state = CASPARIAN_JOB_FAILED }, &rig->err),
               MCP_OK);
    set_by_ms = -DAY_MS;
    rig_expect(rig, casparian_sweep(rig->store, &swept, &rig->err), MCP_OK);
    assert_int_equal(swept.jobs + swept.ephemerals, 0);
    set_by_ms = DAY_MS - HOUR_MS;
    rig_expect(rig, casparian_sweep(rig->store, &swept, &rig->err), MCP_OK);
    assert_int_equal(swept.jobs + swept.ephemerals, 0);
    set_by_ms = DAY_MS + HOUR_MS;
    rig_expect(rig, casparian_sweep(rig->store, &swept, &rig->err), MCP_OK);
    assert_int_equal(swept.jobs, 1);
    assert_int_equal(swept.ephemerals, 0);
    set_by_ms = 7 * DAY_MS + HOUR_MS;
    rig_expect(rig, casparian_sweep(rig->store, &swept, &rig->err), MCP_OK);
    assert_int_equal(swept.ephemerals, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            a_dead_runner_of_tomorrow_holds_a_job_no_longer_than_a_lease, rig_begin, rig_end),
        cmocka_unit_test_setup_teardown(a_live_runner_keeps_its_job, rig_begin, rig_end),
        cmocka_unit_test_setup_teardown(a_runner_of_tomorrow_is_not_alive, rig_begin, rig_end),
        cmocka_unit_test_setup_teardown(a_request_expires_when_the_clock_shows_it, rig_begin,
                                        rig_end),
        cmocka_unit_test_setup_teardown(jobs_and_proposals_go_when_the_clock_shows_it, rig_begin,
                                        rig_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
