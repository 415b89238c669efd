/*
 * promote.c - schemas as a Python module or as schema files.
 *
 * The literal has one column a line and its members in sorted order: so it reads as if somebody had
 * written it, and its canonical form is that of the definition.
 */
#include "jobs/promote.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "keys/canonical.h"

enum { CODE_MAX = 8 << 20 };

static const char *const modes[] = { "strict", "allow_extra", "allow_missing_optional" };

/* ---- Python ---------------------------------------------------------------------------------- */

/* A string literal; what is not printable is escaped. Other text is UTF-8, as Python reads it. */
static void put_string(mcp_buf *out, const char *text)
{
    mcp_buf_putc(out, '"');
    for (const unsigned char *at = (const unsigned char *)text; *at != '\0'; at++) {
        if (*at == '"' || *at == '\\')
            mcp_buf_printf(out, "\\%c", *at);
        else if (*at < 0x20 || *at == 0x7F)
            mcp_buf_printf(out, "\\x%02x", *at);
        else
            mcp_buf_putc(out, (char)*at);
    }
    mcp_buf_putc(out, '"');
}

static void put_type(mcp_buf *out, const casparian_type *type)
{
    if (type->kind == CASPARIAN_KIND_DECIMAL) {
        mcp_buf_printf(out, "{\"kind\": \"decimal\", \"precision\": %d, \"scale\": %d}",
                       (int)type->decimal.precision, (int)type->decimal.scale);
    } else if (type->kind == CASPARIAN_KIND_TIMESTAMP_TZ) {
        mcp_buf_puts(out, "{\"kind\": \"timestamp_tz\", \"timezone\": ");
        put_string(out, type->zone);
        mcp_buf_putc(out, '}');
    } else {
        put_string(out, casparian_kind_text(type->kind));
    }
}

static void put_column(mcp_buf *out, const casparian_column *column)
{
    mcp_buf_puts(out, "            {");
    if (column->pattern) {
        mcp_buf_puts(out, "\"format\": ");
        put_string(out, column->pattern);
        mcp_buf_puts(out, ", ");
    }
    mcp_buf_puts(out, "\"name\": ");
    put_string(out, column->name);
    mcp_buf_printf(out, ", \"nullable\": %s, \"type\": ", column->is_nullable ? "True" : "False");
    put_type(out, &column->type);
    mcp_buf_puts(out, "},\n");
}

static void put_output(mcp_buf *out, const casparian_definition *definition)
{
    mcp_buf_puts(out, "    ");
    put_string(out, definition->output);
    mcp_buf_puts(out, ": {\n        \"columns\": [\n");
    for (size_t i = 0; i < definition->count; i++)
        put_column(out, &definition->columns[i]);
    mcp_buf_printf(out, "        ],\n        \"mode\": \"%s\",\n    },\n", modes[definition->mode]);
}

static int by_output(const void *a, const void *b)
{
    const casparian_definition *const *left = a;
    const casparian_definition *const *right = b;
    return strcmp((*left)->output, (*right)->output);
}

static void put_module(mcp_buf *out, const casparian_definition *const *sorted, size_t count,
                       const char *ephemeral_id)
{
    if (ephemeral_id)
        mcp_buf_printf(out, "# Promoted from %s.\n", ephemeral_id);
    mcp_buf_puts(out, "# Hashes of the schemas:\n");
    for (size_t i = 0; i < count; i++)
        mcp_buf_printf(out, "#   %s %s\n", sorted[i]->output, sorted[i]->hash);
    mcp_buf_puts(out, "\noutputs = {\n");
    for (size_t i = 0; i < count; i++)
        put_output(out, sorted[i]);
    mcp_buf_puts(out, "}\n");
}

/* ---- files of native plugins ----------------------------------------------------------------- */

static void put_protocol(mcp_buf *out, const casparian_definition *definition)
{
    mcp_buf_puts(out, "{\n  \"columns\": [\n");
    for (size_t i = 0; i < definition->count; i++) {
        const casparian_column *column = &definition->columns[i];
        mcp_json_writer writer;
        mcp_buf_puts(out, "    ");
        mcp_json_writer_init(&writer, out);
        mcp_write_object(&writer);
        mcp_write_member_string(&writer, "name", column->name);
        mcp_write_name(&writer, "data_type");
        casparian_type_write_protocol(&writer, &column->type);
        mcp_write_name(&writer, "nullable");
        mcp_write_bool(&writer, column->is_nullable);
        if (column->pattern)
            mcp_write_member_string(&writer, "format", column->pattern);
        mcp_write_end(&writer);
        mcp_buf_puts(out, i + 1 < definition->count ? ",\n" : "\n");
    }
    mcp_buf_puts(out, "  ]\n}\n");
}

/* ---- the promotion --------------------------------------------------------------------------- */

