/*
 * verify.c - manifests against each other and against the files.
 *
 * Three passes: the chain and the signatures of the manifests; each output's bytes; and the names
 * in the folder that no manifest has. A name that begins with a point is never an output.
 */
#include "sinks/verify.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "guard/paths.h"
#include "keys/canonical.h"
#include "keys/digest.h"
#include "mcp/alloc.h"
#include "sinks/duckdb.h"

#define ARENA_MAX ((size_t)2 << 30) /* of all manifests of a folder */
#define READ_BYTES ((size_t)256 << 10)
#define WHY_SIZE 300

struct verification {
    casparian_verified *out;
    int dir_fd;
    const uint8_t *key;
    casparian_finding_report *report;
    void *data;
    mcp_arena *arena;
    const casparian_manifest *all;
    size_t count;
    const char **names; /* of files that manifests have, sorted once they are all there */
    size_t name_count, name_room;
    const char *signed_since; /* when the first signed one was made; NULL: none is signed */
    keys_digest *digest;
    char *room;
};

static const char *const finding_texts[] = {
#define X(name, text) [CASPARIAN_FINDING_##name] = text,
    CASPARIAN_FINDING_MAP(X)
#undef X
};

const char *casparian_finding_text(casparian_finding_kind kind)
{
    return finding_texts[kind];
}

static void find(struct verification *self, casparian_finding_kind kind, const char *file,
                 const char *format, ...) MCP_PRINTF(4, 5);

static void find(struct verification *self, casparian_finding_kind kind, const char *file,
                 const char *format, ...)
{
    char why[WHY_SIZE];
    va_list args;

    va_start(args, format);
    vsnprintf(why, sizeof why, format, args);
    va_end(args);
    self->out->failures += kind != CASPARIAN_FINDING_UNCHECKED;
    if (self->report)
        self->report(self->data, kind, file, why);
}

/* The name of a manifest in the folder. */
static void name_manifest(char out[300], const casparian_manifest *manifest)
{
    snprintf(out, 300, "%s/%.250s", CASPARIAN_MANIFEST_DIR, manifest->file);
}

/* ---- the manifests --------------------------------------------------------------------------- */

