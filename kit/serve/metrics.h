/**
 * metrics.h - a server's own families in /metrics: writing them, and sampling those that have to be
 * read from a database.
 *
 *     serve_metric(out, "echo_words_total", "counter", "Words that were repeated.", app->words);
 *
 * A name begins with that of the program; a counter, and nothing else, ends in _total. Names,
 * labels and help are of the program's own tables and have no byte that needs an escape.
 */
#ifndef SERVE_METRICS_H
#define SERVE_METRICS_H

#include <stddef.h>
#include <stdint.h>

#include "mcp/buf.h"
#include "mcp/error.h"
#include "mcp/log.h"

/** Begin a family: its HELP and TYPE. */
void serve_metric_begin(mcp_buf *out, const char *name, const char *type, const char *help);

/** A sample of the family that was begun. @param label NULL: it has none */
void serve_metric_put(mcp_buf *out, const char *name, const char *label, const char *value,
                      double number);

/** A family of one sample without a label. */
void serve_metric(mcp_buf *out, const char *name, const char *type, const char *help,
                  double number);

#define SERVE_TIME_BOUNDS 12

/** How long something took, often. Zero is empty. Guarded by its owner. */
typedef struct serve_times {
    uint64_t counts[SERVE_TIME_BOUNDS + 1]; /* by bucket, not cumulative */
    uint64_t sum_ns;
} serve_times;

void serve_times_add(serve_times *times, int64_t ns);

/** A family that is a histogram from 1 ms to 5 s. */
void serve_metric_times(mcp_buf *out, const char *name, const char *help, const serve_times *times);

/* ---- sampled families ------------------------------------------------------------------------ */

/** How old a sample may be when it is read. */
#define SERVE_SAMPLE_MS 15000

/** Samples are taken as long as somebody reads them so often. */
#define SERVE_SAMPLES_WANTED_MS 120000

/** Appends families. Runs on the sampler's thread; may block. A status other than MCP_OK is logged,
 *  and there are no families until the next try. */
typedef mcp_status serve_sample(mcp_buf *out, void *data, mcp_error *err);

/** The families that a thread of its own samples. */
typedef struct serve_sampler serve_sampler;

/**
 * Start the thread, which samples at once and then every SERVE_SAMPLE_MS while there are readers.
 *
 * @param out yours, end it with serve_sampler_free
 * @return MCP_OK; MCP_E_NOMEM; MCP_E_LIMIT, MCP_E_IO: the system has no thread
 */
mcp_status serve_sampler_new(serve_sampler **out, serve_sample *sample, void *data, mcp_log log,
                             mcp_error *err);

/** Append the newest sample. Any thread; does not wait for one that is being taken. */
void serve_sampler_write(serve_sampler *self, mcp_buf *out);

/** Wait for the sample that is being taken, and end the thread. NULL is fine. */
void serve_sampler_free(serve_sampler *self);

#endif
