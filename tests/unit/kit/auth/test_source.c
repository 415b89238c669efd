/*
 * test_source.c - when keys are read again, from a file and from an address, with a clock of the
 * test's own.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "auth/source.h"
#include "key_server.h"
#include "mint.h"
#include "scratch.h"

#define MINUTE INT64_C(60000)

static atomic_llong now_ms;

static int64_t test_clock(void)
{
    return atomic_load(&now_ms);
}

struct world {
    mcp_arena *arena;
    scratch folder;
    key_server *server;
    auth_source *source;
    const char *one; /* sets of keys: of one key, of two */
    const char *two;
    mcp_error err;
    pthread_mutex_t lock; /* guards what follows */
    char logged[512];     /* the last line */
    int lines;
};

static void remember(mcp_log_level level, const char *message, void *data)
{
    struct world *world = data;

    (void)level;
    pthread_mutex_lock(&world->lock);
    snprintf(world->logged, sizeof world->logged, "%s", message);
    world->lines++;
    pthread_mutex_unlock(&world->lock);
}

static int set_up(void **state)
{
    static struct world world;
    EVP_PKEY *key = mint_ec("P-256");

    memset(&world, 0, sizeof world);
    pthread_mutex_init(&world.lock, NULL);
    world.arena = mcp_arena_new(0);
    world.one = mint_jwks(world.arena, mint_jwk(world.arena, key, ",\"kid\":\"a\""), NULL, NULL);
    world.two = mint_jwks(world.arena, mint_jwk(world.arena, key, ",\"kid\":\"a\""),
                          mint_jwk(world.arena, key, ",\"kid\":\"b\""), NULL);
    EVP_PKEY_free(key);
    scratch_open(&world.folder);
    world.server = key_server_start(NULL, NULL);
    atomic_store(&now_ms, 1000000);
    *state = &world;
    return 0;
}

static int tear_down(void **state)
{
    struct world *world = *state;

    auth_source_close(world->source);
    key_server_end(world->server);
    scratch_close(&world->folder);
    mcp_arena_free(world->arena);
    pthread_mutex_destroy(&world->lock);
    return 0;
}

static mcp_status open_source(struct world *world, const char *file, const char *url)
{
    auth_source_options options = {
        .file = file,
        .url = url,
        .rsa_alg = auth_algorithm_find("RS256"),
        .log = { remember, world, MCP_LOG_WARNING },
        .mono_ms = test_clock,
    };

    return auth_source_open(&world->source, &options, &world->err);
}

static mcp_status open_file(struct world *world, const char *text)
{
    scratch_write(&world->folder, "keys.json", text, strlen(text));
    return open_source(
        world, mcp_arena_strdup(world->arena, scratch_path(&world->folder, "keys.json")), NULL);
}

static mcp_status open_url(struct world *world, const char *head, const char *body)
{
    key_server_answer(world->server, head, body);
    return open_source(world, NULL, key_server_url(world->server));
}

/* How many keys are taken; -1 and the status in world->err when none are. */
static int taken(struct world *world, uint64_t beyond, uint64_t *generation)
{
    auth_keys *keys = NULL;

    if (auth_source_take(&keys, world->source, beyond, &world->err) != MCP_OK)
        return -1;
    int count = (int)auth_keys_count(keys);
    if (generation)
        *generation = auth_keys_generation(keys);
    auth_keys_release(keys);
    return count;
}

static void pass(int64_t ms)
{
    atomic_fetch_add(&now_ms, ms);
}

/* ---- a file ---------------------------------------------------------------------------------- */

static void a_file_is_read_again_when_it_changes(void **state)
{
    struct world *world = *state;
    uint64_t before = 0;
    uint64_t after = 0;

    assert_int_equal(open_file(world, world->one), MCP_OK);
    assert_int_equal(taken(world, 0, &before), 1);
    scratch_write(&world->folder, "keys.json", world->two, strlen(world->two));
    assert_int_equal(taken(world, 0, NULL), 1); /* not looked at for a second */
    pass(AUTH_FILE_PAUSE_MS - 1);
    assert_int_equal(taken(world, before, NULL), 1);
    pass(1);
    assert_int_equal(taken(world, 0, &after), 2);
    assert_true(after > before);
}

