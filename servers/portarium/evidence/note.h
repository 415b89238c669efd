/**
 * note.h - signed notes, and checkpoints, which are notes about the state of a tree.
 *
 * A note is a text, an empty line, and lines of signatures: "— NAME BASE64", where the bytes are
 * four of the key's id and an Ed25519 signature of the text. The id is the beginning of
 * SHA-256(NAME, newline, 0x01, public key). Signatures of unknown keys are passed over. Any thread.
 */
#ifndef PORTARIUM_NOTE_H
#define PORTARIUM_NOTE_H

#include <stddef.h>
#include <stdint.h>

#include "keys/canonical.h"
#include "keys/sign.h"
#include "mcp/buf.h"
#include "mcp/error.h"

/** The longest note, the most signatures of one, and the longest name of a key. */
#define PORTARIUM_NOTE_MAX 4096
#define PORTARIUM_NOTE_SIGNATURES 16
#define PORTARIUM_KEY_NAME_MAX 200

/** Who signs. The name has no space, no '+' and no control character. */
typedef struct portarium_signer {
    const char *name;
    const keys_pair *pair;
} portarium_signer;

/** Whose signature is asked for. */
typedef struct portarium_key {
    const char *name;
    uint8_t bytes[KEYS_PUBLIC_SIZE];
} portarium_key;

/**
 * Append a signed note.
 *
 * @param text one line or more, each ended by a newline, none of them empty
 * @return MCP_OK; MCP_E_PARAMS (the text or the name); MCP_E_LIMIT (PORTARIUM_NOTE_MAX, the
 *         buffer); MCP_E_NOMEM; MCP_E_INTERNAL (libcrypto)
 */
mcp_status portarium_note_sign(mcp_buf *out, const char *text, size_t length,
                               const portarium_signer *signer, mcp_error *err);

/**
 * Verify a note.
 *
 * @param text_length how much of it is the signed text
 * @return MCP_OK; MCP_E_PARSE: it is no note; MCP_E_NOT_FOUND: it has no signature of that key;
 *         MCP_E_DENIED: it has one, which is wrong; MCP_E_NOMEM; MCP_E_INTERNAL (libcrypto)
 */
mcp_status portarium_note_open(size_t *text_length, const char *note, size_t length,
                               const portarium_key *key, mcp_error *err);

/* ---- checkpoints ----------------------------------------------------------------------------- */

/** The longest origin. */
#define PORTARIUM_ORIGIN_MAX 200

/** The state of a workspace's evidence. */
typedef struct portarium_checkpoint {
    char origin[PORTARIUM_ORIGIN_MAX + 1]; /* "portarium/<workspaceId>" */
    uint64_t size;                         /* how many entries */
    uint8_t root[MCP_SHA256_SIZE];         /* of their tree */
    char chain[KEYS_HEX_SIZE];             /* the hash of the last entry; "" without entries */
} portarium_checkpoint;

/** Append a checkpoint as a signed note. @return as portarium_note_sign */
mcp_status portarium_checkpoint_sign(mcp_buf *out, const portarium_checkpoint *checkpoint,
                                     const portarium_signer *signer, mcp_error *err);

/** Verify and read one. Each checkpoint has one text only. @param out changed on MCP_OK only
 *  @return as portarium_note_open */
mcp_status portarium_checkpoint_open(portarium_checkpoint *out, const char *note, size_t length,
                                     const portarium_key *key, mcp_error *err);

#endif
