/*
 * test_others.c - a program hears that another process has committed to its SQLite file.
 */
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "db/db.h"
#include "engine.h"

enum { WAIT_S = 60, QUIET_MS = 700 };

static const db_options hears = { .hears_others = true };

/* What a listener heard, in order. */
struct ear {
    pthread_mutex_t lock;
    char heard[4096];
    sem_t each;
};

static void hear(const char *payload, void *data)
{
    struct ear *ear = data;

    pthread_mutex_lock(&ear->lock);
    size_t length = strlen(ear->heard);
    snprintf(ear->heard + length, sizeof ear->heard - length, "%s ", payload ? payload : "NULL");
    pthread_mutex_unlock(&ear->lock);
    sem_post(&ear->each);
}

static void ear_init(struct ear *ear)
{
    pthread_mutex_init(&ear->lock, NULL);
    ear->heard[0] = '\0';
    sem_init(&ear->each, 0, 0);
}

static void ear_wait(struct ear *ear)
{
    struct timespec until;

    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += WAIT_S;
    assert_int_equal(sem_timedwait(&ear->each, &until), 0);
}

static void rest(void)
{
    const struct timespec nap = { .tv_nsec = QUIET_MS * 1000000L };

    nanosleep(&nap, NULL);
}

static void tell(db *db, const char *payload)
{
    db_session *session = NULL;

    assert_int_equal(db_begin(&session, db, DB_WRITE, NULL), MCP_OK);
    assert_int_equal(db_run(session, NULL, "UPDATE t SET n = n + 1", NULL, 0, NULL), MCP_OK);
    assert_int_equal(db_notify(session, "news", payload, NULL), MCP_OK);
    assert_int_equal(db_commit(session, NULL), MCP_OK);
}

static void make_table(engine *e)
{
    engine_run(e->db, "CREATE TABLE t (n BIGINT)");
    engine_run(e->db, "INSERT INTO t VALUES (0)");
}

/* A process that commits once for every byte it is sent, and answers with one. */
struct other {
    pid_t pid;
    int to[2];
    int from[2];
};

static void serve_commits(const char *url, int to, int from)
{
    db *opened = NULL;
    char byte = 0;

    while (read(to, &byte, 1) == 1) {
        if (!opened && db_open(&opened, url, NULL, NULL) != MCP_OK)
            _exit(1);
        engine_run(opened, "UPDATE t SET n = n + 1000");
        if (write(from, &byte, 1) != 1)
            _exit(1);
    }
    db_close(opened);
    _exit(0);
}

/* Before this process has threads or connections. */
static void other_start(struct other *self, const char *url)
{
    assert_int_equal(pipe(self->to), 0);
    assert_int_equal(pipe(self->from), 0);
    self->pid = fork();
    assert_true(self->pid >= 0);
    if (self->pid == 0) {
        close(self->to[1]);
        serve_commits(url, self->to[0], self->from[1]);
    }
    close(self->to[0]);
    close(self->from[1]);
}

static void other_commit(struct other *self)
{
    char byte = 'x';

    assert_int_equal(write(self->to[1], &byte, 1), 1);
    assert_int_equal(read(self->from[0], &byte, 1), 1);
}

static void other_end(struct other *self)
{
    int status = 0;

    close(self->to[1]);
    assert_int_equal(waitpid(self->pid, &status, 0), self->pid);
    assert_int_equal(status, 0);
    close(self->from[0]);
}

static void commits_of_others_are_heard(void **state)
{
    scratch folder;
    struct other other;
    struct ear ear;
    engine e = { 0 };
    db_listener *listener = NULL;

    (void)state;
    scratch_open(&folder);
    snprintf(e.url, sizeof e.url, "sqlite:%s/test.db", folder.path);
    other_start(&other, e.url);
    e.db = engine_connect(&e, &hears);
    make_table(&e);
    ear_init(&ear);
    assert_int_equal(db_listen(&listener, e.db, "news", hear, &ear, &e.err), MCP_OK);
    for (int i = 0; i < 3; i++) {
        other_commit(&other);
        ear_wait(&ear);
        tell(e.db, "own");
        ear_wait(&ear);
    }
    assert_string_equal(ear.heard, "NULL own NULL own NULL own ");
    assert_int_equal(engine_int(e.db, "SELECT n FROM t"), 3003);
    db_listener_free(listener);
    other_end(&other);
    db_close(e.db);
    scratch_close(&folder);
}

/* Writes, reads and a moved log of this process. */
static void own_commits_are_no_news(void **state)
{
    engine *e = *state;
    struct ear ear;
    db_listener *listener = NULL;

    ear_init(&ear);
    make_table(e);
    db *own = engine_connect(e, &hears);
    assert_int_equal(db_listen(&listener, own, "news", hear, &ear, &e->err), MCP_OK);
    for (int i = 0; i < 1500; i++) {
        engine_run(own, "UPDATE t SET n = n + 1");
        if (i % 100 == 0)
            assert_int_equal(engine_int(own, "SELECT n FROM t"), i + 1);
    }
    rest();
    assert_string_equal(ear.heard, "");
    db_listener_free(listener);
    db_close(own);
}

static void it_is_heard_with_one_connection(void **state)
{
    engine *e = *state;
    const db_options narrow = { .connections = 1, .hears_others = true };
    const db_options reading = { .read_only = true, .hears_others = true };
    struct ear ears[2];
    db_listener *listeners[2] = { NULL, NULL };
    db *opened[2];

    make_table(e);
    opened[0] = engine_connect(e, &narrow);
    opened[1] = engine_connect(e, &reading);
    for (int i = 0; i < 2; i++) {
        ear_init(&ears[i]);
        assert_int_equal(db_listen(&listeners[i], opened[i], "news", hear, &ears[i], &e->err),
                         MCP_OK);
    }
    tell(e->db, "not for others");
    for (int i = 0; i < 2; i++) {
        ear_wait(&ears[i]);
        assert_string_equal(ears[i].heard, "NULL ");
        db_listener_free(listeners[i]);
        db_close(opened[i]);
    }
}

static void without_the_option_nothing_is_heard(void **state)
{
    engine *e = *state;
    struct ear ear;
    db_listener *listener = NULL;
    db *plain = engine_connect(e, NULL);

    ear_init(&ear);
    assert_int_equal(db_listen(&listener, plain, "news", hear, &ear, &e->err), MCP_OK);
    make_table(e);
    rest();
    tell(plain, "own");
    ear_wait(&ear);
    assert_string_equal(ear.heard, "own ");
    db_listener_free(listener);
    db_close(plain);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(commits_of_others_are_heard),
        { "own_commits_are_no_news (sqlite)", own_commits_are_no_news, engine_sqlite, engine_end,
          NULL },
        { "it_is_heard_with_one_connection (sqlite)", it_is_heard_with_one_connection,
          engine_sqlite, engine_end, NULL },
        { "without_the_option_nothing_is_heard (sqlite)", without_the_option_nothing_is_heard,
          engine_sqlite, engine_end, NULL },
    };

    return cmocka_run_group_tests(tests, NULL, engine_stop_all);
}
