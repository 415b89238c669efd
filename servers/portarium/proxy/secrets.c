/*
 * secrets.c - marks of schemas, and the arguments without what they mark.
 */
#include "proxy/secrets.h"

#include <string.h>

enum { NAMES_MAX = 256, SHOWN_MAX = 16 << 20 };

/* ---- marks ----------------------------------------------------------------------------------- */

static bool is_one_of(const char *name, const char *const *names)
{
    while (*names && strcmp(*names, name) != 0)
        names++;
    return *names != NULL;
}

static bool has_name(const portarium_marks *marks, const char *name)
{
    for (size_t i = 0; i < marks->count; i++) {
        if (strcmp(marks->names[i], name) == 0)
            return true;
    }
    return false;
}

static void add_mark(portarium_marks *out, const char *name)
{
    if (!name || (out->count == NAMES_MAX && !has_name(out, name)))
        out->is_whole = true;
    else if (!has_name(out, name))
        out->names[out->count++] = name;
}

static void look_into(portarium_marks *out, const mcp_json *schema, const char *name);

/* Schemas by the names of members; patterns and definitions have none. */
static void look_into_each(portarium_marks *out, const mcp_json *schemas, bool are_named)
{
    for (size_t i = 0; i < mcp_json_count(schemas); i++)
        look_into(out, mcp_json_item(schemas, i),
                  are_named ? mcp_json_name(schemas, i, NULL) : NULL);
}

/* @param name of the member that the schema is of; NULL: not known */
static void look_into(portarium_marks *out, const mcp_json *schema, const char *name)
{
    static const char *const unnamed[] = { "patternProperties", "$defs", "definitions",
                                           "dependentSchemas", NULL };
    static const char *const values[] = { "const", "enum", "default", "examples", NULL };
    bool is_marked = false;
    mcp_json_bool(mcp_json_get(schema, "writeOnly"), &is_marked);
    if (is_marked)
        add_mark(out, name);
    for (size_t i = 0; i < mcp_json_count(schema); i++) {
        const mcp_json *item = mcp_json_item(schema, i);
        const char *keyword = mcp_json_is_object(schema) ? mcp_json_name(schema, i, NULL) : "";
        if (strcmp(keyword, "properties") == 0)
            look_into_each(out, item, true);
        else if (is_one_of(keyword, unnamed))
            look_into_each(out, item, false);
        else if (!is_one_of(keyword, values))
            look_into(out, item, name);
    }
}

mcp_status portarium_marks_read(portarium_marks *out, mcp_arena *arena, const mcp_json *schema,
                                mcp_error *err)
{
    *out = (portarium_marks){ .names = mcp_arena_array(arena, NAMES_MAX, sizeof *out->names) };
    if (!out->names)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a schema");
    look_into(out, schema, NULL);
    return MCP_OK;
}

/* ---- arguments ------------------------------------------------------------------------------- */

/* Which values are secret: none but those of members that say so; the texts, within a member whose
 * name says so, as a number there may be a count; all, within one that the schema marks. */
typedef enum secrecy { SECRET_NOTHING, SECRET_TEXTS, SECRET_ALL } secrecy;

/* @param name NULL: the value is no member */
static secrecy secrecy_of(const portarium_marks *marks, const char *name, secrecy outer)
{
    if (outer == SECRET_ALL || !name)
        return outer;
    if (marks->is_whole || has_name(marks, name))
        return SECRET_ALL;
    return guard_redact_is_secret(name, strlen(name)) ? SECRET_TEXTS : outer;
}

/* Write what is shown of a value. @return whether something of it is not */
static bool write_shown(mcp_json_writer *json, const portarium_marks *marks, const mcp_json *value,
                        secrecy how)
{
    bool is_object = mcp_json_is_object(value), is_text = mcp_json_string(value, NULL) != NULL;
    bool hides = how == SECRET_ALL || (how == SECRET_TEXTS && is_text);
    if (hides) {
        mcp_write_string(json, GUARD_REDACTED);
        return true;
    }
    if (!is_object && !mcp_json_is_array(value)) {
        mcp_write_value(json, value);
        return false;
    }
    if (is_object)
        mcp_write_object(json);
    else
        mcp_write_array(json);
    for (size_t i = 0; i < mcp_json_count(value); i++) {
        const char *name = is_object ? mcp_json_name(value, i, NULL) : NULL;
        if (name)
            mcp_write_name(json, name);
        if (write_shown(json, marks, mcp_json_item(value, i), secrecy_of(marks, name, how)))
            hides = true;
    }
    mcp_write_end(json);
    return hides;
}

