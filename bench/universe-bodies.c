/*
 * universe-bodies.c - a universe of a million bodies in this process: its memory, its JSON out and
 * in, positions.
 *
 * Two universes are grown from a seed. The plain one has circular orbits; in the rich one every
 * body has an eccentric, inclined orbit around a displaced centre, which is more to keep, to write
 * and to compute. Each universe has a process of its own, so that its memory is its own; its JSON
 * goes through a file into a third, which imports it in pieces.
 *
 * A figure is given as the wall clock has it and as this thread's processor time: on a machine that
 * does other things the second is what the code costs.
 *
 *     bench-universe-bodies
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "generate/generate.h"
#include "mcp/clock.h"
#include "mcp/json.h"
#include "model/model.h"

#include "support/figures.h"
#include "support/program.h"
#include "support/scale.h"

enum {
    BENCH_MAX_S = BENCH(175, 280),
    ROUNDS = BENCH(5, 1),
    WRITES = BENCH(3, 1),
    DELTAS = BENCH(51, 1),
    PIECE = 1 << 20,
    DELTA_BYTES = BENCH(1 << 20, 1 << 12)
};

#define SYSTEMS BENCH("14500", "16")

typedef struct kind {
    const char *name;
    const char *config;
} kind;

static const kind plain = { "plain", "{\"seed\":1,\"maxSystems\":" SYSTEMS
                                     ",\"topologyPreset\":\"moonRich\"}" };
static const kind rich = { "rich",
                           "{\"seed\":1,\"maxSystems\":" SYSTEMS ",\"topologyPreset\":\"moonRich\","
                           "\"orbitEccentricityStyle\":\"eccentric\",\"orbitInclinationMax\":45,"
                           "\"orbitOffsetEnabled\":true}" };

/* ---- two clocks ------------------------------------------------------------------------------ */

typedef struct moment {
    int64_t wall_ns;
    int64_t thread_ns;
} moment;

static moment now(void)
{
    struct timespec used;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return (moment){ mcp_clock_mono_ns(), (int64_t)used.tv_sec * 1000000000 + used.tv_nsec };
}

/* Milliseconds since `from` on both clocks, kept as the round's. */
static void since(moment from, int round, double *wall_ms, double *thread_ms)
{
    moment to = now();

    wall_ms[round] = (double)(to.wall_ns - from.wall_ns) * 1e-6;
    thread_ms[round] = (double)(to.thread_ns - from.thread_ns) * 1e-6;
}

static double middle(double *figures, size_t count)
{
    figures_sort(figures, count);
    return figures_at(figures, count, 0.5);
}

static double load_average(void)
{
    double load = 0;

    return getloadavg(&load, 1) == 1 ? load : -1;
}

static void must(mcp_status st, const mcp_error *err, const char *what)
{
    if (st != MCP_OK)
        bench_give_up("%s: %s", what, err->message);
}

static double resident_mb(void)
{
    const program self = { .pid = getpid() };

    return (double)program_resident_kb(&self) / 1024;
}

/* ---- what is measured ------------------------------------------------------------------------ */

static mcp_status count_bytes(const char *bytes, size_t length, void *data, mcp_error *err)
{
    (void)bytes, (void)err;
    *(size_t *)data += length;
    return MCP_OK;
}

static mcp_status into_file(const char *bytes, size_t length, void *data, mcp_error *err)
{
    (void)err;
    if (fwrite(bytes, 1, length, data) != length)
        bench_give_up("the file of a state cannot be written");
    return MCP_OK;
}

static mcp_status into_buf(const char *bytes, size_t length, void *data, mcp_error *err)
{
    (void)err;
    return mcp_buf_append(data, bytes, length);
}

static universe_view *grow(const kind *what, universe_state **state)
{
    mcp_error err = MCP_ERROR_INIT;
    mcp_arena *arena = mcp_arena_new((size_t)1 << 30);
    const mcp_json *config = NULL;
    universe_view *view = NULL;

    must(mcp_json_read(&config, arena, what->config, strlen(what->config), &err), &err, "config");
    moment from = now();
    double wall, thread;
    must(universe_generate(state, config, NULL, NULL, arena, &err), &err, "generate");
    since(from, 0, &wall, &thread);
    must(universe_state_freeze(&view, *state, &err), &err, "freeze");
    mcp_arena_free(arena);
    printf("bodies %-6s %zu bodies grown in %.2f s (processor %.2f s); resident %.0f MB, load "
           "average %.1f\n",
           what->name, universe_view_count(view, UNIVERSE_STARS), wall * 1e-3, thread * 1e-3,
           resident_mb(), load_average());
    return view;
}

static void write_json(const kind *what, const universe_view *view)
{
    double wall[WRITES], thread[WRITES];
    mcp_error err = MCP_ERROR_INIT;
    size_t bytes = 0;

    for (int i = 0; i < WRITES; i++) {
        moment from = now();
        bytes = 0;
        must(universe_view_write(view, NULL, count_bytes, &bytes, NULL, &err), &err, "state");
        since(from, i, wall, thread);
    }
    double mb = (double)bytes * 1e-6;
    printf("bodies %-6s state as JSON, %.0f MB: %.0f MB/s, by processor time %.0f MB/s; load "
           "average %.1f\n",
           what->name, mb, mb * 1e3 / middle(wall, WRITES), mb * 1e3 / middle(thread, WRITES),
           load_average());
}

