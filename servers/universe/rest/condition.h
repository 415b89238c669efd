/*
 * condition.h - what a request demands of the version it meets: If-Match and If-None-Match (RFC
 * 9110, 13.1), or the query member expectedVersion.
 *
 * The service takes a change at one version or at any. A request may name several versions, so it
 * is tried with the likeliest, and once more with the version that it met where that would do as
 * well:
 *
 *     do
 *         st = universe_service_submit(&sent, ..., when.expected, ...);
 *     while (st == MCP_OK && universe_condition_again(&when, &sent));
 */
#ifndef UNIVERSE_CONDITION_H
#define UNIVERSE_CONDITION_H

#include "gateway/app.h"

enum { UNIVERSE_TAG_SIZE = 32 };

/** The ETag of a version: "v12", with the quotes. */
void universe_tag_of(char out[UNIVERSE_TAG_SIZE], int64_t version);

/** What a request that changes something demands. */
typedef struct universe_condition {
    const char *match, *none_match; /* the fields; NULL: not there */
    int64_t expected;               /* for the next try: a version, or UNIVERSE_ANY_VERSION */
    int http_status;                /* where it does not hold: 412, or 409 */
    int tries;
} universe_condition;

/**
 * Read it.
 *
 * @return false: it cannot be read, it does not hold, or there is no such universe; that has been
 *         answered
 */
bool universe_condition_read(universe_condition *out, mcp_call *call, const universe_app *app,
                             const char *id);

/** Whether this version is one that the request may meet. */
bool universe_condition_holds(const universe_condition *when, int64_t version);

/** Whether what was sent has met a version that would do: then try again, with `expected`; what
 *  came is freed. */
bool universe_condition_again(universe_condition *when, universe_result *result);

#endif
