/*
 * portarium-decisions.c - approvals of portarium with 10,000 runs that wait for one (5,000 on
 * PostgreSQL): how long a decision takes, how long until what was approved is performed, and what
 * the waiting costs.
 *
 * On SQLite with one process, and on PostgreSQL with two. First decisions one after the other: from
 * the sending of the decision to the arrival of the action's end on the workspace's event stream,
 * of the process that decides and, on PostgreSQL, of the other one. Then 50 clients decide at the
 * same moment, and as fast as they can, over portarium_approval_submit. The memory is measured
 * before and after the runs were started, the processor while nothing happens. At last, on SQLite,
 * 5,000 calls that wait for their runs are open at once: the threads of the process are counted.
 *
 *     bench-portarium-decisions [PROGRAM]     default: portarium of CAUSEWAY_BIN or build/bin
 */
#include <dirent.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "support/figures.h"
#include "support/plane.h"
#include "support/scale.h"
#include "support/session.h"

enum {
    CLIENTS = BENCH(50, 4),
    WAITING = BENCH(10000, 80),
    WAITING_POSTGRES = BENCH(5000, 60), /* to start more takes too long */
    SINGLE = BENCH(300, 4),             /* decisions one after the other, at each process */
    BURSTS = BENCH(40, 2),              /* of decisions at once */
    FLAT_OUT = BENCH(2000, 8),
    PAUSE_MS = 100,
    POLLS = BENCH(5000, 20),
    POLL_S = 50,
    POLL_TOKENS = 200,  /* each client has 32 calls at once */
    POLLS_QUEUED = 100, /* then those sent so far begin */
    IDLE_S = BENCH(4, 1),
    PATIENCE_MS = 60000,
    STREAM_MAX = 1 << 20
};

static plane own;
static char operator_token[PLANE_TOKEN_MAX], approver_token[PLANE_TOKEN_MAX];
static char poll_tokens[POLL_TOKENS][PLANE_TOKEN_MAX];
static char (*approvals)[PLANE_ID_MAX]; /* undecided ones */
static int waiting;                     /* runs, at first */
static long decided;                    /* of them */
static double ms[BENCH(2000, 8)];       /* FLAT_OUT, or CLIENTS * BURSTS */
static size_t timed;

/* ---- runs that wait -------------------------------------------------------------------------- */

static size_t write_call(char *out, client *by, const char *tool, const char *arguments)
{
    char body[768];

    by->id++;
    int length = snprintf(body, sizeof body,
                          "{\"jsonrpc\":\"2.0\",\"id\":%" PRId64
                          ",\"method\":\"tools/call\",\"params\":{\"name\":\"%s\",\"arguments\":{"
                          "\"workspaceId\":\"ws-1\",%s}}}",
                          by->id, tool, arguments);
    return session_write(out, CLIENT_ASK_MAX, by, body, (size_t)length);
}

static size_t ask_start(char *out, client *by)
{
    return write_call(out, by, "portarium_run_start",
                      "\"workflowId\":\"gate\",\"input\":{\"n\":1}");
}

static void hear_start(const client *by, const reply *it)
{
    if (it->status != 200 || !memmem(it->body, it->body_length, "Pending", 7))
        bench_give_up("a start was answered by %.1000s", by->answer);
}

static const script start = { ask_start, hear_start };

static void start_runs(void)
{
    load clients;
    double took;

    plane_connect(&clients, &own.sites[0], CLIENTS, operator_token);
    load_for(&clients, &start, 1000, waiting, &took);
    load_close(&clients);
    plane_wait(&own, "SELECT COUNT(*) FROM approvals WHERE status = 'Pending'", waiting);
    decided = 0;
    approvals = plane_texts(&own, "SELECT id FROM approvals WHERE status = 'Pending'", waiting);
}

/* ---- 50 at once ------------------------------------------------------------------------------ */

static size_t write_decision(char *out, client *by)
{
    char arguments[256];

    snprintf(arguments, sizeof arguments,
             "\"approvalId\":\"%s\",\"decision\":\"Approved\",\"comment\":\"as agreed\"",
             approvals[decided++]);
    by->due_ns = bench_now_ns();
    return write_call(out, by, "portarium_approval_submit", arguments);
}

static void check_decision(const client *by, const reply *it)
{
    if (it->status != 200 || memmem(it->body, it->body_length, "\"isError\":true", 14) ||
        !memmem(it->body, it->body_length, "Approved", 8))
        bench_give_up("a decision was answered by %.1000s", by->answer);
}

static void hear_decision(const client *by, const reply *it)
{
    check_decision(by, it);
    ms[timed++] = (double)(bench_now_ns() - by->due_ns) * 1e-6;
}

static const script decision = { write_decision, hear_decision };

/* All clients decide at the same moment, and again when all were answered and the runs have gone
 * on; then as fast as they are answered. */
