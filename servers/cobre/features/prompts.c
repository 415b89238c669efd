/*
 * prompts.c - the prompts that need more than their arguments: a list of directories, the columns
 * of a table. The texts are in prompts/.
 */
#include <stdio.h>
#include <string.h>

#include "features/resources.h"
#include "gateway/app.h"
#include "query/tables.h"

enum { DIRECTORIES_MAX = 100, LIST_MAX = 1 << 20 };

static mcp_status list_directories(mcp_call *call, void *data);
static mcp_status list_columns(mcp_call *call, void *data);

const mcp_prompt cobre_prompts[] = {
    { .name = COBRE_PROMPT_SETUP },
    { .name = COBRE_PROMPT_DIAGNOSE },
    { .name = COBRE_PROMPT_COMPARE, .fill = list_directories, .flags = MCP_JSON_ARGUMENTS },
    { .name = COBRE_PROMPT_EXPLAIN, .fill = list_columns },
    { 0 },
};

/* ---- cobre/compare-runs ---------------------------------------------------------------------- */

static size_t put_directory(mcp_buf *list, const char *text, size_t length)
{
    while (length > 0 && text[0] == ' ') {
        text++;
        length--;
    }
    while (length > 0 && text[length - 1] == ' ')
        length--;
    if (length == 0)
        return 0;
    mcp_buf_puts(list, list->length > 0 ? "\n- " : "- ");
    mcp_buf_append(list, text, length);
    return 1;
}

/* The paths between commas. */
static size_t put_listed(mcp_buf *list, const char *text)
{
    size_t count = 0;

    for (;;) {
        size_t length = strcspn(text, ",");
        count += put_directory(list, text, length);
        if (text[length] == '\0')
            return count;
        text += length + 1;
    }
}

/* False: an item is no string. */
static bool put_array(mcp_buf *list, const mcp_json *array, size_t *count)
{
    for (size_t i = 0; i < mcp_json_count(array); i++) {
        size_t length = 0;
        const char *text = mcp_json_string(mcp_json_item(array, i), &length);
        if (!text)
            return false;
        *count += put_directory(list, text, length);
    }
    return true;
}

/* Arguments of prompts are strings in every revision, so a list is the text of one; the contract's
 * schema has an array, which is taken, too. */
static mcp_status list_directories(mcp_call *call, void *data)
{
    const mcp_json *array = mcp_arg_json(call, "output_dirs");
    const char *text = mcp_arg_string(call, "output_dirs");
    size_t count = 0;
    bool is_valid = text || mcp_json_is_array(array);
    mcp_buf list;

    (void)data;
    mcp_buf_init(&list, LIST_MAX);
    if (text && text[strspn(text, " ")] == '[')
        is_valid = mcp_json_read(&array, mcp_call_arena(call), text, strlen(text), NULL) == MCP_OK;
    else if (text)
        count = put_listed(&list, text);
    if (is_valid && mcp_json_is_array(array))
        is_valid = put_array(&list, array, &count);
    mcp_status st = list.status;
    if (st != MCP_OK)
        mcp_error_set(mcp_call_error(call), st, "output_dirs is too long");
    else if (!is_valid || count < 2 || count > DIRECTORIES_MAX)
        st = mcp_error_set(mcp_call_error(call), MCP_E_PARAMS,
                           "output_dirs must be 2 to %d directories: a JSON array of strings, or "
                           "paths between commas",
                           DIRECTORIES_MAX);
    else
        st = mcp_call_set_placeholder(call, "list", list.data);
    mcp_buf_clear(&list);
    return st;
}

/* ---- cobre/explain-results ------------------------------------------------------------------- */

static mcp_status list_columns(mcp_call *call, void *data)
{
    static const char *const types[] = { "hydros", "thermals", "buses", "costs" };
    const char *type = mcp_arg_string(call, "entity_type");
    const query_table *table = NULL;
    const char *names[QUERY_COLUMNS_MAX];
    mcp_buf list;

    (void)data;
    for (size_t i = 0; type && i < sizeof types / sizeof types[0]; i++)
        if (strcmp(type, types[i]) == 0)
            table = query_table_find(type);
    if (!table)
        return mcp_error_set(mcp_call_error(call), MCP_E_PARAMS,
                             "entity_type must be hydros, thermals, buses or costs");
    size_t count = query_columns_all(names, table);
    mcp_buf_init(&list, LIST_MAX);
    for (size_t i = 0; i < count; i++)
        mcp_buf_printf(&list, "%s`%s`", i > 0 ? ", " : "", names[i]);
    mcp_status st = list.status;
    if (st == MCP_OK)
        st = mcp_call_set_placeholder(call, "columns", list.data);
    mcp_buf_clear(&list);
    return st;
}
