/*
 * note.c - signed notes and checkpoints.
 *
 * The texts that are read are held against the texts that would be written, so a checkpoint has no
 * second spelling.
 */
#include "evidence/note.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "keys/base64.h"

#define DASH "\xe2\x80\x94 " /* U+2014 and a space begin a signature */

enum { ID_SIZE = 4, DASH_LENGTH = 4, SIGNED_SIZE = ID_SIZE + KEYS_SIGNATURE_SIZE };

static bool is_key_name(const char *name, size_t length)
{
    if (length == 0 || length > PORTARIUM_KEY_NAME_MAX)
        return false;
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)name[i] <= ' ' || name[i] == '+' || name[i] == 0x7f)
            return false;
    return true;
}

static mcp_status key_id(uint8_t out[ID_SIZE], const char *name,
                         const uint8_t key[KEYS_PUBLIC_SIZE], mcp_error *err)
{
    uint8_t bytes[PORTARIUM_KEY_NAME_MAX + 2 + KEYS_PUBLIC_SIZE], digest[MCP_SHA256_SIZE];
    size_t length = strlen(name);

    if (!is_key_name(name, length))
        return mcp_error_set(err, MCP_E_PARAMS,
                             "a key's name has a character that it must not have");
    memcpy(bytes, name, length);
    bytes[length] = '\n';
    bytes[length + 1] = 1; /* Ed25519 */
    memcpy(bytes + length + 2, key, KEYS_PUBLIC_SIZE);
    mcp_status st = mcp_sha256(digest, bytes, length + 2 + KEYS_PUBLIC_SIZE, err);
    if (st == MCP_OK)
        memcpy(out, digest, ID_SIZE);
    return st;
}

/* Whole lines, none of them empty, without control characters. */
static bool is_text(const char *text, size_t length)
{
    if (length == 0 || text[0] == '\n' || text[length - 1] != '\n')
        return false;
    for (size_t i = 0; i < length; i++) {
        unsigned char byte = (unsigned char)text[i];
        if (byte == '\n' ? i > 0 && text[i - 1] == '\n' : byte < 0x20 || byte == 0x7f)
            return false;
    }
    return true;
}

/* ---- signing --------------------------------------------------------------------------------- */

mcp_status portarium_note_sign(mcp_buf *out, const char *text, size_t length,
                               const portarium_signer *signer, mcp_error *err)
{
    uint8_t bytes[SIGNED_SIZE], key[KEYS_PUBLIC_SIZE];

    if (!is_text(text, length))
        return mcp_error_set(err, MCP_E_PARAMS, "a note needs lines that are not empty");
    if (length > PORTARIUM_NOTE_MAX - PORTARIUM_KEY_NAME_MAX - 2 * SIGNED_SIZE)
        return mcp_error_set(err, MCP_E_LIMIT, "a note is too long");
    keys_pair_public(signer->pair, key);
    mcp_status st = key_id(bytes, signer->name, key, err);
    if (st == MCP_OK)
        st = keys_sign(bytes + ID_SIZE, signer->pair, text, length, err);
    if (st != MCP_OK)
        return st;
    mcp_buf_append(out, text, length);
    mcp_buf_printf(out, "\n" DASH "%s ", signer->name);
    keys_base64(out, bytes, sizeof bytes);
    st = mcp_buf_putc(out, '\n');
    return st == MCP_OK ? MCP_OK : mcp_error_set(err, st, "a note: %s", mcp_status_words(st));
}

/* ---- opening --------------------------------------------------------------------------------- */

struct signature {
    const char *name;
    size_t name_length;
    uint8_t bytes[SIGNED_SIZE];
};

/* One line without its newline. */
static bool read_signature(struct signature *out, const char *line, size_t length)
{
    if (length < DASH_LENGTH || memcmp(line, DASH, DASH_LENGTH) != 0)
        return false;
    out->name = line + DASH_LENGTH;
    const char *space = memchr(out->name, ' ', length - DASH_LENGTH);
    if (!space)
        return false;
    out->name_length = (size_t)(space - out->name);
    return is_key_name(out->name, out->name_length) &&
           keys_unbase64_exact(out->bytes, sizeof out->bytes, space + 1,
                               (size_t)(line + length - space - 1));
}

/* The signed text's length: what is before the last empty line. 0: there is none. */
static size_t text_of(const char *note, size_t length)
{
    for (size_t at = length; at >= 2; at--)
        if (note[at - 1] == '\n' && note[at - 2] == '\n')
            return at - 1;
    return 0;
}

/* The signature of a key among all of them. */
static mcp_status find(struct signature *out, const char *lines, size_t length,
                       const portarium_key *key, mcp_error *err)
{
    uint8_t id[ID_SIZE];
    bool is_found = false;
    mcp_status st = key_id(id, key->name, key->bytes, err);

    for (int count = 0; st == MCP_OK && length > 0; count++) {
        struct signature signature;
        const char *end = memchr(lines, '\n', length);
        if (!end || count == PORTARIUM_NOTE_SIGNATURES ||
            !read_signature(&signature, lines, (size_t)(end - lines)))
            return mcp_error_set(err, MCP_E_PARSE, "this is no signed note");
        if (!is_found && signature.name_length == strlen(key->name) &&
            memcmp(signature.name, key->name, signature.name_length) == 0 &&
            memcmp(signature.bytes, id, ID_SIZE) == 0) {
            *out = signature;
            is_found = true;
        }
        length -= (size_t)(end - lines) + 1;
        lines = end + 1;
    }
    if (st == MCP_OK && !is_found)
        st = mcp_error_set(err, MCP_E_NOT_FOUND, "the note has no signature of '%s'", key->name);
    return st;
}

