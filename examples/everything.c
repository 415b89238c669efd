/*
 * everything.c - a server that uses every feature of the library, over every transport.
 *
 *     mcp-everything                                 one client, standard input and output
 *     mcp-everything --transport http --port 8080    Streamable HTTP: http://127.0.0.1:8080/mcp,
 *                                                    HTTP+SSE of 2024-11-05 at /sse
 *     mcp-everything --transport ws --port 8080      also WebSocket: ws://127.0.0.1:8080/ws
 *     mcp-everything --revision 2025-06-18           only that revision of the protocol
 *
 * Without --port any free one is taken; the address is said on standard error. The names and
 * answers of the tools, resources and prompts are those that the official conformance suite looks
 * for; the tool "echo" and "echo_by_worker" are there to be measured. What clients see is in the
 * files of examples/everything/, what answers them in its parts: content.c, while.c, ask.c, task.c,
 * changes.c, shelf.c.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "everything/everything.h"

/* Each tool is answered by the function of its name. */
/* clang-format off */
#define READS(name) { #name, name, MCP_READS, 0, 0 }
#define TASK(name, support) { #name, name, MCP_READS | MCP_LONG | (support), 0, 16 }
/* clang-format on */

static const mcp_tool tools[] = {
    READS(test_simple_text),
    READS(test_image_content),
    READS(test_audio_content),
    READS(test_embedded_resource),
    READS(test_multiple_content_types),
    READS(test_error_handling),
    READS(test_tool_with_logging),
    READS(test_logging_tool),
    READS(test_tool_with_progress),
    READS(test_acknowledge_progress),
    READS(test_reconnection),
    READS(test_missing_capability),
    READS(test_sampling),
    READS(test_elicitation),
    READS(test_elicitation_sep1034_defaults),
    READS(test_elicitation_sep1330_enums),
    READS(test_streaming_elicitation),
    READS(test_input_required_result_elicitation),
    READS(test_input_required_result_sampling),
    READS(test_input_required_result_list_roots),
    READS(test_input_required_result_request_state),
    READS(test_input_required_result_multiple_inputs),
    READS(test_input_required_result_multi_round),
    READS(test_input_required_result_tampered_state),
    READS(test_input_required_result_capabilities),
    READS(test_elicitation_url),
    READS(test_visit_required),
    READS(test_visit_done),
    READS(test_trigger_tool_change),
    READS(test_trigger_prompt_change),
    READS(test_trigger_resource_update),
    READS(json_schema_2020_12_tool),
    READS(test_header_argument),
    TASK(slow_compute, MCP_TASK_OPTIONAL),
    TASK(failing_job, MCP_TASK_REQUIRED),
    TASK(protocol_error_job, MCP_TASK_REQUIRED),
    TASK(confirm_delete, MCP_TASK_OPTIONAL),
    TASK(multi_input, MCP_TASK_OPTIONAL),
    TASK(test_tool_with_task, MCP_TASK_REQUIRED | MCP_TASK_DEFERRED),
    READS(greet),
    { "echo", echo, MCP_READS | MCP_NONBLOCKING, 0, 0 }, /* on the loop itself */
    { "echo_by_worker", echo, MCP_READS, 0, 0 },
    { 0 },
};

enum transport { OVER_STDIO, OVER_HTTP, OVER_WS };

/* The command line. */
struct wishes {
    enum transport transport;
    const char *host; /* NULL: the loopback */
    int port;         /* 0: any free one */
    mcp_revision revision;
};

static bool read_transport(struct wishes *wishes, const char *word)
{
    static const char *const names[] = { "stdio", "http", "ws" };

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(word, names[i]) == 0) {
            wishes->transport = (enum transport)i;
            return true;
        }
    }
    return false;
}

static bool read_host(struct wishes *wishes, const char *word)
{
    wishes->host = word;
    return word[0] != '\0';
}

static bool read_port(struct wishes *wishes, const char *word)
{
    char *end = NULL;
    long port = strtol(word, &end, 10);

    wishes->port = (int)port;
    return end != word && *end == '\0' && port >= 0 && port <= 65535;
}

static bool read_revision(struct wishes *wishes, const char *word)
{
    wishes->revision = mcp_revision_find(word);
    return wishes->revision != MCP_REVISION_NONE;
}

static bool read_flag(struct wishes *wishes, const char *flag, const char *word)
{
    static const struct {
        const char *flag;
        bool (*read)(struct wishes *wishes, const char *word);
    } flags[] = {
        { "--transport", read_transport },
        { "--host", read_host },
        { "--port", read_port },
        { "--revision", read_revision },
    };

    for (size_t i = 0; word && i < sizeof flags / sizeof flags[0]; i++) {
        if (strcmp(flag, flags[i].flag) == 0)
            return flags[i].read(wishes, word);
    }
    return false;
}

static bool read_flags(struct wishes *wishes, int argc, char **argv)
{
    bool fits = true;

    for (int i = 1; i < argc && fits; i += 2)
        fits = read_flag(wishes, argv[i], argv[i + 1]);
    return fits;
}

static void say_address(int port, void *data)
{
    const struct wishes *wishes = data;

    fprintf(stderr, "everything: http://%s:%d/mcp\n", wishes->host ? wishes->host : "127.0.0.1",
            port);
}

static mcp_status serve(mcp_server *server, struct wishes *wishes, mcp_error *err)
{
    mcp_http_options http = MCP_HTTP_OPTIONS_INIT;

    if (wishes->transport == OVER_STDIO)
        return mcp_server_stdio(server, err);
    http.host = wishes->host;
    http.port = wishes->port;
    http.legacy_sse = true;
    http.websocket = wishes->transport == OVER_WS;
    http.ready = say_address;
    http.data = wishes;
    return mcp_server_http(server, &http, err);
}

static mcp_status run(struct wishes *wishes, mcp_error *err)
{
    mcp_features features = { .files = everything_files,
                              .tools = tools,
                              .resources = everything_resources,
                              .prompts = everything_prompts,
                              .completions = everything_completions };
    mcp_server_options options = MCP_SERVER_OPTIONS_INIT;
    mcp_server *server = NULL;

    options.name = "everything";
    options.title = "Everything";
    options.version = "1.0.0";
    options.description = "Uses every feature of libmcp";
    options.instructions = "Each tool shows one feature; none changes anything.";
    options.oldest = options.newest = wishes->revision;
    options.logging = true;
    options.list_changed = true;
    options.subscriptions = true;
    options.keep_schema_uri = true; /* the conformance suite looks for it */
    mcp_status st = mcp_server_new(&server, &options, err);
    if (st == MCP_OK)
        st = mcp_server_add(server, &features, err);
    if (st == MCP_OK)
        st = serve(server, wishes, err);
    mcp_server_free(server);
    return st;
}

int main(int argc, char **argv)
{
    struct wishes wishes = { OVER_STDIO, NULL, 0, MCP_REVISION_NONE };
    mcp_error err = MCP_ERROR_INIT;

    if (!read_flags(&wishes, argc, argv)) {
        fprintf(
            stderr,
            "usage: %s [--transport stdio|http|ws] [--host HOST] [--port PORT] [--revision DATE]\n",
            argv[0]);
        return 2;
    }
    if (run(&wishes, &err) == MCP_OK)
        return 0;
    fprintf(stderr, "everything: %s\n", err.message);
    return 1;
}
