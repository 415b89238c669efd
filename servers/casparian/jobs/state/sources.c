/*
 * sources.c - the tables scout_sources, scout_rules, scout_files and scout_file_tags.
 */
#include "jobs/state/sources.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "jobs/state/rows.h"
#include "mcp/alloc.h"

enum { UID_SIZE = 64, LIST_LIMIT = 100 };

static mcp_status check_word(const char *word, size_t max, const char *what, mcp_error *err)
{
    size_t length = word ? strlen(word) : 0;
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)word[i] < 0x20)
            return mcp_error_set(err, MCP_E_PARAMS, "the %s has a control character", what);
    return length > 0 && length <= max
               ? MCP_OK
               : mcp_error_set(err, MCP_E_PARAMS, "the %s must have 1 to %zu bytes", what, max);
}

/* Run one statement in a transaction. `missing` says what was not there; NULL: it need not be. */
static mcp_status run(casparian_store *store, const char *sql, const db_value *values, size_t count,
                      const char *missing, mcp_error *err)
{
    db_session *session = NULL;
    int64_t changed = 0;
    mcp_status st = db_begin(&session, casparian_store_database(store), DB_WRITE, err);
    if (st != MCP_OK)
        return st;
    st = db_run(session, &changed, sql, values, count, err);
    if (st == MCP_OK && changed == 0 && missing)
        st = mcp_error_set(err, MCP_E_NOT_FOUND, "there is no such %s", missing);
    return casparian_store_end(session, st, err);
}

/* Insert a row, and read its id by `find`, in one transaction. */
static mcp_status insert(int64_t *id, casparian_store *store, const char *sql, const char *find,
                         const db_value *values, size_t count, mcp_error *err)
{
    db_session *session = NULL;
    mcp_status st = db_begin(&session, casparian_store_database(store), DB_WRITE, err);
    if (st != MCP_OK)
        return st;
    st = db_run(session, NULL, sql, values, count, err);
    if (st == MCP_OK)
        st = casparian_query_int(id, 0, session, find, NULL, 0, err);
    return casparian_store_end(session, st, err);
}

/* ---- sources and rules ----------------------------------------------------------------------- */

mcp_status casparian_source_register(int64_t *id, casparian_store *store, const char *name,
                                     const char *path, mcp_error *err)
{
    const db_value values[] = { db_text(name), db_text(path) };
    mcp_status st = check_word(name, CASPARIAN_SOURCE_NAME_MAX, "name", err);
    if (st != MCP_OK)
        return st;
    st = insert(id, store,
                "INSERT INTO scout_sources (name, path, created_at) VALUES ($1, $2, "
                "CAST(strftime('%s', 'now') AS INTEGER) * 1000)",
                "SELECT max(id) FROM scout_sources", values, 2, err);
    return st == MCP_E_EXISTS
               ? mcp_error_set(err, st, "a source has the name '%.100s' or this path already", name)
               : st;
}

mcp_status casparian_source_remove(casparian_store *store, int64_t id, mcp_error *err)
{
    const db_value values[] = { db_int(id) };
    return run(store, "DELETE FROM scout_sources WHERE id = $1", values, 1, "source", err);
}

mcp_status casparian_rule_add(int64_t *id, casparian_store *store, int64_t source,
                              const char *pattern, const char *tag, int64_t priority,
                              mcp_error *err)
{
    const db_value values[] = { db_int(source), db_text(pattern), db_text(tag), db_int(priority) };
    mcp_status st = check_word(tag, CASPARIAN_TAG_MAX, "tag", err);
    if (st != MCP_OK)
        return st;
    st = insert(
        id, store,
        "INSERT INTO scout_rules (source_id, pattern, tag, priority) VALUES ($1, $2, $3, $4)",
        "SELECT max(id) FROM scout_rules", values, 4, err);
    return st == MCP_E_EXISTS ? mcp_error_set(err, st, "the source has this rule already") : st;
}

mcp_status casparian_rule_remove(casparian_store *store, int64_t id, mcp_error *err)
{
    const db_value values[] = { db_int(id) };
    return run(store, "DELETE FROM scout_rules WHERE id = $1", values, 1, "rule", err);
}

