/*
 * host.c - the command `host`: from its line to the plan of what a host starts or calls.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/host_int.h"
#include "serve/serve.h"

#define VARIABLES_MAX 64
#define ARENA_MAX ((size_t)64 << 20)
#define MACHINE_SIZE 256

/* clang-format off */
const cli_option host_options[] = {
    { .name = "as", .type = CLI_STRING, .argument = "NAME",
      .help = "the server's name in the settings (default: its own)" },
    { .name = "env", .type = CLI_STRING, .argument = "NAME[=VALUE]", .many = true,
      .help = "a variable for the server; without a value the host reads its own, or asks; may be "
              "repeated" },
    { .name = "url", .type = CLI_STRING, .argument = "URL",
      .help = "the server is called at URL (http, https, or unix:///PATH#/mcp), not started" },
    { .name = "bearer", .type = CLI_STRING, .argument = "NAME",
      .help = "with --url: the variable of the host that has the bearer token" },
    { .name = "image", .type = CLI_STRING, .argument = "IMAGE",
      .help = "docker: the image (default: the server's name)" },
    { .name = "machine", .type = CLI_STRING, .argument = "MACHINE",
      .help = "ssh: this machine, as the other one calls it (default: its name)" },
    { .name = "json", .type = CLI_FLAG, .help = "print the file of the host alone" },
    { 0 },
};
/* clang-format on */

const char host_notes[] =
    "ARGS are further words for the server, as flags and directories. Nothing is written: the\n"
    "settings go to standard output. Without HOST the hosts are listed.";

/* ---- the program ----------------------------------------------------------------------------- */

static bool is_same_file(const char *a, const char *b)
{
    struct stat left, right;
    return stat(a, &left) == 0 && stat(b, &right) == 0 && left.st_dev == right.st_dev &&
           left.st_ino == right.st_ino;
}

/* The alias of the program in a folder of $PATH; NULL: it is in none. */
static const char *alias_in_path(const char *program, const char *alias, mcp_arena *arena)
{
    const char *path = getenv("PATH");
    char *list = mcp_arena_strdup(arena, path ? path : "");
    while (list) {
        const char *folder = strsep(&list, ":");
        const char *found = folder[0] == '/' ? mcp_arena_printf(arena, "%s/%s", folder, alias)
                                             : NULL;
        if (found && is_same_file(found, program))
            return found;
    }
    return NULL;
}

/* The absolute path of this program, under the alias where that matters. */
static mcp_status find_program(const char **out, const host_server *server, mcp_arena *arena,
                               mcp_error *err)
{
    char path[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    if (length < 0)
        return mcp_error_errno(err, errno, "/proc/self/exe, the path of this program");
    path[length] = '\0';
    if (access(path, X_OK) != 0)
        return mcp_error_errno(err, errno, "this program, %s", path);
    char *slash = strrchr(path, '/');
    const char *found = NULL;
    if (!server->alias || strcmp(slash + 1, server->alias) == 0) {
        found = mcp_arena_strdup(arena, path);
    } else {
        found = mcp_arena_printf(arena, "%.*s/%s", (int)(slash - path), path, server->alias);
        if (found && !is_same_file(found, path))
            found = alias_in_path(path, server->alias, arena);
        if (!found)
            return mcp_error_set(err, MCP_E_NOT_FOUND,
                                 "%s is neither next to %s nor in a folder of PATH; link it there",
                                 server->alias, path);
    }
    *out = found;
    return found ? MCP_OK : mcp_error_set(err, MCP_E_NOMEM, "no memory for the program's path");
}

/* ---- the plan -------------------------------------------------------------------------------- */

/* A word as the server is to read it: a directory has its absolute path. */
static const char *absolute(const char *word, mcp_arena *arena)
{
    char path[PATH_MAX];
    struct stat status;
    if (word[0] == '/' || word[0] == '-' || stat(word, &status) != 0 || !S_ISDIR(status.st_mode))
        return word;
    return realpath(word, path) ? mcp_arena_strdup(arena, path) : word;
}

static mcp_status read_words(host_plan *plan, const cli_line *line, mcp_error *err)
{
    size_t own = 0, given = cli_argument_count(line);
    while (plan->server->start[own])
        own++;
    const char **words = mcp_arena_array(plan->arena, own + given + 1, sizeof *words);
    if (!words)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for the words of the command");
    memcpy(words, plan->server->start, own * sizeof *words);
    plan->start_count = plan->word_count = own;
    for (size_t i = 1; i < given; i++)
        words[plan->word_count++] = absolute(cli_argument(line, i), plan->arena);
    if (given == 1 && plan->server->has_directories)
        words[plan->word_count++] = absolute(".", plan->arena);
    for (size_t i = 0; i < plan->word_count; i++)
        if (!words[i])
            return mcp_error_set(err, MCP_E_NOMEM, "no memory for a path");
    plan->words = words;
    return MCP_OK;
}

/* Whether it is the name of a variable, or with `-` of a server. */
static bool is_name(const char *text, size_t length, const char *more)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789";
    for (size_t i = 0; i < length; i++)
        if (!strchr(letters, text[i]) && !strchr(more, text[i]))
            return false;
    return length > 0 && length <= 64 && (text[0] < '0' || text[0] > '9');
}

