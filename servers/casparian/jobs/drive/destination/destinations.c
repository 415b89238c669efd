/*
 * destinations.c - the sinks of a run.
 */
#include "jobs/drive/destination/destinations.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "jobs/approval.h"
#include "mcp/clock.h"
#include "sinks/commit.h"

static mcp_status no_memory(mcp_error *err)
{
    return mcp_error_set(err, MCP_E_NOMEM, "no memory for the sinks");
}

mcp_status casparian_destinations_read(casparian_drive *self, mcp_error *err)
{
    size_t count = self->spec.route_count > 0 ? self->spec.route_count : 1;
    casparian_destination *destinations = mcp_arena_array(self->arena, count, sizeof *destinations);
    mcp_status st = destinations ? MCP_OK : no_memory(err);

    for (size_t i = 0; i < count && st == MCP_OK; i++) {
        destinations[i].fd = -1;
        destinations[i].quarantine_fd = -1;
        if (self->spec.route_count == 0)
            destinations[i].uri = self->uri;
        else
            st = casparian_route_sink(&destinations[i].uri, self->arena, &self->spec.routes[i], "/",
                                      err);
    }
    if (st == MCP_OK) {
        self->destinations = destinations;
        self->destination_count = count;
    }
    return st;
}

mcp_status casparian_destination_find(casparian_destination **out, const casparian_drive *self,
                                      const char *output, mcp_error *err)
{
    const casparian_route *route = NULL;
    mcp_status st = MCP_OK;

    if (self->spec.route_count > 0)
        st = casparian_route_find(&route, self->spec.routes, self->spec.route_count, output, err);
    if (st == MCP_OK)
        *out = &self->destinations[route ? route - self->spec.routes : 0];
    return st;
}

static mcp_status open_folder(int *fd, casparian_drive *self, const char *dir, mcp_error *err)
{
    if (*fd >= 0)
        return MCP_OK;
    mcp_status st = guard_open_or_make_dir(fd, NULL, self->driver->roots, dir, self->arena, err);
    if (st == MCP_OK && self->approval.id && !guard_is_at(*fd, dir))
        st = mcp_error_set(err, MCP_E_DENIED, "the folder '%.200s' " CASPARIAN_NOT_AS_APPROVED,
                           dir);
    if (st == MCP_OK)
        casparian_commit_sweep(*fd, mcp_clock_wall_ms(), NULL, NULL, NULL, NULL);
    return st;
}

static mcp_status open_destination(casparian_destination *destination, casparian_drive *self,
                                   mcp_error *err)
{
    mcp_status st = open_folder(&destination->fd, self, destination->uri.dir, err);

    if (st == MCP_OK && destination->uri.warning)
        casparian_drive_warn(self, "%s", destination->uri.warning);
    return st;
}

/* The same sink in the folder of quarantine tables. Rows of a database are none of files. */
static mcp_status open_quarantine(casparian_destination *destination, casparian_drive *self,
                                  mcp_error *err)
{
    if (destination->quarantine_fd >= 0)
        return MCP_OK;
    if (destination->uri.kind == CASPARIAN_SINK_DUCKDB)
        return mcp_error_set(err, MCP_E_PARAMS, CASPARIAN_QUARANTINE_IN_DUCKDB,
                             destination->uri.path);
    mcp_status st = casparian_sink_uri_move(&destination->quarantine, self->arena,
                                            &destination->uri, self->spec.quarantine_dir, err);
    return st == MCP_OK
               ? open_folder(&destination->quarantine_fd, self, destination->quarantine.dir, err)
               : st;
}

mcp_status casparian_destination_place(size_t *out, casparian_drive *self, const char *output,
                                       bool is_quarantine, mcp_error *err)
{
    bool is_apart = is_quarantine && self->spec.quarantine_dir && self->policy.allow;
    casparian_destination *destination = NULL;
    mcp_status st = casparian_destination_find(&destination, self, output, err);

    if (st == MCP_OK)
        st = is_apart ? open_quarantine(destination, self, err)
                      : open_destination(destination, self, err);
    if (st != MCP_OK)
        return st;
    return is_apart ? casparian_sink_add_place(out, self->outputs.sink, &destination->quarantine,
                                               destination->quarantine_fd, err)
                    : casparian_sink_add_place(out, self->outputs.sink, &destination->uri,
                                               destination->fd, err);
}

/* The sink that the job names. */
static casparian_destination *find_first(casparian_drive *self)
{
    for (size_t i = 0; i < self->destination_count; i++)
        if (strcmp(self->destinations[i].uri.text, self->uri.text) == 0)
            return &self->destinations[i];
    return &self->destinations[0];
}

mcp_status casparian_destinations_open(casparian_drive *self, mcp_error *err)
{
    casparian_destination *first = find_first(self);
    const char *taken[2] = {
        mcp_arena_printf(self->arena, "%s/state.sqlite", casparian_store_home(self->store)), NULL
    };
    char job[24];
    casparian_sink_options how = { .uri = &first->uri,
                                   .job = job,
                                   .plugin = self->plugin.id,
                                   .version = self->plugin.version,
                                   .attempt = (int)self->job.restart_count,
                                   .is_single_file = self->input_count - self->skipped == 1,
                                   .taken = taken };

    snprintf(job, sizeof job, "%lld", (long long)self->job.id);
    mcp_status st = taken[0] ? open_destination(first, self, err) : no_memory(err);
    how.dir_fd = first->fd;
    if (st == MCP_OK)
        st = casparian_sink_open(&self->outputs.sink, &how, err);
    return st == MCP_OK ? MCP_OK : casparian_drive_fail(self, "sink_error", "%s", err->message);
}

void casparian_destinations_close(casparian_drive *self)
{
    for (size_t i = 0; i < self->destination_count; i++) {
        const int fds[] = { self->destinations[i].fd, self->destinations[i].quarantine_fd };
        for (size_t k = 0; k < 2; k++)
            if (fds[k] >= 0)
                close(fds[k]);
    }
    self->destination_count = 0;
}
