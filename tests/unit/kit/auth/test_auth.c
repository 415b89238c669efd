/*
 * test_auth.c - the whole way of a token, as the library would ask about it.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "auth/auth_int.h"
#include "key_server.h"
#include "mcp/clock.h"
#include "mint.h"
#include "scratch.h"
#include "web_rig.h"

#define ISSUER "https://as.example"
#define RESOURCE "https://host/mcp"

static atomic_llong now_ms;

static int64_t test_clock(void)
{
    return atomic_load(&now_ms);
}

struct world {
    mcp_arena *arena;
    EVP_PKEY *rsa;
    EVP_PKEY *p256;
    scratch folder;
    const char *file;
    auth *verifier;
    mcp_error err;
};

static void write_keys(struct world *world, const char *jwk)
{
    const char *text = mint_jwks(world->arena, jwk, NULL, NULL);

    scratch_write(&world->folder, "keys.json", text, strlen(text));
}

static mcp_status open_verifier(struct world *world, auth_options options)
{
    options.issuer = ISSUER;
    options.resource = RESOURCE;
    return auth_open_with_clock(&world->verifier, &options, test_clock, &world->err);
}

static int set_up(void **state)
{
    static struct world world;

    memset(&world, 0, sizeof world);
    world.arena = mcp_arena_new(0);
    world.rsa = mint_rsa(2048);
    world.p256 = mint_ec("P-256");
    atomic_store(&now_ms, 1000000);
    scratch_open(&world.folder);
    world.file = mcp_arena_strdup(world.arena, scratch_path(&world.folder, "keys.json"));
    write_keys(&world, mint_jwk(world.arena, world.rsa, ",\"kid\":\"r\""));
    *state = &world;
    return open_verifier(&world, (auth_options){ .jwks_file = world.file }) == MCP_OK ? 0 : -1;
}

static int tear_down(void **state)
{
    struct world *world = *state;

    auth_close(world->verifier);
    scratch_close(&world->folder);
    EVP_PKEY_free(world->rsa);
    EVP_PKEY_free(world->p256);
    mcp_arena_free(world->arena);
    return 0;
}

/* Claims that are good from a minute ago until `seconds` from now. */
static const char *claims_for(struct world *world, int64_t seconds)
{
    int64_t now_s = mcp_clock_wall_ms() / 1000;

    return mcp_arena_printf(world->arena,
                            "{\"iss\":\"" ISSUER "\",\"aud\":[\"x\",\"" RESOURCE
                            "\"],\"sub\":\"ann\","
                            "\"scope\":\"read write\",\"nbf\":%lld,\"exp\":%lld}",
                            (long long)now_s - 60, (long long)(now_s + seconds));
}

static const char *rs256(struct world *world, const char *kid, int64_t seconds)
{
    return mint_token(world->arena, world->rsa, "RS256",
                      mcp_arena_printf(world->arena, "{\"alg\":\"RS256\",\"kid\":\"%s\"}", kid),
                      claims_for(world, seconds));
}

static mcp_status verify(struct world *world, const char *token, mcp_principal *out)
{
    mcp_principal dropped;

    return auth_verify(out ? out : &dropped, token, world->arena, world->verifier, &world->err);
}

static void a_good_token_is_a_principal(void **state)
{
    struct world *world = *state;
    mcp_token_verifier *verifier = auth_verify; /* the library's type */
    mcp_principal principal;
    int64_t now_s = mcp_clock_wall_ms() / 1000;

    assert_int_equal(
        verifier(&principal, rs256(world, "r", 3600), world->arena, world->verifier, &world->err),
        MCP_OK);
    assert_string_equal(principal.name, "ann");
    assert_string_equal(principal.scopes, "read write");
    assert_in_range(principal.expires_ms, (now_s + 3600 + 30) * 1000, (now_s + 3602 + 30) * 1000);
}

/* Each of these must be refused with the same care: no status but MCP_E_DENIED, nothing filled
 * in. */
