/*
 * portarium-replicas.c - two processes of portarium on one PostgreSQL: durable starts a second over
 * MCP, in eight workspaces and in one; and runs with a gate and an action, compared with DBOS
 * Transact in two processes, whose workflows have a gate and a step (bench/peers/dbos.mjs).
 *
 * The PostgreSQL is one of the bench's own, with the durability of its defaults; ours and the peer
 * have one each, and run by turns. A gated run is started over MCP, its approval awaited by a long
 * poll of the run, decided over MCP, and its end awaited like the approval: by 25 clients of each
 * process. The peer is measured twice: within its processes, by 25 callers in each of them, which
 * start a workflow, decide before it asks and await its end, without any network; and served, by
 * the same clients as ours with the same requests. Every answer is checked.
 *
 *     bench-portarium-replicas [PROGRAM]     default: portarium of CAUSEWAY_BIN or build/bin
 */
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/figures.h"
#include "support/plane.h"
#include "support/scale.h"
#include "support/session.h"

enum {
    WORKSPACES = 8,
    CLIENTS = BENCH(50, 4), /* half of them at each process */
    ROUNDS = BENCH(3, 1),
    GATED = BENCH(400, 8),  /* runs of a round */
    SERVED = BENCH(100, 8), /* of the peer where it is served: it is slower */
    PROCESSES = 2
};

#define ROUND_S BENCH(2.0, 0.1)

/* A client over and over: a run is started, waits, is decided, ends. */
enum state { START, AWAIT_GATE, DECIDE, AWAIT_END };

/* Whose clients: each has as many. */
enum side { OURS, PEERS, SIDES };

typedef struct caller {
    int workspace;
    char other_session[CLIENT_SESSION_MAX]; /* of the approver, while the operator asks */
    enum state state;
    char etag[PLANE_TOKEN_MAX]; /* of the run as it was seen */
    char run[PLANE_ID_MAX], approval[PLANE_ID_MAX];
} caller;

static plane own;
static char operators[WORKSPACES][PLANE_TOKEN_MAX], approvers[WORKSPACES][PLANE_TOKEN_MAX];
static caller callers[SIDES][CLIENTS];
static load loads[SIDES];
static long ended[SIDES]; /* gated runs */

/* ---- clients --------------------------------------------------------------------------------- */

static enum side side_of(const client *by)
{
    return by >= loads[OURS].clients && by < loads[OURS].clients + CLIENTS ? OURS : PEERS;
}

static caller *caller_of(const client *by)
{
    enum side side = side_of(by);

    return &callers[side][by - loads[side].clients];
}

/* Half of the clients are at the other process: load_open knows one. */
static void open_clients(enum side side, const site *sites)
{
    load *clients = &loads[side];

    load_open(clients, &sites[0], CLIENTS);
    for (int i = 0; i < CLIENTS; i++) {
        client *by = &clients->clients[i];
        caller *self = &callers[side][i];
        self->workspace = i % WORKSPACES;
        snprintf(self->etag, sizeof self->etag, "\"none\"");
        if (i >= CLIENTS / 2)
            load_move(clients, by, &sites[1]);
        by->token = approvers[self->workspace];
        session_open(by, true);
        memcpy(self->other_session, by->session, sizeof by->session);
        by->token = operators[self->workspace];
        session_open(by, true);
    }
}

static size_t write_call(char *out, client *by, const char *tool, const char *arguments)
{
    char body[768];

    by->id++;
    int length = snprintf(body, sizeof body,
                          "{\"jsonrpc\":\"2.0\",\"id\":%" PRId64
                          ",\"method\":\"tools/call\",\"params\":{\"name\":\"%s\",\"arguments\":{"
                          "\"workspaceId\":\"ws-%d\",%s}}}",
                          by->id, tool, caller_of(by)->workspace + 1, arguments);
    return session_write(out, CLIENT_ASK_MAX, by, body, (size_t)length);
}

static void check(const client *by, const reply *it, const char *proof)
{
    if (it->status != 200 || memmem(it->body, it->body_length, "\"isError\":true", 14) ||
        !memmem(it->body, it->body_length, proof, strlen(proof)))
        bench_give_up("%s was missing in %.1000s", proof, by->answer);
}

/* ---- starts ---------------------------------------------------------------------------------- */

static size_t ask_start(char *out, client *by)
{
    return write_call(out, by, "portarium_run_start",
                      "\"workflowId\":\"noop\",\"input\":{\"n\":1}");
}

static void hear_start(const client *by, const reply *it)
{
    check(by, it, "Pending");
}

static const script start = { ask_start, hear_start };

