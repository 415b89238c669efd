/*
 * test_commit.c - changes that share a commit: each sender is told of its own moment.
 */
#include "../service_rig.h"

#include <pthread.h>
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
    universe_sent sent;
    const char *id = mcp_arena_printf(own.arena, "b-%d", sender->number);
    if (service_rig_try(&sent, &own, "u-1", service_rig_body(&own, id)) == MCP_OK) {
        sender->version = sent.moment.record.version;
        sender->bodies = universe_view_count(sent.moment.view, UNIVERSE_STARS);
        universe_view_free(sent.moment.view);
    }
    mcp_arena_free(own.arena);
    return NULL;
}

/* The database is held until all of them wait: one is being committed, the others share the next commit. */
static void each_sender_is_told_the_version_that_it_made(void **unused)
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_sender_is_told_the_version_that_it_made),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
