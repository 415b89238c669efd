/*
 * trace.c - the queue of spans, and the thread that sends them.
 *
 * A batch leaves when it is full, or when its first span has waited long enough. One that cannot be
 * delivered is dropped: it would wait in front of newer ones. The log gets the first failure after
 * a success, and the first success after it.
 */
#include "trace/trace.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "fetch/fetch.h"
#include "mcp/alloc.h"
#include "mcp/clock.h"
#include "thread/thread.h"
#include "trace/headers.h"
#include "trace/span.h"

#define PATH "/v1/traces"
#define REQUEST_MAX ((size_t)16 * 1024 * 1024)

struct trace_exporter {
    trace_options options; /* every default filled in; its strings are not used */
    char *url, *name, *version;
    trace_headers headers; /* of each request */
    fetch *client;         /* the thread's */
    bool has_failed;       /* the thread's: the last batch */
    pthread_mutex_t lock;  /* guards all below */
    thread_worker worker;
    trace_spans spans; /* that wait */
    size_t waiting;
    size_t held;      /* waiting, or being sent */
    int64_t first_ms; /* when the first of `spans` came */
    int64_t end_ms;   /* when the thread gives up; INT64_MAX: it need not end */
    trace_counts counts;
};

/* ---- the thread ------------------------------------------------------------------------------ */

static bool should_stop(void *data)
{
    trace_exporter *self = data;

    pthread_mutex_lock(&self->lock);
    bool is_over = mcp_clock_mono_ms() >= self->end_ms;
    pthread_mutex_unlock(&self->lock);
    return is_over;
}

static mcp_status post(trace_exporter *self, const mcp_buf *body, mcp_error *err)
{
    const fetch_request request = { .url = self->url,
                                    .headers = self->headers.list,
                                    .header_count = self->headers.count,
                                    .body = body->data,
                                    .body_length = body->length,
                                    .timeout_ms = self->options.timeout_ms,
                                    .should_stop = should_stop,
                                    .data = self };
    fetch_result result;
    mcp_status st = fetch_run(&result, self->client, &request, err);

    if (st == MCP_OK && (result.status < 200 || result.status > 299))
        st = mcp_error_set(err, MCP_E_IO, "the collector answers with HTTP status %d",
                           result.status);
    fetch_result_clear(&result);
    return st;
}

static mcp_status export(trace_exporter *self, const trace_spans *batch, mcp_error *err)
{
    mcp_buf body;

    mcp_buf_init(&body, REQUEST_MAX);
    mcp_status st = trace_spans_write(&body, batch, self->name, self->version);
    if (st == MCP_OK)
        st = post(self, &body, err);
    else
        st = mcp_error_set(err, st, "the spans cannot be written");
    mcp_buf_clear(&body);
    return st;
}

static void log_change(trace_exporter *self, mcp_status st, const mcp_error *err)
{
    if (st != MCP_OK && !self->has_failed)
        mcp_log_write(&self->options.log, MCP_LOG_WARNING,
                      "spans are dropped, the collector does not take them: %s", err->message);
    else if (st == MCP_OK && self->has_failed)
        mcp_log_write(&self->options.log, MCP_LOG_INFO, "spans are exported again");
    self->has_failed = st != MCP_OK;
}

static void free_spans(trace_spans *spans)
{
    while (!STAILQ_EMPTY(spans)) {
        trace_span *span = STAILQ_FIRST(spans);
        STAILQ_REMOVE_HEAD(spans, link);
        free(span);
    }
}

/* Under the lock. Returns how many. */
static size_t take(trace_exporter *self, trace_spans *batch)
{
    size_t count = 0;

    STAILQ_INIT(batch);
    while (count < self->options.batch_max && !STAILQ_EMPTY(&self->spans)) {
        trace_span *span = STAILQ_FIRST(&self->spans);
        STAILQ_REMOVE_HEAD(&self->spans, link);
        STAILQ_INSERT_TAIL(batch, span, link);
        count++;
    }
    self->waiting -= count;
    self->first_ms = mcp_clock_mono_ms();
    return count;
}

/* With the lock, which is released meanwhile. */
static void send_batch(trace_exporter *self)
{
    mcp_error err = MCP_ERROR_INIT;
    trace_spans batch;
    size_t count = take(self, &batch);

    pthread_mutex_unlock(&self->lock);
    mcp_status st = export(self, &batch, &err);
    log_change(self, st, &err);
    free_spans(&batch);
    pthread_mutex_lock(&self->lock);
    self->held -= count;
    *(st == MCP_OK ? &self->counts.exported : &self->counts.failed) += count;
}

/* Under the lock: how long the thread may sleep; 0: there is a batch to send. */
static int64_t sleep_ms(const trace_exporter *self)
{
    int64_t due_ms = self->first_ms + self->options.batch_ms, now_ms = mcp_clock_mono_ms();

    if (self->waiting == 0)
        return THREAD_FOREVER;
    return self->waiting >= self->options.batch_max || now_ms >= due_ms ? 0 : due_ms - now_ms;
}

