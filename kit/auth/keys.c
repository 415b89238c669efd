/*
 * keys.c - reading a JSON Web Key Set and verifying with it, by cjose.
 *
 * Each key is for exactly one algorithm (RFC 8725 section 3.1): the one that its `alg` names, the
 * one of its curve, or the one configured for RSA keys without `alg`. The algorithm of a token must
 * be the same.
 *
 * cjose receives the keys as numbers that were decoded and bounded here, not as JSON: an RSA
 * modulus of 2048 to 8192 bits (RFC 7518 section 3.3; a check must stay cheap), an odd exponent of
 * 3 or more (with 1 every signature is valid), coordinates of the curve's full length. A key with
 * private members is not secret and is skipped. cjose's reference count of a key is not atomic, so
 * it is not used: the set counts its users, and the keys end with it.
 */
#include "auth/keys.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include <cjose/jwk.h>
#include <cjose/jws.h>
#include <openssl/err.h>

#include "auth/base64url.h"
#include "auth/member.h"
#include "mcp/json.h"

enum { RSA_BYTES_MIN = 256, RSA_BYTES_MAX = 1024, EXPONENT_BYTES_MAX = 4 };

struct auth_key {
    const char *kid; /* NULL: it has no name */
    const auth_algorithm *algorithm;
    size_t signature_length; /* of every signature that it makes */
    cjose_jwk_t *jwk;
};

struct auth_keys {
    atomic_int users;
    mcp_arena *arena; /* has this struct and the names */
    uint64_t generation;
    size_t count;
    auth_key keys[AUTH_KEYS_MAX];
};

/* The arguments of reading one key. `scratch` ends with the reading. */
struct reading {
    auth_keys *keys;
    mcp_arena *scratch;
    const auth_algorithm *rsa_alg;
};

/* Why a key is skipped: words for the log, `silent` where it has another purpose, NULL where it
 * is used. */
static const char silent[] = "";
static const char out_of_memory[] = "out of memory";

/* A big number, without leading zeros. */
static bool read_number(const uint8_t **out, size_t *out_length, const mcp_json *jwk,
                        const char *name, mcp_arena *scratch)
{
    const char *text = auth_text(mcp_json_get(jwk, name));
    const uint8_t *bytes = NULL;
    size_t length = 0;

    if (!text ||
        auth_base64url_decode(&bytes, &length, text, strlen(text), scratch, NULL) != MCP_OK)
        return false;
    while (length > 0 && *bytes == 0) {
        bytes++;
        length--;
    }
    *out = bytes;
    *out_length = length;
    return true;
}

static const char *read_rsa(auth_key *key, const mcp_json *jwk, mcp_arena *scratch)
{
    const uint8_t *modulus = NULL;
    const uint8_t *exponent = NULL;
    cjose_jwk_rsa_keyspec spec = { 0 };

    if (!read_number(&modulus, &spec.nlen, jwk, "n", scratch) ||
        !read_number(&exponent, &spec.elen, jwk, "e", scratch))
        return "its numbers are malformed";
    if (spec.nlen < RSA_BYTES_MIN || spec.nlen > RSA_BYTES_MAX || !(modulus[spec.nlen - 1] & 1))
        return "its modulus is not of 2048 to 8192 bits";
    if (spec.nlen == RSA_BYTES_MIN && !(modulus[0] & 0x80))
        return "its modulus is not of 2048 to 8192 bits";
    if (spec.elen == 0 || spec.elen > EXPONENT_BYTES_MAX || !(exponent[spec.elen - 1] & 1) ||
        (spec.elen == 1 && exponent[0] == 1))
        return "its exponent is not an odd number from 3 to 2^32";
    spec.n = (uint8_t *)modulus; /* cjose only reads them */
    spec.e = (uint8_t *)exponent;
    key->signature_length = spec.nlen;
    key->jwk = cjose_jwk_create_RSA_spec(&spec, NULL);
    return key->jwk ? NULL : out_of_memory;
}

/* A coordinate has the curve's full length, zeros in front included (RFC 7518 section 6.2.1.2). */
static const uint8_t *read_coordinate(const mcp_json *jwk, const char *name, size_t size,
                                      mcp_arena *scratch)
{
    const char *text = auth_text(mcp_json_get(jwk, name));
    const uint8_t *bytes = NULL;
    size_t length = 0;

    if (!text ||
        auth_base64url_decode(&bytes, &length, text, strlen(text), scratch, NULL) != MCP_OK)
        return NULL;
    return length == size ? bytes : NULL;
}