mcp_status portarium_note_open(size_t *text_length, const char *note, size_t length,
                               const portarium_key *key, mcp_error *err)
{
    struct signature signature;
    size_t text = length <= PORTARIUM_NOTE_MAX ? text_of(note, length) : 0;

    if (text == 0 || text + 1 == length || !is_text(note, text))
        return mcp_error_set(err, MCP_E_PARSE, "this is no signed note");
    mcp_status st = find(&signature, note + text + 1, length - text - 1, key, err);
    if (st == MCP_OK)
        st = keys_verify(key->bytes, signature.bytes + ID_SIZE, note, text, err);
    if (st == MCP_OK)
        *text_length = text;
    return st;
}

/* ---- checkpoints ----------------------------------------------------------------------------- */

static mcp_status write_checkpoint(mcp_buf *out, const portarium_checkpoint *checkpoint)
{
    mcp_buf_printf(out, "%s\n%" PRIu64 "\n", checkpoint->origin, checkpoint->size);
    keys_base64(out, checkpoint->root, sizeof checkpoint->root);
    mcp_buf_putc(out, '\n');
    if (checkpoint->size > 0)
        mcp_buf_printf(out, "chain %s\n", checkpoint->chain);
    return out->status;
}

mcp_status portarium_checkpoint_sign(mcp_buf *out, const portarium_checkpoint *checkpoint,
                                     const portarium_signer *signer, mcp_error *err)
{
    uint8_t digest[MCP_SHA256_SIZE];
    mcp_buf text;

    if (!*checkpoint->origin || strchr(checkpoint->origin, '\n'))
        return mcp_error_set(err, MCP_E_PARAMS, "a checkpoint needs an origin of one line");
    if (checkpoint->size > 0 && !keys_unhex(digest, checkpoint->chain, strlen(checkpoint->chain)))
        return mcp_error_set(err, MCP_E_PARAMS, "a checkpoint needs the hash of the last entry");
    mcp_buf_init(&text, PORTARIUM_NOTE_MAX);
    mcp_status st = write_checkpoint(&text, checkpoint);
    if (st == MCP_OK)
        st = portarium_note_sign(out, text.data, text.length, signer, err);
    else
        mcp_error_set(err, st, "a checkpoint: %s", mcp_status_words(st));
    mcp_buf_clear(&text);
    return st;
}

/* The next line of a text, without its newline. */
static bool next_line(const char **line, size_t *length, const char **at, const char *end)
{
    const char *stop = *at < end ? memchr(*at, '\n', (size_t)(end - *at)) : NULL;

    if (!stop)
        return false;
    *line = *at;
    *length = (size_t)(stop - *at);
    *at = stop + 1;
    return true;
}

static bool read_checkpoint(portarium_checkpoint *out, const char *text, size_t length)
{
    const char *at = text, *end = text + length, *line = NULL;
    size_t size = 0;

    *out = (portarium_checkpoint){ .size = 0 };
    if (!next_line(&line, &size, &at, end) || size > PORTARIUM_ORIGIN_MAX)
        return false;
    memcpy(out->origin, line, size);
    if (!next_line(&line, &size, &at, end) || size > 18)
        return false;
    for (size_t i = 0; i < size; i++) {
        if (line[i] < '0' || line[i] > '9')
            return false;
        out->size = out->size * 10 + (uint64_t)(line[i] - '0');
    }
    if (!next_line(&line, &size, &at, end) ||
        !keys_unbase64_exact(out->root, sizeof out->root, line, size))
        return false;
    if (out->size == 0)
        return true;
    if (!next_line(&line, &size, &at, end) || size != 6 + KEYS_HEX_SIZE - 1)
        return false;
    uint8_t digest[MCP_SHA256_SIZE];
    if (!keys_unhex(digest, line + 6, KEYS_HEX_SIZE - 1))
        return false;
    memcpy(out->chain, line + 6, KEYS_HEX_SIZE - 1);
    return true;
}

mcp_status portarium_checkpoint_open(portarium_checkpoint *out, const char *note, size_t length,
                                     const portarium_key *key, mcp_error *err)
{
    portarium_checkpoint read;
    size_t text_length = 0;
    mcp_buf again;
    mcp_status st = portarium_note_open(&text_length, note, length, key, err);

    if (st != MCP_OK)
        return st;
    if (!read_checkpoint(&read, note, text_length))
        return mcp_error_set(err, MCP_E_PARSE, "this is no checkpoint");
    mcp_buf_init(&again, PORTARIUM_NOTE_MAX);
    st = write_checkpoint(&again, &read);
    if (st != MCP_OK)
        mcp_error_set(err, st, "a checkpoint: %s", mcp_status_words(st));
    else if (again.length != text_length || memcmp(again.data, note, text_length) != 0)
        st = mcp_error_set(err, MCP_E_PARSE, "this is no checkpoint");
    else
        *out = read;
    mcp_buf_clear(&again);
    return st;
}
