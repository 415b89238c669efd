/*
 * trust.c - whether a plugin may run.
 *
 * Files count by their hashes: each file of a shipped or signed bundle must be in its list with its
 * hash, and the list must have no file that is not there. A file besides could be imported.
 */
#include "plugins/trust.h"

#include <string.h>

#include "keys/base64.h"
#include "mcp/hash.h"

enum { SIGNATURE_TEXT_MAX = 256 };

static const char index_name[] = "bundle.index.json";
static const char signature_name[] = "bundle.sig";

static bool is_unlisted_by_design(const char *path)
{
    return strcmp(path, index_name) == 0 || strcmp(path, signature_name) == 0;
}

/* The first file that is not what a list says; NULL: all are. */
static const char *differing_file(const casparian_bundle *bundle, const mcp_json *list,
                                  bool is_signed)
{
    size_t listed = 0;
    for (size_t i = 0; i < bundle->file_count; i++) {
        const casparian_bundle_file *file = &bundle->files[i];
        if (is_signed && is_unlisted_by_design(file->path))
            continue;
        const char *hash = casparian_bundle_listed(list, file->path);
        if (!hash || strcmp(hash, file->hash) != 0)
            return file->path;
        listed++;
    }
    return listed == mcp_json_count(list) ? NULL : "a file that is missing";
}

static mcp_status set(casparian_plugin *plugin, bool is_trusted, const char *reason, mcp_error *err)
{
    plugin->is_trusted = is_trusted;
    plugin->reason = reason;
    return reason ? MCP_OK : mcp_error_set(err, MCP_E_NOMEM, "no memory for a plugin");
}

static mcp_status decide_shipped(casparian_plugin *plugin, mcp_arena *arena,
                                 const casparian_bundle *bundle, const mcp_json *pinned,
                                 mcp_error *err)
{
    const char *differs = pinned ? differing_file(bundle, pinned, false) : "index.json";
    if (!differs)
        return set(plugin, true, "It is shipped with casparian.", err);
    return set(plugin, false,
               mcp_arena_printf(arena, "It is not as casparian was shipped: %s differs.", differs),
               err);
}

/* The signer whose signature of the index is in the bundle. @param index its text
 * @return NULL: none of the allowed ones */
static const casparian_signer *signer_of(const casparian_trust *trust, const char *index,
                                         size_t length, const char *text)
{
    uint8_t signature[KEYS_SIGNATURE_SIZE], digest[MCP_SHA256_SIZE];
    size_t text_length = strcspn(text, "\r\n");

    if (!keys_unbase64_exact(signature, sizeof signature, text, text_length) ||
        mcp_sha256(digest, index, length, NULL) != MCP_OK)
        return NULL;
    for (size_t i = 0; i < trust->signer_count; i++) {
        if (keys_verify(trust->signers[i].key, signature, digest, sizeof digest, NULL) == MCP_OK)
            return &trust->signers[i];
    }
    return NULL;
}

/* Reads index and signature. @return the signer; NULL: unsigned, or by nobody who is allowed */
static const char *read_signer(mcp_arena *arena, const casparian_trust *trust,
                               const casparian_bundle *bundle, const mcp_json **list)
{
    const char *index = NULL, *text = NULL;
    size_t length = 0, text_length = 0;
    const mcp_json *json = NULL;
    const char *path = mcp_arena_printf(arena, "%s/%s", bundle->dir, index_name);
    const char *signature = mcp_arena_printf(arena, "%s/%s", bundle->dir, signature_name);

    if (!path || !signature ||
        casparian_bundle_text(&index, &length, arena, path, CASPARIAN_BUNDLE_TEXT_MAX, NULL) !=
            MCP_OK ||
        casparian_bundle_text(&text, &text_length, arena, signature, SIGNATURE_TEXT_MAX, NULL) !=
            MCP_OK ||
        mcp_json_read(&json, arena, index, length, NULL) != MCP_OK)
        return NULL;
    const casparian_signer *signer = signer_of(trust, index, length, text);
    const char *named = mcp_json_get_string(json, "signer");
    if (!signer || (named && strcmp(named, signer->name) != 0))
        return NULL;
    *list = mcp_json_get(json, "files");
    return mcp_arena_strdup(arena, signer->name);
}

static mcp_status decide_unsigned(casparian_plugin *plugin, const casparian_trust *trust,
                                  mcp_error *err)
{
    bool is_native = plugin->runtime == CASPARIAN_NATIVE;
    bool is_allowed = is_native ? trust->allow_unsigned_native : trust->allow_unsigned_python;
    plugin->is_unsigned = true;
    if (is_allowed)
        return set(plugin, true, "Unsigned plugins of its runtime are allowed.", err);
    return set(plugin, false, "No allowed signer has signed it.", err);
}

static mcp_status decide_installed(casparian_plugin *plugin, mcp_arena *arena,
                                   const casparian_trust *trust, const casparian_bundle *bundle,
                                   mcp_error *err)
{
    const mcp_json *list = NULL;
    plugin->signer = read_signer(arena, trust, bundle, &list);
    if (!plugin->signer)
        return decide_unsigned(plugin, trust, err);
    const char *differs = differing_file(bundle, list, true);
    if (differs)
        return set(plugin, false,
                   mcp_arena_printf(arena, "%s is not what %s signed.", differs, plugin->signer),
                   err);
    return set(plugin, true, mcp_arena_printf(arena, "%s signed it.", plugin->signer), err);
}

mcp_status casparian_trust_decide(casparian_plugin *plugin, mcp_arena *arena,
                                  const casparian_trust *trust, const casparian_bundle *bundle,
                                  const mcp_json *pinned, mcp_error *err)
{
    if (plugin->origin == CASPARIAN_SHIPPED)
        return decide_shipped(plugin, arena, bundle, pinned, err);
    if (plugin->origin == CASPARIAN_INSTALLED)
        return decide_installed(plugin, arena, trust, bundle, err);
    plugin->is_unsigned = true;
    if (trust->allow_dev_plugins)
        return set(plugin, true, "Plugins in development are allowed.", err);
    return set(plugin, false, "Plugins in development are not allowed.", err);
}

const char *casparian_trust_suggestion(const casparian_plugin *plugin)
{
    if (plugin->is_trusted)
        return NULL;
    if (plugin->origin == CASPARIAN_SHIPPED)
        return "Install casparian again.";
    if (plugin->origin == CASPARIAN_DEV)
        return "A human can start the server with --allow-dev-plugins, or set allow_dev_plugins = "
               "true in [trust] of config.toml.";
    if (plugin->signer || plugin->is_modified)
        return "A human can install the plugin again, with `casparian plugin import`.";
    if (plugin->runtime == CASPARIAN_NATIVE)
        return "A human can have it signed by one of allowed_signers, or set "
               "allow_unsigned_native = true in [trust] of config.toml.";
    return "A human can have it signed by one of allowed_signers, or set allow_unsigned_python = "
           "true in [trust] of config.toml.";
}