static void bench_at_once(const char *what, int bar_ms)
{
    const struct timespec pause = { .tv_nsec = PAUSE_MS * 1000000L };
    load clients;
    double took;

    plane_connect(&clients, &own.sites[0], CLIENTS, approver_token);
    timed = 0;
    for (int i = 0; i < BURSTS; i++) {
        load_for(&clients, &decision, 1000, CLIENTS, &took);
        nanosleep(&pause, NULL);
    }
    figures_sort(ms, timed);
    printf("portarium-decisions %s, %d at once: median %.1f ms, 95 %% within %.1f ms (at most %d); "
           "load average %.1f\n",
           what, CLIENTS, figures_at(ms, timed, 0.5), figures_at(ms, timed, 0.95), bar_ms,
           bench_load_average());
    timed = 0;
    int64_t before = program_cpu_ns(&own.sites[0].program);
    load_for(&clients, &decision, 1000, FLAT_OUT, &took);
    double cpu_us = (double)(program_cpu_ns(&own.sites[0].program) - before) * 1e-3 / FLAT_OUT;
    load_close(&clients);
    figures_sort(ms, timed);
    printf("portarium-decisions %s, %d clients flat out: %.0f decisions/s, median %.1f ms, 95 %% "
           "within %.1f ms, processor %.0f us each\n",
           what, CLIENTS, FLAT_OUT / took, figures_at(ms, timed, 0.5), figures_at(ms, timed, 0.95),
           cpu_us);
}

/* ---- from decision to dispatch --------------------------------------------------------------- */

typedef struct stream {
    client client;
    char *bytes; /* not yet consumed */
    size_t have;
} stream;

static void stream_open(stream *out, const site *site)
{
    char request[512];
    int length = snprintf(request, sizeof request,
                          "GET /v1/workspaces/ws-1/events:stream HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n"
                          "Authorization: Bearer %s\r\nAccept: text/event-stream\r\n\r\n",
                          site->port, operator_token);

    client_open(&out->client, site);
    reply it = client_ask_stream(&out->client, request, (size_t)length);
    if (it.status != 200)
        bench_give_up("the stream was answered by %.1000s", out->client.answer);
    out->have = 0;
    out->bytes = malloc(STREAM_MAX);
    if (!out->bytes)
        bench_give_up("no memory");
}

static void stream_close(stream *it)
{
    client_close(&it->client);
    free(it->bytes);
}

static void stream_read(stream *it)
{
    struct pollfd readable = { .fd = it->client.fd, .events = POLLIN };

    if (poll(&readable, 1, PATIENCE_MS) != 1)
        bench_give_up("no event within %d s", PATIENCE_MS / 1000);
    ssize_t got = recv(it->client.fd, it->bytes + it->have, STREAM_MAX - it->have, 0);
    if (got <= 0)
        bench_give_up("the stream was ended");
    it->have += (size_t)got;
}

/* Read until the end of an action has come; the chunks' own lines are no fields of an event. */
static void stream_await_end(stream *it)
{
    static const char end[] = "event: ActionCompleted";
    const char *at = NULL;

    for (;;) {
        at = memmem(it->bytes, it->have, end, sizeof end - 1);
        if (at)
            break;
        stream_read(it);
    }
    size_t used = (size_t)(at - it->bytes) + sizeof end - 1;
    it->have -= used;
    memmove(it->bytes, it->bytes + used, it->have);
}

static void bench_single(const char *what, const site *decides, const site *tells, int half_bar_ms,
                         int late_bar_ms)
{
    static double took[SINGLE];
    char request[CLIENT_ASK_MAX];
    client by;
    stream events;

    client_open(&by, decides);
    by.token = approver_token;
    session_open(&by, true);
    stream_open(&events, tells);
    for (int i = 0; i < SINGLE; i++) {
        size_t length = write_decision(request, &by);
        int64_t from = bench_now_ns();
        reply it = client_ask(&by, request, length);
        check_decision(&by, &it);
        stream_await_end(&events);
        took[i] = (double)(bench_now_ns() - from) * 1e-6;
    }
    stream_close(&events);
    client_close(&by);
    figures_sort(took, SINGLE);
    printf("portarium-decisions %s, from a decision to the end of its action, %d runs wait: median "
           "%.1f ms (at most %d), 99 %% within %.1f ms (at most %d); load average %.1f\n",
           what, waiting, figures_at(took, SINGLE, 0.5), half_bar_ms,
           figures_at(took, SINGLE, 0.99), late_bar_ms, bench_load_average());
}

/* ---- what waiting costs ---------------------------------------------------------------------- */

static double resident_mb(const site *of)
{
    return (double)program_resident_kb(&of->program) / 1024;
}

static void bench_cost(const char *what, double before_mb)
{
    const struct timespec idle = { .tv_sec = IDLE_S };
    const site *of = &own.sites[0];
    double mb = resident_mb(of);
    int64_t cpu = program_cpu_ns(&of->program);

    nanosleep(&idle, NULL);
    printf("portarium-decisions %s, %d runs wait: %.1f MB more (at most 60), %.2f %% of a core "
           "while idle (below 1)\n",
           what, waiting, mb - before_mb,
           (double)(program_cpu_ns(&of->program) - cpu) * 1e-7 / IDLE_S);
}

