/*
 * fixture.c - handlers that do in a line what real ones take a while for.
 */
#include "fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "mcp/buf.h"

/* clang-format off */
#define FILE_OF(path, text) { path, text, sizeof text - 1 }
/* clang-format on */

/* ---- tools ----------------------------------------------------------------------------------- */

static const char echo_json[] =
    "{\"name\":\"fix/echo\",\"title\":\"Echo\",\"description\":\"Gives back its text\","
    "\"inputSchema\":{\"type\":\"object\",\"required\":[\"text\"],\"additionalProperties\":false,"
    "\"properties\":{\"text\":{\"type\":\"string\",\"maxLength\":20},"
    "\"times\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":3,\"default\":1}}},"
    "\"outputSchema\":{\"type\":\"object\",\"required\":[\"echo\"],"
    "\"properties\":{\"echo\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}}}},"
    "\"annotations\":{\"readOnlyHint\":true,\"openWorldHint\":false}}";

static const char save_json[] = "{\"name\":\"fix/save\",\"description\":\"Saves.\","
                                "\"inputSchema\":{\"type\":\"object\"}}";

static const char blocks_json[] = "{\"name\":\"fix/blocks\",\"description\":\"One of each\","
                                  "\"inputSchema\":{\"type\":\"object\"}}";

static const char refuse_json[] = "{\"name\":\"fix/refuse\",\"description\":\"Refuses\","
                                  "\"inputSchema\":{\"type\":\"object\"}}";

static const char fail_json[] =
    "{\"name\":\"fix/fail\",\"description\":\"Fails\",\"inputSchema\":{\"type\":\"object\","
    "\"required\":[\"status\"],\"properties\":{\"status\":{\"type\":\"string\"}}}}";

static const char count_json[] =
    "{\"name\":\"fix/count\",\"description\":\"Counts\",\"inputSchema\":{\"type\":\"object\","
    "\"required\":[\"to\"],\"properties\":{\"to\":{\"type\":\"integer\"}}}}";

static mcp_status echo(mcp_call *call, void *data)
{
    mcp_json_writer *result = mcp_call_result(call);

    (void)data;
    mcp_write_member_array(result, "echo");
    for (int64_t i = 0; i < mcp_arg_int(call, "times", 0); i++)
        mcp_write_string(result, mcp_arg_string(call, "text"));
    mcp_write_end(result);
    return MCP_OK;
}

static mcp_status save(mcp_call *call, void *data)
{
    (void)data;
    mcp_write_member_bool(mcp_call_result(call), "saved", true);
    return MCP_OK;
}

static mcp_status blocks(mcp_call *call, void *data)
{
    (void)data;
    mcp_call_text(call, "words");
    mcp_call_image(call, "\x00\xff", 2, "image/png");
    mcp_call_audio(call, "RIFF", 4, "audio/wav");
    mcp_call_link(call, "fix://text", "text", "text/plain");
    return mcp_call_embed(call, "fix://text", "text/plain", "inside");
}

static mcp_status refuse(mcp_call *call, void *data)
{
    (void)data;
    mcp_call_text(call, "never sent");
    return mcp_call_tool_error(call, "not %s", "today");
}

static mcp_status fail_as_told(mcp_call *call, void *data)
{
    static const mcp_status all[] = {
#define X(name, code, words) MCP_##name,
        MCP_STATUS_MAP(X) MCP_PENDING_MAP(X)
#undef X
    };
    const char *wanted = mcp_arg_string(call, "status");

    (void)data;
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        if (strcmp(mcp_status_name(all[i]), wanted) == 0)
            return mcp_error_set(mcp_call_error(call), all[i], "the disk under /secret failed");
    }
    return mcp_call_tool_error(call, "no such status");
}

static mcp_status count_up(mcp_call *call, void *data)
{
    int64_t to = mcp_arg_int(call, "to", 0);

    (void)data;
    for (int64_t i = 1; i <= to; i++) {
        mcp_progress progress = { .progress = (double)i, .message = "counting", .every = true };
        if (mcp_call_stop(call) != MCP_STOP_NONE)
            return mcp_error_set(mcp_call_error(call), MCP_E_STOPPED, "stopped");
        progress.total = i > 1 ? (double)to : 0;
        mcp_call_progress(call, &progress);
    }
    mcp_write_member_int(mcp_call_result(call), "counted", to);
    return MCP_OK;
}

/* clang-format off */
static const mcp_tool tools[] = {
    /* name         run           flags                                      timeout_ms  running */
    { "fix/echo",   echo,         MCP_READS,                                          0, 0 },
    { "fix/save",   save,         MCP_WRITES,                                         0, 0 },
    { "fix/blocks", blocks,       MCP_READS,                                          0, 0 },
    { "fix/refuse", refuse,       MCP_READS,                                          0, 0 },
    { "fix/fail",   fail_as_told, MCP_READS,                                          0, 0 },
    { "fix/count",  count_up,     MCP_READS | MCP_LONG | MCP_STOP_ON_HANGUP,          0, 0 },
    { 0 }
};
/* clang-format on */

/* ---- resources ------------------------------------------------------------------------------- */

static const char resources_json[] =
    "{\"resources\":["
    "{\"uri\":\"fix://text\",\"name\":\"text\",\"title\":\"Text\",\"mimeType\":\"text/plain\"},"
    "{\"uri\":\"fix://bytes\",\"name\":\"bytes\",\"mimeType\":\"application/octet-stream\"},"
    "{\"uri\":\"fix://folder\",\"name\":\"folder\",\"mimeType\":\"inode/directory\"}],"
    "\"resourceTemplates\":["
    "{\"uriTemplate\":\"fix://case/{case_dir}/config\",\"name\":\"config\",\"title\":\"Config\","
    "\"mimeType\":\"application/json\"},"
    "{\"uriTemplate\":\"fix://find{?q,limit}\",\"name\":\"find\"}]}";