mcp_status portarium_marks_hide(const mcp_json **out, const portarium_marks *marks,
                                const mcp_json *arguments, mcp_arena *arena, mcp_error *err)
{
    mcp_buf text;
    mcp_json_writer json;
    mcp_buf_init(&text, SHOWN_MAX);
    mcp_json_writer_init(&json, &text);
    *out = arguments;
    bool hides = write_shown(&json, marks, arguments, SECRET_NOTHING);
    mcp_status st = mcp_json_writer_status(&json);
    if (st != MCP_OK)
        mcp_error_set(err, st, "the arguments without secrets: %s", mcp_status_words(st));
    else if (hides)
        st = mcp_json_read(out, arena, text.data, text.length, err);
    mcp_buf_clear(&text);
    return st;
}

/* ---- texts ----------------------------------------------------------------------------------- */

/* The texts of a value that are secret. */
static mcp_status collect(guard_secrets *out, const portarium_marks *marks, const mcp_json *value,
                          secrecy how, mcp_error *err)
{
    size_t length = 0;
    mcp_status st = MCP_OK;
    const char *text = mcp_json_string(value, &length);
    if (text && how != SECRET_NOTHING && length >= GUARD_SECRET_MIN)
        return guard_secrets_add(out, text, length, err);
    for (size_t i = 0; st == MCP_OK && i < mcp_json_count(value); i++) {
        const char *name = mcp_json_is_object(value) ? mcp_json_name(value, i, NULL) : NULL;
        st = collect(out, marks, mcp_json_item(value, i), secrecy_of(marks, name, how), err);
    }
    return st;
}

mcp_status portarium_marks_clean(mcp_buf *out, const portarium_marks *marks,
                                 const mcp_json *arguments, const char *credential,
                                 const char *text, size_t length, mcp_error *err)
{
    guard_secrets *secrets = NULL;
    mcp_status st = guard_secrets_new(&secrets, err);
    if (st == MCP_OK && credential && strlen(credential) >= GUARD_SECRET_MIN)
        st = guard_secrets_add(secrets, credential, strlen(credential), err);
    if (st == MCP_OK)
        st = collect(secrets, marks, arguments, SECRET_NOTHING, err);
    if (st == MCP_OK)
        st = guard_secrets_clean(secrets, out, text, length);
    guard_secrets_free(secrets);
    return st;
}

/* Written and read again: then the credential has one of two forms. */
mcp_status portarium_credential_hide(const mcp_json **out, const mcp_json *value,
                                     const char *credential, mcp_arena *arena, mcp_error *err)
{
    mcp_buf text, clean;
    mcp_json_writer json;
    guard_secrets *secrets = NULL;
    size_t length = credential ? strlen(credential) : 0;
    *out = value;
    if (length < GUARD_SECRET_MIN)
        return MCP_OK;
    mcp_buf_init(&text, SHOWN_MAX);
    mcp_buf_init(&clean, SHOWN_MAX);
    mcp_json_writer_init(&json, &text);
    mcp_write_value(&json, value);
    mcp_status st = mcp_json_writer_status(&json);
    if (st != MCP_OK)
        mcp_error_set(err, st, "a result: %s", mcp_status_words(st));
    if (st == MCP_OK)
        st = guard_secrets_new(&secrets, err);
    if (st == MCP_OK)
        st = guard_secrets_add(secrets, credential, length, err);
    if (st == MCP_OK && guard_secrets_found(secrets, text.data, text.length)) {
        st = guard_secrets_clean(secrets, &clean, text.data, text.length);
        st = st == MCP_OK ? mcp_json_read(out, arena, clean.data, clean.length, err)
                          : mcp_error_set(err, st, "a result: %s", mcp_status_words(st));
    }
    guard_secrets_free(secrets);
    mcp_buf_clear(&text);
    mcp_buf_clear(&clean);
    return st;
}