static void a_file_that_says_the_same_changes_nothing(void **state)
{
    struct world *world = *state;
    uint64_t before = 0;
    uint64_t after = 0;

    assert_int_equal(open_file(world, world->one), MCP_OK);
    assert_int_equal(taken(world, 0, &before), 1);
    scratch_write(&world->folder, "keys.json", world->one, strlen(world->one));
    pass(MINUTE);
    assert_int_equal(taken(world, 0, &after), 1);
    assert_int_equal(after, before);
}

/* Replaced by one of the same size and times, as a careful tool would: the inode tells. */
static void a_replaced_file_is_read(void **state)
{
    struct world *world = *state;
    const struct timespec old[2] = { { 1000000000, 0 }, { 1000000000, 0 } };
    size_t length = strlen(world->one);
    char *other = mcp_arena_strdup(world->arena, world->one);

    strstr(other, "\"kid\":\"a\"")[7] = 'c';
    assert_int_equal(open_file(world, world->one), MCP_OK);
    scratch_write(&world->folder, "new.json", other, length);
    assert_int_equal(utimensat(world->folder.fd, "keys.json", old, 0), 0);
    assert_int_equal(utimensat(world->folder.fd, "new.json", old, 0), 0);
    pass(MINUTE);
    uint64_t before = 0;
    uint64_t after = 0;
    assert_int_equal(taken(world, 0, &before), 1);
    assert_int_equal(renameat(world->folder.fd, "new.json", world->folder.fd, "keys.json"), 0);
    pass(MINUTE);
    assert_int_equal(taken(world, 0, &after), 1);
    assert_true(after > before);
}

static void a_broken_file_leaves_the_last_keys_for_a_while(void **state)
{
    struct world *world = *state;

    assert_int_equal(open_file(world, world->one), MCP_OK);
    scratch_write(&world->folder, "keys.json", "{\"keys\":[", 9);
    for (int i = 0; i < 5; i++) {
        pass(MINUTE);
        assert_int_equal(taken(world, 0, NULL), 1);
    }
    assert_int_equal(world->lines, 1); /* it is logged once */
    assert_non_null(strstr(world->logged, "auth: no keys from "));
    pass(AUTH_FRESH_MS + AUTH_STALE_MS - 5 * MINUTE);
    assert_int_equal(taken(world, 0, NULL), -1);
    assert_int_equal(world->err.status, MCP_E_IO);
    scratch_write(&world->folder, "keys.json", world->two, strlen(world->two));
    pass(MINUTE);
    assert_int_equal(taken(world, 0, NULL), 2);
}

/* Mended by putting back what was there before: no other keys, but fresh ones. */
static void a_mended_file_is_fresh(void **state)
{
    struct world *world = *state;

    assert_int_equal(open_file(world, world->one), MCP_OK);
    scratch_write(&world->folder, "keys.json", "", 0);
    pass(AUTH_STALE_MS);
    assert_int_equal(taken(world, 0, NULL), 1);
    scratch_write(&world->folder, "keys.json", world->one, strlen(world->one));
    pass(MINUTE);
    assert_int_equal(taken(world, 0, NULL), 1);
    pass(AUTH_STALE_MS);
    assert_int_equal(taken(world, 0, NULL), 1);
}

static void a_file_emptied_of_keys_takes_them_away(void **state)
{
    struct world *world = *state;

    assert_int_equal(open_file(world, world->one), MCP_OK);
    scratch_write(&world->folder, "keys.json", "{\"keys\":[]}", 11);
    pass(MINUTE);
    assert_int_equal(taken(world, 0, NULL), 0);
}

