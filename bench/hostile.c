/*
 * hostile.c - how long the loop is blocked by messages that are made to block it.
 *
 * Each message of tests/support/hostile.c is posted to a server of its own; then /metrics reports
 * the longest turn of that server's loop, in which no other client was served. The limit is 50 ms.
 * The first row is a ping, for comparison. The total is measured by the client, from the first byte
 * sent to the last one received, so it includes the worker's time. The messages are followed by
 * requests that are hostile outside their body: floods of fields, queries and chunks.
 *
 *     bench-hostile [WORD]       only those whose name has the word
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "mcp/http.h"

#include "hostile.h"
#include "support/program.h"
#include "support/scale.h"
#include "support/site.h"

enum { PATIENCE_MS = BENCH(30000, 120000) };

static const double bar_ms = 50;

/* ---- floods ---------------------------------------------------------------------------------- */

#define MOST BENCH((size_t)4 << 20, 32768)
#define LINE ((size_t)8000) /* of a request line, just below its bound */
#define FIELDS "Host: localhost\r\nConnection: close\r\n"
#define GET(target) "GET " target " HTTP/1.1\r\n" FIELDS
#define END_OF_LINE " HTTP/1.1\r\n" FIELDS "\r\n"
#define CHUNKED                                                                                    \
    "POST /mcp HTTP/1.1\r\n" FIELDS                                                                \
    "Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"            \
    "Transfer-Encoding: chunked\r\n\r\n"

/* Whole requests; what else they are is as for messages. */
/* clang-format off */
static const hostile floods[] = {
    /* name                          begin                unit          end              bytes          answer */
    { "fields",                      GET("/take"),        "X-#: 1\r\n", "\r\n",          MOST,          "431" },
    { "100 fields",                  GET("/take"),        "X-#: 1\r\n", "\r\n",          98 * 14,       "taken" },
    { "one field again and again",   GET("/take"),        "X: 1\r\n",   "\r\n",          MOST,          "431" },
    { "a field without end",         GET("/take") "X: ",  "x",          "",              MOST,          "431" },
    { "a list in a field",           GET("/take") "Accept: ", "a/b,",   "c/d\r\n\r\n",   15000,         "taken" },
    { "a line without end",          "GET /",             "x",          "",              MOST,          "414" },
    { "slashes of a path",           "GET ",              "/",          END_OF_LINE,     LINE,          "404" },
    { "2^16 members of a query",     "GET /take?",        "#=1&",       END_OF_LINE,     65536 * 10,    "414" },
    { "members, as many as fit",     "GET /take?",        "#&",         END_OF_LINE,     LINE,          "400" },
    { "one member again and again",  "GET /take?",        "a&",         END_OF_LINE,     LINE,          "taken" },
    { "escapes of a query",          "GET /take?a=",      "%41",        END_OF_LINE,     LINE,          "taken" },
    { "chunks of one byte",          CHUNKED,             "1\r\n \r\n", "0\r\n\r\n",     MOST,          "-32700" },
    { "an extension without end",    CHUNKED "1;",        "e",          "",              MOST,          "400" },
    { "trailers",                    CHUNKED "0\r\n",     "T-#: x\r\n", "\r\n",          MOST,          "400" },
    { 0 }
};
/* clang-format on */

/* ---- the server ------------------------------------------------------------------------------ */

static mcp_status take(mcp_call *call, void *data)
{
    (void)data;
    mcp_write_member_string(mcp_call_result(call), "taken", mcp_arg_string(call, "a"));
    return MCP_OK;
}

static const mcp_route routes[] = { { "GET", "/take", take, MCP_READS, 0 }, { 0 } };

static int serve(int port)
{
    mcp_server_options options = MCP_SERVER_OPTIONS_INIT;
    mcp_http_options http = MCP_HTTP_OPTIONS_INIT;
    mcp_server *server = NULL;

    options.name = options.version = "hostile";
    http.port = port;
    http.metrics = true;
    http.routes = routes;
    http.sessions = MCP_SESSIONS_OFF;
    if (mcp_server_new(&server, &options, NULL) != MCP_OK ||
        mcp_server_add(server, &hostile_features, NULL) != MCP_OK)
        return 1;
    mcp_status st = mcp_server_http(server, &http, NULL);
    mcp_server_free(server);
    return st == MCP_OK ? 0 : 1;
}

/* ---- a client -------------------------------------------------------------------------------- */

typedef struct answer {
    char *text; /* ends in NUL */
    size_t length;
} answer;

static void wait_for(int fd, short events)
{
    struct pollfd ready = { .fd = fd, .events = events };

    if (poll(&ready, 1, PATIENCE_MS) <= 0)
        bench_give_up("the server does nothing for %d s", PATIENCE_MS / 1000);
}

