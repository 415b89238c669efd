/*
 * openapi.c - the OpenAPI 3.1 document, made of the table of operations.
 */
#include <stdio.h>
#include <string.h>

#include "rest/rest.h"
#include "rest/routes.h"
#include "store/page.h"

enum { DOCUMENT_MAX = 4 << 20, PATH_SIZE = 256, NAME_SIZE = 64 };

static const char base[] = "/v1/workspaces/{workspaceId}";

static const char *const shape_names[] = {
#define NAME(name) #name,
    PORTARIUM_SHAPE_MAP(NAME)
#undef NAME
};

static void path_of(char out[PATH_SIZE], const portarium_operation *operation)
{
    snprintf(out, PATH_SIZE, "%s%s", operation->flags & PORTARIUM_GLOBAL ? "" : base,
             operation->path);
}

/* ---- one operation --------------------------------------------------------------------------- */

static void begin_parameter(mcp_json_writer *out, const char *name, const char *in,
                            const char *type)
{
    mcp_write_object(out);
    mcp_write_member_string(out, "name", name);
    mcp_write_member_string(out, "in", in);
    mcp_write_member_bool(out, "required", strcmp(in, "path") == 0);
    mcp_write_member_object(out, "schema");
    mcp_write_member_string(out, "type", type);
}

static void end_parameter(mcp_json_writer *out)
{
    mcp_write_end(out);
    mcp_write_end(out);
}

static void write_parameter(mcp_json_writer *out, const char *name, const char *in,
                            const char *type)
{
    begin_parameter(out, name, in, type);
    end_parameter(out);
}

static void write_range(mcp_json_writer *out, const char *name, int minimum, int maximum)
{
    begin_parameter(out, name, "query", "integer");
    mcp_write_member_int(out, "minimum", minimum);
    mcp_write_member_int(out, "maximum", maximum);
    end_parameter(out);
}

/* ---- members of the query -------------------------------------------------------------------- */

/* What an operation reads from its query: the filters of a collection, and others. */
static const struct query {
    const char *operation;
    const portarium_collection *where; /* NULL: of none */
    const char *others[5];
} queries[] = {
    { "listWorkspaces", &portarium_workspaces, { NULL } },
    { "listUsers", &portarium_users, { NULL } },
    { "listWorkflows", &portarium_workflows, { NULL } },
    { "getWorkflow", NULL, { "version" } },
    { "listRuns", &portarium_runs, { NULL } },
    { "getRun", NULL, { "view" } },
    { "listHumanTasks", &portarium_human_tasks, { NULL } },
    { "listAdapters", &portarium_adapters, { NULL } },
    { "listMachines", &portarium_machines, { NULL } },
    { "listAgents", &portarium_agents, { NULL } },
    { "listWorkItems", &portarium_work_items, { NULL } },
    { "listEvidence", &portarium_entries, { NULL } },
    { "listRunEvidence", &portarium_entries, { NULL } },
    { "verifyEvidence", NULL, { "from", "to" } },
    { "getConsistency", NULL, { "since" } },
    { "listLegalHolds", &portarium_legal_holds, { NULL } },
    { "listWebhooks", &portarium_webhooks, { NULL } },
    { "listApprovals", &portarium_approvals, { NULL } },
    { "listPolicies", &portarium_policies, { NULL } },
};

static void write_words(mcp_json_writer *out, const portarium_column *column)
{
    mcp_write_member_array(out, "enum");
    for (size_t i = 0; column->word(i); i++)
        mcp_write_string(out, column->word(i));
    mcp_write_end(out);
}

/* Several with commas between. */
static void write_several(mcp_json_writer *out, const portarium_column *column)
{
    mcp_write_object(out);
    mcp_write_member_string(out, "name", column->member);
    mcp_write_member_string(out, "in", "query");
    mcp_write_member_bool(out, "required", false);
    mcp_write_member_string(out, "style", "form");
    mcp_write_member_bool(out, "explode", false);
    mcp_write_member_object(out, "schema");
    mcp_write_member_string(out, "type", "array");
    mcp_write_member_object(out, "items");
    mcp_write_member_string(out, "type", "string");
    write_words(out, column);
    mcp_write_end(out);
    end_parameter(out);
}

static void write_filter(mcp_json_writer *out, const portarium_column *column)
{
    if (column->flags & PORTARIUM_SEVERAL) {
        write_several(out, column);
        return;
    }
    begin_parameter(out, column->member, "query",
                    column->flags & PORTARIUM_INTEGER ? "boolean" : "string");
    if (column->word)
        write_words(out, column);
    end_parameter(out);
}

static bool has_variable(const char *path, const char *name)
{
    char variable[NAME_SIZE];
    snprintf(variable, sizeof variable, "{%s}", name);
    return strstr(path, variable) != NULL;
}