static void hostile_tokens_are_refused(void **state)
{
    struct world *world = *state;
    mcp_arena *arena = world->arena;
    const char *claims = claims_for(world, 3600);
    const char *good = rs256(world, "r", 3600);
    const char *body = mint_base64url(arena, claims, strlen(claims));
    EVP_PKEY *stranger = mint_rsa(2048);
    const char *public_jwk = mint_jwk(arena, world->rsa, ",\"kid\":\"r\"");
    char huge[AUTH_TOKEN_MAX + 2];
    const struct {
        const char *token;
        const char *why;
    } rows[] = {
        { "", "the token is not a JSON Web Token" },
        { "secret", "the token is not a JSON Web Token" },
        { mcp_arena_printf(arena, "%s.%s.", mint_base64url(arena, "{\"alg\":\"none\"}", 14), body),
          "the token's algorithm is not accepted" },
        { mint_token_hs256(arena, public_jwk, "{\"alg\":\"HS256\",\"kid\":\"r\"}", claims),
          "the token's algorithm is not accepted" },
        { mint_token(arena, stranger, "RS256", "{\"alg\":\"RS256\",\"kid\":\"r\"}", claims),
          "the token's signature is not the issuer's" },
        { mint_token(arena, stranger, "RS256",
                     mcp_arena_printf(arena, "{\"alg\":\"RS256\",\"kid\":\"r\",\"jwk\":%s}",
                                      mint_jwk(arena, stranger, "")),
                     claims),
          "the token's signature is not the issuer's" },
        { rs256(world, "unknown", 3600), "the token is signed with an unknown key" },
        { mint_token(arena, world->p256, "ES256", "{\"alg\":\"ES256\",\"kid\":\"r\"}", claims),
          "the token's key is for another algorithm" },
        { mint_token(arena, world->rsa, "PS256", "{\"alg\":\"PS256\",\"kid\":\"r\"}", claims),
          "the token's key is for another algorithm" },
        { rs256(world, "r", -31), "the token has expired" },
        { mint_token(arena, world->rsa, "RS256", "{\"alg\":\"RS256\"}",
                     "{\"iss\":\"" ISSUER "\",\"aud\":\"" RESOURCE "\",\"sub\":\"ann\","
                     "\"exp\":9000000000,\"nbf\":8000000000}"),
          "the token is not valid yet" },
        { mint_token(arena, world->rsa, "RS256", "{\"alg\":\"RS256\"}",
                     "{\"iss\":\"" ISSUER "\",\"aud\":\"" RESOURCE "\",\"sub\":\"ann\"}"),
          "the token does not say when it expires" },
        { mint_token(arena, world->rsa, "RS256", "{\"alg\":\"RS256\"}",
                     "{\"iss\":\"" ISSUER "\",\"aud\":\"" RESOURCE "\",\"sub\":\"ann\","
                     "\"sub\":\"root\",\"exp\":9000000000}"),
          "the token's claims are malformed" },
        { mcp_arena_printf(arena, "%s=", good), "the token's signature is not base64url" },
        { mcp_arena_printf(arena, "%s.", good), "the token's signature is not base64url" },
        { huge, "the token is longer than 8192 bytes" },
    };

    memset(huge, 'e', sizeof huge);
    huge[sizeof huge - 1] = '\0';
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        mcp_principal principal = { NULL, NULL, 7 };
        assert_int_equal(verify(world, rows[i].token, &principal), MCP_E_DENIED);
        assert_string_equal(world->err.message, rows[i].why);
        assert_null(principal.name);
        assert_int_equal(principal.expires_ms, 7);
    }
    assert_int_equal(verify(world, good, NULL), MCP_OK);
    EVP_PKEY_free(stranger);
}

/* A token that is just short enough is looked at. */
static void the_bound_of_a_token(void **state)
{
    struct world *world = *state;
    char text[AUTH_TOKEN_MAX + 1];

    memset(text, 'e', sizeof text);
    text[AUTH_TOKEN_MAX] = '\0';
    assert_int_equal(verify(world, text, NULL), MCP_E_DENIED);
    assert_string_equal(world->err.message, "the token is not a JSON Web Token");
}

