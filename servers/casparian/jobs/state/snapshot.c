/*
 * snapshot.c - what a request binds: the JSON texts of an approval.
 */
#include "jobs/state/snapshot.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "jobs/state/definition_json.h"
#include "jobs/state/rows.h"
#include "keys/digest.h"

static const char *const sources[] = { "request", "ephemeral", "contract", "declared", "inferred" };

const char *casparian_schema_source_text(casparian_schema_source source)
{
    return sources[source];
}

/* End an object and copy its text into the arena. */
static mcp_status keep(const char **out, casparian_text *text, mcp_arena *arena, mcp_error *err)
{
    mcp_status st = casparian_text_end(text, err);
    if (st == MCP_OK) {
        *out = mcp_arena_strndup(arena, text->buf.data, text->buf.length);
        if (!*out)
            st = mcp_error_set(err, MCP_E_NOMEM, "no memory for a request");
    }
    casparian_text_free(text);
    return st;
}

static mcp_status hash_snapshot(casparian_snapshot *self, mcp_arena *arena, mcp_error *err)
{
    const mcp_json *json = NULL;
    mcp_status st = mcp_json_read(&json, arena, self->snapshot, strlen(self->snapshot), err);
    return st == MCP_OK ? keys_canonical_hash(self->sha256, json, err) : st;
}

/* ---- a run ----------------------------------------------------------------------------------- */

mcp_status casparian_files_hash(char out[KEYS_HEX_SIZE], const casparian_job_file *files,
                                size_t count, mcp_error *err)
{
    uint8_t digest[MCP_SHA256_SIZE];
    keys_digest *hash = NULL;
    mcp_status st = keys_digest_new(&hash, err);
    if (st != MCP_OK)
        return st;
    for (size_t i = 0; i < count; i++) {
        char numbers[80];
        int length = snprintf(numbers, sizeof numbers,
                              "\x1f%" PRId64 "\x1f%" PRId64 "\x1f%" PRId64 "\x1f", files[i].size,
                              files[i].mtime_ns, files[i].inode);
        keys_digest_add(hash, files[i].path, strlen(files[i].path));
        keys_digest_add(hash, numbers, (size_t)length);
    }
    st = keys_digest_end(hash, digest, err);
    keys_digest_free(hash);
    if (st == MCP_OK)
        keys_hex(out, digest);
    return st;
}

static int64_t total_bytes(const casparian_run_request *request)
{
    int64_t total = 0;
    for (size_t i = 0; i < request->file_count; i++)
        total += request->files[i].size;
    return total;
}

/* "7.6 KiB" */
static void write_size(char out[32], int64_t bytes)
{
    static const char *const units[] = { "bytes", "KiB", "MiB", "GiB", "TiB" };
    double size = (double)bytes;
    size_t unit = 0;
    while (size >= 1024 && unit < sizeof units / sizeof units[0] - 1) {
        size /= 1024;
        unit++;
    }
    snprintf(out, 32, unit == 0 ? "%.0f %s" : "%.1f %s", size, units[unit]);
}

/* "2 from request, 1 from declared" */
static void describe_schemas(mcp_buf *out, const casparian_run_request *request)
{
    const char *comma = "";
    for (int source = CASPARIAN_SCHEMA_REQUEST; source <= CASPARIAN_SCHEMA_INFERRED; source++) {
        size_t count = 0;
        for (size_t i = 0; i < request->schema_count; i++)
            count += request->schemas[i].source == (casparian_schema_source)source;
        if (count == 0)
            continue;
        mcp_buf_printf(out, "%s%zu %s%s", comma, count,
                       source == CASPARIAN_SCHEMA_DECLARED ? "" : "from ", sources[source]);
        comma = ", ";
    }
    if (*comma == '\0')
        mcp_buf_puts(out, "none, inferred");
}

static void describe_quarantine(mcp_buf *out, const casparian_quarantine *policy, const char *dir)
{
    if (!policy->allow) {
        mcp_buf_puts(out, "not allowed");
        return;
    }
    mcp_buf_printf(out, "at most %g %%", policy->max_pct);
    if (policy->has_count)
        mcp_buf_printf(out, " and %" PRId64 " rows", policy->max_count);
    if (dir)
        mcp_buf_printf(out, ", in %s", dir);
}

static const char *quarantine_dir_of(const casparian_run_request *request)
{
    return request->spec ? request->spec->quarantine_dir : NULL;
}