static void say(int fd, const char *text, size_t length)
{
    while (length > 0) {
        ssize_t sent = send(fd, text, length, MSG_NOSIGNAL);
        if (sent < 0 && errno != EAGAIN)
            return; /* it answered before all was said */
        if (sent < 0) {
            wait_for(fd, POLLOUT);
            continue;
        }
        text += sent;
        length -= (size_t)sent;
    }
}

static answer hear(int fd)
{
    size_t room = 1 << 16;
    answer out = { .text = malloc(room + 1) };
    ssize_t got;

    for (;;) {
        wait_for(fd, POLLIN);
        got = recv(fd, out.text + out.length, room - out.length, 0);
        if (got <= 0)
            break;
        out.length += (size_t)got;
        if (out.length == room)
            out.text = realloc(out.text, (room *= 2) + 1);
    }
    out.text[out.length] = '\0';
    return out;
}

static answer ask(const site *it, const char *head, const char *body, size_t length)
{
    static const char modern[] = "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\n"
                                 "Mcp-Name: hostile/take\r\n";
    char request[512];
    int fd = site_connect(it);
    int used = snprintf(request, sizeof request,
                        "%s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
                        "Content-Type: application/json\r\nAccept: application/json\r\n"
                        "%sContent-Length: %zu\r\n\r\n",
                        head, strstr(body, "\"_meta\":{\"io.") ? modern : "", length);

    say(fd, request, (size_t)used);
    say(fd, body, length);
    answer out = hear(fd);
    close(fd);
    return out;
}

static answer ask_as_it_is(const site *it, const char *text, size_t length)
{
    int fd = site_connect(it);

    say(fd, text, length);
    answer out = hear(fd);
    close(fd);
    return out;
}

static double turn_max_ms(const site *it)
{
    static const char name[] = "\nmcp_loop_turn_max_seconds ";
    answer metrics = ask(it, "GET /metrics", "", 0);
    const char *at = strstr(metrics.text, name);

    if (!at)
        bench_give_up("/metrics does not say how long the loop was busy");
    double ms = strtod(at + sizeof name - 1, NULL) * 1000;
    free(metrics.text);
    return ms;
}

/* ---- the table ------------------------------------------------------------------------------- */

static void summarise(char *out, size_t size, const answer *it)
{
    const char *body = strstr(it->text, "\r\n\r\n");
    const char *code = strstr(it->text, "\"code\":");
    const char *message = strstr(it->text, "\"message\":\"");

    if (strncmp(it->text, "HTTP/1.1 ", 9) != 0)
        snprintf(out, size, "no answer");
    else if (code && message)
        snprintf(out, size, "%.3s %.6s %.60s", it->text + 9, code + 7, message + 11);
    else
        snprintf(out, size, "%.3s %.60s", it->text + 9, body ? body + 4 : "");
    for (char *at = out; *at; at++)
        if ((unsigned char)*at < 0x20)
            *at = ' ';
}

static double measure(const hostile *row, bool is_request)
{
    site it = { .name = "hostile", .port = site_free_port() };
    char words[120];
    size_t length = 0;
    char *text = hostile_write(row, BENCH(SIZE_MAX, 32768), &length);

    site_serve(&it, serve);
    close(site_connect(&it));
    int64_t from = bench_now_ns();
    answer got = is_request ? ask_as_it_is(&it, text, length) : ask(&it, "POST /mcp", text, length);
    double total_ms = (double)(bench_now_ns() - from) / 1e6;
    double turn_ms = turn_max_ms(&it);
    summarise(words, sizeof words, &got);
    printf("%-28s %8zu %9.1f ms %8.1f ms %s %s\n", row->name, length, total_ms, turn_ms,
           turn_ms > bar_ms ? "!" : " ", words);
    if (!strstr(got.text, row->answer))
        printf("    no \"%s\" in the answer\n", row->answer);
    fflush(stdout);
    free(got.text);
    free(text);
    site_end(&it);
    return turn_ms;
}

/* The longest of the rows whose name has the word. */
static double measure_all(const hostile *rows, bool are_requests, const char *word)
{
    double most_ms = 0;

    for (const hostile *row = rows; row->name; row++) {
        if (word && !strstr(row->name, word))
            continue;
        double ms = measure(row, are_requests);
        most_ms = ms > most_ms ? ms : most_ms;
    }
    return most_ms;
}

int main(int argc, char **argv)
{
    static const hostile ping = {
        "(ping)", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}", " ", "", 0, "\"result\"",
    };
    const char *word = argc > 1 ? argv[1] : NULL;

    signal(SIGPIPE, SIG_IGN);
    printf("%-28s %8s %12s %11s   %s\n", "message", "bytes", "total", "loop held", "answer");
    (void)measure(&ping, false);
    double messages_ms = measure_all(hostile_messages, false, word);
    double floods_ms = measure_all(floods, true, word);
    double most_ms = messages_ms > floods_ms ? messages_ms : floods_ms;
    printf("the loop was held for %.1f ms at the longest; the bar is %.0f ms\n", most_ms, bar_ms);
    return 0;
}
