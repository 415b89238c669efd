/*
 * redact.c - values as a client sees them.
 */
#include "check/redact.h"

#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "check/text.h"
#include "check/utf8.h"
#include "keys/canonical.h"
#include "mcp/hash.h"

#define NAME_MAX_BYTES 255
#define MESSAGE_MAX 500
#define LONG_NUMBER 4
#define SHAPE_MAX 40
#define SHAPE_RUN_MIN 5
#define VALUE_MAX ((size_t)256 << 20)

/* The words that make a column sensitive. Source: casparian's security, 3.4. */
static const char *const sensitive_words[] = {
    "password",    "passwd",     "pwd",        "secret",      "key",
    "token",       "auth",       "credential", "ssn",         "social_security",
    "credit_card", "creditcard", "ccn",        "card_number", "email",
    "phone",       "address",    "ip_address", "ip_addr",     "user_id",
    "userid",      "username",   "user_name",  "api_key",     "apikey",
    "private",     "sensitive",  "pii",        "phi",         "hipaa",
    "gdpr",
};

const casparian_redaction_settings casparian_redaction_defaults = {
    .mode = CASPARIAN_REDACTION_HASH,
    .floor = CASPARIAN_REDACTION_NONE,
    .max_sample_count = 5,
    .max_value_length = 100,
    .hash_prefix_length = 8,
    .patterns = true,
    .protect_sensitive = true,
};

/* ---- policies -------------------------------------------------------------------------------- */

static const char *const mode_texts[] = { "none", "truncate", "hash" };

const char *casparian_redaction_mode_text(casparian_redaction_mode mode)
{
    return mode_texts[mode];
}

bool casparian_redaction_mode_read(casparian_redaction_mode *out, const char *text)
{
    for (int i = 0; text && i < 3; i++) {
        if (strcmp(text, mode_texts[i]) == 0) {
            *out = (casparian_redaction_mode)i;
            return true;
        }
    }
    return false;
}

static void warn(mcp_json_writer *warnings, const char *text)
{
    if (warnings)
        mcp_write_string(warnings, text);
}

static int read_bounded(const mcp_json *json, const char *name, int standard, int least, int most,
                        mcp_json_writer *warnings)
{
    char text[128];
    int64_t value;
    if (!mcp_json_int(mcp_json_get(json, name), &value))
        return standard;
    if (value >= least && value <= most)
        return (int)value;
    int used = value < least ? least : most;
    snprintf(text, sizeof text, "redaction.%s was set to %d: it must be %d to %d", name, used,
             least, most);
    warn(warnings, text);
    return used;
}

void casparian_redaction_read(casparian_redaction *out,
                              const casparian_redaction_settings *settings, const mcp_json *json,
                              mcp_json_writer *warnings)
{
    char text[128];
    casparian_redaction_mode mode = settings->mode;
    casparian_redaction_mode_read(&mode, mcp_json_get_string(json, "mode"));
    if (mode < settings->floor) {
        snprintf(text, sizeof text, "redaction.mode was raised to '%s', the server's floor",
                 mode_texts[settings->floor]);
        warn(warnings, text);
        mode = settings->floor;
    }
    *out = (casparian_redaction){
        .settings = settings,
        .mode = mode,
        .max_sample_count = read_bounded(json, "max_sample_count", settings->max_sample_count, 0,
                                         20, warnings),
        .max_value_length = read_bounded(json, "max_value_length", settings->max_value_length, 1,
                                         1000, warnings),
        .hash_prefix_length = read_bounded(json, "hash_prefix_length", settings->hash_prefix_length,
                                           4, 64, warnings),
    };
}

/* ---- sensitive columns ----------------------------------------------------------------------- */

/* Whether `word` is in the name as whole words between underscores. */
static bool has_word(const char *name, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = strstr(name, word); at; at = strstr(at + 1, word)) {
        bool begins = at == name || at[-1] == '_';
        bool ends = at[length] == '\0' || at[length] == '_';
        if (begins && ends)
            return true;
    }
    return false;
}

