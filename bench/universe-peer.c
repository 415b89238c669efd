/*
 * universe-peer.c - the same commands on the same universe of 1,000 bodies, sent to ours and to a
 * peer: Express with the official TypeScript SDK, which keeps its states in memory
 * (bench/peers/universe.mjs).
 *
 * Our server runs on SQLite, where an answered command is on the disk, and in memory like the peer.
 * The peer gets its state from ours. Ticks and changes of single bodies alternate, from clients
 * with one command in flight each, so many that they share the waits for the disk; over MCP and
 * over REST, answered with the whole state and with the changes. All three servers run in the same
 * rounds, so that other load affects all; the median counts. Every answer is checked. The clients
 * run on one thread of the same machine and take their share.
 *
 *     bench-universe-peer [PROGRAM]     default: universe of CAUSEWAY_BIN or build/bin
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

#include "mcp/arena.h"
#include "mcp/json.h"

#include "support/figures.h"
#include "support/scale.h"
#include "support/session.h"

enum {
    BENCH_MAX_S = BENCH(175, 280),
    CLIENTS = BENCH(64, 4),
    ROUNDS = BENCH(5, 1),
    BODIES_MIN = 1000,
    SUBJECTS = 3
};

#define ROUND_S BENCH(0.7, 0.05)

/* One way to ask. */
typedef struct way {
    const char *name;
    bool is_mcp;
    const char *how;   /* `return` */
    const char *proof; /* in each answer */
    size_t bytes_min;  /* of an answer */
} way;

static const way ways[] = {
    { "MCP, whole state ", true, "full", "\\\"nextState\\\":", 100000 },
    { "MCP, what changed", true, "delta", "\\\"version\\\":", 0 },
    { "REST, whole state", false, "full", "\"nextState\":", 100000 },
    { "REST, the version", false, "minimal", "\"version\":", 0 },
};

typedef struct subject {
    site site;
    const char *db; /* NULL: the peer */
    bool in_folder; /* the database is a file */
    load load;
    double per_second[ROUNDS];
    double cpu_us[ROUNDS];
} subject;

static char own_program[4096];
static char folder[] = P_tmpdir "/bench-peer-XXXXXX";
static const way *asked; /* of the round */
static mcp_arena *ids_arena;
static const mcp_json *ids;

/* ---- the servers ----------------------------------------------------------------------------- */

static int drop(const char *path, const struct stat *about, int kind, struct FTW *where)
{
    (void)about, (void)kind, (void)where;
    return remove(path);
}

static void drop_folder(void)
{
    nftw(folder, drop, 8, FTW_DEPTH | FTW_PHYS);
}

static void begin_own(subject *it)
{
    char serve[] = "serve", port_flag[] = "--port", db_flag[] = "--db";
    char level_flag[] = "--log-level", error[] = "error";
    char port[16];
    char db[sizeof folder + 32];
    char *const command[] = { own_program, serve,      port_flag, port, db_flag,
                              db,          level_flag, error,     NULL };

    snprintf(port, sizeof port, "%d", it->site.port = site_free_port());
    snprintf(db, sizeof db, "%s%s%s", it->db, it->in_folder ? folder : "",
             it->in_folder ? "/universe.db" : "");
    site_run(&it->site, command);
}

static void begin_peer(subject *it)
{
    char node[] = "node";
    char script[] = "bench/peers/universe.mjs";
    char port[16];
    char *const command[] = { node, script, port, NULL };

    snprintf(port, sizeof port, "%d", it->site.port = site_free_port());
    site_run(&it->site, command);
}

static size_t write_post(char *out, size_t size, const client *by, const char *path,
                         const char *body, size_t length)
{
    int head = snprintf(out, size,
                        "POST /universes%s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n"
                        "Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n",
                        path, by->site->port, length);

    if (head < 0 || (size_t)head + length > size)
        bench_give_up("a request longer than %zu bytes", size);
    memcpy(out + head, body, length);
    return (size_t)head + length;
}

static void post(client *by, const char *path, const char *body, size_t length, int expected)
{
    char *request = malloc(length + 512);

    if (!request)
        bench_give_up("no memory");
    reply it = client_ask(by, request, write_post(request, length + 512, by, path, body, length));
    free(request);
    if (it.status != expected)
        bench_give_up("%s: %s was answered by %.1000s", by->site->name, path, by->answer);
}

static reply get(client *by, const char *path)
{
    char request[512];
    int length = snprintf(request, sizeof request,
                          "GET /universes/same%s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n", path,
                          by->site->port);
    reply it = client_ask(by, request, (size_t)length);

    if (it.status != 200)
        bench_give_up("%s was answered by %.1000s", path, by->answer);
    return it;
}

static void grow(client *by)
{
    static const char empty[] = "{\"id\":\"same\",\"name\":\"same\",\"state\":{}}";
    static const char config[] = "{\"seed\":1,\"maxSystems\":16,\"topologyPreset\":\"moonRich\"}";

    post(by, "", empty, sizeof empty - 1, 201);
    post(by, "/same/generate", config, sizeof config - 1, 200);
}

static void learn_ids(client *by)
{
    mcp_error err = MCP_ERROR_INIT;
    reply it = get(by, "/positions?format=ids");

    ids_arena = mcp_arena_new(0);
    if (mcp_json_read(&ids, ids_arena, it.body, it.body_length, &err) != MCP_OK)
        bench_give_up("ids: %s", err.message);
    if (mcp_json_count(ids) < BODIES_MIN)
        bench_give_up("only %zu bodies", mcp_json_count(ids));
}

