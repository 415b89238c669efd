/*
 * authorize.c - from the Authorization field to a principal, or to the challenge that says what is
 * missing.
 *
 * A token is looked for in the operator's file, then among what the verifier said a short while
 * ago, then the verifier is asked, on a worker. Only then is the request kept waiting; its body is
 * read already, so that the connection is as busy as with any call. What it said is kept by the
 * token's hash, as long as it said, one minute at most, so that a withdrawn token does not live
 * long.
 *
 * A line of that file is a token: SHA-256 in hexadecimal, principal, scopes. A reader of the file
 * learns no token. A client that guesses tokens learns nothing from the time that it takes: all
 * hashes are compared, in full.
 *
 * The answers are those of RFC 6750, section 3: 400 for what is no credential, 401 for none or a
 * bad one, 403 for one that allows too little. Where metadata is served, each names its place (RFC
 * 9728, 5.1).
 */
#include "mcp/transport/authorize.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/utf8.h"
#include "mcp/clock.h"
#include "mcp/core/call/client.h"
#include "mcp/transport/http/header_fields.h"

#define BLANKS " \t\r"
#define CHUNK ((size_t)16 * 1024)
#define FILE_MAX ((size_t)4 * 1024 * 1024)
#define TOKEN_MAX ((size_t)8 * 1024)
#define CHALLENGE_MAX ((size_t)4 * 1024)
#define METADATA_MAX ((size_t)128 * 1024)
#define VERDICTS 1024 /* a power of two */
#define VERDICT_MS 60000
#define WELL_KNOWN "/.well-known/oauth-protected-resource"

/* What the verifier said of a token. */
struct verdict {
    uint8_t hash[MCP_SHA256_SIZE];
    mcp_arena *arena; /* pays for the principal; NULL: the place is free */
    const mcp_principal *principal;
    int64_t until_ms; /* by the clock that never jumps */
};

struct mcp__authorize {
    const mcp_http_auth *options;
    mcp_arena *arena;
    mcp_arena *file_arena; /* pays for `file` */
    mcp__token_file file;
    const char *resource; /* our URI */
    const char *path;     /* of it */
    const char *metadata; /* the URI of our metadata; NULL: there is none */
    const char *scopes;   /* that features ask for; NULL: none */
    struct verdict verdicts[VERDICTS];
};

/* A request that waits for the verifier. */
struct verification {
    mcp__task task; /* first */
    mcp__exchange_owner owner;
    mcp__httpd *httpd;
    mcp__http_exchange *exchange; /* NULL: the client is gone */
    mcp_arena *arena;             /* pays for all, this struct too */
    const char *token;
    uint8_t hash[MCP_SHA256_SIZE];
    mcp_principal principal;
    mcp_status status;
    mcp_error err;
};

/* What a request says of its sender. */
struct credential {
    const char *token; /* the exchange's */
    uint8_t hash[MCP_SHA256_SIZE];
    const mcp_principal *principal; /* NULL: the verifier must be asked */
};

/* ---- the file of tokens ---------------------------------------------------------------------- */

static bool read_hash(uint8_t out[MCP_SHA256_SIZE], const char *text, size_t length)
{
    static const char digits[] = "0123456789abcdef";

    if (length != MCP_SHA256_SIZE * 2)
        return false;
    for (size_t i = 0; i < length; i++) {
        const char *digit = strchr(digits, tolower((unsigned char)text[i]));
        if (!digit)
            return false;
        out[i / 2] = (uint8_t)(out[i / 2] << 4 | (digit - digits));
    }
    return true;
}

/* The words that are left, one space apart. */
static char *join_words(mcp_arena *arena, const char *at)
{
    char *out = mcp_arena_alloc(arena, strlen(at) + 1);
    size_t used = 0;

    for (at += strspn(at, BLANKS); out && *at; at += strspn(at, BLANKS)) {
        size_t length = strcspn(at, BLANKS);
        if (used > 0)
            out[used++] = ' ';
        memcpy(out + used, at, length);
        used += length;
        at += length;
    }
    if (out)
        out[used] = '\0';
    return out;
}

