/*
 * metrics.c - /health, and /metrics in Prometheus's text format (version 0.0.4).
 *
 * Names follow the rules of OpenMetrics too: a counter ends in _total, and no family has the name
 * of another without that suffix. Labels are names of the program's own tables; nothing is said of
 * any client.
 *
 * Probes come from machines that know the server by an address, so these paths are answered before
 * the check of Host. Hence they are served only where an option says so. /metrics may require a
 * token of its own, which opens nothing else.
 */
#include "mcp/transport/http_int.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "mcp/clock.h"
#include "mcp/core/call/result.h"
#include "mcp/hash.h"
#include "mcp/transport/http/header_fields.h"

/* The tables bound the text: each name of a histogram twice as long by its escapes, in each line of
 * it; and all else. */
#define LINES_OF_HISTOGRAM (MCP__DURATION_BOUNDS + 3)
#define LINE_MAX_BYTES ((size_t)2 * MCP__DURATION_NAMES_MAX + 160)
#define TEXT_MAX                                                                                   \
    (MCP__DURATIONS_MAX * LINES_OF_HISTOGRAM * LINE_MAX_BYTES + MCP_METRICS_MAX + (size_t)64 * 1024)
#define NS_A_SECOND 1000000000

static void answer(mcp__http_exchange *exchange, int status, const char *type, mcp_buf *body)
{
    mcp__head head = { .count = 0 };

    mcp__head_add(&head, "Content-Type", type);
    mcp__head_add(&head, "Cache-Control", "no-store");
    mcp__head_reply(&head, exchange, status, body);
}

void mcp__metrics_health(mcp__httpd *httpd, mcp__http_exchange *exchange)
{
    bool is_ending = httpd->serve.is_ending;
    mcp_buf body;

    mcp_buf_init(&body, 64);
    (void)mcp_buf_printf(&body, "{\"status\":\"%s\"}", is_ending ? "ending" : "ok");
    answer(exchange, is_ending ? 503 : 200, "application/json", &body);
}

/* ---- families -------------------------------------------------------------------------------- */

