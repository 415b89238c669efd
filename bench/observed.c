/*
 * observed.c - what traces and metrics cost: calls of a nonblocking tool `echo` per second, over
 * Streamable HTTP, of a server with both against one with neither.
 *
 * Two servers of the bench's own are measured: `bare` has no metrics and hears nothing of the end
 * of calls; `observed` has metrics, which are read once a round, and exports spans (kit/trace) to a
 * collector, which takes them and does nothing. They are measured one after another in each round,
 * so that other load on the machine affects all alike, and the ratio is that of a round. Of the
 * calls of `observed` none, one in ten, or all are of a sampled trace. Clients, collector and
 * server share the machine, so with few cores the exporter's thread and the collector take their
 * part from the server.
 */
#include <inttypes.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mcp/clock.h"
#include "mcp/mcp.h"

#include "support/figures.h"
#include "support/load.h"
#include "support/scale.h"
#include "support/session.h"
#include "trace/trace.h"

enum { CLIENTS = BENCH(50, 4), ROUNDS = BENCH(16, 1) };

#define ROUND_S BENCH(0.7, 0.05)
#define BAR 0.95

static const char message[] = "The quick brown fox jumps over the lazy dog";

/* ---- the servers ----------------------------------------------------------------------------- */

static const char echo_json[] =
    "{\"name\":\"echo\",\"description\":\"Gives back its message\",\"inputSchema\":{\"type\":"
    "\"object\",\"properties\":{\"message\":{\"type\":\"string\"}},\"required\":[\"message\"]}}";

static const mcp_file files[] = { { "tools/echo.json", echo_json, sizeof echo_json - 1 }, { 0 } };

static mcp_status echo_back(mcp_call *call, void *data)
{
    (void)data;
    return mcp_call_text(call, mcp_arg_string(call, "message"));
}

static const mcp_tool tools[] = { { "echo", echo_back, MCP_READS | MCP_NONBLOCKING, 0, 0 }, { 0 } };

static int serve(const mcp_server_options *options, const mcp_http_options *http)
{
    const mcp_features features = { .files = files, .tools = tools };
    mcp_server *server = NULL;
    mcp_status st = mcp_server_new(&server, options, NULL);

    if (st == MCP_OK)
        st = mcp_server_add(server, &features, NULL);
    if (st == MCP_OK)
        st = mcp_server_http(server, http, NULL);
    mcp_server_free(server);
    return st != MCP_OK;
}

static int serve_bare(int port)
{
    const mcp_server_options options = { .name = "bare", .version = "1" };
    const mcp_http_options http = { .port = port };

    return serve(&options, &http);
}

static int collector_port;

static int serve_observed(int port)
{
    char endpoint[64];
    trace_options how = { .endpoint = endpoint, .name = "observed" };
    mcp_server_options options = { .name = "observed", .version = "1", .ended = trace_ended };
    const mcp_http_options http = { .port = port, .metrics = true };
    trace_exporter *exporter = NULL;

    snprintf(endpoint, sizeof endpoint, "http://127.0.0.1:%d", collector_port);
    if (trace_open(&exporter, &how, NULL) != MCP_OK)
        return 1;
    options.ended_data = exporter;
    int status = serve(&options, &http);
    trace_close(exporter);
    return status;
}

static mcp_status take_spans(mcp_call *call, void *data)
{
    (void)data;
    return mcp_call_send(call, "application/json", "{}", 2);
}

static int serve_collector(int port)
{
    static const mcp_route routes[] = {
        { "POST", "/v1/traces", take_spans, MCP_READS | MCP_RAW_BODY, 0 },
        { 0 },
    };
    const mcp_server_options options = { .name = "collector", .version = "1" };
    const mcp_http_options http = { .port = port, .routes = routes };

    return serve(&options, &http);
}

/* ---- what is said ---------------------------------------------------------------------------- */

/* One call in so many is of a sampled trace; 0: none is of any. */
static int sampled_every;

static size_t ask(char *out, client *by)
{
    char body[CLIENT_ASK_MAX / 2];
    const char *meta = "";

    by->id++;
    if (sampled_every > 0 && by->id % sampled_every == 0)
        meta = ",\"_meta\":{\"traceparent\":\"00-0af7651916cd43dd8448eb211c80319c-"
               "b7ad6b7169203331-01\"}";
    int length = snprintf(body, sizeof body,
                          "{\"jsonrpc\":\"2.0\",\"id\":%" PRId64 ",\"method\":\"tools/call\","
                          "\"params\":{\"name\":\"echo\",\"arguments\":{\"message\":\"%s\"}%s}}",
                          by->id, message, meta);
    return session_write(out, CLIENT_ASK_MAX, by, body, (size_t)length);
}