static mcp_status read_line(mcp__token *token, mcp_arena *arena, const char *line, mcp_error *err)
{
    size_t length = strcspn(line, BLANKS);

    if (!read_hash(token->hash, line, length))
        return mcp_error_set(err, MCP_E_PARAMS, "a line begins with 64 hexadecimal digits");
    line += length;
    line += strspn(line, BLANKS);
    length = strcspn(line, BLANKS);
    if (length == 0)
        return mcp_error_set(err, MCP_E_PARAMS, "expected: <hash> <principal>");
    token->principal.name = mcp_arena_strndup(arena, line, length);
    token->principal.scopes = join_words(arena, line + length);
    if (!token->principal.name || !token->principal.scopes)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for the tokens");
    return MCP_OK;
}

mcp_status mcp__token_file_parse(mcp__token_file *out, mcp_arena *arena, const char *text,
                                 size_t length, const char *name, mcp_error *err)
{
    char *copy = mcp_arena_strndup(arena, text, length);
    mcp__token_file file = { mcp_arena_array(arena, MCP__TOKENS_MAX, sizeof(mcp__token)), 0 };
    size_t number = 1;

    if (!copy || !file.tokens)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for the tokens");
    if (memchr(text, '\0', length) || !mcp__utf8_valid(text, length, NULL))
        return mcp_error_set(err, MCP_E_PARAMS, "%s is no text", name);
    for (char *line = copy; line; number++) {
        char *end = strchr(line, '\n');
        mcp_error why = MCP_ERROR_INIT;
        if (end)
            *end = '\0';
        const char *entry = line + strspn(line, BLANKS);
        bool is_entry = *entry != '\0' && *entry != '#';
        if (is_entry && file.count == MCP__TOKENS_MAX)
            return mcp_error_set(err, MCP_E_PARAMS, "%s has more than %zu tokens", name,
                                 MCP__TOKENS_MAX);
        if (is_entry && read_line(&file.tokens[file.count++], arena, entry, &why) != MCP_OK)
            return mcp_error_set(err, why.status, "%s, line %zu: %s", name, number, why.message);
        line = end ? end + 1 : NULL;
    }
    *out = file;
    return MCP_OK;
}

mcp_status mcp__token_file_read(mcp__token_file *out, mcp_arena *arena, const char *path,
                                mcp_error *err)
{
    FILE *in = fopen(path, "re");
    mcp_status st = MCP_OK;
    size_t got = 0;
    mcp_buf text;

    if (!in)
        return mcp_error_errno(err, errno, "%s cannot be opened", path);
    mcp_buf_init(&text, FILE_MAX + CHUNK);
    do {
        char *room = mcp_buf_reserve(&text, CHUNK);
        got = room ? fread(room, 1, CHUNK, in) : 0;
        mcp_buf_commit(&text, got);
    } while (got > 0);
    if (ferror(in))
        st = mcp_error_errno(err, errno, "%s cannot be read", path);
    else if (text.status != MCP_OK)
        st = mcp_error_set(err, MCP_E_PARAMS, "%s is larger than %zu bytes", path, FILE_MAX);
    else
        st = mcp__token_file_parse(out, arena, text.data ? text.data : "", text.length, path, err);
    mcp_buf_clear(&text);
    (void)fclose(in);
    return st;
}

mcp_status mcp__token_file_add(mcp__token_file *file, mcp_arena *arena, const char *token,
                               const mcp_principal *principal, mcp_error *err)
{
    if (!file->tokens)
        file->tokens = mcp_arena_array(arena, MCP__TOKENS_MAX, sizeof(mcp__token));
    if (!file->tokens)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for the tokens");
    if (file->count == MCP__TOKENS_MAX)
        return mcp_error_set(err, MCP_E_PARAMS, "there are more than %zu tokens", MCP__TOKENS_MAX);
    mcp_status st = mcp_sha256(file->tokens[file->count].hash, token, strlen(token), err);
    if (st == MCP_OK)
        file->tokens[file->count++].principal = *principal;
    return st;
}