/* The token of a client is that of its workspace; in one workspace all have the first one's. */
static void use_workspaces(int count)
{
    for (int i = 0; i < CLIENTS; i++) {
        client *by = &loads[OURS].clients[i];
        callers[OURS][i].workspace = i % count;
        by->token = operators[i % count];
        session_open(by, true);
    }
}

static double middle(double *figures)
{
    figures_sort(figures, ROUNDS);
    return figures_at(figures, ROUNDS, 0.5);
}

static void bench_starts(int count, int bar)
{
    double per_second[ROUNDS], took;
    long started = (long)plane_number(&own, "SELECT COUNT(*) FROM runs");

    use_workspaces(count);
    for (int i = 0; i < ROUNDS; i++) {
        long calls = load_for(&loads[OURS], &start, ROUND_S, LONG_MAX, &took);
        per_second[i] = (double)calls / took;
        started += calls;
        plane_wait(&own, "SELECT COUNT(*) FROM runs WHERE status = 'Succeeded'", started);
    }
    double half = middle(per_second);
    printf(
        "portarium-replicas PostgreSQL, %d processes, %d connections, %d workspaces: %.0f durable "
        "starts/s, best %.0f (at least %d); load average %.1f\n",
        PROCESSES, CLIENTS, count, half, per_second[ROUNDS - 1], bar, bench_load_average());
}

/* ---- gated runs ------------------------------------------------------------------------------ */

static void swap_session(client *by)
{
    char session[CLIENT_SESSION_MAX];

    memcpy(session, by->session, sizeof session);
    memcpy(by->session, caller_of(by)->other_session, sizeof session);
    memcpy(caller_of(by)->other_session, session, sizeof session);
}

static size_t ask_gated(char *out, client *by)
{
    caller *self = caller_of(by);
    char arguments[256];

    if (self->state == START)
        return write_call(out, by, "portarium_run_start",
                          "\"workflowId\":\"gate\",\"input\":{\"n\":1}");
    if (self->state != DECIDE)
        return (size_t)snprintf(out, CLIENT_ASK_MAX,
                                "GET /v1/workspaces/ws-%d/runs/%s?view=full&wait=30 HTTP/1.1\r\n"
                                "Host: 127.0.0.1:%d\r\nAuthorization: Bearer %s\r\n"
                                "If-None-Match: %s\r\n\r\n",
                                self->workspace + 1, self->run, by->site->port, by->token,
                                self->etag);
    snprintf(arguments, sizeof arguments,
             "\"approvalId\":\"%s\",\"decision\":\"Approved\",\"comment\":\"as agreed\"",
             self->approval);
    by->token = approvers[self->workspace];
    swap_session(by);
    size_t length = write_call(out, by, "portarium_approval_submit", arguments);
    swap_session(by);
    by->token = operators[self->workspace];
    return length;
}

/* An id of the answer, which has it as text in a text, or as it is. @return false: there is none */
static bool find_id(char out[PLANE_ID_MAX], const reply *it, const char *prefix)
{
    const char *at = memmem(it->body, it->body_length, prefix, strlen(prefix));
    size_t length = 0;

    if (!at)
        return false;
    while (length + 1 < PLANE_ID_MAX && strchr("abcdefghijklmnopqrstuvwxyz0123456789-", at[length]))
        length++;
    snprintf(out, PLANE_ID_MAX, "%.*s", (int)length, at);
    return true;
}

static bool has(const reply *it, const char *word)
{
    return memmem(it->body, it->body_length, word, strlen(word));
}

/* The next question is answered when the run is another. */
static void read_etag(caller *self, const reply *it)
{
    size_t length = 0;
    const char *etag = reply_field(it, "ETag", &length);

    if (!etag || length >= sizeof self->etag)
        bench_give_up("a run without an ETag: %.1000s", it->head);
    snprintf(self->etag, sizeof self->etag, "%.*s", (int)length, etag);
}

static void hear_gated(const client *by, const reply *it)
{
    caller *self = caller_of(by);

    check(by, it, self->state == START || self->state == DECIDE ? "\"result\"" : "\"runId\"");
    if (self->state == AWAIT_GATE || self->state == AWAIT_END)
        read_etag(self, it);
    if (self->state == START && find_id(self->run, it, "run-"))
        self->state = AWAIT_GATE;
    else if (self->state == AWAIT_GATE && find_id(self->approval, it, "apr-"))
        self->state = DECIDE;
    else if (self->state == DECIDE && has(it, "Approved"))
        self->state = AWAIT_END;
    else if (self->state == AWAIT_END && has(it, "Succeeded"))
        self->state = START;
    else if (self->state != AWAIT_GATE && self->state != AWAIT_END)
        bench_give_up("a gated run was answered by %.1000s", by->answer);
    ended[side_of(by)] += self->state == START;
    if (self->state == START)
        snprintf(self->etag, sizeof self->etag, "\"none\"");
}

