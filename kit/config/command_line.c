/*
 * command_line.c - a configuration file as a source of option values.
 *
 * The texts of all options are made when the file is opened, so that reading them later changes
 * nothing and needs no memory.
 */
#include "config/command_line.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "mcp/alloc.h"
#include "mcp/arena.h"
#include "mcp/buf.h"

#define TEXT_MAX ((size_t)64 * 1024)

/* The value of an option, as it would stand on the line. */
struct value {
    const char *key;
    const char *text;  /* NULL: the file does not have it */
    const char *place; /* "portarium.toml:3:8: " */
};

struct opened {
    mcp_arena *arena;
    config *config;
    struct value *values;
    size_t count;
};

/* ---- the keys of options --------------------------------------------------------------------- */

/* What a visit of all options with a key does. */
typedef void visit(const cli_option *option, void *data);

static void visit_table(const cli_option *options, visit *each, void *data)
{
    for (; options && options->name; options++)
        if (options->key)
            each(options, data);
}

static void visit_all(const cli_program *program, visit *each, void *data)
{
    visit_table(program->options, each, data);
    for (const cli_command *command = program->commands; command->name; command++)
        visit_table(command->options, each, data);
}

static void count_one(const cli_option *option, void *data)
{
    (void)option;
    ++*(size_t *)data;
}

/* What is being put together. Several commands may have an option of one key. */
struct gathering {
    struct opened *self;
    config_key *keys;
    size_t key_count;
};

static void add_key(struct gathering *to, const char *name, config_type type)
{
    to->keys[to->key_count++] = (config_key){ .name = name, .type = type };
}

static void gather(const cli_option *option, void *data)
{
    struct gathering *to = data;

    for (size_t i = 0; i < to->self->count; i++)
        if (strcmp(to->self->values[i].key, option->key) == 0)
            return;
    to->self->values[to->self->count++] = (struct value){ .key = option->key };
    if (option->type == CLI_FLAG) {
        add_key(to, option->key, CONFIG_BOOL);
    } else if (option->type == CLI_INT) {
        add_key(to, option->key, CONFIG_INT);
    } else if (option->type == CLI_SIZE) {
        add_key(to, option->key, CONFIG_INT);
        add_key(to, option->key, CONFIG_STRING);
    } else {
        add_key(to, option->key, CONFIG_STRING);
        add_key(to, option->key, CONFIG_STRINGS);
    }
}

static size_t count_keys(const config_key *keys)
{
    size_t count = 0;

    while (keys && keys[count].name)
        count++;
    return count;
}

/* The program's keys and those of options, ending with an empty one. NULL without memory. */
static const config_key *gather_keys(struct opened *self, const config_file *file,
                                     const cli_program *program)
{
    size_t own = count_keys(file->keys), options = 0;

    visit_all(program, count_one, &options);
    struct gathering to = {
        .self = self,
        .keys = mcp_arena_array(self->arena, own + 2 * options + 1, sizeof(config_key)),
    };
    self->values = mcp_arena_array(self->arena, options + 1, sizeof *self->values);
    if (!to.keys || !self->values)
        return NULL;
    visit_all(program, gather, &to);
    if (own > 0)
        memcpy(to.keys + to.key_count, file->keys, own * sizeof *to.keys);
    to.keys[to.key_count + own] = (config_key){ 0 };
    return to.keys;
}

/* ---- texts ----------------------------------------------------------------------------------- */

static mcp_status join(mcp_buf *text, const struct opened *self, const char *key,
                       const mcp_json *list, mcp_error *err)
{
    for (size_t i = 0; i < mcp_json_count(list); i++) {
        const char *item = mcp_json_string(mcp_json_item(list, i), NULL);
        if (item && strchr(item, ','))
            return config_refuse(self->config, key, err, "an item must not contain a comma");
        mcp_buf_printf(text, "%s%s", i > 0 ? "," : "", item ? item : "");
    }
    return MCP_OK;
}

static mcp_status write_text(mcp_buf *text, const struct opened *self, const char *key,
                             const mcp_json *value, mcp_error *err)
{
    int64_t number = 0;
    bool is_set = false;

    if (mcp_json_is_array(value))
        return join(text, self, key, value, err);
    if (mcp_json_bool(value, &is_set))
        mcp_buf_puts(text, is_set ? "true" : "false");
    else if (mcp_json_int(value, &number))
        mcp_buf_printf(text, "%" PRId64, number);
    else
        mcp_buf_puts(text, mcp_json_string(value, NULL));
    return MCP_OK;
}

static mcp_status read_value(struct opened *self, struct value *value, mcp_error *err)
{
    const mcp_json *json = config_value(self->config, value->key);
    mcp_buf text;

    if (!json)
        return MCP_OK;
    mcp_buf_init(&text, TEXT_MAX);
    mcp_status st = write_text(&text, self, value->key, json, err);
    if (st == MCP_OK && text.status == MCP_E_LIMIT)
        st = config_refuse(self->config, value->key, err, "the value is too long");
    if (st == MCP_OK) {
        value->text = text.status == MCP_OK
                          ? mcp_arena_strndup(self->arena, text.data ? text.data : "", text.length)
                          : NULL;
        value->place = config_place(self->config, value->key, self->arena);
        if (!value->text || !value->place)
            st = mcp_error_set(err, MCP_E_NOMEM, "no memory for a configuration");
    }
    mcp_buf_clear(&text);
    return st;
}

/* ---- the face -------------------------------------------------------------------------------- */

mcp_status config_file_open(void **out, const cli_file *face, const cli_program *program,
                            const char *path, bool is_named, mcp_error *err)
{
    const config_file *file = (const config_file *)face;
    struct opened *self = mcp_alloc_zeroed(1, sizeof *self);
    const config_key *keys = NULL;

    if (self)
        self->arena = mcp_arena_new(0);
    if (self && self->arena)
        keys = gather_keys(self, file, program);
    mcp_status st = keys ? config_read(&self->config, path, keys,
                                       file->flags | (is_named ? 0u : CONFIG_OPTIONAL), err)
                         : mcp_error_set(err, MCP_E_NOMEM, "no memory for a configuration");
    for (size_t i = 0; st == MCP_OK && i < self->count; i++)
        st = read_value(self, &self->values[i], err);
    if (st == MCP_OK)
        *out = self;
    else
        config_file_close(self);
    return st;
}

static const struct value *find(const struct opened *self, const char *key)
{
    for (size_t i = 0; i < self->count; i++)
        if (strcmp(self->values[i].key, key) == 0)
            return &self->values[i];
    return NULL;
}

const char *config_file_text(const void *opened, const char *key)
{
    const struct value *value = find(opened, key);

    return value ? value->text : NULL;
}

const char *config_file_place(const void *opened, const char *key)
{
    const struct value *value = find(opened, key);

    return value ? value->place : NULL;
}

void config_file_close(void *opened)
{
    struct opened *self = opened;

    if (!self)
        return;
    config_free(self->config);
    mcp_arena_free(self->arena);
    free(self);
}

const config *config_of(const cli_line *line)
{
    const struct opened *self = cli_opened_file(line);

    return self ? self->config : NULL;
}
