/*
 * init.c - cobre init: a case directory made from a template.
 *
 * The templates are case directories of examples/cases, compiled into the program.
 */
#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "mcp/files.h"
#include "report/console.h"
#include "shell/work.h"

/* Paths begin with the name of the template; made by the build. */
extern const mcp_file cobre_templates[];

static const struct template
{
    const char *name, *description;
}
templates[] = {
    { "1dtoy", "one reservoir, two thermals, four months: the smallest case with a decision" },
    { "two-rivers", "a year of two rivers: a cascade, two buses and a line, four thermals" },
    { "wind-and-water",
      "the same with inflows that remember, a head that changes, wind and losses" },
};

#define TEMPLATE_COUNT (sizeof templates / sizeof *templates)

struct creation {
    const char *name;      /* of the template */
    const char *directory; /* canonical */
    int fd;
};

static const struct template *find_template(const char *name)
{
    for (size_t i = 0; i < TEMPLATE_COUNT; i++)
        if (strcmp(templates[i].name, name) == 0)
            return &templates[i];
    return NULL;
}

/* The path below the case directory; NULL when the file is of another template. */
static const char *path_in(const char *name, const mcp_file *file)
{
    size_t length = strlen(name);
    bool is_own = strncmp(file->path, name, length) == 0 && file->path[length] == '/';
    return is_own ? file->path + length + 1 : NULL;
}

/* ---- the list -------------------------------------------------------------------------------- */

static void write_list(const void *of, mcp_json_writer *writer)
{
    (void)of;
    mcp_write_member_array(writer, "templates");
    for (size_t i = 0; i < TEMPLATE_COUNT; i++) {
        mcp_write_object(writer);
        mcp_write_member_string(writer, "name", templates[i].name);
        mcp_write_member_string(writer, "description", templates[i].description);
        mcp_write_end(writer);
    }
    mcp_write_end(writer);
}

static int list(const shell_work *work)
{
    const shell_answer answer = { .members = write_list };
    for (size_t i = 0; work->format == SHELL_WORDS && i < TEMPLATE_COUNT; i++)
        fprintf(cli_out(work->line), "%-16s  %s\n", templates[i].name, templates[i].description);
    return shell_print(work, &answer);
}

/* ---- a directory ----------------------------------------------------------------------------- */

static void write_creation(const void *of, mcp_json_writer *writer)
{
    const struct creation *creation = of;
    mcp_write_member_string(writer, "template", creation->name);
    mcp_write_member_string(writer, "case_directory", creation->directory);
    mcp_write_member_array(writer, "files");
    for (const mcp_file *file = cobre_templates; file->path; file++)
        if (path_in(creation->name, file))
            mcp_write_string(writer, path_in(creation->name, file));
    mcp_write_end(writer);
}

static void print_words(const shell_work *work, const struct creation *creation)
{
    FILE *err = cli_err(work->line);
    const char *given = cli_argument(work->line, 0);
    fputs("Created ", err);
    console_put(err, given);
    fprintf(err, " case directory from template '%s':\n", creation->name);
    for (const mcp_file *file = cobre_templates; file->path; file++)
        if (path_in(creation->name, file))
            fprintf(err, "  %s\n", path_in(creation->name, file));
    fputs("\nNext:\n", err);
    static const char *const next[][2] = { { "  cobre validate ", "\n" },
                                           { "  cobre run ", "\n" },
                                           { "  cobre report ", "/output\n" } };
    for (size_t i = 0; i < sizeof next / sizeof *next; i++) {
        fputs(next[i][0], err);
        console_put(err, given);
        fputs(next[i][1], err);
    }
}

static int refuse_template(const shell_work *work, const char *name)
{
    const char *names[TEMPLATE_COUNT + 1] = { NULL };
    for (size_t i = 0; i < TEMPLATE_COUNT; i++)
        names[i] = templates[i].name;
    return shell_refuse(
        work, COBRE_EXIT_INVALID,
        cobre_record_new(work->arena, "InvalidEnum", "`cobre init --list` names the templates.",
                         COBRE_MEMBERS(COBRE_TEXT("field", "--template"), COBRE_TEXT("value", name),
                                       COBRE_LIST("allowed_values", names)),
                         "There is no template '%s'", name));
}

