/*
 * test_outbox.c - queued bytes come out as they went in, however they are cut.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "net/http/outbox.h"

#define TOTAL ((size_t)300000)

static unsigned char byte_at(size_t index)
{
    return (unsigned char)(index * 2654435761u >> 13);
}

/* Takes `count` bytes from the front and holds them against what went in. */
static void take(mcp__outbox *out, mcp__pieces *pieces, size_t *taken, size_t count)
{
    struct iovec parts[5];
    size_t seen = 0;
    int found = mcp__outbox_parts(out, parts, 5);

    for (int i = 0; i < found && seen < count; i++) {
        for (size_t k = 0; k < parts[i].iov_len && seen < count; k++, seen++)
            assert_int_equal(((unsigned char *)parts[i].iov_base)[k], byte_at(*taken + seen));
    }
    mcp__outbox_drop(out, pieces, seen);
    *taken += seen;
}

static void what_goes_in_comes_out(void **state)
{
    static const size_t sizes[] = { 1, 4096, 17, 4095, 20000, 3, 16384, 4097, 100000, 250 };
    static unsigned char run[100000];
    mcp__outbox out = { 0 };
    mcp__pieces pieces = { 0 };
    size_t put = 0;
    size_t taken = 0;

    (void)state;
    for (size_t round = 0; put < TOTAL; round++) {
        size_t count = sizes[round % 10];
        for (size_t i = 0; i < count; i++)
            run[i] = byte_at(put + i);
        if (round % 3 == 0) {
            mcp_buf buf;
            mcp_buf_init(&buf, sizeof run);
            mcp_buf_append(&buf, run, count);
            assert_int_equal(mcp__outbox_put_buf(&out, &pieces, &buf), MCP_OK);
            assert_null(buf.data);
        } else {
            assert_int_equal(mcp__outbox_put(&out, &pieces, run, count), MCP_OK);
        }
        put += count;
        take(&out, &pieces, &taken, count * 2 / 3);
        assert_int_equal(out.queued, put - taken);
    }
    while (taken < put)
        take(&out, &pieces, &taken, 5000);
    assert_int_equal(out.queued, 0);
    assert_null(out.first);
    assert_null(out.last);
    mcp__pieces_clear(&pieces);
}

static void small_runs_share_a_piece(void **state)
{
    mcp__outbox out = { 0 };
    mcp__pieces pieces = { 0 };
    struct iovec parts[4];

    (void)state;
    for (int i = 0; i < 100; i++)
        assert_int_equal(mcp__outbox_put(&out, &pieces, "0123456789", 10), MCP_OK);
    assert_int_equal(mcp__outbox_parts(&out, parts, 4), 1);
    assert_int_equal(parts[0].iov_len, 1000);
    mcp__outbox_clear(&out, &pieces);
    assert_int_equal(out.queued, 0);
    assert_int_equal(pieces.count, 1); /* kept for the next */
    assert_int_equal(mcp__outbox_put(&out, &pieces, "x", 1), MCP_OK);
    assert_int_equal(pieces.count, 0);
    mcp__outbox_clear(&out, &pieces);
    mcp__pieces_clear(&pieces);
}

static void without_memory_nothing_is_half_queued(void **state)
{
    static char large[20000];
    mcp__outbox out = { 0 };
    mcp__pieces pieces = { 0 };
    mcp_buf buf;

    (void)state;
    assert_int_equal(mcp__outbox_put(&out, &pieces, "begun", 5), MCP_OK);
    mcp_buf_init(&buf, sizeof large);
    mcp_buf_append(&buf, large, sizeof large);
    mcp__alloc_fail_after(0);
    assert_int_equal(mcp__outbox_put(&out, &pieces, large, sizeof large), MCP_E_NOMEM);
    assert_int_equal(mcp__outbox_put_buf(&out, &pieces, &buf), MCP_E_NOMEM);
    mcp__alloc_fail_after(-1);
    assert_int_equal(out.queued, 5);
    mcp__outbox_clear(&out, &pieces);
    mcp__pieces_clear(&pieces);
}

static void count(void *owner)
{
    ++*(int *)owner;
}

/* A run of somebody's stays where it is, between copied ones, and is given back once. */
static void shared_runs_are_given_back(void **state)
{
    static char run[4096]; /* as long as a piece */
    mcp__outbox out = { 0 };
    mcp__pieces pieces = { 0 };
    struct iovec parts[4];
    int released = 0;
    mcp__shared shared = { run, sizeof run, count, &released };

    (void)state;
    assert_int_equal(mcp__outbox_put(&out, &pieces, "a", 1), MCP_OK);
    assert_int_equal(mcp__outbox_put_shared(&out, &shared), MCP_OK);
    assert_int_equal(mcp__outbox_put(&out, &pieces, "b", 1), MCP_OK);
    assert_int_equal(out.queued, sizeof run + 2);
    assert_int_equal(mcp__outbox_parts(&out, parts, 4), 3);
    assert_ptr_equal(parts[1].iov_base, run);
    mcp__outbox_drop(&out, &pieces, sizeof run);
    assert_int_equal(released, 0);
    mcp__outbox_drop(&out, &pieces, 1);
    assert_int_equal(released, 1);
    assert_int_equal(mcp__outbox_put_shared(&out, &shared), MCP_OK);
    mcp__outbox_clear(&out, &pieces);
    assert_int_equal(released, 2);
    shared.length = 0;
    assert_int_equal(mcp__outbox_put_shared(&out, &shared), MCP_OK);
    assert_int_equal(released, 3);
    shared.length = 1;
    mcp__alloc_fail_after(0);
    assert_int_equal(mcp__outbox_put_shared(&out, &shared), MCP_E_NOMEM);
    mcp__alloc_fail_after(-1);
    assert_int_equal(released, 4);
    assert_int_equal(out.queued, 0);
    mcp__pieces_clear(&pieces);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_goes_in_comes_out),
        cmocka_unit_test(small_runs_share_a_piece),
        cmocka_unit_test(without_memory_nothing_is_half_queued),
        cmocka_unit_test(shared_runs_are_given_back),
    };

    return cmocka_run_group_tests_name("outbox", tests, NULL, NULL);
}