static void keys_that_are_withdrawn_count_no_more(void **state)
{
    struct world *world = *state;
    const char *token = rs256(world, "r", 3600);

    assert_int_equal(verify(world, token, NULL), MCP_OK);
    write_keys(world, mint_jwk(world->arena, world->p256, ",\"kid\":\"e\""));
    atomic_fetch_add(&now_ms, 1000);
    assert_int_equal(verify(world, token, NULL), MCP_E_DENIED);
    assert_string_equal(world->err.message, "the token is signed with an unknown key");
}

/* The issuer begins to sign with a key that we have not seen. */
static void a_new_key_is_fetched(void **state)
{
    struct world *world = *state;
    key_server *server = key_server_start(NULL, NULL);

    auth_close(world->verifier);
    world->verifier = NULL;
    key_server_answer(
        server, "200 OK",
        mint_jwks(world->arena, mint_jwk(world->arena, world->p256, ",\"kid\":\"e\""), NULL, NULL));
    assert_int_equal(open_verifier(world, (auth_options){ .jwks_url = key_server_url(server) }),
                     MCP_OK);
    const char *token = rs256(world, "r", 3600);
    assert_int_equal(verify(world, token, NULL), MCP_E_DENIED);
    assert_int_equal(key_server_requests(server), 1);
    key_server_answer(
        server, "200 OK",
        mint_jwks(world->arena, mint_jwk(world->arena, world->rsa, ",\"kid\":\"r\""), NULL, NULL));
    atomic_fetch_add(&now_ms, 60000);
    assert_int_equal(verify(world, token, NULL), MCP_OK);
    assert_int_equal(key_server_requests(server), 2);
    key_server_end(server);
}

static void without_keys_it_is_not_known(void **state)
{
    struct world *world = *state;
    key_server *server = key_server_start(NULL, NULL);

    auth_close(world->verifier);
    world->verifier = NULL;
    key_server_answer(server, "500 No", "");
    assert_int_equal(open_verifier(world, (auth_options){ .jwks_url = key_server_url(server) }),
                     MCP_OK);
    assert_int_equal(verify(world, rs256(world, "r", 3600), NULL), MCP_E_IO);
    key_server_end(server);
}

static void the_leeway_can_be_set(void **state)
{
    struct world *world = *state;
    const struct {
        int leeway_s;
        int64_t seconds;
        mcp_status status;
    } rows[] = {
        { 0, -20, MCP_OK }, { 0, -40, MCP_E_DENIED }, { -1, -2, MCP_E_DENIED },
        { -1, 10, MCP_OK }, { 300, -290, MCP_OK },    { 300, -310, MCP_E_DENIED },
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        auth_close(world->verifier);
        world->verifier = NULL;
        assert_int_equal(open_verifier(world, (auth_options){ .jwks_file = world->file,
                                                              .leeway_s = rows[i].leeway_s }),
                         MCP_OK);
        assert_int_equal(verify(world, rs256(world, "r", rows[i].seconds), NULL), rows[i].status);
    }
}

static void unsaid_rsa_keys_are_for_what_is_configured(void **state)
{
    struct world *world = *state;

    auth_close(world->verifier);
    world->verifier = NULL;
    assert_int_equal(
        open_verifier(world, (auth_options){ .jwks_file = world->file, .rsa_alg = "PS256" }),
        MCP_OK);
    assert_int_equal(verify(world, rs256(world, "r", 3600), NULL), MCP_E_DENIED);
    assert_int_equal(
        verify(world,
               mint_token(world->arena, world->rsa, "PS256", "{\"alg\":\"PS256\",\"kid\":\"r\"}",
                          claims_for(world, 3600)),
               NULL),
        MCP_OK);
}

