/*
 * answers.c - the forms that arguments, answers and messages may have beyond an object of members.
 *
 *     mean       numbers as arguments; a result that is not an object
 *     describe   the request itself: arguments, _meta, revision; a link to a resource; a log message
 *     answers://version   contents with a _meta
 *
 * Log lines of the library go to standard error by a sink of the program's own. Arguments are made
 * to fit before they are checked: numbers that came as text become numbers.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mcp/mcp.h"

static const char mean_json[] =
    "{\"name\":\"mean\",\"description\":\"The weighted mean of two numbers\",\"inputSchema\":{"
    "\"type\":\"object\",\"required\":[\"a\",\"b\"],\"properties\":{\"a\":{\"type\":\"number\"},"
    "\"b\":{\"type\":\"number\"},\"weight\":{\"type\":\"number\",\"minimum\":0,\"maximum\":1,"
    "\"default\":0.5}}},\"outputSchema\":{\"type\":\"number\"}}";
static const char describe_json[] =
    "{\"name\":\"describe\",\"description\":\"Tells what the server got\",\"inputSchema\":{"
    "\"type\":\"object\",\"properties\":{\"level\":{\"type\":\"string\",\"default\":\"info\"}}}}";
static const char resources_json[] =
    "{\"resources\":[{\"uri\":\"answers://version\",\"name\":\"version\","
    "\"mimeType\":\"text/plain\"}]}";

static const mcp_file files[] = { { "tools/mean.json", mean_json, sizeof mean_json - 1 },
                                  { "tools/describe.json", describe_json,
                                    sizeof describe_json - 1 },
                                  { "resources.json", resources_json, sizeof resources_json - 1 },
                                  { 0 } };

static mcp_status mean(mcp_call *call, void *data)
{
    double weight = mcp_arg_double(call, "weight", 0);

    (void)data;
    mcp_write_double(mcp_call_value(call), mcp_arg_double(call, "a", 0) * weight +
                                               mcp_arg_double(call, "b", 0) * (1 - weight));
    return MCP_OK;
}

static mcp_status describe(mcp_call *call, void *data)
{
    mcp_level level = mcp_level_find(mcp_arg_string(call, "level"));
    mcp_json_writer *result = mcp_call_result(call);

    (void)data;
    if (level == MCP_LEVEL_NONE)
        return mcp_call_tool_error(call, "There is no such level.");
    mcp_write_member_value(result, "arguments", mcp_call_arguments(call));
    mcp_write_member_value(result, "meta", mcp_call_meta(call));
    mcp_write_member_string(result, "revision", mcp_revision_name(mcp_call_revision(call)));
    mcp_write_member_string(result, "level", mcp_level_name(level));
    mcp_write_name(result, "largest");
    mcp_write_uint(result, UINT64_MAX);
    mcp_status st = mcp_call_log_json(call, level, "describe", "{\"described\":true}");
    return st == MCP_OK ? mcp_call_link(call, "answers://version", "version", "text/plain") : st;
}

static mcp_status read_version(mcp_call *call, void *data)
{
    mcp_status st = mcp_call_contents_meta(call, "{\"library\":\"libmcp\"}");

    (void)data;
    return st == MCP_OK
               ? mcp_call_contents_text(call, NULL, NULL, mcp_version(), strlen(mcp_version()))
               : st;
}

static const mcp_tool tools[] = { { "mean", mean, MCP_READS, 0, 0 },
                                  { "describe", describe, MCP_READS, 0, 0 },
                                  { 0 } };
static const mcp_resource resources[] = { { "answers://version", read_version, MCP_READS, 0 },
                                          { 0 } };

/* An mcp_argument_normalizer: members of `mean` that are text become the numbers they spell. */
static mcp_status read_numbers(mcp_call *call, const char *tool, const mcp_json **arguments,
                               void *data)
{
    mcp_json_writer writer;
    mcp_buf text;

    (void)data;
    if (strcmp(tool, "mean") != 0)
        return MCP_OK;
    mcp_buf_init(&text, 4096);
    mcp_json_writer_init(&writer, &text);
    mcp_write_object(&writer);
    for (size_t i = 0; i < mcp_json_count(*arguments); i++) {
        const mcp_json *value = mcp_json_item(*arguments, i);
        const char *spelled = mcp_json_string(value, NULL);
        mcp_write_name(&writer, mcp_json_name(*arguments, i, NULL));
        if (spelled)
            mcp_write_double_or_null(&writer, strtod(spelled, NULL));
        else
            mcp_write_value(&writer, value);
    }
    mcp_write_end(&writer);
    mcp_status st = mcp_json_writer_status(&writer);
    if (st == MCP_OK)
        st = mcp_json_read(arguments, mcp_call_arena(call), text.data, text.length,
                           mcp_call_error(call));
    mcp_buf_clear(&text);
    return st;
}

/* An mcp_log_sink. Several threads may call it at once. */
static void log_line(mcp_log_level level, const char *message, void *data)
{
    fprintf(data, "answers [%s] %s\n", mcp_log_level_name(level), message);
}

int main(void)
{
    mcp_server_options options = MCP_SERVER_OPTIONS_INIT;
    mcp_features features = { .files = files, .tools = tools, .resources = resources };
    mcp_server *server = NULL;
    mcp_error err = MCP_ERROR_INIT;

    options.name = "answers";
    options.version = "1.0.0";
    options.logging = true;
    options.normalize_arguments = read_numbers;
    options.log = (mcp_log){ .level = MCP_LOG_INFO, .sink = log_line, .data = stderr };
    mcp_status st = mcp_server_new(&server, &options, &err);
    if (st == MCP_OK)
        st = mcp_server_add(server, &features, &err);
    if (st == MCP_OK)
        st = mcp_server_stdio(server, &err);
    if (st != MCP_OK)
        mcp_log_write(&options.log, MCP_LOG_ERROR, "%s", err.message);
    mcp_server_free(server);
    return st == MCP_OK ? 0 : 1;
}
