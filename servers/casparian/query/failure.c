/*
 * failure.c - see failure.h.
 */
#include "query/failure.h"

#include <stdlib.h>
#include <string.h>

#define MESSAGE_MAX 2000
#define LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

/* What a client sees of the statuses of the layers. */
static const struct {
    mcp_status from, to;
    const char *code, *suggestion;
} kinds[] = {
    { MCP_E_DENIED, MCP_E_DENIED, "sql_not_allowed",
      "Use one SELECT over the views of the catalog, which information_schema.tables lists" },
    { MCP_E_NOT_FOUND, MCP_E_PARSE, "sql_error", NULL },
    { MCP_E_PARSE, MCP_E_PARSE, "sql_error", NULL },
    { MCP_E_LIMIT, MCP_E_PARSE, "sql_error", "Read fewer rows or columns, or aggregate them" },
    { MCP_E_PARAMS, MCP_E_PARAMS, "invalid_arguments", NULL },
    { MCP_E_TIMEOUT, MCP_E_TIMEOUT, "query_timeout", "Raise timeout_ms, or read fewer rows" },
    { MCP_E_STOPPED, MCP_E_STOPPED, "cancelled", NULL },
    { MCP_E_RESOURCE, MCP_E_NOT_FOUND, "not_found", "Run the query again" },
    { MCP_E_BUSY, MCP_E_BUSY, "queue_full", "Wait for other queries to end" },
    { MCP_E_STORAGE, MCP_E_IO, "store_error", NULL },
    { MCP_E_IO, MCP_E_IO, "store_error", NULL },
    { MCP_E_UNSUPPORTED, MCP_E_UNSUPPORTED, "store_error",
      "Install DuckDB's library, or name it in CAUSEWAY_DUCKDB" },
    { MCP_E_NOMEM, MCP_E_NOMEM, "internal", NULL },
};

/* ---- paths ----------------------------------------------------------------------------------- */

static bool ends_path(char c)
{
    return c == '\0' || strchr(" \t\r\n'\",;()[]{}<>|", c) != NULL;
}

/* The name of a file of the catalog for "/proc/self/fd/N"; else the last component. */
static void put_path(mcp_buf *out, const char *path, size_t length, const casparian_views *views)
{
    static const char prefix[] = "/proc/self/fd/";
    const char *slash = memrchr(path, '/', length);

    if (views && length > strlen(prefix) && strncmp(path, prefix, strlen(prefix)) == 0) {
        long number = strtol(path + strlen(prefix), NULL, 10) - COLUMNS_SEALED_FIRST_FD;
        if (number >= 0 && (size_t)number < views->fd_count) {
            const char *location = views->locations[number];
            const char *base = strrchr(location, '/');
            mcp_buf_puts(out, base ? base + 1 : location);
            return;
        }
    }
    mcp_buf_append(out, slash + 1, (size_t)(path + length - slash - 1));
}

/* The words, with each path reduced to its last component. */
static const char *reduce(const char *words, const casparian_views *views, mcp_arena *arena)
{
    mcp_buf out;
    const char *at = words;

    mcp_buf_init(&out, MESSAGE_MAX + strlen(words) + 1);
    while (*at) {
        bool begins = *at == '/' && (at == words || ends_path(at[-1]) || strchr("=:`", at[-1])) &&
                      !ends_path(at[1]);
        size_t length = 1;
        while (begins && !ends_path(at[length]))
            length++;
        if (begins)
            put_path(&out, at, length, views);
        else
            mcp_buf_putc(&out, *at);
        at += length;
    }
    size_t kept = out.length < MESSAGE_MAX ? out.length : MESSAGE_MAX;
    while (kept > 0 && kept < out.length && ((unsigned char)out.data[kept] & 0xC0) == 0x80)
        kept--;
    const char *reduced = mcp_arena_strndup(arena, out.data ? out.data : "", kept);
    mcp_buf_clear(&out);
    return reduced ? reduced : "no memory for the reason";
}

/* ---- values ---------------------------------------------------------------------------------- */

/* "Conversion Error" of "Conversion Error: Could not ..."; 0: there is no such beginning. */
static size_t class_length(const char *message)
{
    const char *end = strstr(message, " Error: ");
    size_t length = end ? (size_t)(end - message) : 0;
    return strspn(message, LETTERS " ") >= length ? length : 0;
}

/* The engine writes of a statement before it runs, and of data while it runs: also what is "Not
 * implemented", such as the time zone that a column names. */
static const char *without_values(const char *message, mcp_arena *arena)
{
    static const char *const of_statements[] = { "Parser", "Syntax", "Binder", "Catalog",
                                                 "Out of Memory" };
    size_t length = class_length(message);
    if (length == 0)
        return message; /* words of ours */
    for (size_t i = 0; i < sizeof of_statements / sizeof of_statements[0]; i++)
        if (strlen(of_statements[i]) == length && strncmp(message, of_statements[i], length) == 0)
            return message;
    const char *out = mcp_arena_printf(arena,
                                       "%.*s Error: a value of the data does not allow this; what "
                                       "the engine says of it is not shown, since it has values",
                                       (int)length, message);
    return out ? out : "no memory for the reason";
}

/* ---- the failure ----------------------------------------------------------------------------- */

static void list_views(casparian_query_failure *out, const casparian_catalog *catalog,
                       mcp_arena *arena)
{
    const char **names = mcp_arena_array(arena, CASPARIAN_QUERY_AVAILABLE_MAX, sizeof *names);

    if (!names)
        return;
    out->available_count = casparian_views_names(names, CASPARIAN_QUERY_AVAILABLE_MAX, catalog,
                                                 arena);
    out->available = names;
}

mcp_status casparian_query_fail(casparian_query_failure *out, mcp_status st, const char *words,
                                const casparian_catalog *catalog, const casparian_views *views,
                                mcp_arena *arena, mcp_error *err)
{
    casparian_query_failure failure = { .code = "internal" };
    /* A place in the arguments looks like a path, and is none. */
    const char *message = st == MCP_E_PARAMS ? mcp_arena_strdup(arena, words)
                                             : reduce(words, views, arena);
    mcp_status told = MCP_E_INTERNAL;

    failure.message = message ? message : "";
    failure.redacted = without_values(failure.message, arena);
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (kinds[i].from != st)
            continue;
        told = kinds[i].to;
        failure.code = kinds[i].code;
        failure.suggestion = kinds[i].suggestion;
    }
    if (st == MCP_E_NOT_FOUND) {
        list_views(&failure, catalog, arena);
        failure.suggestion = views ? views->left_out : NULL;
    }
    if (out)
        *out = failure;
    return mcp_error_set(err, told, "%s", failure.message);
}
