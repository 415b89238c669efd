/*
 * finding.c - a refusal in words.
 *
 * Each keyword has one sentence, with places for what is known: %v the value at fault, %e what
 * the keyword says, %t the same as names of types or formats, %l as a list, %p the member it is
 * about, %q the member that needs it, %n and %m numbers. The place, a JSON Pointer,
 * comes first. Long values are cut: the message is one line of at most 239 bytes, and the finding
 * holds the whole values.
 */
#include <string.h>

#include "base/arena_int.h"
#include "base/utf8.h"
#include "schema/check/check.h"

enum { TEXT_SHOWN = 40, LIST_SHOWN = 12, PATH_SHOWN = 110 };

static const struct {
    const char *keyword;
    const char *words;
} sentences[] = {
    { "type", "%v is not of type %t" },
    { "const", "%v is not %e" },
    { "enum", "%v is not one of %l" },
    { "maximum", "%v is above the maximum %e" },
    { "exclusiveMaximum", "%v is not below %e" },
    { "minimum", "%v is below the minimum %e" },
    { "exclusiveMinimum", "%v is not above %e" },
    { "multipleOf", "%v is not a multiple of %e" },
    { "maxLength", "%v has %n characters, more than %e" },
    { "minLength", "%v has %n characters, fewer than %e" },
    { "pattern", "%v does not match the pattern %e" },
    { "format", "%v is not a valid %t" },
    { "maxProperties", "the object has %n members, more than %e" },
    { "minProperties", "the object has %n members, fewer than %e" },
    { "required", "the member %p is missing" },
    { "dependentRequired", "the member %p is missing, which %q needs" },
    { "propertyNames", "the member %p is not allowed, its name does not fit" },
    { "additionalProperties", "the member %p is not allowed" },
    { "unevaluatedProperties", "the member %p is not allowed" },
    { "maxItems", "the array has %n items, more than %e" },
    { "minItems", "the array has %n items, fewer than %e" },
    { "uniqueItems", "the items %n and %m are equal" },
    { "contains", "no item is of the kind that the array must contain" },
    { "minContains", "%n items are of the kind of which there must be at least %e" },
    { "maxContains", "%n items are of the kind of which there may be at most %e" },
    { "anyOf", "%v fits none of the alternatives" },
    { "oneOf", "%v fits none of the alternatives" },
    { "not", "%v is what the schema excludes" },
};

/* A place may be as long as the value's own text. */
static const size_t path_bytes_max = (size_t)64 << 20;

/* oneOf has a second way to fail. */
static const char too_many[] = "%v fits the alternatives %n and %m, only one may fit";

static const char *sentence_of(const mcp__found *found)
{
    if (!found->rule)
        return "no value is allowed here";
    const char *keyword = found->rule->keyword->name;
    if (strcmp(keyword, "oneOf") == 0 && found->details.second > 0)
        return too_many;
    for (size_t i = 0; i < sizeof sentences / sizeof *sentences; i++) {
        if (strcmp(sentences[i].keyword, keyword) == 0)
            return sentences[i].words;
    }
    return "%v does not fit";
}

/* ---- values in a sentence ------------------------------------------------------------------- */

static void show_text(mcp_buf *out, const char *text, size_t length)
{
    mcp_json_writer writer;
    size_t shown = mcp__utf8_cut(text, length, TEXT_SHOWN);

    mcp_json_writer_init(&writer, out);
    mcp_write_string_n(&writer, text, shown);
    if (shown < length)
        mcp_buf_puts(out, "...");
}

static void show(mcp_buf *out, const mcp_json *value)
{
    mcp_json_writer writer;
    size_t length = 0;
    const char *text = mcp_json_string(value, &length);

    if (text) {
        show_text(out, text, length);
    } else if (mcp_json_is_object(value)) {
        mcp_buf_puts(out, "the object");
    } else if (mcp_json_is_array(value)) {
        mcp_buf_puts(out, "the array");
    } else {
        mcp_json_writer_init(&writer, out);
        mcp_write_value(&writer, value);
    }
}

static void show_list(mcp_buf *out, const mcp_json *list)
{
    size_t count = mcp_json_count(list);

    for (size_t i = 0; i < count && i < LIST_SHOWN; i++) {
        mcp_buf_puts(out, i > 0 ? ", " : "");
        show(out, mcp_json_item(list, i));
    }
    if (count > LIST_SHOWN)
        mcp_buf_printf(out, " and %zu more", count - LIST_SHOWN);
}

/* Names that need no quotes: one, or several with "or" between. */
static void show_names(mcp_buf *out, const mcp_json *names)
{
    const char *one = mcp_json_string(names, NULL);

    if (one)
        mcp_buf_puts(out, one);
    for (size_t i = 0; i < mcp_json_count(names); i++)
        mcp_buf_printf(out, "%s%s", i > 0 ? " or " : "",
                       mcp_json_string(mcp_json_item(names, i), NULL));
}