const mcp_principal *mcp__token_file_find(const mcp__token_file *file,
                                          const uint8_t hash[MCP_SHA256_SIZE])
{
    const mcp_principal *found = NULL;

    for (size_t i = 0; i < file->count; i++)
        if (mcp_hash_equal(file->tokens[i].hash, hash, MCP_SHA256_SIZE))
            found = &file->tokens[i].principal;
    return found;
}

/* ---- our own name ---------------------------------------------------------------------------- */

/* The resource is "scheme://authority/path"; its metadata stand at "scheme://authority" WELL_KNOWN
 * "/path". */
static mcp_status name_ourselves(mcp__authorize *self, const mcp_http_options *http, mcp_error *err)
{
    const char *scheme = http->tls_certificate ? "https" : "http";
    bool is_bracketed = strchr(http->host, ':') != NULL; /* IPv6 */

    self->resource = http->auth->resource;
    if (!self->resource)
        self->resource = mcp_arena_printf(self->arena, "%s://%s%s%s:%d%s", scheme,
                                          is_bracketed ? "[" : "", http->host,
                                          is_bracketed ? "]" : "", http->port, http->path);
    const char *authority = self->resource ? strstr(self->resource, "://") : NULL;
    if (!authority)
        return mcp_error_set(err, MCP_E_PARAMS, "the resource of the tokens must be a URI");
    authority += 3;
    self->path = authority + strcspn(authority, "/");
    if (!http->auth->servers)
        return MCP_OK;
    self->metadata = mcp_arena_printf(self->arena, "%.*s%s%s", (int)(self->path - self->resource),
                                      self->resource, WELL_KNOWN, self->path);
    return self->metadata ? MCP_OK : mcp_error_set(err, MCP_E_NOMEM, "no memory for tokens");
}

/* All tokens that are known from the beginning. */
static mcp_status read_tokens(mcp__token_file *out, const mcp_http_auth *auth, mcp_arena *arena,
                              mcp_error *err)
{
    const char *defaults = auth->default_scopes ? auth->default_scopes : "";
    const char *scope = auth->scope ? auth->scope : "";
    const mcp_principal bearer = {
        .name = "token",
        .scopes = mcp_arena_printf(arena, "%s%s%s", scope, *scope && *defaults ? " " : "", defaults)
    };
    mcp_status st = bearer.scopes ? MCP_OK
                                  : mcp_error_set(err, MCP_E_NOMEM, "no memory for tokens");

    if (st == MCP_OK && auth->tokens_file)
        st = mcp__token_file_read(out, arena, auth->tokens_file, err);
    for (size_t i = 0; st == MCP_OK && i < out->count; i++) {
        mcp_principal *principal = &out->tokens[i].principal;
        if (!*principal->scopes)
            principal->scopes = defaults;
    }
    for (size_t i = 0; st == MCP_OK && auth->tokens && auth->tokens[i]; i++)
        st = mcp__token_file_add(out, arena, auth->tokens[i], &bearer, err);
    return st;
}

static void forget_verdicts(mcp__authorize *self)
{
    for (size_t i = 0; i < VERDICTS; i++) {
        mcp_arena_free(self->verdicts[i].arena);
        self->verdicts[i] = (struct verdict){ .arena = NULL };
    }
}

mcp_status mcp__authorize_reload(mcp__authorize *authorize, mcp_error *err)
{
    mcp_arena *arena = mcp_arena_new(0);
    mcp__token_file file = { NULL, 0 };

    if (!arena)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for tokens");
    mcp_status st = read_tokens(&file, authorize->options, arena, err);
    if (st != MCP_OK) {
        mcp_arena_free(arena);
        return st;
    }
    mcp_arena_free(authorize->file_arena);
    authorize->file_arena = arena;
    authorize->file = file;
    forget_verdicts(authorize);
    return MCP_OK;
}

