/*
 * scan.c - casparian_scan: the files of a folder.
 *
 * The cursor is the relative path of the last file that was given, in base64, so a listing is
 * continued where it ended even when files come and go meanwhile.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "features/tools.h"
#include "files/scan.h"
#include "keys/base64.h"
#include "mcp/clock.h"

#define HASH_BUDGET_MS 10000
#define LIMIT 1000

/* What is listed so far. */
struct listing {
    casparian_request *request;
    casparian_scan *scan;
    int64_t limit, count, bytes;
    const char *cut;  /* "rows" or "bytes"; NULL: all are listed */
    const char *last; /* relative, in the arena */
};

static bool should_stop(void *data)
{
    const casparian_request *request = data;
    return mcp_call_stop(request->call) != MCP_STOP_NONE;
}

static void write_file(mcp_json_writer *json, const casparian_scan_file *file)
{
    char time[MCP_CLOCK_UTC_SIZE];
    mcp_clock_utc(time, file->mtime_ns / 1000000, 1);
    mcp_write_object(json);
    mcp_write_member_string(json, "path", file->path);
    mcp_write_member_int(json, "size", file->size);
    mcp_write_member_string(json, "modified", time);
    if (file->hash[0])
        mcp_write_member_string(json, "hash", file->hash);
    mcp_write_end(json);
}

/* Up to the limit, and one more to know whether there is one. */
static mcp_status write_files(struct listing *self, mcp_error *err)
{
    casparian_request *request = self->request;
    mcp_json_writer *json = casparian_request_result(request);
    const casparian_scan_file *file = NULL;
    mcp_write_member_array(json, "files");
    mcp_status st = casparian_scan_next(&file, self->scan, err);
    while (st == MCP_OK && file) {
        bool is_full = casparian_request_room(request) < 2 * strlen(file->path) + 256;
        if (self->count == self->limit || is_full) {
            self->cut = is_full ? "bytes" : "rows";
            break;
        }
        write_file(json, file);
        self->count++;
        self->bytes += file->size;
        self->last = mcp_arena_strdup(mcp_call_arena(request->call), file->relative);
        if (!self->last)
            return mcp_error_set(err, MCP_E_NOMEM, "no memory for a cursor");
        st = casparian_scan_next(&file, self->scan, err);
    }
    mcp_write_end(json);
    return st;
}

static void write_cursor(mcp_json_writer *json, const char *last)
{
    mcp_buf text;
    mcp_buf_init(&text, KEYS_BASE64_LENGTH(strlen(last)) + 1);
    if (last[0] && keys_base64(&text, last, strlen(last)) == MCP_OK)
        mcp_write_member_string(json, "cursor", text.data);
    mcp_buf_clear(&text);
}

static void write_summary(const struct listing *self)
{
    mcp_json_writer *json = casparian_request_result(self->request);
    const casparian_scan_summary *summary = casparian_scan_result(self->scan);
    mcp_write_member_int(json, "total_size", self->bytes);
    mcp_write_member_int(json, "file_count", self->count);
    mcp_write_member_bool(json, "truncated", self->cut != NULL);
    if (self->cut) {
        mcp_write_member_object(json, "truncation");
        mcp_write_member_string(json, "reason", self->cut);
        mcp_write_end(json);
        write_cursor(json, self->last ? self->last : "");
    }
    mcp_write_member_int(json, "scanned", (int64_t)summary->scanned);
    mcp_write_member_int(json, "skipped", (int64_t)summary->skipped);
    if (summary->error_count > 0) {
        mcp_write_member_array(json, "errors");
        for (size_t i = 0; i < summary->error_count; i++) {
            mcp_write_object(json);
            mcp_write_member_string(json, "path", summary->errors[i].path);
            mcp_write_member_string(json, "error", summary->errors[i].why);
            mcp_write_end(json);
        }
        mcp_write_end(json);
    }
    if (summary->is_hash_budget_spent) {
        mcp_write_member_array(json, "warnings");
        mcp_write_string(json, "The hashes took 10 s; files after that have none");
        mcp_write_end(json);
    }
}

/* @return false: the call was refused */
static bool read_cursor(const char **after, casparian_request *request)
{
    const char *cursor = mcp_arg_string(request->call, "cursor");
    mcp_buf text;
    *after = NULL;
    if (!cursor)
        return true;
    mcp_buf_init(&text, 8192);
    if (keys_unbase64(&text, cursor, strlen(cursor), NULL) == MCP_OK && text.length > 0 &&
        strlen(text.data) == text.length)
        *after = mcp_arena_strdup(mcp_call_arena(request->call), text.data);
    mcp_buf_clear(&text);
    if (*after)
        return true;
    (void)casparian_refuse(request, CASPARIAN_CODE_INVALID_ARGUMENTS,
                           "Pass the cursor of the last answer, with the same other arguments",
                           "/cursor: it is not one of this tool");
    return false;
}

static mcp_status list(casparian_request *request, const guard_named *start,
                       const casparian_glob *glob, mcp_error *err)
{
    struct listing listing = { .request = request,
                               .limit = mcp_arg_int(request->call, "limit", LIMIT) };
    casparian_scan_options options = { .guard = request->app->roots,
                                       .start = start,
                                       .glob = glob,
                                       .is_recursive = mcp_arg_bool(request->call, "recursive",
                                                                    true),
                                       .hash_budget_ms = HASH_BUDGET_MS,
                                       .should_stop = should_stop,
                                       .data = request };
    if (listing.limit > request->app->config->mcp.max_rows)
        listing.limit = request->app->config->mcp.max_rows;
    const char *mode = mcp_arg_string(request->call, "hash_mode");
    if (mode)
        casparian_hash_mode_read(&options.hash_mode, mode);
    if (!read_cursor(&options.after, request))
        return MCP_OK;
    mcp_status st = casparian_scan_new(&listing.scan, &options, err);
    if (st == MCP_OK)
        st = write_files(&listing, err);
    if (st == MCP_OK)
        write_summary(&listing);
    request->rows = listing.count;
    casparian_scan_free(listing.scan);
    return st;
}

mcp_status casparian_scan_tool(casparian_request *request)
{
    mcp_error *err = mcp_call_error(request->call);
    mcp_error cause = MCP_ERROR_INIT;
    casparian_glob *glob = NULL;
    guard_named start;
    const char *pattern = mcp_arg_string(request->call, "pattern");
    mcp_status st = casparian_glob_new(&glob, pattern, &cause);
    if (st == MCP_E_PARAMS)
        return casparian_refuse(request, CASPARIAN_CODE_INVALID_ARGUMENTS, NULL, "/pattern: %s",
                                cause.message);
    if (st != MCP_OK)
        return st;
    if (casparian_request_open(&start, request, mcp_arg_string(request->call, "path"),
                               GUARD_FILES | GUARD_DIRS)) {
        st = list(request, &start, glob, err);
        close(start.fd);
    }
    casparian_glob_free(glob);
    return st;
}
