/*
 * test_keys.c - which keys of a set are used, and whose signatures they take.
 *
 * Keys and signatures are OpenSSL's, made here; one example is of RFC 7515.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "auth/keys.h"
#include "mint.h"

struct world {
    mcp_arena *arena;
    EVP_PKEY *rsa;
    EVP_PKEY *p256;
    EVP_PKEY *p384;
    mcp_log log;
    char logged[512]; /* the last line */
};

static void remember(mcp_log_level level, const char *message, void *data)
{
    struct world *world = data;

    (void)level;
    snprintf(world->logged, sizeof world->logged, "%s", message);
}

static int set_up(void **state)
{
    static struct world world;

    world.arena = mcp_arena_new(0);
    world.rsa = mint_rsa(2048);
    world.p256 = mint_ec("P-256");
    world.p384 = mint_ec("P-384");
    world.log = (mcp_log){ remember, &world, MCP_LOG_DEBUG };
    *state = &world;
    return 0;
}

static int tear_down(void **state)
{
    struct world *world = *state;

    EVP_PKEY_free(world->rsa);
    EVP_PKEY_free(world->p256);
    EVP_PKEY_free(world->p384);
    mcp_arena_free(world->arena);
    return 0;
}

static auth_keys *read_set(struct world *world, const char *text)
{
    auth_keys *keys = NULL;

    world->logged[0] = '\0';
    assert_int_equal(auth_keys_read(&keys, text, strlen(text), 1, auth_algorithm_find("RS256"),
                                    &world->log, NULL),
                     MCP_OK);
    return keys;
}

static mcp_status find_and_check(struct world *world, const auth_keys *keys, const char *text,
                                 mcp_error *err)
{
    auth_token token;
    const auth_key *key = NULL;

    assert_int_equal(auth_token_read(&token, text, strlen(text), world->arena, NULL), MCP_OK);
    mcp_status st = auth_keys_find(&key, keys, &token, err);
    return st == MCP_OK ? auth_key_check(key, &token, err) : st;
}

static EVP_PKEY *key_for(struct world *world, const char *alg)
{
    return alg[0] != 'E' ? world->rsa : alg[2] == '2' ? world->p256 : world->p384;
}

static const char *header_of(struct world *world, const char *alg, const char *kid)
{
    return mcp_arena_printf(world->arena, "{\"alg\":\"%s\",\"kid\":\"%s\"}", alg, kid);
}

static void each_algorithm_checks_what_openssl_signs(void **state)
{
    static const char *const algorithms[] = { "RS256", "RS384", "RS512", "PS256",
                                              "PS384", "PS512", "ES256", "ES384" };
    struct world *world = *state;

    for (size_t i = 0; i < sizeof algorithms / sizeof algorithms[0]; i++) {
        const char *alg = algorithms[i];
        EVP_PKEY *key = key_for(world, alg);
        const char *members = mcp_arena_printf(
            world->arena, ",\"kid\":\"k\",\"use\":\"sig\",\"alg\":\"%s\"", alg);
        auth_keys *keys = read_set(
            world, mint_jwks(world->arena, mint_jwk(world->arena, key, members), NULL, NULL));
        assert_int_equal(auth_keys_count(keys), 1);
        const char *token = mint_token(world->arena, key, alg, header_of(world, alg, "k"), "{}");
        assert_int_equal(find_and_check(world, keys, token, NULL), MCP_OK);
        auth_keys_release(keys);
    }
}

/* RFC 7515 appendix A.3: key, token and signature are those of the RFC. */
static void the_example_of_the_rfc_is_good(void **state)
{
    struct world *world = *state;
    auth_keys *keys = read_set(world, "{\"keys\":[{\"kty\":\"EC\",\"crv\":\"P-256\","
                                      "\"x\":\"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU\","
                                      "\"y\":\"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0\"}]}");

    assert_int_equal(
        find_and_check(world, keys,
                       "eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0"
                       "dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ.DtEhU3ljbEg8L38VWAfUAqOyKAM6-X"
                       "x-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q",
                       NULL),
        MCP_OK);
    auth_keys_release(keys);
}

