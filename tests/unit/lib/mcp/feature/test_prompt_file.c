/*
 * test_prompt_file.c - prompt files, well written and badly.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "mcp/arena.h"
#include "mcp/feature/prompt_file.h"
#include "oom.h"

static mcp_arena *arena;

static int set_up(void **state)
{
    (void)state;
    arena = mcp_arena_new(0);
    return arena ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    mcp_arena_free(arena);
    return 0;
}

static mcp_status read_text(const mcp__prompt_file **out, const char *text, mcp_error *err)
{
    const mcp_file file = { "prompts/p.md", text, strlen(text) };

    return mcp__prompt_file_read(out, arena, &file, err);
}

static const mcp__prompt_file *good(const char *text)
{
    const mcp__prompt_file *prompt = NULL;
    mcp_error err = MCP_ERROR_INIT;

    if (read_text(&prompt, text, &err) != MCP_OK)
        fail_msg("%s", err.message);
    return prompt;
}

static void assert_part(const mcp__prompt_message *message, size_t index, const char *text,
                        bool is_place)
{
    const mcp__prompt_part *part = &message->parts[index];

    assert_true(index < message->part_count);
    assert_int_equal(part->length, strlen(text));
    assert_memory_equal(part->text, text, part->length);
    assert_int_equal(part->is_place, is_place);
}

static void test_reads_head_and_messages(void **state)
{
    const mcp__prompt_file *p = good("---\n"
                                     "name: cobre/explain\n"
                                     "title:  Explain results \n"
                                     "\n"
                                     "description: In domain terms: water, cost\n"
                                     "argument: dir, required, Where, on disk, to look\n"
                                     "argument: metric,optional\n"
                                     "---\n"
                                     "\n"
                                     "Look at {{metric}} in {{ dir }}.\n"
                                     "\n"
                                     "Then: { \"a\": {} }\n"
                                     "\n"
                                     "--- assistant\n"
                                     "I shall.\n"
                                     "--- user \n"
                                     "{{dir}}\n");

    (void)state;
    assert_string_equal(p->name, "cobre/explain");
    assert_string_equal(p->title, "Explain results");
    assert_string_equal(p->description, "In domain terms: water, cost");
    assert_int_equal(p->argument_count, 2);
    assert_string_equal(p->arguments[0].name, "dir");
    assert_true(p->arguments[0].is_required);
    assert_string_equal(p->arguments[0].description, "Where, on disk, to look");
    assert_string_equal(p->arguments[1].name, "metric");
    assert_false(p->arguments[1].is_required);
    assert_null(p->arguments[1].description);
    assert_int_equal(p->message_count, 3);
    assert_string_equal(p->messages[0].role, "user");
    assert_int_equal(p->messages[0].part_count, 5);
    assert_part(&p->messages[0], 0, "Look at ", false);
    assert_part(&p->messages[0], 1, "metric", true);
    assert_part(&p->messages[0], 2, " in ", false);
    assert_part(&p->messages[0], 3, "dir", true);
    assert_part(&p->messages[0], 4, ".\n\nThen: { \"a\": {} }", false);
    assert_string_equal(p->messages[1].role, "assistant");
    assert_part(&p->messages[1], 0, "I shall.", false);
    assert_string_equal(p->messages[2].role, "user");
    assert_int_equal(p->messages[2].part_count, 1);
    assert_part(&p->messages[2], 0, "dir", true);
}

static void test_line_ends_of_other_systems_do_not_matter(void **state)
{
    const mcp__prompt_file *p = good("---\r\nname: a\r\n---\r\nOne\r\n--- assistant\r\nTwo");

    (void)state;
    assert_string_equal(p->name, "a");
    assert_int_equal(p->message_count, 2);
    assert_part(&p->messages[0], 0, "One", false);
    assert_part(&p->messages[1], 0, "Two", false);
}

static void test_the_assistant_may_begin(void **state)
{
    const mcp__prompt_file *p = good("---\nname: a\n---\n--- assistant\nHello\n");

    (void)state;
    assert_int_equal(p->message_count, 1);
    assert_string_equal(p->messages[0].role, "assistant");
}

static void test_a_rule_of_dashes_is_text(void **state)
{
    const mcp__prompt_file *p = good("---\nname: a\n---\nOne\n---\nTwo\n--- users\n---- user\n");

    (void)state;
    assert_int_equal(p->message_count, 1);
    assert_part(&p->messages[0], 0, "One\n---\nTwo\n--- users\n---- user", false);
}

static void test_says_what_is_wrong_and_where(void **state)
{
    static const struct {
        const char *text;
        const char *words; /* in the message */
    } rows[] = {
        { "", "line 0" },
        { "name: a\n", "line 1" },
        { "---\nname: a\n", "line 2" },
        { "---\ntitle: a\n---\nx", "no name" },
        { "---\nname: a\nname: b\n---\nx", "line 3: duplicate line" },
        { "---\nname:\n---\nx", "line 2" },
        { "---\nname a\n---\nx", "line 2" },
        { "---\nauthor: a\n---\nx", "line 2" },
        { "---\nname: a\nargument: b\n---\nx", "'required' or 'optional'" },
        { "---\nname: a\nargument: b, maybe\n---\nx", "'required' or 'optional'" },
        { "---\nname: a\nargument: b c, required\n---\nx", "line 3" },
        { "---\nname: a\nargument: , required\n---\nx", "line 3" },
        { "---\nname: a\nargument: b, required\nargument: b, optional\n---\nx", "line 4" },
        { "---\nname: a\nargument-title: b, B\n---\nx", "no argument of that name" },
        { "---\nname: a\nargument: b, optional\nargument-title: b\n---\nx", "missing title" },
        { "---\nname: a\nargument: b, optional\nargument-title: b, B\nargument-title: b, C\n---\nx",
          "line 5: duplicate title" },
        { "---\nname: a\nscopes: b  c\n---\nx", "line 3: scopes are words" },
        { "---\nname: a\nicons: {}\n---\nx", "line 3: icons are a JSON array" },
        { "---\nname: a\nmeta: []\n---\nx", "line 3: meta is a JSON object" },
        { "---\nname: a\nmeta: {\n---\nx", "line 3: meta is a JSON object" },
        { "---\nname: a\nmeta: {}\nmeta: {}\n---\nx", "line 4: duplicate line" },
        { "---\nname: a\n---\n", "empty" },
        { "---\nname: a\n---\n \n\n", "empty" },
        { "---\nname: a\n---\nx\n--- user\n--- assistant\nx\n", "line 6" },
        { "---\nname: a\n---\nx\n--- user\n", "empty" },
        { "---\nname: a\n---\nLook {{ here", "'{{'" },
        { "---\nname: a\n---\n{{}}", "'{{'" },
        { "---\nname: a\n---\n{{a b}}", "'{{'" },
        { "---\nname: a\n---\n{{{a}}}", "'{{'" },
        { "---\nname: a\n---\n\xff", "UTF-8" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const mcp__prompt_file *prompt = NULL;
        mcp_error err = MCP_ERROR_INIT;
        assert_int_equal(read_text(&prompt, rows[i].text, &err), MCP_E_PARAMS);
        assert_null(prompt);
        if (!strstr(err.message, "prompts/p.md: line ") || !strstr(err.message, rows[i].words))
            fail_msg("row %zu: %s", i, err.message);
    }
}