static int threads_of(const site *of)
{
    char path[64];
    int count = 0;

    snprintf(path, sizeof path, "/proc/%d/task", (int)of->program.pid);
    DIR *folder = opendir(path);
    if (!folder)
        bench_give_up("no %s", path);
    while (readdir(folder))
        count++;
    closedir(folder);
    return count - 2; /* . and .. */
}

static void send_poll(client *by, const char *run)
{
    char request[CLIENT_ASK_MAX];
    int length = snprintf(request, sizeof request,
                          "GET /v1/workspaces/ws-1/runs/%s?wait=%d HTTP/1.1\r\n"
                          "Host: 127.0.0.1:%d\r\nAuthorization: Bearer %s\r\n\r\n",
                          run, POLL_S, by->site->port, by->token);

    if (send(by->fd, request, (size_t)length, MSG_NOSIGNAL) != (ssize_t)length)
        bench_give_up("a poll cannot be sent");
}

static bool is_answered(const client *by, int within_ms)
{
    struct pollfd readable = { .fd = by->fd, .events = POLLIN };

    return poll(&readable, 1, within_ms) == 1;
}

/* An answer to another caller: those who have asked before it are being served. */
static void await_turn(client *by, const char *run)
{
    char request[CLIENT_ASK_MAX], arguments[256];

    snprintf(arguments, sizeof arguments, "\"runId\":\"%s\"", run);
    size_t length = write_call(request, by, "portarium_run_get", arguments);
    reply it = client_ask(by, request, length);
    if (it.status != 200 || !memmem(it.body, it.body_length, run, strlen(run)))
        bench_give_up("portarium_run_get was answered by %.1000s", by->answer);
}

/* The run still waits, so there is none. */
static void refuse_answer(client *by)
{
    if (!is_answered(by, 0))
        return;
    ssize_t got = recv(by->fd, by->answer, by->room - 1, 0);
    bench_give_up("a poll of a run that waits was answered by %.*s", got > 0 ? (int)got : 0,
                  by->answer);
}

/* Each waits for another run; the first one's is decided at the end, and only its poll answered. */
static void bench_polls(const char *what)
{
    static const char still[] = "FROM approvals WHERE status = 'Pending' ORDER BY id";
    const site *of = &own.sites[0];
    char query[128], request[CLIENT_ASK_MAX];
    client by;
    load polls;

    snprintf(query, sizeof query, "SELECT run_id %s", still);
    char(*runs)[PLANE_ID_MAX] = plane_texts(&own, query, POLLS);
    snprintf(query, sizeof query, "SELECT id %s", still);
    free(approvals);
    approvals = plane_texts(&own, query, POLLS);
    decided = 0;
    int before = threads_of(of);
    double before_mb = resident_mb(of);
    load_open(&polls, of, POLLS);
    client_open(&by, of);
    by.token = approver_token;
    session_open(&by, true);
    for (size_t i = 0; i < POLLS; i++) {
        polls.clients[i].token = poll_tokens[i % POLL_TOKENS];
        send_poll(&polls.clients[i], runs[i]);
        if (i % POLLS_QUEUED == POLLS_QUEUED - 1)
            await_turn(&by, runs[i]);
    }
    await_turn(&by, runs[0]);
    int during = threads_of(of);
    double during_mb = resident_mb(of);
    size_t length = write_decision(request, &by);
    reply it = client_ask(&by, request, length);
    check_decision(&by, &it);
    bool is_awake = is_answered(&polls.clients[0], PATIENCE_MS);
    for (size_t i = 1; i < POLLS; i++)
        refuse_answer(&polls.clients[i]);
    if (!is_awake)
        bench_give_up("a poll was not answered when its run went on");
    printf(
        "portarium-decisions %s, %d long polls at once: %d threads before, %d meanwhile; %.1f MB "
        "more\n",
        what, POLLS, before, during, during_mb - before_mb);
    client_close(&by);
    load_close(&polls);
    free(runs);
}

/* ---- all of it ------------------------------------------------------------------------------- */

static void bench(const char *what, bool is_postgres)
{
    waiting = is_postgres ? WAITING_POSTGRES : WAITING;
    plane_open(&own, 1, is_postgres);
    plane_token(operator_token, &own, 1, "ada", "operator");
    plane_token(approver_token, &own, 1, "anna", "approver");
    plane_tokens(poll_tokens, POLL_TOKENS, &own);
    const site *first = plane_serve(&own);
    const site *second = is_postgres ? plane_serve(&own) : NULL;
    double before_mb = resident_mb(first);
    start_runs();
    bench_cost(what, before_mb);
    bench_single(what, first, first, 5, 50);
    if (second)
        bench_single("PostgreSQL, told by the other process", first, second, 5, 100);
    bench_at_once(what, is_postgres ? 50 : 20);
    if (!is_postgres)
        bench_polls(what);
    free(approvals);
    plane_close(&own);
}

/* Twice: our connections and those of the site, which is started with our limit. */
static void allow_connections(void)
{
    struct rlimit limit;

    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

int main(int argc, char **argv)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    signal(SIGPIPE, SIG_IGN);
    alarm(BENCH(240, 280));
    allow_connections();
    plane_program(argc, argv);
    bench("SQLite", false);
    bench("PostgreSQL", true);
    return 0;
}