mcp_status mcp__authorize_new(mcp__authorize **out, const mcp_http_options *http,
                              const char *scopes, mcp_error *err)
{
    mcp__authorize *self = mcp_alloc_zeroed(1, sizeof *self);
    mcp_status st = MCP_OK;

    if (self)
        self->arena = mcp_arena_new(0);
    if (!self || !self->arena) {
        free(self);
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for tokens");
    }
    self->options = http->auth;
    self->scopes = scopes;
    if (!http->auth->tokens_file && !http->auth->tokens && !http->auth->verify)
        st = mcp_error_set(err, MCP_E_PARAMS, "authorization needs tokens or a verifier");
    if (st == MCP_OK)
        st = name_ourselves(self, http, err);
    if (st == MCP_OK)
        st = mcp__authorize_reload(self, err);
    if (st != MCP_OK) {
        mcp__authorize_free(self);
        return st;
    }
    *out = self;
    return MCP_OK;
}

void mcp__authorize_free(mcp__authorize *authorize)
{
    if (!authorize)
        return;
    forget_verdicts(authorize);
    mcp_arena_free(authorize->file_arena);
    mcp_arena_free(authorize->arena);
    free(authorize);
}

/* ---- answers --------------------------------------------------------------------------------- */

/* Words that go between quotes in a field: what cannot stand there is replaced. */
static void put_quoted(mcp_buf *out, const char *name, const char *words)
{
    (void)mcp_buf_printf(out, "%s %s=\"", out->length > 6 ? "," : "", name);
    for (; *words; words++) {
        bool is_plain = *words >= 0x20 && *words < 0x7f && *words != '"' && *words != '\\';
        (void)mcp_buf_putc(out, is_plain ? *words : '\'');
    }
    (void)mcp_buf_putc(out, '"');
}

/* Those of every request, and others, into an empty buffer. */
static void gather_scopes(mcp_buf *all, const mcp__authorize *self, const char *others)
{
    const char *every = self->options->scope;

    mcp__scopes_add(all, every ? every : "");
    mcp__scopes_add(all, others ? others : "");
}

static void put_challenge(mcp_buf *field, const mcp__authorize *self, const char *error,
                          const char *words, const char *scopes)
{
    mcp_buf all;

    (void)mcp_buf_puts(field, "Bearer");
    if (error) {
        put_quoted(field, "error", error);
        put_quoted(field, "error_description", words);
    }
    mcp_buf_init(&all, CHALLENGE_MAX);
    gather_scopes(&all, self, scopes);
    if (all.length > 0)
        put_quoted(field, "scope", all.data);
    mcp_buf_clear(&all);
    if (self->metadata)
        put_quoted(field, "resource_metadata", self->metadata);
}

void mcp__authorize_challenge(const mcp__httpd *httpd, mcp_buf *field, const char *scopes)
{
    if (httpd->authorize)
        put_challenge(field, httpd->authorize, "insufficient_scope", mcp_status_words(MCP_E_SCOPE),
                      scopes);
}

/* The reason as a body, in the form of OAuth's errors; on paths of routes in theirs, with fields
 * whose arena is `fields`. Returns its type. */
static const char *write_reason(mcp_buf *body, mcp__head *head, mcp_arena **fields,
                                mcp__httpd *httpd, mcp__http_exchange *exchange, int status,
                                const char *error, const char *words)
{
    const char *type = "application/json";
    mcp_json_writer writer;

    if (mcp__httpd_is_route(httpd, exchange))
        return mcp__httpd_refusal(body, &type, head, fields, httpd, exchange, status, words) ? type
                                                                                             : NULL;
    mcp_json_writer_init(&writer, body);
    mcp_write_object(&writer);
    mcp_write_member_string(&writer, "error", error);
    mcp_write_member_string(&writer, "error_description", words);
    mcp_write_end(&writer);
    return mcp_json_writer_status(&writer) == MCP_OK ? type : NULL;
}

