/*
 * nested.c - a value of JSON, walked along the name of its type.
 */
#include "query/nested.h"

#include <stdlib.h>
#include <string.h>

#include "keys/base64.h"

/* Of a text that is shown. */
#define TEXT_MAX ((size_t)64 << 20)

/* The name of a type, or a part of it. */
typedef struct span {
    const char *text;
    size_t length;
} span;

typedef struct walk {
    mcp_json_writer *out;
    const casparian_redaction *redaction;
    mcp_arena *arena;
} walk;

static void put_value(const walk *self, bool is_sensitive, span type, const mcp_json *value);

/* ---- names of types -------------------------------------------------------------------------- */

static bool begins_with(span type, const char *word)
{
    size_t length = strlen(word);

    return type.length >= length && memcmp(type.text, word, length) == 0;
}

/* The bytes up to and with the end of what is quoted. */
static size_t quoted_length(span text)
{
    const char *end = memchr(text.text + 1, text.text[0], text.length - 1);

    return end ? (size_t)(end + 1 - text.text) : text.length;
}

/* The bytes before the first comma outside quotes and parentheses. */
static size_t part_length(span parts)
{
    size_t at = 0, depth = 0;

    while (at < parts.length && (depth > 0 || parts.text[at] != ',')) {
        char byte = parts.text[at];
        if (byte == '"' || byte == '\'') {
            at += quoted_length((span){ parts.text + at, parts.length - at });
            continue;
        }
        depth += byte == '(';
        depth -= byte == ')' && depth > 0;
        at++;
    }
    return at;
}

/* Take the first part of "a INTEGER, b VARCHAR". */
static span next_part(span *parts)
{
    span part = { parts->text, part_length(*parts) };
    size_t behind = part.length;

    while (behind < parts->length && strchr(", ", parts->text[behind]))
        behind++;
    *parts = (span){ parts->text + behind, parts->length - behind };
    return part;
}

/* What is between the parentheses of "STRUCT(...)". */
static span inside(span type)
{
    const char *begin = memchr(type.text, '(', type.length);
    size_t before = begin ? (size_t)(begin + 1 - type.text) : type.length;
    size_t rest = type.length - before;

    return (span){ type.text + before, rest > 0 ? rest - 1 : 0 };
}

/* The type of a member of a struct: what is behind its name, in which quotes are doubled. */
static span member_type(span member)
{
    size_t at = 0;

    while (at < member.length && member.text[at] != ' ')
        at += member.text[at] == '"' ? quoted_length((span){ member.text + at, member.length - at })
                                     : 1;
    at += at < member.length;
    return (span){ member.text + at, member.length - at };
}

/* The type of the items of "INTEGER[]" or "INTEGER[3]". */
static span item_type(span list)
{
    size_t length = list.length;

    while (length > 0 && list.text[length - 1] != '[')
        length--;
    return (span){ list.text, length > 0 ? length - 1 : 0 };
}

static bool is_list(span type)
{
    return type.length > 0 && type.text[type.length - 1] == ']';
}

/* Whether values are numbers or times, which JSON may have as texts. */
static bool is_plain(span type)
{
    static const char *const words[] = { "DECIMAL(", "TINYINT",  "SMALLINT",  "INTEGER",  "BIGINT",
                                         "HUGEINT",  "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT",
                                         "UHUGEINT", "BIGNUM",   "FLOAT",     "DOUBLE",   "DATE",
                                         "TIME",     "INTERVAL" };
    bool is_known = false;

    for (size_t i = 0; i < sizeof words / sizeof words[0] && !is_known; i++)
        is_known = begins_with(type, words[i]);
    return is_known;
}

static bool has_map(span type)
{
    for (size_t i = 0; i + 4 <= type.length; i++)
        if (memcmp(type.text + i, "MAP(", 4) == 0)
            return true;
    return false;
}

/* ---- texts ----------------------------------------------------------------------------------- */

/* Append a text of a flat type as it is shown. */
static void append_text(mcp_buf *shown, const walk *self, bool is_sensitive, span type,
                        const char *text, size_t length)
{
    bool is_hidden = is_sensitive || self->redaction->settings->numbers || !is_plain(type);
    mcp_buf bytes;

    mcp_buf_init(&bytes, TEXT_MAX);
    if (!is_hidden)
        mcp_buf_append(shown, text, length);
    else if (begins_with(type, "BLOB") && self->redaction->mode == CASPARIAN_REDACTION_HASH &&
             keys_unbase64(&bytes, text, length, NULL) == MCP_OK)
        casparian_redact_text(shown, self->redaction, is_sensitive, bytes.data ? bytes.data : "",
                              bytes.length);
    else
        casparian_redact_text(shown, self->redaction, is_sensitive, text, length);
    mcp_buf_clear(&bytes);
}

static void put_text(const walk *self, bool is_sensitive, span type, const mcp_json *value)
{
    size_t length = 0;
    const char *text = mcp_json_string(value, &length);
    mcp_buf shown;

    mcp_buf_init(&shown, TEXT_MAX);
    append_text(&shown, self, is_sensitive, type, text, length);
    if (shown.status == MCP_OK)
        mcp_write_string_n(self->out, shown.data ? shown.data : "", shown.length);
    else
        mcp_write_string(self->out, "[hash:unavailable]");
    mcp_buf_clear(&shown);
}

