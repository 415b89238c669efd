/*
 * replay.c - the command replay: a universe's state made by its log again, at any version; with
 * --check held against what a start loads (the newest snapshot and the rest of the log), and
 * against the invariants.
 */
#include <stdio.h>
#include <string.h>

#include "cli/progress.h"
#include "mcp/hash.h"
#include "shell/line.h"
#include "shell/open.h"
#include "shell/output.h"

enum { TEXT_MAX = 1 << 16 };

static bool on_progress(int64_t done, int64_t total, void *data)
{
    cli_progress *progress = data;

    progress->total = (uint64_t)total;
    cli_progress_step(progress, (uint64_t)done, NULL);
    return universe_is_stopped();
}

static mcp_status replay(universe_view **out, universe_replayed *what, universe_work *work,
                         const cli_line *line)
{
    cli_progress progress;
    cli_progress_begin(&progress, cli_err(line), "Replaying", " versions", 0,
                       cli_flag(line, "quiet") ? CLI_PROGRESS_NONE : CLI_PROGRESS_BAR);
    mcp_status st = universe_service_replay(out, what, work->service, cli_argument(line, 0),
                                            cli_int(line, "to", UNIVERSE_ANY_VERSION), on_progress,
                                            &progress, &work->err);
    cli_progress_end(&progress);
    return st;
}

/* ---- checking -------------------------------------------------------------------------------- */

/* Each piece is hashed together with the hash of those before it. */
struct chain {
    uint8_t bytes[MCP_SHA256_SIZE + UNIVERSE_PIECE_MAX];
};

static mcp_status hash_piece(const char *bytes, size_t length, void *data, mcp_error *err)
{
    struct chain *chain = data;
    uint8_t hash[MCP_SHA256_SIZE];
    memcpy(chain->bytes + MCP_SHA256_SIZE, bytes, length);
    mcp_status st = mcp_sha256(hash, chain->bytes, MCP_SHA256_SIZE + length, err);
    memcpy(chain->bytes, hash, sizeof hash);
    return st;
}

static mcp_status hash_of(uint8_t out[MCP_SHA256_SIZE], const universe_view *view, mcp_error *err)
{
    struct chain chain;
    memset(chain.bytes, 0, MCP_SHA256_SIZE);
    memset(out, 0, MCP_SHA256_SIZE);
    mcp_status st = universe_view_save(view, hash_piece, &chain, err);
    if (st == MCP_OK)
        memcpy(out, chain.bytes, MCP_SHA256_SIZE);
    return st;
}

static mcp_status compare(const universe_view *view, const universe_replayed *what,
                          universe_work *work, const cli_line *line)
{
    const universe_rules lenient = { .lenient = true };
    uint8_t ours[MCP_SHA256_SIZE], theirs[MCP_SHA256_SIZE];
    universe_view *stored = NULL;
    mcp_error *err = &work->err;
    const char *id = cli_argument(line, 0);

    mcp_status st = universe_service_at(&stored, work->service, id, what->to, err);
    if (st == MCP_OK)
        st = hash_of(ours, view, err);
    if (st == MCP_OK)
        st = hash_of(theirs, stored, err);
    if (st == MCP_OK && memcmp(ours, theirs, sizeof ours) != 0)
        st = mcp_error_set(err, MCP_E_INTERNAL,
                           "universe %.64s: version %lld is not what its log makes", id,
                           (long long)what->to);
    if (st == MCP_OK)
        st = universe_view_check(view, &lenient, err);
    universe_view_free(stored);
    return st;
}

/* ---- telling --------------------------------------------------------------------------------- */

static mcp_status write_state(const universe_view *view, universe_work *work, const cli_line *line,
                              const char *path)
{
    universe_output output;
    mcp_status st = universe_output_open(&output, path, cli_out(line), &work->err);
    if (st != MCP_OK)
        return st;
    st = universe_view_write(view, NULL, universe_output_write, &output, NULL, &work->err);
    if (st == MCP_OK)
        st = universe_output_write("\n", 1, &output, &work->err);
    return universe_output_close(&output, st, &work->err);
}

static mcp_status print_checked(const cli_line *line, const universe_replayed *what, mcp_error *err)
{
    mcp_json_writer json;
    mcp_buf text;
    const char *id = cli_argument(line, 0);
    if (!cli_flag(line, "json")) {
        fprintf(cli_out(line), "%s: versions %lld to %lld replayed, the state is the same\n", id,
                (long long)what->from, (long long)what->to);
        return MCP_OK;
    }
    mcp_buf_init(&text, TEXT_MAX);
    mcp_json_writer_init(&json, &text);
    mcp_write_object(&json);
    mcp_write_member_string(&json, "id", id);
    mcp_write_member_int(&json, "from", what->from);
    mcp_write_member_int(&json, "to", what->to);
    mcp_write_member_bool(&json, "equal", true);
    mcp_write_end(&json);
    return universe_work_print(line, &text, mcp_json_writer_status(&json), err);
}

int universe_line_replay(const cli_line *line, void *data)
{
    const universe_rules rules = { 0 };
    const char *path = cli_string(line, "output");
    universe_replayed what = { 0 };
    universe_view *view = NULL;
    universe_work work;
    bool is_check = cli_flag(line, "check");
    (void)data;

    mcp_status st = universe_work_begin(&work, line, &rules, true);
    if (st == MCP_OK)
        st = replay(&view, &what, &work, line);
    if (st == MCP_OK && is_check)
        st = compare(view, &what, &work, line);
    if (st == MCP_OK && (!is_check || path))
        st = write_state(view, &work, line, path);
    if (st == MCP_OK && is_check)
        st = print_checked(line, &what, &work.err);
    universe_view_free(view);
    return universe_work_end(&work, line, st);
}
