/*
 * universe.c - the server universe with a million bodies on SQLite: durable commands a second and
 * how long each takes, memory, a delta, positions and the whole state over HTTP, the start from a
 * snapshot.
 *
 * The server is the program itself, with its default durability: a command is answered when its
 * commit is on the disk. 64 clients on one thread of this process, each with one command under way,
 * send ticks and changes of single bodies by turns, as fast as they are answered and at a rate.
 * Every answer is looked at, and at the end the universe's version must be the count of accepted
 * commands. The machine is shared by both sides.
 *
 *     bench-universe [PROGRAM]     default: universe of CAUSEWAY_BIN or build/bin
 */
#include <ftw.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mcp/buf.h"
#include "mcp/json.h"

#include "support/figures.h"
#include "support/load.h"
#include "support/scale.h"

enum {
    BENCH_MAX_S = BENCH(175, 280),
    CLIENTS = BENCH(64, 4),
    ROUNDS = BENCH(3, 1),
    CALLS_MAX = 200000,
    PACE = BENCH(2000, 100),
    PACED_CALLS = BENCH(6000, 20),
    FETCHES = BENCH(5, 1),
    DELTA_FETCHES = BENCH(21, 2),
    DELTA_BODIES = BENCH(2700, 20),
    STARTS = BENCH(3, 1),
    BODIES_MIN = BENCH(1000000, 1000)
};

#define ROUND_S BENCH(3.0, 0.1)

static const char config[] = "{\"seed\":1,\"maxSystems\":" BENCH(
    "14500", "16") ",\"topologyPreset\":\"moonRich\"}";

static char own_program[4096];
static char folder[] = P_tmpdir "/bench-universe-XXXXXX";
static client talker; /* one question at a time */
static site server = { .name = "universe" };

/* Ids of bodies, spread over all of them. */
static mcp_arena *ids_arena;
static const mcp_json *ids;

/* ---- the server ------------------------------------------------------------------------------ */

static void begin(void)
{
    char serve[] = "serve", port_flag[] = "--port", db_flag[] = "--db",
         level_flag[] = "--log-level";
    char error[] = "error";
    char port[16];
    char db[sizeof folder + 32];
    char *const command[] = { own_program, serve,      port_flag, port, db_flag,
                              db,          level_flag, error,     NULL };

    snprintf(port, sizeof port, "%d", server.port = site_free_port());
    snprintf(db, sizeof db, "sqlite:%s/universe.db", folder);
    site_run(&server, command);
    client_open(&talker, &server);
}

/* Killed, not asked to end: what was not on the disk is gone. */
static void end(void)
{
    client_close(&talker);
    kill(server.program.pid, SIGKILL);
    site_end(&server);
}

static int drop(const char *path, const struct stat *about, int kind, struct FTW *where)
{
    (void)about, (void)kind, (void)where;
    return remove(path);
}

static void drop_folder(void)
{
    nftw(folder, drop, 8, FTW_DEPTH | FTW_PHYS);
}

/* ---- asking ---------------------------------------------------------------------------------- */

static size_t write_post(char *out, size_t size, const char *path, const char *body, size_t length)
{
    int head = snprintf(out, size,
                        "POST /universes%s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n"
                        "Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n",
                        path, server.port, length);

    if (head < 0 || (size_t)head + length > size)
        bench_give_up("a request longer than %zu bytes", size);
    memcpy(out + head, body, length);
    return (size_t)head + length;
}

static reply post(const char *path, const char *body, size_t length, int expected)
{
    char *request = malloc(length + 512);
    if (!request)
        bench_give_up("no memory");
    reply it = client_ask(&talker, request, write_post(request, length + 512, path, body, length));
    free(request);
    if (it.status != expected)
        bench_give_up("%s was answered by %.1000s", path, talker.answer);
    return it;
}

static reply get(const char *path)
{
    char request[512];
    int length = snprintf(request, sizeof request,
                          "GET /universes/big%s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n", path,
                          server.port);
    reply it = client_ask(&talker, request, (size_t)length);

    if (it.status != 200)
        bench_give_up("%s was answered by %.1000s", path, talker.answer);
    return it;
}

static int64_t number_in(const reply *it, const char *name)
{
    const char *at = memmem(it->body, it->body_length, name, strlen(name));

    if (!at)
        bench_give_up("no %s in %.1000s", name, it->body);
    return strtoll(at + strlen(name), NULL, 10);
}

static int64_t version_now(void)
{
    reply it = get("/summary");

    return number_in(&it, "\"version\":");
}

static double resident_mb(void)
{
    return (double)program_resident_kb(&server.program) / 1024;
}

