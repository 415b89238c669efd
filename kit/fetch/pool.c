/*
 * pool.c - a `fetch` and its idle connections.
 */
#include "fetch/pool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mcp/alloc.h"

enum { KEPT_MAX = 8 };

static void line_free(struct fetch_line *line)
{
    if (!line)
        return;
    if (line->easy)
        line->curl->curl_easy_cleanup(line->easy);
    if (line->multi)
        line->curl->curl_multi_cleanup(line->multi);
    free(line);
}

static mcp_status line_new(struct fetch_line **out, const struct fetch_curl *curl, mcp_error *err)
{
    struct fetch_line *line = mcp_alloc_zeroed(1, sizeof *line);

    if (line) {
        line->curl = curl;
        line->multi = curl->curl_multi_init();
        line->easy = curl->curl_easy_init();
    }
    if (!line || !line->multi || !line->easy ||
        curl->curl_multi_setopt(line->multi, CURLMOPT_MAXCONNECTS, 1L) != CURLM_OK) {
        line_free(line);
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a connection");
    }
    *out = line;
    return MCP_OK;
}

mcp_status fetch_line_take(struct fetch_line **out, fetch *self, const fetch_url *url,
                           mcp_error *err)
{
    char origin[FETCH_ORIGIN_MAX];
    struct fetch_line *line = NULL;
    mcp_status st = MCP_OK;

    snprintf(origin, sizeof origin, "%s://%s:%u", url->is_tls ? "https" : "http", url->host,
             url->port);
    pthread_mutex_lock(&self->lock);
    for (struct fetch_line **at = &self->idle; *at && !line; at = &(*at)->next) {
        if (strcmp((*at)->origin, origin) == 0) {
            line = *at;
            *at = line->next;
            self->idle_count--;
            break;
        }
    }
    pthread_mutex_unlock(&self->lock);
    if (!line)
        st = line_new(&line, self->curl, err);
    if (st != MCP_OK)
        return st;
    memcpy(line->origin, origin, sizeof origin);
    line->next = NULL;
    *out = line;
    return MCP_OK;
}

/* With the lock: take the line out that was not used for longest. */
static struct fetch_line *take_oldest(fetch *self)
{
    struct fetch_line **at = &self->idle;

    while ((*at)->next)
        at = &(*at)->next;
    struct fetch_line *oldest = *at;
    *at = NULL;
    self->idle_count--;
    return oldest;
}

void fetch_line_put(fetch *self, struct fetch_line *line)
{
    struct fetch_line *surplus = NULL;

    pthread_mutex_lock(&self->lock);
    line->next = self->idle;
    self->idle = line;
    self->idle_count++;
    if (self->idle_count > self->kept_max)
        surplus = take_oldest(self);
    pthread_mutex_unlock(&self->lock);
    line_free(surplus);
}

static mcp_status check_options(const fetch_options *options, mcp_error *err)
{
    if (options->any_address && options->egress_count > 0)
        return mcp_error_set(err, MCP_E_PARAMS, "either an egress list or any_address");
    if (options->environment_proxy && !options->any_address)
        return mcp_error_set(err, MCP_E_PARAMS, "an egress list cannot be kept by a proxy");
    return MCP_OK;
}

mcp_status fetch_open(fetch **out, const fetch_options *options, mcp_error *err)
{
    const struct fetch_curl *curl = NULL;
    mcp_status st = check_options(options, err);

    if (st == MCP_OK)
        st = fetch_curl_open(&curl, err);
    if (st != MCP_OK)
        return st;
    fetch *self = mcp_alloc_zeroed(1, sizeof *self);
    if (!self)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for connections");
    self->curl = curl;
    self->environment_proxy = options->environment_proxy;
    self->kept_max = options->kept_max ? options->kept_max : KEPT_MAX;
    pthread_mutex_init(&self->lock, NULL);
    if (options->ca_file) {
        self->ca_file = mcp_alloc_strdup(options->ca_file);
        if (!self->ca_file)
            st = mcp_error_set(err, MCP_E_NOMEM, "no memory for connections");
    }
    if (st == MCP_OK && !options->any_address)
        st = fetch_egress_new(&self->egress, options->egress, options->egress_count, err);
    if (st == MCP_OK)
        *out = self;
    else
        fetch_close(self);
    return st;
}

void fetch_close(fetch *self)
{
    if (!self)
        return;
    while (self->idle) {
        struct fetch_line *line = self->idle;
        self->idle = line->next;
        line_free(line);
    }
    fetch_egress_free(self->egress);
    free(self->ca_file);
    pthread_mutex_destroy(&self->lock);
    free(self);
}