static const script gated = { ask_gated, hear_gated };

/* @return runs a second; those under way at the end are brought to theirs by the next round */
static double measure_gated(enum side side, long runs)
{
    double took = 0, all = 0;
    long before = ended[side];

    while (ended[side] - before < runs) {
        load_for(&loads[side], &gated, 1000, runs * 4, &took);
        all += took;
    }
    return (double)(ended[side] - before) / all;
}

/* ---- the peer -------------------------------------------------------------------------------- */

static plane peer_plane; /* for its PostgreSQL */
static program peers[PROCESSES];
static site peer_sites[PROCESSES];

static bool begin_peer(void)
{
    static char node[] = "node", script[] = "bench/peers/dbos.mjs", at_once[16];
    static char names[PROCESSES][16], ports[PROCESSES][16];

    if (access("bench/peers/node_modules/@dbos-inc/dbos-sdk", F_OK) != 0) {
        printf(
            "portarium-replicas DBOS is not installed (scripts/bootstrap bench): no comparison\n");
        return false;
    }
    plane_open(&peer_plane, 0, true);
    snprintf(at_once, sizeof at_once, "%d", CLIENTS / PROCESSES);
    for (int i = 0; i < PROCESSES; i++) {
        size_t length = 0;
        peer_sites[i] = (site){ .name = "DBOS", .port = site_free_port() };
        snprintf(names[i], sizeof names[i], "%d", i);
        snprintf(ports[i], sizeof ports[i], "%d", peer_sites[i].port);
        char *const command[] = { node, script, peer_plane.url, names[i], at_once, ports[i], NULL };
        program_start(&peers[i], command);
        if (strncmp(program_line(&peers[i], &length), "ready", 5) != 0)
            bench_give_up("DBOS does not start");
    }
    open_clients(PEERS, peer_sites);
    return true;
}

static double measure_peer(void)
{
    char count[16];
    double longest = 0;

    int length = snprintf(count, sizeof count, "%d\n", GATED / PROCESSES);
    for (int i = 0; i < PROCESSES; i++)
        program_say(&peers[i], count, (size_t)length);
    for (int i = 0; i < PROCESSES; i++) {
        size_t size = 0;
        double took = strtod(program_line(&peers[i], &size), NULL);
        longest = took > longest ? took : longest;
    }
    return GATED / longest * 1e3;
}

static void bench_gated(void)
{
    double ours[ROUNDS], within[ROUNDS], served[ROUNDS];
    bool has_peer = begin_peer();

    use_workspaces(WORKSPACES);
    for (int i = 0; i < ROUNDS; i++) {
        ours[i] = measure_gated(OURS, GATED);
        within[i] = has_peer ? measure_peer() : 0;
        served[i] = has_peer ? measure_gated(PEERS, SERVED) : 0;
    }
    double own_half = middle(ours), within_half = middle(within), served_half = middle(served);
    printf("portarium-replicas runs with a gate and an action, %d processes, %d at once: %.0f/s; "
           "load average %.1f\n",
           PROCESSES, CLIENTS, own_half, bench_load_average());
    if (has_peer) {
        printf("portarium-replicas DBOS, workflows with a gate and a step: within its processes "
               "%.0f/s, ours %.1f x (at least 2); served %.0f/s, ours %.1f x\n",
               within_half, own_half / within_half, served_half, own_half / served_half);
        load_close(&loads[PEERS]);
        for (int i = 0; i < PROCESSES; i++)
            program_end(&peers[i]);
        plane_close(&peer_plane);
    }
}

int main(int argc, char **argv)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    signal(SIGPIPE, SIG_IGN);
    alarm(BENCH(300, 280));
    plane_program(argc, argv);
    plane_open(&own, WORKSPACES, true);
    for (int i = 0; i < WORKSPACES; i++) {
        plane_token(operators[i], &own, i + 1, "ada", "operator");
        plane_token(approvers[i], &own, i + 1, "anna", "approver");
    }
    for (int i = 0; i < PROCESSES; i++)
        plane_serve(&own);
    open_clients(OURS, own.sites);
    bench_starts(WORKSPACES, 1500);
    bench_starts(1, 600);
    bench_gated();
    load_close(&loads[OURS]);
    plane_close(&own);
    return 0;
}