static mcp_status read_rules(casparian_source *source, db_session *session, mcp_arena *arena,
                             mcp_error *err)
{
    const db_value values[] = { db_int(source->id), db_int(CASPARIAN_RULES_MAX) };
    db_rows *rows = NULL;
    casparian_rule *rules = mcp_arena_array(arena, CASPARIAN_RULES_MAX, sizeof *rules);
    if (!rules)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for rules");
    mcp_status st = db_query(&rows, session,
                             "SELECT id, pattern, tag, priority, enabled FROM scout_rules WHERE "
                             "source_id = $1 ORDER BY priority DESC, id LIMIT $2",
                             values, 2, err);
    while (casparian_next(rows, &st, err))
        rules[source->rule_count++] = (casparian_rule){
            .id = db_int_at(rows, 0),
            .pattern = casparian_row_text(rows, 1, arena, &st),
            .tag = casparian_row_text(rows, 2, arena, &st),
            .priority = db_int_at(rows, 3),
            .is_enabled = db_int_at(rows, 4) != 0
        };
    db_rows_free(rows);
    source->rules = rules;
    return st;
}

static mcp_status read_sources(casparian_source *out, size_t *count, db_session *session,
                               mcp_arena *arena, mcp_error *err)
{
    const db_value values[] = { db_int(CASPARIAN_SOURCES_MAX) };
    db_rows *rows = NULL;
    mcp_status st = db_query(
        &rows, session,
        "SELECT s.id, s.name, s.path, s.enabled, s.created_at, s.last_scan_at, "
        "(SELECT count(*) FROM scout_files f WHERE f.source_id = s.id AND f.status <> 'deleted'), "
        "(SELECT coalesce(sum(f.size), 0) FROM scout_files f WHERE f.source_id = s.id AND "
        "f.status <> 'deleted'), "
        "(SELECT count(*) FROM scout_files f WHERE f.source_id = s.id AND f.status <> 'deleted' AND "
        "EXISTS (SELECT 1 FROM scout_file_tags t WHERE t.file_id = f.id)) "
        "FROM scout_sources s ORDER BY s.name LIMIT $1",
        values, 1, err);
    while (casparian_next(rows, &st, err))
        out[(*count)++] = (casparian_source){ .id = db_int_at(rows, 0),
                                              .name = casparian_row_text(rows, 1, arena, &st),
                                              .path = casparian_row_text(rows, 2, arena, &st),
                                              .is_enabled = db_int_at(rows, 3) != 0,
                                              .created_ms = db_int_at(rows, 4),
                                              .last_scan_ms = db_int_at(rows, 5),
                                              .file_count = db_int_at(rows, 6),
                                              .total_size = db_int_at(rows, 7),
                                              .tagged_count = db_int_at(rows, 8) };
    db_rows_free(rows);
    for (size_t i = 0; st == MCP_OK && i < *count; i++)
        st = read_rules(&out[i], session, arena, err);
    return st;
}

mcp_status casparian_source_list(const casparian_source **out, size_t *count,
                                 casparian_store *store, mcp_arena *arena, mcp_error *err)
{
    db_session *session = NULL;
    casparian_source *all = mcp_arena_array(arena, CASPARIAN_SOURCES_MAX, sizeof *all);
    *out = all;
    *count = 0;
    if (!all)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for sources");
    mcp_status st = db_begin(&session, casparian_store_database(store), DB_READ, err);
    if (st != MCP_OK)
        return st;
    return casparian_store_end(session, read_sources(all, count, session, arena, err), err);
}

mcp_status casparian_source_find(casparian_source *out, casparian_store *store, mcp_arena *arena,
                                 const char *name, mcp_error *err)
{
    const casparian_source *all = NULL;
    size_t count = 0;
    char *end = NULL;
    long long id = strtoll(name, &end, 10);
    mcp_status st = casparian_source_list(&all, &count, store, arena, err);
    for (size_t i = 0; st == MCP_OK && i < count; i++) {
        if (strcmp(all[i].name, name) == 0 || (end != name && !*end && all[i].id == id)) {
            *out = all[i];
            return MCP_OK;
        }
    }
    return st == MCP_OK ? mcp_error_set(err, MCP_E_NOT_FOUND, "there is no source '%.100s'", name)
                        : st;
}

/* ---- syncs ----------------------------------------------------------------------------------- */

/* Files of a batch, and what their texts may take: three paths each, at most. */
enum { BATCH_FILES = 512, BATCH_TEXT_MAX = 16 << 20 };

struct casparian_sync {
    casparian_store *store;
    db_session *session; /* while a batch is written */
    mcp_arena *texts;    /* of the batch */
    int64_t source, now_ms;
    bool is_whole;
    size_t count;
    casparian_found files[BATCH_FILES];
};

