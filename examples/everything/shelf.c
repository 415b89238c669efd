/*
 * shelf.c - resources, prompts, and what completes their arguments.
 */
#include <stdio.h>
#include <string.h>

#include "everything.h"

/* ---- resources ------------------------------------------------------------------------------- */

static mcp_status read_text(mcp_call *call, void *data)
{
    static const char text[] = "This is the content of the static text resource.";

    (void)data;
    mcp_call_cache(call, 60000, true);
    return mcp_call_contents_text(call, NULL, NULL, text, sizeof text - 1);
}

static mcp_status read_binary(mcp_call *call, void *data)
{
    const mcp_file *image = everything_image();

    (void)data;
    mcp_call_cache(call, 60000, true);
    return mcp_call_contents_blob(call, NULL, NULL, image->bytes, image->length);
}

static mcp_status read_watched(mcp_call *call, void *data)
{
    static const char text[] = "This resource can be watched.";

    (void)data;
    return mcp_call_contents_text(call, NULL, NULL, text, sizeof text - 1);
}

static mcp_status read_template(mcp_call *call, void *data)
{
    const char *id = mcp_arg_string(call, "id");
    mcp_json_writer writer;
    mcp_buf text;
    mcp_status st;

    (void)data;
    if (!id)
        return mcp_error_set(mcp_call_error(call), MCP_E_PARAMS, "an id holds no NUL byte");
    mcp_buf_init(&text, 64 * 1024);
    mcp_json_writer_init(&writer, &text);
    mcp_write_object(&writer);
    mcp_write_member_string(&writer, "id", id);
    mcp_write_member_bool(&writer, "templateTest", true);
    mcp_write_member_string(&writer, "data",
                            mcp_arena_printf(mcp_call_arena(call), "Data for ID: %s", id));
    mcp_write_end(&writer);
    st = mcp_json_writer_status(&writer);
    if (st == MCP_OK)
        st = mcp_call_contents_text(call, NULL, NULL, text.data, text.length);
    mcp_buf_clear(&text);
    return st;
}

/* ---- prompts --------------------------------------------------------------------------------- */

static mcp_status show_resource(mcp_call *call, void *data)
{
    const char *uri = mcp_arg_string(call, "resourceUri");

    (void)data;
    if (!uri)
        return mcp_error_set(mcp_call_error(call), MCP_E_PARAMS, "a URI holds no NUL byte");
    return mcp_call_embed(call, uri, "text/plain", "Embedded resource content for testing.");
}

static mcp_status show_image(mcp_call *call, void *data)
{
    const mcp_file *image = everything_image();

    (void)data;
    return mcp_call_image(call, image->bytes, image->length, "image/png");
}

/* ---- completions ----------------------------------------------------------------------------- */

static mcp_status suggest(mcp_call *call, const char *const *words)
{
    const char *typed = mcp_call_completion_value(call);
    mcp_status st = MCP_OK;

    for (; *words && st == MCP_OK; words++) {
        if (strncmp(*words, typed, strlen(typed)) == 0)
            st = mcp_call_add_completion(call, *words);
    }
    return st;
}

static mcp_status complete_argument(mcp_call *call, void *data)
{
    static const char *const words[] = { "paragraph", "paris", "party", "testValue1", NULL };

    (void)data;
    return suggest(call, words);
}

static mcp_status complete_id(mcp_call *call, void *data)
{
    static const char *const ids[] = { "1", "12", "123", NULL };

    (void)data;
    return suggest(call, ids);
}

/* clang-format off */
const mcp_resource everything_resources[] = {
    /* uri                         read           flags      timeout_ms */
    { "test://static-text",        read_text,     MCP_READS, 0 },
    { "test://static-binary",      read_binary,   MCP_READS, 0 },
    { "test://watched-resource",   read_watched,  MCP_READS, 0 },
    { "test://template/{id}/data", read_template, MCP_READS, 0 },
    { 0 }
};

const mcp_prompt everything_prompts[] = {
    /* name                                 fill               flags      timeout_ms */
    { "test_simple_prompt",                 NULL,              MCP_READS, 0 },
    { "test_prompt_with_arguments",         NULL,              MCP_READS, 0 },
    { "test_prompt_with_embedded_resource", show_resource,     MCP_READS, 0 },
    { "test_prompt_with_image",             show_image,        MCP_READS, 0 },
    { "test_input_required_result_prompt",  fill_with_context, MCP_READS, 0 },
    { 0 }
};

const mcp_completion everything_completions[] = {
    /* of                           argument  complete */
    { "test_prompt_with_arguments", "arg1",   complete_argument },
    { "test_prompt_with_arguments", "arg2",   complete_argument },
    { "test://template/{id}/data",  "id",     complete_id },
    { 0 }
};
/* clang-format on */
