/*
 * probe.c - that the server lives, and its figures in Prometheus's text format (version 0.0.4).
 *
 * Probes come from machines that know us by an address or by no name, so they pass before the gate looks
 * at Host: that is why they are only there when they were asked for, and say nothing of any client.
 */
#include "mcp/transport/web/probe.h"

#include <inttypes.h>
#include <string.h>

#include "mcp/transport/web/head.h"

#define TEXT_MAX ((size_t)16 * 1024)

static bool is_path(const mcp__http_exchange *exchange, const char *wanted)
{
    size_t length = 0;
    const char *path = mcp__http_path(exchange, &length);

    return length == strlen(wanted) && memcmp(path, wanted, length) == 0;
}

static void answer(mcp__http_exchange *exchange, int status, const char *type, mcp_buf *body)
{
    mcp__head head = { .count = 0 };

    mcp__head_add(&head, "Content-Type", type);
    mcp__head_add(&head, "Cache-Control", "no-store");
    mcp__http_head_out out = mcp__head_out(&head, status);
    (void)mcp__http_reply_buf(exchange, &out, body, NULL);
}

static void answer_health(const mcp__web *web, mcp__http_exchange *exchange)
{
    mcp_buf body;

    mcp_buf_init(&body, TEXT_MAX);
    (void)mcp_buf_printf(&body, "{\"status\":\"%s\"}", web->is_ending ? "ending" : "ok");
    answer(exchange, web->is_ending ? 503 : 200, "application/json", &body);
    mcp_buf_clear(&body);
}

static void put(mcp_buf *body, const char *name, const char *type, const char *help, uint64_t value)
{
    (void)mcp_buf_printf(body, "# HELP mcp_%s %s\n# TYPE mcp_%s %s\nmcp_%s %" PRIu64 "\n", name,
                         help, name, type, name, value);
}

static void put_seconds(mcp_buf *body, const char *name, const char *help, uint64_t ns)
{
    (void)mcp_buf_printf(
        body, "# HELP mcp_%s %s\n# TYPE mcp_%s gauge\nmcp_%s %" PRIu64 ".%06" PRIu64 "\n", name,
        help, name, name, ns / 1000000000, ns / 1000 % 1000000);
}

static void answer_metrics(const mcp__web *web, mcp__http_exchange *exchange)
{
    const mcp__web_counts *counts = &web->counts;
    mcp_buf body;

    mcp_buf_init(&body, TEXT_MAX);
    put(&body, "http_requests_total", "counter", "HTTP requests of any kind.", counts->requests);
    put(&body, "http_refused_total", "counter", "Requests with a foreign Host or Origin.",
        counts->refused);
    put(&body, "http_hangups_total", "counter", "Clients that left before their answer.",
        counts->hung_up);
    put(&body, "http_connections", "gauge", "Open connections.",
        mcp__http_connections(web->listener));
    put(&body, "messages_total", "counter", "MCP messages.", counts->messages);
    put(&body, "streams_total", "counter", "Event streams begun.", counts->streams);
    put(&body, "route_streams", "gauge", "Open event streams of routes.", web->stream_count);
    put(&body, "route_events_total", "counter", "Events written to streams of routes.",
        counts->events);
    put(&body, "route_streams_full_total", "counter", "Queues of slow readers that were full.",
        counts->overruns);
    put(&body, "unanswered", "gauge", "Open streams and requests without their answer.",
        web->peer_count);
    put(&body, "sessions", "gauge", "Open sessions.", web->sessions.count);
    put(&body, "sessions_total", "counter", "Sessions opened.", web->sessions.opened);
    put(&body, "handlers_running", "gauge", "Calls with or before a worker.",
        (uint64_t)mcp__pool_busy(web->pool));
    put_seconds(&body, "loop_turn_max_seconds", "The longest that the loop was busy at a stretch.",
                mcp__loop_turn_max_ns(web->loop));
    put(&body, "handlers_given_up", "gauge", "Handlers that go on though they were told to stop.",
        (uint64_t)mcp__pool_given_up(web->pool));
    put(&body, "handlers_given_up_total", "counter", "Handlers that were told to stop and did not.",
        mcp__pool_given_up_total(web->pool));
    answer(exchange, 200, "text/plain; version=0.0.4; charset=utf-8", &body);
    mcp_buf_clear(&body);
}

bool mcp__probe_answer(mcp__web *web, mcp__http_exchange *exchange)
{
    const char *method = mcp__http_method(exchange);
    bool is_health = web->http.health && is_path(exchange, "/health");
    bool is_metrics = web->http.metrics && is_path(exchange, "/metrics");

    if (!is_health && !is_metrics)
        return false;
    if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0)
        mcp__web_answer_with(web, exchange, 405, "Allow", "GET", NULL);
    else if (is_health)
        answer_health(web, exchange);
    else
        answer_metrics(web, exchange);
    return true;
}
