/*
 * test_decode.c - files of a policy that are damaged: each is refused, or it reads as a policy
 * whose numbers fit together.
 */
#include <stdlib.h>

#include "policy/decode.h"
#include "policy/encode.h"
#include "policy_sample.h"

enum { CUTS_0, CUTS_1, CUTS_2, STATES_1, RESUME, METADATA, FILES };

typedef struct whole {
    sample sample;
    mcp_buf files[FILES];
} whole;

static int set_up(void **state)
{
    whole *all = calloc(1, sizeof *all);

    assert_non_null(all);
    sample_init(&all->sample, 2);
    for (int i = 0; i < FILES; i++)
        mcp_buf_init(&all->files[i], 1 << 20);
    for (int t = 0; t < 3; t++)
        policy_encode_cuts(&all->files[CUTS_0 + t], &all->sample.policy, (size_t)t);
    policy_encode_states(&all->files[STATES_1], &all->sample.policy, 1);
    policy_encode_resume(&all->files[RESUME], &all->sample.policy, true);
    policy_encode_metadata(&all->files[METADATA], &all->sample.policy);
    for (int i = 0; i < FILES; i++)
        assert_int_equal(all->files[i].status, MCP_OK);
    *state = all;
    return 0;
}

static int tear_down(void **state)
{
    whole *all = *state;

    for (int i = 0; i < FILES; i++)
        mcp_buf_clear(&all->files[i]);
    free(all);
    return 0;
}

/* Decode all files, of which one is replaced. */
static mcp_status decode(policy *out, const whole *all, int replaced, policy_bytes by,
                         mcp_arena *arena, mcp_error *err)
{
    policy_bytes from[FILES];
    mcp_status st;

    for (int i = 0; i < FILES; i++)
        from[i] = (policy_bytes){ all->files[i].data, all->files[i].length };
    if (replaced < FILES)
        from[replaced] = by;
    st = policy_decode_metadata(out, from[METADATA], arena, err);
    if (st == MCP_OK && (out->stage_count != 3 || out->dimension != 2))
        return mcp_error_set(err, MCP_E_PARSE, "another policy");
    policy_stage *stages = (policy_stage *)out->stages;
    for (int t = 0; t < 3 && st == MCP_OK; t++)
        st = policy_decode_cuts(&stages[t], from[CUTS_0 + t], out->dimension, arena, err);
    if (st == MCP_OK && replaced == STATES_1)
        st = policy_decode_states(&stages[1], from[STATES_1], out->dimension, arena, err);
    if (st == MCP_OK)
        st = policy_decode_resume(out, stages, from[RESUME], arena, err);
    return st;
}

/* What everybody who uses a policy relies on. */
static void expect_sound(const policy *read)
{
    for (size_t t = 0; t < read->stage_count; t++) {
        const policy_stage *stage = &read->stages[t];
        for (size_t i = 0; i < stage->cut_count; i++) {
            assert_true(i == 0 || stage->cuts[i - 1].slot < stage->cuts[i].slot);
            assert_true(isfinite(stage->cuts[i].intercept));
            for (size_t j = 0; j < read->dimension; j++)
                assert_true(isfinite(policy_coefficient(stage, i, j)));
        }
        for (size_t i = 0; i < stage->bases.set_count; i++)
            assert_true(stage->bases.set[i] < stage->cut_count);
        for (size_t i = 0; i < stage->bases.count * stage->bases.stride; i++)
            assert_true(stage->bases.bytes[i] <= POLICY_PLACE_FIXED);
        for (size_t i = 0; i < stage->state_count * read->dimension; i++)
            assert_true(isfinite(policy_state(stage, 0, read->dimension)[i]));
    }
    assert_int_equal(read->iteration_count, read->metadata.completed_iterations);
}

/* True: it was refused. */
static bool try_bytes(const whole *all, int file, const uint8_t *bytes, size_t length)
{
    mcp_arena *arena = mcp_arena_new(4 << 20);
    mcp_error err = MCP_ERROR_INIT;
    policy read;

    assert_non_null(arena);
    mcp_status st = decode(&read, all, file, (policy_bytes){ bytes, length }, arena, &err);
    if (st == MCP_OK)
        expect_sound(&read);
    else
        assert_int_equal(st, MCP_E_PARSE);
    assert_true(st == MCP_OK || err.message[0] != '\0');
    mcp_arena_free(arena);
    return st != MCP_OK;
}

static void the_files_give_the_policy(void **state)
{
    const whole *all = *state;
    mcp_arena *arena = mcp_arena_new(0);
    policy read;

    assert_int_equal(decode(&read, all, FILES, (policy_bytes){ 0 }, arena, NULL), MCP_OK);
    expect_same_policy(&all->sample.policy, &read, true);
    mcp_arena_free(arena);
}

