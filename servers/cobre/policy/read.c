/*
 * read.c - finds the complete policy directory and reads its files.
 *
 * The bytes of a file are needed only while it is decoded, so each file has an arena of its own.
 */
#include "policy/read.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "guard/paths.h"
#include "policy/decode.h"
#include "policy/path.h"

#define METADATA "metadata.json"
#define FILE_NAME_SIZE 64

/* ---- opening --------------------------------------------------------------------------------- */

bool policy_is_complete(int fd)
{
    return guard_exists(fd, METADATA);
}

/* Open the directory if it is complete. MCP_E_NOT_FOUND: it is not. */
static mcp_status open_complete(int *out, int dir_fd, const char *path, mcp_error *err)
{
    int fd = -1;
    mcp_status st = guard_open_subdir(&fd, dir_fd, path, err);

    if (st != MCP_OK)
        return st;
    if (!policy_is_complete(fd)) {
        close(fd);
        return mcp_error_set(err, MCP_E_NOT_FOUND, "'%.150s' holds no " METADATA, path);
    }
    *out = fd;
    return MCP_OK;
}

mcp_status policy_open(int *fd, int dir_fd, const char *path, mcp_error *err)
{
    static const char *const suffixes[] = { "", ".tmp", ".old" };
    char plain[POLICY_PATH_SIZE], name[POLICY_PATH_SIZE + 8];
    mcp_error first = MCP_ERROR_INIT;
    mcp_status st = policy_path_plain(plain, path, err);

    if (st != MCP_OK)
        return st;
    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++) {
        snprintf(name, sizeof name, "%s%s", plain, suffixes[i]);
        st = open_complete(fd, dir_fd, name, i == 0 ? &first : NULL);
        if (st == MCP_OK || (i == 0 && st != MCP_E_NOT_FOUND))
            break;
    }
    if (st != MCP_OK && err)
        *err = first;
    return st == MCP_OK ? MCP_OK : first.status;
}

/* ---- files ----------------------------------------------------------------------------------- */

static mcp_status say_replaced(mcp_error *err)
{
    return mcp_error_set(err, MCP_E_BUSY, "the policy was replaced while it was read");
}

/* Why a file of an open directory could not be read. */
static mcp_status say_unread(int fd, const char *name, const mcp_error *why, mcp_error *err)
{
    if (why->status == MCP_E_NOT_FOUND) {
        if (strcmp(name, METADATA) != 0 && policy_is_complete(fd))
            return mcp_error_set(err, MCP_E_PARSE, "%s: the file is missing", name);
        return say_replaced(err);
    }
    return mcp_error_set(err, why->status == MCP_E_LIMIT ? MCP_E_PARSE : why->status, "%s: %s",
                         name, why->message);
}

/* Read a file into an arena of its own, which the caller frees. */
static mcp_status read_bytes(policy_bytes *out, mcp_arena **arena, int fd, const char *name,
                             mcp_error *err)
{
    mcp_error why = MCP_ERROR_INIT;
    const char *bytes = NULL;

    *arena = mcp_arena_new(POLICY_FILE_MAX + 4096);
    if (!*arena)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for %s", name);
    mcp_status st = guard_read_file(&bytes, &out->length, fd, name, POLICY_FILE_MAX, *arena, &why);
    out->bytes = bytes;
    return st == MCP_OK ? MCP_OK : say_unread(fd, name, &why, err);
}

/* A status of decode.h, with the name of the file before the message. */
static mcp_status name_file(mcp_status st, const char *name, const mcp_error *why, mcp_error *err)
{
    return st == MCP_OK ? MCP_OK : mcp_error_set(err, st, "%s: %s", name, why->message);
}

static mcp_status read_metadata(policy *out, int fd, mcp_arena *arena, mcp_error *err)
{
    mcp_error why = MCP_ERROR_INIT;
    mcp_arena *own = NULL;
    policy_bytes from;
    mcp_status st = read_bytes(&from, &own, fd, METADATA, err);

    if (st == MCP_OK)
        st = name_file(policy_decode_metadata(out, from, arena, &why), METADATA, &why, err);
    mcp_arena_free(own);
    return st;
}

static const char *stage_file(char name[FILE_NAME_SIZE], const char *folder, size_t stage)
{
    snprintf(name, FILE_NAME_SIZE, "%s/stage_%03zu.bin", folder, stage);
    return name;
}

static mcp_status read_cuts(policy_stage *stage, int fd, size_t index, size_t dimension,
                            mcp_arena *arena, mcp_error *err)
{
    char name[FILE_NAME_SIZE];
    mcp_error why = MCP_ERROR_INIT;
    mcp_arena *own = NULL;
    policy_bytes from;
    mcp_status st = read_bytes(&from, &own, fd, stage_file(name, "cuts", index), err);

    if (st == MCP_OK)
        st = name_file(policy_decode_cuts(stage, from, dimension, arena, &why), name, &why, err);
    mcp_arena_free(own);
    return st;
}