static void a_forged_signature_is_refused(void **state)
{
    struct world *world = *state;
    mcp_arena *arena = world->arena;
    EVP_PKEY *other_rsa = mint_rsa(2048);
    EVP_PKEY *other_p256 = mint_ec("P-256");
    auth_keys *keys = read_set(world,
                               mint_jwks(arena, mint_jwk(arena, world->rsa, ",\"kid\":\"r\""),
                                         mint_jwk(arena, world->p256, ",\"kid\":\"e\""), NULL));
    const char *rs = header_of(world, "RS256", "r");
    const char *es = header_of(world, "ES256", "e");
    const char *good = mint_token(arena, world->rsa, "RS256", rs, "{\"sub\":\"ann\"}");
    const char *evil = mint_base64url(arena, "{\"sub\":\"bob\"}", 13);
    const char *signature = strrchr(good, '.');
    const char *head = mint_base64url(arena, rs, strlen(rs));
    char *bent = mcp_arena_strdup(arena, good);
    const char *rows[] = {
        mint_token(arena, other_rsa, "RS256", rs, "{}"),
        mint_token(arena, other_p256, "ES256", es, "{}"),
        mint_token(arena, world->rsa, "PS256", rs, "{}"), /* signed otherwise than it says */
        mint_token(arena, world->rsa, "RS512", rs, "{}"),
        mint_token(arena, world->p256, "ES384", es, "{}"), /* the digest of another algorithm */
        mcp_arena_printf(arena, "%s.%s%s", head, evil, signature), /* other claims */
        mcp_arena_printf(arena, "%s.e30.", head),                  /* no signature */
        mcp_arena_printf(arena, "%s.e30.AAAA", head),
        mcp_arena_printf(arena, "%s.e30.", mint_base64url(arena, es, strlen(es))),
        /* r = s = 0, which a careless check takes for any message */
        mcp_arena_printf(arena, "%s.e30.%s", mint_base64url(arena, es, strlen(es)),
                         mint_base64url(arena, (char[64]){ 0 }, 64)),
        bent,
    };

    bent[strlen(bent) - 40] = bent[strlen(bent) - 40] == 'A' ? 'B' : 'A';
    assert_int_equal(find_and_check(world, keys, good, NULL), MCP_OK);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        mcp_error err = MCP_ERROR_INIT;
        assert_int_equal(find_and_check(world, keys, rows[i], &err), MCP_E_DENIED);
        assert_string_equal(err.message, "the token's signature is not the issuer's");
    }
    auth_keys_release(keys);
    EVP_PKEY_free(other_rsa);
    EVP_PKEY_free(other_p256);
}

static void the_key_says_the_algorithm(void **state)
{
    struct world *world = *state;
    mcp_arena *arena = world->arena;
    auth_keys *keys = read_set(
        world, mint_jwks(arena, mint_jwk(arena, world->rsa, ",\"kid\":\"unsaid\""),
                         mint_jwk(arena, world->rsa, ",\"kid\":\"ps\",\"alg\":\"PS384\""),
                         mint_jwk(arena, world->p384, ",\"kid\":\"e\"")));
    const struct {
        const char *alg;
        const char *kid;
        mcp_status status;
    } rows[] = {
        { "RS256", "unsaid", MCP_OK },
        { "RS512", "unsaid", MCP_E_DENIED },
        { "PS256", "unsaid", MCP_E_DENIED },
        { "PS384", "ps", MCP_OK },
        { "RS256", "ps", MCP_E_DENIED },
        { "PS256", "ps", MCP_E_DENIED },
        { "ES384", "e", MCP_OK },
        { "RS256", "e", MCP_E_DENIED },
        { "RS256", "other", MCP_E_NOT_FOUND },
        { "RS256", "Unsaid", MCP_E_NOT_FOUND },
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *token = mint_token(arena, key_for(world, rows[i].alg), rows[i].alg,
                                       header_of(world, rows[i].alg, rows[i].kid), "{}");
        assert_int_equal(find_and_check(world, keys, token, NULL), rows[i].status);
    }
    auth_keys_release(keys);
}

static void one_name_may_have_two_algorithms(void **state)
{
    struct world *world = *state;
    mcp_arena *arena = world->arena;
    auth_keys *keys = read_set(world,
                               mint_jwks(arena, mint_jwk(arena, world->rsa, ",\"kid\":\"k\""),
                                         mint_jwk(arena, world->p256, ",\"kid\":\"k\""), NULL));

    assert_int_equal(auth_keys_count(keys), 2);
    assert_int_equal(find_and_check(world, keys,
                                    mint_token(arena, world->p256, "ES256",
                                               header_of(world, "ES256", "k"), "{}"),
                                    NULL),
                     MCP_OK);
    auth_keys_release(keys);
}

static void a_token_without_a_name_is_of_the_only_key(void **state)
{
    struct world *world = *state;
    mcp_arena *arena = world->arena;
    const char *rs = mint_token(arena, world->rsa, "RS256", "{\"alg\":\"RS256\"}", "{}");
    const char *es = mint_token(arena, world->p256, "ES256", "{\"alg\":\"ES256\"}", "{}");
    mcp_error err = MCP_ERROR_INIT;
    auth_keys *keys = read_set(world,
                               mint_jwks(arena, mint_jwk(arena, world->rsa, ",\"kid\":\"a\""),
                                         mint_jwk(arena, world->rsa, ",\"kid\":\"b\""),
                                         mint_jwk(arena, world->p256, "")));

    assert_int_equal(find_and_check(world, keys, es, NULL), MCP_OK);
    assert_int_equal(find_and_check(world, keys, rs, &err), MCP_E_DENIED);
    assert_string_equal(err.message, "the token does not say which key signed it");
    const char *named = mint_token(arena, world->p256, "ES256", header_of(world, "ES256", "x"),
                                   "{}");
    assert_int_equal(find_and_check(world, keys, named, NULL), MCP_E_NOT_FOUND);
    auth_keys_release(keys);
}

