/*
 * secrets.c - hiding, sealing and finding the secrets of parameters.
 */
#include "engine/sealed/secrets.h"

#include <stdio.h>
#include <string.h>

#include "keys/base64.h"
#include "keys/seal.h"

enum { SECRET_MIN = 4, SECRETS_MAX = 256, VALUE_MAX = 4 << 20 };

/* Member of a run's hidden document. */
static const char member[] = "parameters";

/* ---- which are secret ------------------------------------------------------------------------ */

static bool is_marked(const mcp_json *schema)
{
    bool marked = false;
    mcp_json_bool(mcp_json_get(schema, "writeOnly"), &marked);
    return marked;
}

static size_t count_marks(const mcp_json *schema)
{
    size_t count = mcp_json_is_object(schema) && is_marked(schema);
    for (size_t i = 0; i < mcp_json_count(schema); i++)
        count += count_marks(mcp_json_item(schema, i));
    return count;
}

static size_t count_reachable(const mcp_json *schema)
{
    const mcp_json *properties = mcp_json_get(schema, "properties");
    size_t count = 0;
    if (is_marked(schema))
        return count_marks(schema);
    for (size_t i = 0; i < mcp_json_count(properties); i++)
        count += count_reachable(mcp_json_item(properties, i));
    return count;
}

/* The texts of the secrets. */
typedef struct secrets {
    struct {
        const char *text;
        size_t length;
    } items[SECRETS_MAX];
    size_t count;
} secrets;

static void add_texts(secrets *out, const mcp_json *value)
{
    size_t length = 0;
    const char *text = mcp_json_string(value, &length);
    if (text && length >= SECRET_MIN && out->count < SECRETS_MAX) {
        out->items[out->count].text = text;
        out->items[out->count].length = length;
        out->count++;
    }
    for (size_t i = 0; i < mcp_json_count(value); i++)
        add_texts(out, mcp_json_item(value, i));
}

/* Write what is shown of a value, and collect what is not. Both may be NULL. */
static void walk(mcp_json_writer *json, secrets *found, const mcp_json *schema,
                 const mcp_json *value)
{
    const mcp_json *properties = mcp_json_get(schema, "properties");
    if (is_marked(schema)) {
        mcp_write_string(json, PORTARIUM_SECRET);
        add_texts(found, value);
        return;
    }
    if (!properties || !mcp_json_is_object(value)) {
        mcp_write_value(json, value);
        return;
    }
    mcp_write_object(json);
    for (size_t i = 0; i < mcp_json_count(value); i++) {
        size_t length = 0;
        const char *name = mcp_json_name(value, i, &length);
        mcp_write_name(json, name);
        walk(json, found, mcp_json_get_n(properties, name, length), mcp_json_item(value, i));
    }
    mcp_write_end(json);
}

static mcp_status read_buf(const mcp_json **out, portarium_tx *tx, mcp_buf *buf, mcp_status st,
                           mcp_error *err)
{
    st = st == MCP_OK
             ? mcp_json_read(out, tx->arena, buf->data, buf->length, err)
             : mcp_error_set(err, st, "parameters cannot be written: %s", mcp_status_words(st));
    mcp_buf_clear(buf);
    return st;
}

/* ---- sealed texts ---------------------------------------------------------------------------- */

static mcp_status check_key(const portarium_settings *settings, mcp_error *err)
{
    return settings->seal_key ? MCP_OK
                              : mcp_error_set(err, MCP_E_UNSUPPORTED,
                                              "This server has no key for secrets (--key-file).");
}

/* Hand the bytes of a buffer over, which is cleared in any case. */
static mcp_status take(const char **out, size_t *length, mcp_arena *arena, mcp_buf *from,
                       mcp_status st, mcp_error *err)
{
    if (st == MCP_OK) {
        *length = from->length;
        *out = mcp_arena_strndup(arena, from->length > 0 ? from->data : "", from->length);
        if (!*out)
            st = mcp_error_set(err, MCP_E_NOMEM, "no memory for a secret");
    }
    mcp_buf_clear(from);
    return st;
}