static void hear(const client *by, const reply *it)
{
    const char *id = memmem(it->body, it->body_length, "\"id\":", 5);

    if (it->status != 200 || !id || strtoll(id + 5, NULL, 10) != by->id ||
        !memmem(it->body, it->body_length, message, sizeof message - 1))
        bench_give_up("%s: echo was answered by %s", by->site->name, by->answer);
}

static const script echo = { ask, hear };

/* The value of a sample of /metrics; gives up where it is not there. */
static long read_metric(const site *site, const char *sample)
{
    static client reader;
    char request[128];
    int length = snprintf(request, sizeof request,
                          "GET /metrics HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n", site->port);

    client_open(&reader, site);
    reply it = client_ask(&reader, request, (size_t)length);
    const char *at = it.status == 200 ? strstr(it.body, sample) : NULL;
    if (!at)
        bench_give_up("/metrics has no %s", sample);
    long value = strtol(at + strlen(sample), NULL, 10);
    client_close(&reader);
    return value;
}

/* ---- the measurement ------------------------------------------------------------------------- */

struct subject {
    const char *name;
    site *site;
    load *load;
    int sampled_every;
    double per_second[ROUNDS], cpu_us[ROUNDS];
    double ratio[ROUNDS], cpu_ratio[ROUNDS]; /* to the first subject, in the same round */
};

static void measure(struct subject *it, int round)
{
    double took;
    int64_t before = program_cpu_ns(&it->site->program);

    sampled_every = it->sampled_every;
    long calls = load_for(it->load, &echo, ROUND_S, LONG_MAX, &took);
    it->cpu_us[round] = (double)(program_cpu_ns(&it->site->program) - before) * 1e-3 /
                        (double)calls;
    it->per_second[round] = (double)calls / took;
}

static double middle(double *figures)
{
    figures_sort(figures, ROUNDS);
    return figures_at(figures, ROUNDS, 0.5);
}

static void open_site(site *site, load *load, int (*serve_it)(int port))
{
    double took;

    site_serve(site, serve_it);
    load_open(load, site, CLIENTS);
    for (size_t i = 0; i < load->count; i++)
        session_open(&load->clients[i], true);
    load_for(load, &echo, 0.3, LONG_MAX, &took);
}

int main(void)
{
    site collector = { .name = "collector", .port = site_free_port() };
    site bare = { .name = "bare" }, observed = { .name = "observed" };
    load bare_load, observed_load;
    struct subject subjects[] = {
        { .name = "bare", .site = &bare, .load = &bare_load },
        { .name = "observed, untraced", .site = &observed, .load = &observed_load },
        { .name = "observed, 1 in 10",
          .site = &observed,
          .load = &observed_load,
          .sampled_every = 10 },
        { .name = "observed, all", .site = &observed, .load = &observed_load, .sampled_every = 1 },
    };
    enum { SUBJECTS = sizeof subjects / sizeof subjects[0] };

    collector_port = collector.port;
    site_serve(&collector, serve_collector);
    bare.port = site_free_port();
    open_site(&bare, &bare_load, serve_bare);
    observed.port = site_free_port();
    open_site(&observed, &observed_load, serve_observed);
    for (int round = 0; round < ROUNDS; round++) {
        for (size_t i = 0; i < SUBJECTS; i++) /* each begins as often */
            measure(&subjects[(i + (size_t)round) % SUBJECTS], round);
        for (size_t i = 0; i < SUBJECTS; i++) {
            struct subject *it = &subjects[i];
            it->ratio[round] = it->per_second[round] / subjects[0].per_second[round];
            it->cpu_ratio[round] = subjects[0].cpu_us[round] / it->cpu_us[round];
        }
        (void)read_metric(&observed, "tool=\"echo\",le=\"+Inf\"} ");
    }
    for (size_t i = 0; i < SUBJECTS; i++) {
        struct subject *it = &subjects[i];
        printf("observed %-20s %7.0f calls/s, processor %5.1f us a call", it->name,
               middle(it->per_second), middle(it->cpu_us));
        if (i > 0)
            printf(";  ratio: %.3f of bare, by processor time %.3f (bar %.2f)", middle(it->ratio),
                   middle(it->cpu_ratio), BAR);
        putchar('\n');
    }
    load_close(&bare_load);
    load_close(&observed_load);
    site_end(&observed);
    site_end(&bare);
    site_end(&collector);
    return 0;
}
