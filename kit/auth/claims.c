/*
 * claims.c - from a token's claims to a principal.
 *
 * Each claim that matters has its function; a claim of the wrong type is refused, never taken as
 * absent.
 */
#include "auth/claims.h"

#include <stdbool.h>
#include <string.h>

#include "auth/member.h"
#include "mcp/buf.h"

/* The longest name of a principal; the longest list of scopes. */
enum { NAME_MAX_BYTES = 255, SCOPES_MAX_BYTES = 8192 };

/* Seconds since 1970 of the last date that is accepted. */
#define SECONDS_MAX 9.0e12

static mcp_status denied(mcp_error *err, const char *why)
{
    return mcp_error_set(err, MCP_E_DENIED, "%s", why);
}

static bool is_text(const mcp_json *value, const char *expected)
{
    const char *text = auth_text(value);

    return text && strcmp(text, expected) == 0;
}

/* `aud` is one string or an array of them (RFC 7519 section 4.1.3). */
static bool is_for(const mcp_json *aud, const char *resource)
{
    bool found = false;

    if (!mcp_json_is_array(aud))
        return is_text(aud, resource);
    for (size_t i = 0; i < mcp_json_count(aud); i++) {
        if (!auth_text(mcp_json_item(aud, i)))
            return false;
        found = found || is_text(mcp_json_item(aud, i), resource);
    }
    return found;
}

/* A NumericDate, which may have a fraction. */
static bool moment(int64_t *out_ms, const mcp_json *value)
{
    double seconds = 0;

    if (!mcp_json_double(value, &seconds) || seconds < -SECONDS_MAX || seconds > SECONDS_MAX)
        return false;
    *out_ms = (int64_t)(seconds * 1000);
    return true;
}

static mcp_status check_times(int64_t *end_ms, const mcp_json *claims, const auth_rules *rules,
                              int64_t now_ms, mcp_error *err)
{
    const mcp_json *exp = mcp_json_get(claims, "exp");
    const mcp_json *nbf = mcp_json_get(claims, "nbf");
    int64_t exp_ms = 0;
    int64_t nbf_ms = 0;

    if (!exp)
        return denied(err, "the token does not say when it expires");
    if (!moment(&exp_ms, exp) || (nbf && !moment(&nbf_ms, nbf)))
        return denied(err, "the token has a time that is none");
    if (now_ms >= exp_ms + rules->leeway_ms)
        return denied(err, "the token has expired");
    if (nbf && now_ms < nbf_ms - rules->leeway_ms)
        return denied(err, "the token is not valid yet");
    *end_ms = exp_ms + rules->leeway_ms;
    return MCP_OK;
}

/* A name goes into logs and is compared as a C string. */
static bool is_name(const char *text)
{
    size_t length = text ? strlen(text) : 0;

    for (size_t i = 0; i < length; i++)
        if ((unsigned char)text[i] < 0x20 || text[i] == 0x7f)
            return false;
    return length > 0 && length <= NAME_MAX_BYTES;
}

/* RFC 6749 section 3.3: printable ASCII but the quotation mark and the backslash. */
static bool is_scope_letter(char letter)
{
    return letter > 0x20 && letter < 0x7f && letter != '"' && letter != '\\';
}

/* Append scopes that are separated by spaces; false when they are malformed. */
static bool append_scopes(mcp_buf *scopes, const char *text)
{
    for (; *text; text++) {
        bool begins = scopes->length == 0 || scopes->data[scopes->length - 1] == ' ';
        if (*text == ' ' && begins)
            continue;
        if (*text != ' ' && !is_scope_letter(*text))
            return false;
        mcp_buf_putc(scopes, *text);
    }
    return true;
}

/* One string, or an array with one scope an item. */
static bool collect_scopes(mcp_buf *scopes, const mcp_json *claim)
{
    const char *text = auth_text(claim);

    if (!mcp_json_is_array(claim))
        return text && append_scopes(scopes, text);
    for (size_t i = 0; i < mcp_json_count(claim); i++) {
        text = auth_text(mcp_json_item(claim, i));
        if (!text || strchr(text, ' ') || !append_scopes(scopes, text))
            return false;
        mcp_buf_putc(scopes, ' ');
    }
    return true;
}

/* RFC 9068 says `scope`; some issuers write `scp`. */
static mcp_status read_scopes(const char **out, const mcp_json *claims, mcp_arena *arena,
                              mcp_error *err)
{
    const mcp_json *scope = mcp_json_get(claims, "scope");
    const mcp_json *claim = scope ? scope : mcp_json_get(claims, "scp");
    mcp_buf scopes;
    char *copy = NULL;

    mcp_buf_init(&scopes, SCOPES_MAX_BYTES);
    bool good = !claim || collect_scopes(&scopes, claim);
    mcp_status st = scopes.status;
    if (good && st == MCP_OK) {
        size_t length = scopes.length;
        while (length > 0 && scopes.data[length - 1] == ' ')
            length--;
        copy = mcp_arena_strndup(arena, scopes.data ? scopes.data : "", length);
    }
    mcp_buf_clear(&scopes);
    if (!good || st == MCP_E_LIMIT)
        return denied(err, "the token's scopes are malformed");
    if (!copy)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a token's scopes");
    *out = copy;
    return MCP_OK;
}

mcp_status auth_claims_check(mcp_principal *out, const mcp_json *claims, const auth_rules *rules,
                             int64_t now_ms, mcp_arena *arena, mcp_error *err)
{
    mcp_principal principal = { NULL, NULL, 0 };
    const char *subject = auth_text(mcp_json_get(claims, "sub"));

    if (!is_text(mcp_json_get(claims, "iss"), rules->issuer))
        return denied(err, "the token is of another issuer");
    if (!is_for(mcp_json_get(claims, "aud"), rules->resource))
        return denied(err, "the token is for another resource");
    if (rules->party && !is_text(mcp_json_get(claims, "azp"), rules->party))
        return denied(err, "the token was issued to another party");
    mcp_status st = check_times(&principal.expires_ms, claims, rules, now_ms, err);
    if (st != MCP_OK)
        return st;
    if (!is_name(subject))
        return denied(err, "the token does not say whose it is");
    st = read_scopes(&principal.scopes, claims, arena, err);
    if (st != MCP_OK)
        return st;
    principal.name = mcp_arena_strdup(arena, subject);
    if (!principal.name)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a principal");
    *out = principal;
    return MCP_OK;
}