static void a_file_must_be_good_at_first(void **state)
{
    struct world *world = *state;
    char *long_text = mcp_arena_alloc(world->arena, AUTH_KEYS_TEXT_MAX + 8192);
    const char *fifo = mcp_arena_strdup(world->arena, scratch_path(&world->folder, "fifo"));

    assert_int_equal(open_source(world, scratch_path(&world->folder, "none.json"), NULL),
                     MCP_E_NOT_FOUND);
    assert_int_equal(open_source(world, world->folder.path, NULL), MCP_E_IO);
    assert_int_equal(mkfifo(fifo, 0600), 0);
    assert_int_equal(open_source(world, fifo, NULL), MCP_E_IO);
    assert_int_equal(open_file(world, "nonsense"), MCP_E_PARSE);
    assert_int_equal(open_file(world, "{\"keys\":[]}"), MCP_E_PARAMS);
    assert_non_null(strstr(world->err.message, "has no key to use"));
    memset(long_text, ' ', AUTH_KEYS_TEXT_MAX + 1);
    assert_int_equal(open_file(world, long_text), MCP_E_LIMIT);
    memset(long_text, ' ', AUTH_KEYS_TEXT_MAX + 8000);
    assert_int_equal(open_file(world, long_text), MCP_E_LIMIT);
    assert_null(world->source);
}

/* ---- an address ------------------------------------------------------------------------------ */

static void keys_are_fetched_at_first_and_when_they_are_old(void **state)
{
    struct world *world = *state;

    assert_int_equal(open_url(world, "200 OK", world->one), MCP_OK);
    assert_int_equal(key_server_requests(world->server), 1);
    key_server_answer(world->server, "200 OK", world->two);
    pass(AUTH_FRESH_MS - 1);
    assert_int_equal(taken(world, 0, NULL), 1);
    assert_int_equal(key_server_requests(world->server), 1);
    pass(1);
    assert_int_equal(taken(world, 0, NULL), 2);
    assert_int_equal(key_server_requests(world->server), 2);
}

static void a_missing_key_makes_a_fetch_but_not_twice_a_minute(void **state)
{
    struct world *world = *state;
    uint64_t generation = 0;

    assert_int_equal(open_url(world, "200 OK", world->one), MCP_OK);
    assert_int_equal(taken(world, 0, &generation), 1);
    for (int i = 0; i < 20; i++)
        assert_int_equal(taken(world, generation, NULL), 1);
    assert_int_equal(key_server_requests(world->server), 1);
    pass(AUTH_FETCH_PAUSE_MS);
    for (int i = 0; i < 20; i++)
        assert_int_equal(taken(world, generation, NULL), 1);
    assert_int_equal(key_server_requests(world->server), 2);
    key_server_answer(world->server, "200 OK", world->two);
    pass(AUTH_FETCH_PAUSE_MS);
    assert_int_equal(taken(world, generation, NULL), 2);
    /* Who still looks beyond the old set is given the new one without a fetch. */
    pass(AUTH_FETCH_PAUSE_MS);
    assert_int_equal(taken(world, generation, NULL), 2);
    assert_int_equal(key_server_requests(world->server), 3);
}

static void an_address_that_fails_at_first_is_asked_again(void **state)
{
    struct world *world = *state;

    assert_int_equal(open_url(world, "503 Later", ""), MCP_OK);
    assert_int_equal(taken(world, 0, NULL), -1);
    assert_int_equal(world->err.status, MCP_E_IO);
    assert_int_equal(key_server_requests(world->server), 1);
    key_server_answer(world->server, "200 OK", world->one);
    assert_int_equal(taken(world, 0, NULL), -1);
    pass(AUTH_FETCH_PAUSE_MS);
    assert_int_equal(taken(world, 0, NULL), 1);
}

