/*
 * test_claims.c - claims held against the rules, with the clock at a moment that the test chooses.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "auth/claims.h"

/* 2026-01-17T08:00:00Z; and the rules: half a minute of leeway. */
#define NOW_S INT64_C(1768636800)

static const auth_rules rules = { "https://as.example", "https://host/mcp", 30000, NULL };

static int set_up(void **state)
{
    *state = mcp_arena_new(0);
    return *state ? 0 : -1;
}

static int tear_down(void **state)
{
    mcp_arena_free(*state);
    return 0;
}

static mcp_status check_at(mcp_principal *out, mcp_arena *arena, const char *claims, int64_t now_ms,
                           mcp_error *err)
{
    const mcp_json *value = NULL;

    assert_int_equal(mcp_json_read(&value, arena, claims, strlen(claims), NULL), MCP_OK);
    return auth_claims_check(out, value, &rules, now_ms, arena, err);
}

static mcp_status check(mcp_principal *out, mcp_arena *arena, const char *claims, mcp_error *err)
{
    return check_at(out, arena, claims, NOW_S * 1000, err);
}

#define ISS "\"iss\":\"https://as.example\""
#define AUD "\"aud\":\"https://host/mcp\""
#define SUB "\"sub\":\"ann\""
#define EXP "\"exp\":1768636860" /* a minute from now */
#define GOOD ISS "," AUD "," SUB "," EXP

static void good_claims_make_a_principal(void **state)
{
    static const struct {
        const char *claims;
        const char *scopes;
    } rows[] = {
        { "{" GOOD "}", "" },
        { "{" GOOD ",\"scope\":\"a b c\"}", "a b c" },
        { "{" GOOD ",\"scope\":\"\"}", "" },
        { "{" GOOD ",\"scope\":\"  a   b \"}", "a b" },
        { "{" GOOD ",\"scp\":\"a b\"}", "a b" },
        { "{" GOOD ",\"scp\":[\"a\",\"b:c/d\"]}", "a b:c/d" },
        { "{" GOOD ",\"scp\":[]}", "" },
        { "{" GOOD ",\"scope\":[\"a\",\"b\"]}", "a b" },
        { "{" GOOD ",\"scope\":\"a\",\"scp\":\"b\"}", "a" },
        { "{" ISS "," SUB "," EXP ",\"aud\":[\"https://other\",\"https://host/mcp\"]}", "" },
        { "{" GOOD ",\"nbf\":1768636800,\"iat\":1768636800,\"jti\":\"x\"}", "" },
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        mcp_principal principal = { NULL, NULL, 0 };
        mcp_error err = MCP_ERROR_INIT;
        assert_int_equal(check(&principal, *state, rows[i].claims, &err), MCP_OK);
        assert_string_equal(principal.name, "ann");
        assert_string_equal(principal.scopes, rows[i].scopes);
        assert_int_equal(principal.expires_ms, (NOW_S + 60 + 30) * 1000);
    }
}

/* OpenID Connect Core 2: `azp` is the party to which the token was issued. */
static void the_party_of_a_token_can_be_required(void **state)
{
    const auth_rules of_party = { rules.issuer, rules.resource, rules.leeway_ms, "cockpit" };
    static const struct {
        const char *claims;
        bool is_good;
    } rows[] = {
        { "{" GOOD ",\"azp\":\"cockpit\"}", true },
        { "{" GOOD "}", false },
        { "{" GOOD ",\"azp\":\"Cockpit\"}", false },
        { "{" GOOD ",\"azp\":[\"cockpit\"]}", false },
        { "{" GOOD ",\"azp\":\"\"}", false },
        { "{" GOOD ",\"client_id\":\"cockpit\"}", false },
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        mcp_principal principal = { NULL, NULL, 7 };
        mcp_error err = MCP_ERROR_INIT;
        const mcp_json *value = NULL;
        mcp_json_read(&value, *state, rows[i].claims, strlen(rows[i].claims), NULL);
        mcp_status st = auth_claims_check(&principal, value, &of_party, NOW_S * 1000, *state, &err);
        assert_int_equal(st, rows[i].is_good ? MCP_OK : MCP_E_DENIED);
        if (!rows[i].is_good)
            assert_string_equal(err.message, "the token was issued to another party");
    }
}

