/*
 * input.c - reading what a command is given.
 */
#include "commands/input.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

enum { FILE_MAX = 16 << 20, SET_MAX = 256 };

/* ---- files ----------------------------------------------------------------------------------- */

static mcp_status read_stream(mcp_buf *text, FILE *file, const char *path, mcp_error *err)
{
    char chunk[16384];
    size_t count = 1;
    while (count > 0 && text->status == MCP_OK) {
        count = fread(chunk, 1, sizeof chunk, file);
        mcp_buf_append(text, chunk, count);
    }
    if (ferror(file))
        return mcp_error_errno(err, errno, "%s cannot be read", path);
    return text->status == MCP_OK
               ? MCP_OK
               : mcp_error_set(err, text->status, "%s: %s", path, mcp_status_words(text->status));
}

mcp_status portarium_input_file(const mcp_json **out, mcp_arena *arena, const char *path,
                                mcp_error *err)
{
    mcp_buf text;
    mcp_error why = MCP_ERROR_INIT;
    bool is_standard = strcmp(path, "-") == 0;
    FILE *file = is_standard ? stdin : fopen(path, "rb");
    if (!file)
        return mcp_error_errno(err, errno, "%s cannot be opened", path);
    mcp_buf_init(&text, FILE_MAX);
    const char *name = is_standard ? "standard input" : path;
    mcp_status st = read_stream(&text, file, name, err);
    if (!is_standard)
        fclose(file);
    if (st == MCP_OK &&
        mcp_json_read(out, arena, text.data ? text.data : "", text.length, &why) != MCP_OK)
        st = mcp_error_set(err, MCP_E_PARAMS, "%s is not JSON: %s", name, why.message);
    else if (st == MCP_OK && !mcp_json_is_object(*out))
        st = mcp_error_set(err, MCP_E_PARAMS, "%s has no JSON object", name);
    mcp_buf_clear(&text);
    return st;
}

/* ---- NAME=VALUE ------------------------------------------------------------------------------ */

static mcp_status as_text(const mcp_json **value, mcp_arena *arena, const char *text,
                          mcp_error *err)
{
    mcp_buf out;
    mcp_json_writer json;
    mcp_buf_init(&out, FILE_MAX);
    mcp_json_writer_init(&json, &out);
    mcp_write_string(&json, text);
    mcp_status st = mcp_json_writer_status(&json);
    if (st == MCP_OK)
        st = mcp_json_read(value, arena, out.data, out.length, err);
    else
        mcp_error_set(err, st, "the value %.64s cannot be sent: %s", text, mcp_status_words(st));
    mcp_buf_clear(&out);
    return st;
}

mcp_status portarium_input_pair(const char **name, const mcp_json **value, mcp_arena *arena,
                                const char *text, mcp_error *err)
{
    const char *equals = strchr(text, '=');
    if (!equals || equals == text)
        return mcp_error_set(err, MCP_E_PARAMS, "--set %.64s: NAME=VALUE is expected", text);
    *name = mcp_arena_strndup(arena, text, (size_t)(equals - text));
    if (!*name)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for --set");
    if (mcp_json_read(value, arena, equals + 1, strlen(equals + 1), NULL) == MCP_OK)
        return MCP_OK;
    return as_text(value, arena, equals + 1, err);
}

typedef struct pairs {
    const char *names[SET_MAX];
    const mcp_json *values[SET_MAX];
    size_t count;
} pairs;

static bool has_name(const pairs *self, const char *name)
{
    for (size_t i = 0; i < self->count; i++) {
        if (strcmp(self->names[i], name) == 0)
            return true;
    }
    return false;
}

static mcp_status read_pairs(pairs *out, portarium_link *self, mcp_error *err)
{
    const char *text = cli_item(self->line, "set", 0);
    for (; text; text = cli_item(self->line, "set", out->count)) {
        const char *name = NULL;
        const mcp_json *value = NULL;
        if (out->count == SET_MAX)
            return mcp_error_set(err, MCP_E_LIMIT, "--set may be given %d times; use --input",
                                 SET_MAX);
        mcp_status st = portarium_input_pair(&name, &value, self->arena, text, err);
        if (st != MCP_OK)
            return st;
        if (has_name(out, name))
            return mcp_error_set(err, MCP_E_PARAMS, "--set %.64s is there twice", name);
        out->names[out->count] = name;
        out->values[out->count++] = value;
    }
    return MCP_OK;
}

mcp_status portarium_input_object(const mcp_json **out, portarium_link *self, mcp_error *err)
{
    pairs set = { .count = 0 };
    const mcp_json *file = NULL;
    portarium_draft draft;
    const char *path = cli_string(self->line, "input");
    *out = NULL;
    mcp_status st = read_pairs(&set, self, err);
    if (st == MCP_OK && path)
        st = portarium_input_file(&file, self->arena, path, err);
    if (st != MCP_OK || (!file && set.count == 0))
        return st;
    portarium_draft_object(&draft);
    for (size_t i = 0; i < mcp_json_count(file); i++) {
        if (!has_name(&set, mcp_json_name(file, i, NULL)))
            mcp_write_member_value(&draft.json, mcp_json_name(file, i, NULL),
                                   mcp_json_item(file, i));
    }
    for (size_t i = 0; i < set.count; i++)
        mcp_write_member_value(&draft.json, set.names[i], set.values[i]);
    return portarium_end_draft(&draft, self, out, err);
}

mcp_status portarium_input_secret(char *out, const cli_line *line, mcp_error *err)
{
    struct termios shown, hidden;
    bool is_terminal = tcgetattr(STDIN_FILENO, &shown) == 0;
    if (is_terminal) {
        fputs("Value (it is not shown): ", cli_err(line));
        hidden = shown;
        hidden.c_lflag &= ~(tcflag_t)ECHO;
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &hidden);
    }
    bool is_read = fgets(out, PORTARIUM_INPUT_SECRET_MAX + 2, stdin) != NULL;
    if (is_terminal) {
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &shown);
        fputc('\n', cli_err(line));
    }
    out[is_read ? strcspn(out, "\r\n") : 0] = '\0';
    return *out ? MCP_OK
                : mcp_error_set(err, MCP_E_PARAMS,
                                "the value is a line of standard input, which is empty");
}