static bool fits_any(const char *const *globs, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (fnmatch(globs[i], name, FNM_CASEFOLD) == 0)
            return true;
    return false;
}

bool casparian_redaction_is_sensitive(const casparian_redaction *redaction, const char *column)
{
    const casparian_redaction_settings *settings = redaction->settings;
    char name[NAME_MAX_BYTES + 1];
    size_t length = 0;
    /* What separates words is an underscore here: "Phone Number", "max(ssn)". */
    for (; column[length] && length < NAME_MAX_BYTES; length++) {
        char byte = column[length];
        bool is_upper = byte >= 'A' && byte <= 'Z';
        bool is_in_word = is_upper || (byte >= 'a' && byte <= 'z') ||
                          (byte >= '0' && byte <= '9') || (unsigned char)byte >= 0x80;
        name[length] = is_upper ? (char)(byte - 'A' + 'a') : is_in_word ? byte : '_';
    }
    name[length] = '\0';
    if (fits_any(settings->nonsensitive, settings->nonsensitive_count, column))
        return false;
    if (fits_any(settings->sensitive, settings->sensitive_count, column))
        return true;
    for (size_t i = 0; i < sizeof sensitive_words / sizeof sensitive_words[0]; i++)
        if (has_word(name, sensitive_words[i]))
            return true;
    return false;
}

/* ---- values ---------------------------------------------------------------------------------- */

/* A digest fails only where libcrypto has no memory; then nothing of the value is shown. */
static mcp_status append_hash(mcp_buf *out, const casparian_redaction *redaction, const char *text,
                              size_t length)
{
    const casparian_redaction_settings *settings = redaction->settings;
    uint8_t digest[MCP_SHA256_SIZE];
    char digits[KEYS_HEX_SIZE];
    mcp_error ignored;
    if (length == 0)
        return out->status;
    mcp_status st = settings->hmac_key
                        ? mcp_hmac_sha256(digest, settings->hmac_key, settings->hmac_key_length,
                                          text, length, &ignored)
                        : mcp_sha256(digest, text, length, &ignored);
    if (st != MCP_OK)
        return mcp_buf_puts(out, "[hash:unavailable]");
    keys_hex(digits, digest);
    return mcp_buf_printf(out, "[%s:%.*s]", settings->hmac_key ? "hmac" : "hash",
                          redaction->hash_prefix_length, digits);
}

/* Bytes of the first `count` code points; `length` where there are no more. */
static size_t prefix(const char *text, size_t length, size_t count)
{
    size_t at = 0;
    while (at < length && count-- > 0)
        at += casparian_utf8_next(text + at, length - at, NULL);
    return at;
}

static casparian_redaction_mode mode_of(const casparian_redaction *redaction, bool is_sensitive)
{
    const casparian_redaction_settings *settings = redaction->settings;
    bool is_protected = redaction->mode != CASPARIAN_REDACTION_NONE ||
                        settings->protect_sensitive || settings->floor > CASPARIAN_REDACTION_NONE;
    return is_sensitive && is_protected ? CASPARIAN_REDACTION_HASH : redaction->mode;
}

static mcp_status append_shown(mcp_buf *out, const casparian_redaction *redaction,
                               casparian_redaction_mode mode, const char *text, size_t length)
{
    if (mode == CASPARIAN_REDACTION_NONE)
        return mcp_buf_append(out, text, length);
    size_t kept = prefix(text, length, (size_t)redaction->max_value_length);
    mcp_buf_append(out, text, kept);
    return kept < length ? mcp_buf_puts(out, "...") : out->status;
}

/* The depth of what mcp_json_read has read is bounded. */
static bool names_sensitive(const casparian_redaction *redaction, const mcp_json *value)
{
    for (size_t i = 0; i < mcp_json_count(value); i++) {
        const char *name = mcp_json_is_object(value) ? mcp_json_name(value, i, NULL) : NULL;
        if ((name && casparian_redaction_is_sensitive(redaction, name)) ||
            names_sensitive(redaction, mcp_json_item(value, i)))
            return true;
    }
    return false;
}