mcp_status portarium_seal(const char **out, mcp_arena *arena, const portarium_settings *settings,
                          const char *name, const char *text, size_t length, mcp_error *err)
{
    mcp_buf sealed, base64;
    size_t written = 0;
    mcp_status st = check_key(settings, err);
    if (st != MCP_OK)
        return st;
    mcp_buf_init(&sealed, PORTARIUM_SEALED_MAX + KEYS_SEAL_EXTRA);
    mcp_buf_init(&base64, 2 * PORTARIUM_SEALED_MAX);
    st = keys_seal(&sealed, settings->seal_key, name, strlen(name), text, length, err);
    if (st == MCP_OK)
        st = keys_base64(&base64, sealed.data, sealed.length);
    mcp_buf_clear(&sealed);
    return take(out, &written, arena, &base64, st, err);
}

mcp_status portarium_unseal(const char **out, size_t *length, mcp_arena *arena,
                            const portarium_settings *settings, const char *name,
                            const char *sealed, mcp_error *err)
{
    mcp_buf bytes, plain;
    mcp_status st = check_key(settings, err);
    if (st != MCP_OK)
        return st;
    mcp_buf_init(&bytes, 2 * PORTARIUM_SEALED_MAX);
    mcp_buf_init(&plain, PORTARIUM_SEALED_MAX);
    st = keys_unbase64(&bytes, sealed, strlen(sealed), err);
    if (st == MCP_OK)
        st = keys_open(&plain, settings->seal_key, name, strlen(name), bytes.data, bytes.length,
                       err);
    mcp_buf_clear(&bytes);
    return take(out, length, arena, &plain, st, err);
}

/* ---- sealing --------------------------------------------------------------------------------- */

static const char *binding_of(portarium_tx *tx, const char *run)
{
    return mcp_arena_printf(tx->arena, "%s/%s/%s", tx->workspace, run, member);
}

static mcp_status seal(const char **out, portarium_tx *tx, const char *run,
                       const mcp_json *parameters, mcp_error *err)
{
    mcp_buf plain;
    mcp_json_writer json;
    const char *binding = binding_of(tx, run);
    if (!binding)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for secrets");
    mcp_buf_init(&plain, PORTARIUM_SEALED_MAX);
    mcp_json_writer_init(&json, &plain);
    mcp_write_value(&json, parameters);
    mcp_status st = mcp_json_writer_status(&json);
    st = st == MCP_OK
             ? portarium_seal(out, tx->arena, tx->settings, binding, plain.data, plain.length, err)
             : mcp_error_set(err, st, "secrets cannot be sealed: %s", mcp_status_words(st));
    mcp_buf_clear(&plain);
    return st;
}

mcp_status portarium_secrets_hide(const mcp_json **shown, const char **sealed, portarium_tx *tx,
                                  const char *run, const mcp_json *schema,
                                  const mcp_json *parameters, mcp_error *err)
{
    mcp_buf buf;
    mcp_json_writer json;
    secrets found = { .count = 0 };
    size_t marks = schema ? count_marks(schema) : 0;
    *shown = parameters;
    *sealed = NULL;
    if (marks == 0)
        return MCP_OK;
    if (marks != count_reachable(schema))
        return mcp_error_set(err, MCP_E_SCHEMA,
                             "The workflow marks parameters with writeOnly that are no members by "
                             "properties.");
    mcp_status st = seal(sealed, tx, run, parameters, err);
    if (st != MCP_OK)
        return st;
    mcp_buf_init(&buf, PORTARIUM_SEALED_MAX);
    mcp_json_writer_init(&json, &buf);
    walk(&json, &found, schema, parameters);
    return read_buf(shown, tx, &buf, mcp_json_writer_status(&json), err);
}

/* ---- opening --------------------------------------------------------------------------------- */

bool portarium_secrets_has(const portarium_run *run)
{
    return mcp_json_get_string(run->record.hidden, member) != NULL;
}

mcp_status portarium_secrets_reveal(const mcp_json **out, portarium_run *run, portarium_tx *tx,
                                    mcp_error *err)
{
    const char *plain = NULL, *text = mcp_json_get_string(run->record.hidden, member);
    size_t length = 0;
    const char *binding = binding_of(tx, run->record.id);
    *out = mcp_json_get(run->record.json, member);
    if (!text)
        return MCP_OK;
    mcp_status st = binding ? portarium_unseal(&plain, &length, tx->arena, tx->settings, binding,
                                               text, err)
                            : mcp_error_set(err, MCP_E_NOMEM, "no memory for secrets");
    return st == MCP_OK ? mcp_json_read(out, tx->arena, plain, length, err) : st;
}

