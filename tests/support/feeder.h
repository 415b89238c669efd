/*
 * feeder.h - bytes into an HTTP server without a network and without a thread: for fuzz targets.
 */
#ifndef TESTS_FEEDER_H
#define TESTS_FEEDER_H

#include <stddef.h>
#include <stdint.h>

#include "mcp/buf.h"
#include "net/http.h"

typedef struct feeder {
    mcp__loop *loop;
    mcp__http *http;
} feeder;

/* Ready a server; aborts on failure. */
void feeder_start(feeder *self, const mcp__http_options *options);

/*
 * One connection: `opening` whole, then `bytes` in steps of `step`, then the client's end. What the
 * server sends is appended to `answer`. Aborts when the connection outlives its client.
 */
void feeder_feed(feeder *self, const char *opening, const uint8_t *bytes, size_t length,
                 size_t step, mcp_buf *answer);

#endif