/* A redirect, an error, too much, or nonsense: the last keys stay, for FRESH and STALE. */
static void an_address_that_fails_leaves_the_last_keys_for_a_while(void **state)
{
    struct world *world = *state;
    char *long_text = mcp_arena_alloc(world->arena, AUTH_KEYS_TEXT_MAX + 2);
    const struct {
        const char *head;
        const char *body;
    } answers[] = {
        { "302 Found\r\nLocation: /elsewhere", "" },
        { "500 No", world->two },
        { "200 OK", "<html>" },
        { "200 OK", "{}" },
        { "200 OK", long_text },
    };

    assert_int_equal(open_url(world, "200 OK", world->one), MCP_OK);
    memset(long_text, ' ', AUTH_KEYS_TEXT_MAX + 1);
    memcpy(long_text, world->two, strlen(world->two));
    pass(AUTH_FRESH_MS);
    for (int i = 0; i < 5; i++) {
        key_server_answer(world->server, answers[i].head, answers[i].body);
        assert_int_equal(taken(world, 0, NULL), 1);
        assert_int_equal(key_server_requests(world->server), i + 2);
        assert_int_equal(world->lines, i + 1);
        pass(AUTH_FETCH_PAUSE_MS);
    }
    pass(AUTH_STALE_MS - 5 * AUTH_FETCH_PAUSE_MS - 1);
    assert_int_equal(taken(world, 0, NULL), 1);
    pass(1);
    assert_int_equal(taken(world, 0, NULL), -1);
    assert_int_equal(world->err.status, MCP_E_IO);
}

struct looker {
    struct world *world;
    uint64_t beyond;
    int count;
};

static void *look(void *data)
{
    struct looker *looker = data;

    looker->count = taken(looker->world, looker->beyond, NULL);
    return NULL;
}

/* One thread fetches; a thread with usable keys continues, one without waits a moment. */
static void one_fetch_at_a_time(void **state)
{
    struct world *world = *state;
    uint64_t generation = 0;
    pthread_t threads[3];

    assert_int_equal(open_url(world, "200 OK", world->one), MCP_OK);
    assert_int_equal(taken(world, 0, &generation), 1);
    key_server_answer(world->server, "200 OK", world->two);
    key_server_hold(world->server);
    pass(AUTH_FETCH_PAUSE_MS);
    struct looker fetching = { world, generation, 0 };
    assert_int_equal(pthread_create(&threads[0], NULL, look, &fetching), 0);
    key_server_wait(world->server, 2);

    assert_int_equal(taken(world, 0, NULL), 1);
    assert_int_equal(taken(world, generation, NULL), -1);
    assert_int_equal(world->err.status, MCP_E_BUSY);

    struct looker waiting[2] = { { world, generation, 0 }, { world, generation, 0 } };
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i + 1], NULL, look, &waiting[i]), 0);
    key_server_let_go(world->server);
    for (int i = 0; i < 3; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_int_equal(fetching.count, 2);
    assert_int_equal(waiting[0].count, 2);
    assert_int_equal(waiting[1].count, 2);
    assert_int_equal(key_server_requests(world->server), 2);
}

static void an_address_must_be_https(void **state)
{
    struct world *world = *state;

    assert_int_equal(open_source(world, NULL, "http://as.example/keys"), MCP_E_PARAMS);
    assert_null(world->source);
}

#define WITH_WORLD(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_WORLD(a_file_is_read_again_when_it_changes),
        WITH_WORLD(a_file_that_says_the_same_changes_nothing),
        WITH_WORLD(a_replaced_file_is_read),
        WITH_WORLD(a_broken_file_leaves_the_last_keys_for_a_while),
        WITH_WORLD(a_mended_file_is_fresh),
        WITH_WORLD(a_file_emptied_of_keys_takes_them_away),
        WITH_WORLD(a_file_must_be_good_at_first),
        WITH_WORLD(keys_are_fetched_at_first_and_when_they_are_old),
        WITH_WORLD(a_missing_key_makes_a_fetch_but_not_twice_a_minute),
        WITH_WORLD(an_address_that_fails_at_first_is_asked_again),
        WITH_WORLD(an_address_that_fails_leaves_the_last_keys_for_a_while),
        WITH_WORLD(one_fetch_at_a_time),
        WITH_WORLD(an_address_must_be_https),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
