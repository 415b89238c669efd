/*
 * ephemeral.c - proposed schemas as folders of three files.
 *
 * A proposal is made under a name that no id has and then renamed, so a reader finds all three
 * files or none. Their times are in the metadata; the sweep reads it there, too.
 */
#include "jobs/ephemeral.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "guard/paths.h"
#include "jobs/job.h"
#include "jobs/state/definition_json.h"
#include "jobs/state/rows.h"
#include "jobs/state/uuid.h"
#include "keys/file.h"
#include "mcp/clock.h"

#define ID_PREFIX "eph_"
#define FOLDER "ai/contracts"
#define TEMPORARY ".new-"

enum { TTL_DAYS = 7, SCHEMAS_MAX = 8 << 20, METADATA_MAX = 64 << 10 };

static const int64_t day_ms = INT64_C(86400000);
static const char *const sources[] = { "ai_iteration", "cli_preview", "tui_test" };

bool casparian_ephemeral_id_is_valid(const char *text)
{
    size_t prefix = strlen(ID_PREFIX);
    return text && strncmp(text, ID_PREFIX, prefix) == 0 && casparian_uuid_is_valid(text + prefix);
}

static const char *known_source(const char *source)
{
    for (size_t i = 0; source && i < sizeof sources / sizeof sources[0]; i++)
        if (strcmp(source, sources[i]) == 0)
            return sources[i];
    return NULL;
}

