/*
 * host.c - programs of the host's configuration.
 */
#include "executors/host.h"

#include <stdlib.h>
#include <string.h>

enum { MEMORY_MB = 4096, DESCRIPTORS_MAX = 256, PROCESSES_MAX = 256 };

static const proc_path system_paths[] = {
    { .path = "/usr", .access = PROC_READ | PROC_EXECUTE },
    { .path = "/bin", .access = PROC_READ | PROC_EXECUTE | PROC_OPTIONAL },
    { .path = "/lib", .access = PROC_READ | PROC_EXECUTE | PROC_OPTIONAL },
    { .path = "/lib64", .access = PROC_READ | PROC_EXECUTE | PROC_OPTIONAL },
    { .path = "/etc", .access = PROC_READ | PROC_OPTIONAL },
    { .path = "/proc", .access = PROC_READ | PROC_OPTIONAL },
    { .path = "/dev/null", .access = PROC_READ | PROC_WRITE | PROC_OPTIONAL },
    { .path = "/dev/urandom", .access = PROC_READ | PROC_OPTIONAL },
};

static mcp_status no_memory(mcp_error *err)
{
    return mcp_error_set(err, MCP_E_NOMEM, "no memory for a program");
}

static const char *const *strings_of(const mcp_json *list, mcp_arena *arena)
{
    size_t count = mcp_json_count(list);
    const char **out = mcp_arena_array(arena, count + 1, sizeof *out);
    for (size_t i = 0; out && i < count; i++)
        out[i] = mcp_json_string(mcp_json_item(list, i), NULL);
    if (out)
        out[count] = NULL;
    return out;
}

/* A name alone passes on this process's variable, where it has one. */
static const char *const *environment_of(const mcp_json *list, const char *const *variables,
                                         mcp_arena *arena)
{
    size_t count = 0, more = 0;
    while (variables && variables[more])
        more++;
    const char **out = mcp_arena_array(arena, mcp_json_count(list) + more + 2, sizeof *out);
    if (!out)
        return NULL;
    out[count++] = "PATH=/usr/local/bin:/usr/bin:/bin";
    for (size_t i = 0; i < mcp_json_count(list); i++) {
        const char *text = mcp_json_string(mcp_json_item(list, i), NULL);
        if (!text || strchr(text, '=')) {
            out[count] = text;
            count += text != NULL;
        } else if (getenv(text)) {
            out[count] = mcp_arena_printf(arena, "%s=%s", text, getenv(text));
            if (!out[count++])
                return NULL;
        }
    }
    for (size_t i = 0; i < more; i++)
        out[count++] = variables[i];
    out[count] = NULL;
    return out;
}

static size_t add_paths(proc_path *out, const mcp_json *list, unsigned access)
{
    size_t count = mcp_json_count(list);
    for (size_t i = 0; i < count; i++)
        out[i] = (proc_path){ .path = mcp_json_string(mcp_json_item(list, i), NULL),
                              .access = access };
    return count;
}

static mcp_status set_paths(proc_spec *out, const mcp_json *entry, mcp_arena *arena, mcp_error *err)
{
    const mcp_json *readable = mcp_json_get(entry, "readable");
    const mcp_json *writable = mcp_json_get(entry, "writable");
    size_t count = sizeof system_paths / sizeof *system_paths;
    size_t most = count + mcp_json_count(readable) + mcp_json_count(writable) + 2;
    proc_path *paths = mcp_arena_array(arena, most, sizeof *paths);
    if (!paths)
        return no_memory(err);
    memcpy(paths, system_paths, sizeof system_paths);
    count += add_paths(paths + count, readable, PROC_READ | PROC_EXECUTE);
    count += add_paths(paths + count, writable, PROC_READ | PROC_WRITE);
    if (out->argv[0][0] == '/')
        paths[count++] = (proc_path){ .path = out->argv[0], .access = PROC_READ | PROC_EXECUTE };
    if (out->cwd)
        paths[count++] = (proc_path){ .path = out->cwd, .access = PROC_READ | PROC_EXECUTE };
    out->paths = paths;
    out->path_count = count;
    return MCP_OK;
}

mcp_status portarium_host_program(proc_spec *out, const mcp_json *entry,
                                  const char *const *variables, mcp_arena *arena, mcp_error *err)
{
    const mcp_json *command = mcp_json_get(entry, "command");
    bool may_connect = false;
    int64_t memory_mb = MEMORY_MB;
    if (mcp_json_count(command) == 0 || !mcp_json_string(mcp_json_item(command, 0), NULL))
        return mcp_error_set(err, MCP_E_DENIED, "this host has no command of that name");
    mcp_json_bool(mcp_json_get(entry, "network"), &may_connect);
    mcp_json_int(mcp_json_get(entry, "memory_mb"), &memory_mb);
    *out = (proc_spec){
        .argv = strings_of(command, arena),
        .env = environment_of(mcp_json_get(entry, "environment"), variables, arena),
        .cwd = mcp_json_get_string(entry, "directory"),
        .limits = { .memory_bytes = (uint64_t)memory_mb << 20,
                    .descriptors = DESCRIPTORS_MAX,
                    .processes = PROCESSES_MAX },
        .protect = PROC_TREE | PROC_USER | PROC_COUNT | PROC_FILES | PROC_SYSCALLS |
                   (may_connect ? 0 : (unsigned)PROC_NO_NETWORK),
    };
    return out->argv && out->env ? set_paths(out, entry, arena, err) : no_memory(err);
}