static const char *previous_of(const casparian_manifest *manifest)
{
    return mcp_json_get_string(manifest->json, "previous");
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* By `previous`, the first one's first, then by name. */
static int by_previous(const void *a, const void *b)
{
    const casparian_manifest *left = *(const casparian_manifest *const *)a;
    const casparian_manifest *right = *(const casparian_manifest *const *)b;
    const char *before_left = previous_of(left), *before_right = previous_of(right);
    int order = strcmp(before_left ? before_left : "", before_right ? before_right : "");

    return order != 0 ? order : strcmp(left->file, right->file);
}

/* Each manifest follows one that is here, and no two follow the same one. */
static void judge_links(struct verification *self, const casparian_manifest *const *links,
                        const char *const *hashes)
{
    char name[300];

    for (size_t i = 0; i < self->count; i++) {
        const char *previous = previous_of(links[i]);
        const char *before = i > 0 && links[i - 1]->json ? previous_of(links[i - 1]) : NULL;
        bool is_second = i > 0 && links[i - 1]->json &&
                         strcmp(previous ? previous : "", before ? before : "") == 0;
        name_manifest(name, links[i]);
        if (!links[i]->json)
            continue;
        if (previous && !bsearch(&previous, hashes, self->count, sizeof *hashes, by_text))
            find(self, CASPARIAN_FINDING_CHAIN, name,
                 "the manifest before it, %.16s..., is not here or was changed", previous);
        else if (is_second)
            find(self, CASPARIAN_FINDING_CHAIN, name, "it follows the same manifest as %.200s",
                 links[i - 1]->file);
    }
}

static mcp_status check_chain(struct verification *self, mcp_error *err)
{
    const casparian_manifest **links = mcp_arena_array(self->arena, self->count,
                                                       sizeof(const casparian_manifest *));
    const char **hashes = mcp_arena_array(self->arena, self->count, sizeof *hashes);

    if (!links || !hashes)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a chain of manifests");
    for (size_t i = 0; i < self->count; i++) {
        links[i] = &self->all[i];
        hashes[i] = self->all[i].sha256;
    }
    if (self->count > 0) {
        qsort(links, self->count, sizeof *links, by_previous);
        qsort(hashes, self->count, sizeof *hashes, by_text);
    }
    judge_links(self, links, hashes);
    return MCP_OK;
}

static const char *made_at(const casparian_manifest *manifest)
{
    const char *text = mcp_json_get_string(manifest->json, "created_at");

    return text ? text : "";
}

static void find_first_signed(struct verification *self)
{
    for (size_t i = 0; i < self->count; i++) {
        const casparian_manifest *one = &self->all[i];
        if (mcp_json_get(one->json, "signature") &&
            (!self->signed_since || strcmp(made_at(one), self->signed_since) < 0))
            self->signed_since = made_at(one);
    }
}

static void check_signature(struct verification *self, const casparian_manifest *manifest,
                            const char *name)
{
    static const uint8_t none[KEYS_PUBLIC_SIZE];
    uint8_t key[KEYS_PUBLIC_SIZE];
    mcp_error why = MCP_ERROR_INIT;

    if (!mcp_json_get(manifest->json, "signature") &&
        casparian_manifest_check(manifest, &why) != MCP_OK)
        find(self, CASPARIAN_FINDING_DAMAGED, name, "%s", why.message);
    else if (casparian_manifest_verify(key, manifest, &why) != MCP_OK)
        find(self, CASPARIAN_FINDING_SIGNATURE, name, "%s", why.message);
    else if (self->key && memcmp(key, none, sizeof key) == 0)
        find(self, CASPARIAN_FINDING_UNSIGNED, name, "it has no signature");
    else if (self->signed_since && memcmp(key, none, sizeof key) == 0 &&
             strcmp(made_at(manifest), self->signed_since) > 0)
        find(self, CASPARIAN_FINDING_UNSIGNED, name,
             "it has no signature, and manifests that were made before it have one");
    else if (self->key && memcmp(key, self->key, sizeof key) != 0)
        find(self, CASPARIAN_FINDING_SIGNATURE, name, "another key has signed it");
}

/* ---- the outputs ----------------------------------------------------------------------------- */

static mcp_status hash_file(struct verification *self, char out[CASPARIAN_HASH_SIZE], int fd,
                            mcp_error *err)
{
    uint8_t digest[MCP_SHA256_SIZE];
    ssize_t got = 1;

    while (got != 0) {
        got = read(fd, self->room, READ_BYTES);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return mcp_error_errno(err, errno, "an output cannot be read");
        keys_digest_add(self->digest, self->room, (size_t)got);
        self->out->bytes += (uint64_t)got;
    }
    mcp_status st = keys_digest_end(self->digest, digest, err);
    if (st == MCP_OK)
        keys_hex(out, digest);
    return st;
}

static mcp_status check_file(struct verification *self, const char *file, const char *sha256,
                             mcp_error *err)
{
    char hash[CASPARIAN_HASH_SIZE] = "";
    int fd = -1;
    mcp_error why = MCP_ERROR_INIT;
    mcp_status st = guard_open_file(&fd, self->dir_fd, file, &why);

    if (st != MCP_OK) {
        find(self, CASPARIAN_FINDING_MISSING, file, "%s", why.message);
        return MCP_OK;
    }
    st = hash_file(self, hash, fd, err);
    close(fd);
    if (st == MCP_OK && strcmp(hash, sha256) != 0)
        find(self, CASPARIAN_FINDING_CHANGED, file, "its SHA-256 is %.16s..., not %.16s...", hash,
             sha256);
    return st;
}

/* The rows of a table are counted: nothing else of it is known. */
static void check_table(struct verification *self, const mcp_json *output, const char *file,
                        const char *table, const char *job)
{
    const duckdb_file database = { self->dir_fd, file };
    int64_t rows = 0, counted = 0;
    mcp_error why = MCP_ERROR_INIT;

    if (!guard_exists(self->dir_fd, file)) {
        find(self, CASPARIAN_FINDING_MISSING, file, "the database is not here");
        return;
    }
    if (casparian_duckdb_count(&counted, &database, table, job, &why) != MCP_OK)
        find(self, CASPARIAN_FINDING_UNCHECKED, file, "table %.60s: %s", table, why.message);
    else if (counted < 0)
        find(self, CASPARIAN_FINDING_MISSING, file, "there is no table %.60s", table);
    else if (mcp_json_int(mcp_json_get(output, "rows"), &rows) && rows != counted)
        find(self, CASPARIAN_FINDING_CHANGED, file,
             "table %.60s has %lld rows of job %.20s, not %lld", table, (long long)counted, job,
             (long long)rows);
}

static mcp_status keep_name(struct verification *self, const char *name, mcp_error *err)
{
    if (self->name_count == self->name_room) {
        self->name_room = self->name_room ? 2 * self->name_room : 64;
        const char **more = mcp_arena_array(self->arena, self->name_room, sizeof *more);
        if (!more)
            return mcp_error_set(err, MCP_E_NOMEM, "no memory for the names of outputs");
        if (self->name_count > 0)
            memcpy(more, self->names, self->name_count * sizeof *more);
        self->names = more;
    }
    self->names[self->name_count++] = name;
    return MCP_OK;
}

static mcp_status check_output(struct verification *self, const mcp_json *output, const char *job,
                               const char *manifest, mcp_error *err)
{
    const char *file = mcp_json_get_string(output, "file");
    const char *table = mcp_json_get_string(output, "table");
    const char *sha256 = mcp_json_get_string(output, "sha256");

    if (!file || strchr(file, '/') || (!table && !sha256)) {
        find(self, CASPARIAN_FINDING_DAMAGED, manifest, "one of its outputs has no file or hash");
        return MCP_OK;
    }
    self->out->outputs++;
    mcp_status st = keep_name(self, file, err);
    if (st == MCP_OK && table)
        check_table(self, output, file, table, job);
    else if (st == MCP_OK)
        st = check_file(self, file, sha256, err);
    return st;
}

/* Lineage finds a manifest by its job. */
static void check_name(struct verification *self, const casparian_manifest *manifest,
                       const char *job)
{
    char name[300];
    size_t length = strlen(job);

    name_manifest(name, manifest);
    if (strncmp(manifest->file, job, length) != 0 ||
        strcmp(manifest->file + length, ".manifest.json") != 0)
        find(self, CASPARIAN_FINDING_DAMAGED, name, "it is of job %.20s, and is named otherwise",
             job);
}

static mcp_status check_manifest(struct verification *self, size_t at, mcp_error *err)
{
    const casparian_manifest *manifest = &self->all[at];
    char name[300];
    mcp_status st = MCP_OK;

    name_manifest(name, manifest);
    self->out->manifests++;
    const mcp_json *outputs = mcp_json_get(manifest->json, "outputs");
    const char *job = mcp_json_get_string(manifest->json, "job_id");
    if (!manifest->json || !job || !mcp_json_is_array(outputs)) {
        find(self, CASPARIAN_FINDING_DAMAGED, name, "%s",
             manifest->damage ? manifest->damage : "it has no job or no outputs");
        return MCP_OK;
    }
    check_signature(self, manifest, name);
    check_name(self, manifest, job);
    for (size_t i = 0; i < mcp_json_count(outputs) && st == MCP_OK; i++)
        st = check_output(self, mcp_json_item(outputs, i), job, name, err);
    return st;
}

/* ---- what no manifest names ------------------------------------------------------------------ */

/* The lock file of a database. */
static bool is_lock(const struct verification *self, const char *name)
{
    size_t length = strlen(name), ending = strlen(".lock");
    char base[NAME_MAX + 1];
    const char *at = base;

    if (self->name_count == 0 || length <= ending || strcmp(name + length - ending, ".lock") != 0)
        return false;
    snprintf(base, sizeof base, "%.*s", (int)(length - ending), name);
    return bsearch(&at, self->names, self->name_count, sizeof *self->names, by_text) != NULL;
}

static mcp_status check_names(struct verification *self, mcp_error *err)
{
    int fd = openat(self->dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    struct stat about;

    if (!dir) {
        mcp_error_errno(err, errno, "the folder cannot be read");
        if (fd >= 0)
            close(fd);
        return MCP_E_IO;
    }
    if (self->name_count > 0)
        qsort(self->names, self->name_count, sizeof *self->names, by_text);
    for (const struct dirent *entry = readdir(dir); entry; entry = readdir(dir)) {
        const char *name = entry->d_name;
        if (name[0] == '.' || fstatat(fd, name, &about, AT_SYMLINK_NOFOLLOW) != 0 ||
            S_ISDIR(about.st_mode) || is_lock(self, name))
            continue;
        if (self->name_count == 0 ||
            !bsearch(&name, self->names, self->name_count, sizeof *self->names, by_text))
            find(self, CASPARIAN_FINDING_UNLISTED, name, "no manifest names it");
    }
    closedir(dir);
    return MCP_OK;
}

mcp_status casparian_verify(casparian_verified *out, int dir_fd,
                            const uint8_t key[KEYS_PUBLIC_SIZE], casparian_finding_report *report,
                            void *data, mcp_error *err)
{
    struct verification self = {
        .out = out, .dir_fd = dir_fd, .key = key, .report = report, .data = data
    };
    mcp_status st = MCP_OK;

    *out = (casparian_verified){ .manifests = 0 };
    self.arena = mcp_arena_new(ARENA_MAX);
    self.room = mcp_alloc(READ_BYTES);
    if (!self.arena || !self.room)
        st = mcp_error_set(err, MCP_E_NOMEM, "no memory to verify a folder");
    if (st == MCP_OK)
        st = keys_digest_new(&self.digest, err);
    if (st == MCP_OK)
        st = casparian_manifests_read(&self.all, &self.count, dir_fd, self.arena, err);
    if (st == MCP_OK)
        st = check_chain(&self, err);
    find_first_signed(&self);
    for (size_t i = 0; i < self.count && st == MCP_OK; i++)
        st = check_manifest(&self, i, err);
    if (st == MCP_OK)
        st = check_names(&self, err);
    keys_digest_free(self.digest);
    free(self.room);
    mcp_arena_free(self.arena);
    return st;
}
