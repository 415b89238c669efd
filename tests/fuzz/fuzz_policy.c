/*
 * fuzz_policy.c - any bytes as one file of a policy directory.
 *
 * The first byte names the file: 'm' metadata.json, 'c' cuts, 's' states, 'r' resume.bin; the rest
 * is its content. What is taken must be sound, and be read again as it was after it is written.
 */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "policy/decode.h"
#include "policy/encode.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { INPUT_MAX = 1 << 16, ARENA_MAX = 16 << 20, DIMENSION = 2, CUTS = 3 };

static void must(bool is_so)
{
    if (!is_so)
        abort();
}

static void try_metadata(policy_bytes from, mcp_arena *arena)
{
    policy read, again;
    mcp_buf buf;

    if (policy_decode_metadata(&read, from, arena, NULL) != MCP_OK)
        return;
    mcp_buf_init(&buf, ARENA_MAX);
    policy_encode_metadata(&buf, &read);
    if (buf.status == MCP_OK) { /* else the texts, or many stages, are too long */
        must(policy_decode_metadata(&again, (policy_bytes){ buf.data, buf.length }, arena, NULL) !=
             MCP_E_PARSE);
    }
    mcp_buf_clear(&buf);
}

static bool is_same(const policy_cut *a, const policy_cut *b)
{
    return a->id == b->id && a->slot == b->slot && a->iteration == b->iteration &&
           a->forward_pass == b->forward_pass && a->opening == b->opening &&
           a->is_active == b->is_active && a->intercept == b->intercept;
}

static void try_cuts(policy_bytes from, mcp_arena *arena)
{
    policy_stage stage = { .passes = 1 }, again = { .passes = 1 };
    policy one = { .dimension = DIMENSION, .stages = &stage, .stage_count = 1 };
    policy_counts counts = { 0 };
    mcp_buf buf;

    if (policy_decode_cuts(&stage, from, DIMENSION, arena, NULL) != MCP_OK)
        return;
    must(policy_decode_counts(&counts, from, DIMENSION, NULL) == MCP_OK);
    must(counts.cuts == stage.cut_count && counts.active <= counts.cuts);
    for (size_t i = 0; i < stage.cut_count; i++) {
        must(i == 0 || stage.cuts[i - 1].slot < stage.cuts[i].slot);
        must(isfinite(stage.cuts[i].intercept));
    }
    for (size_t i = 0; i < stage.cut_count * DIMENSION; i++)
        must(isfinite(stage.coefficients[0][i]));
    mcp_buf_init(&buf, ARENA_MAX);
    policy_encode_cuts(&buf, &one, 0);
    must(buf.status == MCP_OK);
    policy_bytes written = { buf.data, buf.length };
    must(policy_decode_cuts(&again, written, DIMENSION, arena, NULL) == MCP_OK);
    must(again.cut_count == stage.cut_count);
    for (size_t i = 0; i < stage.cut_count; i++)
        must(is_same(&again.cuts[i], &stage.cuts[i]));
    must(stage.cut_count == 0 || memcmp(again.coefficients[0], stage.coefficients[0],
                                        stage.cut_count * DIMENSION * sizeof(double)) == 0);
    mcp_buf_clear(&buf);
}

static void try_states(policy_bytes from, mcp_arena *arena)
{
    policy_stage stage = { 0 };

    if (policy_decode_states(&stage, from, DIMENSION, arena, NULL) != MCP_OK)
        return;
    for (size_t i = 0; i < stage.state_count * DIMENSION; i++)
        must(isfinite(stage.states[0][i]));
}

/* For a policy of two stages, of which the first has cuts. */
static void try_resume(policy_bytes from, mcp_arena *arena)
{
    policy_cut cuts[CUTS] = { { .slot = 0 }, { .slot = 1 }, { .slot = 2 } };
    policy_stage stages[2] = { { .cuts = cuts, .cut_count = CUTS }, { .cut_count = 0 } };
    policy read = { .metadata = { .completed_iterations = 2 },
                    .dimension = DIMENSION,
                    .stages = stages,
                    .stage_count = 2 };

    if (policy_decode_resume(&read, stages, from, arena, NULL) != MCP_OK)
        return;
    must(read.is_exact && read.iteration_count == 2);
    for (size_t t = 0; t < 2; t++) {
        const policy_bases *bases = &stages[t].bases;
        for (size_t i = 0; i < bases->set_count; i++)
            must(bases->set[i] < stages[t].cut_count);
        for (size_t i = 0; i < bases->count * bases->stride; i++)
            must(bases->bytes[i] <= POLICY_PLACE_FIXED);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1 || size > INPUT_MAX)
        return 0;
    mcp_arena *arena = mcp_arena_new(ARENA_MAX);
    policy_bytes from = { data + 1, size - 1 };

    must(arena != NULL);
    if (data[0] == 'm')
        try_metadata(from, arena);
    else if (data[0] == 'c')
        try_cuts(from, arena);
    else if (data[0] == 's')
        try_states(from, arena);
    else if (data[0] == 'r')
        try_resume(from, arena);
    mcp_arena_free(arena);
    return 0;
}