static mcp_status write_summary(const char **out, mcp_arena *arena,
                                const casparian_run_request *request, mcp_error *err)
{
    char size[32];
    casparian_text text;
    mcp_buf line;
    write_size(size, total_bytes(request));
    mcp_buf_init(&line, 64 << 10);
    if (request->plugin.path)
        mcp_buf_printf(&line, "Run %s", request->plugin.path);
    else
        mcp_buf_printf(&line, "Run %s@%s", request->plugin.name, request->plugin.version);
    mcp_buf_printf(&line, " on %zu file%s (%s) from %s → %s; schemas: ", request->file_count,
                   request->file_count == 1 ? "" : "s", size, request->input_dir,
                   request->sink_uri);
    describe_schemas(&line, request);
    mcp_buf_puts(&line, "; quarantine: ");
    describe_quarantine(&line, &request->quarantine, quarantine_dir_of(request));
    casparian_text_init(&text);
    mcp_write_member_string(&text.out, "description", line.data);
    mcp_write_member_int(&text.out, "file_count", (int64_t)request->file_count);
    if (request->estimated_rows >= 0)
        mcp_write_member_int(&text.out, "estimated_rows", request->estimated_rows);
    mcp_write_member_string(&text.out, "target_path", request->target_path);
    casparian_write_text(&text.out, "reason", request->reason);
    mcp_buf_clear(&line);
    return keep(out, &text, arena, err);
}

static mcp_status write_operation(const char **out, mcp_arena *arena,
                                  const casparian_run_request *request, mcp_error *err)
{
    casparian_text text;
    casparian_text_init(&text);
    mcp_write_member_string(&text.out, "type", "run");
    mcp_write_member_value(&text.out, "plugin_ref", request->plugin.ref);
    mcp_write_member_string(&text.out, "input_dir", request->input_dir);
    mcp_write_member_string(&text.out, "output", request->sink_uri);
    if (request->timeout_ms > 0)
        mcp_write_member_int(&text.out, "timeout_ms", request->timeout_ms);
    return keep(out, &text, arena, err);
}

static mcp_status write_schemas(mcp_json_writer *out, const casparian_run_request *request,
                                mcp_error *err)
{
    mcp_status st = MCP_OK;
    mcp_write_member_object(out, "schemas");
    for (size_t i = 0; st == MCP_OK && i < request->schema_count; i++) {
        const casparian_effective *effective = &request->schemas[i];
        mcp_write_member_object(out, effective->schema->output);
        mcp_write_member_string(out, "schema_hash", effective->schema->hash);
        mcp_write_member_string(out, "source", sources[effective->source]);
        mcp_write_name(out, "schema");
        st = casparian_write_definition(out, effective->schema, err);
        if (st == MCP_OK)
            mcp_write_end(out);
    }
    if (st == MCP_OK)
        mcp_write_end(out);
    return st;
}

static mcp_status write_run(const char **out, mcp_arena *arena,
                            const casparian_run_request *request, mcp_error *err)
{
    char files[KEYS_HEX_SIZE];
    casparian_text text;
    mcp_status st = casparian_files_hash(files, request->files, request->file_count, err);
    if (st != MCP_OK)
        return st;
    casparian_text_init(&text);
    casparian_write_text(&text.out, "artifact_hash", request->plugin.artifact_hash);
    mcp_write_member_string(&text.out, "plugin", request->plugin.name);
    mcp_write_member_string(&text.out, "version", request->plugin.version);
    casparian_write_text(&text.out, "path", request->plugin.path);
    st = write_schemas(&text.out, request, err);
    if (st != MCP_OK) {
        casparian_text_free(&text);
        return st;
    }
    mcp_write_member_string(&text.out, "input_dir", request->input_dir);
    mcp_write_member_string(&text.out, "sink_uri", request->sink_uri);
    mcp_write_name(&text.out, "quarantine");
    casparian_quarantine_write(&text.out, &request->quarantine);
    casparian_write_text(&text.out, "quarantine_dir", quarantine_dir_of(request));
    mcp_write_member_string(&text.out, "files_sha256", files);
    mcp_write_member_int(&text.out, "file_count", (int64_t)request->file_count);
    mcp_write_member_int(&text.out, "total_bytes", total_bytes(request));
    return keep(out, &text, arena, err);
}

static mcp_status write_spec(const char **out, mcp_arena *arena, const casparian_spec *spec,
                             mcp_error *err)
{
    mcp_json_writer writer;
    mcp_buf buf;
    mcp_buf_init(&buf, CASPARIAN_COLUMN_MAX);
    mcp_json_writer_init(&writer, &buf);
    casparian_spec_write(&writer, spec);
    mcp_status st = mcp_json_writer_status(&writer);
    *out = st == MCP_OK ? mcp_arena_strndup(arena, buf.data, buf.length) : NULL;
    if (st == MCP_OK && !*out)
        st = MCP_E_NOMEM;
    mcp_buf_clear(&buf);
    return st == MCP_OK ? MCP_OK
                        : mcp_error_set(err, st, "the description of the job cannot be written");
}