/* The folder of the proposals, made if need be. */
static mcp_status open_folder(int *fd, casparian_store *store, mcp_error *err)
{
    const char *home = casparian_store_home(store);
    int home_fd = open(home, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (home_fd < 0 && errno == ENOENT)
        return mcp_error_set(err, MCP_E_IO, "the home '%s' was removed: restart the program", home);
    if (home_fd < 0)
        return mcp_error_errno(err, errno, "the home '%s'", home);
    mcp_status st = guard_make_dir(fd, home_fd, FOLDER, err);
    close(home_fd);
    return st;
}

/* ---- writing --------------------------------------------------------------------------------- */

static void write_metadata(mcp_json_writer *out, const casparian_ephemeral *self,
                           const mcp_json *hints)
{
    casparian_write_text(out, "ephemeral_id", self->id);
    casparian_write_time(out, "created_at", self->created_ms);
    casparian_write_time(out, "expires_at", self->expires_ms);
    mcp_write_member_int(out, "expires_at_ms", self->expires_ms);
    mcp_write_member_int(out, "created_at_ms", self->created_ms);
    mcp_write_member_string(out, "source", self->source);
    if (self->last_job > 0)
        casparian_write_job(out, "run_id", self->last_job);
    else
        mcp_write_member_null(out, "run_id");
    mcp_write_member_string(out, "server_version", CAUSEWAY_VERSION);
    if (hints)
        mcp_write_member_value(out, "hints", hints);
}

/* Make a file of a proposal. Ends and frees the text. */
static mcp_status create(const casparian_store *store, const char *folder, const char *name,
                         casparian_text *text, mcp_error *err)
{
    char path[PATH_MAX];
    mcp_status st = casparian_text_end(text, err);
    int length = snprintf(path, sizeof path, "%s/" FOLDER "/%s/%s", casparian_store_home(store),
                          folder, name);
    if (st == MCP_OK && (length < 0 || (size_t)length >= sizeof path))
        st = mcp_error_set(err, MCP_E_PARAMS, "the path of the home is too long");
    if (st == MCP_OK)
        st = keys_file_create(path, text->buf.data, text->buf.length, err);
    casparian_text_free(text);
    return st;
}

static mcp_status create_schemas(const casparian_store *store, const char *folder,
                                 const casparian_schemas *schemas, mcp_error *err)
{
    casparian_text text;
    mcp_status st = MCP_OK;
    casparian_text_init(&text);
    for (size_t i = 0; st == MCP_OK && i < schemas->count; i++) {
        mcp_write_name(&text.out, schemas->items[i].output);
        st = casparian_write_definition(&text.out, &schemas->items[i], err);
    }
    if (st != MCP_OK) {
        casparian_text_free(&text);
        return st;
    }
    return create(store, folder, "schemas.json", &text, err);
}

static mcp_status create_files(casparian_store *store, const char *folder,
                               const casparian_ephemeral *self, const mcp_json *hints,
                               mcp_error *err)
{
    casparian_text text;
    mcp_status st = create_schemas(store, folder, &self->schemas, err);
    if (st != MCP_OK)
        return st;
    casparian_text_init(&text);
    for (size_t i = 0; i < self->schemas.count; i++)
        mcp_write_member_string(&text.out, self->schemas.items[i].output,
                                self->schemas.items[i].hash);
    st = create(store, folder, "schema_hashes.json", &text, err);
    if (st != MCP_OK)
        return st;
    casparian_text_init(&text);
    write_metadata(&text.out, self, hints);
    return create(store, folder, "metadata.json", &text, err);
}

static mcp_status sync_and_rename(int parent, const char *folder, const char *id, mcp_error *err)
{
    int fd = openat(parent, folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int failed = fd < 0 || fsync(fd) != 0 ? errno : 0;
    if (fd >= 0)
        close(fd);
    if (failed == 0 && (renameat(parent, folder, parent, id) != 0 || fsync(parent) != 0))
        failed = errno;
    return failed == 0 ? MCP_OK : mcp_error_errno(err, failed, "the proposal '%s'", id);
}

static mcp_status store_files(casparian_store *store, const casparian_ephemeral *self,
                              const mcp_json *hints, mcp_error *err)
{
    char folder[sizeof TEMPORARY + CASPARIAN_EPHEMERAL_ID_SIZE];
    int parent = -1;
    snprintf(folder, sizeof folder, TEMPORARY "%s", self->id);
    mcp_status st = open_folder(&parent, store, err);
    if (st != MCP_OK)
        return st;
    if (mkdirat(parent, folder, S_IRWXU) != 0)
        st = mcp_error_errno(err, errno, "the proposal '%s'", self->id);
    if (st == MCP_OK)
        st = create_files(store, folder, self, hints, err);
    if (st == MCP_OK)
        st = sync_and_rename(parent, folder, self->id, err);
    if (st != MCP_OK)
        guard_remove_tree(parent, folder, NULL);
    close(parent);
    return st;
}

mcp_status casparian_ephemeral_propose(casparian_ephemeral *out, casparian_store *store,
                                       mcp_arena *arena, const casparian_schemas *schemas,
                                       const char *source, const mcp_json *hints, mcp_error *err)
{
    const casparian_settings *settings = casparian_store_settings(store);
    int64_t days = settings->ephemeral_ttl_days > 0 ? settings->ephemeral_ttl_days : TTL_DAYS;
    casparian_ephemeral self = { .schemas = *schemas, .source = known_source(source) };
    char uuid[CASPARIAN_UUID_SIZE];
    (void)arena; /* the schemas are the caller's, and all else is in the struct */
    if (!self.source)
        return mcp_error_set(err, MCP_E_PARAMS, "a proposal has no source '%.40s'",
                             source ? source : "");
    if (schemas->count == 0)
        return mcp_error_set(err, MCP_E_PARAMS, "a proposal has at least one schema");
    mcp_status st = casparian_uuid(uuid, err);
    if (st != MCP_OK)
        return st;
    snprintf(self.id, sizeof self.id, ID_PREFIX "%s", uuid);
    self.created_ms = mcp_clock_wall_ms();
    self.expires_ms = self.created_ms + days * day_ms;
    st = store_files(store, &self, hints, err);
    if (st == MCP_OK)
        *out = self;
    return st;
}

/* ---- reading --------------------------------------------------------------------------------- */

static mcp_status read_json(const mcp_json **out, int folder, const char *name, size_t max,
                            mcp_arena *arena, mcp_error *err)
{
    const char *bytes = NULL;
    size_t length = 0;
    mcp_status st = guard_read_file(&bytes, &length, folder, name, max, arena, err);
    return st == MCP_OK ? mcp_json_read(out, arena, bytes, length, err) : st;
}

static mcp_status read_metadata(casparian_ephemeral *out, const mcp_json **json, int folder,
                                mcp_arena *arena, mcp_error *err)
{
    int64_t job = 0;
    mcp_status st = read_json(json, folder, "metadata.json", METADATA_MAX, arena, err);
    if (st != MCP_OK)
        return st;
    out->source = known_source(mcp_json_get_string(*json, "source"));
    if (!mcp_json_int(mcp_json_get(*json, "expires_at_ms"), &out->expires_ms) ||
        !mcp_json_int(mcp_json_get(*json, "created_at_ms"), &out->created_ms) || !out->source)
        return mcp_error_set(err, MCP_E_PARSE, "the metadata of '%s' was damaged", out->id);
    if (casparian_job_id_read(&job, mcp_json_get_string(*json, "run_id")))
        out->last_job = job;
    return MCP_OK;
}

static mcp_status not_found(const char *id, mcp_error *err)
{
    return mcp_error_set(err, MCP_E_NOT_FOUND,
                         "there is no ephemeral schema '%.60s', or it has expired: propose it "
                         "again",
                         id ? id : "");
}

/* Open the folder of a proposal. */
static mcp_status open_proposal(int *fd, casparian_store *store, const char *id, mcp_error *err)
{
    mcp_error cause = MCP_ERROR_INIT;
    int parent = -1;
    if (!casparian_ephemeral_id_is_valid(id))
        return mcp_error_set(err, MCP_E_PARAMS,
                             "'%.60s' is no id of an ephemeral schema: it is as "
                             "casparian_schema_propose has returned it, eph_ and a UUID",
                             id ? id : "");
    mcp_status st = open_folder(&parent, store, err);
    if (st != MCP_OK)
        return st;
    st = guard_open_subdir(fd, parent, id, &cause);
    close(parent);
    if (st == MCP_E_NOT_FOUND)
        return not_found(id, err);
    return st == MCP_OK ? MCP_OK : mcp_error_set(err, st, "%s", cause.message);
}

static mcp_status load(casparian_ephemeral *out, int folder, mcp_arena *arena, const char *id,
                       mcp_error *err)
{
    casparian_ephemeral self = { .last_job = 0 };
    const mcp_json *metadata = NULL;
    const mcp_json *schemas = NULL;
    mcp_error cause = MCP_ERROR_INIT;
    snprintf(self.id, sizeof self.id, "%s", id);
    mcp_status st = read_metadata(&self, &metadata, folder, arena, err);
    if (st == MCP_OK && self.expires_ms <= mcp_clock_wall_ms())
        return not_found(id, err);
    if (st == MCP_OK)
        st = read_json(&schemas, folder, "schemas.json", SCHEMAS_MAX, arena, err);
    if (st != MCP_OK)
        return st;
    st = casparian_schemas_read(&self.schemas, arena, schemas, NULL, NULL, &cause);
    if (st != MCP_OK)
        return mcp_error_set(err, st == MCP_E_NOMEM ? st : MCP_E_PARSE, "'%s' was damaged: %s", id,
                             cause.message);
    *out = self;
    return MCP_OK;
}

mcp_status casparian_ephemeral_load(casparian_ephemeral *out, casparian_store *store,
                                    mcp_arena *arena, const char *id, mcp_error *err)
{
    int folder = -1;
    mcp_status st = open_proposal(&folder, store, id, err);
    if (st != MCP_OK)
        return st;
    st = load(out, folder, arena, id, err);
    close(folder);
    return st;
}

static mcp_status note_use(int folder, mcp_arena *arena, const char *id, int64_t job,
                           mcp_error *err)
{
    casparian_ephemeral self = { .last_job = 0 };
    const mcp_json *metadata = NULL;
    casparian_text text;
    snprintf(self.id, sizeof self.id, "%s", id);
    mcp_status st = read_metadata(&self, &metadata, folder, arena, err);
    if (st != MCP_OK)
        return st;
    self.last_job = job;
    casparian_text_init(&text);
    write_metadata(&text.out, &self, mcp_json_get(metadata, "hints"));
    st = casparian_text_end(&text, err);
    if (st == MCP_OK)
        st = guard_write_file(folder, "metadata.json", text.buf.data, text.buf.length, err);
    casparian_text_free(&text);
    return st;
}

mcp_status casparian_ephemeral_use(casparian_store *store, const char *id, int64_t job,
                                   mcp_error *err)
{
    int folder = -1;
    mcp_status st = open_proposal(&folder, store, id, err);
    if (st != MCP_OK)
        return st;
    mcp_arena *arena = mcp_arena_new(4 * METADATA_MAX);
    st = arena ? note_use(folder, arena, id, job, err)
               : mcp_error_set(err, MCP_E_NOMEM, "no memory for '%s'", id);
    mcp_arena_free(arena);
    close(folder);
    return st;
}

/* ---- warnings -------------------------------------------------------------------------------- */

/* Of the outputs of the last job, those with invalid rows. The rate is not rounded up to 100. */
static size_t find_invalid(const char **out, const casparian_ephemeral *self,
                           const casparian_job *job, mcp_arena *arena)
{
    const mcp_json *outputs = mcp_json_get(job->result, "outputs");
    size_t count = 0;
    for (size_t i = 0; i < self->schemas.count; i++) {
        const char *name = self->schemas.items[i].output;
        double rate = 1;
        mcp_json_double(mcp_json_get(mcp_json_get(outputs, name), "pass_rate"), &rate);
        if (rate < 1)
            out[count++] = mcp_arena_printf(arena,
                                            "%.2f %% of the rows of '%s' were valid in job %lld, "
                                            "the last with these schemas",
                                            floor(rate * 10000) / 100, name, (long long)job->id);
    }
    return count;
}

/* @param out has room for one, and for one of each output */
static mcp_status find_warnings(const char **out, size_t *count, casparian_store *store,
                                mcp_arena *arena, const casparian_ephemeral *self, mcp_error *err)
{
    casparian_job job = { .id = 0 };
    out[0] = "no backtest has used these schemas";
    *count = 1;
    if (self->last_job == 0)
        return MCP_OK;
    mcp_status st = casparian_job_read(&job, store, arena, self->last_job, err);
    if (st != MCP_OK && st != MCP_E_NOT_FOUND)
        return st;
    if (st == MCP_OK && job.state == CASPARIAN_JOB_COMPLETED && job.result)
        *count = find_invalid(out, self, &job, arena);
    else
        out[0] = mcp_arena_printf(
            arena, "job %lld, the last with these schemas, %s", (long long)self->last_job,
            st == MCP_OK && job.state != CASPARIAN_JOB_COMPLETED ? "has not completed"
                                                                 : "is not kept any more");
    return MCP_OK;
}

mcp_status casparian_ephemeral_warn(mcp_json_writer *out, casparian_store *store, mcp_arena *arena,
                                    const casparian_ephemeral *self, mcp_error *err)
{
    size_t count = 0;
    const char **warnings = mcp_arena_array(arena, self->schemas.count + 1, sizeof *warnings);
    mcp_status st = warnings ? find_warnings(warnings, &count, store, arena, self, err)
                             : mcp_error_set(err, MCP_E_NOMEM, "no memory for warnings");
    if (st != MCP_OK || count == 0)
        return st;
    mcp_write_member_array(out, "warnings");
    for (size_t i = 0; i < count; i++)
        mcp_write_string(out, warnings[i]);
    mcp_write_end(out);
    return MCP_OK;
}

/* ---- the sweep ------------------------------------------------------------------------------- */

/* Whether a proposal is over: by its metadata or, where there is none, by the folder's age. */
static bool is_over(int parent, const char *name, int64_t now_ms, int64_t ttl_ms)
{
    struct stat what;
    int64_t expires_ms = 0;
    int folder = -1;
    if (casparian_ephemeral_id_is_valid(name) &&
        guard_open_subdir(&folder, parent, name, NULL) == MCP_OK) {
        const mcp_json *json = NULL;
        mcp_arena *arena = mcp_arena_new(4 * METADATA_MAX);
        bool is_known = arena &&
                        read_json(&json, folder, "metadata.json", METADATA_MAX, arena, NULL) ==
                            MCP_OK &&
                        mcp_json_int(mcp_json_get(json, "expires_at_ms"), &expires_ms);
        mcp_arena_free(arena);
        close(folder);
        if (is_known)
            return expires_ms <= now_ms;
    }
    return fstatat(parent, name, &what, AT_SYMLINK_NOFOLLOW) == 0 &&
           (int64_t)what.st_mtime * 1000 + ttl_ms <= now_ms;
}

static bool is_ours(const char *name)
{
    return casparian_ephemeral_id_is_valid(name) ||
           (strncmp(name, TEMPORARY, strlen(TEMPORARY)) == 0 &&
            casparian_ephemeral_id_is_valid(name + strlen(TEMPORARY)));
}

mcp_status casparian_ephemeral_sweep(casparian_store *store, int64_t *count, mcp_error *err)
{
    const casparian_settings *settings = casparian_store_settings(store);
    int64_t days = settings->ephemeral_ttl_days > 0 ? settings->ephemeral_ttl_days : TTL_DAYS;
    int64_t now_ms = mcp_clock_wall_ms();
    int64_t removed = 0;
    int parent = -1;
    mcp_status st = open_folder(&parent, store, err);
    if (st != MCP_OK)
        return st;
    DIR *all = fdopendir(parent);
    if (!all) {
        close(parent);
        return mcp_error_errno(err, errno, "the folder of the proposals");
    }
    for (const struct dirent *entry = readdir(all); entry; entry = readdir(all)) {
        if (!is_ours(entry->d_name) || !is_over(dirfd(all), entry->d_name, now_ms, days * day_ms))
            continue;
        mcp_status gone = guard_remove_tree(dirfd(all), entry->d_name, st == MCP_OK ? err : NULL);
        removed += gone == MCP_OK;
        st = st == MCP_OK ? gone : st; /* one that stays keeps no other */
    }
    closedir(all);
    if (count)
        *count = removed;
    return st;
}
