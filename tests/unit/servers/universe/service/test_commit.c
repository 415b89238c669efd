/*
 * test_commit.c - changes that share a commit: each sender gets its own version.
 */
#include "../service_rig.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

enum { SENDERS = 6 };

struct sender {
    universe_service *service;
    int number;
    int64_t version;
    size_t bodies;
};

static void *send_one(void *data)
{
    struct sender *sender = data;
    service_rig own = { .service = sender->service, .arena = mcp_arena_new(0) };
    universe_result result;
    const char *id = mcp_arena_printf(own.arena, "b-%d", sender->number);
    if (service_rig_try(&result, &own, "u-1", service_rig_body(&own, id)) == MCP_OK) {
        sender->version = result.current.record.version;
        sender->bodies = universe_view_count(result.current.view, UNIVERSE_STARS);
        universe_view_free(result.current.view);
    }
    mcp_arena_free(own.arena);
    return NULL;
}

/* The database is held until all of them wait: one is being committed, the others share the next
 * commit. */
static void each_sender_gets_the_version_that_it_made(void **unused)
{
    const universe_service_options options = { 0 };
    struct sender senders[SENDERS];
    pthread_t threads[SENDERS];
    universe_figures figures = { 0 };
    db_session *held = NULL;
    db *other = NULL;
    scratch folder;
    char url[SCRATCH_PATH_MAX + 16];
    unsigned versions = 0;
    (void)unused;

    scratch_open(&folder);
    snprintf(url, sizeof url, "sqlite:%s", scratch_path(&folder, "u.db"));
    service_rig rig = service_rig_open(url, options);
    service_rig_create(&rig, "u-1", NULL);
    assert_int_equal(db_open(&other, url, NULL, &rig.err), MCP_OK);
    assert_int_equal(db_begin(&held, other, DB_WRITE, &rig.err), MCP_OK);
    for (int i = 0; i < SENDERS; i++) {
        senders[i] = (struct sender){ .service = rig.service, .number = i };
        assert_int_equal(pthread_create(&threads[i], NULL, send_one, &senders[i]), 0);
    }
    for (int ms = 0; figures.waiting < SENDERS - 1 && ms < 5000; ms += 20) {
        service_rig_pause();
        universe_service_figures(&figures, rig.service);
    }
    db_rollback(held);
    for (int i = 0; i < SENDERS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < SENDERS; i++) {
        assert_in_range(senders[i].version, 1, SENDERS);
        versions |= 1u << senders[i].version;
        assert_int_equal(senders[i].bodies, senders[i].version); /* one more with each */
    }
    assert_int_equal(versions, (1u << (SENDERS + 1)) - 2);
    service_rig_close(&rig);
    db_close(other);
    scratch_close(&folder);
}

/* ---- without waiting ------------------------------------------------------------------------- */

static sem_t told;

static void tell(void *data)
{
    assert_ptr_equal(data, &told);
    sem_post(&told);
}

static universe_submission submission_of(service_rig *rig, universe_command *command,
                                         const char *body)
{
    command->text = service_rig_body(rig, body);
    command->length = strlen(command->text);
    assert_int_equal(
        mcp_json_read(&command->json, rig->arena, command->text, command->length, &rig->err),
        MCP_OK);
    return (universe_submission){ .id = "u-1",
                                  .commands = command,
                                  .count = 1,
                                  .expected = UNIVERSE_ANY_VERSION,
                                  .arena = rig->arena,
                                  .done = tell,
                                  .data = &told };
}

/* Begun, told and ended: the version that it led to. */
static int64_t send_without_waiting(service_rig *rig, const char *body, bool may_wait)
{
    universe_command command;
    universe_submission submission = submission_of(rig, &command, body);
    universe_result result = { 0 };

    if (universe_service_submit_begin(&submission, rig->service, may_wait, &rig->err) != MCP_OK)
        fail_msg("%s", rig->err.message);
    sem_wait(&told);
    assert_int_equal(submission.status, MCP_OK);
    assert_false(submission.is_stale);
    assert_int_equal(universe_service_submit_end(&result, &submission, &rig->err), MCP_OK);
    assert_int_equal(result.answer, UNIVERSE_DONE);
    assert_true(service_rig_has_body(result.current.view, body));
    universe_view_free(result.current.view);
    return result.current.record.version;
}