static void run(void *data)
{
    trace_exporter *self = data;

    pthread_mutex_lock(&self->lock);
    while (!self->worker.is_stopping) {
        int64_t ms = sleep_ms(self);
        if (ms == 0)
            send_batch(self);
        else
            (void)thread_worker_wait(&self->worker, ms);
    }
    while (self->waiting > 0 && mcp_clock_mono_ms() < self->end_ms)
        send_batch(self);
    self->counts.failed += self->waiting;
    pthread_mutex_unlock(&self->lock);
}

/* ---- beginning and end ----------------------------------------------------------------------- */

static mcp_status copy_texts(trace_exporter *self, const trace_options *options, mcp_error *err)
{
    const char *endpoint = options->endpoint ? options->endpoint : "";
    size_t length = strlen(endpoint);

    if (strncasecmp(endpoint, "http://", 7) != 0 && strncasecmp(endpoint, "https://", 8) != 0)
        return mcp_error_set(
            err, MCP_E_PARAMS,
            "OTEL_EXPORTER_OTLP_ENDPOINT: the endpoint of traces is no http or https URL");
    while (length > 0 && endpoint[length - 1] == '/')
        length--;
    self->url = mcp_alloc(length + sizeof PATH);
    self->name = mcp_alloc_strdup(options->name);
    self->version = mcp_alloc_strdup(options->version ? options->version : "");
    if (!self->url || !self->name || !self->version)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for an exporter of traces");
    memcpy(self->url, endpoint, length);
    memcpy(self->url + length, PATH, sizeof PATH);
    return MCP_OK;
}

static void fill_options(trace_options *options)
{
#define DEFAULT(field, value) options->field = options->field > 0 ? options->field : (value)
    DEFAULT(queue_max, TRACE_QUEUE_MAX);
    DEFAULT(batch_max, TRACE_BATCH_MAX);
    DEFAULT(batch_ms, TRACE_BATCH_MS);
    DEFAULT(timeout_ms, TRACE_TIMEOUT_MS);
    DEFAULT(flush_ms, TRACE_FLUSH_MS);
#undef DEFAULT
}

mcp_status trace_open(trace_exporter **out, const trace_options *options, mcp_error *err)
{
    const fetch_options how = { .any_address = true, .environment_proxy = true };
    trace_exporter *self = mcp_alloc_zeroed(1, sizeof *self);

    if (!self)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for an exporter of traces");
    self->options = *options;
    self->end_ms = INT64_MAX;
    fill_options(&self->options);
    STAILQ_INIT(&self->spans);
    pthread_mutex_init(&self->lock, NULL);
    thread_worker_init(&self->worker, &self->lock);
    self->headers.list[self->headers.count++] = (fetch_header){ "Content-Type",
                                                                "application/json" };
    mcp_status st = copy_texts(self, options, err);
    if (st == MCP_OK)
        st = trace_headers_read(&self->headers, options->headers, err);
    if (st == MCP_OK)
        st = fetch_open(&self->client, &how, err);
    if (st == MCP_OK)
        st = thread_worker_start(&self->worker, run, self, err);
    if (st != MCP_OK) {
        trace_close(self);
        return st;
    }
    *out = self;
    return MCP_OK;
}

void trace_close(trace_exporter *self)
{
    if (!self)
        return;
    pthread_mutex_lock(&self->lock);
    self->end_ms = mcp_clock_mono_ms() + self->options.flush_ms;
    pthread_mutex_unlock(&self->lock);
    thread_worker_stop(&self->worker);
    if (self->counts.queue_full + self->counts.failed > 0)
        mcp_log_write(&self->options.log, MCP_LOG_INFO, "%" PRIu64 " spans were not exported",
                      self->counts.queue_full + self->counts.failed);
    free_spans(&self->spans);
    fetch_close(self->client);
    pthread_mutex_destroy(&self->lock);
    free(self->url);
    free(self->name);
    free(self->version);
    free(self);
}

/* ---- spans ----------------------------------------------------------------------------------- */

void trace_ended(const mcp_call *call, const mcp_ended *ended, void *data)
{
    const mcp_trace *of = mcp_call_trace(call);
    trace_exporter *self = data;

    if (!of || !of->is_sampled)
        return;
    trace_span *span = trace_span_new(call, ended);
    pthread_mutex_lock(&self->lock);
    bool is_kept = span && self->held < self->options.queue_max;
    if (is_kept) {
        if (self->waiting == 0)
            self->first_ms = mcp_clock_mono_ms();
        STAILQ_INSERT_TAIL(&self->spans, span, link);
        self->held++;
        self->waiting++;
        if (self->waiting == 1 || self->waiting == self->options.batch_max)
            thread_worker_wake(&self->worker);
    } else {
        self->counts.queue_full++;
    }
    pthread_mutex_unlock(&self->lock);
    if (!is_kept)
        free(span);
}

void trace_count(trace_exporter *self, trace_counts *out)
{
    pthread_mutex_lock(&self->lock);
    *out = self->counts;
    pthread_mutex_unlock(&self->lock);
}