/* `error` NULL: nothing is wrong with a credential, there is none (RFC 6750, 3.1). */
static void challenge(mcp__httpd *httpd, mcp__http_exchange *exchange, int status,
                      const char *error, const char *words)
{
    mcp__head head = { .count = 0 };
    mcp_arena *fields = NULL;
    mcp_buf field, body;

    mcp_buf_init(&field, CHALLENGE_MAX);
    mcp_buf_init(&body, CHALLENGE_MAX);
    put_challenge(&field, httpd->authorize, error, words, NULL);
    mcp__head_add(&head, "WWW-Authenticate", field.data);
    const char *type = write_reason(&body, &head, &fields, httpd, exchange, status,
                                    error ? error : "invalid_token", words);
    mcp__head_add(&head, "Content-Type", type);
    mcp__head_share(&head, mcp__origin_check_origin(httpd, exchange), MCP__EXPOSED);
    mcp__head_reply(&head, exchange, status, &body);
    mcp_arena_free(fields);
    mcp_buf_clear(&field);
    httpd->counts.refused++;
}

/* ---- credentials ----------------------------------------------------------------------------- */

static bool is_token_text(const char *text)
{
    size_t length = strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                 "0123456789-._~+/");

    return length > 0 && length <= TOKEN_MAX && strspn(text + length, "=") == strlen(text + length);
}

/* Returns false when the exchange was answered. Other schemes than Bearer count as none: the
 * challenge names Bearer. */
static bool read_token(const char **token, mcp__httpd *httpd, mcp__http_exchange *exchange)
{
    const char *field = mcp__http_field(exchange, "Authorization");
    bool is_one = mcp__http_field_count(exchange, "Authorization") == 1;
    bool is_bearer = field && strncasecmp(field, "Bearer", 6) == 0 &&
                     (field[6] == ' ' || field[6] == '\0');

    if (!field || (is_one && !is_bearer)) {
        challenge(httpd, exchange, 401, NULL, "a bearer token is required");
        return false;
    }
    *token = is_bearer ? field + 6 + strspn(field + 6, " ") : "";
    if (is_one && is_token_text(*token))
        return true;
    challenge(httpd, exchange, 400, "invalid_request", "the Authorization field is malformed");
    return false;
}

static struct verdict *verdict_place(mcp__authorize *self, const uint8_t *hash)
{
    size_t place = hash[0] | (size_t)hash[1] << 8;

    return &self->verdicts[place % VERDICTS];
}

static const mcp_principal *find_principal(mcp__authorize *self, const uint8_t *hash)
{
    const mcp_principal *known = mcp__token_file_find(&self->file, hash);
    const struct verdict *verdict = verdict_place(self, hash);

    if (known)
        return known;
    if (!verdict->arena || verdict->until_ms <= mcp_clock_mono_ms() ||
        !mcp_hash_equal(verdict->hash, hash, MCP_SHA256_SIZE))
        return NULL;
    return verdict->principal;
}

/* Returns false when the exchange was answered. */
static bool may(mcp__httpd *httpd, mcp__http_exchange *exchange, const mcp_principal *principal)
{
    const char *scope = httpd->authorize->options->scope;

    if (!scope || mcp__scopes_cover(principal->scopes, scope))
        return true;
    challenge(httpd, exchange, 403, "insufficient_scope", "insufficient scope");
    return false;
}

/* Returns false when the exchange was answered. */
static bool judge(struct credential *out, mcp__httpd *httpd, mcp__http_exchange *exchange)
{
    mcp__authorize *self = httpd->authorize;

    if (!read_token(&out->token, httpd, exchange))
        return false;
    if (mcp_sha256(out->hash, out->token, strlen(out->token), NULL) != MCP_OK) {
        mcp__httpd_answer(httpd, exchange, 503, NULL);
        return false;
    }
    out->principal = find_principal(self, out->hash);
    if (out->principal)
        return may(httpd, exchange, out->principal);
    if (!self->options->verify)
        challenge(httpd, exchange, 401, "invalid_token", "the token is unknown");
    return self->options->verify != NULL;
}

