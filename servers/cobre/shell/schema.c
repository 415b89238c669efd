/*
 * schema.c - cobre schema export: the JSON Schemas of a case's JSON files, made of the loader's own
 * tables.
 */
#include <unistd.h>

#include "case/schema/schema.h"
#include "report/console.h"
#include "shell/work.h"

#define SCHEMA_MAX ((size_t)4 << 20)

struct exported {
    const char *directory; /* canonical */
};

static void write_members(const void *of, mcp_json_writer *writer)
{
    const struct exported *exported = of;
    char name[128];
    mcp_write_member_string(writer, "output_directory", exported->directory);
    mcp_write_member_array(writer, "files");
    for (size_t i = 0; i < COBRE_SCHEMA_COUNT; i++) {
        snprintf(name, sizeof name, "%s.schema.json", cobre_schemas[i].name);
        mcp_write_string(writer, name);
    }
    mcp_write_end(writer);
}

static int refuse_place(const shell_work *work, const char *path, const char *message)
{
    return shell_refuse(work, COBRE_EXIT_FILES,
                        cobre_record_new(work->arena, "MissingFile",
                                         "Check the path, the permissions and the disk.",
                                         COBRE_MEMBERS(COBRE_TEXT("file", path)),
                                         "The schemas cannot be written to %s: %s", path, message));
}

static mcp_status write_schema(int dir_fd, const cobre_schema *schema, mcp_error *err)
{
    char name[128];
    mcp_buf text;
    mcp_json_writer writer;
    snprintf(name, sizeof name, "%s.schema.json", schema->name);
    mcp_buf_init(&text, SCHEMA_MAX);
    mcp_json_writer_init(&writer, &text);
    cobre_schema_write(schema, &writer);
    mcp_status st = mcp_json_writer_status(&writer);
    mcp_buf_putc(&text, '\n');
    if (st == MCP_OK)
        st = text.status;
    if (st == MCP_OK)
        st = guard_write_file(dir_fd, name, text.data, text.length, err);
    else
        mcp_error_set(err, st, "no memory for the schema %s", name);
    mcp_buf_clear(&text);
    return st;
}

static int export_schemas(const shell_work *work)
{
    const char *path = cli_string(work->line, "output-dir");
    struct exported exported = { NULL };
    const shell_answer answer = { .members = write_members, .of = &exported };
    mcp_error err = MCP_ERROR_INIT;
    int fd = -1;
    if (guard_open_or_make_dir(&fd, &exported.directory, work->guard, path, work->arena, &err) !=
        MCP_OK)
        return refuse_place(work, path, err.message);
    mcp_status st = MCP_OK;
    for (size_t i = 0; i < COBRE_SCHEMA_COUNT && st == MCP_OK; i++)
        st = write_schema(fd, &cobre_schemas[i], &err);
    close(fd);
    if (st != MCP_OK)
        return refuse_place(work, path, err.message);
    if (work->format == SHELL_WORDS) {
        fprintf(cli_err(work->line), "Exported %d schema files to ", COBRE_SCHEMA_COUNT);
        console_put(cli_err(work->line), path);
        fputc('\n', cli_err(work->line));
    }
    return shell_print(work, &answer);
}

int cobre_command_schema_export(const cli_line *line, void *data)
{
    shell_work work;
    (void)data;
    int exit_status = shell_begin(&work, line, "schema export", SHELL_NOTHING);
    if (exit_status == COBRE_EXIT_DONE)
        exit_status = export_schemas(&work);
    shell_end(&work);
    return exit_status;
}