/* Without a `type` it is a counter or a gauge: the name says which. */
static void begin_family(mcp_buf *body, const char *name, const char *type, const char *help)
{
    const char *last = strrchr(name, '_');

    if (!type)
        type = last && strcmp(last, "_total") == 0 ? "counter" : "gauge";
    (void)mcp_buf_printf(body, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void put(mcp_buf *body, const char *name, const char *help, uint64_t value)
{
    begin_family(body, name, NULL, help);
    (void)mcp_buf_printf(body, "%s %" PRIu64 "\n", name, value);
}

static void put_ns(mcp_buf *body, uint64_t ns)
{
    (void)mcp_buf_printf(body, "%" PRIu64 ".%09" PRIu64 "\n", ns / NS_A_SECOND, ns % NS_A_SECOND);
}

static void put_seconds(mcp_buf *body, const char *name, const char *help, uint64_t ns)
{
    begin_family(body, name, NULL, help);
    (void)mcp_buf_printf(body, "%s ", name);
    put_ns(body, ns);
}

/* A label's value, with the escapes of the format. */
static void put_label(mcp_buf *body, const char *name, const char *value)
{
    (void)mcp_buf_printf(body, "%s=\"", name);
    for (; *value; value++) {
        if (*value == '\n') {
            (void)mcp_buf_puts(body, "\\n");
            continue;
        }
        if (*value == '"' || *value == '\\')
            (void)mcp_buf_putc(body, '\\');
        (void)mcp_buf_putc(body, *value);
    }
    (void)mcp_buf_putc(body, '"');
}

/* The labels of a histogram, the first of them without a comma. */
static void put_labels(mcp_buf *body, const mcp__duration *duration)
{
    bool is_tool = strcmp(duration->method, "tools/call") == 0;

    put_label(body, "method", duration->method);
    if (duration->name[0] || is_tool) {
        (void)mcp_buf_putc(body, ',');
        put_label(body, duration->is_route ? "route" : "tool",
                  duration->name[0] ? duration->name : "other");
    }
    if (duration->error_type[0]) {
        (void)mcp_buf_putc(body, ',');
        put_label(body, "error_type", duration->error_type);
    }
}

/* @param duration whose the labels are; NULL: none */
static void put_sample(mcp_buf *body, const char *family, const char *suffix,
                       const mcp__duration *duration, const char *bound)
{
    (void)mcp_buf_printf(body, "%s%s", family, suffix);
    if (duration || bound)
        (void)mcp_buf_putc(body, '{');
    if (duration)
        put_labels(body, duration);
    if (bound)
        (void)mcp_buf_printf(body, "%sle=\"%s\"", duration ? "," : "", bound);
    (void)mcp_buf_puts(body, duration || bound ? "} " : " ");
}

static void put_histogram(mcp_buf *body, const char *family, const mcp__duration *duration,
                          const mcp__histogram *times)
{
    uint64_t count = 0;

    for (size_t i = 0; i <= MCP__DURATION_BOUNDS; i++) {
        bool is_last = i == MCP__DURATION_BOUNDS;
        count += times->counts[i];
        put_sample(body, family, "_bucket", duration,
                   is_last ? "+Inf" : mcp__duration_bounds[i].seconds);
        (void)mcp_buf_printf(body, "%" PRIu64 "\n", count);
    }
    put_sample(body, family, "_sum", duration, NULL);
    put_ns(body, times->sum_ns);
    put_sample(body, family, "_count", duration, NULL);
    (void)mcp_buf_printf(body, "%" PRIu64 "\n", count);
}

static void put_times(mcp_buf *body, const mcp__httpd *httpd)
{
    static const char calls[] = "mcp_operation_duration_seconds";
    static const char sessions[] = "mcp_session_duration_seconds";

    begin_family(body, calls, "histogram",
                 "Time from a request to its end, by method, tool or route, and error.");
    for (const mcp__duration *at = httpd->durations.first; at; at = at->next)
        put_histogram(body, calls, at, &at->times);
    begin_family(body, sessions, "histogram", "Life of sessions that have ended.");
    put_histogram(body, sessions, NULL, &httpd->session_times);
}

static void put_build(mcp_buf *body, const mcp_server_options *options)
{
    begin_family(body, "mcp_build_info", NULL, "What runs; always 1.");
    (void)mcp_buf_puts(body, "mcp_build_info{");
    put_label(body, "library", mcp_version());
    (void)mcp_buf_putc(body, ',');
    put_label(body, "server", options->name);
    (void)mcp_buf_putc(body, ',');
    put_label(body, "version", options->version);
    (void)mcp_buf_puts(body, "} 1\n");
}

/* ---- the process ----------------------------------------------------------------------------- */

/* A file of /proc, cut to the room; false: it cannot be read. */
static bool read_proc(const char *path, char *room, size_t size)
{
    FILE *file = fopen(path, "re");
    size_t length = file ? fread(room, 1, size - 1, file) : 0;

    room[length] = '\0';
    if (file)
        (void)fclose(file);
    return length > 0;
}

double mcp__process_start_s(void)
{
    struct timespec boot;
    char text[1024];

    if (!read_proc("/proc/self/stat", text, sizeof text) ||
        clock_gettime(CLOCK_BOOTTIME, &boot) != 0)
        return 0;
    const char *at = strrchr(text, ')'); /* the name before it may hold anything */
    for (int field = 2; at && field < 22; field++)
        at = strchr(at + 1, ' ');
    if (!at)
        return 0;
    double since_boot_s = strtod(at + 1, NULL) / (double)sysconf(_SC_CLK_TCK);
    double up_s = (double)boot.tv_sec + (double)boot.tv_nsec / NS_A_SECOND;
    return (double)mcp_clock_wall_ms() / 1000 - (up_s - since_boot_s);
}

/* Linux 6.2 and later say it as the folder's size; before that the entries are counted. */
static uint64_t count_descriptors(void)
{
    struct stat about;
    uint64_t count = 0;

    if (stat("/proc/self/fd", &about) == 0 && about.st_size > 0)
        return (uint64_t)about.st_size;
    DIR *folder = opendir("/proc/self/fd");
    while (folder && readdir(folder))
        count++;
    if (folder)
        (void)closedir(folder);
    return count > 3 ? count - 3 : 0; /* ".", "..", and the folder's own */
}

static void put_process(mcp_buf *body, const mcp__httpd *httpd)
{
    unsigned long long size = 0, resident = 0;
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    struct rlimit limit = { .rlim_cur = 0 };
    struct timespec cpu = { .tv_sec = 0 };
    char text[256];

    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
    (void)getrlimit(RLIMIT_NOFILE, &limit);
    if (read_proc("/proc/self/statm", text, sizeof text)) {
        char *end = text;
        size = strtoull(text, &end, 10);
        resident = strtoull(end, NULL, 10);
    }
    put_seconds(body, "process_cpu_seconds_total", "User and system CPU time.",
                (uint64_t)cpu.tv_sec * NS_A_SECOND + (uint64_t)cpu.tv_nsec);
    put(body, "process_open_fds", "Open file descriptors.", count_descriptors());
    put(body, "process_max_fds", "Limit of open file descriptors.", limit.rlim_cur);
    put(body, "process_virtual_memory_bytes", "Virtual memory.", size * page);
    put(body, "process_resident_memory_bytes", "Resident memory.", resident * page);
    begin_family(body, "process_start_time_seconds", NULL, "Start, in seconds since 1970.");
    (void)mcp_buf_printf(body, "process_start_time_seconds %.2f\n", httpd->process_start_s);
}

/* ---- the exposition -------------------------------------------------------------------------- */

static void put_http(mcp_buf *body, const mcp__httpd *httpd)
{
    const mcp__httpd_counts *counts = &httpd->counts;

    put(body, "mcp_http_requests_total", "HTTP requests of any kind.", counts->requests);
    put(body, "mcp_http_refused_total", "Requests of a foreign Host or Origin.", counts->refused);
    put(body, "mcp_http_hangups_total", "Clients that left before their answer.", counts->hung_up);
    put(body, "mcp_http_connections", "Open connections.", mcp__http_connections(httpd->listener));
    put(body, "mcp_messages_total", "MCP messages.", counts->messages);
    put(body, "mcp_streams_total", "Event streams begun.", counts->streams);
    put(body, "mcp_route_streams", "Open event streams of routes.", httpd->stream_count);
    put(body, "mcp_route_events_total", "Events written to streams of routes.", counts->events);
    put(body, "mcp_route_streams_full_total", "Queues of slow readers that were full.",
        counts->overruns);
    put(body, "mcp_unanswered", "Open streams and requests without their answer.",
        httpd->peer_count);
    put(body, "mcp_sessions_open", "Open sessions.", httpd->sessions.count);
    put(body, "mcp_sessions_total", "Sessions opened.", httpd->sessions.opened);
}

static void put_handlers(mcp_buf *body, const mcp__httpd *httpd)
{
    const mcp__pool *pool = httpd->serve.pool;

    put(body, "mcp_handlers_running", "Calls with or before a worker.",
        (uint64_t)mcp__pool_busy(pool));
    put(body, "mcp_handlers_stuck", "Handlers that run on after a request to stop.",
        (uint64_t)mcp__pool_given_up(pool));
    put(body, "mcp_handlers_given_up_total", "Handlers that did not stop when they were asked to.",
        mcp__pool_given_up_total(pool));
    put(body, "mcp_tool_output_mismatches_total",
        "Results of tools that do not match their output schemas.",
        atomic_load_explicit(httpd->sessions.options.context.mismatches, memory_order_relaxed));
    put_seconds(body, "mcp_loop_turn_max_seconds",
                "The longest that the loop was busy at a stretch.",
                mcp__loop_turn_max_ns(httpd->serve.loop));
}

/* The program's own come last, whatever it writes. */
static void put_program(mcp_buf *body, const mcp_http_options *http)
{
    mcp_buf own;

    mcp_buf_init(&own, MCP_METRICS_MAX);
    if (http->write_metrics)
        http->write_metrics(&own, http->metrics_data);
    if (own.status != MCP_OK)
        body->status = own.status;
    else if (own.length > 0)
        (void)mcp_buf_append(body, own.data, own.length);
    mcp_buf_clear(&own);
}

/* All tokens are compared, by their hashes, so that the time tells nothing of them. */
static bool has_token(const mcp__http_exchange *exchange, const char *const *tokens)
{
    const char *field = mcp__http_field(exchange, "Authorization");
    uint8_t given[MCP_SHA256_SIZE], wanted[MCP_SHA256_SIZE];
    bool is_known = false;

    if (!field || strncasecmp(field, "Bearer ", 7) != 0 ||
        mcp__http_field_count(exchange, "Authorization") != 1)
        return false;
    field += 7 + strspn(field + 7, " ");
    if (mcp_sha256(given, field, strlen(field), NULL) != MCP_OK)
        return false;
    for (; *tokens; tokens++)
        is_known |= mcp_sha256(wanted, *tokens, strlen(*tokens), NULL) == MCP_OK &&
                    mcp_hash_equal(given, wanted, MCP_SHA256_SIZE);
    return is_known;
}

void mcp__metrics_answer(mcp__httpd *httpd, mcp__http_exchange *exchange)
{
    mcp_buf body;

    if (httpd->http.metrics_tokens && !has_token(exchange, httpd->http.metrics_tokens)) {
        mcp__httpd_answer_with(httpd, exchange, 401, "WWW-Authenticate", "Bearer", NULL);
        return;
    }
    mcp_buf_init(&body, TEXT_MAX);
    put_http(&body, httpd);
    put_handlers(&body, httpd);
    put_times(&body, httpd);
    put_build(&body, httpd->serve.options);
    put_process(&body, httpd);
    put_program(&body, &httpd->http);
    bool is_whole = body.status == MCP_OK;
    if (!is_whole)
        mcp_buf_clear(&body);
    answer(exchange, is_whole ? 200 : 503,
           is_whole ? "text/plain; version=0.0.4; charset=utf-8" : NULL, &body);
}