/* A text that is an object of JSON, as `_raw_row` is, with its sensitive members hashed, into
 * `out`. @return false: it is none, or has no such member */
static bool redact_object(mcp_buf *out, const casparian_redaction *redaction, const char *text,
                          size_t length)
{
    if (length == 0 || text[0] != '{')
        return false;
    const mcp_json *value = NULL;
    mcp_json_writer writer;
    mcp_arena *arena = mcp_arena_new(0);
    bool is_object = arena && mcp_json_read(&value, arena, text, length, NULL) == MCP_OK &&
                     names_sensitive(redaction, value);
    if (is_object) {
        mcp_json_writer_init(&writer, out);
        casparian_redact_json(&writer, redaction, false, value);
        if (mcp_json_writer_status(&writer) != MCP_OK) {
            mcp_buf_reset(out);
            append_hash(out, redaction, text, length);
        }
    }
    mcp_arena_free(arena);
    return is_object;
}

mcp_status casparian_redact_text(mcp_buf *out, const casparian_redaction *redaction,
                                 bool is_sensitive, const char *text, size_t length)
{
    casparian_redaction_mode mode = mode_of(redaction, is_sensitive);
    if (mode == CASPARIAN_REDACTION_HASH)
        return append_hash(out, redaction, text, length);
    mcp_buf object;
    mcp_buf_init(&object, VALUE_MAX);
    bool is_object = mode_of(redaction, true) == CASPARIAN_REDACTION_HASH &&
                     redact_object(&object, redaction, text, length);
    mcp_status st = is_object ? append_shown(out, redaction, mode, object.data, object.length)
                              : append_shown(out, redaction, mode, text, length);
    mcp_buf_clear(&object);
    return st;
}

static void write_redacted(mcp_json_writer *out, const casparian_redaction *redaction,
                           bool is_sensitive, const char *text, size_t length)
{
    mcp_buf shown;
    mcp_buf_init(&shown, VALUE_MAX);
    if (casparian_redact_text(&shown, redaction, is_sensitive, text, length) == MCP_OK)
        mcp_write_string_n(out, shown.data ? shown.data : "", shown.length);
    else
        mcp_write_string(out, "[hash:unavailable]");
    mcp_buf_clear(&shown);
}

/* Of binary, truncate cuts the base64 text, and hash is of the bytes. */
static void write_binary(mcp_json_writer *out, const casparian_redaction *redaction,
                         bool is_sensitive, const casparian_cell *cell)
{
    mcp_buf text;
    if (mode_of(redaction, is_sensitive) == CASPARIAN_REDACTION_HASH) {
        write_redacted(out, redaction, is_sensitive, cell->text.bytes, cell->text.length);
        return;
    }
    mcp_buf_init(&text, VALUE_MAX);
    if (casparian_text_append(&text, cell, NULL) == MCP_OK)
        write_redacted(out, redaction, is_sensitive, text.data ? text.data : "", text.length);
    else
        mcp_write_null(out);
    mcp_buf_clear(&text);
}

static bool shows_numbers(const casparian_redaction *redaction, bool is_sensitive)
{
    casparian_redaction_mode mode = mode_of(redaction, is_sensitive);
    return mode == CASPARIAN_REDACTION_NONE || (!is_sensitive && !redaction->settings->numbers);
}