static mcp_status hash_text(char out[CASPARIAN_HASH_SIZE], const char *text, size_t length,
                            mcp_error *err)
{
    uint8_t digest[MCP_SHA256_SIZE];
    mcp_status st = mcp_sha256(digest, text, length, err);
    if (st == MCP_OK)
        keys_hex(out, digest);
    return st;
}

/* Takes the text of `buf`, which is empty then. */
static mcp_status finish(casparian_promoted_file *out, mcp_arena *arena, const char *path,
                         mcp_buf *buf, mcp_error *err)
{
    mcp_status st = buf->status;
    if (st != MCP_OK)
        return mcp_error_set(err, st, "the code of '%s' is too long", path);
    out->path = mcp_arena_strdup(arena, path);
    out->text = mcp_arena_strndup(arena, buf->data, buf->length);
    out->length = buf->length;
    mcp_buf_reset(buf);
    if (!out->path || !out->text)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for the code of '%s'", path);
    return hash_text(out->sha256, out->text, out->length, err);
}

static mcp_status make_module(casparian_promotion *out, mcp_arena *arena,
                              const casparian_schemas *schemas, const char *ephemeral_id,
                              const char *path, mcp_buf *buf, mcp_error *err)
{
    const casparian_definition **sorted = mcp_arena_array(arena, schemas->count, sizeof *sorted);
    casparian_promoted_file *file = mcp_arena_alloc(arena, sizeof *file);
    if (!sorted || !file)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for the code of '%s'", path);
    for (size_t i = 0; i < schemas->count; i++)
        sorted[i] = &schemas->items[i];
    qsort(sorted, schemas->count, sizeof sorted[0], by_output);
    put_module(buf, sorted, schemas->count, ephemeral_id);
    mcp_status st = finish(file, arena, path, buf, err);
    *out = (casparian_promotion){ .files = file, .count = 1 };
    return st;
}

/* `folder` ends in '/', or is NULL: `path` is that of the only file. */
static mcp_status make_files(casparian_promotion *out, mcp_arena *arena,
                             const casparian_schemas *schemas, const char *folder, const char *path,
                             mcp_buf *buf, mcp_error *err)
{
    mcp_status st = MCP_OK;
    casparian_promoted_file *files = mcp_arena_array(arena, schemas->count, sizeof *files);
    if (!files)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for the code of '%s'", path);
    for (size_t i = 0; st == MCP_OK && i < schemas->count; i++) {
        const casparian_definition *schema = &schemas->items[i];
        const char *name = folder
                               ? mcp_arena_printf(arena, "%s%s.schema.json", folder, schema->output)
                               : path;
        put_protocol(buf, schema);
        st = name ? finish(&files[i], arena, name, buf, err)
                  : mcp_error_set(err, MCP_E_NOMEM, "no memory for the code of '%s'", path);
    }
    *out = (casparian_promotion){ .files = files, .count = schemas->count };
    return st;
}

/* One file: its hash. Several: that of paths and hashes, each followed by a byte 0x1F. */
static mcp_status hash_all(casparian_promotion *out, mcp_arena *arena, mcp_error *err)
{
    if (out->count == 1) {
        memcpy(out->sha256, out->files[0].sha256, sizeof out->sha256);
        return MCP_OK;
    }
    const char **parts = mcp_arena_array(arena, 2 * out->count, sizeof *parts);
    if (!parts)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a hash");
    for (size_t i = 0; i < out->count; i++) {
        parts[2 * i] = out->files[i].path;
        parts[2 * i + 1] = out->files[i].sha256;
    }
    return casparian_hash_parts(out->sha256, parts, 2 * out->count, err);
}

static bool ends_in(const char *text, const char *end)
{
    size_t length = strlen(text);
    size_t tail = strlen(end);
    return length > tail && strcmp(text + length - tail, end) == 0;
}

mcp_status casparian_promote(casparian_promotion *out, mcp_arena *arena,
                             const casparian_schemas *schemas, const char *ephemeral_id,
                             const char *output_path, mcp_error *err)
{
    casparian_promotion promotion = { 0 };
    mcp_status st = MCP_OK;
    mcp_buf buf;
    mcp_buf_init(&buf, CODE_MAX);
    if (ends_in(output_path, ".py"))
        st = make_module(&promotion, arena, schemas, ephemeral_id, output_path, &buf, err);
    else if (ends_in(output_path, "/"))
        st = make_files(&promotion, arena, schemas, output_path, output_path, &buf, err);
    else if (!ends_in(output_path, ".schema.json"))
        st = mcp_error_set(err, MCP_E_PARAMS,
                           "'%.120s': schemas are promoted to a file .py or .schema.json, or to a "
                           "folder, whose path ends in '/'",
                           output_path);
    else if (schemas->count != 1)
        st = mcp_error_set(err, MCP_E_PARAMS,
                           "'%.120s' is for one output, and there are %zu: name a folder, with '/' "
                           "at its end",
                           output_path, schemas->count);
    else
        st = make_files(&promotion, arena, schemas, NULL, output_path, &buf, err);
    if (st == MCP_OK)
        st = hash_all(&promotion, arena, err);
    mcp_buf_clear(&buf);
    if (st == MCP_OK)
        *out = promotion;
    return st;
}

