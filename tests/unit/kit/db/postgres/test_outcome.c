/*
 * test_outcome.c - a connection that breaks in the very commit, before the server has
 * heard of it or after.
 *
 * Between the driver and the server stands a relay of bytes that cuts a connection where the
 * test says.
 */
#include <arpa/inet.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "db/db.h"
#include "engine.h"
#include "postgres.h"

enum { PAIRS_MAX = 16 };

/* Where the next connection that commits is cut. */
enum cut { NOWHERE, BEFORE_COMMIT, BEHIND_COMMIT };

struct pair {
    int client, server; /* -1: none */
    bool has_committed; /* the server has been sent it */
};

struct relay {
    int listener, port, server_port;
    int stop[2];
    pthread_t thread;
    atomic_int cut;
    struct pair pairs[PAIRS_MAX];
};

static struct sockaddr_in local(int port)
{
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };

    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return at;
}

static void end_pair(struct pair *pair)
{
    close(pair->client);
    close(pair->server);
    *pair = (struct pair){ -1, -1, false };
}

static void take_connection(struct relay *self)
{
    struct sockaddr_in at = local(self->server_port);
    struct pair *pair = self->pairs;

    while (pair->client >= 0)
        pair++;
    pair->client = accept(self->listener, NULL, NULL);
    pair->server = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(pair->server, (struct sockaddr *)&at, sizeof at) != 0)
        end_pair(pair);
}

static void pass_on(struct relay *self, struct pair *pair, bool is_clients)
{
    static const char commit[] = "COMMIT"; /* with the NUL that ends a statement */
    char bytes[8192];
    ssize_t length = read(is_clients ? pair->client : pair->server, bytes, sizeof bytes);
    int cut = atomic_load(&self->cut);
    bool commits = is_clients && length > 0 && cut != NOWHERE &&
                   memmem(bytes, (size_t)length, commit, sizeof commit);

    if (length <= 0 || (commits && cut == BEFORE_COMMIT) || (!is_clients && pair->has_committed)) {
        if (commits || pair->has_committed)
            atomic_store(&self->cut, NOWHERE);
        end_pair(pair);
        return;
    }
    pair->has_committed = commits;
    if (write(is_clients ? pair->server : pair->client, bytes, (size_t)length) != length)
        end_pair(pair);
}

static void *relay(void *data)
{
    struct relay *self = data;

    for (;;) {
        struct pollfd fds[2 + 2 * PAIRS_MAX] = { { self->stop[0], POLLIN, 0 },
                                                 { self->listener, POLLIN, 0 } };
        for (int i = 0; i < PAIRS_MAX; i++) {
            fds[2 + 2 * i] = (struct pollfd){ self->pairs[i].client, POLLIN, 0 };
            fds[3 + 2 * i] = (struct pollfd){ self->pairs[i].server, POLLIN, 0 };
        }
        (void)poll(fds, 2 + 2 * PAIRS_MAX, -1);
        if (fds[0].revents)
            return NULL;
        for (int i = 0; i < PAIRS_MAX; i++) {
            if (fds[2 + 2 * i].revents)
                pass_on(self, &self->pairs[i], true);
            else if (fds[3 + 2 * i].revents)
                pass_on(self, &self->pairs[i], false);
        }
        if (fds[1].revents)
            take_connection(self);
    }
}

static void start_relay(struct relay *self)
{
    struct sockaddr_in at = local(0);
    socklen_t size = sizeof at;

    *self = (struct relay){ .server_port = (int)strtol(strrchr(postgres_url(), ':') + 1, NULL,
                                                       10) };
    for (int i = 0; i < PAIRS_MAX; i++)
        self->pairs[i] = (struct pair){ -1, -1, false };
    self->listener = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(bind(self->listener, (struct sockaddr *)&at, sizeof at), 0);
    assert_int_equal(listen(self->listener, PAIRS_MAX), 0);
    assert_int_equal(getsockname(self->listener, (struct sockaddr *)&at, &size), 0);
    self->port = ntohs(at.sin_port);
    assert_int_equal(pipe(self->stop), 0);
    assert_int_equal(pthread_create(&self->thread, NULL, relay, self), 0);
}

static void end_relay(struct relay *self)
{
    assert_int_equal(write(self->stop[1], "x", 1), 1);
    pthread_join(self->thread, NULL);
    for (int i = 0; i < PAIRS_MAX; i++) {
        if (self->pairs[i].client >= 0)
            end_pair(&self->pairs[i]);
    }
    close(self->listener);
    close(self->stop[0]);
    close(self->stop[1]);
}

/* The engine's database, by way of the relay. */
static db *connect_by(const struct relay *self, const engine *e)
{
    const char *colon = strrchr(e->url, ':');
    char url[1024];
    db *opened = NULL;

    snprintf(url, sizeof url, "%.*s:%d%s", (int)(colon - e->url), e->url, self->port,
             colon + 1 + strspn(colon + 1, "0123456789"));
    if (db_open(&opened, url, NULL, &(mcp_error)MCP_ERROR_INIT) != MCP_OK)
        fail_msg("no way through the relay: %s", url);
    return opened;
}

static mcp_status insert(db *db, mcp_error *err)
{
    db_session *session = NULL;

    assert_int_equal(db_begin(&session, db, DB_WRITE, err), MCP_OK);
    assert_int_equal(db_run(session, NULL, "INSERT INTO t VALUES ('a')", NULL, 0, err), MCP_OK);
    return db_commit(session, err);
}

static void expect(engine *e, enum cut cut, mcp_status status, int64_t rows)
{
    struct relay between;

    engine_run(e->db, "CREATE TABLE t (a TEXT)");
    start_relay(&between);
    db *by = connect_by(&between, e);
    assert_int_equal(insert(by, &e->err), MCP_OK);
    atomic_store(&between.cut, cut);
    assert_int_equal(insert(by, &e->err), status);
    assert_int_equal(engine_int(e->db, "SELECT COUNT(*) FROM t"), rows);
    assert_int_equal(insert(by, &e->err), MCP_OK); /* by a new connection */
    assert_int_equal(engine_int(e->db, "SELECT COUNT(*) FROM t"), rows + 1);
    db_close(by);
    end_relay(&between);
}

static void a_commit_whose_answer_is_lost_is_done(void **state)
{
    expect(*state, BEHIND_COMMIT, MCP_OK, 2);
}

static void a_commit_that_the_server_never_heard_of_is_not_done_and_may_be_tried_again(void **state)
{
    engine *e = *state;

    expect(e, BEFORE_COMMIT, MCP_E_BUSY, 1);
}

#define POSTGRES_TEST(test) cmocka_unit_test_setup_teardown(test, engine_postgres, engine_end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        POSTGRES_TEST(a_commit_whose_answer_is_lost_is_done),
        POSTGRES_TEST(a_commit_that_the_server_never_heard_of_is_not_done_and_may_be_tried_again),
    };

    return cmocka_run_group_tests(tests, NULL, engine_stop_all);
}