static const char *read_ec(auth_key *key, const mcp_json *jwk, mcp_arena *scratch)
{
    size_t size = key->algorithm->coordinate_size;
    cjose_jwk_ec_keyspec spec = { .crv = (cjose_jwk_ec_curve)key->algorithm->curve_id };
    const uint8_t *x = read_coordinate(jwk, "x", size, scratch);
    const uint8_t *y = read_coordinate(jwk, "y", size, scratch);

    if (!x || !y)
        return "its coordinates are malformed";
    spec.x = (uint8_t *)x; /* cjose only reads them */
    spec.y = (uint8_t *)y;
    spec.xlen = size;
    spec.ylen = size;
    key->signature_length = 2 * size;
    key->jwk = cjose_jwk_create_EC_spec(&spec, NULL);
    return key->jwk ? NULL : "its point is not on its curve";
}

static bool has_private_members(const mcp_json *jwk)
{
    static const char *const names[] = { "d", "p", "q", "dp", "dq", "qi", "oth", "k" };

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (mcp_json_get(jwk, names[i]))
            return true;
    return false;
}

/* Whether `use` and `key_ops`, where they are given, let the key check signatures. */
static bool is_for_checking(const mcp_json *jwk)
{
    const mcp_json *use = mcp_json_get(jwk, "use");
    const mcp_json *ops = mcp_json_get(jwk, "key_ops");
    const char *text = auth_text(use);
    bool verifies = !ops;

    for (size_t i = 0; i < mcp_json_count(ops); i++) {
        const char *op = auth_text(mcp_json_item(ops, i));
        verifies = verifies || (op && strcmp(op, "verify") == 0);
    }
    return verifies && (!use || (text && strcmp(text, "sig") == 0));
}

/* The one algorithm of a key; NULL when it is not supported. */
static const auth_algorithm *algorithm_of(const mcp_json *jwk, const auth_algorithm *rsa_alg)
{
    const char *kty = auth_text(mcp_json_get(jwk, "kty"));
    const char *crv = auth_text(mcp_json_get(jwk, "crv"));
    const char *alg = auth_text(mcp_json_get(jwk, "alg"));
    const auth_algorithm *found = NULL;

    if (!kty || (mcp_json_get(jwk, "alg") && !alg))
        return NULL;
    if (strcmp(kty, "EC") == 0)
        found = crv ? auth_algorithm_of_curve(crv) : NULL;
    else if (strcmp(kty, "RSA") == 0)
        found = alg ? auth_algorithm_find(alg) : rsa_alg;
    if (!found || strcmp(found->kty, kty) != 0 || (alg && strcmp(found->name, alg) != 0))
        return NULL;
    return found;
}

/* Two keys of one name and one algorithm are ambiguous. */
static bool is_known(const auth_keys *keys, const auth_key *key)
{
    for (size_t i = 0; i < keys->count; i++) {
        const auth_key *other = &keys->keys[i];
        if (key->kid && other->kid && other->algorithm == key->algorithm &&
            strcmp(other->kid, key->kid) == 0)
            return true;
    }
    return false;
}

static const char *read_name(auth_key *key, const mcp_json *jwk, const struct reading *reading)
{
    const mcp_json *kid = mcp_json_get(jwk, "kid");
    const char *text = auth_text(kid);

    if (!kid)
        return NULL;
    if (!text || strlen(text) > AUTH_KID_MAX)
        return "its name is no good";
    key->kid = mcp_arena_strdup(reading->keys->arena, text);
    return key->kid ? NULL : out_of_memory;
}

static const char *read_key(const mcp_json *jwk, const struct reading *reading)
{
    auth_key key = { 0 };

    if (!mcp_json_is_object(jwk) || mcp_json_duplicate(jwk))
        return "it is malformed";
    if (!is_for_checking(jwk))
        return silent;
    key.algorithm = algorithm_of(jwk, reading->rsa_alg);
    if (!key.algorithm)
        return silent;
    if (has_private_members(jwk))
        return "its private half is there for all to see";
    const char *why = read_name(&key, jwk, reading);
    if (!why && is_known(reading->keys, &key))
        why = "another key has its name";
    if (!why && reading->keys->count == AUTH_KEYS_MAX)
        why = "there are too many keys";
    if (!why)
        why = key.algorithm->curve ? read_ec(&key, jwk, reading->scratch)
                                   : read_rsa(&key, jwk, reading->scratch);
    if (!why)
        reading->keys->keys[reading->keys->count++] = key;
    return why;
}

