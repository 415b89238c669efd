/*
 * run_suite.c - the official JSON-Schema-Test-Suite, draft 2020-12, run against lib/schema.
 *
 * Usage: run_suite FOLDER [GAPS]. FOLDER holds `tests` and `remotes` as Debian's
 * libtest-json-schema-acceptance-perl installs them. The required part must pass but for what
 * GAPS lists, and what it lists must fail: so the list can only shrink. The optional part is run
 * as well, with formats asserting: the files of `served` must pass too, the others are only
 * counted.
 *
 * Remotes are documents under http://localhost:1234/, as the suite's README wants it.
 */
#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "mcp/buf.h"
#include "mcp/json.h"
#include "mcp/schema.h"

enum { REMOTES_MAX = 256, GAPS_MAX = 64, FILE_MAX = 8 << 20 };

/* The optional files that the library claims. */
static const char *const served[] = {
    "ecmascript-regex.json",
    "float-overflow.json",
    "format-assertion.json",
    "format/date-time.json",
    "format/date.json",
    "format/duration.json",
    "format/email.json",
    "format/hostname.json",
    "format/ipv4.json",
    "format/ipv6.json",
    "format/json-pointer.json",
    "format/regex.json",
    "format/relative-json-pointer.json",
    "format/time.json",
    "format/unknown.json",
    "format/uri-reference.json",
    "format/uri.json",
    "format/uuid.json",
    "no-schema.json",
    "non-bmp-regex.json",
    "refOfUnknownKeyword.json",
};

typedef enum part { REQUIRED, SERVED, COUNTED } part;

typedef struct suite {
    const char *folder;
    mcp_arena *arena;
    mcp_schema_document remotes[REMOTES_MAX];
    size_t remote_count;
    char *gaps[GAPS_MAX];
    bool gap_seen[GAPS_MAX];
    size_t gap_count;
    size_t groups;
    size_t passed;
    size_t failed;
    size_t unlisted; /* failures that the list does not know */
} suite;

static void die(const char *what, const char *which)
{
    fprintf(stderr, "run_suite: %s: %s\n", what, which);
    exit(2);
}

static char *slurp(const char *path, size_t *length)
{
    FILE *file = fopen(path, "rb");
    char *text = malloc(FILE_MAX);

    if (!file || !text)
        die("cannot read", path);
    *length = fread(text, 1, FILE_MAX - 1, file);
    text[*length] = '\0';
    fclose(file);
    return text;
}