static void every_byte_may_be_flipped(void **state)
{
    const whole *all = *state;

    for (int file = 0; file < FILES; file++) {
        size_t length = all->files[file].length, refused = 0;
        uint8_t *bytes = malloc(length);
        assert_non_null(bytes);
        memcpy(bytes, all->files[file].data, length);
        for (size_t i = 0; i < length; i++) {
            for (int bit = 0; bit < 8; bit += 7) { /* the lowest and the highest */
                bytes[i] ^= (uint8_t)(1 << bit);
                refused += try_bytes(all, file, bytes, length);
                bytes[i] ^= (uint8_t)(1 << bit);
            }
            bytes[i] ^= 0xFF;
            refused += try_bytes(all, file, bytes, length);
            bytes[i] ^= 0xFF;
        }
        assert_true(refused > 0);
        free(bytes);
    }
}

static void a_file_cut_short_is_refused(void **state)
{
    const whole *all = *state;

    for (int file = 0; file < FILES; file++) {
        /* metadata.json ends with a newline that nothing needs. */
        size_t needed = all->files[file].length - (file == METADATA);
        for (size_t length = 0; length < needed; length++) {
            uint8_t *bytes = malloc(length ? length : 1);
            assert_non_null(bytes);
            memcpy(bytes, all->files[file].data, length);
            if (!try_bytes(all, file, bytes, length))
                fail_msg("file %d is taken at %zu of %zu bytes", file, length, needed);
            free(bytes);
        }
    }
}

/* Files of different policies in one directory. */
static void files_that_do_not_fit_each_other_are_refused(void **state)
{
    const whole *all = *state;
    sample other;
    mcp_buf buf;

    sample_init(&other, 3);
    mcp_buf_init(&buf, 1 << 20);
    policy_encode_resume(&buf, &other.policy, true);
    assert_true(try_bytes(all, RESUME, (const uint8_t *)buf.data, buf.length));
    mcp_buf_reset(&buf);
    policy_encode_cuts(&buf, &other.policy, 1);
    assert_true(try_bytes(all, CUTS_1, (const uint8_t *)buf.data, buf.length));
    mcp_buf_clear(&buf);
}

/* Many records that share their coefficients: a small file must not become a large policy. */
static void records_that_share_coefficients_are_refused(void **state)
{
    enum { RECORDS = 1000, DIMENSION = 1000 };
    static double zeros[2 * DIMENSION];
    const double *chunk = zeros;
    policy_cut cuts[] = { { .id = 1, .iteration = 1 }, { .id = 2, .slot = 1, .iteration = 2 } };
    policy_stage stage = { .passes = 1,
                           .cuts = cuts,
                           .cut_count = 2,
                           .coefficients = &chunk,
                           .cuts_a_chunk = 2,
                           .cut_stride = DIMENSION,
                           .state_stride = 1 };
    policy one = { .dimension = DIMENSION, .stages = &stage, .stage_count = 1 };
    policy_counts counts;
    mcp_error err = MCP_ERROR_INIT;
    mcp_buf buf;

    (void)state;
    mcp_buf_init(&buf, 1 << 20);
    policy_encode_cuts(&buf, &one, 0);
    assert_int_equal(buf.status, MCP_OK);
    policy_bytes from = { buf.data, buf.length };
    assert_int_equal(policy_decode_counts(&counts, from, DIMENSION, &err), MCP_OK);
    assert_int_equal(counts.cuts, 2);
    /* Of two are the vectors, and populated_count: let the first ones claim more. */
    uint32_t two = 2, populated = RECORDS;
    size_t changed = 0;
    for (size_t at = 0; at + 4 <= buf.length && changed < 2; at += 4)
        if (memcmp(buf.data + at, &two, 4) == 0) {
            memcpy(buf.data + at, &populated, 4);
            changed++;
        }
    assert_int_equal(policy_decode_counts(&counts, from, DIMENSION, &err), MCP_E_PARSE);
    assert_non_null(strstr(err.message, "do not fit the file"));
    mcp_buf_clear(&buf);
}

/* Those of the original program have no iteration before the first slots, which were never filled;
 * its warm cuts have the iteration 2^32 - 1. */
static void slots_never_filled_are_no_cuts(void **state)
{
    const whole *all = *state;
    policy_bytes from = { all->files[CUTS_0].data, all->files[CUTS_0].length };
    policy_counts counts;

    assert_int_equal(policy_decode_counts(&counts, from, 2, NULL), MCP_OK);
    assert_int_equal(counts.warm, 2);
    assert_int_equal(counts.cuts, 2 + 2 * 2);
    assert_int_equal(counts.active, 2 + 3); /* slots 4, 5, 6, 7 without 5 */
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(the_files_give_the_policy),
        TEST(every_byte_may_be_flipped),
        TEST(a_file_cut_short_is_refused),
        TEST(files_that_do_not_fit_each_other_are_refused),
        TEST(records_that_share_coefficients_are_refused),
        TEST(slots_never_filled_are_no_cuts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