void casparian_redact_cell(mcp_json_writer *out, const casparian_redaction *redaction,
                           bool is_sensitive, const casparian_cell *cell,
                           const casparian_zone *zone)
{
    mcp_buf text;
    if (cell->kind == CASPARIAN_KIND_STRING) {
        write_redacted(out, redaction, is_sensitive, cell->text.bytes, cell->text.length);
    } else if (cell->kind == CASPARIAN_KIND_BINARY) {
        write_binary(out, redaction, is_sensitive, cell);
    } else if (cell->kind == CASPARIAN_KIND_NULL || cell->kind == CASPARIAN_KIND_BOOLEAN ||
               shows_numbers(redaction, is_sensitive)) {
        casparian_text_json(out, cell, zone);
    } else {
        mcp_buf_init(&text, CASPARIAN_TEXT_SIZE);
        if (casparian_text_append(&text, cell, zone) == MCP_OK)
            write_redacted(out, redaction, is_sensitive, text.data, text.length);
        else
            mcp_write_null(out);
        mcp_buf_clear(&text);
    }
}

static void redact_number(mcp_json_writer *out, const casparian_redaction *redaction,
                          bool is_sensitive, const mcp_json *value)
{
    mcp_json_writer writer;
    mcp_buf text;
    if (shows_numbers(redaction, is_sensitive)) {
        mcp_write_value(out, value);
        return;
    }
    mcp_buf_init(&text, CASPARIAN_TEXT_SIZE);
    mcp_json_writer_init(&writer, &text);
    mcp_write_value(&writer, value);
    if (mcp_json_writer_status(&writer) == MCP_OK)
        write_redacted(out, redaction, is_sensitive, text.data, text.length);
    else
        mcp_write_null(out);
    mcp_buf_clear(&text);
}

/* The depth of what mcp_json_read has read is bounded. */
void casparian_redact_json(mcp_json_writer *out, const casparian_redaction *redaction,
                           bool is_sensitive, const mcp_json *value)
{
    if (mcp_json_is_string(value)) {
        size_t length = 0;
        const char *text = mcp_json_string(value, &length);
        write_redacted(out, redaction, is_sensitive, text, length);
    } else if (mcp_json_is_number(value)) {
        redact_number(out, redaction, is_sensitive, value);
    } else if (mcp_json_is_array(value)) {
        mcp_write_array(out);
        for (size_t i = 0; i < mcp_json_count(value); i++)
            casparian_redact_json(out, redaction, is_sensitive, mcp_json_item(value, i));
        mcp_write_end(out);
    } else if (mcp_json_is_object(value)) {
        mcp_write_object(out);
        for (size_t i = 0; i < mcp_json_count(value); i++) {
            const char *name = mcp_json_name(value, i, NULL);
            mcp_write_name(out, name);
            casparian_redact_json(out, redaction,
                                  is_sensitive || casparian_redaction_is_sensitive(redaction, name),
                                  mcp_json_item(value, i));
        }
        mcp_write_end(out);
    } else {
        mcp_write_value(out, value);
    }
}

/* ---- shapes ---------------------------------------------------------------------------------- */

static char mask_of(char byte)
{
    if (byte >= '0' && byte <= '9')
        return '9';
    if (byte >= 'A' && byte <= 'Z')
        return 'A';
    if (byte >= 'a' && byte <= 'z')
        return 'a';
    return (unsigned char)byte < 0x80 ? byte : 'U';
}

/* Write so many equal mask characters. @return the length */
static size_t put_run(char *out, size_t size, char mask, size_t count)
{
    if (count >= SHAPE_RUN_MIN)
        return (size_t)snprintf(out, size, "%c{%zu}", mask, count);
    memset(out, mask, count);
    return count;
}

size_t casparian_shape(char out[CASPARIAN_SHAPE_SIZE], const char *text, size_t length)
{
    size_t used = 0, at = 0;
    while (at < length && used < SHAPE_MAX) {
        char mask = mask_of(text[at]);
        size_t count = 0;
        while (at < length && mask_of(text[at]) == mask) {
            at += casparian_utf8_next(text + at, length - at, NULL);
            count++;
        }
        used += put_run(out + used, CASPARIAN_SHAPE_SIZE - used, mask, count);
    }
    if (used > SHAPE_MAX || at < length) {
        used = used > SHAPE_MAX ? SHAPE_MAX : used;
        memcpy(out + used, "\xE2\x80\xA6", 3);
        used += 3;
    }
    out[used] = '\0';
    return used;
}