static mcp_status read_variables(host_plan *plan, const cli_line *line, mcp_error *err)
{
    host_variable *all = mcp_arena_array(plan->arena, VARIABLES_MAX, sizeof *all);
    if (!all)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for the variables");
    for (const char *text = cli_item(line, "env", 0); text;
         text = cli_item(line, "env", plan->variable_count)) {
        size_t length = strcspn(text, "=");
        if (!is_name(text, length, ""))
            return mcp_error_set(err, MCP_E_PARAMS, "--env wants NAME or NAME=VALUE, not \"%.64s\"",
                                 text);
        if (plan->variable_count == VARIABLES_MAX)
            return mcp_error_set(err, MCP_E_LIMIT, "--env: at most %d variables", VARIABLES_MAX);
        const char *name = mcp_arena_strndup(plan->arena, text, length);
        if (!name)
            return mcp_error_set(err, MCP_E_NOMEM, "no memory for a variable");
        all[plan->variable_count++] = (host_variable){
            .name = name, .value = text[length] == '=' ? text + length + 1 : NULL
        };
    }
    plan->variables = all;
    return MCP_OK;
}

static bool is_url(const char *text)
{
    return strncmp(text, "http://", 7) == 0 || strncmp(text, "https://", 8) == 0 ||
           strncmp(text, "unix:///", 8) == 0;
}

/* What the flags say that this host cannot do, or that contradicts. */
static mcp_status check(const host_plan *plan, const host_kind *kind, const cli_line *line,
                        mcp_error *err)
{
    if (!is_name(plan->name, strlen(plan->name), "-"))
        return mcp_error_set(err, MCP_E_PARAMS,
                             "--as wants a name of letters, digits, _ and -, not \"%.64s\"",
                             plan->name);
    if (plan->url && !kind->takes_url)
        return mcp_error_set(err, MCP_E_PARAMS, "%s starts programs; --url does not apply to it",
                             kind->name);
    if (plan->url && strncmp(plan->url, "unix:", 5) == 0 && !kind->takes_socket)
        return mcp_error_set(err, MCP_E_PARAMS, "%s cannot call a socket file; VS Code can",
                             kind->name);
    if (plan->url && !is_url(plan->url))
        return mcp_error_set(err, MCP_E_PARAMS,
                             "--url wants http://, https:// or unix:///, not \"%.64s\"", plan->url);
    if (plan->url && (cli_given(line, "env") || cli_argument_count(line) > 1))
        return mcp_error_set(err, MCP_E_PARAMS,
                             "--url names a server that runs already: no --env, no ARGS");
    if (plan->bearer && !plan->url)
        return mcp_error_set(err, MCP_E_PARAMS, "--bearer is for --url");
    if (plan->bearer && !is_name(plan->bearer, strlen(plan->bearer), ""))
        return mcp_error_set(err, MCP_E_PARAMS,
                             "--bearer wants the name of a variable, not the token itself");
    if (plan->variable_count > 0 && !kind->takes_variables)
        return mcp_error_set(err, MCP_E_PARAMS,
                             "%s passes no variables on; set them on the machine it connects to",
                             kind->name);
    return MCP_OK;
}

/* ---- printing -------------------------------------------------------------------------------- */

