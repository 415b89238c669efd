/*
 * test_content.c - each kind of block, as each revision knows it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "mcp/core/call/call_int.h"
#include <cmocka.h>

/* clang-format off */
#define NEWEST_TYPES_FROM { MCP_2024_11_05, MCP_2025_03_26, MCP_2025_06_18, MCP_2025_11_25 }
/* clang-format on */

static mcp_server_options options = { .limits.reply_max_bytes = 4096 };
static mcp__context context = { .options = &options };
static mcp_call *call;

static void begin(mcp_revision revision)
{
    assert_int_equal(mcp__call_new(&call, mcp_arena_new(0), &context, NULL), MCP_OK);
    call->request.revision = revision;
    call->request.name = "file:///asked";
    call->answer.mime_type = "text/x-own";
}

/* What was written must be these blocks; ends the call. */
static void end(const char *blocks)
{
    assert_int_equal(call->answer.content.status, MCP_OK);
    assert_string_equal(call->answer.content.text.data, blocks);
    mcp__call_free(call);
}

static void text_is_text_everywhere(void **state)
{
    static const mcp_revision revisions[] = NEWEST_TYPES_FROM;

    (void)state;
    for (size_t i = 0; i < 4; i++) {
        begin(revisions[i]);
        assert_int_equal(mcp_call_text(call, "a\nb"), MCP_OK);
        assert_int_equal(mcp_call_text(call, ""), MCP_OK);
        end("{\"type\":\"text\",\"text\":\"a\\nb\"},{\"type\":\"text\",\"text\":\"\"}");
    }
}

static void text_that_is_no_utf8_is_tidied(void **state)
{
    (void)state;
    begin(MCP_2025_06_18);
    assert_int_equal(mcp_call_text(call, "a\xff"
                                         "b"),
                     MCP_OK);
    end("{\"type\":\"text\",\"text\":\"a?b\"}");
}

static void a_text_comes_in_pieces(void **state)
{
    (void)state;
    begin(MCP_2025_06_18);
    assert_int_equal(mcp_call_text(call, "before"), MCP_OK);
    assert_int_equal(mcp_call_text_begin(call, 100), MCP_OK);
    assert_true(call->answer.content.text.capacity >= 100);
    assert_int_equal(mcp_call_text_add(call, "{\"a\":", 5), MCP_OK);
    assert_int_equal(mcp_call_text_add_escaped(call, "\\\"b\\", 4), MCP_OK);
    assert_int_equal(mcp_call_text_add_escaped(call, "\"", 1), MCP_OK);
    assert_int_equal(mcp_call_text_add(call, "\xff}", 2), MCP_OK);
    assert_int_equal(mcp_call_text_end(call), MCP_OK);
    assert_int_equal(mcp_call_text_begin(call, 0), MCP_OK);
    assert_int_equal(mcp_call_text_end(call), MCP_OK);
    end("{\"type\":\"text\",\"text\":\"before\"},"
        "{\"type\":\"text\",\"text\":\"{\\\"a\\\":\\\"b\\\"?}\"},"
        "{\"type\":\"text\",\"text\":\"\"}");
}

static void pieces_that_grow_too_long_are_reported_at_the_end(void **state)
{
    char much[3000];

    (void)state;
    memset(much, 'x', sizeof much);
    begin(MCP_2025_06_18);
    assert_int_equal(mcp_call_text_begin(call, 1 << 20),
                     MCP_OK); /* more than there may be: no room is made */
    assert_int_equal(mcp_call_text_add(call, much, sizeof much), MCP_OK);
    assert_int_equal(mcp_call_text_add_escaped(call, much, sizeof much), MCP_E_LIMIT);
    assert_int_equal(mcp_call_text_add(call, "x", 1), MCP_E_LIMIT);
    assert_int_equal(mcp_call_text_end(call), MCP_E_LIMIT);
    assert_int_equal(call->answer.content.status, MCP_E_LIMIT);
    mcp__call_free(call);
}

static void images_are_base64_everywhere(void **state)
{
    static const mcp_revision revisions[] = NEWEST_TYPES_FROM;

    (void)state;
    for (size_t i = 0; i < 4; i++) {
        begin(revisions[i]);
        assert_int_equal(mcp_call_image(call, "fooba", 5, "image/png"), MCP_OK);
        end("{\"type\":\"image\",\"data\":\"Zm9vYmE=\",\"mimeType\":\"image/png\"}");
    }
    begin(MCP_2025_06_18);
    assert_int_equal(mcp_call_image(call, "", 0, "image/png"), MCP_OK);
    end("{\"type\":\"image\",\"data\":\"\",\"mimeType\":\"image/png\"}");
}