mcp_status casparian_snapshot_run(casparian_snapshot *out, mcp_arena *arena,
                                  const casparian_run_request *request, mcp_error *err)
{
    static const casparian_spec nothing;
    casparian_snapshot self = { .type = "run" };
    mcp_status st = write_operation(&self.operation, arena, request, err);
    if (st == MCP_OK)
        st = write_summary(&self.summary, arena, request, err);
    if (st == MCP_OK)
        st = write_run(&self.snapshot, arena, request, err);
    if (st == MCP_OK)
        st = write_spec(&self.spec, arena, request->spec ? request->spec : &nothing, err);
    if (st == MCP_OK)
        st = hash_snapshot(&self, arena, err);
    if (st == MCP_OK)
        *out = self;
    return st;
}

/* ---- a promotion ----------------------------------------------------------------------------- */

static mcp_status write_promotion(const char **out, mcp_arena *arena,
                                  const casparian_promote_request *request, mcp_error *err)
{
    const casparian_promotion *code = request->code;
    casparian_text text;
    casparian_text_init(&text);
    mcp_write_member_string(&text.out, "ephemeral_id", request->ephemeral_id);
    mcp_write_member_string(&text.out, "output_path", request->output_path);
    mcp_write_member_string(&text.out, "code_sha256", code->sha256);
    mcp_write_member_array(&text.out, "code");
    for (size_t i = 0; i < code->count; i++) {
        mcp_write_object(&text.out);
        mcp_write_member_string(&text.out, "path", code->files[i].path);
        mcp_write_member_string(&text.out, "sha256", code->files[i].sha256);
        mcp_write_name(&text.out, "text");
        mcp_write_string_n(&text.out, code->files[i].text, code->files[i].length);
        mcp_write_end(&text.out);
    }
    mcp_write_end(&text.out);
    return keep(out, &text, arena, err);
}

static mcp_status write_promotion_summary(casparian_snapshot *self, mcp_arena *arena,
                                          const casparian_promote_request *request, mcp_error *err)
{
    casparian_text text;
    const char *line = mcp_arena_printf(arena, "Write the schemas of %s to %s",
                                        request->ephemeral_id, request->output_path);
    if (!line)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a request");
    casparian_text_init(&text);
    mcp_write_member_string(&text.out, "description", line);
    mcp_write_member_int(&text.out, "file_count", (int64_t)request->code->count);
    mcp_write_member_string(&text.out, "target_path", request->output_path);
    mcp_status st = keep(&self->summary, &text, arena, err);
    if (st != MCP_OK)
        return st;
    casparian_text_init(&text);
    mcp_write_member_string(&text.out, "type", "schema_promote");
    mcp_write_member_string(&text.out, "ephemeral_id", request->ephemeral_id);
    mcp_write_member_string(&text.out, "output_path", request->output_path);
    return keep(&self->operation, &text, arena, err);
}

mcp_status casparian_snapshot_promote(casparian_snapshot *out, mcp_arena *arena,
                                      const casparian_promote_request *request, mcp_error *err)
{
    casparian_snapshot self = { .type = "schema_promote" };
    mcp_status st = write_promotion_summary(&self, arena, request, err);
    if (st == MCP_OK)
        st = write_promotion(&self.snapshot, arena, request, err);
    if (st == MCP_OK)
        st = hash_snapshot(&self, arena, err);
    if (st == MCP_OK)
        *out = self;
    return st;
}

mcp_status casparian_snapshot_code(casparian_promotion *out, mcp_arena *arena,
                                   const mcp_json *snapshot, mcp_error *err)
{
    const mcp_json *code = mcp_json_get(snapshot, "code");
    const char *sha256 = mcp_json_get_string(snapshot, "code_sha256");
    size_t count = mcp_json_count(code);
    casparian_promoted_file *files = mcp_arena_array(arena, count, sizeof *files);
    if (!files)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for generated code");
    bool is_whole = count > 0 && sha256 && strlen(sha256) == CASPARIAN_HASH_SIZE - 1;
    for (size_t i = 0; is_whole && i < count; i++) {
        const mcp_json *item = mcp_json_item(code, i);
        const char *hash = mcp_json_get_string(item, "sha256");
        files[i].path = mcp_json_get_string(item, "path");
        files[i].text = mcp_json_string(mcp_json_get(item, "text"), &files[i].length);
        is_whole = hash && strlen(hash) == CASPARIAN_HASH_SIZE - 1 && files[i].path &&
                   files[i].text && strchr(files[i].path, '/');
        if (is_whole)
            memcpy(files[i].sha256, hash, CASPARIAN_HASH_SIZE);
    }
    if (!is_whole)
        return mcp_error_set(err, MCP_E_INTERNAL, "the stored code of a promotion was damaged");
    *out = (casparian_promotion){ .files = files, .count = count };
    memcpy(out->sha256, sha256, CASPARIAN_HASH_SIZE);
    return MCP_OK;
}
