/*
 * sandbox.c - how guests are confined.
 */
#include "plugins/run/sandbox.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    NOBODY = 65534, /* the user of guests whose host is root */
    DESCRIPTORS_MAX = 256,
    PROCESSES_MAX = 64,
    NICE = 5,
    STOP_GRACE_MS = 3000,
    PATHS_MAX = 64,
};

/* Without these a plugin reaches processes, sockets or files that are not its own. */
static const unsigned essential = PROC_FILES | PROC_NO_NETWORK | PROC_SYSCALLS;
static const unsigned of_processes = PROC_TREE | PROC_USER | PROC_COUNT | PROC_FILES |
                                     PROC_NO_NETWORK | PROC_SYSCALLS;

static unsigned of_system;
static pthread_once_t system_once = PTHREAD_ONCE_INIT;

static uid_t other_user(void)
{
    return geteuid() == 0 ? NOBODY : 0;
}

static void ask_system(void)
{
    of_system = proc_protections(other_user());
}

static unsigned system_protections(void)
{
    pthread_once(&system_once, ask_system);
    return of_system;
}

bool casparian_protections_level(char words[CASPARIAN_SANDBOX_WORDS_SIZE])
{
    unsigned held = system_protections();
    if (held & PROC_NO_FORK)
        held |= PROC_NO_EXEC; /* the filter of a file has both */
    proc_protection_words(words, held);
    return (held & (essential | PROC_NO_FORK)) == (essential | PROC_NO_FORK);
}

mcp_status casparian_protections_choose(casparian_protections *out, const casparian_plugin *plugin,
                                        casparian_sandbox sandbox, mcp_error *err)
{
    bool is_native = plugin->runtime == CASPARIAN_NATIVE;
    bool may_fork = plugin->settings.may_start_processes;
    unsigned held = sandbox == CASPARIAN_SANDBOX_OFF ? 0 : system_protections();
    unsigned alone = may_fork ? PROC_TREE | PROC_COUNT : PROC_NO_FORK;
    unsigned missing = (essential | alone) & ~held;
    char words[PROC_WORDS_SIZE];

    *out = (casparian_protections){ 0 };
    if (sandbox == CASPARIAN_SANDBOX_OFF)
        return MCP_OK;
    if (sandbox == CASPARIAN_SANDBOX_REQUIRED && missing)
        return mcp_error_set(err, MCP_E_UNSUPPORTED,
                             "the sandbox is required, and this system lacks %s for it",
                             proc_protection_words(words, missing));
    out->process = of_processes | (is_native && !may_fork ? (unsigned)PROC_NO_FORK : 0);
    if (sandbox == CASPARIAN_SANDBOX_REQUIRED)
        out->required = essential | (may_fork || is_native ? alone : 0);
    if (!is_native)
        out->file = held &
                    (PROC_FILES | PROC_NO_NETWORK | PROC_SYSCALLS | (may_fork ? 0U : PROC_NO_FORK));
    if (out->file & PROC_NO_FORK)
        out->file |= PROC_NO_EXEC;
    if (held & PROC_USER)
        out->uid = other_user();
    return MCP_OK;
}

/* ---- paths ----------------------------------------------------------------------------------- */

/* What every program may read: libraries, time zones, and what its loader reads. */
static const proc_path system_paths[] = {
    { "/lib", -1, PROC_READ | PROC_OPTIONAL },
    { "/lib64", -1, PROC_READ | PROC_OPTIONAL },
    { "/usr/lib", -1, PROC_READ | PROC_OPTIONAL },
    { "/usr/lib64", -1, PROC_READ | PROC_OPTIONAL },
    { "/usr/share/zoneinfo", -1, PROC_READ | PROC_OPTIONAL },
    { "/etc/ld.so.cache", -1, PROC_READ | PROC_OPTIONAL },
    { "/etc/localtime", -1, PROC_READ | PROC_OPTIONAL },
    { "/dev/null", -1, PROC_READ | PROC_WRITE | PROC_OPTIONAL },
    { "/dev/urandom", -1, PROC_READ | PROC_OPTIONAL },
};