static void audio_is_words_before_2025_03_26(void **state)
{
    static const mcp_revision later[] = { MCP_2025_03_26, MCP_2025_06_18, MCP_2025_11_25 };

    (void)state;
    begin(MCP_2024_11_05);
    assert_int_equal(mcp_call_audio(call, "foobar", 6, "audio/wav"), MCP_OK);
    end("{\"type\":\"text\",\"text\":\"[audio, 6 bytes, audio/wav]\"}");
    for (size_t i = 0; i < 3; i++) {
        begin(later[i]);
        assert_int_equal(mcp_call_audio(call, "foobar", 6, "audio/wav"), MCP_OK);
        end("{\"type\":\"audio\",\"data\":\"Zm9vYmFy\",\"mimeType\":\"audio/wav\"}");
    }
}

static void links_are_words_before_2025_06_18(void **state)
{
    static const mcp_revision earlier[] = { MCP_2024_11_05, MCP_2025_03_26 };
    static const mcp_revision later[] = { MCP_2025_06_18, MCP_2025_11_25 };

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        begin(earlier[i]);
        assert_int_equal(mcp_call_link(call, "x://y", "the y", "text/plain"), MCP_OK);
        end("{\"type\":\"text\",\"text\":\"the y: x://y\"}");
        begin(later[i]);
        assert_int_equal(mcp_call_link(call, "x://y", "the y", "text/plain"), MCP_OK);
        assert_int_equal(mcp_call_link(call, "x://z", "z", NULL), MCP_OK);
        end("{\"type\":\"resource_link\",\"uri\":\"x://y\",\"name\":\"the y\",\"mimeType\":\"text/plain\"},"
            "{\"type\":\"resource_link\",\"uri\":\"x://z\",\"name\":\"z\"}");
    }
}

static void blocks_of_others_are_handed_on(void **state)
{
    static const char text[] =
        "[{\"type\":\"text\",\"text\":\"a\",\"annotations\":{\"priority\":1}},"
        "{\"type\":\"resource_link\",\"uri\":\"x://y\",\"name\":\"y\"},"
        "{\"type\":\"hologram\",\"data\":\"AA==\"},{\"text\":\"no type\"}]";
    const mcp_json *blocks = NULL;
    mcp_arena *arena = mcp_arena_new(0);

    (void)state;
    assert_int_equal(mcp_json_read(&blocks, arena, text, sizeof text - 1, NULL), MCP_OK);
    begin(MCP_2025_06_18);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(mcp__call_block(call, mcp_json_item(blocks, i)), MCP_OK);
    end("{\"type\":\"text\",\"text\":\"a\",\"annotations\":{\"priority\":1}},"
        "{\"type\":\"resource_link\",\"uri\":\"x://y\",\"name\":\"y\"},"
        "{\"type\":\"text\",\"text\":\"[hologram]\"}");
    begin(MCP_2024_11_05);
    assert_int_equal(mcp__call_block(call, mcp_json_item(blocks, 1)), MCP_OK);
    end("{\"type\":\"text\",\"text\":\"[resource_link]\"}");
    mcp_arena_free(arena);
}

static void embedded_resources_are_known_everywhere(void **state)
{
    static const mcp_revision revisions[] = NEWEST_TYPES_FROM;

    (void)state;
    for (size_t i = 0; i < 4; i++) {
        begin(revisions[i]);
        assert_int_equal(mcp_call_embed(call, "x://y", "text/plain", "hi"), MCP_OK);
        end("{\"type\":\"resource\",\"resource\":{\"uri\":\"x://y\",\"mimeType\":\"text/plain\",\"text\":\"hi\"}}");
    }
}

static void contents_stand_for_what_was_asked(void **state)
{
    (void)state;
    begin(MCP_2025_06_18);
    assert_int_equal(mcp_call_contents_text(call, NULL, NULL, "a\0b", 3), MCP_OK);
    assert_int_equal(mcp_call_contents_blob(call, "x://y", "a/b", "f", 1), MCP_OK);
    end("{\"uri\":\"file:///asked\",\"mimeType\":\"text/x-own\",\"text\":\"a\\u0000b\"},"
        "{\"uri\":\"x://y\",\"mimeType\":\"a/b\",\"blob\":\"Zg==\"}");
}

/* For the entries that are written after it, until it is taken back; revisions before 2025-06-18
 * know none. */