/* The value as a whole, as a text. */
static void put_hidden(const walk *self, bool is_sensitive, const mcp_json *value)
{
    mcp_json_writer writer;
    mcp_buf text, shown;

    mcp_buf_init(&text, TEXT_MAX);
    mcp_buf_init(&shown, TEXT_MAX);
    mcp_json_writer_init(&writer, &text);
    mcp_write_value(&writer, value);
    if (mcp_json_writer_status(&writer) == MCP_OK)
        casparian_redact_text(&shown, self->redaction, is_sensitive, text.data, text.length);
    mcp_write_string_n(self->out, shown.data ? shown.data : "", shown.length);
    mcp_buf_clear(&text);
    mcp_buf_clear(&shown);
}

/* ---- keys ------------------------------------------------------------------------------------ */

typedef struct key {
    const char *text;
    size_t index; /* of the member */
} key;

static int compare_keys(const void *a, const void *b)
{
    const key *left = a, *right = b;
    int order = strcmp(left->text, right->text);

    return order ? order : (left->index > right->index) - (left->index < right->index);
}

/* The keys of a map as they are shown, in its order; NULL: there is no memory. */
static const char **show_keys(const walk *self, bool is_sensitive, span type, const mcp_json *map)
{
    size_t count = mcp_json_count(map), same = 0;
    key *keys = mcp_arena_array(self->arena, count + 1, sizeof *keys);
    const char **names = mcp_arena_array(self->arena, count + 1, sizeof *names);
    mcp_buf shown;

    mcp_buf_init(&shown, TEXT_MAX);
    for (size_t i = 0; keys && names && i < count; i++) {
        size_t length = 0;
        const char *text = mcp_json_name(map, i, &length);
        mcp_buf_reset(&shown);
        append_text(&shown, self, is_sensitive, type, text, length);
        keys[i].index = i;
        keys[i].text = shown.status == MCP_OK && shown.data
                           ? mcp_arena_printf(self->arena, "%.*s", (int)shown.length, shown.data)
                           : "";
        names = keys[i].text ? names : NULL;
    }
    if (keys && names)
        qsort(keys, count, sizeof *keys, compare_keys);
    for (size_t i = 0; keys && names && i < count; i++) {
        same = i > 0 && strcmp(keys[i].text, keys[i - 1].text) == 0 ? same + 1 : 0;
        names[keys[i].index] = same == 0 ? keys[i].text
                                         : mcp_arena_printf(self->arena, "%s (%zu)", keys[i].text,
                                                            same + 1);
    }
    mcp_buf_clear(&shown);
    return keys ? names : NULL;
}

/* ---- values ---------------------------------------------------------------------------------- */

static void put_map(const walk *self, bool is_sensitive, span type, const mcp_json *map)
{
    span parts = inside(type);
    span key_type = next_part(&parts);
    const char **names = show_keys(self, is_sensitive, key_type, map);

    mcp_write_object(self->out);
    for (size_t i = 0; names && i < mcp_json_count(map); i++) {
        const char *name = mcp_json_name(map, i, NULL);
        mcp_write_name(self->out, names[i] ? names[i] : "");
        put_value(self, is_sensitive || casparian_redaction_is_sensitive(self->redaction, name),
                  parts, mcp_json_item(map, i));
    }
    mcp_write_end(self->out);
}

/* A struct without names is an array. */
static void put_struct(const walk *self, bool is_sensitive, span type, const mcp_json *value)
{
    span parts = inside(type);
    bool has_names = mcp_json_is_object(value);

    if (has_names)
        mcp_write_object(self->out);
    else
        mcp_write_array(self->out);
    for (size_t i = 0; i < mcp_json_count(value); i++) {
        const char *name = has_names ? mcp_json_name(value, i, NULL) : "";
        span member = member_type(next_part(&parts));
        if (has_names)
            mcp_write_name(self->out, name);
        put_value(self, is_sensitive || casparian_redaction_is_sensitive(self->redaction, name),
                  member, mcp_json_item(value, i));
    }
    mcp_write_end(self->out);
}

static void put_list(const walk *self, bool is_sensitive, span type, const mcp_json *list)
{
    mcp_write_array(self->out);
    for (size_t i = 0; i < mcp_json_count(list); i++)
        put_value(self, is_sensitive, item_type(type), mcp_json_item(list, i));
    mcp_write_end(self->out);
}

/* The depth of what mcp_json_read has read is bounded. */
static void put_value(const walk *self, bool is_sensitive, span type, const mcp_json *value)
{
    bool has_parts = mcp_json_is_array(value) || mcp_json_is_object(value);

    if (is_list(type) && mcp_json_is_array(value))
        put_list(self, is_sensitive, type, value);
    else if (begins_with(type, "MAP(") && mcp_json_is_object(value))
        put_map(self, is_sensitive, type, value);
    else if (begins_with(type, "STRUCT(") && has_parts)
        put_struct(self, is_sensitive, type, value);
    else if (has_parts && has_map(type))
        put_hidden(self, is_sensitive, value);
    else if (mcp_json_is_string(value))
        put_text(self, is_sensitive, type, value);
    else
        casparian_redact_json(self->out, self->redaction, is_sensitive, value);
}

void casparian_nested_redact(mcp_json_writer *out, const casparian_redaction *redaction,
                             bool is_sensitive, const char *type, const mcp_json *value,
                             mcp_arena *arena)
{
    const walk self = { out, redaction, arena };

    put_value(&self, is_sensitive, (span){ type, strlen(type) }, value);
}