/* The loaders of dynamic libraries: execve runs them for a program. */
static const proc_path loaders[] = {
    { "/lib64/ld-linux-x86-64.so.2", -1, PROC_READ | PROC_EXECUTE | PROC_OPTIONAL },
    { "/lib/ld-linux-aarch64.so.1", -1, PROC_READ | PROC_EXECUTE | PROC_OPTIONAL },
    { "/lib/ld-linux-riscv64-lp64d.so.1", -1, PROC_READ | PROC_EXECUTE | PROC_OPTIONAL },
    { "/lib/ld-musl-x86_64.so.1", -1, PROC_READ | PROC_EXECUTE | PROC_OPTIONAL },
};

/* Where a plugin that may start processes finds programs. */
static const proc_path programs[] = {
    { "/bin", -1, PROC_READ | PROC_EXECUTE | PROC_OPTIONAL },
    { "/usr/bin", -1, PROC_READ | PROC_EXECUTE | PROC_OPTIONAL },
    { "/lib", -1, PROC_READ | PROC_EXECUTE | PROC_OPTIONAL },
    { "/lib64", -1, PROC_READ | PROC_EXECUTE | PROC_OPTIONAL },
    { "/usr/lib", -1, PROC_READ | PROC_EXECUTE | PROC_OPTIONAL },
};

struct paths {
    proc_path items[PATHS_MAX];
    size_t count;
    mcp_arena *arena;
    bool is_incomplete; /* no memory, or no room */
};

static void add(struct paths *self, const char *path, int fd, unsigned access)
{
    if (self->count == PATHS_MAX)
        self->is_incomplete = true;
    else
        self->items[self->count++] = (proc_path){ .path = path, .fd = fd, .access = access };
}

static void add_all(struct paths *self, const proc_path *paths, size_t count)
{
    for (size_t i = 0; i < count; i++)
        add(self, paths[i].path, -1, paths[i].access);
}

/* The folder above the one that an interpreter is in: /usr of /usr/bin/python3. */
static void add_prefix(struct paths *self, const char *program)
{
    char *path = mcp_arena_strdup(self->arena, program);
    for (int level = 0; path && level < 2; level++) {
        char *slash = strrchr(path, '/');
        if (slash)
            *slash = '\0';
    }
    if (!path)
        self->is_incomplete = true;
    else if (*path)
        add(self, path, -1, PROC_READ | PROC_OPTIONAL);
}

/* The prefix of the interpreter, and of the one that its venv was made of. */
static void add_interpreter(struct paths *self, const char *python)
{
    char *real = realpath(python, NULL);
    char *kept = real ? mcp_arena_strdup(self->arena, real) : NULL;
    free(real);
    add_prefix(self, python);
    if (kept) {
        add_prefix(self, kept);
        add(self, kept, -1, PROC_READ | PROC_EXECUTE);
    }
}

static void add_common(struct paths *self, const casparian_plugin *plugin, const char *scratch)
{
    add_all(self, system_paths, sizeof system_paths / sizeof *system_paths);
    add_all(self, loaders, sizeof loaders / sizeof *loaders);
    if (plugin->settings.may_start_processes)
        add_all(self, programs, sizeof programs / sizeof *programs);
    if (plugin->runtime == CASPARIAN_PYTHON)
        add_interpreter(self, plugin->python);
    else
        add(self, plugin->host ? plugin->host : plugin->entrypoint, -1, PROC_READ | PROC_EXECUTE);
    add(self, plugin->dir, -1, PROC_READ);
    add(self, scratch, -1, PROC_READ | PROC_WRITE);
}

mcp_status casparian_file_ruleset(int *out, const casparian_plugin *plugin, const char *scratch,
                                  int file, mcp_error *err)
{
    mcp_arena *arena = mcp_arena_new(0);
    struct paths paths = { .arena = arena };
    mcp_status st = MCP_E_NOMEM;
    if (arena)
        add_common(&paths, plugin, scratch);
    add(&paths, NULL, file, PROC_READ);
    if (!arena || paths.is_incomplete)
        mcp_error_set(err, MCP_E_NOMEM, "no memory for the rules of a file");
    else
        st = proc_ruleset(out, paths.items, paths.count, err);
    mcp_arena_free(arena);
    return st;
}

/* ---- environment ----------------------------------------------------------------------------- */

static const char *const fixed[] = {
    "PATH=/usr/local/bin:/usr/bin:/bin",
    "LANG=C.UTF-8",
    "LC_ALL=C.UTF-8",
    "TZ=UTC",
    "PYTHONHASHSEED=0",
    "PYTHONUTF8=1",
    "PYTHONDONTWRITEBYTECODE=1",
    "CF_BRIDGE_FD=3",
};