static void other_claims_are_refused(void **state)
{
    static const struct {
        const char *claims;
        const char *why;
    } rows[] = {
        { "{" AUD "," SUB "," EXP "}", "the token is of another issuer" },
        { "{\"iss\":\"https://as.example/\"," AUD "," SUB "," EXP "}",
          "the token is of another issuer" },
        { "{\"iss\":\"HTTPS://as.example\"," AUD "," SUB "," EXP "}",
          "the token is of another issuer" },
        { "{\"iss\":\"https://as.example\\u0000.evil\"," AUD "," SUB "," EXP "}",
          "the token is of another issuer" },
        { "{\"iss\":[\"https://as.example\"]," AUD "," SUB "," EXP "}",
          "the token is of another issuer" },
        { "{" ISS "," SUB "," EXP "}", "the token is for another resource" },
        { "{" ISS ",\"aud\":\"https://host\"," SUB "," EXP "}",
          "the token is for another resource" },
        { "{" ISS ",\"aud\":\"https://host/mcp/\"," SUB "," EXP "}",
          "the token is for another resource" },
        { "{" ISS ",\"aud\":[]," SUB "," EXP "}", "the token is for another resource" },
        { "{" ISS ",\"aud\":[\"a\",\"b\"]," SUB "," EXP "}", "the token is for another resource" },
        { "{" ISS ",\"aud\":[\"https://host/mcp\",7]," SUB "," EXP "}",
          "the token is for another resource" },
        { "{" ISS ",\"aud\":[[\"https://host/mcp\"]]," SUB "," EXP "}",
          "the token is for another resource" },
        { "{" ISS ",\"aud\":{\"https://host/mcp\":1}," SUB "," EXP "}",
          "the token is for another resource" },
        { "{" ISS "," AUD "," SUB "}", "the token does not say when it expires" },
        { "{" ISS "," AUD "," SUB ",\"exp\":\"1768636860\"}", "the token has a time that is none" },
        { "{" ISS "," AUD "," SUB ",\"exp\":null}", "the token has a time that is none" },
        { "{" ISS "," AUD "," SUB ",\"exp\":1e300}", "the token has a time that is none" },
        { "{" ISS "," AUD "," SUB ",\"exp\":123456789012345678901234567890}",
          "the token has a time that is none" },
        { "{" ISS "," AUD "," SUB ",\"exp\":18446744073709551615}",
          "the token has a time that is none" },
        { "{" ISS "," AUD "," SUB ",\"exp\":-1}", "the token has expired" },
        { "{" GOOD ",\"nbf\":\"soon\"}", "the token has a time that is none" },
        { "{" ISS "," AUD "," EXP "}", "the token does not say whose it is" },
        { "{" ISS "," AUD "," EXP ",\"sub\":\"\"}", "the token does not say whose it is" },
        { "{" ISS "," AUD "," EXP ",\"sub\":7}", "the token does not say whose it is" },
        { "{" ISS "," AUD "," EXP ",\"sub\":\"ann\\u0000bob\"}",
          "the token does not say whose it is" },
        { "{" ISS "," AUD "," EXP ",\"sub\":\"ann\\nbob\"}", "the token does not say whose it is" },
        { "{" GOOD ",\"scope\":7}", "the token's scopes are malformed" },
        { "{" GOOD ",\"scope\":null}", "the token's scopes are malformed" },
        { "{" GOOD ",\"scope\":\"a\\tb\"}", "the token's scopes are malformed" },
        { "{" GOOD ",\"scope\":\"a\\\"b\"}", "the token's scopes are malformed" },
        { "{" GOOD ",\"scope\":\"\\u00e9\"}", "the token's scopes are malformed" },
        { "{" GOOD ",\"scp\":[\"a b\"]}", "the token's scopes are malformed" },
        { "{" GOOD ",\"scp\":[\"a\",7]}", "the token's scopes are malformed" },
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        mcp_principal principal = { NULL, NULL, 7 };
        mcp_error err = MCP_ERROR_INIT;
        assert_int_equal(check(&principal, *state, rows[i].claims, &err), MCP_E_DENIED);
        assert_string_equal(err.message, rows[i].why);
        assert_null(principal.name);
        assert_int_equal(principal.expires_ms, 7);
    }
}

/* exp 60 s from NOW_S, nbf NOW_S; with 30 s of leeway it holds from -30 s to +90 s. */
static void time_passes(void **state)
{
    static const struct {
        int64_t ms; /* from NOW_S */
        mcp_status status;
    } rows[] = {
        { -30001, MCP_E_DENIED }, { -30000, MCP_OK }, { 0, MCP_OK },
        { 60000, MCP_OK },        { 89999, MCP_OK },  { 90000, MCP_E_DENIED },
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        mcp_principal principal;
        assert_int_equal(check_at(&principal, *state, "{" GOOD ",\"nbf\":1768636800}",
                                  NOW_S * 1000 + rows[i].ms, NULL),
                         rows[i].status);
    }
}

static void a_time_may_have_a_fraction(void **state)
{
    mcp_principal principal;

    assert_int_equal(
        check(&principal, *state, "{" ISS "," AUD "," SUB ",\"exp\":1768636800.5}", NULL), MCP_OK);
    assert_int_equal(principal.expires_ms, NOW_S * 1000 + 30500);
}

static void a_name_is_bounded(void **state)
{
    char name[257];
    mcp_principal principal;

    memset(name, 'n', sizeof name);
    name[256] = '\0';
    assert_int_equal(
        check(&principal, *state,
              mcp_arena_printf(*state, "{" ISS "," AUD "," EXP ",\"sub\":\"%s\"}", name), NULL),
        MCP_E_DENIED);
    name[255] = '\0';
    assert_int_equal(
        check(&principal, *state,
              mcp_arena_printf(*state, "{" ISS "," AUD "," EXP ",\"sub\":\"%s\"}", name), NULL),
        MCP_OK);
    assert_string_equal(principal.name, name);
}

static void no_memory_is_no_refusal(void **state)
{
    mcp_arena *small = mcp_arena_new(2);
    const mcp_json *value = NULL;
    mcp_principal principal;
    static const char claims[] = "{" GOOD ",\"scope\":\"abc\"}";

    assert_int_equal(mcp_json_read(&value, *state, claims, sizeof claims - 1, NULL), MCP_OK);
    assert_int_equal(auth_claims_check(&principal, value, &rules, NOW_S * 1000, small, NULL),
                     MCP_E_NOMEM);
    mcp_arena_free(small);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_claims_make_a_principal),
        cmocka_unit_test(the_party_of_a_token_can_be_required),
        cmocka_unit_test(other_claims_are_refused),
        cmocka_unit_test(time_passes),
        cmocka_unit_test(a_time_may_have_a_fraction),
        cmocka_unit_test(a_name_is_bounded),
        cmocka_unit_test(no_memory_is_no_refusal),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