static mcp_status read_all(const struct reading *reading, const mcp_json *root, const mcp_log *log,
                           mcp_error *err)
{
    const mcp_json *list = mcp_json_get(root, "keys");

    if (!mcp_json_is_array(list) || mcp_json_duplicate(root))
        return mcp_error_set(err, MCP_E_PARAMS, "the JSON is not a set of keys");
    for (size_t i = 0; i < mcp_json_count(list); i++) {
        const mcp_json *jwk = mcp_json_item(list, i);
        const char *kid = auth_text(mcp_json_get(jwk, "kid"));
        const char *why = read_key(jwk, reading);
        if (why == out_of_memory)
            return mcp_error_set(err, MCP_E_NOMEM, "no memory for a key");
        if (why && why != silent)
            mcp_log_write(log, MCP_LOG_WARNING, "auth: key %zu (%s) is not used: %s", i + 1,
                          kid ? kid : "without a name", why);
    }
    return MCP_OK;
}

static auth_keys *keys_new(uint64_t generation)
{
    mcp_arena *arena = mcp_arena_new(1 << 20);
    auth_keys *keys = arena ? mcp_arena_alloc(arena, sizeof *keys) : NULL;

    if (!keys) {
        mcp_arena_free(arena);
        return NULL;
    }
    atomic_init(&keys->users, 1);
    keys->arena = arena;
    keys->generation = generation;
    return keys;
}

mcp_status auth_keys_read(auth_keys **out, const char *text, size_t length, uint64_t generation,
                          const auth_algorithm *rsa_alg, const mcp_log *log, mcp_error *err)
{
    struct reading reading = { NULL, NULL, rsa_alg };
    const mcp_json *root = NULL;
    mcp_status st = MCP_OK;

    if (length > AUTH_KEYS_TEXT_MAX)
        return mcp_error_set(err, MCP_E_LIMIT, "the set of keys is longer than %d bytes",
                             AUTH_KEYS_TEXT_MAX);
    reading.scratch = mcp_arena_new(16 << 20);
    reading.keys = keys_new(generation);
    if (!reading.scratch || !reading.keys)
        st = mcp_error_set(err, MCP_E_NOMEM, "no memory for a set of keys");
    if (st == MCP_OK)
        st = mcp_json_read(&root, reading.scratch, text, length, err);
    if (st == MCP_OK)
        st = read_all(&reading, root, log, err);
    if (st == MCP_OK)
        *out = reading.keys;
    else
        auth_keys_release(reading.keys);
    mcp_arena_free(reading.scratch);
    ERR_clear_error();
    return st;
}

auth_keys *auth_keys_retain(auth_keys *keys)
{
    atomic_fetch_add(&keys->users, 1);
    return keys;
}

void auth_keys_release(auth_keys *keys)
{
    if (!keys)
        return;
    int users = atomic_fetch_sub(&keys->users, 1);
    assert(users > 0);
    if (users > 1)
        return;
    for (size_t i = 0; i < keys->count; i++)
        cjose_jwk_release(keys->keys[i].jwk);
    mcp_arena_free(keys->arena);
}

uint64_t auth_keys_generation(const auth_keys *keys)
{
    return keys->generation;
}

size_t auth_keys_count(const auth_keys *keys)
{
    return keys->count;
}

mcp_status auth_keys_find(const auth_key **out, const auth_keys *keys, const auth_token *token,
                          mcp_error *err)
{
    const auth_key *found = NULL;
    bool name_known = false;

    for (size_t i = 0; i < keys->count; i++) {
        const auth_key *key = &keys->keys[i];
        bool named = token->kid && key->kid && strcmp(key->kid, token->kid) == 0;
        name_known = name_known || named;
        if (key->algorithm != token->algorithm || (token->kid && !named))
            continue;
        if (found)
            return mcp_error_set(err, MCP_E_DENIED, "the token does not say which key signed it");
        found = key;
    }
    if (!found && name_known)
        return mcp_error_set(err, MCP_E_DENIED, "the token's key is for another algorithm");
    if (!found)
        return mcp_error_set(err, MCP_E_NOT_FOUND, "the token is signed with an unknown key");
    *out = found;
    return MCP_OK;
}

mcp_status auth_key_check(const auth_key *key, const auth_token *token, mcp_error *err)
{
    cjose_err cause = { .code = CJOSE_ERR_NONE };
    cjose_jws_t *jws = NULL;
    bool good = false;

    /* cjose takes signatures of any length, and halves them blindly for EC. */
    if (key->algorithm == token->algorithm && key->signature_length == token->signature_length)
        jws = cjose_jws_import(token->text, token->length, &cause);
    if (jws)
        good = cjose_jws_verify(jws, key->jwk, &cause);
    cjose_jws_release(jws);
    /* The errors of OpenSSL are of this check; a later call on this thread must not report them. */
    ERR_clear_error();
    if (!good && cause.code == CJOSE_ERR_NO_MEMORY)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory to check a signature");
    return good ? MCP_OK
                : mcp_error_set(err, MCP_E_DENIED, "the token's signature is not the issuer's");
}