enum { FIXED = sizeof fixed / sizeof *fixed, MADE_MAX = 8 };

/* Variables whose values are made: each under casparian's name and, where there is one, that of
 * upstream. */
static size_t add_made(const char **out, mcp_arena *arena, const casparian_launch *launch)
{
    const casparian_guest_file *file = launch->file;
    const char *job = launch->options->job_id ? launch->options->job_id : "0";
    size_t count = 0;

    out[count++] = mcp_arena_printf(arena, "HOME=%s", launch->scratch);
    out[count++] = mcp_arena_printf(arena, "TMPDIR=%s", launch->scratch);
    out[count++] = mcp_arena_printf(arena, "CF_JOB_ID=%s", job);
    out[count++] = mcp_arena_printf(arena, "BRIDGE_JOB_ID=%s", job);
    if (!file)
        return count;
    const char *id = file->file_id ? file->file_id : "0";
    out[count++] = mcp_arena_printf(arena, "CF_FILE_ID=%s", id);
    out[count++] = mcp_arena_printf(arena, "BRIDGE_FILE_ID=%s", id);
    out[count++] = mcp_arena_printf(arena, "CF_FILE_PATH=%s", file->path);
    out[count++] = mcp_arena_printf(arena, "BRIDGE_FILE_PATH=%s", file->path);
    return count;
}

static const char *const *environment(mcp_arena *arena, const casparian_launch *launch)
{
    const casparian_plugin_settings *settings = &launch->plugin->settings;
    const casparian_guest_options *options = launch->options;
    size_t most = FIXED + MADE_MAX + settings->env_count + options->env_count + 1;
    const char **out = mcp_arena_array(arena, most, sizeof *out);
    if (!out)
        return NULL;
    memcpy(out, fixed, sizeof fixed);
    size_t count = FIXED + add_made(out + FIXED, arena, launch);
    for (size_t i = FIXED; i < count; i++) {
        if (!out[i])
            return NULL;
    }
    for (size_t i = 0; i < settings->env_count; i++)
        out[count++] = settings->env[i];
    for (size_t i = 0; i < options->env_count; i++)
        out[count++] = options->env[i];
    out[count] = NULL;
    return out;
}

/* ---- the process ----------------------------------------------------------------------------- */

mcp_status casparian_launch_spec(proc_spec *out, mcp_arena *arena, const casparian_launch *launch,
                                 mcp_error *err)
{
    const casparian_guest_limits *limits = &launch->options->limits;
    const casparian_protections *protections = launch->protections;
    struct paths *paths = mcp_arena_alloc(arena, sizeof *paths);
    const char *const *env = environment(arena, launch);
    if (!paths || !env)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for the start of a guest");
    paths->arena = arena;
    add_common(paths, launch->plugin, launch->scratch);
    for (size_t i = 0; !launch->file && i < launch->options->input_count; i++)
        add(paths, launch->options->inputs[i], -1, PROC_READ);
    if (launch->file)
        add(paths, NULL, launch->file->fd, PROC_READ);
    if (paths->is_incomplete)
        return mcp_error_set(err, MCP_E_LIMIT, "a guest may read at most %d paths", PATHS_MAX);
    *out = (proc_spec){
        .argv = launch->argv,
        .env = env,
        .cwd = launch->scratch,
        .in = PROC_NULL,
        .limits = { .memory_bytes = limits->memory_bytes,
                    .cpu_s = limits->cpu_s,
                    .file_bytes = limits->scratch_bytes,
                    .descriptors = DESCRIPTORS_MAX,
                    .processes = PROCESSES_MAX,
                    .nice = NICE },
        .grace_ms = STOP_GRACE_MS,
        .protect = protections->process,
        .required = protections->required,
        .paths = paths->items,
        .path_count = paths->count,
        .uid = protections->uid,
        .gid = (gid_t)protections->uid,
        .may_read_all_files = protections->uid != 0,
    };
    return MCP_OK;
}

mcp_status casparian_launch_start(proc **out, const proc_spec *spec, mcp_error *err)
{
    mcp_status st = proc_start(out, spec, err);
    return st == MCP_E_IO ? proc_start(out, spec, err) : st;
}
