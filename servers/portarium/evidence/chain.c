/*
 * chain.c - verifying a chain.
 *
 * The canonical JSON and the digest are made in a buffer and an object that serve all entries.
 */
#include "evidence/chain.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "evidence/entry.h"
#include "keys/base64.h"
#include "keys/digest.h"
#include "mcp/alloc.h"

#define TIME_SIZE 25 /* with its NUL */

struct portarium_chain {
    keys_digest *digest;
    mcp_buf form;
    bool has_key, all_signed;
    uint8_t key[KEYS_PUBLIC_SIZE];
    uint64_t size;
    char head[KEYS_HEX_SIZE];
    char time[TIME_SIZE]; /* of the last entry */
};

mcp_status portarium_chain_new(portarium_chain **out, const portarium_chain_options *options,
                               mcp_error *err)
{
    portarium_chain *self = mcp_alloc_zeroed(1, sizeof *self);

    if (!self)
        return mcp_error_set(err, MCP_E_NOMEM, "out of memory for a chain");
    mcp_buf_init(&self->form, 2 * PORTARIUM_ENTRY_MAX);
    if (options && options->key) {
        self->has_key = true;
        self->all_signed = options->all_signed;
        memcpy(self->key, options->key, sizeof self->key);
    }
    mcp_status st = keys_digest_new(&self->digest, err);
    if (st != MCP_OK) {
        portarium_chain_free(self);
        return st;
    }
    *out = self;
    return MCP_OK;
}

void portarium_chain_free(portarium_chain *self)
{
    if (!self)
        return;
    keys_digest_free(self->digest);
    mcp_buf_clear(&self->form);
    free(self);
}

uint64_t portarium_chain_size(const portarium_chain *self)
{
    return self->size;
}

const char *portarium_chain_head(const portarium_chain *self)
{
    return self->head;
}

static mcp_status flawed(const portarium_chain *self, portarium_flaw *flaw, const char *reason,
                         const char *expected, const char *actual, mcp_error *err)
{
    *flaw = (portarium_flaw){ .reason = reason, .index = self->size };
    if (expected)
        snprintf(flaw->expected, sizeof flaw->expected, "%s", expected);
    if (actual && strlen(actual) < sizeof flaw->actual)
        snprintf(flaw->actual, sizeof flaw->actual, "%s", actual);
    return mcp_error_set(err, MCP_E_SCHEMA, "entry %" PRIu64 ": %s", self->size, reason);
}

/* As RFC 3339 in UTC with milliseconds: then the order of texts is that of times. */
static bool is_time(const char *text, size_t length)
{
    static const char shape[] = "dddd-dd-ddTdd:dd:dd.dddZ";

    if (!text || length != sizeof shape - 1)
        return false;
    for (size_t i = 0; i < length; i++)
        if (shape[i] == 'd' ? text[i] < '0' || text[i] > '9' : text[i] != shape[i])
            return false;
    return true;
}

static mcp_status check_order(const portarium_chain *self, portarium_flaw *flaw,
                              const mcp_json *entry, mcp_error *err)
{
    size_t length = 0;
    const char *time = mcp_json_string(mcp_json_get(entry, "occurredAtIso"), &length);
    const mcp_json *previous = mcp_json_get(entry, "previousHash");
    const char *text = mcp_json_string(previous, NULL);

    if (!is_time(time, length) || strcmp(time, self->time) < 0)
        return flawed(self, flaw, PORTARIUM_FLAW_TIMESTAMP, self->time, time, err);
    if (self->size == 0 && previous)
        return flawed(self, flaw, PORTARIUM_FLAW_UNEXPECTED_PREVIOUS, NULL, text, err);
    if (self->size > 0 && (!text || strcmp(text, self->head) != 0))
        return flawed(self, flaw, PORTARIUM_FLAW_PREVIOUS, self->head, text, err);
    return MCP_OK;
}

/* The canonical JSON without some members, in self->form. */
static mcp_status make_form(portarium_chain *self, const mcp_json *entry, const char *const *except,
                            mcp_error *err)
{
    mcp_buf_reset(&self->form);
    mcp_status st = keys_canonical_without(&self->form, entry, except, err);
    if (st != MCP_E_PARAMS)
        return st;
    return mcp_error_set(err, MCP_E_PARSE, "entry %" PRIu64 " is not I-JSON", self->size);
}

static mcp_status check_hash(portarium_chain *self, portarium_flaw *flaw, char hash[KEYS_HEX_SIZE],
                             const mcp_json *entry, mcp_error *err)
{
    static const char *const except[] = { "hashSha256", "signatureBase64", NULL };
    uint8_t digest[MCP_SHA256_SIZE];
    const char *given = mcp_json_get_string(entry, "hashSha256");
    mcp_status st = make_form(self, entry, except, err);

    if (st != MCP_OK)
        return st;
    keys_digest_add(self->digest, self->form.data, self->form.length);
    st = keys_digest_end(self->digest, digest, err);
    if (st != MCP_OK)
        return st;
    keys_hex(hash, digest);
    if (!given || strcmp(given, hash) != 0)
        return flawed(self, flaw, PORTARIUM_FLAW_HASH, hash, given, err);
    return MCP_OK;
}