/* Begin to write. The source may have been removed since the last batch. */
static mcp_status begin_batch(casparian_sync *self, mcp_error *err)
{
    const db_value values[] = { db_int(self->source) };
    int64_t id = 0;
    mcp_status st = db_begin(&self->session, casparian_store_database(self->store), DB_WRITE, err);
    if (st == MCP_OK)
        st = casparian_query_int(&id, 0, self->session,
                                 "SELECT id FROM scout_sources WHERE id = $1", values, 1, err);
    return st == MCP_OK && id == 0
               ? mcp_error_set(err, MCP_E_NOT_FOUND, "the source was removed during the scan")
               : st;
}

static mcp_status end_batch(casparian_sync *self, mcp_status st, mcp_error *err)
{
    if (self->session)
        st = casparian_store_end(self->session, st, err);
    self->session = NULL;
    self->count = 0;
    mcp_arena_free(self->texts);
    self->texts = NULL;
    return st;
}

mcp_status casparian_sync_begin(casparian_sync **out, casparian_store *store, int64_t source,
                                bool is_whole, mcp_error *err)
{
    casparian_sync *self = mcp_alloc_zeroed(1, sizeof *self);
    *out = NULL;
    if (!self)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a sync");
    self->store = store;
    self->source = source;
    self->is_whole = is_whole;
    mcp_status st = begin_batch(self, err);
    if (st == MCP_OK)
        st = db_now(self->session, &self->now_ms, err);
    st = end_batch(self, st, err);
    if (st != MCP_OK) {
        free(self);
        return st;
    }
    *out = self;
    return MCP_OK;
}

/* A file that waits is tagged where it has a tag. */
static mcp_status set_status(db_session *session, int64_t file, mcp_error *err)
{
    const db_value values[] = { db_int(file) };
    return db_run(session, NULL,
                  "UPDATE scout_files SET status = CASE WHEN EXISTS (SELECT 1 FROM "
                  "scout_file_tags WHERE file_id = $1) THEN 'tagged' ELSE 'pending' END "
                  "WHERE id = $1 AND status IN ('pending', 'tagged')",
                  values, 1, err);
}

static mcp_status tag_by_hand(db_session *session, int64_t file, const char *tag, mcp_error *err)
{
    const db_value values[] = { db_int(file), db_text(tag) };
    return db_run(session, NULL,
                  "INSERT INTO scout_file_tags (file_id, tag, tag_source) VALUES ($1, $2, "
                  "'manual') ON CONFLICT (file_id, tag) DO UPDATE SET tag_source = 'manual', "
                  "rule_id = NULL",
                  values, 2, err);
}

/* The tag of the rule in the place of what an earlier rule gave. */
static mcp_status tag_by_rule(casparian_sync *self, int64_t file, const casparian_rule *rule,
                              mcp_error *err)
{
    const db_value values[] = { db_int(file), db_text(rule ? rule->tag : ""),
                                db_int(rule ? rule->id : 0) };
    mcp_status st = db_run(self->session, NULL,
                           "DELETE FROM scout_file_tags WHERE file_id = $1 AND tag_source = 'rule' "
                           "AND tag <> $2",
                           values, 2, err);
    if (st == MCP_OK && rule)
        st = db_run(self->session, NULL,
                    "INSERT INTO scout_file_tags (file_id, tag, tag_source, rule_id) VALUES "
                    "($1, $2, 'rule', $3) ON CONFLICT DO NOTHING",
                    values, 3, err);
    return st;
}

/* A file that has changed is to be processed again. */
static mcp_status upsert(casparian_sync *self, const casparian_found *file, mcp_error *err)
{
    char uid[UID_SIZE];
    const char *dot = strrchr(file->name, '.');
    const char *slash = strrchr(file->path, '/');
    size_t parent = slash && slash > file->path ? (size_t)(slash - file->path) : 1;
    char *folder = strndup(file->path, parent);
    snprintf(uid, sizeof uid, "unix:%llu:%llu", (unsigned long long)file->device,
             (unsigned long long)file->inode);
    const db_value values[] = { db_int(self->source),
                                db_text(uid),
                                db_text(file->path),
                                db_text(file->relative),
                                db_text(folder),
                                db_text(file->name),
                                db_text(dot && dot != file->name ? dot + 1 : NULL),
                                db_int(file->size),
                                db_int(file->mtime_s),
                                db_text(file->hash),
                                db_int(self->now_ms) };
    mcp_status st =
        folder
            ? db_run(self->session, NULL,
                     "INSERT INTO scout_files (source_id, file_uid, path, rel_path, parent_path, "
                     "name, extension, size, mtime, content_hash, first_seen_at, last_seen_at) "
                     "VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $11) "
                     "ON CONFLICT (path) DO UPDATE SET source_id = $1, file_uid = $2, "
                     "rel_path = $4, content_hash = coalesce($10, content_hash), "
                     "status = CASE WHEN size <> $8 OR mtime <> $9 OR status = 'deleted' "
                     "THEN 'pending' ELSE status END, size = $8, mtime = $9, "
                     "last_seen_at = max(last_seen_at, $11)",
                     values, sizeof values / sizeof values[0], err)
            : mcp_error_set(err, MCP_E_NOMEM, "no memory for a path");
    free(folder);
    return st;
}