/* But what the path has. */
static void write_filters(mcp_json_writer *out, const portarium_collection *where, const char *path)
{
    for (const portarium_column *at = where->columns; at->name; at++) {
        if ((at->flags & PORTARIUM_FILTER) && !has_variable(path, at->member))
            write_filter(out, at);
    }
    for (size_t i = 0; where->links[i].filter; i++)
        write_parameter(out, where->links[i].filter, "query", "string");
}

static void write_page(mcp_json_writer *out, bool has_search)
{
    write_range(out, "limit", 1, PORTARIUM_LIMIT_MAX);
    write_parameter(out, "cursor", "query", "string");
    write_parameter(out, "sort", "query", "string");
    if (has_search)
        write_parameter(out, "q", "query", "string");
}

/* Of a chain of evidence, or of versions. */
static bool is_number(const char *member)
{
    return strcmp(member, "from") == 0 || strcmp(member, "to") == 0 ||
           strcmp(member, "since") == 0 || strcmp(member, "version") == 0;
}

static void write_query(mcp_json_writer *out, const portarium_operation *operation,
                        const char *path)
{
    for (size_t i = 0; i < sizeof queries / sizeof queries[0]; i++) {
        const struct query *at = &queries[i];
        if (strcmp(at->operation, operation->name) != 0)
            continue;
        if (strncmp(operation->name, "list", 4) == 0)
            write_page(out, at->where != &portarium_entries);
        if (at->where)
            write_filters(out, at->where, path);
        for (size_t k = 0; at->others[k]; k++)
            write_parameter(out, at->others[k], "query",
                            is_number(at->others[k]) ? "integer" : "string");
    }
}

static void write_parameters(mcp_json_writer *out, const portarium_operation *operation,
                             const char *path)
{
    mcp_write_member_array(out, "parameters");
    for (const char *at = strchr(path, '{'); at; at = strchr(at + 1, '{')) {
        char name[NAME_SIZE];
        snprintf(name, sizeof name, "%.*s", (int)strcspn(at + 1, "}"), at + 1);
        write_parameter(out, name, "path", "string");
    }
    write_query(out, operation, path);
    if (operation->flags & PORTARIUM_WAITS)
        write_range(out, "wait", 0, PORTARIUM_WAIT_MAX_S);
    if (operation->flags & PORTARIUM_ETAG)
        write_parameter(out, "If-None-Match", "header", "string");
    if (operation->flags & PORTARIUM_IF_MATCH)
        write_parameter(out, "If-Match", "header", "string");
    if (strcmp(operation->method, "POST") == 0)
        write_parameter(out, "Idempotency-Key", "header", "string");
    mcp_write_end(out);
}

/* ---- bodies ---------------------------------------------------------------------------------- */

/* A body that a shape describes; "" is any object. */
static void write_content(mcp_json_writer *out, const char *type, const char *shape)
{
    char reference[NAME_SIZE * 2];
    mcp_write_member_object(out, "content");
    mcp_write_member_object(out, type);
    mcp_write_member_object(out, "schema");
    if (*shape) {
        snprintf(reference, sizeof reference, "#/components/schemas/%s", shape);
        mcp_write_member_string(out, "$ref", reference);
    } else {
        mcp_write_member_string(out, "type", "object");
    }
    mcp_write_end(out);
    mcp_write_end(out);
    mcp_write_end(out);
}

static void write_body(mcp_json_writer *out, const portarium_operation *operation)
{
    bool has_shape = operation->body != PORTARIUM_NO_BODY;
    if (!has_shape && !(operation->flags & PORTARIUM_PATCH))
        return;
    mcp_write_member_object(out, "requestBody");
    mcp_write_member_bool(out, "required", !(operation->flags & PORTARIUM_MAY_LACK_BODY));
    write_content(out, "application/json", has_shape ? shape_names[operation->body] : "");
    mcp_write_end(out);
}

static void write_text(mcp_json_writer *out, const char *type)
{
    mcp_write_member_object(out, "content");
    mcp_write_member_object(out, type);
    mcp_write_member_object(out, "schema");
    mcp_write_member_string(out, "type", "string");
    mcp_write_end(out);
    mcp_write_end(out);
    mcp_write_end(out);
}

static void write_answers(mcp_json_writer *out, const portarium_operation *operation)
{
    mcp_write_member_object(out, "responses");
    mcp_write_member_object(out, "2XX");
    mcp_write_member_string(out, "description", operation->summary);
    if (strcmp(operation->name, "getCheckpoint") == 0)
        write_text(out, "text/plain");
    else if (strcmp(operation->name, "getRunBundle") == 0)
        write_text(out, "application/jsonl");
    else if (operation->answer || strcmp(operation->method, "DELETE") != 0)
        write_content(out, "application/json", "");
    mcp_write_end(out);
    mcp_write_member_object(out, "default");
    mcp_write_member_string(out, "$ref", "#/components/responses/Problem");
    mcp_write_end(out);
    mcp_write_end(out);
}

