/*
 * fuzz_template.c - two lines: a template and a value. Whatever both are, a body is one JSON value,
 * a URL keeps its host and has no byte that ends it, a header has no control character.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "language/template.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int claim)
{
    if (!claim)
        abort();
}

static mcp_status accept_all(const portarium_reference *reference, void *data, mcp_error *err)
{
    (void)data;
    (void)err;
    must(reference->length >= 3);
    return MCP_OK;
}

static const mcp_json *output_of(const char *action, size_t length, void *data)
{
    return length > 0 && action[0] == 'a' ? data : NULL;
}

/* {"v": <the text>} */
static const mcp_json *object_of(mcp_arena *arena, const char *text, size_t length)
{
    const mcp_json *out = NULL;
    mcp_json_writer writer;
    mcp_buf buf;

    mcp_buf_init(&buf, 1 << 20);
    mcp_json_writer_init(&writer, &buf);
    mcp_write_object(&writer);
    mcp_write_name(&writer, "v");
    mcp_write_string_n(&writer, text, length);
    mcp_write_end(&writer);
    if (mcp_json_writer_status(&writer) == MCP_OK)
        must(mcp_json_read(&out, arena, buf.data, buf.length, NULL) == MCP_OK);
    mcp_buf_clear(&buf);
    return out;
}

static void use(const mcp_json *template, const char *text, const portarium_scope *scope,
                mcp_arena *arena)
{
    const mcp_json *again = NULL;
    mcp_json_writer writer;
    mcp_buf buf;

    mcp_buf_init(&buf, 1 << 20);
    mcp_json_writer_init(&writer, &buf);
    if (portarium_template_body(&writer, template, scope, NULL) == MCP_OK)
        must(mcp_json_read(&again, arena, buf.data, buf.length, NULL) == MCP_OK);
    mcp_buf_reset(&buf);
    if (portarium_template_url(&buf, text, scope, NULL) == MCP_OK) {
        must(strncmp(buf.data, text, strcspn(text, "/")) == 0);
        for (size_t i = 0; i < buf.length; i++)
            must(buf.data[i] > ' ' && buf.data[i] < 0x7f && !strchr("#\"<>\\^`{|}", buf.data[i]));
    }
    mcp_buf_reset(&buf);
    if (portarium_template_header(&buf, text, scope, NULL) == MCP_OK)
        for (size_t i = 0; i < buf.length; i++)
            must((unsigned char)buf.data[i] >= ' ' && buf.data[i] != 0x7f);
    mcp_buf_clear(&buf);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *bytes = (const char *)data;
    const char *newline = size > 0 ? memchr(bytes, '\n', size) : NULL;
    size_t length = newline ? (size_t)(newline - bytes) : size;
    size_t value_length = newline ? size - length - 1 : 0;
    mcp_arena *arena = mcp_arena_new(0);
    mcp_error err = MCP_ERROR_INIT;

    must(arena != NULL);
    char *text = mcp_arena_strndup(arena, size > 0 ? bytes : "", length);
    mcp_status st = portarium_template_scan(text, length, accept_all, NULL, &err);
    must(st == MCP_OK || (st == MCP_E_PARSE && err.offset >= 0 && (size_t)err.offset < length));
    const mcp_json *value = object_of(arena, newline ? newline + 1 : "", value_length);
    const mcp_json *template = object_of(arena, text, length);
    portarium_scope scope = { .parameters = value,
                              .run_id = "run-1",
                              .credential = size % 2 ? "secret" : NULL,
                              .output = output_of,
                              .data = (void *)value };
    if (value && template)
        use(template, text, &scope, arena);
    mcp_arena_free(arena);
    return 0;
}