static void reopen(struct world *world, auth_options options)
{
    auth_close(world->verifier);
    world->verifier = NULL;
    options.jwks_file = world->file;
    assert_int_equal(open_verifier(world, options), MCP_OK);
}

static const char *of_type(struct world *world, const char *typ)
{
    return mint_token(world->arena, world->rsa, "RS256",
                      mcp_arena_printf(world->arena, "{\"alg\":\"RS256\"%s}", typ),
                      claims_for(world, 3600));
}

/* RFC 9068, 2.1: the media type of an access token is application/at+jwt; RFC 7515, 4.1.9: the
 * prefix may be left out. */
static void a_type_of_tokens_can_be_required(void **state)
{
    struct world *world = *state;
    static const struct {
        const char *required, *typ;
        bool is_good;
    } rows[] = {
        { "at+JWT", ",\"typ\":\"at+jwt\"", true },
        { "at+JWT", ",\"typ\":\"application/AT+JWT\"", true },
        { "at+JWT", ",\"typ\":\"JWT\"", false },
        { "at+JWT", "", false },
        { "JWT", ",\"typ\":\"JWT\"", true },
        { "JWT", ",\"typ\":\"application/jwt\"", true },
        { "JWT", ",\"typ\":\"at+jwt\"", false },
        { NULL, ",\"typ\":\"at+jwt\"", true },
        { NULL, "", true },
        { NULL, ",\"typ\":\"dpop+jwt\"", false },
        { NULL, ",\"typ\":\"application/application/jwt\"", false },
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        reopen(world, (auth_options){ .token_type = rows[i].required });
        if ((verify(world, of_type(world, rows[i].typ), NULL) == MCP_OK) != rows[i].is_good)
            fail_msg("%s of %s", rows[i].typ, rows[i].required);
    }
}

/* What a server makes of claims: its function of these tests. */
static mcp_status make_principal(mcp_principal *out, const mcp_json *claims, mcp_arena *arena,
                                 void *data, mcp_error *err)
{
    const char *how = data, *workspace = mcp_json_get_string(claims, "workspaceId");

    if (strcmp(how, "refuse") == 0)
        return mcp_error_set(err, MCP_E_DENIED, "the token has no workspace");
    if (strcmp(how, "unknown") == 0)
        return mcp_error_set(err, MCP_E_IO, "the database is away");
    if (strcmp(how, "nobody") == 0)
        out->name = NULL;
    if (strcmp(how, "longer") == 0)
        out->expires_ms += 1;
    if (strcmp(how, "shorter") == 0)
        out->expires_ms -= 1;
    if (strcmp(how, "another") != 0)
        return MCP_OK;
    assert_string_equal(out->name, "ann");
    assert_string_equal(out->scopes, "read");
    out->name = mcp_arena_printf(arena, "%s:%s", workspace, out->name);
    out->scopes = "approver";
    return MCP_OK;
}

static mcp_status verify_as(struct world *world, const char *how, mcp_principal *out)
{
    const char *token = mint_token(
        world->arena, world->rsa, "RS256", "{\"alg\":\"RS256\"}",
        "{\"iss\":\"" ISSUER "\",\"aud\":\"" RESOURCE "\",\"sub\":\"ann\","
        "\"scope\":\"read\",\"workspaceId\":\"w-1\",\"exp\":9000000000}");

    reopen(world, (auth_options){ .read_claims = make_principal, .data = (char *)how });
    *out = (mcp_principal){ NULL, NULL, 7 };
    return verify(world, token, out);
}