static mcp_status write_file(casparian_sync *self, const casparian_found *file, mcp_error *err)
{
    const db_value path[] = { db_text(file->path) };
    int64_t id = 0;
    mcp_status st = upsert(self, file, err);
    if (st == MCP_OK)
        st = casparian_query_int(&id, 0, self->session,
                                 "SELECT id FROM scout_files WHERE path = $1", path, 1, err);
    if (st == MCP_OK)
        st = tag_by_rule(self, id, file->rule, err);
    if (st == MCP_OK && file->tag)
        st = tag_by_hand(self->session, id, file->tag, err);
    return st == MCP_OK ? set_status(self->session, id, err) : st;
}

static mcp_status write_files(casparian_sync *self, mcp_error *err)
{
    mcp_status st = MCP_OK;
    for (size_t i = 0; st == MCP_OK && i < self->count; i++)
        st = write_file(self, &self->files[i], err);
    return st;
}

/* A copy of the file is in the batch. @return false: no room for its texts */
static bool keep(casparian_sync *self, const casparian_found *file)
{
    if (!self->texts)
        self->texts = mcp_arena_new(BATCH_TEXT_MAX);
    casparian_found kept = *file;
    if (!self->texts)
        return false;
    kept.path = mcp_arena_strdup(self->texts, file->path);
    kept.relative = mcp_arena_strdup(self->texts, file->relative);
    kept.name = mcp_arena_strdup(self->texts, file->name);
    if (file->hash)
        kept.hash = mcp_arena_strdup(self->texts, file->hash);
    if (!kept.path || !kept.relative || !kept.name || (file->hash && !kept.hash))
        return false;
    self->files[self->count++] = kept;
    return true;
}

mcp_status casparian_sync_file(casparian_sync *self, const casparian_found *file, mcp_error *err)
{
    if (!keep(self, file))
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for files that were found");
    if (self->count < BATCH_FILES)
        return MCP_OK;
    mcp_status st = begin_batch(self, err);
    if (st == MCP_OK)
        st = write_files(self, err);
    return end_batch(self, st, err);
}

static mcp_status finish(casparian_sync *self, mcp_error *err)
{
    const db_value values[] = { db_int(self->source), db_int(self->now_ms) };
    mcp_status st = self->is_whole
                        ? db_run(self->session, NULL,
                                 "UPDATE scout_files SET status = 'deleted' WHERE source_id = $1 "
                                 "AND last_seen_at < $2",
                                 values, 2, err)
                        : MCP_OK;
    return st == MCP_OK
               ? db_run(self->session, NULL,
                        "UPDATE scout_sources SET last_scan_at = $2 WHERE id = $1", values, 2, err)
               : st;
}

mcp_status casparian_sync_end(casparian_sync *self, mcp_status st, mcp_error *err)
{
    if (!self)
        return st;
    if (st == MCP_OK)
        st = begin_batch(self, err);
    if (st == MCP_OK)
        st = write_files(self, err);
    if (st == MCP_OK)
        st = finish(self, err);
    st = end_batch(self, st, err);
    free(self);
    return st;
}

/* ---- files ----------------------------------------------------------------------------------- */