static void contents_have_the_meta_that_was_set_last(void **state)
{
    static const mcp_revision earlier[] = { MCP_2024_11_05, MCP_2025_03_26 };
    static const mcp_revision later[] = { MCP_2025_06_18, MCP_2025_11_25, MCP_2026_07_28 };

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        begin(later[i]);
        assert_int_equal(mcp_call_contents_text(call, "x://1", "a/b", "t", 1), MCP_OK);
        assert_int_equal(mcp_call_contents_meta(call, " {\"ui\": {\"border\": true}} "), MCP_OK);
        assert_int_equal(mcp_call_contents_text(call, "x://2", "a/b", "t", 1), MCP_OK);
        assert_int_equal(mcp_call_contents_blob(call, "x://3", "a/b", "f", 1), MCP_OK);
        assert_int_equal(mcp_call_contents_meta(call, "{}"), MCP_OK);
        assert_int_equal(mcp_call_contents_text(call, "x://4", "a/b", "t", 1), MCP_OK);
        assert_int_equal(mcp_call_contents_meta(call, NULL), MCP_OK);
        assert_int_equal(mcp_call_contents_text(call, "x://5", "a/b", "t", 1), MCP_OK);
        end("{\"uri\":\"x://1\",\"mimeType\":\"a/b\",\"text\":\"t\"},"
            "{\"uri\":\"x://2\",\"mimeType\":\"a/b\",\"text\":\"t\",\"_meta\":{\"ui\":{\"border\":true}}},"
            "{\"uri\":\"x://3\",\"mimeType\":\"a/b\",\"blob\":\"Zg==\",\"_meta\":{\"ui\":{\"border\":true}}},"
            "{\"uri\":\"x://4\",\"mimeType\":\"a/b\",\"text\":\"t\",\"_meta\":{}},"
            "{\"uri\":\"x://5\",\"mimeType\":\"a/b\",\"text\":\"t\"}");
    }
    for (size_t i = 0; i < 2; i++) {
        begin(earlier[i]);
        assert_int_equal(mcp_call_contents_meta(call, "{\"ui\":1}"), MCP_OK);
        assert_int_equal(mcp_call_contents_text(call, "x://1", "a/b", "t", 1), MCP_OK);
        end("{\"uri\":\"x://1\",\"mimeType\":\"a/b\",\"text\":\"t\"}");
    }
}

/* What cannot be one leaves the last one in place, and says why. */
static void a_meta_of_contents_is_an_object(void **state)
{
    (void)state;
    begin(MCP_2025_06_18);
    assert_int_equal(mcp_call_contents_meta(call, "{\"k\":1}"), MCP_OK);
    assert_int_equal(mcp_call_contents_meta(call, "[1]"), MCP_E_INTERNAL);
    assert_non_null(strstr(call->err.message, "_meta"));
    assert_int_equal(mcp_call_contents_meta(call, "{\"k\":"), MCP_E_PARSE);
    assert_int_equal(mcp_call_contents_meta(call, ""), MCP_E_PARSE);
    assert_int_equal(mcp_call_contents_text(call, "x://1", "a/b", "t", 1), MCP_OK);
    end("{\"uri\":\"x://1\",\"mimeType\":\"a/b\",\"text\":\"t\",\"_meta\":{\"k\":1}}");
}

static void a_block_that_cannot_be_written_spoils_the_answer(void **state)
{
    char large[5000];

    (void)state;
    memset(large, 'x', sizeof large);
    begin(MCP_2025_06_18);
    assert_int_equal(mcp_call_image(call, large, sizeof large, "image/png"), MCP_E_LIMIT);
    assert_int_equal(call->answer.content.status, MCP_E_LIMIT);
    mcp__call_free(call);
    begin(MCP_2025_06_18);
    assert_int_equal(mcp_call_contents_text(call, NULL, NULL, "\xff", 1), MCP_E_PARAMS);
    assert_int_equal(call->answer.content.status, MCP_E_PARAMS);
    mcp__call_free(call);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_is_text_everywhere),
        cmocka_unit_test(text_that_is_no_utf8_is_tidied),
        cmocka_unit_test(a_text_comes_in_pieces),
        cmocka_unit_test(pieces_that_grow_too_long_are_reported_at_the_end),
        cmocka_unit_test(images_are_base64_everywhere),
        cmocka_unit_test(audio_is_words_before_2025_03_26),
        cmocka_unit_test(links_are_words_before_2025_06_18),
        cmocka_unit_test(blocks_of_others_are_handed_on),
        cmocka_unit_test(embedded_resources_are_known_everywhere),
        cmocka_unit_test(contents_stand_for_what_was_asked),
        cmocka_unit_test(contents_have_the_meta_that_was_set_last),
        cmocka_unit_test(a_meta_of_contents_is_an_object),
        cmocka_unit_test(a_block_that_cannot_be_written_spoils_the_answer),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