static void a_server_makes_its_principal_of_the_claims(void **state)
{
    const int64_t end_ms = (INT64_C(9000000000) + 30) * 1000;
    struct world *world = *state;
    mcp_principal principal;

    assert_int_equal(verify_as(world, "another", &principal), MCP_OK);
    assert_string_equal(principal.name, "w-1:ann");
    assert_string_equal(principal.scopes, "approver");
    assert_int_equal(principal.expires_ms, end_ms);
    assert_int_equal(verify_as(world, "longer", &principal), MCP_OK);
    assert_int_equal(principal.expires_ms, end_ms);
    assert_int_equal(verify_as(world, "shorter", &principal), MCP_OK);
    assert_int_equal(principal.expires_ms, end_ms - 1);
    assert_int_equal(verify_as(world, "refuse", &principal), MCP_E_DENIED);
    assert_string_equal(world->err.message, "the token has no workspace");
    assert_int_equal(verify_as(world, "unknown", &principal), MCP_E_IO);
    assert_int_equal(verify_as(world, "nobody", &principal), MCP_E_INTERNAL);
    assert_null(principal.name);
    assert_int_equal(principal.expires_ms, 7);
}

/* It sees no claims of a token that is not good. */
static void claims_are_read_after_all_checks(void **state)
{
    struct world *world = *state;

    reopen(world, (auth_options){ .read_claims = make_principal, .data = (char *)"unknown" });
    assert_int_equal(verify(world, rs256(world, "r", -60), NULL), MCP_E_DENIED);
    assert_string_equal(world->err.message, "the token has expired");
}

static void options_that_cannot_be_are_refused(void **state)
{
    struct world *world = *state;
    const auth_options rows[] = {
        { .resource = RESOURCE, .jwks_file = world->file },
        { .issuer = "", .resource = RESOURCE, .jwks_file = world->file },
        { .issuer = ISSUER, .jwks_file = world->file },
        { .issuer = ISSUER, .resource = "", .jwks_file = world->file },
        { .issuer = ISSUER, .resource = RESOURCE },
        { .issuer = ISSUER,
          .resource = RESOURCE,
          .jwks_file = world->file,
          .jwks_url = "https://a/" },
        { .issuer = ISSUER, .resource = RESOURCE, .jwks_url = "http://as.example/keys" },
        { .issuer = ISSUER, .resource = RESOURCE, .jwks_file = world->file, .rsa_alg = "ES256" },
        { .issuer = ISSUER, .resource = RESOURCE, .jwks_file = world->file, .rsa_alg = "none" },
        { .issuer = ISSUER, .resource = RESOURCE, .jwks_file = world->file, .rsa_alg = "HS256" },
        { .issuer = ISSUER, .resource = RESOURCE, .jwks_file = world->file, .leeway_s = -2 },
        { .issuer = ISSUER, .resource = RESOURCE, .jwks_file = world->file, .leeway_s = 301 },
        { .issuer = ISSUER, .resource = RESOURCE, .jwks_file = world->file, .token_type = "id" },
        { .issuer = ISSUER, .resource = RESOURCE, .jwks_file = world->file, .token_type = "" },
        { .issuer = ISSUER,
          .resource = RESOURCE,
          .jwks_file = world->file,
          .authorized_party = "" },
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        auth *out = NULL;
        mcp_error err = MCP_ERROR_INIT;
        assert_int_equal(auth_open(&out, &rows[i], &err), MCP_E_PARAMS);
        assert_true(strlen(err.message) > 0);
        assert_null(out);
    }
}

/* ---- asked by the library ------------------------------------------------------------------ */

#define INITIALIZE                                                                                 \
    "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":"     \
    "\"2025-11-25\",\"capabilities\":{},\"clientInfo\":{\"name\":\"c\",\"version\":\"1\"}}}"

/* What a client with that token is answered; its challenge is in `challenge`. */
static int ask(int port, struct world *world, const char *token, char challenge[1024])
{
    static web_answer answer;
    const char *fields = mcp_arena_printf(world->arena, "Authorization: Bearer %s\r\n", token);

    web_ask(&answer, port, "POST", "/mcp", fields, INITIALIZE);
    web_field(&answer, "WWW-Authenticate", challenge, 1024);
    return answer.status;
}