static mcp_status read_files(casparian_registered *out, size_t *count, db_session *session,
                             mcp_arena *arena, const casparian_registered_filter *filter,
                             mcp_error *err)
{
    size_t limit = filter->limit ? filter->limit : LIST_LIMIT;
    db_rows *rows = NULL;
    const db_value values[] = { db_int(filter->source),  db_text(filter->tag),
                                db_text(filter->status), db_int(filter->untagged),
                                db_int(filter->after),   db_int((int64_t)limit) };
    mcp_status st = db_query(
        &rows, session,
        "SELECT f.id, f.path, f.rel_path, s.name, f.status, f.last_error, f.content_hash, f.size, "
        "f.mtime, coalesce((SELECT group_concat(t.tag || char(9) || t.tag_source || char(10), '') "
        "FROM scout_file_tags t WHERE t.file_id = f.id), '') "
        "FROM scout_files f LEFT JOIN scout_sources s ON s.id = f.source_id WHERE "
        "(CAST($1 AS BIGINT) = 0 OR f.source_id = $1) AND "
        "(CAST($2 AS TEXT) IS NULL OR EXISTS (SELECT 1 FROM scout_file_tags t WHERE "
        "t.file_id = f.id AND t.tag = $2)) AND "
        "(CASE WHEN CAST($3 AS TEXT) IS NULL THEN f.status <> 'deleted' ELSE f.status = $3 END) AND "
        "(CAST($4 AS BIGINT) = 0 OR NOT EXISTS (SELECT 1 FROM scout_file_tags t WHERE "
        "t.file_id = f.id)) AND f.id > $5 ORDER BY f.id LIMIT $6",
        values, 6, err);
    while (casparian_next(rows, &st, err))
        out[(*count)++] = (casparian_registered){
            .id = db_int_at(rows, 0),
            .path = casparian_row_text(rows, 1, arena, &st),
            .relative = casparian_row_text(rows, 2, arena, &st),
            .source = casparian_row_text(rows, 3, arena, &st),
            .status = casparian_row_text(rows, 4, arena, &st),
            .last_error = casparian_row_text(rows, 5, arena, &st),
            .hash = casparian_row_text(rows, 6, arena, &st),
            .size = db_int_at(rows, 7),
            .mtime_s = db_int_at(rows, 8),
            .tags = casparian_row_text(rows, 9, arena, &st)
        };
    db_rows_free(rows);
    return st;
}

mcp_status casparian_registered_list(const casparian_registered **out, size_t *count,
                                     casparian_store *store, mcp_arena *arena,
                                     const casparian_registered_filter *filter, mcp_error *err)
{
    db_session *session = NULL;
    casparian_registered *all = mcp_arena_array(arena, CASPARIAN_FILES_LISTED_MAX + 1, sizeof *all);
    *out = all;
    *count = 0;
    if (!all)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for files");
    mcp_status st = db_begin(&session, casparian_store_database(store), DB_READ, err);
    if (st != MCP_OK)
        return st;
    return casparian_store_end(session, read_files(all, count, session, arena, filter, err), err);
}

/* Begin with a registered file. @param session open also after a failure, unless NULL */
static mcp_status begin_at(db_session **session, int64_t *file, casparian_store *store,
                           const char *path, mcp_error *err)
{
    const db_value values[] = { db_text(path) };
    mcp_status st = db_begin(session, casparian_store_database(store), DB_WRITE, err);
    if (st == MCP_OK)
        st = casparian_query_int(file, 0, *session, "SELECT id FROM scout_files WHERE path = $1",
                                 values, 1, err);
    return st == MCP_OK && *file == 0
               ? mcp_error_set(err, MCP_E_NOT_FOUND, "'%.200s' is no registered file", path)
               : st;
}

mcp_status casparian_tag_add(casparian_store *store, const char *path, const char *tag,
                             mcp_error *err)
{
    db_session *session = NULL;
    int64_t file = 0;
    mcp_status st = check_word(tag, CASPARIAN_TAG_MAX, "tag", err);
    if (st == MCP_OK)
        st = begin_at(&session, &file, store, path, err);
    if (st == MCP_OK)
        st = tag_by_hand(session, file, tag, err);
    if (st == MCP_OK)
        st = set_status(session, file, err);
    return session ? casparian_store_end(session, st, err) : st;
}

mcp_status casparian_tag_remove(casparian_store *store, const char *path, const char *tag,
                                mcp_error *err)
{
    db_session *session = NULL;
    int64_t file = 0, removed = 0;
    mcp_status st = begin_at(&session, &file, store, path, err);
    const db_value values[] = { db_int(file), db_text(tag) };
    if (st == MCP_OK)
        st = db_run(session, &removed,
                    "DELETE FROM scout_file_tags WHERE file_id = $1 AND tag = $2", values, 2, err);
    if (st == MCP_OK && removed == 0)
        st = mcp_error_set(err, MCP_E_NOT_FOUND, "the file has no tag '%.100s'", tag);
    if (st == MCP_OK)
        st = set_status(session, file, err);
    return session ? casparian_store_end(session, st, err) : st;
}