static mcp_status print_file(const host_plan *plan, const host_kind *kind, FILE *out,
                             mcp_error *err)
{
    mcp_json_writer json;
    mcp_buf compact, text;
    mcp_buf_init(&compact, HOST_TEXT_MAX);
    mcp_buf_init(&text, HOST_TEXT_MAX);
    mcp_json_writer_init(&json, &compact);
    host_write_file(&json, plan, kind);
    mcp_status st = mcp_json_writer_status(&json);
    if (st == MCP_OK)
        st = host_add_lines(&text, compact.data);
    if (st == MCP_OK)
        fprintf(out, "%s\n", text.data);
    mcp_buf_clear(&text);
    mcp_buf_clear(&compact);
    return st == MCP_OK
               ? MCP_OK
               : mcp_error_set(err, st, "the settings of %s: %s", kind->name, mcp_status_words(st));
}

static mcp_status print_host(host_plan *plan, const host_kind *kind, const cli_line *line,
                             mcp_error *err)
{
    FILE *out = cli_out(line);
    bool is_alone = cli_flag(line, "json");
    mcp_status st = find_program(&plan->command, plan->server, plan->arena, err);
    if (st == MCP_OK)
        st = read_words(plan, line, err);
    if (st == MCP_OK)
        st = read_variables(plan, line, err);
    if (st == MCP_OK)
        st = check(plan, kind, line, err);
    if (st == MCP_OK && kind->wrap)
        st = kind->wrap(plan, kind, err);
    if (st != MCP_OK)
        return st;
    if (!is_alone)
        fprintf(out, "# %s\n", kind->file);
    st = print_file(plan, kind, out, err);
    return st == MCP_OK && !is_alone && kind->print ? kind->print(plan, kind, out, err) : st;
}

/* ---- the command ----------------------------------------------------------------------------- */

void host_complete(const cli_line *line, size_t index, cli_words *words)
{
    (void)line;
    if (index > 0)
        cli_offer_files(words, false);
    for (const host_kind *kind = host_kinds; kind->name && index == 0; kind++)
        cli_offer(words, kind->name, kind->summary);
}

static void list_hosts(FILE *out)
{
    for (const host_kind *kind = host_kinds; kind->name; kind++)
        fprintf(out, "%-15s %s\n", kind->name, kind->summary);
}

static mcp_status find_kind(const host_kind **out, const char *name, mcp_error *err)
{
    const char *near = NULL;
    size_t distance = 3;
    const host_kind *kind = host_kinds;
    while (kind->name && strcmp(kind->name, name) != 0)
        cli_nearer(&near, &distance, name, kind++->name);
    *out = kind;
    if (kind->name)
        return MCP_OK;
    return mcp_error_set(err, MCP_E_PARAMS, "no host \"%.64s\"%s%s; without a name all are listed",
                         name, near ? "; did you mean " : "", near ? near : "");
}

int host_run(const host_server *server, const cli_line *line)
{
    char machine[MACHINE_SIZE] = "";
    const char *name = cli_argument(line, 0);
    const char *as = cli_string(line, "as"), *image = cli_string(line, "image");
    mcp_error err = MCP_ERROR_INIT;
    const host_kind *kind = NULL;
    if (!name) {
        list_hosts(cli_out(line));
        return SERVE_EXIT_DONE;
    }
    if (gethostname(machine, sizeof machine - 1) != 0 || !machine[0])
        snprintf(machine, sizeof machine, "HOST");
    host_plan plan = { .server = server,
                       .name = as ? as : server->name,
                       .url = cli_string(line, "url"),
                       .bearer = cli_string(line, "bearer"),
                       .image = image ? image : server->image.name,
                       .machine = cli_string(line, "machine"),
                       .arena = mcp_arena_new(ARENA_MAX) };
    if (!plan.machine)
        plan.machine = machine;
    mcp_status st = plan.arena ? find_kind(&kind, name, &err)
                               : mcp_error_set(&err, MCP_E_NOMEM, "out of memory");
    if (st == MCP_OK)
        st = print_host(&plan, kind, line, &err);
    mcp_arena_free(plan.arena);
    if (st == MCP_OK)
        return SERVE_EXIT_DONE;
    fprintf(cli_err(line), "error: %s\n", err.message);
    return st == MCP_E_PARAMS ? CLI_USAGE : serve_exit_status(st);
}
