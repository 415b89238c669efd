/*
 * events.c - a chat room: readers get each message live, and those that they missed while the line
 * was down.
 *
 *     $ example-events --port 8080                            # then open http://127.0.0.1:8080/
 *     $ curl -N http://127.0.0.1:8080/events
 *     $ curl --json '{"text":"hello"}' http://127.0.0.1:8080/say             # or the tool `say` at /mcp
 *
 * What is said becomes one event, put together once and given to every reader's stream. The room
 * keeps the last KEPT; a reader that comes back says by Last-Event-ID what it has seen and gets
 * what followed. A reader that is so slow that its queue is full is disconnected: it reconnects and
 * continues where it was.
 *
 * The lock makes joining and sending exclude each other, so that no reader misses or doubles an
 * event. mcp_stream_send never waits, and never calls `closed`, so it may be called under the lock.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mcp/mcp.h"

#define KEPT 100
#define READERS_MAX 1000
#define TEXT_MAX 500

typedef struct room {
    pthread_mutex_t lock;
    mcp_event *kept[KEPT]; /* number n at n % KEPT */
    long said;             /* the number of the last one */
    mcp_stream *readers[READERS_MAX];
    int count;
} room;

/* ---- the room -------------------------------------------------------------------------------- */

static mcp_status room_say(room *all, long *number, const char *text, mcp_error *err)
{
    mcp_event *event = NULL;
    char id[24];

    if (!text || text[0] == '\0' || strlen(text) > TEXT_MAX)
        return mcp_error_set(err, MCP_E_PARAMS, "say 1 to %d bytes of text", TEXT_MAX);
    pthread_mutex_lock(&all->lock);
    (void)snprintf(id, sizeof id, "%ld", all->said + 1);
    mcp_status st = mcp_event_new(&event, id, "said", text, strlen(text), err);
    if (st == MCP_OK) {
        *number = ++all->said;
        mcp_event_release(all->kept[all->said % KEPT]);
        all->kept[all->said % KEPT] = event;
        for (int i = 0; i < all->count; i++)
            if (mcp_stream_send(all->readers[i], event, NULL) == MCP_E_LIMIT)
                mcp_stream_close(all->readers[i]);
    }
    pthread_mutex_unlock(&all->lock);
    return st;
}

/* What followed `seen`, or all that is kept where that is too long ago. Under the lock. */
static mcp_status send_missed(room *all, mcp_stream *reader, long seen)
{
    long first = all->said - KEPT + 1 > seen + 1 ? all->said - KEPT + 1 : seen + 1;
    mcp_status st = MCP_OK;

    for (long number = first < 1 ? 1 : first; number <= all->said && st == MCP_OK; number++)
        st = mcp_stream_send(reader, all->kept[number % KEPT], NULL);
    return st;
}

static mcp_status room_join(room *all, mcp_stream *reader, const char *last_id)
{
    pthread_mutex_lock(&all->lock);
    mcp_status st = all->count < READERS_MAX ? MCP_OK : MCP_E_BUSY;
    if (st == MCP_OK)
        st = send_missed(all, reader, last_id ? strtol(last_id, NULL, 10) : all->said);
    if (st == MCP_OK)
        all->readers[all->count++] = mcp_stream_retain(reader);
    pthread_mutex_unlock(&all->lock);
    return st;
}

static void room_leave(mcp_stream *reader, void *data)
{
    room *all = data;

    pthread_mutex_lock(&all->lock);
    for (int i = 0; i < all->count; i++) {
        if (all->readers[i] == reader) {
            all->readers[i] = all->readers[--all->count];
            mcp_stream_release(reader);
        }
    }
    pthread_mutex_unlock(&all->lock);
}

/* ---- its doors ------------------------------------------------------------------------------- */