static double load_average(void)
{
    double load = 0;

    return getloadavg(&load, 1) == 1 ? load : -1;
}

static double middle(double *figures, size_t count)
{
    figures_sort(figures, count);
    return figures_at(figures, count, 0.5);
}

static double ms_since(int64_t from)
{
    return (double)(bench_now_ns() - from) * 1e-6;
}

/* ---- a million bodies ------------------------------------------------------------------------ */

static void grow(void)
{
    static const char empty[] = "{\"id\":\"big\",\"name\":\"big\",\"state\":{}}";

    post("", empty, sizeof empty - 1, 201);
    int64_t from = bench_now_ns();
    post("/big/generate", config, sizeof config - 1, 200);
    double took = ms_since(from);
    reply it = get("/summary");
    int64_t bodies = number_in(&it, "\"stars\":");
    if (bodies < BODIES_MIN)
        bench_give_up("only %" PRId64 " bodies", bodies);
    printf("universe %" PRId64 " bodies grown, stored and ready in %.1f s;  resident %.0f MB; load "
           "average %.1f\n",
           bodies, took * 1e-3, resident_mb(), load_average());
}

static void learn_ids(void)
{
    mcp_error err = MCP_ERROR_INIT;
    reply it = get("/positions?format=ids");

    ids_arena = mcp_arena_new((size_t)1 << 30);
    if (mcp_json_read(&ids, ids_arena, it.body, it.body_length, &err) != MCP_OK)
        bench_give_up("ids: %s", err.message);
}

static const char *some_id(size_t turn)
{
    size_t count = mcp_json_count(ids);

    return mcp_json_string(mcp_json_item(ids, turn * 7919 % count), NULL);
}

/* ---- commands -------------------------------------------------------------------------------- */

static long commands; /* asked */
static double took_ms[CALLS_MAX];
static size_t took_count;

static size_t ask_command(char *out, client *by)
{
    char body[512];
    int length;

    by->id = ++commands;
    by->due_ns = by->due_ns ? by->due_ns : bench_now_ns();
    if (by->id % 2)
        length = snprintf(body, sizeof body, "{\"type\":\"tick\",\"dt\":0.25}");
    else
        length = snprintf(body, sizeof body,
                          "{\"type\":\"updateStar\",\"id\":\"%s\",\"payload\":{\"mass\":%" PRId64
                          "}}",
                          some_id((size_t)by->id), by->id);
    return write_post(out, CLIENT_ASK_MAX, "/big/commands?return=minimal", body, (size_t)length);
}

static void hear_command(const client *by, const reply *it)
{
    if (it->status != 200 || !memmem(it->body, it->body_length, "\"version\":", 10))
        bench_give_up("a command was answered by %.1000s", by->answer);
    if (took_count < CALLS_MAX)
        took_ms[took_count++] = ms_since(by->due_ns);
}

static const script command = { ask_command, hear_command };

static void send_flat_out(load *clients)
{
    double per_second[ROUNDS], p50[ROUNDS], p99[ROUNDS], took;
    long calls = 0;
    int64_t before = program_cpu_ns(&server.program);

    for (int i = 0; i < ROUNDS; i++) {
        took_count = 0;
        long heard = load_for(clients, &command, ROUND_S, CALLS_MAX, &took);
        per_second[i] = (double)heard / took;
        figures_sort(took_ms, took_count);
        p50[i] = figures_at(took_ms, took_count, 0.5);
        p99[i] = figures_at(took_ms, took_count, 0.99);
        calls += heard;
    }
    double cpu_us = (double)(program_cpu_ns(&server.program) - before) * 1e-3 / (double)calls;
    double half = middle(per_second, ROUNDS), late = middle(p99, ROUNDS);
    printf(
        "universe durable commands, %d clients flat out: %.0f/s (best %.0f), median %.1f ms, "
        "99 %% within %.1f ms (best round %.1f), processor %.0f us each;  resident %.0f MB; load average %.1f\n",
        CLIENTS, half, per_second[ROUNDS - 1], middle(p50, ROUNDS), late, p99[0], cpu_us,
        resident_mb(), load_average());
}

static void send_paced(load *clients)
{
    static double ms[PACED_CALLS];
    double p50[ROUNDS], p99[ROUNDS];

    for (int i = 0; i < ROUNDS; i++) {
        load_paced(clients, &command, PACE, PACED_CALLS, ms);
        figures_sort(ms, PACED_CALLS);
        p50[i] = figures_at(ms, PACED_CALLS, 0.5);
        p99[i] = figures_at(ms, PACED_CALLS, 0.99);
    }
    double half = middle(p50, ROUNDS), late = middle(p99, ROUNDS);
    printf("universe durable commands, %d clients at %d/s: median %.2f ms, 99 %% within %.1f ms "
           "(best round %.1f); load average %.1f\n",
           CLIENTS, PACE, half, late, p99[0], load_average());
}

