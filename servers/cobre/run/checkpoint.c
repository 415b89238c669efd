/*
 * checkpoint.c - saves the policy by the case's interval, or each time that the last one is old.
 */
#include "run/checkpoint.h"

#include <string.h>
#include <unistd.h>

#include "mcp/clock.h"
#include "policy/path.h"
#include "policy/save.h"
#include "sddp/view.h"

#define OLD_MS 30000 /* without an interval in the case */
#define VIEW_BYTES_MAX ((size_t)8 << 30)
#define READ_TRIES 5

/* ---- the place ------------------------------------------------------------------------------- */

/* An absolute path: its parent is opened, which has to be there. */
static mcp_status open_absolute(checkpoint_place *out, const char *path, const guard *allowed,
                                mcp_arena *arena, mcp_error *err)
{
    const char *slash = strrchr(path, '/');
    const char *parent = slash == path ? "/"
                                       : mcp_arena_strndup(arena, path, (size_t)(slash - path));

    if (!parent)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a path");
    if (!allowed)
        return mcp_error_set(err, MCP_E_DENIED, "the absolute path '%.150s' cannot be used here",
                             path);
    out->path = slash + 1;
    return guard_open_dir(&out->dir_fd, NULL, allowed, parent, arena, err);
}

mcp_status checkpoint_place_open(checkpoint_place *out, int out_fd, const char *output_dir,
                                 const char *path, const guard *allowed, mcp_arena *arena,
                                 mcp_error *err)
{
    char plain[POLICY_PATH_SIZE];
    mcp_status st = policy_path_plain(plain, path, err);

    *out = (checkpoint_place){ .dir_fd = -1, .shown = path };
    if (st != MCP_OK)
        return st;
    const char *copy = mcp_arena_strdup(arena, plain);
    bool is_absolute = plain[0] == '/';
    out->shown = is_absolute || !copy ? copy : mcp_arena_printf(arena, "%s/%s", output_dir, copy);
    if (!out->shown)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a path");
    if (is_absolute)
        return open_absolute(out, copy, allowed, arena, err);
    out->path = copy;
    out->dir_fd = dup(out_fd);
    return out->dir_fd >= 0 ? MCP_OK : mcp_error_set(err, MCP_E_IO, "no file descriptor is left");
}

void checkpoint_place_close(checkpoint_place *place)
{
    if (place->dir_fd >= 0)
        close(place->dir_fd);
    place->dir_fd = -1;
}

bool checkpoint_place_is_taken(const checkpoint_place *place)
{
    int fd = -1;

    if (!place->path || policy_open(&fd, place->dir_fd, place->path, NULL) != MCP_OK)
        return false;
    close(fd);
    return true;
}

mcp_status checkpoint_place_read(const policy **out, const checkpoint_place *place,
                                 policy_parts parts, mcp_arena *arena, mcp_error *err)
{
    mcp_status st = MCP_E_BUSY;

    for (int i = 0; i < READ_TRIES && st == MCP_E_BUSY; i++) {
        int fd = -1;
        st = policy_open(&fd, place->dir_fd, place->path, err);
        if (st != MCP_OK)
            return st;
        st = policy_read(out, fd, parts, arena, err);
        close(fd);
    }
    return st;
}

/* ---- saving ---------------------------------------------------------------------------------- */

mcp_status checkpoint_begin(checkpoint *out, const cobre_case *input, const checkpoint_place *place,
                            const char *version, mcp_arena *arena, mcp_error *err)
{
    *out = (checkpoint){
        .input = input,
        .place = *place,
        .version = version,
        .saved_ms = mcp_clock_mono_ms(),
        .arena = arena,
    };
    return policy_prepare(place->dir_fd, place->path, err);
}

static mcp_status save_view(checkpoint *self, policy *view, mcp_error *err)
{
    const cobre_config *config = &self->input->config;
    policy_save_options options = { .states = config->export_states };
    char now[MCP_CLOCK_UTC_SIZE];

    mcp_clock_utc(now, mcp_clock_wall_ms(), 0);
    view->metadata.cobre_version = self->version;
    view->metadata.created_at = now;
    view->is_exact = view->is_exact && config->policy.store_basis;
    view->means = self->means;
    view->mean_count = self->mean_count;
    return policy_save(self->place.dir_fd, self->place.path, view, &options, err);
}

static mcp_status save(checkpoint *self, const sddp *study, uint32_t iteration, mcp_error *err)
{
    mcp_arena *arena = mcp_arena_new(VIEW_BYTES_MAX);
    policy view;

    if (!arena)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a checkpoint");
    mcp_status st = sddp_view_policy(&view, study, arena, err);
    if (st == MCP_OK)
        st = save_view(self, &view, err);
    mcp_arena_free(arena);
    self->saved_ms = mcp_clock_mono_ms();
    if (st == MCP_OK)
        self->saved = iteration;
    return st;
}

static bool is_due(const checkpoint *self, uint32_t iteration)
{
    const cobre_policy_config *config = &self->input->config.policy;

    if (!config->checkpoints || iteration < config->first_checkpoint)
        return false;
    if (config->checkpoint_interval > 0)
        return (iteration - config->first_checkpoint) % config->checkpoint_interval == 0;
    return mcp_clock_mono_ms() - self->saved_ms >= OLD_MS;
}

/* Keep what the rules look back on. */
static mcp_status keep_means(checkpoint *self, const sddp *study, mcp_error *err)
{
    size_t count = 0;
    const double *means = sddp_view_means(&count, study);

    if (count > self->mean_room) {
        self->means = mcp_arena_array(self->arena, count, sizeof *means);
        self->mean_room = self->means ? count : 0;
    }
    if (count > self->mean_room)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a checkpoint");
    if (count > 0)
        memcpy(self->means, means, count * sizeof *means);
    self->mean_count = count;
    return MCP_OK;
}

mcp_status checkpoint_iteration(checkpoint *self, const sddp *study, uint32_t iteration,
                                bool *saved, mcp_error *err)
{
    mcp_status st = keep_means(self, study, err);

    *saved = false;
    self->latest = iteration;
    if (st != MCP_OK || !is_due(self, iteration))
        return st;
    st = save(self, study, iteration, err);
    *saved = st == MCP_OK;
    return st;
}

mcp_status checkpoint_end(checkpoint *self, const sddp *study, mcp_error *err)
{
    return self->latest == self->saved ? MCP_OK : save(self, study, self->latest, err);
}
