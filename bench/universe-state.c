/*
 * universe-state.c - a million bodies in one state: how much memory, and how long each thing takes
 * on one thread.
 *
 * The bodies are 50,000 systems of a star, four planets and fifteen moons, with UUIDs, ellipses and
 * turned orbits, as the generator makes them. `bench-universe-state N` takes another number of
 * bodies. Times are of this thread's processor.
 */
#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "commands/commands.h"
#include "model/pages/memory.h"
#include "support/figures.h"
#include "support/scale.h"

enum { SYSTEM = 20, BODIES = BENCH(1000000, 1000), SAMPLES = BENCH(2000, 20) };

static double now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static void must(mcp_status st, const char *what)
{
    if (st == MCP_OK)
        return;
    fprintf(stderr, "bench-universe-state: %s: %s\n", what, mcp_status_words(st));
    exit(1);
}

static double resident_mb(void)
{
    FILE *file = fopen("/proc/self/statm", "r");
    long pages = 0;

    if (!file || fscanf(file, "%*d %ld", &pages) != 1)
        pages = 0;
    if (file)
        fclose(file);
    return (double)pages * (double)sysconf(_SC_PAGESIZE) / 1e6;
}

static void id_of(char out[37], size_t number)
{
    snprintf(out, 37, "%08x-7a3c-4d21-9e5f-0000%08x", (uint32_t)number * 2654435761u,
             (uint32_t)number);
}

static universe_outcome outcome;

static void apply(universe_state *state, const char *text, mcp_arena *arena)
{
    const mcp_json *command = NULL;

    must(mcp_json_read(&command, arena, text, strlen(text), NULL), "reading a command");
    must(universe_apply(&outcome, state, command, text, strlen(text), NULL, arena, NULL),
         "applying");
    if (outcome.verdict == UNIVERSE_REJECTED) {
        fprintf(stderr, "bench-universe-state: %s\n", outcome.events);
        exit(1);
    }
}

/* Body 0 of a system is its star, 1 to 4 planets, the rest moons of them in turn. */
static void write_body(char *out, size_t size, size_t number)
{
    size_t place = number % SYSTEM;
    char id[37];
    char parent[40] = "null";

    id_of(id, number);
    if (place > 0) {
        parent[0] = '"';
        id_of(parent + 1, number - place + (place > 4 ? 1 + place % 4 : 0));
        memcpy(parent + 37, "\"", 2);
    }
    snprintf(
        out, size,
        "{\"type\":\"addStar\",\"id\":\"%s\",\"payload\":{\"name\":\"%s %zu\",\"mass\":%.15g,\"radius\":%.15g,"
        "\"color\":\"#9BB0FF\",\"parentId\":%s,\"bodyType\":\"%s\",\"orbitalDistance\":%.15g,\"orbitalSpeed\":%.15g,"
        "\"orbitalPhase\":%.15g,\"semiMajorAxis\":%.15g,\"eccentricity\":0.25,\"orbitRotX\":%.15g,"
        "\"orbitRotY\":%.15g,\"orbitRotZ\":%.15g}}",
        id, place ? "Planet" : "Star", place, 1 + (double)number / 7, 1.0 / 3 + (double)place,
        parent,
        place == 0  ? "star"
        : place > 4 ? "moon"
                    : "planet",
        8 * (1 + (double)place / 3), 20.0 / (1 + (double)place), (double)(number % 360) + 1.0 / 3,
        8 * (1 + (double)place / 3), (double)(number % 7) / 3, (double)(number % 5) / 3,
        (double)(number % 360) / 7);
}

static void fill(universe_state *state, size_t bodies)
{
    char text[1024];
    double begin = now_ms();

    for (size_t i = 0; i < bodies; i++) {
        mcp_arena *arena = mcp_arena_new(0);
        write_body(text, sizeof text, i);
        apply(state, text, arena);
        mcp_arena_free(arena);
    }
    double took = now_ms() - begin;
    printf("  addStar                    %8.2f us each, %.0f/s\n", 1e3 * took / (double)bodies,
           1e3 * (double)bodies / took);
}