static mcp_status read_text(mcp_call *call, void *data)
{
    (void)data;
    return mcp_call_contents_text(call, NULL, NULL, "hello", 5);
}

static mcp_status read_bytes(mcp_call *call, void *data)
{
    (void)data;
    return mcp_call_contents_blob(call, NULL, NULL, "\x00\x01\x02\xff", 4);
}

static mcp_status read_folder(mcp_call *call, void *data)
{
    (void)data;
    mcp_call_contents_text(call, "fix://folder/a", "text/plain", "A", 1);
    return mcp_call_contents_text(call, "fix://folder/b", "text/plain", "B", 1);
}

static mcp_status read_config(mcp_call *call, void *data)
{
    const char *dir = mcp_arg_string(call, "case_dir");

    (void)data;
    if (!dir || strcmp(dir, "/missing") == 0)
        return MCP_E_RESOURCE;
    return mcp_call_contents_text(call, NULL, NULL, dir, strlen(dir));
}

static mcp_status read_find(mcp_call *call, void *data)
{
    const char *text = mcp_arena_printf(mcp_call_arena(call), "q=%s limit=%s",
                                        mcp_arg_string(call, "q") ? mcp_arg_string(call, "q") : "-",
                                        mcp_arg_string(call, "limit") ? "given" : "-");

    (void)data;
    if (!text)
        return MCP_E_NOMEM;
    return mcp_call_contents_text(call, NULL, "text/plain", text, strlen(text));
}

static const mcp_resource resources[] = { { "fix://text", read_text, MCP_READS, 0 },
                                          { "fix://bytes", read_bytes, MCP_READS, 0 },
                                          { "fix://folder", read_folder, MCP_READS, 0 },
                                          { "fix://case/{case_dir}/config", read_config, MCP_READS,
                                            0 },
                                          { "fix://find{?q,limit}", read_find, MCP_READS, 0 },
                                          { 0 } };

/* ---- prompts --------------------------------------------------------------------------------- */

static const char greet_md[] = "---\n"
                               "name: fix/greet\n"
                               "title: Greet\n"
                               "description: Says hello\n"
                               "argument: who, required, Whom to greet\n"
                               "argument: tone, optional, How\n"
                               "---\n"
                               "Greet {{who}}. Tone: {{tone}}\n"
                               "--- assistant\n"
                               "Hello\n";

static const char review_md[] = "---\n"
                                "name: fix/review\n"
                                "argument: what, required, What to look at\n"
                                "---\n"
                                "{{length}} bytes: {{what}}\n";

static mcp_status fill_review(mcp_call *call, void *data)
{
    const char *what = mcp_arg_string(call, "what");

    (void)data;
    if (!what || what[0] == '\0')
        return mcp_error_set(mcp_call_error(call), MCP_E_PARAMS, "'what' must not be empty");
    return mcp_call_set_placeholder(call, "length",
                                    mcp_arena_printf(mcp_call_arena(call), "%zu", strlen(what)));
}

static const mcp_prompt prompts[] = { { "fix/greet", NULL, MCP_READS, 0 },
                                      { "fix/review", fill_review, MCP_READS, 0 },
                                      { 0 } };

/* ---- all of it ------------------------------------------------------------------------------- */

/* clang-format off */
static const mcp_file files[] = {
    FILE_OF("tools/echo.json", echo_json),       FILE_OF("tools/save.json", save_json),
    FILE_OF("tools/blocks.json", blocks_json),   FILE_OF("tools/refuse.json", refuse_json),
    FILE_OF("tools/fail.json", fail_json),       FILE_OF("tools/count.json", count_json),
    FILE_OF("resources.json", resources_json),   FILE_OF("prompts/greet.md", greet_md),
    FILE_OF("prompts/review.md", review_md),     { 0 }
};
/* clang-format on */

const mcp_features fixture_features = {
    .files = files, .tools = tools, .resources = resources, .prompts = prompts
};

static const char *many_json(mcp_arena *arena, int count, size_t *length)
{
    const char *text;
    mcp_buf buf;

    mcp_buf_init(&buf, 1 << 20);
    mcp_buf_puts(&buf, "{\"resources\":[");
    for (int i = 0; i < count; i++)
        mcp_buf_printf(&buf, "%s{\"uri\":\"many://%d\",\"name\":\"%d\"}", i ? "," : "", i, i);
    assert_int_equal(mcp_buf_puts(&buf, "]}"), MCP_OK);
    text = mcp_arena_strndup(arena, buf.data, buf.length);
    *length = buf.length;
    mcp_buf_clear(&buf);
    return text;
}

mcp_features fixture_many(mcp_arena *arena, int count)
{
    mcp_file *file = mcp_arena_array(arena, 2, sizeof *file);
    mcp_resource *rows = mcp_arena_array(arena, (size_t)count + 1, sizeof *rows);

    assert_true(file && rows);
    file->path = "resources.json";
    file->bytes = many_json(arena, count, &file->length);
    for (int i = 0; i < count; i++) {
        rows[i].uri = mcp_arena_printf(arena, "many://%d", i);
        rows[i].read = read_text;
        rows[i].flags = MCP_READS;
        assert_non_null(rows[i].uri);
    }
    return (mcp_features){ .files = file, .resources = rows };
}
