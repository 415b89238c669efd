/*
 * peer.h - the client behind one HTTP request, or behind one stream.
 *
 * It decides by itself how it answers: one JSON body, unless something is to be sent before the
 * answer, or the answer takes long, or the client reads nothing else: then a stream of events.
 */
#ifndef MCP_TRANSPORT_HTTP_PEER_H
#define MCP_TRANSPORT_HTTP_PEER_H

#include "mcp/core/message/message.h"
#include "mcp/core/peer.h"
#include "mcp/transport/http/header_fields.h"
#include "mcp/transport/http_int.h"

struct mcp__httpd_peer {
    mcp__peer peer; /* first */
    mcp__exchange_owner owner;
    mcp__httpd *httpd;
    LIST_ENTRY(mcp__httpd_peer) link;     /* of the server's list */
    LIST_ENTRY(mcp__httpd_peer) of_entry; /* of its entry's list */
    mcp__http_exchange *exchange;         /* NULL: no client is connected */
    mcp__session_entry *entry;
    const char *origin; /* of a page in a browser that may read the answer; or NULL */
    mcp__accepted accepted;
    mcp_call *call;  /* of a REST route; a worker may have it */
    uint32_t stream; /* its number in the session; 0 is the one that GET opens */
    uint64_t number; /* of its last event */
    int64_t
        expires_ms; /* wall clock; then what has no end ends: its client comes again with another
                           token. 0: never */
    int64_t begun_ms;
    int64_t wrote_ms;
    bool is_once;    /* the entry is for this request alone */
    bool is_request; /* an answer is due, not just 202 */
    bool is_initialize;
    bool is_stream;
    bool is_resumable; /* its events have ids, and are kept */
    bool is_session;   /* the session ends with this stream (sse_legacy.c) */
};

/**
 * The peer of a request that has just come. Its client accepts nothing, until `accepted` is set.
 *
 * @param entry what its messages will be given to; the peer ends it where it is `is_once`
 * @return NULL: no memory, the exchange was answered
 */
mcp__httpd_peer *mcp__httpd_peer_new(mcp__httpd *httpd, mcp__http_exchange *exchange,
                                     mcp__session_entry *entry, bool is_once);

/** Begin a stream of events. @return false: there is no connection for it any more */
bool mcp__httpd_peer_begin(mcp__httpd_peer *peer);

/** Send an event on a stream that has begun. @param id NULL: it has none */
void mcp__httpd_peer_send(mcp__httpd_peer *peer, const char *name, const char *id, const char *text,
                          size_t length);

/**
 * Begin the stream that GET opens, for what belongs to no request.
 *
 * @param after the number of the last event that the client saw on an earlier one; NULL: there was
 *              none
 */
void mcp__httpd_peer_listen(mcp__httpd_peer *peer, const uint64_t *after);

/**
 * Go on with a stream on another connection: send what the client has not seen, and what will come.
 * Takes the exchange.
 *
 * @param after the number of the last event that the client saw
 */
void mcp__httpd_peer_attach(mcp__httpd_peer *peer, mcp__http_exchange *exchange, uint64_t after);

/** Look at the clock: comments, and streams where the client has waited long. */
void mcp__httpd_peer_tick(mcp__httpd_peer *peer, int64_t now_ms);

/** End a stream in order, or a request whose client no longer waits. Frees the peer. */
void mcp__httpd_peer_end(mcp__httpd_peer *peer);

/** The field that says which scopes the client's token lacks for the answer, if it lacks any.
 *  @param field empty; keeps what `head` borrows */
void mcp__httpd_peer_challenge(const mcp__httpd_peer *peer, mcp__head *head, mcp_buf *field);

/** Free the peer; its exchange is over. */
void mcp__httpd_peer_free(mcp__httpd_peer *peer);

/** The peer of that session and stream; NULL when there is none. */
mcp__httpd_peer *mcp__httpd_peer_find(const mcp__session_entry *entry, uint32_t stream);

/** Answer a GET for a stream that has ended from what is kept of it. The exchange is over. */
void mcp__httpd_peer_replay(mcp__httpd *httpd, mcp__http_exchange *exchange,
                            mcp__session_entry *entry, uint32_t stream, uint64_t after);

#endif
