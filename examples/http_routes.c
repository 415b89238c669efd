/*
 * http_routes.c - one server, two doors: notes that programs keep by REST and models by MCP.
 *
 *     $ example-http_routes --port 8080
 *     $ curl --json '{"text":"buy milk"}' http://127.0.0.1:8080/notes
 *     {"id":1,"text":"buy milk"}
 *     $ curl http://127.0.0.1:8080/notes/1
 *
 * The same notes are behind the tools add_note, get_note and read_aloud at
 * http://127.0.0.1:8080/mcp. Each thing that can be done is one function, and two handlers that
 * call it: a tool's and a route's. Handlers run on several threads at once, hence the lock.
 * `--revision` narrows MCP to one revision.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "mcp/mcp.h"

#define NOTES_MAX 1000
#define TEXT_MAX 500

typedef struct notes {
    pthread_mutex_t lock;
    char text[NOTES_MAX][TEXT_MAX + 1];
    int count;
} notes;

/* ---- what can be done ------------------------------------------------------------------------ */

static mcp_status notes_add(notes *all, int *id, const char *text, mcp_error *err)
{
    if (!text || strlen(text) > TEXT_MAX)
        return mcp_error_set(err, MCP_E_PARAMS, "a note is a text of at most %d bytes", TEXT_MAX);
    pthread_mutex_lock(&all->lock);
    bool has_room = all->count < NOTES_MAX;
    if (has_room) {
        (void)snprintf(all->text[all->count], TEXT_MAX + 1, "%s", text);
        *id = ++all->count;
    }
    pthread_mutex_unlock(&all->lock);
    return has_room ? MCP_OK : mcp_error_set(err, MCP_E_LIMIT, "no room for more notes");
}

/* Notes are never changed, so the text may be read without the lock. */
static const char *notes_text(notes *all, int64_t id)
{
    pthread_mutex_lock(&all->lock);
    bool is_there = id >= 1 && id <= all->count;
    pthread_mutex_unlock(&all->lock);
    return is_there ? all->text[id - 1] : NULL;
}

static void write_note(mcp_call *call, int64_t id, const char *text)
{
    mcp_write_member_int(mcp_call_result(call), "id", id);
    mcp_write_member_string(mcp_call_result(call), "text", text);
}

/* ---- tools ----------------------------------------------------------------------------------- */

static mcp_status add_note(mcp_call *call, void *data)
{
    const char *text = mcp_arg_string(call, "text");
    int id = 0;

    if (notes_add(data, &id, text, mcp_call_error(call)) != MCP_OK)
        return mcp_call_tool_error(call, "%s", mcp_call_error(call)->message);
    write_note(call, id, text);
    return MCP_OK;
}

static mcp_status get_note(mcp_call *call, void *data)
{
    int64_t id = mcp_arg_int(call, "id", 0);
    const char *text = notes_text(data, id);

    if (!text)
        return mcp_call_tool_error(call, "there is no note %d", (int)id);
    write_note(call, id, text);
    return MCP_OK;
}

static mcp_status read_aloud(mcp_call *call, void *data)
{
    const struct timespec pause = { 0, 25 * 1000000L };
    const char *text = NULL;
    int64_t id = 1;

    for (text = notes_text(data, id); text; text = notes_text(data, ++id)) {
        mcp_progress progress = { .progress = (double)id, .message = text, .every = true };
        if (mcp_call_stop(call) != MCP_STOP_NONE)
            return mcp_error_set(mcp_call_error(call), MCP_E_STOPPED, "nobody listens");
        mcp_call_progress(call, &progress);
        nanosleep(&pause, NULL);
    }
    mcp_write_member_int(mcp_call_result(call), "read", id - 1);
    return MCP_OK;
}

static const char add_json[] =
    "{\"name\":\"add_note\",\"description\":\"Keeps a note\",\"inputSchema\":{\"type\":\"object\","
    "\"required\":[\"text\"],\"properties\":{\"text\":{\"type\":\"string\",\"maxLength\":500}}}}";