/* The state of one goes to the other, byte for byte. @return its bytes */
static size_t copy_state(client *from, client *to)
{
    static const char before[] = "{\"id\":\"same\",\"name\":\"same\",\"state\":";
    reply it = get(from, "/state");
    char *body = malloc(it.body_length + sizeof before + 1);

    if (!body)
        bench_give_up("no memory");
    memcpy(body, before, sizeof before - 1);
    memcpy(body + sizeof before - 1, it.body, it.body_length);
    body[sizeof before - 1 + it.body_length] = '}';
    post(to, "", body, sizeof before + it.body_length, 201);
    free(body);
    return it.body_length;
}

/* ---- commands -------------------------------------------------------------------------------- */

static int write_command(char *out, size_t size, int64_t turn)
{
    const char *id = mcp_json_string(mcp_json_item(ids, (size_t)turn * 7 % mcp_json_count(ids)),
                                     NULL);

    if (turn % 2)
        return snprintf(out, size, "{\"type\":\"tick\",\"dt\":0.25}");
    return snprintf(out, size,
                    "{\"type\":\"updateStar\",\"id\":\"%s\",\"payload\":{\"mass\":%" PRId64 "}}",
                    id, turn);
}

static size_t ask_command(char *out, client *by)
{
    char command[256], body[512], path[64];
    int length = write_command(command, sizeof command, ++by->id);

    if (!asked->is_mcp) {
        snprintf(path, sizeof path, "/same/commands?return=%s", asked->how);
        return write_post(out, CLIENT_ASK_MAX, by, path, command, (size_t)length);
    }
    length = snprintf(body, sizeof body,
                      "{\"jsonrpc\":\"2.0\",\"id\":%" PRId64
                      ",\"method\":\"tools/call\",\"params\":{"
                      "\"name\":\"send_universe_command\",\"arguments\":{\"universeId\":\"same\","
                      "\"command\":%s,\"return\":\"%s\"}}}",
                      by->id, command, asked->how);
    return session_write(out, CLIENT_ASK_MAX, by, body, (size_t)length);
}

static void hear_command(const client *by, const reply *it)
{
    if (it->status != 200 || it->body_length < asked->bytes_min ||
        memmem(it->body, it->body_length, "\"isError\":true", 14) ||
        !memmem(it->body, it->body_length, asked->proof, strlen(asked->proof)))
        bench_give_up("%s: a command was answered by %.1000s", by->site->name, by->answer);
}

static const script command = { ask_command, hear_command };

/* ---- what is measured ------------------------------------------------------------------------ */

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

static void measure(subject *it, int round)
{
    double took;
    int64_t before = program_cpu_ns(&it->site.program);
    long calls = load_for(&it->load, &command, ROUND_S, LONG_MAX, &took);

    it->cpu_us[round] = (double)(program_cpu_ns(&it->site.program) - before) * 1e-3 / (double)calls;
    it->per_second[round] = (double)calls / took;
}

static void bench(subject *subjects, const way *way)
{
    asked = way;
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < SUBJECTS; i++)
            measure(&subjects[i], round);
    for (int i = 0; i < SUBJECTS; i++) {
        middle(subjects[i].cpu_us, ROUNDS);
        middle(subjects[i].per_second, ROUNDS);
    }
    const subject *peer = &subjects[SUBJECTS - 1];
    for (int i = 0; i < SUBJECTS; i++) {
        const subject *it = &subjects[i];
        printf("universe-peer %s  %-16s %7.0f commands/s, %5.1f x the peer's; processor %5.0f us "
               "each, %4.1f x less; load average %.1f\n",
               way->name, it->site.name, it->per_second[ROUNDS / 2],
               it->per_second[ROUNDS / 2] / peer->per_second[ROUNDS / 2], it->cpu_us[ROUNDS / 2],
               peer->cpu_us[ROUNDS / 2] / it->cpu_us[ROUNDS / 2], load_average());
    }
}

static void open_subject(subject *it)
{
    if (it->db)
        begin_own(it);
    else
        begin_peer(it);
    load_open(&it->load, &it->site, CLIENTS);
    for (size_t i = 0; i < it->load.count; i++)
        session_open(&it->load.clients[i], true);
}

static void on_time_over(int signal_number)
{
    static const char words[] = "bench: universe-peer took too long\n";

    (void)signal_number;
    if (write(STDERR_FILENO, words, sizeof words - 1) < 0)
        _exit(2);
    _exit(1);
}

int main(int argc, char **argv)
{
    static subject subjects[SUBJECTS] = {
        { .site.name = "causeway, SQLite", .db = "sqlite:", .in_folder = true },
        { .site.name = "causeway, memory", .db = "memory" },
        { .site.name = "Express" },
    };
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
    for (int i = 0; i < SUBJECTS; i++)
        open_subject(&subjects[i]);
    grow(&subjects[0].load.clients[0]);
    grow(&subjects[1].load.clients[0]);
    learn_ids(&subjects[0].load.clients[0]);
    size_t bytes = copy_state(&subjects[0].load.clients[0], &subjects[2].load.clients[0]);
    printf("universe-peer %zu bodies, %zu bytes of JSON; %d clients\n", mcp_json_count(ids), bytes,
           CLIENTS);
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++)
        bench(subjects, &ways[i]);
    for (int i = 0; i < SUBJECTS; i++) {
        load_close(&subjects[i].load);
        site_end(&subjects[i].site);
    }
    mcp_arena_free(ids_arena);
    return 0;
}
