/*
 * uri.c - texts of sinks: read, made absolute, written in their normal form.
 *
 * A path is normalised by its text alone: "a/../b" is "b" even where a is a link. The caller that
 * opens the folder resolves links, and gives the result to casparian_sink_uri_move.
 */
#include "sinks/uri.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "mcp/buf.h"

#define PAIR_MAX 16 /* keys in a query */

static const char *const kinds[] = {
    [CASPARIAN_SINK_PARQUET] = "parquet",
    [CASPARIAN_SINK_CSV] = "csv",
    [CASPARIAN_SINK_DUCKDB] = "duckdb",
};
static const char *const modes[] = {
    [CASPARIAN_SINK_APPEND] = "append",
    [CASPARIAN_SINK_REPLACE] = "replace",
    [CASPARIAN_SINK_ERROR] = "error",
};
static const char *const compressions[] = {
    [CASPARIAN_SNAPPY] = "snappy",
    [CASPARIAN_ZSTD] = "zstd",
    [CASPARIAN_UNCOMPRESSED] = "none",
};
static const char *const booleans[] = { "false", "true" };

#define COUNT(array) (sizeof array / sizeof array[0])

const char *casparian_sink_kind_text(casparian_sink_kind kind)
{
    return kinds[kind];
}

const char *casparian_sink_mode_text(casparian_sink_mode mode)
{
    return modes[mode];
}

/* ---- values of the query --------------------------------------------------------------------- */

static mcp_status say_value(mcp_error *err, const char *key, const char *value, const char *wanted)
{
    return mcp_error_set(err, MCP_E_PARAMS, "the sink's %s is '%.60s', not %s", key, value, wanted);
}

static mcp_status take_word(size_t *out, const char *const *words, size_t count, const char *key,
                            const char *value, mcp_error *err)
{
    char wanted[80] = "";

    for (size_t i = 0; i < count; i++) {
        if (strcmp(words[i], value) == 0) {
            *out = i;
            return MCP_OK;
        }
        size_t length = strlen(wanted);
        snprintf(wanted + length, sizeof wanted - length, "%s%s", i > 0 ? " or " : "", words[i]);
    }
    return say_value(err, key, value, wanted);
}

static mcp_status take_compression(casparian_sink_uri *out, const char *value, mcp_error *err)
{
    size_t at = 0;
    mcp_status st = take_word(&at, compressions, COUNT(compressions), "compression", value, err);

    out->compression = (casparian_compression)at;
    return st;
}

static mcp_status take_header(casparian_sink_uri *out, const char *value, mcp_error *err)
{
    size_t at = 0;
    mcp_status st = take_word(&at, booleans, COUNT(booleans), "header", value, err);

    out->has_header = at == 1;
    return st;
}

static mcp_status take_delimiter(casparian_sink_uri *out, const char *value, mcp_error *err)
{
    unsigned char byte = (unsigned char)value[0];
    bool is_fine = byte == '\t' || (byte < 0x7F && (ispunct(byte) || byte == ' ') && byte != '"');

    if (!is_fine || value[1] != '\0')
        return say_value(err, "delimiter", value,
                         "one sign of punctuation, a blank or a tab (%09)");
    out->delimiter = (char)byte;
    return MCP_OK;
}

static mcp_status take_table(casparian_sink_uri *out, const char *value, mcp_error *err)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
    static const char others[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";

    if (!*value || !strchr(letters, *value) || value[strspn(value, others)] != '\0' ||
        strlen(value) > CASPARIAN_TABLE_MAX || strncmp(value, "__cf_", 5) == 0)
        return say_value(err, "table", value, "a name of at most 63 letters, digits and '_'");
    out->table = value;
    return MCP_OK;
}

static mcp_status take_mode(casparian_sink_uri *out, const char *value, mcp_error *err)
{
    size_t at = 0;
    mcp_status st = take_word(&at, modes, COUNT(modes), "mode", value, err);

    out->mode = (casparian_sink_mode)at;
    return st;
}

static const struct {
    const char *key;
    casparian_sink_kind kind;
    mcp_status (*take)(casparian_sink_uri *out, const char *value, mcp_error *err);
} keys[] = {
    { "compression", CASPARIAN_SINK_PARQUET, take_compression },
    { "header", CASPARIAN_SINK_CSV, take_header },
    { "delimiter", CASPARIAN_SINK_CSV, take_delimiter },
    { "table", CASPARIAN_SINK_DUCKDB, take_table },
    { "mode", CASPARIAN_SINK_DUCKDB, take_mode },
};

static int hex_of(char digit)
{
    const char *digits = "0123456789abcdef", *at = strchr(digits, tolower((unsigned char)digit));

    return digit && at ? (int)(at - digits) : -1;
}

/* Percent-decode in place. @return false: there is a '%' without two digits, or it is a NUL */
static bool decode(char *text)
{
    char *to = text;

    for (; *text; text++) {
        if (*text != '%') {
            *to++ = *text;
            continue;
        }
        int high = hex_of(text[1]), low = high < 0 ? -1 : hex_of(text[2]);
        if (low < 0 || high + low == 0)
            return false;
        *to++ = (char)(high * 16 + low);
        text += 2;
    }
    *to = '\0';
    return true;
}