bool mcp__authorize_head(mcp__httpd *httpd, mcp__http_exchange *exchange)
{
    struct credential credential;

    return judge(&credential, httpd, exchange);
}

/* ---- the verifier ---------------------------------------------------------------------------- */

/* On a worker. */
static bool verify(mcp__task *task)
{
    struct verification *asked = (struct verification *)task;
    const mcp_http_auth *options = asked->httpd->authorize->options;

    asked->status = options->verify(&asked->principal, asked->token, asked->arena,
                                    options->verify_data, &asked->err);
    return true;
}

/* Takes the arena, where true is returned. */
static bool keep_verdict(const struct verification *asked)
{
    struct verdict *place = verdict_place(asked->httpd->authorize, asked->hash);
    int64_t left_ms = asked->principal.expires_ms - mcp_clock_wall_ms();
    bool is_lost = false;
    const mcp_principal *principal = mcp__principal_copy(asked->arena, &asked->principal, &is_lost);

    if (is_lost)
        return false;
    mcp_arena_free(place->arena);
    memcpy(place->hash, asked->hash, sizeof place->hash);
    place->arena = asked->arena;
    place->principal = principal;
    if (principal->expires_ms == 0 || left_ms > VERDICT_MS)
        left_ms = VERDICT_MS;
    place->until_ms = mcp_clock_mono_ms() + left_ms;
    return true;
}

static void on_verdict(struct verification *asked)
{
    mcp__httpd *httpd = asked->httpd;
    mcp_principal principal = asked->principal;

    mcp__http_set_data(asked->exchange, NULL);
    if (asked->status == MCP_E_DENIED) {
        challenge(httpd, asked->exchange, 401, "invalid_token", asked->err.message);
    } else if (asked->status != MCP_OK) {
        mcp_log_write(&httpd->serve.options->log, MCP_LOG_ERROR,
                      "a token could not be verified: %s", asked->err.message);
        mcp__httpd_answer_with(httpd, asked->exchange, 503, "Retry-After", "5", NULL);
    } else if (may(httpd, asked->exchange, &principal)) {
        mcp__httpd_dispatch(httpd, asked->exchange, &principal);
    }
}

static void verified(mcp__task *task)
{
    struct verification *asked = (struct verification *)task;

    if (!asked->principal.name && asked->status == MCP_OK)
        asked->status = MCP_E_INTERNAL;
    if (asked->exchange)
        on_verdict(asked);
    if (asked->status != MCP_OK || !keep_verdict(asked))
        mcp_arena_free(asked->arena);
}

static void on_hung_up(mcp__exchange_owner *owner)
{
    struct verification *asked = (struct verification *)((char *)owner -
                                                         offsetof(struct verification, owner));

    asked->exchange = NULL;
}

/* Returns NULL without memory, or when the workers have too much to do. */
static struct verification *ask_verifier(mcp__httpd *httpd, mcp__http_exchange *exchange,
                                         const struct credential *credential)
{
    mcp__executor *executor = httpd->serve.executor;
    mcp_arena *arena = mcp_arena_new((size_t)1024 * 1024);
    struct verification *asked = arena ? mcp_arena_alloc(arena, sizeof *asked) : NULL;
    const char *token = asked ? mcp_arena_strdup(arena, credential->token) : NULL;

    if (token && mcp__http_keep(exchange, NULL) == MCP_OK) {
        *asked = (struct verification){ .task = { .work = verify, .done = verified },
                                        .owner.hung_up = on_hung_up,
                                        .httpd = httpd,
                                        .exchange = exchange,
                                        .arena = arena,
                                        .token = token };
        memcpy(asked->hash, credential->hash, sizeof asked->hash);
        if (executor->submit(executor, &asked->task, MCP__LANE_SHORT, NULL) == MCP_OK)
            return asked;
    }
    mcp_arena_free(arena);
    return NULL;
}

