/*
 * template.c - references in texts, and how a value enters a body, a URL or a header.
 *
 * Every use goes through next_piece(), which cuts a text into literals and references, so what a
 * scan accepts is what the others resolve. Values are appended, never scanned.
 */
#include "language/template.h"

#include <string.h>

/* A literal, or a reference. The end of the text is an empty literal. */
typedef struct piece {
    bool is_reference;
    const char *text;
    size_t length;
    portarium_reference reference;
} piece;

enum { TEXT_MAX = 1 << 20 };

/* ---- reading references ---------------------------------------------------------------------- */

static bool begins_with(const char *text, size_t length, const char *prefix)
{
    return length >= strlen(prefix) && memcmp(text, prefix, strlen(prefix)) == 0;
}

/* "", ".a.b" or "/a/b". */
static bool is_path(const char *path, size_t length)
{
    if (length > 0 && path[0] != '.' && path[0] != '/')
        return false;
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)path[i];
        bool is_last = i + 1 == length;
        if (c < 0x20 || c == 0x7f || c == '$' || c == '{')
            return false;
        if (path[0] == '.' && (c == '/' || (c == '.' && (is_last || path[i + 1] == '.'))))
            return false;
        if (path[0] == '/' && c == '~' && (is_last || (path[i + 1] != '0' && path[i + 1] != '1')))
            return false;
    }
    return true;
}

/* What stands between "${" and "}". */
static bool read_reference(portarium_reference *out, const char *name, size_t length)
{
    static const char parameters[] = "parameters";
    static const char actions[] = "actions.";
    static const char output[] = ".output";
    size_t used = 0;

    if (length == 6 && memcmp(name, "run.id", 6) == 0) {
        out->kind = PORTARIUM_REFERS_TO_RUN_ID;
        return true;
    }
    if (length == 10 && memcmp(name, "credential", 10) == 0) {
        out->kind = PORTARIUM_REFERS_TO_CREDENTIAL;
        return true;
    }
    if (begins_with(name, length, parameters)) {
        out->kind = PORTARIUM_REFERS_TO_PARAMETERS;
        used = sizeof parameters - 1;
    } else if (begins_with(name, length, actions)) {
        out->kind = PORTARIUM_REFERS_TO_OUTPUT;
        out->action = name + sizeof actions - 1;
        const char *dot = memchr(out->action, '.', length - (sizeof actions - 1));
        if (!dot || dot == out->action || !begins_with(dot, length - (size_t)(dot - name), output))
            return false;
        out->action_length = (size_t)(dot - out->action);
        used = (size_t)(dot - name) + sizeof output - 1;
    } else {
        return false;
    }
    out->path = name + used;
    out->path_length = length - used;
    return is_path(out->path, out->path_length);
}

static mcp_status next_piece(piece *out, const char *text, size_t length, size_t *at,
                             mcp_error *err)
{
    const char *from = text + *at;
    size_t rest = length - *at;
    const char *open = rest > 0 ? memmem(from, rest, "${", 2) : NULL;

    *out = (piece){ .text = from, .length = open ? (size_t)(open - from) : rest };
    if (open != from || rest == 0) {
        *at += out->length;
        return MCP_OK;
    }
    const char *close = memchr(from, '}', rest);
    if (!close)
        return mcp_error_at(err, MCP_E_PARSE, (int64_t)*at, "template: a reference does not end");
    out->is_reference = true;
    out->length = (size_t)(close - from) + 1;
    out->reference.text = from;
    out->reference.length = out->length;
    out->reference.path = "";
    if (!read_reference(&out->reference, from + 2, out->length - 3))
        return mcp_error_at(err, MCP_E_PARSE, (int64_t)*at,
                            "template: %.*s is no reference to parameters, an action's output or "
                            "run.id",
                            out->length < 80 ? (int)out->length : 80, from);
    *at += out->length;
    return MCP_OK;
}

mcp_status portarium_template_scan(const char *text, size_t length, portarium_template_visit *visit,
                                   void *data, mcp_error *err)
{
    size_t at = 0;

    while (at < length) {
        piece part;
        mcp_status st = next_piece(&part, text, length, &at, err);
        if (st == MCP_OK && part.is_reference)
            st = visit(&part.reference, data, err);
        if (st != MCP_OK)
            return st;
    }
    return MCP_OK;
}

