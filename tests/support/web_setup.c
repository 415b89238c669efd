/*
 * web_setup.c - the table of what a transcript can ask of a server over HTTP.
 */
#include "web_setup.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fixture_more.h"
#include "fixture_task.h"
#include "mcp/hash.h"

enum { TOKENS_MAX = 1 << 16 };

static mcp_revision revision_of(const char *name)
{
    mcp_revision revision = mcp_revision_find(name);

    if (revision == MCP_REVISION_NONE)
        fail_msg("no revision '%s'", name);
    return revision;
}

static void set_revision(web_setup *setup, const char *value)
{
    setup->options.oldest = setup->options.newest = revision_of(value);
}

static void set_oldest(web_setup *setup, const char *value)
{
    setup->options.oldest = revision_of(value);
}

static void set_newest(web_setup *setup, const char *value)
{
    setup->options.newest = revision_of(value);
}

static void set_more(web_setup *setup, const char *value)
{
    (void)value;
    setup->more = true;
}

static void set_tasks(web_setup *setup, const char *value)
{
    (void)value;
    setup->tasks = true;
}

static void set_changes(web_setup *setup, const char *value)
{
    (void)value;
    setup->options.list_changed = true;
    setup->options.subscriptions = true;
}

static void set_logging(web_setup *setup, const char *value)
{
    (void)value;
    setup->options.logging = true;
}

static void set_running(web_setup *setup, const char *value)
{
    setup->options.limits.calls_max_running = (int)strtol(value, NULL, 10);
}

static void set_threads(web_setup *setup, const char *value)
{
    setup->options.limits.short_threads = (int)strtol(value, NULL, 10);
}

static void set_message_max(web_setup *setup, const char *value)
{
    setup->options.limits.message_max_bytes = strtoul(value, NULL, 10);
}

static void set_sessions_off(web_setup *setup, const char *value)
{
    (void)value;
    setup->http.sessions = MCP_SESSIONS_OFF;
}

static void set_sessions_max(web_setup *setup, const char *value)
{
    setup->http.limits.sessions_max = (int)strtol(value, NULL, 10);
}

static void set_legacy_sse(web_setup *setup, const char *value)
{
    (void)value;
    setup->http.legacy_sse = true;
}

static void set_websocket(web_setup *setup, const char *value)
{
    (void)value;
    setup->http.websocket = true;
}

static void set_health(web_setup *setup, const char *value)
{
    (void)value;
    setup->http.health = true;
}

static void set_patience(web_setup *setup, const char *value)
{
    setup->http.limits.stream_after_ms = (int)strtol(value, NULL, 10);
}

static void set_keepalive(web_setup *setup, const char *value)
{
    setup->http.limits.keepalive_ms = (int)strtol(value, NULL, 10);
}

static void add_word(const char **words, const char *value)
{
    size_t count = 0;

    while (words[count])
        count++;
    assert_true(count < WEB_SETUP_WORDS_MAX);
    words[count] = value;
}

static void set_host(web_setup *setup, const char *value)
{
    add_word(setup->hosts, value);
    setup->http.hosts = setup->hosts;
}

static void set_origin(web_setup *setup, const char *value)
{
    add_word(setup->origins, value);
    setup->http.origins = setup->origins;
}

/* "TOKEN PRINCIPAL SCOPES...": a line of the file of tokens. */
static void set_token(web_setup *setup, const char *value)
{
    uint8_t digest[MCP_SHA256_SIZE];
    size_t length = strcspn(value, " ");

    assert_int_equal(mcp_sha256(digest, value, length, NULL), MCP_OK);
    for (size_t i = 0; i < sizeof digest; i++)
        mcp_buf_printf(&setup->tokens, "%02x", digest[i]);
    mcp_buf_printf(&setup->tokens, "%s\n", value + length);
    scratch_write(&setup->folder, "tokens", setup->tokens.data, setup->tokens.length);
    setup->auth.tokens_file = mcp_arena_strdup(setup->arena,
                                               scratch_path(&setup->folder, "tokens"));
    setup->http.auth = &setup->auth;
}

static void set_scope(web_setup *setup, const char *value)
{
    setup->auth.scope = value;
}

static void set_issuer(web_setup *setup, const char *value)
{
    setup->servers[0] = value;
    setup->auth.servers = setup->servers;
}

/* clang-format off */
static const struct {
    const char *name;
    void (*set)(web_setup *setup, const char *value);
} settings[] = {
    /* the server's */
    { "revision", set_revision },         /* R: speaks it alone */
    { "oldest", set_oldest },             /* R */
    { "newest", set_newest },             /* R */
    { "more", set_more },                 /* the features of tests/support/fixture_more.h */
    { "tasks", set_tasks },               /* instead of those, of tests/support/fixture_task.h */
    { "changes", set_changes },           /* lists change, and clients may hear of resources */
    { "logging", set_logging },           /* handlers may log to the client */
    { "running", set_running },           /* N calls of one client at once */
    { "threads", set_threads },           /* N that run handlers */
    { "message-max", set_message_max },   /* BYTES */
    /* of HTTP */
    { "sessions-off", set_sessions_off }, /* every request stands alone */
    { "sessions-max", set_sessions_max }, /* N */
    { "legacy-sse", set_legacy_sse },     /* HTTP+SSE of 2024-11-05 as well */
    { "websocket", set_websocket },       /* at /ws */
    { "health", set_health },             /* at /health */
    { "host", set_host },                 /* NAME that Host may be; several */
    { "origin", set_origin },             /* ORIGIN that browsers may call from; several */
    { "token", set_token },               /* TOKEN PRINCIPAL SCOPES...: authorization; several */
    { "scope", set_scope },               /* SCOPE that every request needs */
    { "issuer", set_issuer },             /* URL of the authorization server */
    { "patience-ms", set_patience },      /* N: an answer that takes longer becomes a stream */
    { "keepalive-ms", set_keepalive },    /* N between comments on a silent stream */
};
/* clang-format on */

void web_setup_init(web_setup *setup, mcp_arena *arena)
{
    memset(setup, 0, sizeof *setup);
    setup->arena = arena;
    mcp_buf_init(&setup->tokens, TOKENS_MAX);
    scratch_open(&setup->folder);
}

void web_setup_clear(web_setup *setup)
{
    mcp_buf_clear(&setup->tokens);
    scratch_close(&setup->folder);
}

bool web_setup_option(web_setup *setup, const char *text)
{
    size_t length = strcspn(text, " ");
    const char *value = text + length + strspn(text + length, " ");

    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
        if (strlen(settings[i].name) == length && strncmp(settings[i].name, text, length) == 0) {
            settings[i].set(setup, value);
            return true;
        }
    }
    return false;
}

web_rig *web_setup_start(const web_setup *setup)
{
    const mcp_features *further = setup->more ? &fixture_more : NULL;

    return web_start_with(&setup->options, &setup->http, setup->tasks ? &fixture_task : further);
}
