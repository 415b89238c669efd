/*
 * manifest.c - manifests: written in canonical form and signed, read and verified.
 *
 * A manifest is made as JSON text first and read again, and the canonical form is that of what was
 * read: so no order of members and no form of a number depends on the code here.
 */
#include "sinks/manifest.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check/utf8.h"
#include "guard/paths.h"
#include "keys/base64.h"
#include "keys/canonical.h"

#define ARENA_MAX ((size_t)1 << 30) /* of the JSON of one manifest */
#define ENDING ".manifest.json"

static const char *const without_signature[] = { "signature", NULL };
static const char *const without_hash[] = { "content_sha256", "signature", NULL };

/* What makes a manifest one that cannot have changed by itself, and one of a known author. */
struct seals {
    const char *hash;      /* of the form without both; NULL: none yet */
    const char *signature; /* of the form with the hash; NULL: none yet */
};

/* ---- writing --------------------------------------------------------------------------------- */

static void put_optional(mcp_json_writer *json, const char *name, const char *text)
{
    if (text)
        mcp_write_member_string(json, name, text);
}

static void put_plugin(mcp_json_writer *json, const casparian_manifest_facts *facts,
                       const casparian_manifest_outcome *outcome)
{
    mcp_write_member_object(json, "plugin");
    mcp_write_member_string(json, "id", outcome->plugin);
    mcp_write_member_string(json, "version", outcome->version);
    mcp_write_member_string(json, "artifact_hash", facts->artifact_hash);
    put_optional(json, "signer", facts->signer);
    mcp_write_end(json);
    if (!facts->approval_id)
        return;
    mcp_write_member_object(json, "approval");
    mcp_write_member_string(json, "approval_id", facts->approval_id);
    put_optional(json, "decided_by", facts->decided_by);
    put_optional(json, "decided_at", facts->decided_at);
    put_optional(json, "snapshot_sha256", facts->snapshot_sha256);
    mcp_write_end(json);
}

/* A path is whatever bytes the file system has; JSON takes UTF-8 only. */
static void put_path(mcp_json_writer *json, mcp_buf *room, const char *path)
{
    size_t length = strlen(path);

    mcp_write_name(json, "path");
    mcp_buf_reset(room);
    if (casparian_utf8_is_valid(path, length)) {
        mcp_write_string_n(json, path, length);
        return;
    }
    casparian_utf8_repair(room, path, length);
    mcp_write_string_n(json, room->data, room->length);
}

static void put_inputs(mcp_json_writer *json, const casparian_manifest_facts *facts)
{
    mcp_buf room;

    mcp_buf_init(&room, CASPARIAN_MANIFEST_MAX);
    mcp_write_member_array(json, "inputs");
    for (size_t i = 0; i < facts->input_count; i++) {
        const casparian_manifest_input *input = &facts->inputs[i];
        mcp_write_object(json);
        put_path(json, &room, input->path);
        mcp_write_member_int(json, "size", input->size);
        mcp_write_member_int(json, "mtime", input->mtime_s);
        put_optional(json, "sha256", input->sha256);
        mcp_write_member_string(json, "status", input->status);
        mcp_write_member_int(json, "rows", input->rows);
        mcp_write_end(json);
    }
    mcp_write_end(json);
    mcp_buf_clear(&room);
}

static void put_outputs(mcp_json_writer *json, const casparian_manifest_outcome *outcome)
{
    mcp_write_member_object(json, "schemas");
    for (size_t i = 0; i < outcome->output_count; i++)
        put_optional(json, outcome->outputs[i].name, outcome->outputs[i].schema_hash);
    mcp_write_end(json);
    mcp_write_member_array(json, "outputs");
    for (size_t i = 0; i < outcome->output_count; i++) {
        const casparian_manifest_output *output = &outcome->outputs[i];
        mcp_write_object(json);
        mcp_write_member_string(json, "name", output->name);
        mcp_write_member_string(json, "file", output->file);
        put_optional(json, "table", output->table);
        mcp_write_member_int(json, "rows", output->rows);
        mcp_write_member_int(json, "bytes", output->bytes);
        put_optional(json, "sha256", output->sha256);
        mcp_write_end(json);
    }
    mcp_write_end(json);
}

