/*
 * config.c - a file held against the keys that the program names.
 *
 * A path is names between dots; one with other characters than a bare key of TOML stands in quotes
 * and has no quote in it. So a path is read from left to right, one name at a time.
 */
#include "config/config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/cli.h"
#include "config/toml.h"
#include "mcp/alloc.h"
#include "mcp/buf.h"

#define CHUNK ((size_t)16 * 1024)
#define HINT_DISTANCE 3 /* letters by which a hinted key differs less */

struct config {
    mcp_arena *arena;
    const char *name; /* of the file */
    const config_key *keys;
    config_document document;
};

/* ---- paths ----------------------------------------------------------------------------------- */

/* One name of a path: without quotes, without "[]". */
struct part {
    const char *text;
    size_t length;
    bool is_each; /* "[]" is behind it */
};

/* @return false: the path has no more */
static bool next_part(struct part *out, const char **at)
{
    const char *from = *at;
    bool is_quoted = *from == '"';

    if (*from == '\0')
        return false;
    out->text = from + is_quoted;
    out->length = strcspn(out->text, is_quoted ? "\"" : ".[");
    from = out->text + out->length;
    if (is_quoted && *from == '"')
        from++;
    out->is_each = strncmp(from, "[]", 2) == 0;
    from += out->is_each ? 2 : strcspn(from, ".");
    *at = from + (*from == '.');
    return true;
}

/* What a key of the program says of a path. */
enum fit {
    FITS_NOT,
    FITS,
    FITS_ABOVE, /* the key is below the path */
    FITS_BELOW  /* the path is below the key */
};

static enum fit fit(const char *pattern, const char *path)
{
    struct part wanted, is;

    for (;;) {
        bool has_wanted = next_part(&wanted, &pattern);
        bool has_is = next_part(&is, &path);
        bool is_star = has_wanted && wanted.length == 1 && wanted.text[0] == '*';
        if (!has_wanted || !has_is)
            return has_wanted ? FITS_ABOVE : has_is ? FITS_BELOW : FITS;
        if (!is_star &&
            (wanted.length != is.length || memcmp(wanted.text, is.text, is.length) != 0))
            return FITS_NOT;
        if (wanted.is_each != is.is_each) /* "sinks" is above "sinks[].topic" */
            return wanted.is_each && *path == '\0' ? FITS_ABOVE : FITS_NOT;
    }
}

/* ---- checks ---------------------------------------------------------------------------------- */

static mcp_status refuse_at(const config *self, const config_entry *entry, const char *path,
                            mcp_error *err, const char *words)
{
    if (!entry)
        return mcp_error_set(err, MCP_E_PARAMS, "%s: %s: %s", self->name, path, words);
    return mcp_error_set(err, MCP_E_PARAMS, "%s:%d:%d: %s: %s", self->name, entry->line,
                         entry->column, path, words);
}

static const char *nearest(const config *self, const char *path)
{
    const char *best = NULL;
    size_t distance = HINT_DISTANCE;

    for (const config_key *key = self->keys; key->name; key++)
        cli_nearer(&best, &distance, path, key->name);
    return best;
}

static mcp_status refuse_unknown(const config *self, const config_entry *entry, mcp_error *err)
{
    const char *near = nearest(self, entry->path);
    char words[300];

    snprintf(words, sizeof words, "unknown key%s%s%s", near ? "; did you mean " : "",
             near ? near : "", near ? "?" : "");
    return refuse_at(self, entry, entry->path, err, words);
}

static bool is_choice(const config_key *key, const char *text)
{
    for (const char *const *choice = key->choices; text && *choice; choice++)
        if (strcmp(*choice, text) == 0)
            return true;
    return false;
}

static bool is_within(const config_key *key, int64_t number)
{
    return (key->min == 0 && key->max == 0) || (number >= key->min && number <= key->max);
}

static bool has_type(const config_key *key, const config_entry *entry)
{
    switch (key->type) {
    case CONFIG_STRING:
        return entry->kind == CONFIG_IS_STRING;
    case CONFIG_CHOICE:
        return entry->kind == CONFIG_IS_STRING && is_choice(key, entry->text);
    case CONFIG_INT:
        return entry->kind == CONFIG_IS_INT && is_within(key, entry->number);
    case CONFIG_NUMBER:
        return entry->kind == CONFIG_IS_INT || entry->kind == CONFIG_IS_FLOAT;
    case CONFIG_BOOL:
        return entry->kind == CONFIG_IS_BOOL;
    case CONFIG_STRINGS:
        return entry->kind == CONFIG_IS_STRINGS;
    case CONFIG_ANY:
        break;
    }
    return true;
}

