/*
 * test_metrics.c - the lines of a family, and a sampler that others read.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <pthread.h>
#include <semaphore.h>

#include "serve/metrics.h"

/* ---- families -------------------------------------------------------------------------------- */

static void families_have_their_lines(void **state)
{
    serve_times times = { .sum_ns = 0 };
    mcp_buf out;

    (void)state;
    mcp_buf_init(&out, 1 << 16);
    serve_metric(&out, "own_words_total", "counter", "Words.", 3);
    serve_metric(&out, "own_lag_seconds", "gauge", "Lag.", 0.25);
    serve_metric_begin(&out, "own_jobs", "gauge", "Jobs.");
    serve_metric_put(&out, "own_jobs", "state", "queued", 9007199254740991.0);
    serve_times_add(&times, 1000000);
    serve_times_add(&times, 1000001);
    serve_times_add(&times, 6000000000);
    serve_metric_times(&out, "own_seconds", "Times.", &times);
    assert_string_equal(out.data, "# HELP own_words_total Words.\n"
                                  "# TYPE own_words_total counter\n"
                                  "own_words_total 3\n"
                                  "# HELP own_lag_seconds Lag.\n"
                                  "# TYPE own_lag_seconds gauge\n"
                                  "own_lag_seconds 0.25\n"
                                  "# HELP own_jobs Jobs.\n"
                                  "# TYPE own_jobs gauge\n"
                                  "own_jobs{state=\"queued\"} 9.00719925474099e+15\n"
                                  "# HELP own_seconds Times.\n"
                                  "# TYPE own_seconds histogram\n"
                                  "own_seconds_bucket{le=\"0.001\"} 1\n"
                                  "own_seconds_bucket{le=\"0.002\"} 2\n"
                                  "own_seconds_bucket{le=\"0.005\"} 2\n"
                                  "own_seconds_bucket{le=\"0.01\"} 2\n"
                                  "own_seconds_bucket{le=\"0.02\"} 2\n"
                                  "own_seconds_bucket{le=\"0.05\"} 2\n"
                                  "own_seconds_bucket{le=\"0.1\"} 2\n"
                                  "own_seconds_bucket{le=\"0.2\"} 2\n"
                                  "own_seconds_bucket{le=\"0.5\"} 2\n"
                                  "own_seconds_bucket{le=\"1.0\"} 2\n"
                                  "own_seconds_bucket{le=\"2.0\"} 2\n"
                                  "own_seconds_bucket{le=\"5.0\"} 2\n"
                                  "own_seconds_bucket{le=\"+Inf\"} 3\n"
                                  "own_seconds_sum 6.002000001\n"
                                  "own_seconds_count 3\n");
    mcp_buf_clear(&out);
}

/* ---- a sampler ------------------------------------------------------------------------------- */

struct source {
    sem_t may_end, began;
    mcp_status status;
    int samples;
};

static mcp_status sample(mcp_buf *out, void *data, mcp_error *err)
{
    struct source *source = data;

    source->samples++;
    sem_post(&source->began);
    sem_wait(&source->may_end);
    serve_metric(out, "own_rows", "gauge", "Rows.", 5);
    return source->status == MCP_OK ? MCP_OK : mcp_error_set(err, source->status, "no database");
}

static void keep(mcp_log_level level, const char *message, void *data)
{
    (void)level;
    (void)snprintf(data, 256, "%s", message);
}

static serve_sampler *begin(struct source *source, char line[256])
{
    const mcp_log log = { keep, line, MCP_LOG_DEBUG };
    serve_sampler *sampler = NULL;

    line[0] = '\0';
    sem_init(&source->may_end, 0, 0);
    sem_init(&source->began, 0, 0);
    assert_int_equal(serve_sampler_new(&sampler, sample, source, log, NULL), MCP_OK);
    sem_wait(&source->began);
    return sampler;
}

static void end(struct source *source)
{
    sem_destroy(&source->may_end);
    sem_destroy(&source->began);
}

/* While a sample is taken, readers get the one before, here none, and do not wait. */
static void readers_do_not_wait_for_a_sample(void **state)
{
    struct source source = { .status = MCP_OK };
    char line[256];
    mcp_buf out;

    (void)state;
    serve_sampler *sampler = begin(&source, line);
    mcp_buf_init(&out, 1 << 16);
    serve_sampler_write(sampler, &out);
    assert_int_equal(out.length, 0);
    sem_post(&source.may_end);
    while (out.length == 0)
        serve_sampler_write(sampler, &out);
    assert_string_equal(out.data, "# HELP own_rows Rows.\n# TYPE own_rows gauge\nown_rows 5\n");
    serve_sampler_free(sampler);
    assert_int_equal(source.samples, 1);
    mcp_buf_clear(&out);
    end(&source);
}

static void a_failed_sample_is_logged_and_shown_by_no_family(void **state)
{
    struct source source = { .status = MCP_E_IO };
    char line[256];
    mcp_buf out;

    (void)state;
    serve_sampler *sampler = begin(&source, line);
    sem_post(&source.may_end);
    mcp_buf_init(&out, 1 << 16);
    serve_sampler_write(sampler, &out);
    serve_sampler_free(sampler); /* after the sample */
    assert_int_equal(out.length, 0);
    assert_string_equal(line, "/metrics: no figures of the database: no database");
    mcp_buf_clear(&out);
    serve_sampler_free(NULL);
    end(&source);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(families_have_their_lines),
        cmocka_unit_test(readers_do_not_wait_for_a_sample),
        cmocka_unit_test(a_failed_sample_is_logged_and_shown_by_no_family),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