static mcp_status get_events(mcp_call *call, void *data)
{
    mcp_stream_options options = MCP_STREAM_OPTIONS_INIT;
    mcp_event *ready = NULL;
    mcp_stream *reader = NULL;

    options.first = ":connected\n\n";
    options.retry_ms = 1000;
    options.closed = room_leave;
    options.data = data;
    mcp_status st = mcp_call_stream(&reader, call, &options, mcp_call_error(call));
    if (st == MCP_OK)
        st = room_join(data, reader, mcp_call_last_event_id(call));
    if (st == MCP_OK) /* a comment, for people who look at the stream */
        st = mcp_event_comment(&ready, "what is said from here on", mcp_call_error(call));
    if (st == MCP_OK)
        st = mcp_stream_send(reader, ready, mcp_call_error(call));
    mcp_event_release(ready);
    mcp_stream_release(reader);
    return st;
}

static mcp_status post_say(mcp_call *call, void *data)
{
    const mcp_json *body = mcp_call_body_json(call, mcp_call_error(call));
    long number = 0;

    if (!body)
        return MCP_E_PARAMS;
    mcp_status st = room_say(data, &number, mcp_json_get_string(body, "text"),
                             mcp_call_error(call));
    if (st == MCP_OK)
        mcp_write_member_int(mcp_call_result(call), "id", number);
    return st;
}

static mcp_status say(mcp_call *call, void *data)
{
    long number = 0;

    if (room_say(data, &number, mcp_arg_string(call, "text"), mcp_call_error(call)) != MCP_OK)
        return mcp_call_tool_error(call, "%s", mcp_call_error(call)->message);
    mcp_write_member_int(mcp_call_result(call), "id", number);
    return MCP_OK;
}

static const char page[] =
    "<!doctype html><meta charset=utf-8><title>A room</title><ul id=said></ul><script>\n"
    "new EventSource('events').addEventListener('said', (event) => {\n"
    "  const line = said.appendChild(document.createElement('li'));\n"
    "  line.textContent = event.data;\n"
    "});\n"
    "</script>\n";

static mcp_status get_page(mcp_call *call, void *data)
{
    (void)data;
    return mcp_call_send(call, "text/html; charset=utf-8", page, sizeof page - 1);
}

static const mcp_route routes[] = { { "GET", "/", get_page, MCP_READS, 0 },
                                    { "GET", "/events", get_events, MCP_READS, 0 },
                                    { "POST", "/say", post_say, MCP_WRITES, 0 },
                                    { 0 } };

static const char say_json[] =
    "{\"name\":\"say\",\"description\":\"Says something to everybody in the room\",\"inputSchema\":"
    "{\"type\":\"object\",\"required\":[\"text\"],\"properties\":{\"text\":{\"type\":\"string\"}}}}";

static const mcp_file files[] = { { "tools/say.json", say_json, sizeof say_json - 1 }, { 0 } };
static const mcp_tool tools[] = { { "say", say, MCP_WRITES, 0, 0 }, { 0 } };

/* ---- the server ------------------------------------------------------------------------------ */

static void say_where(int port, void *data)
{
    (void)data;
    printf("http://127.0.0.1:%d/\n", port);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    static room all = { .lock = PTHREAD_MUTEX_INITIALIZER };
    mcp_features features = { .files = files, .tools = tools, .data = &all };
    mcp_server_options options = MCP_SERVER_OPTIONS_INIT;
    mcp_http_options http = MCP_HTTP_OPTIONS_INIT;
    mcp_server *server = NULL;
    mcp_error err = MCP_ERROR_INIT;

    options.name = "room";
    options.version = "1.0.0";
    options.allow_write = true;
    http.port = argc == 3 && strcmp(argv[1], "--port") == 0 ? (int)strtol(argv[2], NULL, 10) : 0;
    http.routes = routes;
    http.routes_data = &all;
    http.ready = say_where;
    mcp_status st = mcp_server_new(&server, &options, &err);
    if (st == MCP_OK)
        st = mcp_server_add(server, &features, &err);
    if (st == MCP_OK)
        st = mcp_server_http(server, &http, &err);
    if (st != MCP_OK)
        fprintf(stderr, "room: %s\n", err.message);
    mcp_server_free(server);
    for (int i = 0; i < KEPT; i++)
        mcp_event_release(all.kept[i]);
    return st == MCP_OK ? 0 : 1;
}
