/*
 * jsonl.c - one JSON object a line: its members are the cells of a row.
 *
 * A member has the type that it has in its line, and a line without a member has no such cell. So
 * lines of one shape share batches, and where the shape changes the SDK begins a new batch. Of a
 * member that comes twice in its line the last value counts, as for most readers of JSON; but not
 * all read it so, hence the line is also among those that cannot be read. Nested values are texts
 * of JSON. An integer beyond int64 is the text of its digits: a decimal would need one precision
 * for all cells of its column.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "parsers/input/name.h"
#include "parsers/input/rejects.h"
#include "parsers/jsonl_native/jsonl.h"
#include "parsers/jsonl_native/value.h"

#define LINE_BYTES_MAX ((size_t)8 << 20)

struct jsonl {
    cf_sink *sink;
    cf_output *rows;
    cf_output *rejects;
    int64_t line;
    int64_t set_in[CF_COLUMNS_MAX + 2]; /* the line that set the column last; 2: our own columns */
    bool has_duplicate;                 /* the line has a member twice */
    bool is_begun;                      /* past the byte order mark */
    bool is_skipping;                   /* the rest of a line that is too long */
    char scratch[(size_t)8 << 20];
};

static void set_value(cf_output *rows, size_t column, const struct casparian_json_value *value)
{
    switch (value->kind) {
    case CASPARIAN_JSON_NULL:
        cf_set_null(rows, column);
        break;
    case CASPARIAN_JSON_BOOLEAN:
        cf_set_bool(rows, column, value->boolean);
        break;
    case CASPARIAN_JSON_INTEGER:
        cf_set_i64(rows, column, value->integer);
        break;
    case CASPARIAN_JSON_NUMBER:
        cf_set_f64(rows, column, value->number);
        break;
    case CASPARIAN_JSON_LONG:
    case CASPARIAN_JSON_STRING:
    case CASPARIAN_JSON_NESTED:
        cf_set_str(rows, column, value->bytes, value->length);
        break;
    }
}

/* Members with the names of casparian's own columns, which a parser sets: they are data here. */
static void rename_own(char *name, size_t *length)
{
    if (strcasecmp(name, "__cf_row_id") == 0 || strcasecmp(name, "_cf_row_error") == 0) {
        memcpy(name + *length, "_2", 3);
        *length += 2;
    }
}

static const char *read_member(struct jsonl *jsonl, struct casparian_json *json)
{
    struct casparian_json_value value;
    char name[CASPARIAN_NAME_MAX + 1];
    const char *text = NULL;
    size_t length = 0;

    casparian_json_skip_space(json);
    if (!casparian_json_string(json, &text, &length))
        return json->reason;
    const char *reason = casparian_name_copy(name, &length, text, length);
    if (reason)
        return reason;
    rename_own(name, &length);
    size_t column = cf_column_add(jsonl->rows, name, length);
    if (column == CF_NO_COLUMN)
        return "the file has more than 2000 different members";
    jsonl->has_duplicate |= jsonl->set_in[column] == jsonl->line;
    jsonl->set_in[column] = jsonl->line;
    casparian_json_skip_space(json);
    if (!casparian_json_take(json, ':'))
        return "a colon was expected";
    casparian_json_skip_space(json);
    if (!casparian_json_value(json, &value))
        return json->reason;
    set_value(jsonl->rows, column, &value);
    return NULL;
}

/* Set the cells of a row; what is wrong with the line, or NULL. */
static const char *read_object(struct jsonl *jsonl, const char *at, const char *end)
{
    struct casparian_json json = { .at = at, .end = end, .scratch = jsonl->scratch };

    casparian_json_skip_space(&json);
    if (!casparian_json_take(&json, '{'))
        return "the line is not an object";
    casparian_json_skip_space(&json);
    if (!casparian_json_take(&json, '}')) {
        do {
            const char *reason = read_member(jsonl, &json);
            if (reason)
                return reason;
            casparian_json_skip_space(&json);
        } while (casparian_json_take(&json, ','));
        if (!casparian_json_take(&json, '}'))
            return "a comma or brace was expected";
    }
    casparian_json_skip_space(&json);
    return json.at == end ? NULL : "there is text after the object";
}

static bool is_blank(const char *at, size_t length)
{
    size_t i = 0;

    while (i < length && (at[i] == ' ' || at[i] == '\t' || at[i] == '\r'))
        i++;
    return i == length;
}

static void use_line(struct jsonl *jsonl, const char *at, size_t length)
{
    const char *reason = NULL;

    jsonl->line++;
    jsonl->has_duplicate = false;
    if (length > LINE_BYTES_MAX) {
        reason = "the line is longer than 8 MiB";
    } else {
        if (is_blank(at, length))
            return;
        cf_row_new(jsonl->rows);
        reason = read_object(jsonl, at, at + length);
    }
    if (reason) {
        casparian_rejects_add(jsonl->rejects, jsonl->line, reason, at, length);
        return;
    }
    cf_row_id(jsonl->rows, jsonl->line);
    cf_row_commit(jsonl->rows);
    if (jsonl->has_duplicate)
        casparian_rejects_add(jsonl->rejects, jsonl->line,
                              "a member comes twice: its last value is in the row", at, length);
}

static void *jsonl_open(cf_sink *sink, const casparian_source *source)
{
    static const cf_schema open = { NULL, 0, NULL, true };
    struct jsonl *jsonl = malloc(sizeof *jsonl);

    (void)source;
    if (!jsonl)
        return NULL;
    jsonl->sink = sink;
    jsonl->rows = cf_output_open(sink, "rows", &open);
    jsonl->rejects = casparian_rejects_open(sink, "jsonl_parse_errors");
    jsonl->line = 0;
    memset(jsonl->set_in, 0, sizeof jsonl->set_in);
    jsonl->is_begun = jsonl->is_skipping = false;
    return jsonl;
}

static size_t jsonl_feed(void *state, const char *bytes, size_t length, bool is_last)
{
    struct jsonl *jsonl = state;
    const char *at = bytes, *end = bytes + length;

    if (!jsonl->is_begun) {
        if (length < 3 && !is_last)
            return 0;
        if (length >= 3 && memcmp(at, "\xEF\xBB\xBF", 3) == 0)
            at += 3;
        jsonl->is_begun = true;
    }
    while (at < end && cf_sink_status(jsonl->sink) == CF_OK) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        bool is_short = (size_t)(end - at) <= LINE_BYTES_MAX;
        if (!newline && !is_last && is_short && !jsonl->is_skipping)
            return (size_t)(at - bytes);
        const char *stop = newline ? newline : end;
        if (!jsonl->is_skipping)
            use_line(jsonl, at, (size_t)(stop - at));
        jsonl->is_skipping = !newline;
        at = newline ? newline + 1 : end;
    }
    return length;
}

static int jsonl_close(void *state)
{
    struct jsonl *jsonl = state;

    cf_output_close(jsonl->rows);
    cf_output_close(jsonl->rejects);
    free(jsonl);
    return 0;
}

const casparian_parser casparian_jsonl = {
    .id = "jsonl_native",
    .version = "0.1.0",
    .record_max = LINE_BYTES_MAX,
    .open = jsonl_open,
    .feed = jsonl_feed,
    .close = jsonl_close,
};
