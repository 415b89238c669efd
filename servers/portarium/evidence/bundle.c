/*
 * bundle.c - writing a bundle, line by line. Members are written in the order of their names.
 */
#include "evidence/bundle.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "keys/base64.h"
#include "keys/digest.h"
#include "mcp/alloc.h"
#include "mcp/json.h"

struct portarium_bundle {
    portarium_bundle_options options;
    keys_digest *digest; /* of all lines */
    mcp_buf line;
    uint64_t lines, entries, payloads;
};

void portarium_bundle_free(portarium_bundle *self)
{
    if (!self)
        return;
    keys_digest_free(self->digest);
    mcp_buf_clear(&self->line);
    free(self);
}

static mcp_json_writer begin(portarium_bundle *self)
{
    mcp_json_writer writer;

    mcp_buf_reset(&self->line);
    mcp_json_writer_init(&writer, &self->line);
    mcp_write_object(&writer);
    return writer;
}

static mcp_status end(portarium_bundle *self, mcp_json_writer *writer, mcp_error *err)
{
    mcp_write_end(writer);
    mcp_status st = mcp_json_writer_status(writer);
    if (st == MCP_OK)
        st = mcp_buf_putc(&self->line, '\n');
    if (st != MCP_OK)
        return mcp_error_set(err, st, "a bundle: %s", mcp_status_words(st));
    self->lines++;
    keys_digest_add(self->digest, self->line.data, self->line.length);
    return self->options.sink(self->line.data, self->line.length, self->options.data, err);
}

static mcp_status write_head(portarium_bundle *self, mcp_error *err)
{
    const portarium_bundle_options *options = &self->options;
    mcp_json_writer writer = begin(self);

    mcp_write_member_int(&writer, "bundle", 1);
    mcp_write_member_int(&writer, "entries", (int64_t)options->entries);
    mcp_write_member_string(&writer, "origin", options->origin);
    mcp_write_member_int(&writer, "payloads", (int64_t)options->payloads);
    mcp_write_member_string(&writer, "runId", options->run_id);
    mcp_status st = end(self, &writer, err);
    if (st != MCP_OK)
        return st;
    writer = begin(self);
    mcp_write_name(&writer, "checkpoint");
    mcp_write_string_n(&writer, options->checkpoint, options->checkpoint_length);
    return end(self, &writer, err);
}

mcp_status portarium_bundle_new(portarium_bundle **out, const portarium_bundle_options *options,
                                mcp_error *err)
{
    portarium_bundle *self = mcp_alloc_zeroed(1, sizeof *self);

    if (!self)
        return mcp_error_set(err, MCP_E_NOMEM, "out of memory for a bundle");
    self->options = *options;
    mcp_buf_init(&self->line, PORTARIUM_LINE_MAX);
    mcp_status st = keys_digest_new(&self->digest, err);
    if (st == MCP_OK)
        st = write_head(self, err);
    if (st != MCP_OK) {
        portarium_bundle_free(self);
        return st;
    }
    *out = self;
    return MCP_OK;
}

/* The text of bytes, as a member's value; base64 has nothing to escape. */
static void write_base64(mcp_json_writer *writer, const void *bytes, size_t length)
{
    mcp_buf text;

    mcp_buf_init(&text, PORTARIUM_LINE_MAX);
    if (keys_base64(&text, bytes, length) == MCP_OK)
        mcp_write_string_n(writer, text.data, text.length);
    else if (writer->status == MCP_OK)
        writer->status = text.status;
    mcp_buf_clear(&text);
}

mcp_status portarium_bundle_entry(portarium_bundle *self, const char *entry, size_t length,
                                  uint64_t index, const portarium_proof *proof, mcp_error *err)
{
    mcp_json_writer writer = begin(self);

    mcp_write_name(&writer, "entry");
    mcp_write_raw(&writer, entry, length);
    mcp_write_member_int(&writer, "index", (int64_t)index);
    mcp_write_member_array(&writer, "proof");
    for (size_t i = 0; i < proof->count; i++)
        write_base64(&writer, proof->hashes[i], MCP_SHA256_SIZE);
    mcp_write_end(&writer);
    self->entries++;
    return end(self, &writer, err);
}

mcp_status portarium_bundle_payload(portarium_bundle *self, const char *uri, const void *bytes,
                                    size_t length, mcp_error *err)
{
    uint8_t digest[MCP_SHA256_SIZE];
    char hex[KEYS_HEX_SIZE];

    if (length > PORTARIUM_PAYLOAD_MAX)
        return mcp_error_set(err, MCP_E_LIMIT, "the payload '%s' is too large", uri);
    mcp_status st = mcp_sha256(digest, bytes, length, err);
    if (st != MCP_OK)
        return st;
    keys_hex(hex, digest);
    mcp_json_writer writer = begin(self);
    mcp_write_name(&writer, "payload");
    write_base64(&writer, bytes, length);
    mcp_write_member_string(&writer, "sha256", hex);
    mcp_write_member_string(&writer, "uri", uri);
    self->payloads++;
    return end(self, &writer, err);
}

static mcp_status sign_seal(portarium_bundle *self, mcp_buf *note,
                            const uint8_t digest[MCP_SHA256_SIZE], mcp_error *err)
{
    mcp_buf text;

    mcp_buf_init(&text, PORTARIUM_NOTE_MAX);
    mcp_buf_printf(&text, "%s/bundle\n%" PRIu64 "\n", self->options.origin, self->lines);
    keys_base64(&text, digest, MCP_SHA256_SIZE);
    mcp_status st = mcp_buf_putc(&text, '\n');
    if (st == MCP_OK)
        st = portarium_note_sign(note, text.data, text.length, &self->options.signer, err);
    else
        mcp_error_set(err, st, "a bundle: %s", mcp_status_words(st));
    mcp_buf_clear(&text);
    return st;
}

mcp_status portarium_bundle_end(portarium_bundle *self, mcp_error *err)
{
    uint8_t digest[MCP_SHA256_SIZE];
    mcp_buf note;

    if (self->entries != self->options.entries || self->payloads != self->options.payloads)
        return mcp_error_set(err, MCP_E_PARAMS, "a bundle lacks entries or payloads");
    mcp_buf_init(&note, PORTARIUM_NOTE_MAX);
    mcp_status st = keys_digest_end(self->digest, digest, err);
    if (st == MCP_OK)
        st = sign_seal(self, &note, digest, err);
    if (st == MCP_OK) {
        mcp_json_writer writer = begin(self);
        mcp_write_name(&writer, "seal");
        mcp_write_string_n(&writer, note.data, note.length);
        st = end(self, &writer, err);
    }
    mcp_buf_clear(&note);
    return st;
}