static void put_key(mcp_json_writer *json, const keys_pair *pair)
{
    uint8_t key[KEYS_PUBLIC_SIZE];
    mcp_buf text;

    if (!pair)
        return;
    keys_pair_public(pair, key);
    mcp_buf_init(&text, KEYS_BASE64_LENGTH(sizeof key));
    keys_base64(&text, key, sizeof key);
    mcp_write_member_string(json, "public_key", text.data);
    mcp_buf_clear(&text);
}

/* In no special order. */
static mcp_status put_manifest(mcp_buf *out, const casparian_manifest_facts *facts,
                               const casparian_manifest_outcome *outcome, struct seals seals)
{
    mcp_json_writer json;

    mcp_json_writer_init(&json, out);
    mcp_write_object(&json);
    mcp_write_member_int(&json, "version", CASPARIAN_MANIFEST_VERSION);
    mcp_write_member_string(&json, "job_id", outcome->job);
    mcp_write_member_string(&json, "created_at", facts->created_at);
    mcp_write_member_string(&json, "program", facts->program);
    put_plugin(&json, facts, outcome);
    if (facts->quarantine)
        mcp_write_member_value(&json, "quarantine", facts->quarantine);
    put_inputs(&json, facts);
    put_outputs(&json, outcome);
    mcp_write_member_string(&json, "previous", outcome->previous);
    put_key(&json, facts->key);
    put_optional(&json, "content_sha256", seals.hash);
    put_optional(&json, "signature", seals.signature);
    mcp_write_end(&json);
    return mcp_json_writer_status(&json);
}

/* The canonical form of JSON text. */
static mcp_status canonical(mcp_buf *out, const mcp_buf *text, mcp_error *err)
{
    const mcp_json *json = NULL;
    mcp_arena *arena = mcp_arena_new(ARENA_MAX);
    mcp_status st = arena ? mcp_json_read(&json, arena, text->data, text->length, err)
                          : mcp_error_set(err, MCP_E_NOMEM, "no memory for a manifest");

    if (st == MCP_OK)
        st = keys_canonical(out, json, err);
    mcp_arena_free(arena);
    return st;
}

/* The signature of a canonical form, in base64. */
static mcp_status sign(mcp_buf *out, const keys_pair *key, const mcp_buf *text, mcp_error *err)
{
    uint8_t signature[KEYS_SIGNATURE_SIZE];
    mcp_status st = keys_sign(signature, key, text->data, text->length, err);

    return st == MCP_OK ? keys_base64(out, signature, sizeof signature) : st;
}

static mcp_status write_form(mcp_buf *out, const casparian_manifest_facts *facts,
                             const casparian_manifest_outcome *outcome, struct seals seals,
                             mcp_error *err)
{
    mcp_buf text;

    mcp_buf_init(&text, CASPARIAN_MANIFEST_MAX);
    mcp_status st = put_manifest(&text, facts, outcome, seals);
    if (st == MCP_OK)
        st = canonical(out, &text, err);
    else
        mcp_error_set(err, st, "the manifest of job %.20s cannot be written: %s", outcome->job,
                      mcp_status_words(st));
    mcp_buf_clear(&text);
    return st;
}

static mcp_status hash_bytes(char out[CASPARIAN_HASH_SIZE], const char *bytes, size_t length,
                             mcp_error *err)
{
    uint8_t digest[MCP_SHA256_SIZE];
    mcp_status st = mcp_sha256(digest, bytes, length, err);

    if (st == MCP_OK)
        keys_hex(out, digest);
    return st;
}

/* The hash of the form that has neither it nor a signature. */
static mcp_status hash_form(char out[CASPARIAN_HASH_SIZE], const casparian_manifest_facts *facts,
                            const casparian_manifest_outcome *outcome, mcp_error *err)
{
    mcp_buf form;

    mcp_buf_init(&form, CASPARIAN_MANIFEST_MAX);
    mcp_status st = write_form(&form, facts, outcome, (struct seals){ NULL, NULL }, err);
    if (st == MCP_OK)
        st = hash_bytes(out, form.data, form.length, err);
    mcp_buf_clear(&form);
    return st;
}

