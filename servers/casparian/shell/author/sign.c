/*
 * sign.c - casparian plugin keygen and sign.
 */
#include <stdio.h>
#include <string.h>

#include "keys/base64.h"
#include "keys/sign.h"
#include "shell/author/author.h"
#include "shell/commands.h"
#include "shell/print.h"
#include "shell/shell.h"

static const char index_name[] = "bundle.index.json";
static const char signature_name[] = "bundle.sig";

/* clang-format off */
const cli_option casparian_plugin_sign_options[] = {
    { .name = "key", .type = CLI_STRING, .argument = "FILE",
      .help = "the private key, of casparian plugin keygen" },
    { .name = "signer", .type = CLI_STRING, .argument = "ID",
      .help = "the name that allowed_signers has for the key" },
    { 0 },
};
/* clang-format on */

/* ---- keygen ---------------------------------------------------------------------------------- */

static mcp_status answer_key(const keys_pair *pair, casparian_app *app, const cli_line *line,
                             mcp_error *err)
{
    uint8_t key[KEYS_PUBLIC_SIZE];
    casparian_shell_answer out;
    const mcp_json *answer = NULL;
    mcp_buf text;
    mcp_buf_init(&text, KEYS_BASE64_LENGTH(sizeof key) + 1);
    keys_pair_public(pair, key);
    keys_base64(&text, key, sizeof key);
    casparian_shell_answer_begin(&out);
    mcp_write_member_string(&out.json, "private_key", cli_argument(line, 0));
    mcp_write_member_string(&out.json, "public_key", text.data);
    mcp_status st = casparian_shell_answer_end(&out, &answer, line, app->arena, err);
    if (st == MCP_OK && answer)
        casparian_shell_document(cli_out(line), answer);
    mcp_buf_clear(&text);
    return st;
}

static mcp_status keygen(casparian_app *app, const cli_line *line, mcp_error *err)
{
    keys_pair *pair = NULL;
    mcp_status st = keys_pair_create(&pair, cli_argument(line, 0), err);
    if (st == MCP_OK)
        st = answer_key(pair, app, line, err);
    keys_pair_free(pair);
    return st;
}

int casparian_command_plugin_keygen(const cli_line *line, void *data)
{
    (void)data;
    return casparian_shell_run(line, 0, keygen);
}

/* ---- sign ------------------------------------------------------------------------------------ */

static mcp_status write_index(mcp_buf *out, const casparian_bundle *bundle, const char *signer,
                              mcp_error *err)
{
    mcp_json_writer json;
    mcp_json_writer_init(&json, out);
    mcp_write_object(&json);
    mcp_write_member_array(&json, "files");
    for (size_t i = 0; i < bundle->file_count; i++) {
        const casparian_bundle_file *file = &bundle->files[i];
        if (strcmp(file->path, index_name) == 0 || strcmp(file->path, signature_name) == 0)
            continue;
        mcp_write_object(&json);
        mcp_write_member_string(&json, "path", file->path);
        mcp_write_member_string(&json, "sha256", file->hash);
        mcp_write_end(&json);
    }
    mcp_write_end(&json);
    mcp_write_member_string(&json, "signer", signer);
    mcp_write_end(&json);
    mcp_status st = mcp_json_writer_status(&json);
    return st == MCP_OK ? st : mcp_error_set(err, st, "%s: %s", index_name, mcp_status_words(st));
}

/* Append the base64 of the signature of the hash of the index. */
static mcp_status write_signature(mcp_buf *out, const mcp_buf *index, const char *key_path,
                                  mcp_error *err)
{
    uint8_t digest[MCP_SHA256_SIZE], signature[KEYS_SIGNATURE_SIZE];
    keys_pair *pair = NULL;
    mcp_status st = keys_pair_read(&pair, key_path, err);
    if (st == MCP_OK)
        st = mcp_sha256(digest, index->data, index->length, err);
    if (st == MCP_OK)
        st = keys_sign(signature, pair, digest, sizeof digest, err);
    keys_pair_free(pair);
    if (st == MCP_OK)
        st = keys_base64(out, signature, sizeof signature);
    mcp_buf_putc(out, '\n');
    return st == MCP_OK ? out->status : st;
}

static mcp_status sign_bundle(const casparian_bundle *bundle, casparian_app *app,
                              const cli_line *line, mcp_error *err)
{
    const char *dir = bundle->dir;
    const char *index_path = mcp_arena_printf(app->arena, "%s/%s", dir, index_name);
    const char *signature_path = mcp_arena_printf(app->arena, "%s/%s", dir, signature_name);
    mcp_buf index, signature;
    mcp_buf_init(&index, CASPARIAN_BUNDLE_TEXT_MAX);
    mcp_buf_init(&signature, KEYS_BASE64_LENGTH(KEYS_SIGNATURE_SIZE) + 2);
    mcp_status st = index_path && signature_path
                        ? write_index(&index, bundle, cli_string(line, "signer"), err)
                        : mcp_error_set(err, MCP_E_NOMEM, "no memory for a signature");
    if (st == MCP_OK)
        st = write_signature(&signature, &index, cli_string(line, "key"), err);
    if (st == MCP_OK)
        st = casparian_author_write(index_path, index.data, index.length, 0644, err);
    if (st == MCP_OK)
        st = casparian_author_write(signature_path, signature.data, signature.length, 0644, err);
    mcp_buf_clear(&index);
    mcp_buf_clear(&signature);
    return st;
}

static mcp_status sign(casparian_app *app, const cli_line *line, mcp_error *err)
{
    casparian_inspected found;
    casparian_shell_answer out;
    const mcp_json *answer = NULL;
    if (!cli_string(line, "key") || !cli_string(line, "signer"))
        return mcp_error_set(err, MCP_E_PARAMS, "--key FILE and --signer ID are required");
    mcp_status st = casparian_author_inspect(&found, app, cli_argument(line, 0), err);
    if (st == MCP_OK)
        st = sign_bundle(&found.bundle, app, line, err);
    if (st != MCP_OK)
        return st;
    casparian_shell_answer_begin(&out);
    mcp_write_member_string(&out.json, "plugin", found.plugin.id);
    mcp_write_member_string(&out.json, "version", found.plugin.version);
    mcp_write_member_string(&out.json, "signer", cli_string(line, "signer"));
    mcp_write_member_string(&out.json, "artifact_hash", found.plugin.artifact_hash);
    st = casparian_shell_answer_end(&out, &answer, line, app->arena, err);
    if (st == MCP_OK && answer)
        casparian_shell_document(cli_out(line), answer);
    return st;
}

int casparian_command_plugin_sign(const cli_line *line, void *data)
{
    (void)data;
    return casparian_shell_run(line, CASPARIAN_NEEDS_STORE | CASPARIAN_NEEDS_DRIVER, sign);
}
