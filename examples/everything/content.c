/*
 * content.c - tools that answer at once: each kind of content, an error for the model, arguments.
 */
#include <inttypes.h>

#include "everything.h"

const mcp_file *everything_image(void)
{
    return mcp_files_find(everything_files, "media/dot.png");
}

static mcp_status add_image(mcp_call *call)
{
    const mcp_file *image = everything_image();

    return mcp_call_image(call, image->bytes, image->length, "image/png");
}

mcp_status test_simple_text(mcp_call *call, void *data)
{
    (void)data;
    return mcp_call_text(call, "This is a simple text response for testing.");
}

mcp_status test_image_content(mcp_call *call, void *data)
{
    (void)data;
    return add_image(call);
}

mcp_status test_audio_content(mcp_call *call, void *data)
{
    const mcp_file *sound = mcp_files_find(everything_files, "media/silence.wav");

    (void)data;
    return mcp_call_audio(call, sound->bytes, sound->length, "audio/wav");
}

mcp_status test_embedded_resource(mcp_call *call, void *data)
{
    (void)data;
    return mcp_call_embed(call, "test://embedded-resource", "text/plain",
                          "This is an embedded resource content.");
}

mcp_status test_multiple_content_types(mcp_call *call, void *data)
{
    mcp_status st = mcp_call_text(call, "Multiple content types test:");

    (void)data;
    if (st == MCP_OK)
        st = add_image(call);
    if (st == MCP_OK)
        st = mcp_call_embed(call, "test://mixed-content-resource", "application/json",
                            "{\"test\":\"data\",\"value\":123}");
    return st;
}

mcp_status test_error_handling(mcp_call *call, void *data)
{
    (void)data;
    return mcp_call_tool_error(call, "This tool intentionally returns an error for testing");
}

/* The schema has done the work: what arrives here fits it. */
mcp_status json_schema_2020_12_tool(mcp_call *call, void *data)
{
    const char *name = mcp_arg_string(call, "name");

    (void)data;
    return mcp_call_text(call, mcp_arena_printf(mcp_call_arena(call), "The arguments of %s fit.",
                                                name ? name : "nobody"));
}

mcp_status test_header_argument(mcp_call *call, void *data)
{
    const char *region = mcp_arg_string(call, "region");

    (void)data;
    if (!region)
        return mcp_call_tool_error(call, "A region holds no NUL byte.");
    return mcp_call_text(call, mcp_arena_printf(mcp_call_arena(call), "%s, %" PRId64 " times",
                                                region, mcp_arg_int(call, "count", 1)));
}

mcp_status greet(mcp_call *call, void *data)
{
    const char *name = mcp_arg_string(call, "name");

    (void)data;
    if (!name)
        return mcp_call_tool_error(call, "A name holds no NUL byte.");
    return mcp_call_text(call, mcp_arena_printf(mcp_call_arena(call), "Hello, %s!", name));
}

mcp_status echo(mcp_call *call, void *data)
{
    const char *message = mcp_arg_string(call, "message");

    (void)data;
    return message ? mcp_call_text(call, message)
                   : mcp_call_tool_error(call, "A message holds no NUL byte.");
}
