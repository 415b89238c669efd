/*
 * fixture_task.c - handlers that do not know whether they are tasks.
 */
#include "fixture_task.h"

#include <string.h>

/* clang-format off */
#define FILE_OF(path, text) { path, text, sizeof text - 1 }
#define PLAIN_TOOL(name)                                                                           \
    "{\"name\":\"" name "\",\"description\":\"A task\",\"inputSchema\":{\"type\":\"object\"}}"
/* clang-format on */

static const char form[] =
    "{\"type\":\"object\",\"properties\":{\"name\":{\"type\":\"string\",\"minLength\":1}},"
    "\"required\":[\"name\"]}";

static const char *name_of(const mcp_json *answer)
{
    const char *name = mcp_json_get_string(mcp_json_get(answer, "content"), "name");

    return name ? name : mcp_json_get_string(answer, "action");
}

static mcp_status report(mcp_call *call, void *data)
{
    mcp_progress begun = { .progress = 1, .message = "begun", .every = true };
    mcp_progress half = { .progress = 2, .message = "half\nway", .every = true };

    (void)data;
    mcp_call_progress(call, &begun);
    mcp_call_log(call, MCP_LEVEL_ERROR, NULL, "logged");
    mcp_call_progress(call, &half);
    return mcp_call_text(call, "done");
}

static mcp_status refuse(mcp_call *call, void *data)
{
    (void)data;
    return mcp_call_tool_error(call, "not today");
}

static mcp_status fail(mcp_call *call, void *data)
{
    (void)data;
    return mcp_error_set(mcp_call_error(call), MCP_E_UNSUPPORTED, "it cannot be");
}

static mcp_status ask(mcp_call *call, void *data)
{
    const mcp_json *one = mcp_call_elicit_form(call, "one", "One?", form);
    const mcp_json *two = mcp_call_elicit_form(call, "two", "Two?", form);

    (void)data;
    if (!one || !two)
        return mcp_call_input_required(call);
    return mcp_call_text(
        call, mcp_arena_printf(mcp_call_arena(call), "%s and %s", name_of(one), name_of(two)));
}

static mcp_status ask_first(mcp_call *call, void *data)
{
    const mcp_json *who = mcp_call_elicit_form(call, "who", "Who?", form);

    (void)data;
    mcp_call_set_request_state(call, "kept");
    if (!who)
        return mcp_call_input_required(call);
    mcp_status st = mcp_call_become_task(call);
    if (st != MCP_OK)
        return st;
    return mcp_call_text(
        call, mcp_arena_printf(mcp_call_arena(call), "for %s, %s", name_of(who),
                               mcp_call_request_state(call) ? mcp_call_request_state(call) : "-"));
}

static mcp_status say_much(mcp_call *call, void *data)
{
    char text[1001];

    (void)data;
    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    return mcp_call_text(call, text);
}

/* Cannot go on before the user has paid. */
static mcp_status require_visit(mcp_call *call, void *data)
{
    (void)data;
    return mcp_call_require_url_elicitation(call, "Pay there", "https://pay.example/1", "errand-1");
}

static mcp_status end_visit(mcp_call *call, void *data)
{
    (void)data;
    mcp_status st = mcp_server_elicitation_complete(mcp_call_server(call), "errand-1",
                                                    mcp_call_error(call));
    return st == MCP_OK ? mcp_call_text(call, "thanks") : st;
}

static const mcp_tool tools[] = {
    { "task/plain", report, MCP_READS | MCP_TASK_OPTIONAL, 0, 0 },
    { "task/only", refuse, MCP_READS | MCP_TASK_REQUIRED, 0, 0 },
    { "task/error", fail, MCP_READS | MCP_TASK_OPTIONAL, 0, 0 },
    { "task/ask", ask, MCP_READS | MCP_TASK_OPTIONAL, 0, 0 },
    { "task/later", ask_first, MCP_READS | MCP_TASK_OPTIONAL | MCP_TASK_DEFERRED, 0, 0 },
    { "task/big", say_much, MCP_READS | MCP_TASK_OPTIONAL, 0, 0 },
    { "task/short", report, MCP_READS | MCP_TASK_OPTIONAL, 1000, 0 },
    { "task/visit", require_visit, MCP_READS | MCP_TASK_OPTIONAL, 0, 0 },
    { "task/paid", end_visit, MCP_READS, 0, 0 },
    { 0 },
};

static const mcp_file files[] = {
    FILE_OF("tools/plain.json", PLAIN_TOOL("task/plain")),
    FILE_OF("tools/only.json", PLAIN_TOOL("task/only")),
    FILE_OF("tools/error.json", PLAIN_TOOL("task/error")),
    FILE_OF("tools/ask.json", PLAIN_TOOL("task/ask")),
    FILE_OF("tools/later.json", PLAIN_TOOL("task/later")),
    FILE_OF("tools/big.json", PLAIN_TOOL("task/big")),
    FILE_OF("tools/short.json", PLAIN_TOOL("task/short")),
    FILE_OF("tools/visit.json", PLAIN_TOOL("task/visit")),
    FILE_OF("tools/paid.json", PLAIN_TOOL("task/paid")),
    { 0 },
};

const mcp_features fixture_task = { .files = files, .tools = tools };