/* ---- finding --------------------------------------------------------------------------------- */

static bool has_secret(const secrets *all, const char *text, size_t length)
{
    for (size_t i = 0; i < all->count; i++) {
        if (memmem(text, length, all->items[i].text, all->items[i].length))
            return true;
    }
    return false;
}

/* The name of a member. One that has a secret becomes the place of the member, so that no two names
 * are equal. */
static void write_redacted_name(mcp_json_writer *json, const secrets *all, const mcp_json *object,
                                size_t i)
{
    char place[sizeof PORTARIUM_SECRET + 24];
    size_t length = 0;
    const char *name = mcp_json_name(object, i, &length);
    snprintf(place, sizeof place, "%s %zu", PORTARIUM_SECRET, i);
    mcp_write_name(json, has_secret(all, name, length) ? place : name);
}

static void write_redacted(mcp_json_writer *json, const secrets *all, const mcp_json *value)
{
    size_t length = 0;
    const char *text = mcp_json_string(value, &length);
    bool is_object = mcp_json_is_object(value);
    if (text && has_secret(all, text, length)) {
        mcp_write_string(json, PORTARIUM_SECRET);
        return;
    }
    if (!is_object && !mcp_json_is_array(value)) {
        mcp_write_value(json, value);
        return;
    }
    if (is_object)
        mcp_write_object(json);
    else
        mcp_write_array(json);
    for (size_t i = 0; i < mcp_json_count(value); i++) {
        if (is_object)
            write_redacted_name(json, all, value, i);
        write_redacted(json, all, mcp_json_item(value, i));
    }
    mcp_write_end(json);
}

/* The texts of the run's secrets, from its sealed parameters. */
static mcp_status collect(secrets *out, portarium_run *run, portarium_tx *tx, mcp_error *err)
{
    mcp_buf none;
    mcp_json_writer json;
    const mcp_json *parameters = NULL;
    mcp_status st = portarium_secrets_reveal(&parameters, run, tx, err);
    if (st != MCP_OK)
        return st;
    mcp_buf_init(&none, PORTARIUM_SEALED_MAX);
    mcp_json_writer_init(&json, &none);
    walk(&json, out, run->workflow->parameters_schema, parameters);
    mcp_buf_clear(&none);
    return MCP_OK;
}

mcp_status portarium_secrets_redact(const mcp_json **out, portarium_run *run, portarium_tx *tx,
                                    const mcp_json *value, mcp_error *err)
{
    mcp_buf buf;
    mcp_json_writer json;
    secrets all = { .count = 0 };
    *out = value;
    if (!value || !portarium_secrets_has(run))
        return MCP_OK;
    mcp_status st = collect(&all, run, tx, err);
    if (st != MCP_OK)
        return st;
    mcp_buf_init(&buf, VALUE_MAX);
    mcp_json_writer_init(&json, &buf);
    write_redacted(&json, &all, value);
    return read_buf(out, tx, &buf, mcp_json_writer_status(&json), err);
}

/* Whether the text ends in the first bytes of a secret: the rest may have been cut off. */
static bool ends_in_secret(const secrets *all, const char *text, size_t length)
{
    for (size_t i = 0; i < all->count; i++) {
        size_t most = all->items[i].length < length ? all->items[i].length : length;
        for (size_t n = SECRET_MIN; n <= most; n++) {
            if (memcmp(text + length - n, all->items[i].text, n) == 0)
                return true;
        }
    }
    return false;
}

mcp_status portarium_secrets_redact_message(char *message, size_t size, portarium_run *run,
                                            portarium_tx *tx, mcp_error *err)
{
    secrets all = { .count = 0 };
    size_t length = strlen(message);
    if (!portarium_secrets_has(run))
        return MCP_OK;
    mcp_status st = collect(&all, run, tx, err);
    if (st == MCP_OK &&
        (has_secret(&all, message, length) || ends_in_secret(&all, message, length)))
        snprintf(message, size, "%s", PORTARIUM_SECRET);
    return st;
}