mcp_status casparian_manifest_write(mcp_buf *out, const casparian_manifest_facts *facts,
                                    const casparian_manifest_outcome *outcome, mcp_error *err)
{
    char hash[CASPARIAN_HASH_SIZE];
    mcp_buf unsigned_form, signature;
    mcp_status st = hash_form(hash, facts, outcome, err);

    if (st != MCP_OK || !facts->key)
        return st == MCP_OK ? write_form(out, facts, outcome, (struct seals){ hash, NULL }, err)
                            : st;
    mcp_buf_init(&unsigned_form, CASPARIAN_MANIFEST_MAX);
    mcp_buf_init(&signature, KEYS_BASE64_LENGTH(KEYS_SIGNATURE_SIZE));
    st = write_form(&unsigned_form, facts, outcome, (struct seals){ hash, NULL }, err);
    if (st == MCP_OK)
        st = sign(&signature, facts->key, &unsigned_form, err);
    if (st == MCP_OK)
        st = write_form(out, facts, outcome, (struct seals){ hash, signature.data }, err);
    mcp_buf_clear(&unsigned_form);
    mcp_buf_clear(&signature);
    return st;
}

/* ---- reading --------------------------------------------------------------------------------- */

static bool is_manifest_name(const char *name)
{
    size_t length = strlen(name), ending = strlen(ENDING);

    return name[0] != '.' && length > ending && strcmp(name + length - ending, ENDING) == 0;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const casparian_manifest *)a)->file, ((const casparian_manifest *)b)->file);
}

static mcp_status list_names(casparian_manifest **out, size_t *count, DIR *dir, mcp_arena *arena,
                             mcp_error *err)
{
    casparian_manifest *all = NULL;
    size_t room = 0;

    *count = 0;
    for (const struct dirent *entry = readdir(dir); entry; entry = readdir(dir)) {
        if (!is_manifest_name(entry->d_name))
            continue;
        if (*count == CASPARIAN_MANIFESTS_MAX)
            return mcp_error_set(err, MCP_E_LIMIT, "a folder has more than %d manifests",
                                 CASPARIAN_MANIFESTS_MAX);
        if (*count == room) {
            room = room ? 2 * room : 16;
            casparian_manifest *more = mcp_arena_array(arena, room, sizeof *more);
            if (more && *count > 0)
                memcpy(more, all, *count * sizeof *all);
            all = more;
        }
        const char *name = mcp_arena_strdup(arena, entry->d_name);
        if (!all || !name)
            return mcp_error_set(err, MCP_E_NOMEM, "no memory for the manifests of a folder");
        all[(*count)++] = (casparian_manifest){ .file = name };
    }
    if (*count > 0)
        qsort(all, *count, sizeof *all, by_name);
    *out = all;
    return MCP_OK;
}

static mcp_status read_one(casparian_manifest *self, int manifests_fd, mcp_arena *arena,
                           mcp_error *err)
{
    const char *bytes = NULL;
    size_t length = 0;
    mcp_error why = MCP_ERROR_INIT;
    mcp_status st = guard_read_file(&bytes, &length, manifests_fd, self->file,
                                    CASPARIAN_MANIFEST_MAX, arena, &why);

    if (st == MCP_OK)
        st = hash_bytes(self->sha256, bytes, length, &why);
    if (st == MCP_OK)
        st = mcp_json_read(&self->json, arena, bytes, length, &why);
    if (st == MCP_OK && !mcp_json_is_object(self->json)) {
        self->json = NULL;
        st = mcp_error_set(&why, MCP_E_PARSE, "it is no object");
    }
    if (st == MCP_E_NOMEM) {
        mcp_error_set(err, st, "%s", why.message);
        return st;
    }
    if (st != MCP_OK) {
        self->json = NULL;
        self->damage = mcp_arena_strdup(arena, why.message);
    }
    return MCP_OK;
}

mcp_status casparian_manifests_read(const casparian_manifest **out, size_t *count, int dir_fd,
                                    mcp_arena *arena, mcp_error *err)
{
    casparian_manifest *all = NULL;
    int fd = -1;
    mcp_status st = guard_open_subdir(&fd, dir_fd, CASPARIAN_MANIFEST_DIR, err);

    *out = NULL;
    *count = 0;
    if (st == MCP_E_NOT_FOUND)
        return MCP_OK;
    if (st != MCP_OK)
        return st;
    DIR *dir = fdopendir(fd);
    if (!dir) {
        close(fd);
        return mcp_error_set(err, MCP_E_IO, "the folder of the manifests cannot be read");
    }
    st = list_names(&all, count, dir, arena, err);
    for (size_t i = 0; i < *count && st == MCP_OK; i++)
        st = read_one(&all[i], dirfd(dir), arena, err);
    closedir(dir);
    if (st == MCP_OK)
        *out = all;
    return st;
}

