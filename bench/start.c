/*
 * start.c - from a server's start to its first answer, and what it holds when idle.
 *
 * Starts a stdio server again and again, sends `initialize`, and takes the time from before the
 * start until the last byte of the answer is here. Then the handshake is finished, the server left
 * alone for a moment, and its resident memory read. A peer in the same run, `cat`, shows what
 * starting any process costs here.
 *
 *     bench-start [PROGRAM [ARGUMENT...]]       default: cobre-mcp in CAUSEWAY_BIN or build/bin
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "mcp/clock.h"

#include "support/figures.h"
#include "support/program.h"
#include "support/scale.h"

enum { ROUNDS = BENCH(40, 2), IDLE_MS = BENCH(300, 1) };

static const char initialize[] =
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-11-25\","
    "\"capabilities\":{},\"clientInfo\":{\"name\":\"bench\",\"version\":\"1\"}}}\n";
static const char initialized[] =
    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n";

typedef struct figures {
    double ms[ROUNDS];
    double resident_kb[ROUNDS];
} figures;

static void rest(int ms)
{
    struct timespec time = { .tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000 };

    nanosleep(&time, NULL);
}

static void measure(figures *out, char *const *command, int is_server)
{
    program it;
    size_t length;

    for (int i = 0; i < ROUNDS; i++) {
        int64_t from = mcp_clock_mono_ns();
        program_start(&it, command);
        program_say(&it, initialize, sizeof initialize - 1);
        program_line(&it, &length);
        out->ms[i] = (double)(mcp_clock_mono_ns() - from) / 1e6;
        if (is_server)
            program_say(&it, initialized, sizeof initialized - 1);
        /* One idle round in eight is enough for a figure that hardly varies. */
        if (i % 8 == 0)
            rest(IDLE_MS);
        out->resident_kb[i] = (double)program_resident_kb(&it);
        program_end(&it);
    }
    figures_sort(out->ms, ROUNDS);
    figures_sort(out->resident_kb, ROUNDS);
}

static void print(const char *name, const figures *it)
{
    printf(
        "%-12s start to first answer: median %.1f ms, 90 %% %.1f ms; resident when idle: %.1f MB\n",
        name, figures_at(it->ms, ROUNDS, 0.5), figures_at(it->ms, ROUNDS, 0.9),
        it->resident_kb[ROUNDS - 1] / 1024.0);
}

int main(int argc, char **argv)
{
    char own[4096];
    char *server[] = { own, NULL };
    char cat[] = "cat";
    char *peer[] = { cat, NULL };
    const char *bin = getenv("CAUSEWAY_BIN");
    figures figure;

    signal(SIGPIPE, SIG_IGN);
    snprintf(own, sizeof own, "%s/cobre-mcp", bin ? bin : "build/bin");
    measure(&figure, argc > 1 ? argv + 1 : server, 1);
    print(argc > 1 ? argv[1] : "cobre-mcp", &figure);
    measure(&figure, peer, 0);
    print("(cat)", &figure);
    return 0;
}
