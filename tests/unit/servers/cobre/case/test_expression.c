/*
 * test_expression.c - expressions of generic constraints: what they mean and how they fail.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "case/expression.h"

#define NO_BLOCK COBRE_ABSENT

struct reading {
    mcp_arena *arena;
    cobre_raw_term *terms;
    size_t count;
    mcp_status status;
    mcp_error err;
};

static struct reading read_text(const char *text)
{
    struct reading r = { .arena = mcp_arena_new(0), .err = MCP_ERROR_INIT };

    assert_non_null(r.arena);
    r.status = cobre_expression_read(&r.terms, &r.count, r.arena, text, &r.err);
    return r;
}

static void is_term(const struct reading *r, size_t index, double coefficient,
                    cobre_variable variable, int64_t id, int64_t block)
{
    assert_true(index < r->count);
    assert_true(r->terms[index].coefficient == coefficient);
    assert_int_equal(r->terms[index].variable, variable);
    assert_int_equal(r->terms[index].id, id);
    assert_int_equal(r->terms[index].block, block);
}

static void sums_and_signs(void **state)
{
    struct reading r = read_text(" -2.5e1*hydro_turbined( 3 , 1 )+ thermal_generation(0)\n"
                                 "\t- .5 * line_exchange(7)");

    (void)state;
    assert_int_equal(r.status, MCP_OK);
    assert_int_equal(r.count, 3);
    is_term(&r, 0, -25, COBRE_VAR_HYDRO_TURBINED, 3, 1);
    is_term(&r, 1, 1, COBRE_VAR_THERMAL_GENERATION, 0, NO_BLOCK);
    is_term(&r, 2, -0.5, COBRE_VAR_LINE_EXCHANGE, 7, NO_BLOCK);
    mcp_arena_free(r.arena);
    r = read_text("+1.*hydro_storage(2147483647)");
    assert_int_equal(r.status, MCP_OK);
    is_term(&r, 0, 1, COBRE_VAR_HYDRO_STORAGE, INT32_MAX, NO_BLOCK);
    mcp_arena_free(r.arena);
}

static void twenty_variables(void **state)
{
    static const char *const with_block[] = {
        "hydro_turbined",
        "hydro_spillage",
        "hydro_diversion",
        "hydro_outflow",
        "hydro_generation",
        "thermal_generation",
        "line_direct",
        "line_reverse",
        "line_exchange",
        "bus_deficit",
        "bus_excess",
        "pumping_flow",
        "pumping_power",
        "contract_import",
        "contract_export",
        "non_controllable_generation",
        "non_controllable_curtailment",
    };
    static const char *const without[] = { "hydro_storage", "hydro_evaporation",
                                           "hydro_withdrawal" };
    char text[80];

    (void)state;
    for (size_t i = 0; i < 17 + 3; i++) {
        snprintf(text, sizeof text, "%s(1)", i < 17 ? with_block[i] : without[i - 17]);
        struct reading r = read_text(text);
        assert_int_equal(r.status, MCP_OK);
        mcp_arena_free(r.arena);
        snprintf(text, sizeof text, "%s(1,0)", i < 17 ? with_block[i] : without[i - 17]);
        r = read_text(text);
        assert_int_equal(r.status, i < 17 ? MCP_OK : MCP_E_PARSE);
        mcp_arena_free(r.arena);
    }
}

static void refusals_name_the_place(void **state)
{
    static const struct {
        const char *text;
        int64_t offset;
        const char *words;
    } rows[] = {
        { "", 0, "a variable, but the text ends" },
        { "5", 1, "* and a variable" },
        { "5 * 3", 4, "a variable" },
        { "hydro_head(1)", 0, "unknown variable 'hydro_head'" },
        { "hydro_storage", 13, "(" },
        { "hydro_storage()", 14, "an integer >= 0" },
        { "hydro_storage(-1)", 14, "an integer >= 0" },
        { "hydro_storage(1.5)", 15, "a comma or )" },
        { "hydro_storage(2147483648)", 14, "32 bits" },
        { "hydro_storage(99999999999999999999)", 14, "32 bits" },
        { "hydro_turbined(1,2,3)", 18, ")" },
        { "hydro_turbined(1) hydro_storage(1)", 18, "+, - or the end" },
        { "hydro_turbined(1) + ", 20, "a variable" },
        { "- - hydro_turbined(1)", 2, "a variable" },
        { "1e400 * hydro_storage(1)", 0, "a finite number" },
        { "0x10 * hydro_storage(1)", 1, "* and a variable" },
        { "inf * hydro_storage(1)", 0, "unknown variable" },
        { ". * hydro_storage(1)", 0, "a number" },
        { "2 ^ hydro_storage(1)", 2, "* and a variable" },
        { "hydro_storage(1) >= 3", 17, "+, - or the end" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct reading r = read_text(rows[i].text);
        if (r.status != MCP_E_PARSE || r.err.offset != rows[i].offset ||
            !strstr(r.err.message, rows[i].words))
            fail_msg("'%s': status %d at %lld: %s", rows[i].text, (int)r.status,
                     (long long)r.err.offset, r.err.message);
        mcp_arena_free(r.arena);
    }
}

static void length_and_terms_are_bounded(void **state)
{
    static const char term[] = "bus_excess(0)+";
    size_t length = sizeof term - 1;
    char *text = malloc(length * (COBRE_TERMS_MAX + 1) + 1);

    (void)state;
    assert_non_null(text);
    for (size_t i = 0; i <= COBRE_TERMS_MAX; i++)
        memcpy(text + i * length, term, length + 1);
    text[length * (COBRE_TERMS_MAX - 1) - 1] = '\0';
    struct reading r = read_text(text);
    assert_int_equal(r.status, MCP_OK);
    assert_int_equal(r.count, COBRE_TERMS_MAX - 1);
    mcp_arena_free(r.arena);
    text[length * (COBRE_TERMS_MAX - 1) - 1] = '+';
    text[length * (COBRE_TERMS_MAX + 1) - 1] = '\0';
    r = read_text(text);
    assert_int_equal(r.status, MCP_E_LIMIT);
    mcp_arena_free(r.arena);
    free(text);

    char *blanks = malloc(COBRE_EXPRESSION_MAX + 2);
    assert_non_null(blanks);
    memset(blanks, ' ', COBRE_EXPRESSION_MAX + 1);
    blanks[COBRE_EXPRESSION_MAX + 1] = '\0';
    r = read_text(blanks);
    assert_int_equal(r.status, MCP_E_LIMIT);
    mcp_arena_free(r.arena);
    free(blanks);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_and_signs),
        cmocka_unit_test(twenty_variables),
        cmocka_unit_test(refusals_name_the_place),
        cmocka_unit_test(length_and_terms_are_bounded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