static void a_sender_that_may_not_wait_is_refused(void **unused)
{
    const universe_service_options options = { 0 };
    universe_command command;
    scratch folder;
    char url[SCRATCH_PATH_MAX + 16];
    (void)unused;

    sem_init(&told, 0, 0);
    scratch_open(&folder);
    snprintf(url, sizeof url, "sqlite:%s", scratch_path(&folder, "u.db"));
    service_rig rig = service_rig_open(url, options);
    service_rig_create(&rig, "u-1", NULL);
    service_rig_close(&rig);

    rig = service_rig_open(url, options); /* nothing is in memory */
    universe_submission submission = submission_of(&rig, &command, "b-0");
    assert_int_equal(universe_service_submit_begin(&submission, rig.service, false, &rig.err),
                     MCP_E_DEFERRED);
    assert_int_equal(send_without_waiting(&rig, "b-1", true), 1);
    assert_int_equal(send_without_waiting(&rig, "b-2", false), 2); /* it is loaded now */
    assert_int_not_equal(sem_trywait(&told), 0);
    submission.id = "";
    assert_int_equal(universe_service_submit_begin(&submission, rig.service, false, &rig.err),
                     MCP_E_NOT_FOUND);
    submission.count = 0;
    assert_int_equal(universe_service_submit_begin(&submission, rig.service, false, &rig.err),
                     MCP_E_PARAMS);
    service_rig_close(&rig);
    scratch_close(&folder);
    sem_destroy(&told);
}

static void what_is_refused_at_once_is_not_told(void **unused)
{
    const universe_service_options options = { 0 }, reading = { .read_only = true };
    universe_command command;
    scratch folder;
    char url[SCRATCH_PATH_MAX + 16];
    (void)unused;

    sem_init(&told, 0, 0);
    scratch_open(&folder);
    snprintf(url, sizeof url, "sqlite:%s", scratch_path(&folder, "u.db"));
    service_rig rig = service_rig_open(url, options);
    service_rig_create(&rig, "u-1", NULL);
    service_rig_close(&rig);
    rig = service_rig_open(url, reading);
    universe_submission submission = submission_of(&rig, &command, "b-0");
    assert_int_equal(universe_service_submit_begin(&submission, rig.service, true, &rig.err),
                     MCP_E_DENIED);
    service_rig_close(&rig); /* nothing is on its way any more */
    assert_int_not_equal(sem_trywait(&told), 0);
    scratch_close(&folder);
    sem_destroy(&told);
}

/* Another process has replaced the universe: the command is tried again by a sender that may
 * wait. */
static void one_for_an_older_universe_is_tried_again(void **unused)
{
    const universe_service_options options = { 0 };
    universe_command command;
    universe_result result = { 0 };
    int64_t version = 0;
    scratch folder;
    char url[SCRATCH_PATH_MAX + 16];
    (void)unused;

    sem_init(&told, 0, 0);
    scratch_open(&folder);
    snprintf(url, sizeof url, "sqlite:%s", scratch_path(&folder, "u.db"));
    service_rig here = service_rig_open(url, options), there = service_rig_open(url, options);
    service_rig_create(&here, "u-1", NULL);
    service_rig_send(&here, "u-1", service_rig_body(&here, "old"));
    assert_int_equal(
        universe_service_delete(&version, there.service, "u-1", UNIVERSE_ANY_VERSION, &there.err),
        MCP_OK);
    service_rig_create(&there, "u-1", NULL);
    service_rig_send(&there, "u-1", service_rig_body(&there, "new"));

    universe_submission submission = submission_of(&here, &command, "next");
    assert_int_equal(universe_service_submit_begin(&submission, here.service, true, &here.err),
                     MCP_OK);
    sem_wait(&told);
    assert_int_equal(universe_service_submit_end(&result, &submission, &here.err), MCP_OK);
    assert_int_equal(result.answer, UNIVERSE_DONE);
    assert_int_equal(result.current.record.version, 2);
    assert_true(service_rig_has_body(result.current.view, "new"));
    assert_false(service_rig_has_body(result.current.view, "old"));
    universe_view_free(result.current.view);
    service_rig_close(&here);
    service_rig_close(&there);
    scratch_close(&folder);
    sem_destroy(&told);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sender_that_may_not_wait_is_refused),
        cmocka_unit_test(what_is_refused_at_once_is_not_told),
        cmocka_unit_test(one_for_an_older_universe_is_tried_again),
        cmocka_unit_test(each_sender_gets_the_version_that_it_made),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