/* ---- resolving ------------------------------------------------------------------------------- */

/* A decimal without leading zeros as the index of an array. */
static const mcp_json *item_of(const mcp_json *array, const char *part, size_t length)
{
    size_t index = 0;

    if (length == 0 || length > 6 || (length > 1 && part[0] == '0'))
        return NULL;
    for (size_t i = 0; i < length; i++) {
        if (part[i] < '0' || part[i] > '9')
            return NULL;
        index = index * 10 + (size_t)(part[i] - '0');
    }
    return mcp_json_item(array, index);
}

/* One part of a path; "~0" and "~1" of a pointer are '~' and '/'. */
static const mcp_json *child(const mcp_json *at, const char *part, size_t length, bool is_pointer)
{
    char name[256];
    size_t used = 0;

    if (mcp_json_is_array(at))
        return item_of(at, part, length);
    if (!is_pointer || !memchr(part, '~', length))
        return mcp_json_get_n(at, part, length);
    if (length > sizeof name)
        return NULL;
    for (size_t i = 0; i < length; i++) {
        bool is_escape = part[i] == '~';
        i += is_escape;
        name[used++] = !is_escape ? part[i] : part[i] == '0' ? '~' : '/';
    }
    return mcp_json_get_n(at, name, used);
}

static const mcp_json *follow(const mcp_json *at, const char *path, size_t length)
{
    const char *end = path + length;

    while (at && path < end) {
        char separator = *path++;
        const char *stop = memchr(path, separator, (size_t)(end - path));
        stop = stop ? stop : end;
        at = child(at, path, (size_t)(stop - path), separator == '/');
        path = stop;
    }
    return at;
}

static mcp_status find_value(const mcp_json **out, const portarium_reference *ref,
                             const portarium_scope *scope, mcp_error *err)
{
    const mcp_json *root = ref->kind == PORTARIUM_REFERS_TO_PARAMETERS ? scope->parameters
                           : scope->output
                               ? scope->output(ref->action, ref->action_length, scope->data)
                               : NULL;
    const mcp_json *found = follow(root, ref->path, ref->path_length);

    if (!found)
        return mcp_error_set(err, MCP_E_NOT_FOUND, "template: %.*s has no value",
                             ref->length < 160 ? (int)ref->length : 160, ref->text);
    *out = found;
    return MCP_OK;
}

static mcp_status refuse_credential(mcp_error *err)
{
    return mcp_error_set(err, MCP_E_DENIED, "template: ${credential} is allowed in a header only");
}

/* A value as text, at the end of `out`. */
static mcp_status append_value(mcp_buf *out, const portarium_reference *ref,
                               const portarium_scope *scope, mcp_error *err)
{
    const mcp_json *value = NULL;
    size_t length = 0;
    bool truth;

    if (ref->kind == PORTARIUM_REFERS_TO_CREDENTIAL)
        return refuse_credential(err);
    if (!scope)
        return mcp_buf_putc(out, 'x');
    if (ref->kind == PORTARIUM_REFERS_TO_RUN_ID)
        return mcp_buf_puts(out, scope->run_id);
    mcp_status st = find_value(&value, ref, scope, err);
    if (st != MCP_OK)
        return st;
    const char *text = mcp_json_string(value, &length);
    if (text)
        return mcp_buf_append(out, text, length);
    if (!mcp_json_is_number(value) && !mcp_json_bool(value, &truth))
        return mcp_error_set(err, MCP_E_PARAMS,
                             "template: %.*s is no string, number or boolean and cannot stand in a "
                             "text",
                             ref->length < 120 ? (int)ref->length : 120, ref->text);
    mcp_json_writer writer;
    mcp_json_writer_init(&writer, out);
    mcp_write_value(&writer, value);
    return mcp_json_writer_status(&writer);
}

static mcp_status full(const mcp_buf *buf, mcp_error *err)
{
    return buf->status == MCP_OK
               ? MCP_OK
               : mcp_error_set(err, buf->status, "template: %s", mcp_status_words(buf->status));
}

/* ---- bodies ---------------------------------------------------------------------------------- */

