/*
 * scan.c - a walk with a pattern, made of paths that clients can name, with hashes within a budget
 * of time.
 */
#include "files/scan.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "guard/walk.h"
#include "mcp/alloc.h"
#include "mcp/clock.h"

struct casparian_scan {
    casparian_scan_options options;
    guard_walk *walk; /* NULL: the start is a file */
    bool is_done;     /* of a file: it was given, or does not match */
    int64_t hash_ms;  /* spent */
    int64_t hash_started_ms;
    casparian_scan_file file;
    casparian_scan_summary summary;
    char path[2 * PATH_MAX];
};

/* ---- what is left out ------------------------------------------------------------------------ */

/* Bytes of UTF-8 that begin at `at`; 0: none. */
static size_t character_bytes(const unsigned char *at)
{
    size_t count = at[0] < 0x80   ? 1
                   : at[0] < 0xC2 ? 0
                   : at[0] < 0xE0 ? 2
                   : at[0] < 0xF0 ? 3
                   : at[0] < 0xF5 ? 4
                                  : 0;
    for (size_t i = 1; i < count; i++)
        if ((at[i] & 0xC0) != 0x80)
            return 0;
    bool is_bad = (at[0] == 0xE0 && at[1] < 0xA0) || (at[0] == 0xED && at[1] >= 0xA0) ||
                  (at[0] == 0xF0 && at[1] < 0x90) || (at[0] == 0xF4 && at[1] >= 0x90);
    return is_bad ? 0 : count;
}

static bool is_utf8(const char *text)
{
    const unsigned char *at = (const unsigned char *)text;
    while (*at) {
        size_t count = character_bytes(at);
        if (count == 0)
            return false;
        at += count;
    }
    return true;
}

/* Copy a name, cut, with '?' for what is no UTF-8. */
static void show_name(char *out, size_t size, const char *name)
{
    const unsigned char *at = (const unsigned char *)name;
    size_t length = 0;
    while (*at) {
        size_t count = character_bytes(at);
        if (length + (count ? count : 1) >= size)
            break;
        if (count == 0)
            out[length++] = '?';
        else
            memcpy(out + length, at, count);
        length += count;
        at += count ? count : 1;
    }
    out[length] = '\0';
}

static void skipped(void *data, const char *relative, const char *why)
{
    casparian_scan *self = data;
    casparian_scan_summary *summary = &self->summary;
    summary->skipped++;
    if (summary->error_count == CASPARIAN_SCAN_ERRORS_MAX)
        return;
    casparian_scan_error *error = &summary->errors[summary->error_count++];
    show_name(error->path, sizeof error->path, relative);
    snprintf(error->why, sizeof error->why, "%s", why);
}

/* ---- the walk -------------------------------------------------------------------------------- */

static bool wants(void *data, const char *relative, const char *name, bool is_dir)
{
    const casparian_scan *self = data;
    (void)name;
    return is_dir ? casparian_glob_enters(self->options.glob, relative)
                  : casparian_glob_matches(self->options.glob, relative);
}

static bool should_stop(void *data)
{
    const casparian_scan *self = data;
    return self->options.should_stop && self->options.should_stop(self->options.data);
}

mcp_status casparian_scan_new(casparian_scan **out, const casparian_scan_options *options,
                              mcp_error *err)
{
    casparian_scan *self = mcp_alloc_zeroed(1, sizeof *self);
    if (!self)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a scan");
    self->options = *options;
    const guard_walk_options walk = { .guard = options->guard,
                                      .dir_fd = options->start->fd,
                                      .path = options->start->path,
                                      .is_recursive = options->is_recursive,
                                      .depth_max = options->depth_max,
                                      .after = options->after,
                                      .wants = wants,
                                      .skipped = skipped,
                                      .should_stop = should_stop,
                                      .data = self };
    mcp_status st = options->start->is_dir ? guard_walk_new(&self->walk, &walk, err) : MCP_OK;
    if (st != MCP_OK) {
        casparian_scan_free(self);
        return st;
    }
    *out = self;
    return MCP_OK;
}

void casparian_scan_free(casparian_scan *self)
{
    if (!self)
        return;
    guard_walk_free(self->walk);
    free(self);
}

