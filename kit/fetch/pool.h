/*
 * pool.h - the connections of a `fetch`.
 *
 * A line is a libcurl handle with at most one connection. It belongs to the thread that took it;
 * idle ones are in the pool, guarded by its lock.
 */
#ifndef FETCH_POOL_H
#define FETCH_POOL_H

#include <pthread.h>

#include "fetch/curl.h"
#include "fetch/egress.h"
#include "fetch/fetch.h"

#define FETCH_ORIGIN_MAX (FETCH_HOST_MAX + 16)

struct fetch_line {
    const struct fetch_curl *curl;
    CURLM *multi;
    CURL *easy;
    char origin[FETCH_ORIGIN_MAX]; /* of its connection: scheme, host and port */
    struct fetch_line *next;
};

struct fetch {
    const struct fetch_curl *curl;
    fetch_egress *egress; /* NULL: any address */
    char *ca_file;
    bool environment_proxy;
    size_t kept_max;

    pthread_mutex_t lock;    /* guards what follows */
    struct fetch_line *idle; /* the one used last first */
    size_t idle_count;
};

/* A line to the URL's origin, an idle one where there is one. @return MCP_OK; MCP_E_NOMEM */
mcp_status fetch_line_take(struct fetch_line **out, fetch *self, const fetch_url *url,
                           mcp_error *err);

/* Put a line back, with its connection. */
void fetch_line_put(fetch *self, struct fetch_line *line);

#endif
