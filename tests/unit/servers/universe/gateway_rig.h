/*
 * gateway_rig.h - the routes and tools of universe over HTTP in a thread, on a database in memory.
 */
#ifndef TESTS_UNIVERSE_GATEWAY_RIG_H
#define TESTS_UNIVERSE_GATEWAY_RIG_H

#include "service_rig.h"

#include "features/tools.h"
#include "rest/rest.h"
#include "web_rig.h"

typedef struct gateway_rig {
    service_rig service;
    universe_app app;
    web_rig *web;
    web_answer answer;
    const mcp_json *json; /* its body, where that is JSON */
} gateway_rig;

static inline void gateway_rig_open(gateway_rig *rig)
{
    mcp_server_options options = MCP_SERVER_OPTIONS_INIT;
    mcp_http_options http = MCP_HTTP_OPTIONS_INIT;
    const mcp_features features = { .files = universe_files,
                                    .tools = universe_tools,
                                    .data = &rig->app };
    rig->service = service_rig_open("memory", (universe_service_options){ 0 });
    rig->app = (universe_app){ .service = rig->service.service,
                               .max_state_bytes = UNIVERSE_MAX_STATE,
                               .inline_state_bytes = UNIVERSE_INLINE_STATE,
                               .list_bytes = UNIVERSE_LIST_BYTES };
    options.name = "universe";
    options.version = "0";
    options.allow_write = true;
    options.error_formatter = universe_refuse_call;
    options.data = &rig->app;
    http.routes = universe_routes;
    http.routes_data = &rig->app;
    http.problem = universe_rest_problem;
    rig->web = web_start_with(&options, &http, &features);
    service_rig_create(&rig->service, "u", NULL);
}

static inline void gateway_rig_close(gateway_rig *rig)
{
    assert_int_equal(web_end(rig->web), MCP_OK);
    service_rig_close(&rig->service);
}

/* A text in which ' stands for ". */
static inline const char *quoted(gateway_rig *rig, const char *text)
{
    char *copy = text ? mcp_arena_strdup(rig->service.arena, text) : NULL;
    for (char *at = copy ? strchr(copy, '\'') : NULL; at; at = strchr(at, '\''))
        *at = '"';
    return copy;
}

/* One request of a route; in the body ' stands for ". @return the HTTP status */
static inline int ask_route(gateway_rig *rig, const char *method, const char *path,
                            const char *fields, const char *body)
{
    web_ask(&rig->answer, web_port(rig->web), method, path, fields, quoted(rig, body));
    rig->json = NULL;
    (void)mcp_json_read(&rig->json, rig->service.arena, rig->answer.body, strlen(rig->answer.body),
                        NULL);
    return rig->answer.status;
}

/* One call of a tool under 2026-07-28; in the arguments ' stands for ". rig->json is the text block
 * read as JSON. @return whether it is an error */
static inline bool call_tool(gateway_rig *rig, const char *tool, const char *arguments)
{
    static const char meta[] =
        "{'io.modelcontextprotocol/protocolVersion':'2026-07-28','io.modelcontextprotocol/"
        "clientInfo':{'name':'t','version':'1'},'io.modelcontextprotocol/clientCapabilities':{}}";
    bool is_error = false;
    const mcp_json *text = NULL;
    size_t length = 0;
    const char *fields = mcp_arena_printf(
        rig->service.arena,
        "Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"
        "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: %s\r\n",
        tool);
    ask_route(
        rig, "POST", "/mcp", fields,
        mcp_arena_printf(rig->service.arena,
                         "{'jsonrpc':'2.0','id':1,'method':'tools/call','params':{'name':'%s',"
                         "'arguments':%s,'_meta':%s}}",
                         tool, arguments, meta));
    (void)mcp_json_bool(mcp_json_pointer(rig->json, "/result/isError"), &is_error);
    const char *block = mcp_json_string(mcp_json_pointer(rig->json, "/result/content/0/text"),
                                        &length);
    if (!block)
        fail_msg("%s: %.400s", tool, rig->answer.body);
    (void)mcp_json_read(&text, rig->service.arena, block, length, NULL);
    rig->json = text;
    return is_error;
}

/* The value at a pointer of the last answer must equal the JSON text, in which ' stands for ". */
static inline void expect_at(gateway_rig *rig, const char *pointer, const char *expected)
{
    const mcp_json *wanted = NULL;
    const char *text = quoted(rig, expected);
    assert_int_equal(mcp_json_read(&wanted, rig->service.arena, text, strlen(text), NULL), MCP_OK);
    if (!mcp_json_equal(mcp_json_pointer(rig->json, pointer), wanted))
        fail_msg("%s is not %s in %.600s", pointer, text, rig->answer.body);
}

#define A_STAR(id)                                                                                 \
    "{'type':'addStar','id':'" id "','payload':{'name':'n','mass':1,'radius':1,'color':'#ffffff'," \
    "'parentId':null,'orbitalDistance':0,'orbitalSpeed':0}}"

#endif