static mcp_status write_text(mcp_json_writer *out, const char *text, size_t length,
                             const portarium_scope *scope, mcp_error *err)
{
    mcp_buf buf;
    size_t at = 0;
    mcp_status st = MCP_OK;

    mcp_buf_init(&buf, TEXT_MAX);
    while (st == MCP_OK && at < length) {
        piece part;
        st = next_piece(&part, text, length, &at, err);
        if (st == MCP_OK)
            st = part.is_reference ? append_value(&buf, &part.reference, scope, err)
                                   : mcp_buf_append(&buf, part.text, part.length);
    }
    if (st == MCP_OK || buf.status != MCP_OK)
        st = full(&buf, err);
    if (st == MCP_OK)
        mcp_write_string_n(out, buf.data ? buf.data : "", buf.length);
    mcp_buf_clear(&buf);
    return st;
}

static mcp_status write_string(mcp_json_writer *out, const mcp_json *string,
                               const portarium_scope *scope, mcp_error *err)
{
    const mcp_json *value = NULL;
    size_t length;
    size_t at = 0;
    const char *text = mcp_json_string(string, &length);
    piece part;
    mcp_status st = next_piece(&part, text, length, &at, err);

    if (st != MCP_OK)
        return st;
    bool is_whole = part.is_reference && at == length;
    if (!is_whole || part.reference.kind == PORTARIUM_REFERS_TO_RUN_ID ||
        part.reference.kind == PORTARIUM_REFERS_TO_CREDENTIAL)
        return write_text(out, text, length, scope, err);
    st = find_value(&value, &part.reference, scope, err);
    if (st == MCP_OK)
        mcp_write_value(out, value);
    return st;
}

static mcp_status write_value(mcp_json_writer *out, const mcp_json *body,
                              const portarium_scope *scope, mcp_error *err)
{
    bool is_object = mcp_json_is_object(body);

    if (mcp_json_is_string(body))
        return write_string(out, body, scope, err);
    if (!is_object && !mcp_json_is_array(body)) {
        mcp_write_value(out, body);
        return MCP_OK;
    }
    if (is_object)
        mcp_write_object(out);
    else
        mcp_write_array(out);
    for (size_t i = 0; i < mcp_json_count(body); i++) {
        size_t length = 0;
        const char *name = is_object ? mcp_json_name(body, i, &length) : NULL;
        if (name && (memmem(name, length, "${", 2) || memchr(name, '\0', length)))
            return mcp_error_set(err, MCP_E_PARAMS, "template: a member's name has ${ or NUL");
        if (name)
            mcp_write_name(out, name);
        mcp_status st = write_value(out, mcp_json_item(body, i), scope, err);
        if (st != MCP_OK)
            return st;
    }
    mcp_write_end(out);
    return MCP_OK;
}

mcp_status portarium_template_body(mcp_json_writer *out, const mcp_json *body,
                                   const portarium_scope *scope, mcp_error *err)
{
    mcp_status st = write_value(out, body, scope, err);

    if (st == MCP_OK && mcp_json_writer_status(out) != MCP_OK)
        st = mcp_error_set(err, mcp_json_writer_status(out), "template: %s",
                           mcp_status_words(mcp_json_writer_status(out)));
    return st;
}

/* ---- URLs ------------------------------------------------------------------------------------ */

static bool is_unreserved(unsigned char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (c != '\0' && strchr("-._~", c));
}

/* Characters of RFC 3986, but '#', which begins a fragment. */
static bool is_of_url(unsigned char c)
{
    return is_unreserved(c) || (c != '\0' && strchr("%:/?[]@!$&'()*+,;=", c));
}

/* The length of scheme, host and port, 0 when they are not what a request may go to. */
static size_t origin_length(const char *url)
{
    size_t scheme = strncmp(url, "http://", 7) == 0 ? 7 : strncmp(url, "https://", 8) == 0 ? 8 : 0;
    size_t host = strcspn(url + scheme, "/?#");
    bool is_plain = memchr(url + scheme, '@', host) == NULL &&
                    memchr(url + scheme, '$', host) == NULL &&
                    memchr(url + scheme, '%', host) == NULL;

    return scheme > 0 && host > 0 && is_plain ? scheme + host : 0;
}