/* One command each, frozen after each, as a commit does. */
static void time_commands(universe_state *state, size_t bodies, const char *name,
                          const char *format)
{
    double *each = malloc(SAMPLES * sizeof *each);
    char text[1024];
    char id[37];

    for (size_t i = 0; each && i < SAMPLES; i++) {
        universe_view *view = NULL;
        mcp_arena *arena = mcp_arena_new(0);
        id_of(id, (i * 7919) % bodies);
        snprintf(text, sizeof text, "{\"type\":\"%s\",\"id\":\"%s\",%s}", name, id, format);
        double begin = now_ms();
        apply(state, text, arena);
        must(universe_state_freeze(&view, state, NULL), "freezing");
        each[i] = 1e3 * (now_ms() - begin);
        universe_view_free(view);
        mcp_arena_free(arena);
    }
    figures_sort(each, SAMPLES);
    printf("  %-26s %8.2f us median, %.2f us p99 (with a freeze)\n", name,
           figures_at(each, SAMPLES, 0.5), figures_at(each, SAMPLES, 0.99));
    free(each);
}

static mcp_status count_bytes(const char *bytes, size_t length, void *data, mcp_error *err)
{
    (void)bytes;
    (void)err;
    *(size_t *)data += length;
    return MCP_OK;
}

static mcp_status keep_bytes(const char *bytes, size_t length, void *data, mcp_error *err)
{
    (void)err;
    return mcp_buf_append(data, bytes, length);
}

static void time_reading(const universe_view *view)
{
    size_t bytes = 0;
    double best = 1e9;

    for (int i = 0; i < 5; i++) {
        double begin = now_ms();
        bytes = 0;
        must(universe_view_write_places(view, 1234.5 + i, NULL, UNIVERSE_PLACES_F32, count_bytes,
                                        &bytes, NULL),
             "positions");
        double took = now_ms() - begin;
        best = took < best ? took : best;
    }
    printf("  positions, float32         %8.1f ms for %zu bytes\n", best, bytes);
    bytes = 0;
    double begin = now_ms();
    must(universe_view_write(view, NULL, count_bytes, &bytes, NULL, NULL), "writing JSON");
    double took = now_ms() - begin;
    universe_summary summary;
    universe_view_summary(&summary, view);
    printf("  JSON                       %8.1f ms for %zu bytes (estimated %" PRIu64
           "), %.0f MB/s\n",
           took, bytes, summary.bytes, (double)bytes / 1e3 / took);
}

static void time_snapshot(const universe_view *view)
{
    universe_load *load = NULL;
    universe_state *loaded = NULL;
    mcp_buf bytes;

    mcp_buf_init(&bytes, (size_t)4 << 30);
    double begin = now_ms();
    must(universe_view_save(view, keep_bytes, &bytes, NULL), "saving");
    printf("  save                       %8.1f ms for %zu bytes\n", now_ms() - begin, bytes.length);
    begin = now_ms();
    must(universe_load_begin(&load, NULL), "loading");
    must(universe_load_feed(load, bytes.data, bytes.length, NULL), "loading");
    must(universe_load_end(&loaded, load, NULL), "loading");
    printf("  load                       %8.1f ms\n", now_ms() - begin);
    universe_load_free(load);
    universe_state_free(loaded);
    mcp_buf_clear(&bytes);
}

static mcp_status import_bytes(const char *bytes, size_t length, void *data, mcp_error *err)
{
    return universe_import_feed(data, bytes, length, err);
}

/* Straight from the writer into the importer, so the time is that of both. */
static void time_import(const universe_view *view)
{
    universe_import *import = NULL;
    universe_state *imported = NULL;
    double begin = now_ms();

    must(universe_import_new(&import, NULL, NULL), "importing");
    must(universe_view_write(view, NULL, import_bytes, import, NULL, NULL), "importing");
    must(universe_import_end(&imported, import, NULL), "importing");
    printf("  export and import          %8.1f ms\n", now_ms() - begin);
    universe_import_free(import);
    universe_state_free(imported);
}

int main(int argc, char **argv)
{
    size_t bodies = argc > 1 ? strtoul(argv[1], NULL, 10) : BODIES;
    double before = resident_mb();
    universe_state *state = NULL;
    universe_view *view = NULL;

    printf("a universe of %zu bodies\n", bodies);
    must(universe_state_new(&state, NULL), "a state");
    fill(state, bodies);
    printf("  memory                     %8.1f MB resident, %.0f bytes a body; %.1f MB in pages\n",
           resident_mb() - before, 1e6 * (resident_mb() - before) / (double)bodies,
           (double)universe_memory_used() / 1e6);
    time_commands(state, bodies, "tick", "\"dt\":0.5");
    time_commands(state, bodies, "updateStar", "\"payload\":{\"mass\":2.5}");
    must(universe_state_freeze(&view, state, NULL), "freezing");
    time_reading(view);
    time_snapshot(view);
    malloc_trim(0);
    time_import(view);
    printf("  memory at the end          %8.1f MB resident\n", resident_mb());
    universe_view_free(view);
    universe_state_free(state);
    return 0;
}
