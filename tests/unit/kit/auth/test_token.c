/*
 * test_token.c - taking tokens apart, the crooked ones above all.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "auth/token.h"
#include "mint.h"

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

static mcp_status read_text(auth_token *out, mcp_arena *arena, const char *text, mcp_error *err)
{
    return auth_token_read(out, text, strlen(text), arena, err);
}

/* A token of that header, with claims "{}" and a signature of three bytes. */
static const char *with_header(mcp_arena *arena, const char *header)
{
    return mcp_arena_printf(arena, "%s.e30.AAAA", mint_base64url(arena, header, strlen(header)));
}

/* The example of RFC 7515 appendix A.3.1. */
static void the_example_of_the_rfc_is_read(void **state)
{
    static const char text[] =
        "eyJhbGciOiJFUzI1NiJ9"
        ".eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0"
        "cnVlfQ"
        ".DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q";
    auth_token token;
    const mcp_json *claims = NULL;
    int64_t exp = 0;

    assert_int_equal(read_text(&token, *state, text, NULL), MCP_OK);
    assert_ptr_equal(token.algorithm, auth_algorithm_find("ES256"));
    assert_null(token.kid);
    assert_int_equal(token.signature_length, 64);
    assert_int_equal(auth_token_claims(&claims, &token, *state, NULL), MCP_OK);
    assert_string_equal(mcp_json_get_string(claims, "iss"), "joe");
    assert_true(mcp_json_int(mcp_json_get(claims, "exp"), &exp));
    assert_int_equal(exp, 1300819380);
}

static void headers_of_access_tokens_are_read(void **state)
{
    static const char *const headers[] = {
        "{\"alg\":\"RS256\",\"kid\":\"k\"}",
        "{\"kid\":\"k\",\"typ\":\"JWT\",\"alg\":\"RS256\"}",
        "{\"alg\":\"RS256\",\"kid\":\"k\",\"typ\":\"at+jwt\"}",
        "{\"alg\":\"RS256\",\"kid\":\"k\",\"typ\":\"application/at+JWT\"}",
        "{\"alg\":\"RS256\",\"kid\":\"k\",\"jku\":\"https://evil.example/keys\",\"x5t\":\"a\"}",
    };

    for (size_t i = 0; i < sizeof headers / sizeof headers[0]; i++) {
        auth_token token;
        assert_int_equal(read_text(&token, *state, with_header(*state, headers[i]), NULL), MCP_OK);
        assert_string_equal(token.kid, "k");
        assert_ptr_equal(token.algorithm, auth_algorithm_find("RS256"));
    }
}

static void crooked_headers_are_refused(void **state)
{
    static const struct {
        const char *header;
        const char *why;
    } rows[] = {
        { "{\"alg\":\"none\"}", "the token's algorithm is not accepted" },
        { "{\"alg\":\"nOnE\"}", "the token's algorithm is not accepted" },
        { "{\"alg\":\"HS256\"}", "the token's algorithm is not accepted" },
        { "{\"alg\":\"ES512\"}", "the token's algorithm is not accepted" },
        { "{\"alg\":\"\"}", "the token's algorithm is not accepted" },
        { "{\"alg\":null}", "the token's algorithm is not accepted" },
        { "{\"alg\":[\"RS256\"]}", "the token's algorithm is not accepted" },
        { "{\"alg\":\"RS256\\u0000\"}", "the token's algorithm is not accepted" },
        { "{}", "the token's algorithm is not accepted" },
        { "{\"alg\":\"RS256\",\"alg\":\"none\"}", "the token's header is malformed" },
        { "{\"alg\":\"none\",\"alg\":\"RS256\"}", "the token's header is malformed" },
        { "[\"RS256\"]", "the token's header is malformed" },
        { "\"RS256\"", "the token's header is malformed" },
        { "{\"alg\":\"RS256\"", "the token's header is malformed" },
        { "{\"alg\":\"RS256\"} x", "the token's header is malformed" },
        { "", "the token's header is malformed" },
        { "{\"alg\":\"RS256\",\"crit\":[\"exp\"]}", "the token asks for an extension" },
        { "{\"alg\":\"RS256\",\"crit\":[]}", "the token asks for an extension" },
        { "{\"alg\":\"RS256\",\"kid\":7}", "the token's key has no good name" },
        { "{\"alg\":\"RS256\",\"kid\":\"a\\u0000b\"}", "the token's key has no good name" },
        { "{\"alg\":\"RS256\",\"typ\":\"dpop+jwt\"}", "the token is not an access token" },
        { "{\"alg\":\"RS256\",\"typ\":\"logout+jwt\"}", "the token is not an access token" },
        { "{\"alg\":\"RS256\",\"typ\":1}", "the token is not an access token" },
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        auth_token token = { .text = "untouched" };
        mcp_error err = MCP_ERROR_INIT;
        const char *text = with_header(*state, rows[i].header);
        assert_int_equal(read_text(&token, *state, text, &err), MCP_E_DENIED);
        assert_string_equal(err.message, rows[i].why);
        assert_string_equal(token.text, "untouched");
    }
}