static mcp_status read_counts(policy_counts *out, int fd, size_t index, size_t dimension,
                              mcp_error *err)
{
    char name[FILE_NAME_SIZE];
    mcp_error why = MCP_ERROR_INIT;
    mcp_arena *own = NULL;
    policy_bytes from;
    mcp_status st = read_bytes(&from, &own, fd, stage_file(name, "cuts", index), err);

    if (st == MCP_OK)
        st = name_file(policy_decode_counts(out, from, dimension, &why), name, &why, err);
    mcp_arena_free(own);
    return st;
}

/* The file of visited states, if there is one. */
static mcp_status read_states(policy_stage *stage, int fd, size_t index, size_t dimension,
                              mcp_arena *arena, mcp_error *err)
{
    char name[FILE_NAME_SIZE];
    mcp_error why = MCP_ERROR_INIT;
    mcp_arena *own = NULL;
    policy_bytes from;

    if (!guard_exists(fd, stage_file(name, "states", index)))
        return MCP_OK;
    mcp_status st = read_bytes(&from, &own, fd, name, err);
    if (st == MCP_OK)
        st = name_file(policy_decode_states(stage, from, dimension, arena, &why), name, &why, err);
    mcp_arena_free(own);
    return st;
}

static mcp_status read_resume(policy *out, policy_stage *stages, int fd, mcp_arena *arena,
                              mcp_error *err)
{
    static const char name[] = "resume.bin";
    mcp_error why = MCP_ERROR_INIT;
    mcp_arena *own = NULL;
    policy_bytes from;

    if (!guard_exists(fd, name))
        return MCP_OK;
    mcp_status st = read_bytes(&from, &own, fd, name, err);
    if (st == MCP_OK)
        st = name_file(policy_decode_resume(out, stages, from, arena, &why), name, &why, err);
    mcp_arena_free(own);
    return st;
}

/* ---- policies -------------------------------------------------------------------------------- */

/* After all has been read: whether the directory is still as it was. Its metadata.json is removed
 * before all else (save.c). */
static mcp_status end(int fd, mcp_error *err)
{
    return policy_is_complete(fd) ? MCP_OK : say_replaced(err);
}

/* The metadata in a policy of the arena, and its stages, which are still empty. */
static mcp_status begin(policy **out, policy_stage **stages, int fd, mcp_arena *arena,
                        mcp_error *err)
{
    policy *made = mcp_arena_alloc(arena, sizeof *made);

    if (!made)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for the policy");
    mcp_status st = read_metadata(made, fd, arena, err);
    if (st != MCP_OK)
        return st;
    *out = made;
    *stages = (policy_stage *)made->stages; /* the arena's, made by read_metadata */
    return MCP_OK;
}

mcp_status policy_read(const policy **out, int fd, policy_parts parts, mcp_arena *arena,
                       mcp_error *err)
{
    policy *made = NULL;
    policy_stage *stages = NULL;
    mcp_status st = begin(&made, &stages, fd, arena, err);

    for (size_t t = 0; st == MCP_OK && t < made->stage_count; t++) {
        st = read_cuts(&stages[t], fd, t, made->dimension, arena, err);
        if (st == MCP_OK && parts == POLICY_ALL)
            st = read_states(&stages[t], fd, t, made->dimension, arena, err);
    }
    if (st == MCP_OK && parts == POLICY_ALL)
        st = read_resume(made, stages, fd, arena, err);
    if (st == MCP_OK)
        st = end(fd, err);
    if (st == MCP_OK)
        *out = made;
    return st;
}

mcp_status policy_read_stage(const policy **out, int fd, size_t stage, mcp_arena *arena,
                             mcp_error *err)
{
    policy *made = NULL;
    policy_stage *stages = NULL;
    mcp_status st = begin(&made, &stages, fd, arena, err);

    if (st == MCP_OK && stage >= made->stage_count)
        return mcp_error_set(err, MCP_E_LIMIT, "the policy has %zu stages", made->stage_count);
    if (st == MCP_OK)
        st = read_cuts(&stages[stage], fd, stage, made->dimension, arena, err);
    if (st == MCP_OK)
        *out = made;
    return st;
}

mcp_status policy_read_summary(const policy_summary **out, int fd, mcp_arena *arena, mcp_error *err)
{
    policy *made = NULL;
    policy_stage *stages = NULL;
    mcp_status st = begin(&made, &stages, fd, arena, err);

    if (st != MCP_OK)
        return st;
    policy_summary *summary = mcp_arena_alloc(arena, sizeof *summary);
    policy_stage_count *counts = mcp_arena_array(arena, made->stage_count, sizeof *counts);
    if (!summary || !counts)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for the policy's summary");
    *summary = (policy_summary){
        .metadata = made->metadata,
        .dimension = made->dimension,
        .stage_count = made->stage_count,
        .stages = counts,
    };
    for (size_t t = 0; t < made->stage_count; t++) {
        policy_counts found;
        st = read_counts(&found, fd, t, made->dimension, err);
        if (st != MCP_OK)
            return st;
        counts[t] = (policy_stage_count){ found.cuts, found.active };
        summary->cuts += found.cuts;
        summary->active += found.active;
    }
    *out = summary;
    return MCP_OK;
}