static void bench_commands(void)
{
    static load clients;
    int64_t before = version_now();

    load_open(&clients, &server, CLIENTS);
    send_flat_out(&clients);
    send_paced(&clients);
    load_close(&clients);
    int64_t versions = version_now() - before;
    if (versions != commands)
        bench_give_up("%ld commands were accepted and made %" PRId64 " versions", commands,
                      versions);
}

/* ---- reading --------------------------------------------------------------------------------- */

/* One line for `path`, fetched `count` times (at most DELTA_FETCHES). */
static void fetch(const char *what, const char *path, int count)
{
    double ms[DELTA_FETCHES];
    size_t bytes = 0;
    int64_t before = program_cpu_ns(&server.program);

    for (int i = 0; i < count; i++) {
        int64_t from = bench_now_ns();
        bytes = get(path).body_length;
        ms[i] = ms_since(from);
    }
    double cpu_ms = (double)(program_cpu_ns(&server.program) - before) * 1e-6 / count;
    double half = middle(ms, (size_t)count);
    printf("universe %s, %.2f MiB over HTTP: median %.1f ms (best %.1f), processor %.1f ms;  "
           "resident %.0f MB; load average %.1f\n",
           what, (double)bytes / (1 << 20), half, ms[0], cpu_ms, resident_mb(), load_average());
}

/* One batch that changes as many bodies as make a MiB. */
static void bench_delta(void)
{
    char path[64];
    mcp_buf body;
    int64_t version = version_now();

    mcp_buf_init(&body, 1 << 24);
    for (size_t i = 0; i < DELTA_BODIES; i++)
        mcp_buf_printf(&body,
                       "%c{\"type\":\"updateStar\",\"id\":\"%s\",\"payload\":{\"mass\":%zu}}",
                       i == 0 ? '[' : ',', some_id(i + 1), i + 1);
    mcp_buf_putc(&body, ']');
    if (body.status != MCP_OK)
        bench_give_up("no memory");
    post("/big/commands:batch?return=minimal", body.data, body.length, 200);
    mcp_buf_clear(&body);
    snprintf(path, sizeof path, "/state?since=%" PRId64, version);
    fetch("delta", path, DELTA_FETCHES);
}

static void bench_start(const char *when)
{
    double ms[STARTS], cpu_s[STARTS];
    int64_t version = version_now();

    for (int i = 0; i < STARTS; i++) {
        end();
        int64_t from = bench_now_ns();
        begin();
        int64_t now = version_now();
        ms[i] = ms_since(from);
        cpu_s[i] = (double)program_cpu_ns(&server.program) * 1e-9;
        if (now != version)
            bench_give_up("version %" PRId64 " was killed, %" PRId64 " came back", version, now);
    }
    double half = middle(ms, STARTS), busy = middle(cpu_s, STARTS);
    printf(
        "universe killed and started again, %s: ready after %.2f s (best %.2f), processor %.2f s;  "
        "resident %.0f MB; load average %.1f\n",
        when, half * 1e-3, ms[0] * 1e-3, busy, resident_mb(), load_average());
}

/* ---- all of it ------------------------------------------------------------------------------- */

static void on_time_over(int signal_number)
{
    static const char words[] = "bench: universe took too long\n";

    (void)signal_number;
    if (write(STDERR_FILENO, words, sizeof words - 1) < 0)
        _exit(2);
    _exit(1);
}

int main(int argc, char **argv)
{
    const char *bin = getenv("CAUSEWAY_BIN");

    if (argc > 1)
        snprintf(own_program, sizeof own_program, "%s", argv[1]);
    else
        snprintf(own_program, sizeof own_program, "%s/universe", bin ? bin : "build/bin");
    setvbuf(stdout, NULL, _IOLBF, 0);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGALRM, on_time_over);
    alarm(BENCH_MAX_S);
    if (!mkdtemp(folder))
        bench_give_up("no folder in " P_tmpdir);
    atexit(drop_folder);
    begin();
    grow();
    bench_start("from its snapshot");
    learn_ids();
    bench_commands();
    bench_start("with these commands behind the snapshot");
    bench_delta();
    fetch("positions (f32)", "/positions?format=f32&time=1000.5", FETCHES);
    fetch("whole state", "/state", FETCHES);
    end();
    mcp_arena_free(ids_arena);
    return 0;
}