/* ---- messages -------------------------------------------------------------------------------- */

/* The quote that ends what a quote begins, in the same text; NULL: it is an apostrophe. */
static const char *find_quote(const char *text, size_t length)
{
    bool is_quote = text[0] == '\'' || text[0] == '"' || text[0] == '`';
    return is_quote && length > 1 ? memchr(text + 1, text[0], length - 1) : NULL;
}

/* Append the hash of what stands in quotes. @return bytes of it; 0: no quoted text begins here */
static size_t put_quoted(mcp_buf *out, const casparian_redaction *redaction, const char *text,
                         size_t length)
{
    const char *end = find_quote(text, length);
    if (!end)
        return 0;
    size_t inside = (size_t)(end - text) - 1;
    mcp_buf_putc(out, text[0]);
    append_hash(out, redaction, text + 1, inside);
    mcp_buf_putc(out, text[0]);
    return inside + 2;
}

/* Append a character. @return 1 */
static size_t put_byte(mcp_buf *out, const casparian_redaction *redaction, const char *text,
                       size_t length)
{
    (void)redaction;
    (void)length;
    mcp_buf_putc(out, text[0]);
    return 1;
}

static bool has_long_number(const char *word, size_t length)
{
    int digits = 0;
    for (size_t i = 0; i < length && digits < LONG_NUMBER; i++)
        digits = word[i] >= '0' && word[i] <= '9' ? digits + 1 : 0;
    return digits == LONG_NUMBER;
}

size_t casparian_word_length(const char *text, size_t length)
{
    size_t at = 0;
    for (; at < length; at++) {
        char byte = text[at];
        bool is_letter = mask_of(byte) == 'A' || mask_of(byte) == 'a' || (unsigned char)byte > 0x7F;
        if (!is_letter && byte != '_' && mask_of(byte) != '9')
            break;
    }
    return at;
}

/* Append a word or its shape, or a character that is in no word. @return bytes of it */
static size_t put_word(mcp_buf *out, const casparian_redaction *redaction, const char *text,
                       size_t length)
{
    char shape[CASPARIAN_SHAPE_SIZE];
    size_t word = casparian_word_length(text, length);
    if (word == 0)
        return put_byte(out, redaction, text, length);
    bool is_shown = redaction->is_known && !has_long_number(text, word) &&
                    redaction->is_known(redaction->words, text, word);
    if (is_shown)
        mcp_buf_append(out, text, word);
    else
        mcp_buf_append(out, shape, casparian_shape(shape, text, word));
    return word;
}

/* A quote that the cut left without its end hides the rest. */
static mcp_status put_message(mcp_buf *out, const casparian_redaction *redaction, const char *text,
                              size_t length,
                              size_t (*put)(mcp_buf *out, const casparian_redaction *redaction,
                                            const char *text, size_t length))
{
    size_t kept = prefix(text, length, MESSAGE_MAX);
    size_t at = 0;
    if (redaction->mode == CASPARIAN_REDACTION_NONE) {
        mcp_buf_append(out, text, kept);
        at = kept;
    }
    while (at < kept) {
        size_t quoted = put_quoted(out, redaction, text + at, length - at);
        at += quoted > 0 ? quoted : put(out, redaction, text + at, kept - at);
    }
    return kept < length ? mcp_buf_puts(out, "...") : out->status;
}

mcp_status casparian_redact_message(mcp_buf *out, const casparian_redaction *redaction,
                                    const char *text, size_t length)
{
    return put_message(out, redaction, text, length, put_byte);
}

mcp_status casparian_redact_said(mcp_buf *out, const casparian_redaction *redaction,
                                 const char *text, size_t length)
{
    return put_message(out, redaction, text, length, put_word);
}