static void test_arguments_and_messages_are_bounded(void **state)
{
    char text[8192];
    int used = snprintf(text, sizeof text, "---\nname: a\n");
    const mcp__prompt_file *prompt = NULL;

    (void)state;
    for (int i = 1; i <= 33; i++) {
        used += snprintf(text + used, sizeof text - (size_t)used, "argument: a%d, optional\n", i);
        snprintf(text + used, sizeof text - (size_t)used, "---\nx\n");
        assert_int_equal(read_text(&prompt, text, NULL), i <= 32 ? MCP_OK : MCP_E_PARAMS);
        assert_int_equal(prompt->argument_count, i <= 32 ? i : 32);
    }
    used = snprintf(text, sizeof text, "---\nname: a\n---\n");
    for (int i = 1; i <= 65; i++) {
        used += snprintf(text + used, sizeof text - (size_t)used, "--- user\nx\n");
        assert_int_equal(read_text(&prompt, text, NULL), i <= 64 ? MCP_OK : MCP_E_PARAMS);
        assert_int_equal(prompt->message_count, i <= 64 ? i : 64);
    }
}

static void test_finds_arguments_by_name(void **state)
{
    const mcp__prompt_file *p = good("---\nname: a\nargument: dir, optional\n---\nx");

    (void)state;
    assert_ptr_equal(mcp__prompt_argument_find(p, "dirty", 3), &p->arguments[0]);
    assert_null(mcp__prompt_argument_find(p, "dirty", 4));
    assert_null(mcp__prompt_argument_find(p, "d", 1));
}

static mcp_status read_once(void *data)
{
    static const char text[] = "---\nname: a\ntitle: t\nargument: b, required, c\n---\n{{b}}!";
    const mcp_file file = { "prompts/p.md", text, strlen(text) };
    mcp_arena *own = mcp_arena_new(0);
    const mcp__prompt_file *prompt = NULL;
    mcp_status st = own ? mcp__prompt_file_read(&prompt, own, &file, NULL) : MCP_E_NOMEM;

    (void)data;
    mcp_arena_free(own);
    return st;
}

static void test_memory_can_run_out_anywhere(void **state)
{
    (void)state;
    oom_walk(read_once, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reads_head_and_messages),
        cmocka_unit_test(test_line_ends_of_other_systems_do_not_matter),
        cmocka_unit_test(test_the_assistant_may_begin),
        cmocka_unit_test(test_a_rule_of_dashes_is_text),
        cmocka_unit_test(test_says_what_is_wrong_and_where),
        cmocka_unit_test(test_arguments_and_messages_are_bounded),
        cmocka_unit_test(test_finds_arguments_by_name),
        cmocka_unit_test(test_memory_can_run_out_anywhere),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
