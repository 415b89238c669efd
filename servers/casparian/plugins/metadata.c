/*
 * metadata.c - the declarations of Python modules.
 *
 * The helper script is given by `-c`; the module comes on its standard input, so nothing of its
 * folder is on the search path. It has no network and no other processes where the system allows.
 */
#include "plugins/metadata.h"

#include <stdlib.h>
#include <string.h>

#include "mcp/files.h"
#include "proc/proc.h"

extern const mcp_file casparian_guest_files[];

enum { TIMEOUT_MS = 20000, SOURCE_MAX = 4 << 20, OUT_MAX = 1 << 20, MEMORY_MB = 1024, CPU_S = 20 };

/* Runs an interpreter to its end. @param out its output, in the arena */
static mcp_status run_python(const char **out, size_t *length, mcp_arena *arena,
                             const char *const *argv, const char *path, const char *input,
                             size_t input_length, mcp_error *err)
{
    const char *env[] = { path, "LC_ALL=C.UTF-8", "PYTHONUTF8=1", NULL };
    proc_spec spec = { .argv = argv,
                       .env = env,
                       .limits = { .memory_bytes = (uint64_t)MEMORY_MB << 20, .cpu_s = CPU_S },
                       .timeout_ms = TIMEOUT_MS };
    proc_run_options options = { .input = input, .length = input_length, .out_max = OUT_MAX };
    proc_result result;
    mcp_status st = proc_run(&result, &spec, &options, err);
    if (st == MCP_OK && result.end.how == PROC_TIMED_OUT)
        st = mcp_error_set(err, MCP_E_TIMEOUT, "%s: no answer within %d ms", argv[0], TIMEOUT_MS);
    else if (st == MCP_OK && (result.end.how != PROC_EXITED || result.end.code != 0))
        st = mcp_error_set(err, MCP_E_IO, "%s failed: %.150s", argv[0],
                           result.err.length ? result.err.data : "no message");
    if (st == MCP_OK) {
        *length = result.out.length;
        *out = mcp_arena_strndup(arena, result.out.length ? result.out.data : "", *length);
        st = *out ? MCP_OK : mcp_error_set(err, MCP_E_NOMEM, "no memory for Python's answer");
    }
    proc_result_clear(&result);
    return st;
}

/* PATH of this process: where a shim such as pyenv's finds the interpreter. */
static const char *search_path(mcp_arena *arena)
{
    const char *path = getenv("PATH");
    return mcp_arena_printf(arena, "PATH=%s", path ? path : "/usr/local/bin:/usr/bin:/bin");
}

mcp_status casparian_python_find(const char **out, mcp_arena *arena, const char *preferred,
                                 mcp_error *err)
{
    const char *program = preferred ? preferred : "python3";
    const char *const argv[] = {
        program, "-I", "-S", "-c", "import sys;print(sys.executable)", NULL
    };
    const char *text = NULL, *path = search_path(arena);
    size_t length = 0;

    if (!path)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for Python's path");
    mcp_status st = run_python(&text, &length, arena, argv, path, NULL, 0, err);
    if (st == MCP_E_IO || st == MCP_E_TIMEOUT || st == MCP_E_DENIED)
        return mcp_error_set(err, MCP_E_NOT_FOUND, "%s does not run: set [plugins] python",
                             program);
    if (st != MCP_OK)
        return st;
    length = strcspn(text, "\n");
    if (length == 0 || text[0] != '/')
        return mcp_error_set(err, MCP_E_NOT_FOUND, "%s does not say where it is", program);
    *out = mcp_arena_strndup(arena, text, length);
    return *out ? MCP_OK : mcp_error_set(err, MCP_E_NOMEM, "no memory for Python's path");
}

mcp_status casparian_python_metadata(const mcp_json **out, mcp_arena *arena, const char *python,
                                     const char *source, size_t length, mcp_error *err)
{
    const mcp_file *script = mcp_files_find(casparian_guest_files, "metadata.py");
    const char *const argv[] = { python, "-I", "-S", "-c", script->bytes, NULL };
    const char *text = NULL;
    size_t text_length = 0;
    const mcp_json *json = NULL;

    if (length > SOURCE_MAX)
        return mcp_error_set(err, MCP_E_LIMIT, "a module of %zu bytes; at most %d are read", length,
                             SOURCE_MAX);
    mcp_status st = run_python(&text, &text_length, arena, argv, "PATH=/usr/bin:/bin", source,
                               length, err);
    if (st == MCP_OK)
        st = mcp_json_read(&json, arena, text, text_length, err);
    if (st != MCP_OK)
        return st;
    const char *wrong = mcp_json_get_string(json, "error");
    if (wrong)
        return mcp_error_set(err, MCP_E_PARSE, "%s", wrong);
    *out = json;
    return MCP_OK;
}