static mcp_status check_signature(portarium_chain *self, portarium_flaw *flaw,
                                  const mcp_json *entry, mcp_error *err)
{
    static const char *const except[] = { "signatureBase64", NULL };
    uint8_t signature[KEYS_SIGNATURE_SIZE];
    size_t length = 0;
    const mcp_json *given = mcp_json_get(entry, "signatureBase64");
    const char *text = mcp_json_string(given, &length);

    if (!self->has_key || (!given && !self->all_signed))
        return MCP_OK;
    if (!keys_unbase64_exact(signature, sizeof signature, text, length))
        return flawed(self, flaw, PORTARIUM_FLAW_SIGNATURE, NULL, NULL, err);
    mcp_status st = make_form(self, entry, except, err);
    if (st == MCP_OK)
        st = keys_verify(self->key, signature, self->form.data, self->form.length, err);
    if (st == MCP_E_DENIED)
        return flawed(self, flaw, PORTARIUM_FLAW_SIGNATURE, NULL, NULL, err);
    return st;
}

static mcp_status check_entry(portarium_chain *self, portarium_flaw *flaw, const mcp_json *entry,
                              mcp_error *err)
{
    char hash[KEYS_HEX_SIZE];
    mcp_status st = check_order(self, flaw, entry, err);

    if (st == MCP_OK)
        st = check_hash(self, flaw, hash, entry, err);
    if (st == MCP_OK)
        st = check_signature(self, flaw, entry, err);
    if (st != MCP_OK)
        return st;
    memcpy(self->head, hash, sizeof hash);
    memcpy(self->time, mcp_json_get_string(entry, "occurredAtIso"), sizeof self->time);
    self->size++;
    return MCP_OK;
}

mcp_status portarium_chain_add(portarium_chain *self, portarium_flaw *flaw, const char *entry,
                               size_t length, mcp_error *err)
{
    const mcp_json *value = NULL;
    mcp_arena *arena;

    *flaw = (portarium_flaw){ .index = self->size };
    if (length > PORTARIUM_ENTRY_MAX)
        return mcp_error_set(err, MCP_E_LIMIT, "entry %" PRIu64 " is too long", self->size);
    arena = mcp_arena_new(16 * PORTARIUM_ENTRY_MAX);
    if (!arena)
        return mcp_error_set(err, MCP_E_NOMEM, "out of memory for an entry");
    mcp_status st = mcp_json_read(&value, arena, entry, length, err);
    if (st == MCP_E_PARSE || (st == MCP_OK && !mcp_json_is_object(value)))
        st = mcp_error_set(err, MCP_E_PARSE, "entry %" PRIu64 " is no JSON object", self->size);
    if (st == MCP_OK)
        st = check_entry(self, flaw, value, err);
    mcp_arena_free(arena);
    return st;
}

mcp_status portarium_chain_resume(portarium_chain *self, uint64_t index, const char *entry,
                                  size_t length, mcp_error *err)
{
    const mcp_json *value = NULL;
    size_t time_length = 0;
    uint8_t digest[MCP_SHA256_SIZE];
    mcp_arena *arena = mcp_arena_new(16 * PORTARIUM_ENTRY_MAX);

    if (!arena)
        return mcp_error_set(err, MCP_E_NOMEM, "out of memory for an entry");
    mcp_status st = mcp_json_read(&value, arena, entry, length, err);
    const char *hash = mcp_json_get_string(value, "hashSha256");
    const char *time = mcp_json_string(mcp_json_get(value, "occurredAtIso"), &time_length);
    if (st == MCP_OK &&
        (!hash || !keys_unhex(digest, hash, strlen(hash)) || !is_time(time, time_length)))
        st = mcp_error_set(err, MCP_E_PARSE, "entry %" PRIu64 " has no hash or no time", index);
    if (st == MCP_OK) {
        memcpy(self->head, hash, sizeof self->head);
        memcpy(self->time, time, sizeof self->time);
        self->size = index + 1;
    }
    mcp_arena_free(arena);
    return st;
}

void portarium_flaw_write(mcp_json_writer *writer, const portarium_flaw *flaw)
{
    mcp_write_object(writer);
    mcp_write_member_bool(writer, "ok", !flaw->reason);
    if (flaw->reason) {
        mcp_write_member_int(writer, "index", (int64_t)flaw->index);
        mcp_write_member_string(writer, "reason", flaw->reason);
        if (*flaw->expected)
            mcp_write_member_string(writer, "expected", flaw->expected);
        if (*flaw->actual)
            mcp_write_member_string(writer, "actual", flaw->actual);
    }
    mcp_write_end(writer);
}