mcp_status casparian_manifest_read(casparian_manifest *out, int dir_fd, const char *job,
                                   mcp_arena *arena, mcp_error *err)
{
    casparian_manifest made = { .file = mcp_arena_printf(arena, "%s" ENDING, job) };
    int fd = -1;
    mcp_status st = made.file ? MCP_OK : mcp_error_set(err, MCP_E_NOMEM, "no memory for a name");

    if (st == MCP_OK && strchr(job, '/'))
        st = mcp_error_set(err, MCP_E_NOT_FOUND, "there is no job '%.60s'", job);
    if (st == MCP_OK)
        st = guard_open_subdir(&fd, dir_fd, CASPARIAN_MANIFEST_DIR, err);
    if (st == MCP_OK && !guard_exists(fd, made.file))
        st = mcp_error_set(err, MCP_E_NOT_FOUND, "the folder has no manifest of job '%.60s'", job);
    if (st == MCP_OK)
        st = read_one(&made, fd, arena, err);
    if (fd >= 0)
        close(fd);
    if (st == MCP_OK)
        *out = made;
    return st;
}

static const char *text_of(const casparian_manifest *self, const char *name)
{
    const char *text = mcp_json_get_string(self->json, name);

    return text ? text : "";
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

mcp_status casparian_manifests_head(const char **out, const casparian_manifest *all, size_t count,
                                    mcp_arena *arena, mcp_error *err)
{
    const casparian_manifest *head = NULL;
    const char **previous = mcp_arena_array(arena, count, sizeof *previous);

    if (!previous)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a chain of manifests");
    for (size_t i = 0; i < count; i++)
        previous[i] = text_of(&all[i], "previous");
    if (count > 0)
        qsort(previous, count, sizeof *previous, by_text);
    for (size_t i = 0; i < count; i++) {
        const char *hash = all[i].sha256;
        if (!all[i].json || bsearch(&hash, previous, count, sizeof *previous, by_text))
            continue;
        if (!head || strcmp(text_of(&all[i], "created_at"), text_of(head, "created_at")) > 0)
            head = &all[i];
    }
    *out = head ? head->sha256 : NULL;
    return MCP_OK;
}

/* Manifests of version 1 have no hash of their own. */
mcp_status casparian_manifest_check(const casparian_manifest *self, mcp_error *err)
{
    const char *expected = mcp_json_get_string(self->json, "content_sha256");
    char hash[CASPARIAN_HASH_SIZE] = "";
    int64_t version = 0;
    mcp_buf form;

    if (!expected && mcp_json_int(mcp_json_get(self->json, "version"), &version) && version == 1)
        return MCP_OK;
    mcp_buf_init(&form, CASPARIAN_MANIFEST_MAX);
    mcp_status st = keys_canonical_without(&form, self->json, without_hash, err);
    if (st == MCP_OK)
        st = hash_bytes(hash, form.data, form.length, err);
    mcp_buf_clear(&form);
    if (st != MCP_OK)
        return st;
    return expected && strcmp(hash, expected) == 0
               ? MCP_OK
               : mcp_error_set(err, MCP_E_PARSE,
                               "it was changed: its content_sha256 is another one");
}

mcp_status casparian_manifest_verify(uint8_t key[KEYS_PUBLIC_SIZE], const casparian_manifest *self,
                                     mcp_error *err)
{
    const char *public_key = mcp_json_get_string(self->json, "public_key");
    const char *text = mcp_json_get_string(self->json, "signature");
    uint8_t signature[KEYS_SIGNATURE_SIZE];
    mcp_buf form;

    memset(key, 0, KEYS_PUBLIC_SIZE);
    mcp_status st = casparian_manifest_check(self, err);
    if (st != MCP_OK || (!public_key && !text))
        return st;
    if (!public_key || !text ||
        !keys_unbase64_exact(key, KEYS_PUBLIC_SIZE, public_key, strlen(public_key)) ||
        !keys_unbase64_exact(signature, sizeof signature, text, strlen(text)))
        return mcp_error_set(err, MCP_E_PARSE, "its signature is no signature");
    mcp_buf_init(&form, CASPARIAN_MANIFEST_MAX);
    st = keys_canonical_without(&form, self->json, without_signature, err);
    if (st == MCP_OK)
        st = keys_verify(key, signature, form.data, form.length, err);
    mcp_buf_clear(&form);
    return st;
}