static void crooked_texts_are_refused(void **state)
{
    static const struct {
        const char *text;
        const char *why;
    } rows[] = {
        { "", "the token is not a JSON Web Token" },
        { ".", "the token is not a JSON Web Token" },
        { "opaque", "the token is not a JSON Web Token" },
        { "eyJhbGciOiJSUzI1NiJ9.e30", "the token is not a JSON Web Token" },
        { "..", "the token's header is malformed" },
        { ".e30.AAAA", "the token's header is malformed" },
        { "eyJhbGciOiJSUzI1NiJ9.e30.AAAA=", "the token's signature is not base64url" },
        { "eyJhbGciOiJSUzI1NiJ9.e3=0.AAAA", "the token's claims are malformed" },
        { "eyJhbGciOiJSUzI1NiJ9.e30.AA+A", "the token's signature is not base64url" },
        { "eyJhbGciOiJSUzI1NiJ9.e30.AAAB.AAAA", "the token's signature is not base64url" },
        { "eyJhbGciOiJSUzI1NiJ9.e30.AAAA.AAAA.AAAA", "the token's signature is not base64url" },
        { "eyJhbGciOiJSUzI1NiJ9.e30.AB", "the token's signature is not base64url" },
        { "eyJhbGciOiJSUzI1NiJ9=.e30.AAAA", "the token's header is malformed" },
        { " eyJhbGciOiJSUzI1NiJ9.e30.AAAA", "the token's header is malformed" },
        { "eyJhbGciOiJSUzI1NiJ.e30.AAAA", "the token's header is malformed" },
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        auth_token token;
        mcp_error err = MCP_ERROR_INIT;
        assert_int_equal(read_text(&token, *state, rows[i].text, &err), MCP_E_DENIED);
        assert_string_equal(err.message, rows[i].why);
    }
}

static const char *header_of(mcp_arena *arena, size_t length, const char *member)
{
    static const char shape[] = "{\"alg\":\"RS256\",\"%s\":\"%s\"}";
    char filling[4096];
    size_t rest = length - (sizeof shape - 1 - 4) - strlen(member);

    memset(filling, 'x', sizeof filling);
    filling[rest] = '\0';
    return mcp_arena_printf(arena, shape, member, filling);
}

static void a_header_is_bounded(void **state)
{
    auth_token token;
    mcp_error err = MCP_ERROR_INIT;

    const char *text = with_header(*state, header_of(*state, 2048, "x"));
    assert_int_equal(read_text(&token, *state, text, &err), MCP_OK);
    text = with_header(*state, header_of(*state, 2052, "x"));
    assert_int_equal(read_text(&token, *state, text, &err), MCP_E_DENIED);
    assert_string_equal(err.message, "the token's header is too long");
}

static void a_name_is_bounded(void **state)
{
    static const char around[] = "{\"alg\":\"RS256\",\"kid\":\"\"}";
    auth_token token;

    const char *text = with_header(*state, header_of(*state, sizeof around - 1 + 255, "kid"));
    assert_int_equal(read_text(&token, *state, text, NULL), MCP_OK);
    assert_int_equal(strlen(token.kid), 255);
    text = with_header(*state, header_of(*state, sizeof around - 1 + 256, "kid"));
    assert_int_equal(read_text(&token, *state, text, NULL), MCP_E_DENIED);
}

static void crooked_claims_are_refused(void **state)
{
    static const char *const claims[] = {
        "",
        "[]",
        "null",
        "\"{}\"",
        "{\"exp\":1,\"exp\":2}",
        "{\"exp\":1",
        "{} {}",
        "{\"exp\":1e999}",
    };

    for (size_t i = 0; i < sizeof claims / sizeof claims[0]; i++) {
        auth_token token;
        const mcp_json *out = NULL;
        mcp_error err = MCP_ERROR_INIT;
        const char *text = mcp_arena_printf(*state, "eyJhbGciOiJSUzI1NiJ9.%s.AAAA",
                                            mint_base64url(*state, claims[i], strlen(claims[i])));
        assert_int_equal(read_text(&token, *state, text, NULL), MCP_OK);
        assert_int_equal(auth_token_claims(&out, &token, *state, &err), MCP_E_DENIED);
        assert_string_equal(err.message, "the token's claims are malformed");
        assert_null(out);
    }
}

static void no_memory_is_no_refusal(void **state)
{
    mcp_arena *small = mcp_arena_new(8);
    auth_token token;

    (void)state;
    assert_int_equal(read_text(&token, small, "eyJhbGciOiJSUzI1NiJ9.e30.AAAAAAAA", NULL),
                     MCP_E_NOMEM);
    mcp_arena_free(small);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_example_of_the_rfc_is_read),
        cmocka_unit_test(headers_of_access_tokens_are_read),
        cmocka_unit_test(crooked_headers_are_refused),
        cmocka_unit_test(crooked_texts_are_refused),
        cmocka_unit_test(a_header_is_bounded),
        cmocka_unit_test(a_name_is_bounded),
        cmocka_unit_test(crooked_claims_are_refused),
        cmocka_unit_test(no_memory_is_no_refusal),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
