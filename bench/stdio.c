/*
 * stdio.c - calls per second, and the time of one call, of the tool `echo` over standard input.
 *
 * Two ways: pipelined (WINDOW calls are always in flight, which shows the cost of a call for the
 * server) and one at a time (the next call is made after the answer, which shows how long a client
 * waits). Both are printed with the server's processor time per call, which other load on the
 * machine changes least.
 *
 * Our server is measured twice: with the tool that its loop runs (MCP_NONBLOCKING), and with the
 * same tool on a worker, as most tools are.
 *
 * The peer, the official TypeScript SDK's server with the same tool, runs the same rounds in turn,
 * so that other load affects both; the median round counts. Every answer is checked: its text, and
 * that each id is answered once.
 *
 *     bench-stdio [PROGRAM [ARGUMENT...]]     default: mcp-everything of CAUSEWAY_BIN
 */
#include <inttypes.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mcp/clock.h"

#include "support/figures.h"
#include "support/program.h"
#include "support/scale.h"

enum {
    ROUNDS = BENCH(5, 1),
    SINGLES = BENCH(4000, 20), /* calls one at a time in a round */
    WINDOW = 128,
    WARM_UP = BENCH(2000, 20),
    CALL_MAX = 256
};

typedef struct subject {
    const char *name;
    const char *tool;
    program program;
    int64_t next_id;
    double first_mb; /* resident after the first calls */
    long pipelined;  /* calls in a round; the peer has fewer, it takes longer */
    double per_second[ROUNDS];
    double pipelined_cpu_us[ROUNDS]; /* of the program, a call */
    double median_us[ROUNDS];
    double late_us[ROUNDS]; /* 99 of 100 are faster */
    double single_cpu_us[ROUNDS];
} subject;

static const char message[] = "The quick brown fox jumps over the lazy dog";

static void greet(subject *it)
{
    static const char hello[] =
        "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":"
        "\"2025-11-25\",\"capabilities\":{},\"clientInfo\":{\"name\":\"bench\",\"version\":\"1\"}}}\n";
    static const char ready[] = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n";
    size_t length;

    program_say(&it->program, hello, sizeof hello - 1);
    const char *line = program_line(&it->program, &length);
    if (!memmem(line, length, "\"serverInfo\"", 12))
        bench_give_up("%s: initialize was answered by %.*s", it->name, (int)length, line);
    program_say(&it->program, ready, sizeof ready - 1);
    it->next_id = 1;
}

/* Write a call into `out`, of CALL_MAX bytes. */
static size_t write_call(char *out, const subject *of, int64_t id)
{
    return (size_t)snprintf(out, CALL_MAX,
                            "{\"jsonrpc\":\"2.0\",\"id\":%" PRId64 ",\"method\":\"tools/call\","
                            "\"params\":{\"name\":\"%s\",\"arguments\":{\"message\":\"%s\"}}}\n",
                            id, of->tool, message);
}

/* The id of an answer that says our message. */
static int64_t answered(const subject *it, const char *line, size_t length)
{
    const char *id = memmem(line, length, "\"id\":", 5);

    if (!id || memmem(line, length, "\"error\"", 7) ||
        !memmem(line, length, message, sizeof message - 1))
        bench_give_up("%s: echo was answered by %.*s", it->name, (int)length, line);
    return strtoll(id + 5, NULL, 10);
}

/*
 * `count` calls with WINDOW of them under way. What answers free up is asked in one write, which
 * never waits: WINDOW calls fit into a pipe.
 */
static double pipeline(subject *it, long count)
{
    char calls[WINDOW * CALL_MAX];
    int64_t sum = 0;
    int64_t first = it->next_id;
    long asked = 0;
    long heard = 0;
    int64_t from = mcp_clock_mono_ns();

    while (heard < count) {
        size_t length = 0;
        while (asked < count && asked - heard < WINDOW) {
            length += write_call(calls + length, it, it->next_id++);
            asked++;
        }
        program_say(&it->program, calls, length);
        const char *line = program_line(&it->program, &length);
        for (; line; line = program_line_at_hand(&it->program, &length), heard++)
            sum += answered(it, line, length);
    }
    double seconds = (double)(mcp_clock_mono_ns() - from) * 1e-9;
    if (sum != (first + it->next_id - 1) * count / 2)
        bench_give_up("%s: some call was answered twice, another never", it->name);
    return (double)count / seconds;
}