static void put_choices(char *out, size_t size, const config_key *key)
{
    size_t used = (size_t)snprintf(out, size, "wants ");

    for (const char *const *choice = key->choices; *choice && used < size; choice++)
        used += (size_t)snprintf(out + used, size - used, "%s%s",
                                 choice == key->choices ? ""
                                 : choice[1]            ? ", "
                                                        : " or ",
                                 *choice);
}

static mcp_status refuse_type(const config *self, const config_entry *entry, const config_key *key,
                              mcp_error *err)
{
    static const char *const wanted[] = {
        [CONFIG_STRING] = "wants a string",           [CONFIG_INT] = "wants a whole number",
        [CONFIG_NUMBER] = "wants a number",           [CONFIG_BOOL] = "wants true or false",
        [CONFIG_STRINGS] = "wants a list of strings",
    };
    char words[300];

    if (key->type == CONFIG_CHOICE)
        put_choices(words, sizeof words, key);
    else if (key->type == CONFIG_INT && (key->min != 0 || key->max != 0))
        snprintf(words, sizeof words, "wants a whole number from %" PRId64 " to %" PRId64, key->min,
                 key->max);
    else
        snprintf(words, sizeof words, "%s", wanted[key->type]);
    return refuse_at(self, entry, entry->path, err, words);
}

/* How an entry stands to all keys. `exact` is set where one has its very path. */
static bool is_known(const config *self, const config_entry *entry, const config_key **exact)
{
    bool is_table = entry->kind == CONFIG_IS_TABLE || entry->kind == CONFIG_IS_TABLES;
    bool is_known = false;

    *exact = NULL;
    for (const config_key *key = self->keys; key->name; key++) {
        /* "x = []" may stand where an array of tables is expected. */
        bool is_open = is_table || entry->kind == CONFIG_IS_STRINGS;
        enum fit how = fit(key->name, entry->path);
        bool is_any = key->type == CONFIG_ANY;
        if (how == FITS && (!*exact || has_type(key, entry))) /* one key may have two types */
            *exact = key;
        is_known = is_known || how == FITS || (how == FITS_BELOW && is_any) ||
                   (how == FITS_ABOVE && is_open);
    }
    return is_known;
}

static mcp_status check_entry(const config *self, const config_entry *entry, mcp_error *err)
{
    const config_key *key = NULL;

    if (!is_known(self, entry, &key))
        return refuse_unknown(self, entry, err);
    return !key || has_type(key, entry) ? MCP_OK : refuse_type(self, entry, key, err);
}

static bool is_earlier(const config_entry *one, const config_entry *other)
{
    return !other || one->line < other->line ||
           (one->line == other->line && one->column < other->column);
}

/* The first fault of the file is reported. */
static mcp_status check(const config *self, mcp_error *err)
{
    const config_entry *worst = NULL;

    for (const config_entry *entry = self->document.first; entry; entry = entry->next)
        if (is_earlier(entry, worst) && check_entry(self, entry, NULL) != MCP_OK)
            worst = entry;
    return worst ? check_entry(self, worst, err) : MCP_OK;
}

/* ---- reading --------------------------------------------------------------------------------- */

mcp_status config_parse(config **out, const char *text, size_t length, const char *name,
                        const config_key *keys, mcp_error *err)
{
    config *self = mcp_alloc_zeroed(1, sizeof *self);
    mcp_status st = MCP_E_NOMEM;

    if (self) {
        self->arena = mcp_arena_new(0);
        self->name = self->arena ? mcp_arena_strdup(self->arena, name) : NULL;
        self->keys = keys;
    }
    if (!self || !self->name)
        (void)mcp_error_set(err, MCP_E_NOMEM, "no memory to read %s", name);
    else if (length > CONFIG_SIZE_MAX)
        st = mcp_error_set(err, MCP_E_LIMIT, "%s is larger than %zu bytes", name, CONFIG_SIZE_MAX);
    else
        st = config_toml_read(&self->document, self->arena, text, length, name, err);
    if (st == MCP_OK)
        st = check(self, err);
    if (st != MCP_OK) {
        config_free(self);
        return st;
    }
    *out = self;
    return MCP_OK;
}

