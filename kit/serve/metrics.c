/*
 * metrics.c - families in the text format of Prometheus, and a thread that samples some.
 */
#include "serve/metrics.h"

#include <inttypes.h>
#include <stdlib.h>

#include "mcp/alloc.h"
#include "mcp/clock.h"
#include "mcp/http.h"
#include "thread/thread.h"

#define NS_A_SECOND 1000000000

/* ---- families -------------------------------------------------------------------------------- */

void serve_metric_begin(mcp_buf *out, const char *name, const char *type, const char *help)
{
    (void)mcp_buf_printf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

void serve_metric_put(mcp_buf *out, const char *name, const char *label, const char *value,
                      double number)
{
    if (label)
        (void)mcp_buf_printf(out, "%s{%s=\"%s\"} %.15g\n", name, label, value, number);
    else
        (void)mcp_buf_printf(out, "%s %.15g\n", name, number);
}

void serve_metric(mcp_buf *out, const char *name, const char *type, const char *help, double number)
{
    serve_metric_begin(out, name, type, help);
    serve_metric_put(out, name, NULL, NULL, number);
}

/* ---- histograms ------------------------------------------------------------------------------ */

static const struct {
    int64_t ns;
    const char *seconds;
} bounds[SERVE_TIME_BOUNDS] = {
    { 1000000, "0.001" }, { 2000000, "0.002" },  { 5000000, "0.005" },  { 10000000, "0.01" },
    { 20000000, "0.02" }, { 50000000, "0.05" },  { 100000000, "0.1" },  { 200000000, "0.2" },
    { 500000000, "0.5" }, { 1000000000, "1.0" }, { 2000000000, "2.0" }, { 5000000000, "5.0" },
};

void serve_times_add(serve_times *times, int64_t ns)
{
    size_t bucket = 0;

    while (bucket < SERVE_TIME_BOUNDS && ns > bounds[bucket].ns)
        bucket++;
    times->counts[bucket]++;
    times->sum_ns += ns > 0 ? (uint64_t)ns : 0;
}

void serve_metric_times(mcp_buf *out, const char *name, const char *help, const serve_times *times)
{
    uint64_t count = 0;

    serve_metric_begin(out, name, "histogram", help);
    for (size_t i = 0; i <= SERVE_TIME_BOUNDS; i++) {
        count += times->counts[i];
        (void)mcp_buf_printf(out, "%s_bucket{le=\"%s\"} %" PRIu64 "\n", name,
                             i < SERVE_TIME_BOUNDS ? bounds[i].seconds : "+Inf", count);
    }
    (void)mcp_buf_printf(out, "%s_sum %" PRIu64 ".%09" PRIu64 "\n%s_count %" PRIu64 "\n", name,
                         times->sum_ns / NS_A_SECOND, times->sum_ns % NS_A_SECOND, name, count);
}

/* ---- samples --------------------------------------------------------------------------------- */

struct serve_sampler {
    serve_sample *sample;
    void *data;
    mcp_log log;
    pthread_mutex_t lock; /* guards the three below, and the worker */
    thread_worker worker;
    mcp_buf newest;
    int64_t read_ms; /* when somebody last read it */
    bool has_failed; /* the worker's: it is logged once */
};

static void take(serve_sampler *self)
{
    mcp_error err = MCP_ERROR_INIT;
    mcp_buf fresh, old;

    mcp_buf_init(&fresh, MCP_METRICS_MAX);
    mcp_status st = self->sample(&fresh, self->data, &err);
    if (st == MCP_OK && fresh.status != MCP_OK)
        st = mcp_error_set(&err, fresh.status, "the figures are too long");
    if (st != MCP_OK) {
        mcp_buf_clear(&fresh);
        if (!self->has_failed)
            mcp_log_write(&self->log, MCP_LOG_WARNING, "/metrics: no figures of the database: %s",
                          err.message);
    }
    self->has_failed = st != MCP_OK;
    pthread_mutex_lock(&self->lock);
    old = self->newest;
    self->newest = fresh;
    pthread_mutex_unlock(&self->lock);
    mcp_buf_clear(&old);
}

static void run(void *data)
{
    serve_sampler *self = data;

    pthread_mutex_lock(&self->lock);
    while (!self->worker.is_stopping) {
        bool is_wanted = mcp_clock_mono_ms() - self->read_ms < SERVE_SAMPLES_WANTED_MS;
        if (is_wanted) {
            pthread_mutex_unlock(&self->lock);
            take(self);
            pthread_mutex_lock(&self->lock);
        }
        (void)thread_worker_wait(&self->worker, is_wanted ? SERVE_SAMPLE_MS : THREAD_FOREVER);
    }
    pthread_mutex_unlock(&self->lock);
}

mcp_status serve_sampler_new(serve_sampler **out, serve_sample *sample, void *data, mcp_log log,
                             mcp_error *err)
{
    serve_sampler *self = mcp_alloc_zeroed(1, sizeof *self);

    if (!self)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for the figures of the database");
    self->sample = sample;
    self->data = data;
    self->log = log;
    self->read_ms = mcp_clock_mono_ms();
    mcp_buf_init(&self->newest, MCP_METRICS_MAX);
    pthread_mutex_init(&self->lock, NULL);
    thread_worker_init(&self->worker, &self->lock);
    mcp_status st = thread_worker_start(&self->worker, run, self, err);
    if (st != MCP_OK) {
        serve_sampler_free(self);
        return st;
    }
    *out = self;
    return MCP_OK;
}

void serve_sampler_write(serve_sampler *self, mcp_buf *out)
{
    int64_t now_ms = mcp_clock_mono_ms();

    pthread_mutex_lock(&self->lock);
    if (now_ms - self->read_ms >= SERVE_SAMPLES_WANTED_MS) {
        mcp_buf_reset(&self->newest); /* it is old */
        thread_worker_wake(&self->worker);
    }
    self->read_ms = now_ms;
    if (self->newest.length > 0)
        (void)mcp_buf_append(out, self->newest.data, self->newest.length);
    pthread_mutex_unlock(&self->lock);
}

void serve_sampler_free(serve_sampler *self)
{
    if (!self)
        return;
    thread_worker_stop(&self->worker);
    mcp_buf_clear(&self->newest);
    pthread_mutex_destroy(&self->lock);
    free(self);
}