static void one_at_a_time(subject *it, int round)
{
    static double us[SINGLES];
    char call[CALL_MAX];
    size_t length;

    for (int i = 0; i < SINGLES; i++) {
        size_t size = write_call(call, it, it->next_id);
        int64_t from = mcp_clock_mono_ns();
        program_say(&it->program, call, size);
        const char *line = program_line(&it->program, &length);
        us[i] = (double)(mcp_clock_mono_ns() - from) * 1e-3;
        if (answered(it, line, length) != it->next_id++)
            bench_give_up("%s: an answer to another call", it->name);
    }
    figures_sort(us, SINGLES);
    it->median_us[round] = figures_at(us, SINGLES, 0.5);
    it->late_us[round] = figures_at(us, SINGLES, 0.99);
}

static double resident_mb(const subject *it)
{
    return (double)program_resident_kb(&it->program) / 1024.0;
}

static void start(subject *it, char *const *command)
{
    program_start(&it->program, command);
    greet(it);
    pipeline(it, WARM_UP);
    it->first_mb = resident_mb(it);
}

static void measure(subject *it, int round)
{
    int64_t before = program_cpu_ns(&it->program);
    it->per_second[round] = pipeline(it, it->pipelined);
    int64_t between = program_cpu_ns(&it->program);
    one_at_a_time(it, round);
    int64_t after = program_cpu_ns(&it->program);

    it->pipelined_cpu_us[round] = (double)(between - before) * 1e-3 / (double)it->pipelined;
    it->single_cpu_us[round] = (double)(after - between) * 1e-3 / SINGLES;
}

static double middle(double *figures)
{
    figures_sort(figures, ROUNDS);
    return figures_at(figures, ROUNDS, 0.5);
}

static void finish(subject *it)
{
    printf(
        "stdio %-14s  pipelined %7.0f calls/s, processor %5.1f us a call;  one at a time %6.1f us,"
        " 99 %% within %6.1f us, processor %5.1f us;  resident %.1f MB, after %" PRId64
        " calls %.1f MB\n",
        it->name, middle(it->per_second), middle(it->pipelined_cpu_us), middle(it->median_us),
        middle(it->late_us), middle(it->single_cpu_us), it->first_mb, it->next_id - 1,
        resident_mb(it));
    program_end(&it->program);
}

int main(int argc, char **argv)
{
    char node[] = "node";
    char script[] = "bench/peers/echo.mjs";
    char *const peer_command[] = { node, script, NULL };
    char own_program[4096];
    char *const own_command[] = { own_program, NULL };
    const char *bin = getenv("CAUSEWAY_BIN");
    subject own = { .name = "causeway", .tool = "echo", .pipelined = BENCH(200000, 400) };
    subject by_worker = { .name = "same by worker",
                          .tool = "echo_by_worker",
                          .pipelined = BENCH(100000, 400) };
    subject peer = { .name = "TypeScript SDK", .tool = "echo", .pipelined = BENCH(10000, 400) };

    signal(SIGPIPE, SIG_IGN);
    snprintf(own_program, sizeof own_program, "%s/mcp-everything", bin ? bin : "build/bin");
    start(&own, argc > 1 ? argv + 1 : own_command);
    start(&by_worker, argc > 1 ? argv + 1 : own_command);
    start(&peer, peer_command);
    for (int round = 0; round < ROUNDS; round++) {
        measure(&own, round);
        measure(&by_worker, round);
        measure(&peer, round);
    }
    finish(&own);
    finish(&by_worker);
    finish(&peer);
    printf("stdio ratio           pipelined %.1f x as many;  one at a time %.1f x as fast\n",
           own.per_second[ROUNDS / 2] / peer.per_second[ROUNDS / 2],
           peer.median_us[ROUNDS / 2] / own.median_us[ROUNDS / 2]);
    return 0;
}