static void show_place(mcp_buf *out, char kind, const mcp__found *found)
{
    const mcp_json *expected = found->rule ? found->rule->value : found->node->json;
    const mcp__details *details = &found->details;

    switch (kind) {
    case 'v':
        show(out, found->actual);
        break;
    case 'e':
        show(out, expected);
        break;
    case 't':
        show_names(out, expected);
        break;
    case 'l':
        show_list(out, expected);
        break;
    case 'p':
        show_text(out, details->property, details->property_length);
        break;
    case 'q':
        show_text(out, details->needed_by, details->needed_by_length);
        break;
    default:
        mcp_buf_printf(out, "%zu", kind == 'n' ? details->first : details->second);
    }
}

static void write_sentence(mcp_buf *out, const mcp__found *found)
{
    for (const char *at = sentence_of(found); *at; at++) {
        if (*at == '%')
            show_place(out, *++at, found);
        else
            mcp_buf_putc(out, *at);
    }
}

/* ---- paths ---------------------------------------------------------------------------------- */

static void write_path(mcp_buf *out, const mcp__found *found)
{
    for (size_t i = 0; i < found->depth; i++)
        mcp__pointer_token(out, &found->path[i]);
}

static void write_rule(mcp_buf *out, const mcp__subschema *node, const mcp__rule *rule)
{
    mcp__node_pointer(out, node);
    if (rule)
        mcp_buf_printf(out, "/%s", rule->keyword->name);
}

/* What a buffer holds, as the arena's. */
static char *keep(mcp_arena *arena, const mcp_buf *text)
{
    return mcp_arena_strndup(arena, text->data ? text->data : "", text->length);
}

static mcp_status fill(mcp_schema_finding *finding, const mcp__found *found, mcp_arena *scratch,
                       const mcp_buf *path, const mcp_buf *rule)
{
    const mcp__details *details = &found->details;
    mcp_schema_finding out = {
        .keyword = found->rule ? found->rule->keyword->name : "false",
        .instance_path = keep(scratch, path),
        .schema_path = keep(scratch, rule),
        .expected = found->rule ? found->rule->value : found->node->json,
        .actual = found->actual,
    };

    if (details->property)
        out.property = mcp_arena_strndup(scratch, details->property, details->property_length);
    if (!out.instance_path || !out.schema_path || (details->property && !out.property))
        return mcp__arena_failure(scratch);
    *finding = out;
    return MCP_OK;
}

/* The place and the rule. Of a long place the end is shown, which says most. */
static void write_message(mcp_buf *out, const mcp_buf *path, const mcp__found *found)
{
    size_t from = path->length > PATH_SHOWN ? path->length - PATH_SHOWN : 0;

    while (from > 0 && ((unsigned char)path->data[from] & 0xc0) == 0x80)
        from++;
    mcp_buf_puts(out, from > 0 ? "..." : path->length == 0 ? "at the root" : "");
    if (path->length > 0)
        mcp_buf_append(out, path->data + from, path->length - from);
    mcp_buf_puts(out, ": ");
    write_sentence(out, found);
}

mcp_status mcp__finding_limit(const mcp__check *check, mcp_error *err)
{
    char place[PATH_SHOWN + 1] = "";
    mcp_buf text;

    mcp_buf_init(&text, path_bytes_max);
    if (check->rule)
        write_rule(&text, check->rule->node, check->rule);
    if (text.status == MCP_OK && text.data)
        memcpy(place, text.data, mcp__utf8_cut(text.data, text.length, PATH_SHOWN));
    mcp_buf_clear(&text);
    return mcp_error_set(err, MCP_E_LIMIT,
                         "checking the value takes too much work, at %s of its schema: send a "
                         "smaller or simpler value",
                         place[0] != '\0' ? place : "the root");
}

mcp_status mcp__finding_write(mcp_schema_finding *finding, const mcp__check *check, mcp_error *err)
{
    const mcp__found *found = &check->found;
    mcp_error message = MCP_ERROR_INIT;
    mcp_buf path;
    mcp_buf text;

    mcp_buf_init(&path, path_bytes_max);
    mcp_buf_init(&text, path_bytes_max);
    write_path(&path, found);
    if (finding)
        write_rule(&text, found->node, found->rule);
    mcp_status st = path.status != MCP_OK ? path.status : text.status;
    if (st == MCP_OK && finding)
        st = fill(finding, found, check->scratch, &path, &text);
    mcp_buf_reset(&text);
    if (st == MCP_OK) {
        write_message(&text, &path, found);
        st = text.status;
    }
    if (st == MCP_OK)
        st = mcp_error_set(&message, MCP_E_SCHEMA, "%s", text.data);
    else
        mcp_error_set(&message, st, "no room to say where the value does not match its schema");
    if (finding && st == MCP_E_SCHEMA)
        memcpy(finding->message, message.message, sizeof finding->message);
    if (err)
        *err = message;
    mcp_buf_clear(&path);
    mcp_buf_clear(&text);
    return st;
}
