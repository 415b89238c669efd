/*
 * reply.c - answers, refusals and problem documents.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "keys/canonical.h"
#include "page/tags.h"
#include "service/plane.h"

enum { REPLY_MAX = 16 << 20, DETAIL_MAX = 512 };

const char *portarium_argument(const portarium_request *request, const char *name)
{
    return mcp_json_get_string(request->arguments, name);
}

const char *portarium_body_string(const portarium_request *request, const char *name)
{
    return mcp_json_get_string(request->body, name);
}

static mcp_status keep_text(portarium_reply *reply, portarium_tx *tx, int status,
                            const mcp_buf *buf, mcp_error *err)
{
    reply->text = mcp_arena_strndup(tx->arena, buf->data, buf->length);
    reply->length = buf->length;
    reply->status = status;
    return reply->text ? MCP_OK : mcp_error_set(err, MCP_E_NOMEM, "no memory for the answer");
}

mcp_status portarium_reply_json(portarium_reply *reply, portarium_tx *tx, int status,
                                const mcp_json *json, mcp_error *err)
{
    mcp_buf buf;
    mcp_json_writer writer;
    mcp_buf_init(&buf, REPLY_MAX);
    mcp_json_writer_init(&writer, &buf);
    mcp_write_value(&writer, json);
    mcp_status st = mcp_json_writer_status(&writer);
    st = st == MCP_OK ? keep_text(reply, tx, status, &buf, err)
                      : mcp_error_set(err, st, "writing the answer: %s", mcp_status_words(st));
    mcp_buf_clear(&buf);
    return st;
}

mcp_status portarium_reply_draft(portarium_reply *reply, portarium_tx *tx, int status,
                                 portarium_draft *draft, mcp_error *err)
{
    mcp_write_end(&draft->json);
    mcp_status st = mcp_json_writer_status(&draft->json);
    st = st == MCP_OK ? keep_text(reply, tx, status, &draft->buf, err)
                      : mcp_error_set(err, st, "writing the answer: %s", mcp_status_words(st));
    portarium_draft_clear(draft);
    return st;
}

/* A segment of a path; NULL without memory. */
static const char *segment(mcp_arena *arena, const char *text)
{
    static const char digits[] = "0123456789ABCDEF";
    static const char plain[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~:@";
    char *out = mcp_arena_alloc(arena, 3 * strlen(text) + 1), *at = out;
    for (; out && *text; text++) {
        if (strchr(plain, *text)) {
            *at++ = *text;
            continue;
        }
        *at++ = '%';
        *at++ = digits[(unsigned char)*text >> 4];
        *at++ = digits[(unsigned char)*text & 15];
    }
    if (out)
        *at = '\0';
    return out;
}

void portarium_reply_location(portarium_reply *reply, portarium_tx *tx, const char *room,
                              const char *id)
{
    const char *workspace = segment(tx->arena, tx->workspace);
    const char *of = id ? segment(tx->arena, id) : NULL;
    reply->location = workspace && of ? mcp_arena_printf(tx->arena, "/v1/workspaces/%s/%s/%s",
                                                         workspace, room, of)
                                      : NULL;
}

mcp_status portarium_reply_none(portarium_reply *reply)
{
    reply->status = 204;
    return MCP_OK;
}

/* ---- entity tags ----------------------------------------------------------------------------- */

enum { ETAG_DIGITS = 12 };

const char *portarium_etag(mcp_arena *arena, const char *text, size_t length)
{
    uint8_t digest[MCP_SHA256_SIZE];
    char hex[KEYS_HEX_SIZE];
    if (mcp_sha256(digest, text, length, NULL) != MCP_OK)
        return NULL;
    keys_hex(hex, digest);
    return mcp_arena_printf(arena, "\"%.*s\"", ETAG_DIGITS, hex);
}

bool portarium_etag_matches(const char *list, const char *etag, bool strong)
{
    return page_tags_are_any(list) ||
           (etag && page_tags_find(list, etag, strong) == PAGE_TAGS_WITH);
}

mcp_status portarium_check_if_match_text(portarium_reply *reply, portarium_tx *tx,
                                         const portarium_request *request, const char *text,
                                         size_t length, mcp_error *err)
{
    if (!request->if_match)
        return MCP_OK;
    if (!text)
        return portarium_refuse(reply, tx, err, 412, "If-Match does not hold: there is none yet.");
    const char *etag = portarium_etag(tx->arena, text, length);
    if (!etag)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for an entity tag");
    return portarium_etag_matches(request->if_match, etag, true)
               ? MCP_OK
               : portarium_refuse(reply, tx, err, 412,
                                  "If-Match does not hold: the document is at %s now.", etag);
}

mcp_status portarium_check_if_match(portarium_reply *reply, portarium_tx *tx,
                                    const portarium_request *request, const mcp_json *document,
                                    mcp_error *err)
{
    portarium_reply now = { .status = 0 };
    mcp_status st = request->if_match && document
                        ? portarium_reply_json(&now, tx, 200, document, err)
                        : MCP_OK;
    return st == MCP_OK
               ? portarium_check_if_match_text(reply, tx, request, now.text, now.length, err)
               : st;
}

/* ---- refusals -------------------------------------------------------------------------------- */

MCP_PRINTF(5, 0)
static void refuse(portarium_reply *reply, portarium_tx *tx, mcp_error *err, int status,
                   const char *format, va_list arguments)
{
    char detail[DETAIL_MAX];
    vsnprintf(detail, sizeof detail, format, arguments);
    reply->status = status;
    reply->detail = portarium_text_begin(tx->arena, detail, sizeof detail);
    reply->text = NULL;
    reply->length = 0;
    mcp_error_set(err, MCP_E_DENIED, "%s", detail);
}

mcp_status portarium_refuse(portarium_reply *reply, portarium_tx *tx, mcp_error *err, int status,
                            const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    refuse(reply, tx, err, status, format, arguments);
    va_end(arguments);
    return MCP_E_DENIED;
}

mcp_status portarium_refuse_kept(portarium_reply *reply, portarium_tx *tx, mcp_error *err,
                                 int status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    refuse(reply, tx, err, status, format, arguments);
    va_end(arguments);
    return MCP_OK;
}

/* ---- problem documents ----------------------------------------------------------------------- */

static const struct {
    int status;
    const char *slug, *title;
} problems[] = {
    { 400, "bad-request", "Bad Request" },
    { 401, "unauthorized", "Unauthorized" },
    { 403, "forbidden", "Forbidden" },
    { 404, "not-found", "Not Found" },
    { 405, "method-not-allowed", "Method Not Allowed" },
    { 409, "conflict", "Conflict" },
    { 410, "gone", "Gone" },
    { 412, "precondition-failed", "Precondition Failed" },
    { 413, "payload-too-large", "Payload Too Large" },
    { 415, "unsupported-media-type", "Unsupported Media Type" },
    { 422, "validation-failed", "Validation Failed" },
    { 429, "rate-limit-exceeded", "Rate Limit Exceeded" },
    { 500, "internal", "Internal Server Error" },
    { 501, "not-implemented", "Not Implemented" },
    { 502, "dependency-failure", "Bad Gateway" },
    { 503, "service-unavailable", "Service Unavailable" },
};

static const char unknown_slug[] = "outcome-unknown", unknown_title[] = "Outcome Unknown";

static size_t problem_of(const portarium_reply *reply)
{
    int status = reply->type_status > 0 ? reply->type_status : reply->status;
    size_t count = sizeof problems / sizeof problems[0];
    for (size_t i = 0; i < count; i++) {
        if (problems[i].status == status)
            return i;
    }
    return status < 500 ? 0 : 12; /* Bad Request, Internal Server Error */
}

const char *portarium_problem_slug(const portarium_reply *reply)
{
    return reply->is_unknown ? unknown_slug : problems[problem_of(reply)].slug;
}

const char *portarium_problem_title(const portarium_reply *reply)
{
    return reply->is_unknown ? unknown_title : problems[problem_of(reply)].title;
}

mcp_status portarium_problem(mcp_buf *out, const portarium_reply *reply, const char *path)
{
    char type[96];
    mcp_json_writer json;
    mcp_json_writer_init(&json, out);
    snprintf(type, sizeof type, "https://portarium.dev/problems/%s", portarium_problem_slug(reply));
    mcp_write_object(&json);
    mcp_write_member_string(&json, "type", type);
    mcp_write_member_string(&json, "title", portarium_problem_title(reply));
    mcp_write_member_int(&json, "status", reply->status);
    if (reply->detail)
        mcp_write_member_string(&json, "detail", reply->detail);
    if (path)
        mcp_write_member_string(&json, "instance", path);
    if (reply->fields.count > 0) {
        mcp_write_name(&json, "errors");
        portarium_fields_write(&json, &reply->fields);
    }
    if (reply->retry_after_s > 0)
        mcp_write_member_int(&json, "retryAfterSeconds", reply->retry_after_s);
    mcp_write_end(&json);
    return mcp_json_writer_status(&json);
}
