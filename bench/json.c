/*
 * json.c - how fast JSON is read and written, for a request, a tool's result and a large table.
 *
 * Times are processor times of this thread, the best of several rounds, so other load on the
 * machine does not count. Each is followed by its ratio to copying the same bytes with memcpy.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "mcp/json.h"

#include "support/scale.h"

enum { ROUNDS = BENCH(7, 1), BYTES = BENCH(40000000, 100000) };

typedef void work(const char *text, size_t length);

static int64_t cpu_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void must(bool is_so, const char *what)
{
    if (is_so)
        return;
    fprintf(stderr, "bench-json: %s\n", what);
    exit(1);
}

static void read_once(const char *text, size_t length)
{
    mcp_arena *arena = mcp_arena_new(0);
    const mcp_json *value = NULL;

    must(arena && mcp_json_read(&value, arena, text, length, NULL) == MCP_OK, "reading failed");
    mcp_arena_free(arena);
}

static const mcp_json *written;
static mcp_buf out;

static void write_once(const char *text, size_t length)
{
    mcp_json_writer writer;

    (void)text;
    (void)length;
    mcp_buf_reset(&out);
    mcp_json_writer_init(&writer, &out);
    mcp_write_value(&writer, written);
    must(mcp_json_writer_status(&writer) == MCP_OK, "writing failed");
}

static char *volatile copy; /* volatile, so that the copying is not optimised away */

static void copy_once(const char *text, size_t length)
{
    memcpy(copy, text, length);
}

/* Nanoseconds of one run of `what`. */
static double best_of(work *what, const char *text, size_t length)
{
    long runs = BYTES / (long)(length + 400) + 1;
    double best = 1e300;

    for (int round = 0; round < ROUNDS; round++) {
        int64_t start = cpu_ns();
        for (long i = 0; i < runs; i++)
            what(text, length);
        double ns = (double)(cpu_ns() - start) / (double)runs;
        best = ns < best ? ns : best;
    }
    return best;
}

static void measure(const char *name, const char *text, size_t length)
{
    mcp_arena *arena = mcp_arena_new(0);

    must(arena && mcp_json_read(&written, arena, text, length, NULL) == MCP_OK, "no JSON");
    copy = malloc(length);
    must(copy != NULL, "no memory");
    double reading = best_of(read_once, text, length);
    double writing = best_of(write_once, text, length);
    double copying = best_of(copy_once, text, length);
    printf("json %-8s %8zu bytes  read %9.2f us %6.0f MB/s (memcpy x %.0f)  "
           "write %9.2f us %6.0f MB/s (memcpy x %.0f)\n",
           name, length, reading / 1e3, 1e3 * (double)length / reading, reading / copying,
           writing / 1e3, 1e3 * (double)out.length / writing, writing / copying);
    free(copy);
    mcp_arena_free(arena);
}

/* A table of `rows` rows as a query answers it. */
static void measure_table(const char *name, int rows)
{
    mcp_buf text;
    mcp_json_writer writer;

    mcp_buf_init(&text, 64 << 20);
    mcp_json_writer_init(&writer, &text);
    mcp_write_array(&writer);
    for (int i = 0; i < rows; i++) {
        mcp_write_object(&writer);
        mcp_write_member_int(&writer, "iteration", i);
        mcp_write_member_double(&writer, "lower_bound", 72105.4 + 1.0 / (i + 3));
        mcp_write_member_string(&writer, "status", "converging \"slowly\"");
        mcp_write_member_bool(&writer, "is_final", i + 1 == rows);
        mcp_write_end(&writer);
    }
    mcp_write_end(&writer);
    must(mcp_json_writer_status(&writer) == MCP_OK, "no table");
    measure(name, text.data, text.length);
    mcp_buf_clear(&text);
}

int main(void)
{
    static const char request[] =
        "{\"jsonrpc\":\"2.0\",\"id\":17,\"method\":\"tools/call\",\"params\":{\"name\":"
        "\"cobre/query-convergence\",\"arguments\":{\"output_dir\":\"/data/case/output\","
        "\"from\":1,\"to\":128,\"fields\":[\"lower\",\"upper\",\"gap\"],\"tolerance\":1e-3}}}";

    mcp_buf_init(&out, 64 << 20);
    measure("request", request, sizeof request - 1);
    measure_table("result", 100);
    measure_table("table", 10000);
    mcp_buf_clear(&out);
    return 0;
}
