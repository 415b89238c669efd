/*
 * scopes.c - who may do what: bearer tokens with scopes, tools that only some clients see, and a
 * signed webhook.
 *
 *     $ example-scopes READER-TOKEN WRITER-TOKEN
 *     http://127.0.0.1:PORT/mcp
 *
 * The first token may read the counter, the second may also add to it. Clients of the first do not
 * see `add`. Another machine posts to /hooks/... without a token: it signs the body with a key that
 * both know (HMAC with SHA-256), and signatures are compared in a time that does not depend on
 * where they differ. /hooks/stop ends the server.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "mcp/mcp.h"

#define KEY "a key that both machines know"

static atomic_long counter;

static const char read_json[] = "{\"name\":\"read\",\"description\":\"Tells the counter\","
                                "\"inputSchema\":{\"type\":\"object\"}}";
static const char add_json[] = "{\"name\":\"add\",\"description\":\"Adds to the counter\","
                               "\"inputSchema\":{\"type\":\"object\",\"properties\":{\"amount\":{"
                               "\"type\":\"integer\",\"default\":1}}}}";
static const mcp_file files[] = { { "tools/read.json", read_json, sizeof read_json - 1 },
                                  { "tools/add.json", add_json, sizeof add_json - 1 },
                                  { 0 } };

static mcp_status read_counter(mcp_call *call, void *data)
{
    (void)data;
    mcp_write_member_int(mcp_call_result(call), "counter", atomic_load(&counter));
    mcp_write_member_string(mcp_call_result(call), "for", mcp_call_principal(call));
    return MCP_OK;
}

/* Small amounts need one scope, large ones another: the file of a tool could not say that. */
static mcp_status add(mcp_call *call, void *data)
{
    int64_t amount = mcp_arg_int(call, "amount", 1);
    mcp_status st = mcp_call_require_scopes(call, amount > 100 ? "counter:admin" : "counter:write");

    if (st != MCP_OK)
        return st;
    (void)atomic_fetch_add(&counter, (long)amount);
    return read_counter(call, data);
}

static const mcp_tool tools[] = { { "read", read_counter, MCP_READS, 0, 0 },
                                  { "add", add, MCP_WRITES, 0, 0 },
                                  { 0 } };

/* An mcp_visibility. */
static bool is_visible(const mcp_call *call, mcp_feature feature, const char *name, void *data)
{
    (void)data;
    return feature != MCP_FEATURE_TOOL || strcmp(name, "add") != 0 ||
           mcp_call_has_scopes(call, "counter:write");
}

/* ---- who has which token -------------------------------------------------------------------- */

/* An mcp_token_verifier. `data`: the two tokens. */
static mcp_status verify(mcp_principal *out, const char *token, mcp_arena *arena, void *data,
                         mcp_error *err)
{
    char **tokens = data;

    (void)arena;
    for (int i = 0; i < 2; i++) {
        size_t length = strlen(tokens[i]);
        if (strlen(token) != length || !mcp_hash_equal(token, tokens[i], length))
            continue;
        out->name = i == 0 ? "reader" : "writer";
        out->scopes = i == 0 ? "counter:read" : "counter:read counter:write";
        return MCP_OK;
    }
    return mcp_error_set(err, MCP_E_DENIED, "unknown token");
}

/* ---- the webhook ---------------------------------------------------------------------------- */

/* The header X-Signature has the digest of path and body in hexadecimal. */
static mcp_status hook(mcp_call *call, void *data)
{
    uint8_t digest[MCP_SHA256_SIZE];
    char wanted[2 * MCP_SHA256_SIZE + 1];
    size_t length = 0;
    const char *body = mcp_call_body(call, &length);
    const char *name = mcp_arg_string(call, "name");
    const char *signature = mcp_call_header(call, "X-Signature");
    const char *text = mcp_arena_printf(mcp_call_arena(call), "%s\n%.*s", mcp_call_path(call),
                                        (int)length, body ? body : "");

    (void)data;
    mcp_status st = mcp_hmac_sha256(digest, KEY, strlen(KEY), text, text ? strlen(text) : 0,
                                    mcp_call_error(call));
    if (st != MCP_OK)
        return st;
    for (size_t i = 0; i < sizeof digest; i++)
        (void)snprintf(wanted + 2 * i, 3, "%02x", digest[i]);
    if (!signature || strlen(signature) != strlen(wanted) ||
        !mcp_hash_equal(signature, wanted, strlen(wanted)))
        return mcp_error_set(mcp_call_error(call), MCP_E_DENIED, "the signature is not right");
    if (name && strcmp(name, "stop") == 0)
        mcp_server_stop(mcp_call_server(call)); /* what runs is answered, this call too */
    (void)atomic_fetch_add(&counter, 1);
    mcp_call_status(call, 204);
    return MCP_OK;
}

static const mcp_route routes[] = { { "POST", "/hooks/{name}", hook, MCP_WRITES | MCP_PUBLIC, 0 },
                                    { 0 } };

/* ---- the server ----------------------------------------------------------------------------- */

static void say_where(int port, void *data)
{
    (void)data;
    printf("http://127.0.0.1:%d/mcp\n", port);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    mcp_features features = { .files = files, .tools = tools };
    mcp_server_options options = MCP_SERVER_OPTIONS_INIT;
    mcp_http_options http = MCP_HTTP_OPTIONS_INIT;
    mcp_http_auth auth = { .verify = verify, .verify_data = argv + 1, .scope = "counter:read" };
    mcp_server *server = NULL;
    mcp_error err = MCP_ERROR_INIT;

    if (argc != 3) {
        fprintf(stderr, "usage: %s READER-TOKEN WRITER-TOKEN\n", argv[0]);
        return 2;
    }
    options.name = "scopes";
    options.version = "1.0.0";
    options.allow_write = true;
    options.visible = is_visible;
    http.auth = &auth;
    http.routes = routes;
    http.ready = say_where;
    mcp_status st = mcp_server_new(&server, &options, &err);
    if (st == MCP_OK)
        st = mcp_server_add(server, &features, &err);
    if (st == MCP_OK)
        st = mcp_server_http(server, &http, &err);
    if (st != MCP_OK)
        fprintf(stderr, "scopes: %s\n", err.message);
    mcp_server_free(server);
    return st == MCP_OK ? 0 : 1;
}
