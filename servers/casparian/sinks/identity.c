/*
 * identity.c - names and keys.
 */
#include "sinks/identity.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "keys/canonical.h"

/* The first digits of a text's SHA-256. */
static mcp_status short_hash(char *out, size_t digits, const char *text, mcp_error *err)
{
    uint8_t digest[MCP_SHA256_SIZE];
    char hex[KEYS_HEX_SIZE];
    mcp_status st = mcp_sha256(digest, text, strlen(text), err);

    if (st != MCP_OK)
        return st;
    keys_hex(hex, digest);
    memcpy(out, hex, digits);
    out[digits] = '\0';
    return MCP_OK;
}

static mcp_status check_length(const char *name, mcp_error *err)
{
    if (strnlen(name, CASPARIAN_OUTPUT_ID_MAX + 1) <= CASPARIAN_OUTPUT_ID_MAX)
        return MCP_OK;
    return mcp_error_set(err, MCP_E_LIMIT, "the name of output '%.40s...' has more than %d bytes",
                         name, CASPARIAN_OUTPUT_ID_MAX);
}

/* What is left of a name: lower-case letters and digits, each run of others a '_' between them. */
static void simplify(char *out, const char *name)
{
    bool is_apart = false;
    size_t length = 0;

    for (; *name; name++) {
        char byte = *name >= 'A' && *name <= 'Z' ? (char)(*name - 'A' + 'a') : *name;
        if ((byte < 'a' || byte > 'z') && (byte < '0' || byte > '9')) {
            is_apart = length > 0;
            continue;
        }
        if (is_apart)
            out[length++] = '_';
        is_apart = false;
        out[length++] = byte;
    }
    out[length] = '\0';
}

mcp_status casparian_safe_output_id(char out[CASPARIAN_SAFE_ID_SIZE], const char *name,
                                    mcp_error *err)
{
    mcp_status st = check_length(name, err);

    if (st != MCP_OK)
        return st;
    if (*name && name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_")] == '\0') {
        snprintf(out, CASPARIAN_SAFE_ID_SIZE, "%s", name);
        return MCP_OK;
    }
    simplify(out, name);
    if (!*out)
        snprintf(out, CASPARIAN_SAFE_ID_SIZE, "output");
    size_t length = strlen(out);
    out[length] = '_';
    return short_hash(out + length + 1, 8, name, err);
}

mcp_status casparian_output_file_name(char out[CASPARIAN_FILE_NAME_SIZE], const char *output,
                                      const char *job, const char *extension, mcp_error *err)
{
    char id[CASPARIAN_SAFE_ID_SIZE], hash[17];
    mcp_status st = casparian_safe_output_id(id, output, err);

    if (st == MCP_OK)
        st = short_hash(hash, 16, job, err);
    if (st == MCP_OK)
        snprintf(out, CASPARIAN_FILE_NAME_SIZE, "%s_%s.%s", id, hash, extension);
    return st;
}

mcp_status casparian_output_table_name(char out[CASPARIAN_FILE_NAME_SIZE], const char *base,
                                       const char *protocol_hash, mcp_error *err)
{
    mcp_status st = check_length(base, err);

    if (st == MCP_OK && protocol_hash)
        snprintf(out, CASPARIAN_FILE_NAME_SIZE, "%s__schema_%.8s", base, protocol_hash);
    else if (st == MCP_OK)
        snprintf(out, CASPARIAN_FILE_NAME_SIZE, "%s", base);
    return st;
}

mcp_status casparian_stage_name(char out[CASPARIAN_FILE_NAME_SIZE], const char *output,
                                const char *job, mcp_error *err)
{
    char text[2 * CASPARIAN_FILE_NAME_SIZE], hash[17];
    mcp_status st = check_length(output, err);

    snprintf(text, sizeof text, "%s:%s", job, output);
    if (st == MCP_OK)
        st = short_hash(hash, 16, text, err);
    if (st == MCP_OK)
        snprintf(out, CASPARIAN_FILE_NAME_SIZE, "__cf_stage_%s", hash);
    return st;
}

mcp_status casparian_target_key(char out[CASPARIAN_HASH_SIZE], const casparian_target *target,
                                mcp_error *err)
{
    const char *parts[] = { target->output, target->uri, target->mode, target->table,
                            target->protocol_hash };

    return casparian_hash_parts(out, parts, sizeof parts / sizeof parts[0], err);
}

mcp_status casparian_materialization_key(char out[CASPARIAN_HASH_SIZE],
                                         const casparian_materialization *what, mcp_error *err)
{
    char numbers[3][24];
    const int64_t values[] = { what->file_id, what->mtime_s, what->size };

    for (size_t i = 0; i < 3; i++)
        snprintf(numbers[i], sizeof numbers[i], "%" PRId64, values[i]);
    const char *parts[] = { numbers[0], numbers[1], numbers[2], what->fingerprint,
                            what->target_key };
    return casparian_hash_parts(out, parts, sizeof parts / sizeof parts[0], err);
}

mcp_status casparian_artifact_hash(char out[CASPARIAN_HASH_SIZE], const char *source,
                                   const char *lockfile, const char *manifest_json,
                                   const char *schemas_json, mcp_error *err)
{
    const char *parts[] = { source, lockfile, manifest_json, schemas_json };

    return casparian_hash_parts(out, parts, sizeof parts / sizeof parts[0], err);
}