static void write_operation(mcp_json_writer *out, const portarium_operation *operation,
                            const char *path)
{
    char method[8] = "";
    for (size_t i = 0; operation->method[i] && i + 1 < sizeof method; i++)
        method[i] = (char)(operation->method[i] | 0x20); /* a letter in lower case */
    mcp_write_member_object(out, method);
    mcp_write_member_string(out, "operationId", operation->name);
    mcp_write_member_string(out, "summary", operation->summary);
    write_parameters(out, operation, path);
    write_body(out, operation);
    write_answers(out, operation);
    mcp_write_end(out);
}

/* ---- paths ----------------------------------------------------------------------------------- */

/* Whether an operation before this one has its path, which is then written already. */
static bool is_written(size_t index, const char *path)
{
    char other[PATH_SIZE];
    for (size_t i = 0; i < index; i++) {
        path_of(other, portarium_operation_at(i));
        if (strcmp(other, path) == 0)
            return true;
    }
    return false;
}

static void write_path(mcp_json_writer *out, size_t index)
{
    char path[PATH_SIZE], other[PATH_SIZE];
    path_of(path, portarium_operation_at(index));
    if (is_written(index, path))
        return;
    mcp_write_member_object(out, path);
    for (size_t i = index; portarium_operation_at(i); i++) {
        path_of(other, portarium_operation_at(i));
        if (strcmp(other, path) == 0)
            write_operation(out, portarium_operation_at(i), path);
    }
    mcp_write_end(out);
}

static void write_stream(mcp_json_writer *out)
{
    static const char path[] = "/v1/workspaces/{workspaceId}/events:stream";
    mcp_write_member_object(out, path);
    mcp_write_member_object(out, "get");
    mcp_write_member_string(out, "operationId", "streamEvents");
    mcp_write_member_string(out, "summary", "the workspace's events, as server-sent events");
    mcp_write_member_array(out, "parameters");
    write_parameter(out, "workspaceId", "path", "string");
    write_parameter(out, "after", "query", "integer");
    write_parameter(out, "Last-Event-ID", "header", "integer");
    mcp_write_end(out);
    mcp_write_member_object(out, "responses");
    mcp_write_member_object(out, "200");
    mcp_write_member_string(out, "description", "events, each with its number as its id");
    mcp_write_member_object(out, "content");
    mcp_write_member_object(out, "text/event-stream");
    mcp_write_end(out);
    mcp_write_end(out);
    mcp_write_end(out);
    mcp_write_member_object(out, "default");
    mcp_write_member_string(out, "$ref", "#/components/responses/Problem");
    mcp_write_end(out);
    mcp_write_end(out);
    mcp_write_end(out);
    mcp_write_end(out);
}

static void write_components(mcp_json_writer *out, const portarium_shapes *shapes)
{
    mcp_write_member_object(out, "components");
    mcp_write_name(out, "schemas");
    portarium_shapes_write(out, shapes);
    mcp_write_member_object(out, "responses");
    mcp_write_member_object(out, "Problem");
    mcp_write_member_string(out, "description", "the request was refused, or failed (RFC 9457)");
    write_content(out, "application/problem+json", "Problem");
    mcp_write_end(out);
    mcp_write_end(out);
    mcp_write_member_object(out, "securitySchemes");
    mcp_write_member_object(out, "bearer");
    mcp_write_member_string(out, "type", "http");
    mcp_write_member_string(out, "scheme", "bearer");
    mcp_write_end(out);
    mcp_write_end(out);
    mcp_write_end(out);
}

void portarium_openapi_write(mcp_json_writer *out, const portarium_shapes *shapes)
{
    mcp_write_object(out);
    mcp_write_member_string(out, "openapi", "3.1.0");
    mcp_write_member_object(out, "info");
    mcp_write_member_string(out, "title", "portarium");
    mcp_write_member_string(out, "version", PORTARIUM_VERSION);
    mcp_write_end(out);
    mcp_write_member_array(out, "security");
    mcp_write_object(out);
    mcp_write_member_array(out, "bearer");
    mcp_write_end(out);
    mcp_write_end(out);
    mcp_write_end(out);
    mcp_write_member_object(out, "paths");
    for (size_t i = 0; portarium_operation_at(i); i++)
        write_path(out, i);
    write_stream(out);
    mcp_write_end(out);
    write_components(out, shapes);
    mcp_write_end(out);
}

mcp_status portarium_rest_openapi(mcp_call *call, void *data)
{
    const portarium_app *app = data;
    portarium_reply reply = { .status = 200 };
    mcp_json_writer json;
    mcp_buf buf;
    mcp_buf_init(&buf, DOCUMENT_MAX);
    mcp_json_writer_init(&json, &buf);
    portarium_openapi_write(&json, portarium_plane_shapes(app->plane));
    mcp_status st = mcp_json_writer_status(&json);
    if (st == MCP_OK) {
        reply.text = buf.data;
        reply.length = buf.length;
        reply.etag = portarium_etag(mcp_call_arena(call), buf.data, buf.length);
        st = portarium_rest_answer(call, app, &reply, NULL);
    }
    mcp_buf_clear(&buf);
    return st;
}