static void a_server_lets_in_whom_it_should(void **state)
{
    static const char *const servers[] = { ISSUER, NULL };
    struct world *world = *state;
    mcp_http_auth http_auth = { .verify = auth_verify,
                                .verify_data = world->verifier,
                                .scope = "read",
                                .resource = RESOURCE,
                                .servers = servers };
    mcp_http_options http = { .auth = &http_auth };
    web_rig *rig = web_start(NULL, &http);
    int port = web_port(rig);
    char challenge[1024];
    const char *unscoped = mint_token(world->arena, world->rsa, "RS256", "{\"alg\":\"RS256\"}",
                                      "{\"iss\":\"" ISSUER "\",\"aud\":\"" RESOURCE "\","
                                      "\"sub\":\"bob\",\"scope\":\"readers\",\"exp\":9000000000}");

    assert_int_equal(ask(port, world, rs256(world, "r", 3600), challenge), 200);
    assert_int_equal(ask(port, world, rs256(world, "r", -60), challenge), 401);
    assert_non_null(strstr(challenge, "error=\"invalid_token\""));
    assert_non_null(strstr(challenge, "error_description=\"the token has expired\""));
    assert_int_equal(ask(port, world, rs256(world, "stranger", 3600), challenge), 401);
    assert_int_equal(ask(port, world, unscoped, challenge), 403);
    assert_non_null(strstr(challenge, "error=\"insufficient_scope\""));
    assert_int_equal(web_end(rig), MCP_OK);
}

/* ---- several workers at once --------------------------------------------------------------- */

enum { THREADS = 4, ROUNDS = 50 };

struct worker {
    struct world *world;
    const char *tokens[3];
    int good;
};

static void *work(void *data)
{
    struct worker *worker = data;

    for (int i = 0; i < ROUNDS; i++) {
        mcp_arena *arena = mcp_arena_new(0);
        mcp_principal principal;
        mcp_error err = MCP_ERROR_INIT;
        mcp_status st = auth_verify(&principal, worker->tokens[i % 3], arena,
                                    worker->world->verifier, &err);
        worker->good += st == MCP_OK && strcmp(principal.name, "ann") == 0;
        mcp_arena_free(arena);
    }
    return NULL;
}

/* While the file of keys changes under them; the key stays, so every token stays good. */
static void workers_share_a_verifier(void **state)
{
    struct world *world = *state;
    struct worker workers[THREADS];
    pthread_t threads[THREADS];

    for (int i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){
            world, { rs256(world, "r", 100), rs256(world, "r", 200), rs256(world, "r", 300 + i) }, 0
        };
        assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
    }
    for (int i = 0; i < 20; i++) {
        /* By rename: a file that is half there would be refused, and rightly. */
        const char *text = mint_jwks(
            world->arena,
            mint_jwk(world->arena, world->rsa,
                     mcp_arena_printf(world->arena, ",\"kid\":\"r\",\"round\":%d", i)),
            NULL, NULL);
        scratch_write(&world->folder, "new.json", text, strlen(text));
        renameat(world->folder.fd, "new.json", world->folder.fd, "keys.json");
        atomic_fetch_add(&now_ms, 1000);
        usleep(500);
    }
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_int_equal(workers[i].good, ROUNDS);
    }
}

#define WITH_WORLD(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_WORLD(a_good_token_is_a_principal),
        WITH_WORLD(hostile_tokens_are_refused),
        WITH_WORLD(the_bound_of_a_token),
        WITH_WORLD(keys_that_are_withdrawn_count_no_more),
        WITH_WORLD(a_new_key_is_fetched),
        WITH_WORLD(without_keys_it_is_not_known),
        WITH_WORLD(the_leeway_can_be_set),
        WITH_WORLD(unsaid_rsa_keys_are_for_what_is_configured),
        WITH_WORLD(a_type_of_tokens_can_be_required),
        WITH_WORLD(a_server_makes_its_principal_of_the_claims),
        WITH_WORLD(claims_are_read_after_all_checks),
        WITH_WORLD(options_that_cannot_be_are_refused),
        WITH_WORLD(a_server_lets_in_whom_it_should),
        WITH_WORLD(workers_share_a_verifier),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
