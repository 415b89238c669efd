/*
 * problem.c - {"error":{"status":"E_NOT_FOUND","message":"..."}}, unless the program has a form of
 * its own.
 *
 * What the program writes is held to its bound and to its word: where its writer fails, ours is
 * sent.
 */
#include "mcp/transport/rest/problem.h"

#include <string.h>

#include "mcp/transport/http/header_fields.h"
#include "mcp/transport/http/origin_check.h"

#define BODY_MAX ((size_t)4 * 1024)
#define PATH_ROOM ((size_t)64 * 1024)

int mcp__problem_http(mcp_status status)
{
    static const struct {
        mcp_status status;
        int http;
    } rows[] = {
        { MCP_E_PARSE, 400 },       { MCP_E_REQUEST, 400 }, { MCP_E_PARAMS, 400 },
        { MCP_E_SCHEMA, 400 },      { MCP_E_DENIED, 403 },  { MCP_E_NOT_FOUND, 404 },
        { MCP_E_RESOURCE, 404 },    { MCP_E_METHOD, 405 },  { MCP_E_LIMIT, 413 },
        { MCP_E_UNSUPPORTED, 501 }, { MCP_E_BUSY, 503 },    { MCP_E_STOPPED, 503 },
        { MCP_E_NOMEM, 503 },       { MCP_E_TIMEOUT, 504 }, { MCP_E_EXISTS, 409 },
        { MCP_E_SCOPE, 403 },       { MCP_E_STORAGE, 507 },
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].status == status)
            return rows[i].http;
    return status == MCP_OK ? 200 : 500;
}

mcp_status mcp__problem_status(int http_status)
{
    static const struct {
        int http;
        mcp_status status;
    } rows[] = {
        { 401, MCP_E_DENIED }, { 403, MCP_E_DENIED },  { 404, MCP_E_NOT_FOUND },
        { 405, MCP_E_METHOD }, { 408, MCP_E_TIMEOUT }, { 413, MCP_E_LIMIT },
        { 414, MCP_E_LIMIT },  { 431, MCP_E_LIMIT },   { 501, MCP_E_UNSUPPORTED },
        { 503, MCP_E_BUSY },   { 504, MCP_E_TIMEOUT }, { 507, MCP_E_STORAGE },
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].http == http_status)
            return rows[i].status;
    return http_status >= 500 ? MCP_E_INTERNAL : MCP_E_REQUEST;
}

static mcp_status write_ours(mcp_buf *out, const mcp_problem *problem)
{
    mcp_json_writer writer;

    mcp_json_writer_init(&writer, out);
    mcp_write_object(&writer);
    mcp_write_member_object(&writer, "error");
    mcp_write_member_string(&writer, "status", mcp_status_name(problem->status));
    mcp_write_member_string(&writer, "message", problem->message);
    mcp_write_end(&writer);
    mcp_write_end(&writer);
    return mcp_json_writer_status(&writer);
}

/* A refusal's words are a handler's, and a path is the client's: neither is short by nature. */
static size_t room(const mcp_problem *problem)
{
    return BODY_MAX + 6 * strlen(problem->message) +
           (problem->path ? 6 * strlen(problem->path) : 0);
}

const char *mcp__problem_write(mcp_buf *body, const mcp_http_options *http,
                               const mcp_problem *problem)
{
    const char *type = "application/json";

    mcp_buf_init(body, room(problem));
    if (http->problem && http->problem(body, &type, problem, http->routes_data) == MCP_OK &&
        body->status == MCP_OK && type)
        return type;
    mcp_buf_reset(body);
    if (write_ours(body, problem) != MCP_OK)
        mcp_buf_clear(body);
    return "application/json";
}

/* ---- answers --------------------------------------------------------------------------------- */

const char *mcp__problem_path(mcp_arena *arena, const mcp__http_exchange *exchange)
{
    size_t length = 0;
    const char *path = mcp__http_path(exchange, &length);

    return length > 0 ? mcp_arena_strndup(arena, path, length) : NULL;
}

void mcp__problem_answer(mcp__web *web, mcp__http_exchange *exchange, int http_status,
                         mcp_status status, const char *message, const char *allowed)
{
    mcp_arena *arena = mcp_arena_new(PATH_ROOM);
    mcp_problem problem = { http_status, status, message,
                            arena ? mcp__problem_path(arena, exchange) : NULL };
    mcp__head head = { .count = 0 };
    mcp_buf body;

    mcp__head_add(&head, "Content-Type", mcp__problem_write(&body, &web->http, &problem));
    mcp__head_add(&head, "Allow", allowed);
    mcp__head_share_route(&head, mcp__origin_check_origin(web, exchange));
    mcp__http_head_out out = mcp__head_out(&head, http_status);
    (void)mcp__http_reply_buf(exchange, &out, &body, NULL);
    mcp_arena_free(arena);
}

void mcp__problem_refuse(mcp__web *web, mcp__http_exchange *exchange, mcp_status status,
                         const char *message)
{
    mcp__problem_answer(web, exchange, mcp__problem_http(status), status, message, NULL);
}

void mcp__problem_refuse_http(mcp__web *web, mcp__http_exchange *exchange, int http_status,
                              const char *message)
{
    mcp__problem_answer(web, exchange, http_status, mcp__problem_status(http_status), message,
                        NULL);
}

bool mcp__problem_body(mcp_buf *body, const char **mime_type, const mcp__web *web,
                       const mcp__http_exchange *exchange, int http_status, const char *message)
{
    mcp_arena *arena = mcp_arena_new(PATH_ROOM);
    mcp_problem problem = { http_status, mcp__problem_status(http_status), message,
                            arena ? mcp__problem_path(arena, exchange) : NULL };

    *mime_type = mcp__problem_write(body, &web->http, &problem);
    mcp_arena_free(arena);
    return body->length > 0;
}
