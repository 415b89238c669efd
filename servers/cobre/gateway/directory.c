/*
 * directory.c - opens the directories that clients name.
 */
#include "gateway/directory.h"

#include <string.h>

#include "gateway/errors.h"

static const cobre_record *nul_record(mcp_arena *arena, const char *argument)
{
    return cobre_record_new(arena, "SchemaViolation", "Give the path without NUL bytes.",
                            COBRE_MEMBERS(COBRE_TEXT("field", argument),
                                          COBRE_TEXT("expected", "a path without NUL bytes"),
                                          COBRE_TEXT("actual", "a path with a NUL byte")),
                            "%s holds a NUL byte", argument);
}

/* The message is the same for every path outside, whether it exists or not. */
static const cobre_record *outside_record(mcp_arena *arena, const char *path)
{
    return cobre_record_new(arena, "MissingFile",
                            "Provide a path within the server's configured allowed directories.",
                            COBRE_MEMBERS(COBRE_TEXT("path", path)),
                            "Path '%s' is not within the allowed directories", path);
}

static const cobre_record *absent_record(mcp_arena *arena, const cobre_place *place,
                                         const mcp_error *cause)
{
    if (!place->expected)
        return cobre_record_new(arena, "MissingFile", "Check the path and that it is a directory.",
                                COBRE_MEMBERS(COBRE_TEXT("file", place->path)), "%s",
                                cause->message);
    return cobre_record_new(arena, "OutputNotFound", "Check the path and that it is a directory.",
                            COBRE_MEMBERS(COBRE_TEXT("path", place->path),
                                          COBRE_TEXT("expected_content", place->expected)),
                            "%s", cause->message);
}

static mcp_status refused(const cobre_record **refusal, const cobre_record *record, mcp_status st,
                          mcp_error *err)
{
    *refusal = record;
    return record ? mcp_error_set(err, st, "%s", record->message)
                  : mcp_error_set(err, MCP_E_NOMEM, "no memory for the error record");
}

mcp_status cobre_place_open(int *fd, const char **canonical, const cobre_record **refusal,
                            const cobre_app *app, const cobre_place *place, mcp_arena *arena,
                            mcp_error *err)
{
    mcp_error cause = MCP_ERROR_INIT;

    *refusal = NULL;
    if (!place->path)
        return refused(refusal, nul_record(arena, place->argument), MCP_E_PARAMS, err);
    mcp_status st = guard_open_dir(fd, canonical, app->guard, place->path, arena, &cause);
    if (st == MCP_OK)
        return MCP_OK;
    if (st == MCP_E_NOMEM)
        return mcp_error_set(err, st, "%s", cause.message);
    if (st == MCP_E_DENIED)
        return refused(refusal, outside_record(arena, place->path), st, err);
    return refused(refusal, absent_record(arena, place, &cause), MCP_E_NOT_FOUND, err);
}

/* Results that a run in progress may still write. */
static const cobre_record *awaited_record(mcp_arena *arena, const char *path, const char *file)
{
    bool is_history = file && strcmp(file, "training/convergence.parquet") == 0;

    return cobre_record_new(
        arena, "OutputNotFound",
        is_history ? "Ask again when the first iteration is complete."
                   : "Ask again when the run has come to them.",
        COBRE_MEMBERS(COBRE_TEXT("path", path),
                      COBRE_TEXT("expected_content", file ? file : "an output directory")),
        is_history ? "'%s' has no %s yet: a run is in progress and has completed no iteration"
                   : "'%s' has no %s yet: a run is in progress",
        path, file ? file : "such results");
}

/* The server's own run makes its output directory when the case is loaded. */
static bool is_output_of_run(cobre_app *app, const char *path)
{
    pthread_mutex_lock(&app->run_lock);
    size_t length = app->is_running ? strlen(app->running_case) : 0;
    bool is_below = app->is_running && strncmp(path, app->running_case, length) == 0;
    pthread_mutex_unlock(&app->run_lock);
    return is_below &&
           (strcmp(path + length, "/output") == 0 || strcmp(path + length, "/output/") == 0);
}

bool cobre_open_dir(mcp_call *call, cobre_app *app, const char *argument, int *fd,
                    const char **canonical, mcp_status *answer)
{
    const cobre_place place = {
        .argument = argument,
        .path = mcp_arg_string(call, argument),
        .expected = strcmp(argument, "case_dir") == 0 ? NULL : "an output directory",
    };
    const cobre_record *refusal = NULL;
    mcp_status st = cobre_place_open(fd, canonical, &refusal, app, &place, mcp_call_arena(call),
                                     mcp_call_error(call));
    if (st == MCP_OK)
        return true;
    if (st == MCP_E_NOT_FOUND && place.expected && is_output_of_run(app, place.path))
        refusal = awaited_record(mcp_call_arena(call), place.path, NULL);
    *answer = refusal ? cobre_refuse_record(call, refusal) : st;
    return false;
}

/* The words of a cause, without the name of the file before them. */
static const char *without_file(const char *message, const char *file)
{
    size_t length = file ? strlen(file) : 0;

    if (length > 0 && strncmp(message, file, length) == 0 &&
        strncmp(message + length, ": ", 2) == 0)
        return message + length + 2;
    return message;
}

const cobre_record *cobre_output_record(mcp_arena *arena, mcp_status st, const char *path,
                                        bool is_running, const char *file, const mcp_error *cause)
{
    if (st == MCP_E_NOT_FOUND && is_running)
        return awaited_record(arena, path, file);
    if (st == MCP_E_NOT_FOUND)
        return cobre_record_new(
            arena, "OutputNotFound", "Run the case first, or check the path.",
            COBRE_MEMBERS(COBRE_TEXT("path", path), COBRE_TEXT("expected_content", file)),
            "'%s' has no %s", path, file ? file : "such results");
    if (st == MCP_E_PARSE || st == MCP_E_DENIED || st == MCP_E_LIMIT || st == MCP_E_IO)
        return cobre_record_new(
            arena, "OutputCorrupted", "Run the case again.",
            COBRE_MEMBERS(COBRE_TEXT("file", file), COBRE_TEXT("detail", cause->message)),
            "%s cannot be read: %s", file ? file : "A file", without_file(cause->message, file));
    return NULL;
}