/* What is left out with a word in the log. */
static void unfit_keys_are_left_out(void **state)
{
    struct world *world = *state;
    mcp_arena *arena = world->arena;
    EVP_PKEY *small = mint_rsa(1024);
    const struct {
        const char *jwk;
        const char *why;
    } rows[] = {
        { mint_jwk(arena, world->rsa, ",\"kid\":\"k\",\"d\":\"AQAB\""),
          "auth: key 1 (k) is not used: its private half is there for all to see" },
        { mint_jwk(arena, world->p256, ",\"d\":\"AQAB\""),
          "auth: key 1 (without a name) is not used: its private half is there for all to see" },
        { mint_jwk(arena, small, ",\"kid\":\"k\""),
          "auth: key 1 (k) is not used: its modulus is not of 2048 to 8192 bits" },
        { "{\"kty\":\"RSA\",\"n\":\"AQAB\",\"e\":\"AQAB\"}",
          "auth: key 1 (without a name) is not used: its modulus is not of 2048 to 8192 bits" },
        { "{\"kty\":\"RSA\",\"n\":\"AQ=B\",\"e\":\"AQAB\"}",
          "auth: key 1 (without a name) is not used: its numbers are malformed" },
        { "{\"kty\":\"RSA\",\"n\":7,\"e\":\"AQAB\"}",
          "auth: key 1 (without a name) is not used: its numbers are malformed" },
        { "{\"kty\":\"RSA\"}",
          "auth: key 1 (without a name) is not used: its numbers are malformed" },
        /* (1, 1) is not on P-256; then too short coordinates, then none */
        { "{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAE\","
          "\"y\":\"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAE\"}",
          "auth: key 1 (without a name) is not used: its point is not on its curve" },
        { "{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"AQ\",\"y\":\"AQ\"}",
          "auth: key 1 (without a name) is not used: its coordinates are malformed" },
        { "{\"kty\":\"EC\",\"crv\":\"P-256\"}",
          "auth: key 1 (without a name) is not used: its coordinates are malformed" },
        { mint_jwk(arena, world->p256, ",\"kid\":7"),
          "auth: key 1 (without a name) is not used: its name is no good" },
        { mint_jwk(arena, world->p256, ",\"kty\":\"RSA\""),
          "auth: key 1 (without a name) is not used: it is malformed" },
        { "7", "auth: key 1 (without a name) is not used: it is malformed" },
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        auth_keys *keys = read_set(world, mint_jwks(arena, rows[i].jwk, NULL, NULL));
        assert_int_equal(auth_keys_count(keys), 0);
        assert_string_equal(world->logged, rows[i].why);
        auth_keys_release(keys);
    }
    EVP_PKEY_free(small);
}

/* With an exponent of 1 the padded message is its own signature. */
static void odd_exponents_are_left_out(void **state)
{
    static const char *const exponents[] = { "AQ", "Ag", "AA", "", "AAE", "AQAAAAE" };
    struct world *world = *state;
    const char *jwk = mint_jwk(world->arena, world->rsa, "");

    for (size_t i = 0; i < sizeof exponents / sizeof exponents[0]; i++) {
        const char *e = strstr(jwk, "\"e\":");
        const char *bent = mcp_arena_printf(world->arena, "%.*s\"e\":\"%s\"}", (int)(e - jwk), jwk,
                                            exponents[i]);
        auth_keys *keys = read_set(world, mint_jwks(world->arena, bent, NULL, NULL));
        assert_int_equal(auth_keys_count(keys), 0);
        assert_non_null(strstr(world->logged, "its exponent is not an odd number"));
        auth_keys_release(keys);
    }
}

