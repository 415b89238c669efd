/*
 * tls.h - TLS between bytes and bytes; sockets are somebody else's.
 */
#ifndef NET_TLS_H
#define NET_TLS_H

#include <stdbool.h>
#include <stddef.h>

#include "mcp/error.h"

typedef struct mcp__tls_context mcp__tls_context;
typedef struct mcp__tls mcp__tls;

/** How many more bytes can come out of mcp__tls_open than go in: one record. */
#define MCP__TLS_ROOM ((size_t)17 * 1024)

/**
 * Certificate and key of a server; TLS 1.2 and 1.3, ALPN http/1.1.
 *
 * @param out         yours, free it with mcp__tls_context_free
 * @param certificate PEM file: the server's certificate, then its issuers
 * @param key         PEM file, not encrypted
 */
mcp_status mcp__tls_context_new(mcp__tls_context **out, const char *certificate, const char *key,
                                mcp_error *err);

/** Reload the pair, for connections to come; those that are open keep theirs. After an error the
 *  earlier pair is used. */
mcp_status mcp__tls_context_reload(mcp__tls_context *context, const char *certificate,
                                   const char *key, mcp_error *err);

/** The connections that use it must be gone. NULL is fine. */
void mcp__tls_context_free(mcp__tls_context *context);

/** The server's side of one connection. @return yours, free it with mcp__tls_free; NULL: no
 *  memory */
mcp__tls *mcp__tls_new(mcp__tls_context *context);

/** NULL is fine. */
void mcp__tls_free(mcp__tls *tls);

/**
 * Bytes from the network become plain ones. There may be something to send afterwards, on an error
 * too.
 *
 * @param plain    room for `length` + MCP__TLS_ROOM bytes
 * @param got      how many came out
 * @param is_ended the client has ended the connection in order
 */
mcp_status mcp__tls_open(mcp__tls *tls, char *plain, size_t *got, bool *is_ended, const void *bytes,
                         size_t length, mcp_error *err);

/** Plain bytes become bytes to send. Only after the handshake, hence after plain bytes came. */
mcp_status mcp__tls_seal(mcp__tls *tls, const void *plain, size_t length, mcp_error *err);

/** The end in order becomes bytes to send. */
void mcp__tls_seal_end(mcp__tls *tls);

/** What is to be sent; borrowed until the next call. */
const char *mcp__tls_out(const mcp__tls *tls, size_t *length);

/** The first `count` bytes of it are sent. */
void mcp__tls_out_drop(mcp__tls *tls, size_t count);

#endif