static void write_places(const kind *what, const universe_view *view)
{
    double wall[ROUNDS], thread[ROUNDS];
    mcp_error err = MCP_ERROR_INIT;
    size_t bytes = 0;

    for (int i = 0; i < ROUNDS; i++) {
        moment from = now();
        bytes = 0;
        must(universe_view_write_places(view, 1000.5 + i, NULL, UNIVERSE_PLACES_F32, count_bytes,
                                        &bytes, &err),
             &err, "positions");
        since(from, i, wall, thread);
    }
    double half = middle(wall, ROUNDS), busy = middle(thread, ROUNDS);
    printf("bodies %-6s positions of %zu bodies as f32: %.1f ms, processor time %.1f ms (best "
           "%.1f); load average %.1f\n",
           what->name, bytes / 12, half, busy, thread[0], load_average());
}

/* As many bodies as give a MiB, spread over all of them. */
static void write_delta(const kind *what, const universe_view *view)
{
    double wall[DELTAS], thread[DELTAS];
    mcp_error err = MCP_ERROR_INIT;
    mcp_arena *arena = mcp_arena_new((size_t)1 << 30);
    const mcp_json *ids = NULL;
    mcp_buf text;
    universe_summary summary;

    universe_view_summary(&summary, view);
    size_t bodies = summary.counts[UNIVERSE_STARS];
    size_t count = (size_t)((double)DELTA_BYTES * (double)bodies / (double)summary.bytes);
    universe_touch *touches = mcp_arena_array(arena, count, sizeof *touches);
    mcp_buf_init(&text, (size_t)1 << 30);
    must(universe_view_write_places(view, 0, NULL, UNIVERSE_PLACES_IDS, into_buf, &text, &err),
         &err, "ids");
    must(mcp_json_read(&ids, arena, text.data, text.length, &err), &err, "ids");
    for (size_t i = 0; i < count; i++) {
        const char *id = mcp_json_string(mcp_json_item(ids, i * (bodies / count)), NULL);
        touches[i] = (universe_touch){ .map = UNIVERSE_STARS, .id = id, .length = strlen(id) };
    }
    size_t bytes = 0;
    for (int i = 0; i < DELTAS; i++) {
        moment from = now();
        bytes = 0;
        must(universe_view_delta(view, touches, count, false, false, count_bytes, &bytes, &err),
             &err, "delta");
        since(from, i, wall, thread);
    }
    double half = middle(wall, DELTAS);
    printf("bodies %-6s delta of %zu bodies, %.2f MiB: %.1f ms, processor time %.1f ms; load "
           "average %.1f\n",
           what->name, count, (double)bytes / (1 << 20), half, middle(thread, DELTAS),
           load_average());
    mcp_buf_clear(&text);
    mcp_arena_free(arena);
}

/* Its JSON as a file in memory, so that no disk is measured when it is read. */
static void keep_json(const universe_view *view, int fd)
{
    mcp_error err = MCP_ERROR_INIT;
    FILE *file = fdopen(dup(fd), "wb");

    if (!file)
        bench_give_up("no file for a state");
    must(universe_view_write(view, NULL, into_file, file, NULL, &err), &err, "state");
    if (fclose(file) != 0)
        bench_give_up("the file of a state cannot be written");
}

static void import_json(const kind *what, int fd)
{
    double wall, thread;
    mcp_error err = MCP_ERROR_INIT;
    const universe_rules rules = { 0 };
    universe_import *import = NULL;
    universe_state *state = NULL;
    char *piece = malloc(PIECE);
    size_t bytes = 0;
    ssize_t got;

    if (!piece)
        bench_give_up("no memory");
    double before = resident_mb();
    moment from = now();
    must(universe_import_new(&import, &rules, &err), &err, "import");
    for (got = pread(fd, piece, PIECE, (off_t)bytes); got > 0;
         got = pread(fd, piece, PIECE, (off_t)bytes)) {
        must(universe_import_feed(import, piece, (size_t)got, &err), &err, "import");
        bytes += (size_t)got;
    }
    double highest = resident_mb();
    must(universe_import_end(&state, import, &err), &err, "import");
    since(from, 0, &wall, &thread);
    printf("bodies %-6s import of %.2f GB: %.1f s, processor time %.1f s; resident %.0f MB, before "
           "its end %.0f MB, without it %.0f MB; load average %.1f\n",
           what->name, (double)bytes * 1e-9, wall * 1e-3, thread * 1e-3, resident_mb(), highest,
           before, load_average());
    universe_import_free(import);
    universe_state_free(state);
    free(piece);
}

/* ---- a process for each ---------------------------------------------------------------------- */

static void look_at(const kind *what, int fd)
{
    universe_state *state = NULL;
    universe_view *view = grow(what, &state);

    write_json(what, view);
    write_places(what, view);
    write_delta(what, view);
    keep_json(view, fd);
    universe_view_free(view);
    universe_state_free(state);
}

static void in_own_process(void (*run)(const kind *what, int fd), const kind *what, int fd)
{
    int status = 0;
    pid_t pid = fork();

    if (pid < 0)
        bench_give_up("no process");
    if (pid == 0) {
        alarm(BENCH_MAX_S);
        run(what, fd);
        exit(0);
    }
    if (waitpid(pid, &status, 0) != pid || status != 0)
        bench_give_up("%s: it failed", what->name);
}

static void bench(const kind *what)
{
    int fd = memfd_create(what->name, MFD_CLOEXEC);

    if (fd < 0)
        bench_give_up("no file in memory");
    in_own_process(look_at, what, fd);
    in_own_process(import_json, what, fd);
    close(fd);
}

int main(void)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    bench(&plain);
    bench(&rich);
    return 0;
}