/* What a set may hold besides the keys that are for us. */
static void keys_for_something_else_are_left_out_in_silence(void **state)
{
    struct world *world = *state;
    mcp_arena *arena = world->arena;
    EVP_PKEY *p521 = mint_ec("P-521");
    const char *rows[] = {
        "{\"kty\":\"oct\",\"k\":\"c2VjcmV0\",\"alg\":\"HS256\"}",
        "{\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"x\":\"AAAA\"}",
        "{\"kty\":\"EC\",\"crv\":\"secp256k1\",\"x\":\"AAAA\",\"y\":\"AAAA\"}",
        "{\"kty\":\"future\"}",
        "{}",
        mint_jwk(arena, p521, ""),
        mint_jwk(arena, world->rsa, ",\"use\":\"enc\""),
        mint_jwk(arena, world->rsa, ",\"key_ops\":[\"encrypt\"]"),
        mint_jwk(arena, world->rsa, ",\"alg\":\"HS256\""),
        mint_jwk(arena, world->rsa, ",\"alg\":\"none\""),
        mint_jwk(arena, world->rsa, ",\"alg\":\"RSA-OAEP\""),
        mint_jwk(arena, world->rsa, ",\"alg\":\"ES256\""),
        mint_jwk(arena, world->rsa, ",\"alg\":7"),
        mint_jwk(arena, world->p256, ",\"alg\":\"ES384\""),
        mint_jwk(arena, world->p256, ",\"alg\":\"RS256\""),
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        auth_keys *keys = read_set(world, mint_jwks(arena, rows[i], NULL, NULL));
        assert_int_equal(auth_keys_count(keys), 0);
        assert_string_equal(world->logged, "");
        auth_keys_release(keys);
    }
    EVP_PKEY_free(p521);
}

static void good_keys_next_to_unfit_ones_are_used(void **state)
{
    struct world *world = *state;
    mcp_arena *arena = world->arena;
    auth_keys *keys = read_set(
        world,
        mint_jwks(arena, "{\"kty\":\"RSA\"}",
                  mint_jwk(arena, world->p256,
                           ",\"kid\":\"k\",\"key_ops\":[\"sign\",\"verify\"],\"x5c\":[\"a\"]"),
                  mint_jwk(arena, world->p256, ",\"kid\":\"k\"")));

    assert_int_equal(auth_keys_count(keys), 1);
    assert_string_equal(world->logged, "auth: key 3 (k) is not used: another key has its name");
    auth_keys_release(keys);
}

static void what_is_no_set_is_refused(void **state)
{
    static const struct {
        const char *text;
        mcp_status status;
    } rows[] = {
        { "", MCP_E_PARSE },
        { "<html>", MCP_E_PARSE },
        { "[]", MCP_E_PARAMS },
        { "{}", MCP_E_PARAMS },
        { "{\"keys\":{}}", MCP_E_PARAMS },
        { "{\"keys\":[],\"keys\":[]}", MCP_E_PARAMS },
        { "{\"Keys\":[]}", MCP_E_PARAMS },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        auth_keys *keys = NULL;
        assert_int_equal(auth_keys_read(&keys, rows[i].text, strlen(rows[i].text), 1,
                                        auth_algorithm_find("RS256"), NULL, NULL),
                         rows[i].status);
        assert_null(keys);
    }
}

static void a_set_is_bounded(void **state)
{
    struct world *world = *state;
    mcp_buf text;
    auth_keys *keys = NULL;

    mcp_buf_init(&text, 1 << 20);
    mcp_buf_puts(&text, "{\"keys\":[");
    for (int i = 0; i <= AUTH_KEYS_MAX; i++) {
        const char *members = mcp_arena_printf(world->arena, ",\"kid\":\"%d\"", i);
        mcp_buf_printf(&text, "%s%s", i ? "," : "", mint_jwk(world->arena, world->p256, members));
    }
    mcp_buf_puts(&text, "]}");
    keys = read_set(world, text.data);
    assert_int_equal(auth_keys_count(keys), AUTH_KEYS_MAX);
    assert_string_equal(world->logged, "auth: key 65 (64) is not used: there are too many keys");
    auth_keys_release(keys);
    while (text.length < AUTH_KEYS_TEXT_MAX)
        mcp_buf_putc(&text, ' ');
    keys = read_set(world, text.data);
    auth_keys_release(keys);
    mcp_buf_putc(&text, ' ');
    assert_int_equal(
        auth_keys_read(&keys, text.data, text.length, 1, auth_algorithm_find("RS256"), NULL, NULL),
        MCP_E_LIMIT);
    mcp_buf_clear(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_algorithm_checks_what_openssl_signs),
        cmocka_unit_test(the_example_of_the_rfc_is_good),
        cmocka_unit_test(a_forged_signature_is_refused),
        cmocka_unit_test(the_key_says_the_algorithm),
        cmocka_unit_test(one_name_may_have_two_algorithms),
        cmocka_unit_test(a_token_without_a_name_is_of_the_only_key),
        cmocka_unit_test(unfit_keys_are_left_out),
        cmocka_unit_test(odd_exponents_are_left_out),
        cmocka_unit_test(keys_for_something_else_are_left_out_in_silence),
        cmocka_unit_test(good_keys_next_to_unfit_ones_are_used),
        cmocka_unit_test(what_is_no_set_is_refused),
        cmocka_unit_test(a_set_is_bounded),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
