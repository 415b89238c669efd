/*
 * task.c - tools that clients need not wait for: where a client knows tasks it is given one and
 * comes back.
 *
 * The handlers are like any others. The difference is in their rows (everything.c); only
 * test_tool_with_task says itself when it becomes a task: after its question is answered.
 */
#include <string.h>
#include <time.h>

#include "everything.h"

#define STEP_MS 20

/* Sleep, unless nobody wants the answer any more. */
static mcp_status sleep_ms(mcp_call *call, int64_t ms)
{
    struct timespec step = { 0, STEP_MS * 1000000L };

    for (int64_t slept = 0; slept < ms; slept += STEP_MS) {
        mcp_stop stop = mcp_call_stop(call);
        if (stop == MCP_STOP_CANCELLED || stop == MCP_STOP_SHUTDOWN)
            return mcp_error_set(mcp_call_error(call), MCP_E_STOPPED, "stopped while it slept");
        nanosleep(&step, NULL);
    }
    return MCP_OK;
}

static const mcp_json *ask(mcp_call *call, const char *key, const char *message, const char *form)
{
    const mcp_file *file = mcp_files_find(everything_files, form);
    char *schema = mcp_arena_strndup(mcp_call_arena(call), file->bytes, file->length);

    return schema ? mcp_call_elicit_form(call, key, message, schema) : NULL;
}

static mcp_status tell(mcp_call *call, const char *before, const char *what, const char *after)
{
    char *text = mcp_arena_printf(mcp_call_arena(call), "%s%s%s", before, what, after);

    return text ? mcp_call_text(call, text) : MCP_E_NOMEM;
}

mcp_status slow_compute(mcp_call *call, void *data)
{
    const char *label = mcp_arg_string(call, "label");
    int64_t seconds = mcp_arg_int(call, "seconds", 0);

    (void)data;
    for (int64_t done = 0; done < seconds; done++) {
        mcp_progress progress = { .progress = (double)done,
                                  .total = (double)seconds,
                                  .message = "computing" };
        mcp_call_progress(call, &progress);
        mcp_status st = sleep_ms(call, 1000);
        if (st != MCP_OK)
            return st;
    }
    return tell(call, "Computed ", label ? label : "nothing", ".");
}

mcp_status failing_job(mcp_call *call, void *data)
{
    mcp_status st = sleep_ms(call, 1000);

    (void)data;
    return st == MCP_OK ? mcp_call_tool_error(call, "This job always fails.") : st;
}

mcp_status protocol_error_job(mcp_call *call, void *data)
{
    (void)data;
    return mcp_error_set(mcp_call_error(call), MCP_E_UNSUPPORTED,
                         "this job ends with an error of the protocol");
}

mcp_status confirm_delete(mcp_call *call, void *data)
{
    const mcp_json *answer = ask(call, "confirm", "Delete the file?", "forms/confirm.json");
    const char *name = mcp_arg_string(call, "filename");
    bool is_sure = false;

    (void)data;
    if (!answer)
        return mcp_call_input_required(call);
    (void)mcp_json_bool(mcp_json_get(mcp_json_get(answer, "content"), "confirm"), &is_sure);
    return tell(call, is_sure ? "Would delete " : "Would keep ", name ? name : "nothing", ".");
}

mcp_status multi_input(mcp_call *call, void *data)
{
    const mcp_json *first = ask(call, "first", "What is the first name?", "forms/name.json");
    const mcp_json *second = ask(call, "second", "What is the second name?", "forms/name.json");

    (void)data;
    if (!first || !second)
        return mcp_call_input_required(call);
    const char *one = mcp_json_get_string(mcp_json_get(first, "content"), "name");
    const char *other = mcp_json_get_string(mcp_json_get(second, "content"), "name");
    return tell(call, one ? one : "nobody", " and ", other ? other : "nobody");
}

mcp_status test_tool_with_task(mcp_call *call, void *data)
{
    const mcp_json *answer = ask(call, "user_name", "What is your name?", "forms/name.json");

    (void)data;
    if (!answer)
        return mcp_call_input_required(call);
    mcp_status st = mcp_call_become_task(call);
    if (st == MCP_OK)
        st = sleep_ms(call, 200);
    if (st != MCP_OK)
        return st;
    const char *name = mcp_json_get_string(mcp_json_get(answer, "content"), "name");
    return tell(call, "The task was for ", name ? name : "nobody", ".");
}