static mcp_status take_pair(casparian_sink_uri *out, char *pair, mcp_error *err)
{
    char *value = strchr(pair, '=');

    if (value)
        *value++ = '\0';
    if (!value || !decode(value))
        return mcp_error_set(err, MCP_E_PARAMS, "'%.60s' in the sink's query is no key=value",
                             pair);
    for (size_t i = 0; i < COUNT(keys); i++)
        if (strcmp(keys[i].key, pair) == 0 && keys[i].kind == out->kind)
            return keys[i].take(out, value, err);
    return mcp_error_set(err, MCP_E_PARAMS, "a %s sink has no '%.60s'", kinds[out->kind], pair);
}

/* `query` is changed. */
static mcp_status take_query(casparian_sink_uri *out, char *query, mcp_error *err)
{
    mcp_status st = MCP_OK;
    size_t count = 0;

    while (query && *query && st == MCP_OK) {
        char *next = strchr(query, '&');
        if (next)
            *next++ = '\0';
        if (++count > PAIR_MAX)
            return mcp_error_set(err, MCP_E_PARAMS, "the sink's query has more than %d keys",
                                 PAIR_MAX);
        st = take_pair(out, query, err);
        query = next;
    }
    return st;
}

/* ---- paths ----------------------------------------------------------------------------------- */

/* Take "." and ".." and superfluous slashes out of an absolute path, in place.
 * @return whether there was a ".." */
static bool normalise(char *path)
{
    bool has_parent_step = false;
    char *to = path; /* the end of what is done; no slash at its end */
    const char *from = path;

    while (*from) {
        from += strspn(from, "/");
        size_t length = strcspn(from, "/");
        if (length == 2 && from[0] == '.' && from[1] == '.') {
            has_parent_step = true;
            while (to > path && *--to != '/')
                ;
        } else if (length > 0 && !(length == 1 && from[0] == '.')) {
            *to++ = '/';
            memmove(to, from, length);
            to += length;
        }
        from += length;
    }
    if (to == path)
        *to++ = '/';
    *to = '\0';
    return has_parent_step;
}

/* The folder of an absolute path. */
static const char *parent_of(mcp_arena *arena, const char *path)
{
    const char *slash = strrchr(path, '/');

    return mcp_arena_strndup(arena, path, slash == path ? 1 : (size_t)(slash - path));
}

static bool has_control(const char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < 0x20 || *text == 0x7F)
            return true;
    return false;
}

/* `out->path`, absolute and normal. */
static mcp_status take_path(casparian_sink_uri *out, mcp_arena *arena, const char *path,
                            const char *base, mcp_error *err)
{
    if (!*path || has_control(path))
        return mcp_error_set(err, MCP_E_PARAMS, "the sink has %s",
                             *path ? "control characters in its path" : "no path");
    char *whole = path[0] == '/' ? mcp_arena_strdup(arena, path)
                                 : mcp_arena_printf(arena, "%s/%s", base, path);
    if (!whole)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a sink");
    out->has_parent_step = normalise(whole);
    out->path = whole;
    return MCP_OK;
}

/* The kind of file://, by the ending. Files of Parquet and CSV get names of their own, in the
 * folder that is named. */
static mcp_status take_ending(casparian_sink_uri *out, mcp_arena *arena, mcp_error *err)
{
    static const struct {
        const char *ending;
        casparian_sink_kind kind;
    } endings[] = { { ".parquet", CASPARIAN_SINK_PARQUET },
                    { ".csv", CASPARIAN_SINK_CSV },
                    { ".duckdb", CASPARIAN_SINK_DUCKDB },
                    { ".db", CASPARIAN_SINK_DUCKDB } };
    const char *name = strrchr(out->path, '/') + 1, *dot = strrchr(name, '.');
    size_t i = 0;

    while (i < COUNT(endings) && (!dot || strcmp(endings[i].ending, dot) != 0))
        i++;
    if (i == COUNT(endings))
        return mcp_error_set(err, MCP_E_PARAMS,
                             "'%.100s' ends in none of .parquet, .csv, .duckdb and .db", name);
    out->kind = endings[i].kind;
    if (out->kind == CASPARIAN_SINK_DUCKDB)
        return MCP_OK;
    out->warning = mcp_arena_printf(
        arena, "the file name '%s' is not used: each output has a file of its own in the folder",
        name);
    out->path = parent_of(arena, out->path);
    return out->warning && out->path ? MCP_OK
                                     : mcp_error_set(err, MCP_E_NOMEM, "no memory for a sink");
}

/* ---- the normal form ------------------------------------------------------------------------- */

static void put_pair(mcp_buf *text, const char *key, const char *value)
{
    mcp_buf_putc(text, memchr(text->data, '?', text->length) ? '&' : '?');
    mcp_buf_printf(text, "%s=%s", key, value);
}