static const char get_json[] =
    "{\"name\":\"get_note\",\"description\":\"Tells a note\",\"inputSchema\":{\"type\":\"object\","
    "\"required\":[\"id\"],\"properties\":{\"id\":{\"type\":\"integer\"}}}}";
static const char read_json[] =
    "{\"name\":\"read_aloud\",\"description\":\"Reads all notes, one progress report each\","
    "\"inputSchema\":{\"type\":\"object\"}}";

static const mcp_file files[] = { { "tools/add_note.json", add_json, sizeof add_json - 1 },
                                  { "tools/get_note.json", get_json, sizeof get_json - 1 },
                                  { "tools/read_aloud.json", read_json, sizeof read_json - 1 },
                                  { 0 } };

static const mcp_tool tools[] = { { "add_note", add_note, MCP_WRITES, 0, 0 },
                                  { "get_note", get_note, MCP_READS, 0, 0 },
                                  { "read_aloud", read_aloud, MCP_READS, 0, 0 },
                                  { 0 } };

/* ---- routes ---------------------------------------------------------------------------------- */

static mcp_status post_note(mcp_call *call, void *data)
{
    mcp_error *err = mcp_call_error(call);
    const mcp_json *body = mcp_call_body_json(call, err);
    const char *text = mcp_json_get_string(body, "text");
    int id = 0;

    if (!body)
        return MCP_E_PARAMS;
    mcp_status st = notes_add(data, &id, text, err);
    if (st != MCP_OK)
        return st;
    mcp_call_status(call, 201);
    write_note(call, id, text);
    return MCP_OK;
}

static mcp_status show_note(mcp_call *call, void *data)
{
    int64_t id = strtoll(mcp_arg_string(call, "id"), NULL, 10);
    const char *text = notes_text(data, id);

    if (!text)
        return mcp_error_set(mcp_call_error(call), MCP_E_NOT_FOUND, "there is no such note");
    write_note(call, id, text);
    return MCP_OK;
}

static const mcp_route routes[] = { { "POST", "/notes", post_note, MCP_WRITES, 0 },
                                    { "GET", "/notes/{id}", show_note, MCP_READS, 0 },
                                    { 0 } };

/* ---- the server ------------------------------------------------------------------------------ */

static void say_where(int port, void *data)
{
    (void)data;
    printf("http://127.0.0.1:%d/mcp\n", port);
    fflush(stdout);
}

/* False when the arguments are not "--port P" and "--revision R", or none. */
static bool read_arguments(mcp_server_options *server, mcp_http_options *http, int argc,
                           char **argv)
{
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--port") == 0)
            http->port = (int)strtol(argv[i + 1], NULL, 10);
        else if (strcmp(argv[i], "--revision") == 0)
            server->oldest = server->newest = mcp_revision_find(argv[i + 1]);
        else
            return false;
    }
    return argc % 2 == 1;
}

int main(int argc, char **argv)
{
    static notes all = { .lock = PTHREAD_MUTEX_INITIALIZER };
    mcp_features features = { .files = files, .tools = tools, .data = &all };
    mcp_server_options options = MCP_SERVER_OPTIONS_INIT;
    mcp_http_options http = MCP_HTTP_OPTIONS_INIT;
    mcp_server *server = NULL;
    mcp_error err = MCP_ERROR_INIT;
    mcp_status st;

    options.name = "notes";
    options.version = "1.0.0";
    options.allow_write = true;
    http.routes = routes;
    http.routes_data = &all;
    http.health = true;
    http.ready = say_where;
    if (!read_arguments(&options, &http, argc, argv)) {
        fprintf(stderr, "usage: %s [--port PORT] [--revision REVISION]\n", argv[0]);
        return 2;
    }
    st = mcp_server_new(&server, &options, &err);
    if (st == MCP_OK)
        st = mcp_server_add(server, &features, &err);
    if (st == MCP_OK)
        st = mcp_server_http(server, &http, &err);
    if (st != MCP_OK)
        fprintf(stderr, "notes: %s\n", err.message);
    mcp_server_free(server);
    return st == MCP_OK ? 0 : 1;
}