/* The JSON of a file; NULL when it is not for our reader, which the optional part may be. */
static const mcp_json *load(mcp_arena *arena, const char *path, mcp_error *err)
{
    const mcp_json *value = NULL;
    size_t length = 0;
    char *text = slurp(path, &length);

    mcp_json_read(&value, arena, text, length, err);
    free(text);
    return value;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static bool is_folder(const char *path)
{
    struct stat status;

    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

/* Calls `visit` for each *.json in a folder of the suite; in folders below too where `is_deep`. */
static void visit_files(suite *run, const char *folder, bool is_deep,
                        void (*visit)(struct suite *run, const char *path, const char *name))
{
    struct dirent **entries = NULL;
    char path[1024];

    snprintf(path, sizeof path, "%s/%s", run->folder, folder);
    int count = scandir(path, &entries, NULL, by_name);
    if (count < 0)
        die(strerror(errno), path);
    for (int i = 0; i < count; i++) {
        const char *name = entries[i]->d_name;
        size_t length = strlen(name);
        char inner[512];
        snprintf(inner, sizeof inner, "%.250s/%.250s", folder, name);
        snprintf(path, sizeof path, "%.500s/%.500s", run->folder, inner);
        if (name[0] != '.' && is_deep && is_folder(path))
            visit_files(run, inner, true, visit);
        else if (length > 5 && strcmp(name + length - 5, ".json") == 0)
            visit(run, path, inner);
        free(entries[i]);
    }
    free(entries);
}

static void add_remote(suite *run, const char *path, const char *name)
{
    mcp_error err = MCP_ERROR_INIT;
    mcp_schema_document *remote = &run->remotes[run->remote_count++];

    if (run->remote_count == REMOTES_MAX)
        die("more remotes than expected", path);
    remote->uri = mcp_arena_printf(run->arena, "http://localhost:1234/%s", strchr(name, '/') + 1);
    remote->schema = load(run->arena, path, &err);
    if (!remote->schema)
        die(err.message, path);
}

static void read_gaps(suite *run, const char *path)
{
    size_t length = 0;
    char *text = slurp(path, &length);

    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        if (line[0] == '#')
            continue;
        if (run->gap_count == GAPS_MAX)
            die("more gaps than may be", path);
        run->gaps[run->gap_count++] = mcp_arena_strdup(run->arena, line);
    }
    free(text);
}

static bool is_gap(suite *run, const char *name)
{
    for (size_t i = 0; i < run->gap_count; i++) {
        if (strcmp(run->gaps[i], name) == 0) {
            run->gap_seen[i] = true;
            return true;
        }
    }
    return false;
}

/* One test: what the check says against what the suite says. */
static bool test_passes(const mcp_schema *schema, const mcp_json *test, char *why, size_t room)
{
    mcp_arena *scratch = mcp_arena_new(0);
    mcp_error err = MCP_ERROR_INIT;
    bool is_valid = false;

    mcp_json_bool(mcp_json_get(test, "valid"), &is_valid);
    mcp_status st = mcp_schema_check(schema, mcp_json_get(test, "data"), scratch, NULL, &err);
    snprintf(why, room, "%s", st == MCP_OK ? "accepted" : err.message);
    mcp_arena_free(scratch);
    return st == (is_valid ? MCP_OK : MCP_E_SCHEMA);
}

static void count_test(suite *run, const char *name, bool passes, part which, const char *why)
{
    bool listed = which == REQUIRED && is_gap(run, name);

    if (passes)
        run->passed++;
    else
        run->failed++;
    if (which == COUNTED || passes != listed)
        return;
    run->unlisted++;
    printf("%s: %s: %s\n", passes ? "PASSES BUT IS LISTED" : "FAILS", name, why);
}

static void run_group(suite *run, const char *file, const mcp_json *group, part which)
{
    mcp_schema_options options = MCP_SCHEMA_OPTIONS_INIT;
    const mcp_json *tests = mcp_json_get(group, "tests");
    const char *title = mcp_json_get_string(group, "description");
    mcp_error err = MCP_ERROR_INIT;
    mcp_schema *schema = NULL;

    options.documents = run->remotes;
    options.document_count = run->remote_count;
    options.assert_formats = which != REQUIRED;
    mcp_schema_compile(&schema, mcp_json_get(group, "schema"), &options, &err);
    run->groups++;
    for (size_t i = 0; i < mcp_json_count(tests); i++) {
        const mcp_json *test = mcp_json_item(tests, i);
        char name[600];
        char why[300];
        snprintf(why, sizeof why, "does not compile: %s", err.message);
        snprintf(name, sizeof name, "%s / %s / %s", file, title,
                 mcp_json_get_string(test, "description"));
        bool passes = schema && test_passes(schema, test, why, sizeof why);
        count_test(run, name, passes, which, why);
    }
    mcp_schema_free(schema);
}

static void run_file(suite *run, const char *path, const char *file, part which)
{
    mcp_arena *arena = mcp_arena_new(0);
    mcp_error err = MCP_ERROR_INIT;
    const mcp_json *groups = load(arena, path, &err);
    size_t passed = run->passed;
    size_t failed = run->failed;

    if (!groups && which != COUNTED)
        die(err.message, path);
    for (size_t i = 0; i < mcp_json_count(groups); i++)
        run_group(run, file, mcp_json_item(groups, i), which);
    if (!groups)
        printf("optional %-36s not read: %s\n", file, err.message);
    else if (which != REQUIRED)
        printf("optional %-36s %zu of %zu%s\n", file, run->passed - passed,
               run->passed - passed + run->failed - failed, which == COUNTED ? ", not served" : "");
    mcp_arena_free(arena);
}

static void run_required(suite *run, const char *path, const char *name)
{
    run_file(run, path, strrchr(name, '/') + 1, REQUIRED);
}

static void run_optional(suite *run, const char *path, const char *name)
{
    const char *file = strstr(name, "optional/") + strlen("optional/");
    part which = COUNTED;

    for (size_t i = 0; i < sizeof served / sizeof *served; i++) {
        if (strcmp(served[i], file) == 0)
            which = SERVED;
    }
    run_file(run, path, file, which);
}

int main(int argc, char **argv)
{
    static suite run;

    run.folder = argc > 1 ? argv[1]
                          : "/usr/share/perl5/auto/share/dist/Test-JSON-Schema-Acceptance";
    run.arena = mcp_arena_new(0);
    read_gaps(&run, argc > 2 ? argv[2] : "tests/schema-suite/known-gaps.txt");
    visit_files(&run, "remotes", true, add_remote);

    visit_files(&run, "tests/draft2020-12", false, run_required);
    printf("required: %zu of %zu tests in %zu groups pass, %zu gaps listed\n", run.passed,
           run.passed + run.failed, run.groups, run.gap_count);
    for (size_t i = 0; i < run.gap_count; i++) {
        if (!run.gap_seen[i]) {
            printf("LISTED BUT NOT A TEST: %s\n", run.gaps[i]);
            run.unlisted++;
        }
    }
    size_t required = run.passed + run.failed;
    run.passed = run.failed = 0;
    visit_files(&run, "tests/draft2020-12/optional", true, run_optional);
    printf("optional: %zu of %zu tests pass\n", run.passed, run.passed + run.failed);
    mcp_arena_free(run.arena);
    return run.unlisted == 0 && required > 1000 ? EXIT_SUCCESS : EXIT_FAILURE;
}
