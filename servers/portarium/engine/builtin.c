/*
 * builtin.c - the operations of the engine itself.
 */
#include "engine/builtin.h"

#include <string.h>

#include "engine/work.h"
#include "model/identity.h"

typedef mcp_status builtin_run(portarium_builtin_result *out, portarium_run *run,
                               portarium_run_action *action, portarium_tx *tx,
                               const mcp_json *input, mcp_error *err);

static mcp_status succeed(portarium_builtin_result *out, portarium_run *run,
                          portarium_run_action *action, portarium_tx *tx, const mcp_json *input,
                          mcp_error *err)
{
    (void)run, (void)action, (void)tx, (void)err;
    *out = (portarium_builtin_result){ .state = PORTARIUM_ACTION_SUCCEEDED, .output = input };
    return MCP_OK;
}

static void fail(portarium_builtin_result *out, portarium_error_class class, const char *message)
{
    *out = (portarium_builtin_result){ .state = PORTARIUM_ACTION_FAILED,
                                       .error_class = class,
                                       .message = message };
}

static mcp_status wait(portarium_builtin_result *out, portarium_run *run,
                       portarium_run_action *action, portarium_tx *tx, const mcp_json *input,
                       mcp_error *err)
{
    int64_t until = 0, duration = 0;
    const mcp_json *begun = mcp_json_get(action->record.hidden, "wakeAtMs");
    const char *text = mcp_json_get_string(input, "untilIso");
    (void)run, (void)err;
    *out = (portarium_builtin_result){ .state = PORTARIUM_ACTION_WAITING };
    if (mcp_json_int(begun, &until))
        out->wake_at_ms = until;
    else if (text && portarium_time_read(&until, text))
        out->wake_at_ms = until;
    else if (mcp_json_int(mcp_json_get(input, "durationMs"), &duration) && duration >= 0)
        out->wake_at_ms = tx->now_ms + duration;
    else
        fail(out, PORTARIUM_CLASS_VALIDATION, "control:wait needs durationMs or untilIso");
    if (out->state == PORTARIUM_ACTION_WAITING && out->wake_at_ms <= tx->now_ms)
        out->state = PORTARIUM_ACTION_SUCCEEDED;
    return MCP_OK;
}

static mcp_status fail_on_purpose(portarium_builtin_result *out, portarium_run *run,
                                  portarium_run_action *action, portarium_tx *tx,
                                  const mcp_json *input, mcp_error *err)
{
    portarium_error_class class = PORTARIUM_CLASS_VALIDATION;
    const char *name = mcp_json_get_string(input, "class");
    const char *message = mcp_json_get_string(input, "message");
    (void)run, (void)action, (void)tx, (void)err;
    if (name)
        portarium_error_class_read(&class, name);
    fail(out, class, message ? message : "control:fail");
    return MCP_OK;
}

static mcp_status create_work_item(portarium_builtin_result *out, portarium_run *run,
                                   portarium_run_action *action, portarium_tx *tx,
                                   const mcp_json *input, mcp_error *err)
{
    const portarium_work_links links = { .run = run->record.id, .workflow = run->workflow->id };
    const char *title = mcp_json_get_string(input, "title"), *id = NULL;
    (void)action;
    if (!title || !*title) {
        fail(out, PORTARIUM_CLASS_VALIDATION, "workitem:create needs a title");
        return MCP_OK;
    }
    mcp_status st = portarium_work_item_create(
        &id, tx, title, mcp_json_get_string(input, "ownerUserId"), &links, err);
    *out = (portarium_builtin_result){ .state = PORTARIUM_ACTION_SUCCEEDED };
    return st == MCP_OK ? portarium_object(tx, &out->output, err, "workItemId", id, NULL) : st;
}

static mcp_status emit(portarium_builtin_result *out, portarium_run *run,
                       portarium_run_action *action, portarium_tx *tx, const mcp_json *input,
                       mcp_error *err)
{
    *out = (portarium_builtin_result){ .state = PORTARIUM_ACTION_SUCCEEDED };
    return portarium_run_event(run, tx, "ActionEvent", action, input, err);
}

static const struct {
    const char *operation;
    builtin_run *run;
} builtins[] = {
    { "control:noop", succeed },
    { "control:wait", wait },
    { "control:approve", succeed },
    { "control:fail", fail_on_purpose },
    { "workitem:create", create_work_item },
    { "event:emit", emit },
};

static builtin_run *find(const char *operation)
{
    for (size_t i = 0; i < sizeof builtins / sizeof builtins[0]; i++) {
        if (strcmp(builtins[i].operation, operation) == 0)
            return builtins[i].run;
    }
    return NULL;
}

bool portarium_is_builtin(const char *operation)
{
    return find(operation) != NULL;
}

bool portarium_is_always_gated(const char *operation)
{
    return strcmp(operation, "control:approve") == 0;
}

mcp_status portarium_builtin_run(portarium_builtin_result *out, portarium_run *run,
                                 portarium_run_action *action, portarium_tx *tx,
                                 const mcp_json *input, mcp_error *err)
{
    builtin_run *perform = find(action->definition->operation);
    return perform(out, run, action, tx, input, err);
}
