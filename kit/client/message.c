/*
 * message.c - telling responses, requests and notifications apart.
 *
 * This client numbers its requests from 0 on; a response under any other id is nobody's.
 */
#include "client/message.h"

#include <string.h>

/* Arrays of messages are of 2025-03-26 alone. */
#define BATCH_MAX 1000

static void look_at_response(struct client_message *out, const mcp_json *value)
{
    const mcp_json *result = mcp_json_get(value, "result");
    const mcp_json *error = mcp_json_get(value, "error");
    int64_t code = 0;

    if (!result == !error)
        return;
    if (error && (!mcp_json_int(mcp_json_get(error, "code"), &code) ||
                  !mcp_json_is_string(mcp_json_get(error, "message"))))
        return;
    if (result && !mcp_json_is_object(result))
        return;
    out->kind = CLIENT_RESPONSE;
    out->result = result;
    out->error = error;
    if (!mcp_json_int(mcp_json_get(value, "id"), &out->number) || out->number < 0)
        out->number = -1;
}

void client_message_look(struct client_message *out, const mcp_json *value)
{
    const char *version = mcp_json_get_string(value, "jsonrpc");
    const mcp_json *method = mcp_json_get(value, "method");
    const mcp_json *id = mcp_json_get(value, "id");
    size_t length = 0;

    *out = (struct client_message){ .kind = CLIENT_GARBAGE, .number = -1, .method = "" };
    if (!version || strcmp(version, "2.0") != 0)
        return;
    if (!method) {
        look_at_response(out, value);
        return;
    }
    const char *name = mcp_json_string(method, &length);
    mcp_json_type type = mcp_json_type_of(id);
    if (!name || (id && type != MCP_JSON_STRING && type != MCP_JSON_INT && type != MCP_JSON_UINT))
        return;
    out->kind = id ? CLIENT_REQUEST : CLIENT_NOTIFICATION;
    out->id = id;
    out->method = strlen(name) == length ? name : "";
    out->params = mcp_json_get(value, "params");
}

mcp_status client_message_read(const char *text, size_t length, mcp_arena *arena,
                               client_on_message *on_message, void *data, mcp_error *err)
{
    struct client_message message;
    const mcp_json *value = NULL;

    mcp_status st = mcp_json_read(&value, arena, text, length, err);
    if (st != MCP_OK)
        return st;
    if (!mcp_json_is_array(value)) {
        client_message_look(&message, value);
        on_message(data, &message, value);
        return MCP_OK;
    }
    size_t count = mcp_json_count(value);
    for (size_t i = 0; i < count && i < BATCH_MAX; i++) {
        client_message_look(&message, mcp_json_item(value, i));
        on_message(data, &message, mcp_json_item(value, i));
    }
    return MCP_OK;
}

void client_message_reply(mcp_buf *out, const struct client_message *request)
{
    mcp_json_writer writer;

    mcp_json_writer_init(&writer, out);
    mcp_write_object(&writer);
    mcp_write_member_string(&writer, "jsonrpc", "2.0");
    mcp_write_member_value(&writer, "id", request->id);
    if (strcmp(request->method, "ping") == 0) {
        mcp_write_member_object(&writer, "result");
    } else {
        mcp_write_member_object(&writer, "error");
        mcp_write_member_int(&writer, "code", mcp_status_code(MCP_E_METHOD));
        mcp_write_member_string(&writer, "message", "this client answers ping alone");
    }
    mcp_write_end(&writer);
    mcp_write_end(&writer);
}