static void put_query(mcp_buf *text, const casparian_sink_uri *uri)
{
    char code[4];

    if (uri->compression != CASPARIAN_SNAPPY)
        put_pair(text, "compression", compressions[uri->compression]);
    if (!uri->has_header)
        put_pair(text, "header", "false");
    if (uri->delimiter != ',') {
        snprintf(code, sizeof code, "%%%02X", (unsigned)(unsigned char)uri->delimiter);
        put_pair(text, "delimiter", code);
    }
    if (uri->table)
        put_pair(text, "table", uri->table);
    if (uri->mode != CASPARIAN_SINK_APPEND)
        put_pair(text, "mode", modes[uri->mode]);
}

/* `dir` and `text`, of what is known by now. */
static mcp_status complete(casparian_sink_uri *out, mcp_arena *arena, mcp_error *err)
{
    mcp_buf text;

    mcp_buf_init(&text, 2 * CASPARIAN_SINK_URI_MAX);
    mcp_buf_printf(&text, "%s://%s", kinds[out->kind], out->path);
    if (text.status == MCP_OK)
        put_query(&text, out);
    mcp_status st = text.status;
    out->text = st == MCP_OK ? mcp_arena_strndup(arena, text.data, text.length) : NULL;
    mcp_buf_clear(&text);
    out->dir = out->kind == CASPARIAN_SINK_DUCKDB ? parent_of(arena, out->path) : out->path;
    if (st == MCP_OK && (!out->text || !out->dir))
        st = MCP_E_NOMEM;
    return st == MCP_OK ? MCP_OK : mcp_error_set(err, st, "no room for the text of a sink");
}

/* The kind that a scheme names; `is_file`: the ending tells. */
static mcp_status take_scheme(casparian_sink_uri *out, bool *is_file, const char *scheme,
                              size_t length, mcp_error *err)
{
    *is_file = length == strlen("file") && memcmp(scheme, "file", length) == 0;
    if (*is_file)
        return MCP_OK;
    for (size_t i = 0; i < COUNT(kinds); i++) {
        if (length == strlen(kinds[i]) && memcmp(scheme, kinds[i], length) == 0) {
            out->kind = (casparian_sink_kind)i;
            return MCP_OK;
        }
    }
    return mcp_error_set(err, MCP_E_PARAMS,
                         "'%.*s' is none of the sinks parquet, csv, duckdb and file",
                         (int)(length < 40 ? length : 40), scheme);
}

static mcp_status read_uri(casparian_sink_uri *out, mcp_arena *arena, char *text, const char *base,
                           mcp_error *err)
{
    char *path = strstr(text, "://"), *query = NULL;
    bool is_file = false;
    mcp_status st = MCP_OK;

    if (path) {
        st = take_scheme(out, &is_file, text, (size_t)(path - text), err);
        path += strlen("://");
        query = strchr(path, '?');
        if (query)
            *query++ = '\0';
    }
    if (st == MCP_OK)
        st = take_path(out, arena, path ? path : text, base, err);
    if (st == MCP_OK && is_file)
        st = take_ending(out, arena, err);
    if (st == MCP_OK && out->kind == CASPARIAN_SINK_DUCKDB && strcmp(out->path, "/") == 0)
        st = mcp_error_set(err, MCP_E_PARAMS, "the sink names no database file");
    if (st == MCP_OK)
        st = take_query(out, query, err);
    return st == MCP_OK ? complete(out, arena, err) : st;
}

mcp_status casparian_sink_uri_read(casparian_sink_uri *out, mcp_arena *arena, const char *text,
                                   const char *base, mcp_error *err)
{
    casparian_sink_uri made = { .kind = CASPARIAN_SINK_PARQUET,
                                .has_header = true,
                                .delimiter = ',' };

    if (strnlen(text, CASPARIAN_SINK_URI_MAX + 1) > CASPARIAN_SINK_URI_MAX)
        return mcp_error_set(err, MCP_E_LIMIT, "a sink has at most %d bytes",
                             CASPARIAN_SINK_URI_MAX);
    char *copy = mcp_arena_strdup(arena, text);
    if (!copy)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a sink");
    mcp_status st = read_uri(&made, arena, copy, base, err);
    if (st == MCP_OK)
        *out = made;
    return st;
}

mcp_status casparian_sink_uri_move(casparian_sink_uri *out, mcp_arena *arena,
                                   const casparian_sink_uri *uri, const char *dir, mcp_error *err)
{
    casparian_sink_uri made = *uri;
    const char *name = uri->kind == CASPARIAN_SINK_DUCKDB ? strrchr(uri->path, '/') : "";

    if (dir[0] != '/')
        return mcp_error_set(err, MCP_E_PARAMS, "'%.100s' is no absolute path", dir);
    char *path = mcp_arena_printf(arena, "%s%s", dir, name);
    if (!path)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a sink");
    normalise(path);
    made.path = path;
    mcp_status st = complete(&made, arena, err);
    if (st == MCP_OK)
        *out = made;
    return st;
}