static mcp_status append_encoded(mcp_buf *out, const portarium_reference *ref,
                                 const portarium_scope *scope, mcp_error *err)
{
    static const char hex[] = "0123456789ABCDEF";
    mcp_buf value;

    mcp_buf_init(&value, TEXT_MAX);
    mcp_status st = append_value(&value, ref, scope, err);
    if (st == MCP_OK || value.status != MCP_OK)
        st = full(&value, err);
    for (size_t i = 0; st == MCP_OK && i < value.length; i++) {
        unsigned char c = (unsigned char)value.data[i];
        if (is_unreserved(c)) {
            mcp_buf_putc(out, (char)c);
        } else {
            const char code[] = { '%', hex[c >> 4], hex[c & 15] };
            mcp_buf_append(out, code, sizeof code);
        }
    }
    mcp_buf_clear(&value);
    return st;
}

/* Where a path's segments begin and end, and whether a value is in the one being written. */
typedef struct segment {
    size_t begin; /* in the output */
    bool has_value;
    bool is_query;
} segment;

static mcp_status end_segment(segment *self, const mcp_buf *out, mcp_error *err)
{
    const char *text = out->data ? out->data + self->begin : "";
    size_t length = out->length - self->begin;
    bool is_step = length <= 2 && memcmp(text, "..", length) == 0; /* "", "." and ".." */

    if (!self->is_query && self->has_value && is_step)
        return mcp_error_set(err, MCP_E_PARAMS,
                             "template: a value makes a segment of the URL's path empty, '.' or "
                             "'..'");
    self->has_value = false;
    return MCP_OK;
}

static mcp_status append_literal(mcp_buf *out, segment *self, const char *text, size_t length,
                                 mcp_error *err)
{
    for (size_t i = 0; i < length; i++) {
        bool is_end = text[i] == '/' || text[i] == '?';
        if (!is_of_url((unsigned char)text[i]))
            return mcp_error_set(err, MCP_E_PARAMS, "template: a URL has no character 0x%02x",
                                 (unsigned char)text[i]);
        mcp_status st = is_end ? end_segment(self, out, err) : MCP_OK;
        if (st != MCP_OK)
            return st;
        mcp_buf_putc(out, text[i]);
        if (is_end)
            self->begin = out->length;
        self->is_query = self->is_query || text[i] == '?';
    }
    return MCP_OK;
}

mcp_status portarium_template_url(mcp_buf *out, const char *url, const portarium_scope *scope,
                                  mcp_error *err)
{
    size_t length = strlen(url);
    size_t at = origin_length(url);
    segment current = { .begin = out->length };
    mcp_status st = MCP_OK;

    if (at == 0)
        return mcp_error_set(err, MCP_E_PARAMS,
                             "template: a URL begins with http or https and a literal host");
    st = append_literal(out, &current, url, at, err);
    while (st == MCP_OK && at < length) {
        piece part;
        st = next_piece(&part, url, length, &at, err);
        if (st != MCP_OK)
            break;
        current.has_value = current.has_value || part.is_reference;
        st = part.is_reference ? append_encoded(out, &part.reference, scope, err)
                               : append_literal(out, &current, part.text, part.length, err);
    }
    if (st == MCP_OK)
        st = end_segment(&current, out, err);
    return st == MCP_OK ? full(out, err) : st;
}

/* ---- headers --------------------------------------------------------------------------------- */

mcp_status portarium_template_header(mcp_buf *out, const char *text, const portarium_scope *scope,
                                     mcp_error *err)
{
    size_t length = strlen(text);
    size_t begin = out->length;
    size_t at = 0;
    mcp_status st = MCP_OK;

    while (st == MCP_OK && at < length) {
        piece part;
        st = next_piece(&part, text, length, &at, err);
        if (st != MCP_OK)
            break;
        if (!part.is_reference)
            st = mcp_buf_append(out, part.text, part.length);
        else if (part.reference.kind == PORTARIUM_REFERS_TO_CREDENTIAL &&
                 (!scope || scope->credential))
            st = mcp_buf_puts(out, scope ? scope->credential : "x");
        else
            st = append_value(out, &part.reference, scope, err);
    }
    if (st == MCP_OK || out->status != MCP_OK)
        st = full(out, err);
    for (size_t i = begin; st == MCP_OK && i < out->length; i++)
        if ((unsigned char)out->data[i] < 0x20 || out->data[i] == 0x7f)
            st = mcp_error_set(err, MCP_E_PARAMS,
                               "template: the value of a header has a control character");
    return st;
}