const casparian_scan_summary *casparian_scan_result(casparian_scan *self)
{
    if (self->walk)
        self->summary.scanned = guard_walk_scanned(self->walk);
    return &self->summary;
}

/* ---- hashes ---------------------------------------------------------------------------------- */

static bool hash_is_over(void *data)
{
    const casparian_scan *self = data;
    int64_t budget_ms = self->options.hash_budget_ms;
    int64_t spent_ms = self->hash_ms + mcp_clock_mono_ms() - self->hash_started_ms;
    return should_stop(data) || (budget_ms > 0 && spent_ms >= budget_ms);
}

static int open_current(const casparian_scan *self, mcp_error *err)
{
    int fd = -1;
    if (!self->walk)
        return self->options.start->fd;
    return guard_walk_open(&fd, self->walk, err) == MCP_OK ? fd : -1;
}

static mcp_status add_hash(casparian_scan *self, mcp_error *err)
{
    mcp_error cause = MCP_ERROR_INIT;
    self->file.hash[0] = '\0';
    if (self->options.hash_mode == CASPARIAN_HASH_NONE)
        return MCP_OK;
    if (self->options.hash_budget_ms > 0 && self->hash_ms >= self->options.hash_budget_ms) {
        self->summary.is_hash_budget_spent = true;
        return MCP_OK;
    }
    self->hash_started_ms = mcp_clock_mono_ms();
    int fd = open_current(self, &cause);
    mcp_status st = fd < 0 ? MCP_E_IO
                           : casparian_hash_file(self->file.hash, fd, self->options.hash_mode,
                                                 hash_is_over, self, &cause);
    self->hash_ms += mcp_clock_mono_ms() - self->hash_started_ms;
    if (fd >= 0 && self->walk)
        close(fd);
    if (st == MCP_E_STOPPED && !should_stop(self)) {
        self->summary.is_hash_budget_spent = true;
        return MCP_OK;
    }
    if (st == MCP_E_STOPPED || st == MCP_E_NOMEM)
        return mcp_error_set(err, st, "%s", cause.message);
    if (st != MCP_OK)
        skipped(self, self->file.relative, cause.message);
    return MCP_OK;
}

/* ---- files ----------------------------------------------------------------------------------- */

static bool fill_from_entry(casparian_scan *self, const guard_entry *entry)
{
    const char *base = self->options.start->path;
    if (!is_utf8(entry->relative)) {
        skipped(self, entry->relative, "the name is not UTF-8");
        return false;
    }
    snprintf(self->path, sizeof self->path, "%s%s%s", base, strcmp(base, "/") == 0 ? "" : "/",
             entry->relative);
    self->file = (casparian_scan_file){ .path = self->path,
                                        .relative = entry->relative,
                                        .name = entry->name,
                                        .size = entry->size,
                                        .mtime_ns = entry->mtime_ns,
                                        .device = entry->device,
                                        .inode = entry->inode };
    return true;
}

/* The start itself, where that is a file. */
static bool fill_from_start(casparian_scan *self)
{
    const guard_named *start = self->options.start;
    const char *slash = strrchr(start->path, '/');
    const char *name = slash ? slash + 1 : start->path;
    self->is_done = true;
    self->summary.scanned = 1;
    if (!is_utf8(start->path) || !casparian_glob_matches(self->options.glob, name))
        return false;
    self->file = (casparian_scan_file){ .path = start->path,
                                        .relative = name,
                                        .name = name,
                                        .size = start->size,
                                        .mtime_ns = start->mtime_ns,
                                        .device = start->device,
                                        .inode = start->inode };
    return true;
}

mcp_status casparian_scan_next(const casparian_scan_file **out, casparian_scan *self,
                               mcp_error *err)
{
    const guard_entry *entry = NULL;
    bool has_file = false;
    *out = NULL;
    while (!has_file) {
        mcp_status st = MCP_OK;
        if (self->walk)
            st = guard_walk_next(&entry, self->walk, err);
        if (st != MCP_OK || (self->walk && !entry) || (!self->walk && self->is_done))
            return st;
        has_file = self->walk ? fill_from_entry(self, entry) : fill_from_start(self);
        if (has_file && self->options.wants)
            has_file = self->options.wants(self->options.data, &self->file);
    }
    mcp_status st = add_hash(self, err);
    if (st == MCP_OK)
        *out = &self->file;
    return st;
}