static mcp_status check_mode(FILE *in, const char *path, unsigned flags, mcp_error *err)
{
    struct stat about;

    if (fstat(fileno(in), &about) != 0)
        return mcp_error_errno(err, errno, "%s", path);
    if (S_ISDIR(about.st_mode))
        return mcp_error_set(err, MCP_E_IO, "%s is a directory", path);
    if ((flags & CONFIG_PRIVATE) && (about.st_mode & (S_IRWXG | S_IRWXO)))
        return mcp_error_set(err, MCP_E_DENIED,
                             "%s: others than its owner can open it; it needs the mode 0600", path);
    return MCP_OK;
}

static mcp_status read_all(mcp_buf *text, FILE *in, const char *path, mcp_error *err)
{
    size_t got = 0;

    do {
        char *room = mcp_buf_reserve(text, CHUNK);
        got = room ? fread(room, 1, CHUNK, in) : 0;
        if (got > 0)
            mcp_buf_commit(text, got);
    } while (got > 0);
    if (ferror(in))
        return mcp_error_errno(err, errno, "%s cannot be read", path);
    if (text->status != MCP_OK)
        return mcp_error_set(err, text->status, "%s cannot be read: %s", path,
                             mcp_status_words(text->status));
    return MCP_OK;
}

mcp_status config_read(config **out, const char *path, const config_key *keys, unsigned flags,
                       mcp_error *err)
{
    FILE *in = fopen(path, "re");
    mcp_buf text;

    if (!in && errno == ENOENT && (flags & CONFIG_OPTIONAL))
        return config_parse(out, "", 0, path, keys, err);
    if (!in)
        return mcp_error_errno(err, errno, "%s cannot be opened", path);
    mcp_buf_init(&text, CONFIG_SIZE_MAX + 2 * CHUNK);
    mcp_status st = check_mode(in, path, flags, err);
    if (st == MCP_OK)
        st = read_all(&text, in, path, err);
    if (st == MCP_OK)
        st = config_parse(out, text.data ? text.data : "", text.length, path, keys, err);
    mcp_buf_clear(&text);
    (void)fclose(in);
    return st;
}

void config_free(config *self)
{
    if (!self)
        return;
    mcp_arena_free(self->arena);
    free(self);
}

/* ---- values ---------------------------------------------------------------------------------- */

static const mcp_json *member(const mcp_json *object, const struct part *part)
{
    for (size_t i = 0; i < mcp_json_count(object); i++) {
        size_t length = 0;
        const char *name = mcp_json_name(object, i, &length);
        if (length == part->length && memcmp(name, part->text, length) == 0)
            return mcp_json_item(object, i);
    }
    return NULL;
}

const mcp_json *config_value(const config *self, const char *path)
{
    const mcp_json *at = self->document.root;
    struct part part;

    while (at && next_part(&part, &path))
        at = mcp_json_is_object(at) ? member(at, &part) : NULL;
    return at;
}

const char *config_string(const config *self, const char *path)
{
    return mcp_json_string(config_value(self, path), NULL);
}

int64_t config_int(const config *self, const char *path, int64_t fallback)
{
    int64_t number = fallback;

    return mcp_json_int(config_value(self, path), &number) ? number : fallback;
}

double config_number(const config *self, const char *path, double fallback)
{
    double number = fallback;

    return mcp_json_double(config_value(self, path), &number) ? number : fallback;
}

bool config_bool(const config *self, const char *path, bool fallback)
{
    bool is_set = fallback;

    return mcp_json_bool(config_value(self, path), &is_set) ? is_set : fallback;
}

static const config_entry *find_entry(const config *self, const char *path)
{
    const config_entry *found = NULL;

    for (const config_entry *entry = self->document.first; entry; entry = entry->next)
        if (strcmp(entry->path, path) == 0 && is_earlier(entry, found))
            found = entry;
    return found;
}

const char *config_place(const config *self, const char *path, mcp_arena *arena)
{
    const config_entry *entry = find_entry(self, path);

    if (!entry)
        return mcp_arena_printf(arena, "%s: ", self->name);
    return mcp_arena_printf(arena, "%s:%d:%d: ", self->name, entry->line, entry->column);
}

mcp_status config_refuse(const config *self, const char *path, mcp_error *err, const char *format,
                         ...)
{
    char words[240];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(words, sizeof words, format, arguments);
    va_end(arguments);
    return refuse_at(self, find_entry(self, path), path, err, words);
}