void mcp__authorize_request(mcp__httpd *httpd, mcp__http_exchange *exchange)
{
    struct credential credential;

    if (!judge(&credential, httpd, exchange))
        return;
    if (credential.principal) {
        mcp__httpd_dispatch(httpd, exchange, credential.principal);
        return;
    }
    struct verification *asked = ask_verifier(httpd, exchange, &credential);
    if (asked)
        mcp__http_set_data(exchange, &asked->owner);
    else
        mcp__httpd_answer_with(httpd, exchange, 503, "Retry-After", "5", NULL);
}

/* ---- the caller ------------------------------------------------------------------------------ */

const char *mcp__httpd_caller_name(const mcp__httpd *httpd)
{
    return httpd->caller ? httpd->caller->name : NULL;
}

int64_t mcp__httpd_caller_expires_ms(const mcp__httpd *httpd)
{
    return httpd->caller ? httpd->caller->expires_ms : 0;
}

bool mcp__httpd_copy_caller(const mcp__httpd *httpd, mcp_arena **arena, const mcp_principal **out)
{
    bool is_lost = false;

    *arena = httpd->caller ? mcp_arena_new(0) : NULL;
    if (*arena)
        *out = mcp__principal_copy(*arena, httpd->caller, &is_lost);
    return !is_lost && (*arena || !httpd->caller);
}

/* ---- metadata -------------------------------------------------------------------------------- */

static bool is_metadata(const mcp__authorize *self, const mcp__http_exchange *exchange)
{
    size_t prefix = strlen(WELL_KNOWN);
    size_t length = 0;
    const char *path = mcp__http_path(exchange, &length);

    if (length < prefix || memcmp(path, WELL_KNOWN, prefix) != 0)
        return false;
    length -= prefix;
    return length == 0 ||
           (length == strlen(self->path) && memcmp(path + prefix, self->path, length) == 0);
}

static void write_scopes(mcp_json_writer *writer, const mcp__authorize *self)
{
    mcp_buf all;

    mcp_buf_init(&all, METADATA_MAX);
    gather_scopes(&all, self, self->scopes);
    if (all.length > 0) {
        mcp_write_member_array(writer, "scopes_supported");
        for (const char *word = all.data; *word; word += strspn(word, " ")) {
            size_t length = strcspn(word, " ");
            mcp_write_string_n(writer, word, length);
            word += length;
        }
        mcp_write_end(writer);
    }
    mcp_buf_clear(&all);
}

bool mcp__authorize_metadata(mcp__httpd *httpd, mcp__http_exchange *exchange)
{
    const mcp__authorize *self = httpd->authorize;
    mcp_json_writer writer;
    mcp_buf body;

    if (!self->metadata || !is_metadata(self, exchange))
        return false;
    if (!mcp__httpd_is_method(exchange, "GET")) {
        mcp__httpd_answer_with(httpd, exchange, 405, "Allow", "GET", NULL);
        return true;
    }
    mcp_buf_init(&body, METADATA_MAX);
    mcp_json_writer_init(&writer, &body);
    mcp_write_object(&writer);
    mcp_write_member_string(&writer, "resource", self->resource);
    mcp_write_member_array(&writer, "authorization_servers");
    for (const char *const *server = self->options->servers; *server; server++)
        mcp_write_string(&writer, *server);
    mcp_write_end(&writer);
    write_scopes(&writer, self);
    mcp_write_member_array(&writer, "bearer_methods_supported");
    mcp_write_string(&writer, "header");
    mcp_write_end(&writer);
    mcp_write_end(&writer);
    mcp__httpd_answer(httpd, exchange, 200, &body);
    return true;
}