/* ---- writing --------------------------------------------------------------------------------- */

static mcp_status write_all(int fd, const char *text, size_t length, const char *path,
                            mcp_error *err)
{
    while (length > 0) {
        ssize_t written = write(fd, text, length);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0 && (errno == ENOSPC || errno == EDQUOT))
            return mcp_error_set(err, MCP_E_STORAGE, "'%s': the disk is full", path);
        if (written < 0)
            return mcp_error_errno(err, errno, "'%s' cannot be written", path);
        text += written;
        length -= (size_t)written;
    }
    return fsync(fd) == 0 ? MCP_OK : mcp_error_errno(err, errno, "'%s' cannot be written", path);
}

static const char *name_of(const casparian_promoted_file *file)
{
    const char *slash = strrchr(file->path, '/');
    return slash ? slash + 1 : file->path;
}

/* Give a file its name, which nothing has. Some file systems know one of the ways alone. */
static mcp_status take_name(int folder_fd, const char *temporary,
                            const casparian_promoted_file *file, mcp_error *err)
{
    const char *name = name_of(file);
    int failed = renameat2(folder_fd, temporary, folder_fd, name, RENAME_NOREPLACE);

    if (failed && errno == EINVAL) {
        failed = linkat(folder_fd, temporary, folder_fd, name, 0);
        if (!failed)
            unlinkat(folder_fd, temporary, 0);
    }
    if (failed && errno == EEXIST)
        return mcp_error_set(err, MCP_E_EXISTS, "'%s' exists already, and is not overwritten",
                             file->path);
    if (failed)
        return mcp_error_errno(err, errno, "'%s' cannot be made", file->path);
    if (fsync(folder_fd) == 0)
        return MCP_OK;
    mcp_error_errno(err, errno, "the folder of '%s' cannot be written", file->path);
    unlinkat(folder_fd, name, 0);
    return MCP_E_IO;
}

/* Under another name first: a file that has its name is whole, also after a crash. */
static mcp_status write_file(int folder_fd, const casparian_promoted_file *file, mcp_error *err)
{
    char temporary[32];
    snprintf(temporary, sizeof temporary, ".promoted.%ld.tmp", (long)getpid());
    unlinkat(folder_fd, temporary, 0); /* of a process with this number that was killed */
    int fd = openat(folder_fd, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                    S_IRUSR | S_IWUSR | S_IRGRP | S_IROTH);
    if (fd < 0)
        return mcp_error_errno(err, errno, "'%s' cannot be made", file->path);
    mcp_status st = write_all(fd, file->text, file->length, file->path, err);
    if (close(fd) != 0 && st == MCP_OK)
        st = mcp_error_errno(err, errno, "'%s' cannot be written", file->path);
    if (st == MCP_OK)
        st = take_name(folder_fd, temporary, file, err);
    if (st != MCP_OK)
        unlinkat(folder_fd, temporary, 0);
    return st;
}

mcp_status casparian_promote_write(int folder_fd, const casparian_promotion *code, mcp_error *err)
{
    size_t written = 0;
    mcp_status st = MCP_OK;
    while (st == MCP_OK && written < code->count) {
        st = write_file(folder_fd, &code->files[written], err);
        written += st == MCP_OK;
    }
    for (size_t i = 0; st != MCP_OK && i < written; i++)
        unlinkat(folder_fd, name_of(&code->files[i]), 0);
    return st;
}

/* Whether a file has exactly this text. */
static bool is_written(const casparian_promoted_file *file)
{
    char bytes[4096];
    struct stat what;
    size_t at = 0;
    ssize_t got = 0;
    int fd = open(file->path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    bool is_same = fd >= 0 && fstat(fd, &what) == 0 && S_ISREG(what.st_mode) &&
                   (size_t)what.st_size == file->length;

    while (is_same && at < file->length) {
        got = read(fd, bytes, sizeof bytes);
        is_same = got > 0 && (size_t)got <= file->length - at &&
                  memcmp(bytes, file->text + at, (size_t)got) == 0;
        at += is_same ? (size_t)got : 0;
    }
    if (fd >= 0)
        close(fd);
    return is_same;
}

size_t casparian_promote_count(const casparian_promotion *code)
{
    size_t count = 0;

    for (size_t i = 0; i < code->count; i++)
        count += is_written(&code->files[i]);
    return count;
}