static int refuse_place(const shell_work *work, const char *kind, const char *suggestion,
                        const char *message)
{
    const char *path = cli_argument(work->line, 0);
    const char *place = path ? path : "DIR";
    return shell_refuse(work, COBRE_EXIT_FILES,
                        cobre_record_new(work->arena, kind, suggestion,
                                         COBRE_MEMBERS(COBRE_TEXT("file", place)), "%s: %s", place,
                                         message));
}

static mcp_status is_empty(bool *out, int dir_fd, mcp_error *err)
{
    int fd = dup(dir_fd);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    if (!dir) {
        if (fd >= 0)
            close(fd);
        return mcp_error_set(err, MCP_E_IO, "the directory cannot be read: %s", strerror(errno));
    }
    *out = true;
    for (const struct dirent *entry = readdir(dir); entry && *out; entry = readdir(dir))
        *out = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
    closedir(dir);
    return MCP_OK;
}

static mcp_status write_file(int dir_fd, const char *path, const mcp_file *file, mcp_arena *arena,
                             mcp_error *err)
{
    const char *slash = strrchr(path, '/');
    mcp_status st = MCP_OK;
    if (slash) {
        const char *folder = mcp_arena_strndup(arena, path, (size_t)(slash - path));
        st = folder ? guard_make_dir(NULL, dir_fd, folder, err)
                    : mcp_error_set(err, MCP_E_NOMEM, "no memory for a path");
    }
    return st == MCP_OK ? guard_write_file(dir_fd, path, file->bytes, file->length, err) : st;
}

static mcp_status write_files(const shell_work *work, const struct creation *creation,
                              mcp_error *err)
{
    mcp_status st = MCP_OK;
    for (const mcp_file *file = cobre_templates; file->path && st == MCP_OK; file++) {
        const char *path = path_in(creation->name, file);
        if (path)
            st = write_file(creation->fd, path, file, work->arena, err);
    }
    return st;
}

static int fill(const shell_work *work, struct creation *creation)
{
    const shell_answer answer = { .members = write_creation, .of = creation };
    mcp_error err = MCP_ERROR_INIT;
    bool empty = false;
    mcp_status st = is_empty(&empty, creation->fd, &err);
    if (st == MCP_OK && !empty && !cli_flag(work->line, "force"))
        return refuse_place(work, "IncompatibleSettings",
                            "Name another directory, or overwrite files with --force.",
                            "the directory is not empty");
    if (st == MCP_OK)
        st = write_files(work, creation, &err);
    if (st != MCP_OK)
        return refuse_place(work, "MissingFile", "Check the permissions and the disk.",
                            err.message);
    if (work->format == SHELL_WORDS)
        print_words(work, creation);
    return shell_print(work, &answer);
}

static int create(const shell_work *work)
{
    const char *name = cli_string(work->line, "template");
    const char *path = cli_argument(work->line, 0);
    const struct template *template = find_template(name);
    struct creation creation = { .fd = -1 };
    mcp_error err = MCP_ERROR_INIT;
    if (!path)
        return refuse_place(work, "SchemaViolation", "As in `cobre init my-case`.",
                            "name the directory to make");
    if (!template)
        return refuse_template(work, name);
    creation.name = template->name;
    if (guard_open_or_make_dir(&creation.fd, &creation.directory, work->guard, path, work->arena,
                               &err) != MCP_OK)
        return refuse_place(work, "MissingFile", "Check the path and the permissions.",
                            err.message);
    int exit_status = fill(work, &creation);
    close(creation.fd);
    return exit_status;
}

int cobre_command_init(const cli_line *line, void *data)
{
    shell_work work;
    (void)data;
    int exit_status = shell_begin(&work, line, "init", SHELL_NOTHING);
    if (exit_status == COBRE_EXIT_DONE)
        exit_status = cli_flag(line, "list") ? list(&work) : create(&work);
    shell_end(&work);
    return exit_status;
}
