/*
 * bundle.c - the files of a plugin.
 */
#include "plugins/bundle.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "config/toml.h"
#include "keys/canonical.h"
#include "keys/digest.h"

enum { DEPTH_MAX = 8, READ_BYTES = 64 << 10, CANONICAL_MAX = 16 << 20 };

static const char schema_end[] = ".schema.json";

/* A folder that is being read. */
struct reading {
    mcp_arena *arena;
    casparian_bundle *out;
    casparian_bundle_file *files;
    size_t count, bytes;
    keys_digest *digest;
    mcp_error *err;
};

static mcp_status no_memory(mcp_error *err)
{
    return mcp_error_set(err, MCP_E_NOMEM, "no memory for the files of a plugin");
}

mcp_status casparian_bundle_text(const char **out, size_t *length, mcp_arena *arena,
                                 const char *path, size_t most, mcp_error *err)
{
    struct stat found;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
    if (fd < 0)
        return mcp_error_errno(err, errno, "%s", path);
    mcp_status st = fstat(fd, &found) == 0 ? MCP_OK : mcp_error_errno(err, errno, "%s", path);
    if (st == MCP_OK && !S_ISREG(found.st_mode))
        st = mcp_error_set(err, MCP_E_DENIED, "%s is no regular file", path);
    if (st == MCP_OK && (size_t)found.st_size > most)
        st = mcp_error_set(err, MCP_E_LIMIT, "%s has more than %zu bytes", path, most);
    size_t size = st == MCP_OK ? (size_t)found.st_size : 0, at = 0;
    char *text = st == MCP_OK ? mcp_arena_alloc(arena, size + 1) : NULL;
    if (st == MCP_OK && !text)
        st = no_memory(err);
    while (st == MCP_OK && at < size) {
        ssize_t part = read(fd, text + at, size - at);
        if (part < 0 && errno != EINTR)
            st = mcp_error_errno(err, errno, "%s", path);
        if (part == 0)
            size = at; /* it became shorter */
        at += part > 0 ? (size_t)part : 0;
    }
    close(fd);
    if (st == MCP_OK) {
        *out = text;
        *length = at;
    }
    return st;
}

/* ---- files ----------------------------------------------------------------------------------- */

static mcp_status hash_file(struct reading *self, char out[CASPARIAN_HASH_SIZE], const char *path)
{
    char bytes[READ_BYTES];
    uint8_t digest[MCP_SHA256_SIZE];
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
    ssize_t part = fd < 0 ? -1 : 1;
    while (part > 0 && self->bytes <= CASPARIAN_BUNDLE_BYTES_MAX) {
        part = read(fd, bytes, sizeof bytes);
        if (part > 0)
            keys_digest_add(self->digest, bytes, (size_t)part);
        self->bytes += part > 0 ? (size_t)part : 0;
    }
    int failure = errno;
    if (fd >= 0)
        close(fd);
    mcp_status st = keys_digest_end(self->digest, digest, self->err);
    if (part < 0)
        return mcp_error_errno(self->err, failure, "%s", path);
    if (self->bytes > CASPARIAN_BUNDLE_BYTES_MAX)
        return mcp_error_set(self->err, MCP_E_LIMIT, "the plugin has more than %zu bytes",
                             CASPARIAN_BUNDLE_BYTES_MAX);
    keys_hex(out, digest);
    return st;
}

static bool has_control(const char *text)
{
    while (*text && (unsigned char)*text >= 0x20)
        text++;
    return *text != '\0';
}

static mcp_status add_file(struct reading *self, const char *relative, const char *path)
{
    if (has_control(relative))
        return mcp_error_set(self->err, MCP_E_DENIED,
                             "%s: a file of the plugin has a control character in its name",
                             self->out->dir);
    if (self->count == CASPARIAN_BUNDLE_FILES_MAX)
        return mcp_error_set(self->err, MCP_E_LIMIT, "the plugin has more than %d files",
                             CASPARIAN_BUNDLE_FILES_MAX);
    casparian_bundle_file *file = &self->files[self->count++];
    file->path = relative;
    return hash_file(self, file->hash, path);
}

static mcp_status read_folder(struct reading *self, const char *relative, int depth);

static mcp_status read_entry(struct reading *self, const char *relative, int depth)
{
    struct stat found;
    const char *path = mcp_arena_printf(self->arena, "%s/%s", self->out->dir, relative);
    if (!path)
        return no_memory(self->err);
    if (lstat(path, &found) != 0)
        return mcp_error_errno(self->err, errno, "%s", path);
    if (S_ISDIR(found.st_mode))
        return read_folder(self, relative, depth + 1);
    if (!S_ISREG(found.st_mode))
        return mcp_error_set(self->err, MCP_E_DENIED,
                             "%s: a plugin has regular files and folders only", path);
    return add_file(self, relative, path);
}

static mcp_status read_folder(struct reading *self, const char *relative, int depth)
{
    const char *path = mcp_arena_printf(self->arena, "%s/%s", self->out->dir, relative);
    DIR *folder = path ? opendir(path) : NULL;
    mcp_status st = MCP_OK;
    if (!folder)
        return path ? mcp_error_errno(self->err, errno, "%s", path) : no_memory(self->err);
    if (depth > DEPTH_MAX)
        st = mcp_error_set(self->err, MCP_E_LIMIT, "%s is nested too deep", path);
    for (struct dirent *entry = readdir(folder); entry && st == MCP_OK; entry = readdir(folder)) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        const char *below = *relative
                                ? mcp_arena_printf(self->arena, "%s/%s", relative, entry->d_name)
                                : mcp_arena_strdup(self->arena, entry->d_name);
        st = below ? read_entry(self, below, depth) : no_memory(self->err);
    }
    closedir(folder);
    return st;
}

static int by_path(const void *a, const void *b)
{
    return strcmp(((const casparian_bundle_file *)a)->path,
                  ((const casparian_bundle_file *)b)->path);
}

static mcp_status read_files(casparian_bundle *out, mcp_arena *arena, mcp_error *err)
{
    struct reading self = { .arena = arena, .out = out, .err = err };
    self.files = mcp_arena_array(arena, CASPARIAN_BUNDLE_FILES_MAX, sizeof *self.files);
    if (!self.files)
        return no_memory(err);
    mcp_status st = keys_digest_new(&self.digest, err);
    if (st == MCP_OK)
        st = read_folder(&self, "", 0);
    keys_digest_free(self.digest);
    if (self.count)
        qsort(self.files, self.count, sizeof *self.files, by_path);
    out->files = self.files;
    out->file_count = self.count;
    return st;
}

/* ---- the manifest ---------------------------------------------------------------------------- */

static const char *const keys[] = { "name",          "version",    "protocol_version",
                                    "runtime_kind",  "entrypoint", "platform_os",
                                    "platform_arch", "topics",     NULL };

static mcp_status wrong(const casparian_bundle *bundle, mcp_error *err, const char *what)
{
    return mcp_error_set(err, MCP_E_PARSE, "%s/casparian.toml: %s", bundle->dir, what);
}

static mcp_status check_keys(const casparian_bundle *bundle, mcp_error *err)
{
    for (size_t i = 0; i < mcp_json_count(bundle->manifest); i++) {
        const char *name = mcp_json_name(bundle->manifest, i, NULL);
        size_t known = 0;
        while (keys[known] && strcmp(keys[known], name) != 0)
            known++;
        if (!keys[known])
            return mcp_error_set(err, MCP_E_PARSE, "%s/casparian.toml: %s is no known key",
                                 bundle->dir, name);
    }
    return MCP_OK;
}

static mcp_status check_platform(const casparian_bundle *bundle, mcp_error *err)
{
    struct utsname host;
    const char *os = mcp_json_get_string(bundle->manifest, "platform_os");
    const char *arch = mcp_json_get_string(bundle->manifest, "platform_arch");

    if (bundle->runtime == CASPARIAN_PYTHON)
        return MCP_OK;
    if (!os || !arch)
        return wrong(bundle, err, "a native plugin has platform_os and platform_arch");
    if (uname(&host) != 0 || strcasecmp(os, host.sysname) != 0 || strcmp(arch, host.machine) != 0)
        return mcp_error_set(err, MCP_E_UNSUPPORTED, "%s is for %s on %s; this is %s on %s",
                             bundle->dir, os, arch, host.sysname, host.machine);
    return MCP_OK;
}

static mcp_status check_entrypoint(casparian_bundle *out, mcp_arena *arena, mcp_error *err)
{
    const char *relative = mcp_json_get_string(out->manifest, "entrypoint");
    size_t at = 0;
    if (!relative || relative[0] == '/' || strstr(relative, ".."))
        return wrong(out, err, "entrypoint is a path inside the folder");
    while (at < out->file_count && strcmp(out->files[at].path, relative) != 0)
        at++;
    if (at == out->file_count)
        return mcp_error_set(
            err, MCP_E_PARSE,
            "%s/casparian.toml: entrypoint is '%.100s', and there is no such file; "
            "a program is compiled first",
            out->dir, relative);
    out->entrypoint = mcp_arena_printf(arena, "%s/%s", out->dir, relative);
    return out->entrypoint ? MCP_OK : no_memory(err);
}

static mcp_status check_manifest(casparian_bundle *out, mcp_arena *arena, mcp_error *err)
{
    const char *protocol = mcp_json_get_string(out->manifest, "protocol_version");
    const char *runtime = mcp_json_get_string(out->manifest, "runtime_kind");

    out->id = mcp_json_get_string(out->manifest, "name");
    out->version = mcp_json_get_string(out->manifest, "version");
    mcp_status st = check_keys(out, err);
    if (st != MCP_OK)
        return st;
    if (!out->id || !casparian_plugin_id_is_valid(out->id))
        return wrong(out, err, "name is a lower-case letter, then such letters, digits and _");
    if (!out->version || !casparian_version_is_valid(out->version))
        return wrong(out, err, "version is a semantic version, as in 1.2.0");
    if (!protocol || strcmp(protocol, "0.1") != 0)
        return wrong(out, err, "protocol_version is 0.1");
    if (!runtime || (strcmp(runtime, "python_shim") != 0 && strcmp(runtime, "native_exec") != 0))
        return wrong(out, err, "runtime_kind is python_shim or native_exec");
    out->runtime = strcmp(runtime, "native_exec") == 0 ? CASPARIAN_NATIVE : CASPARIAN_PYTHON;
    st = check_platform(out, err);
    return st == MCP_OK ? check_entrypoint(out, arena, err) : st;
}

static mcp_status read_manifest(casparian_bundle *out, mcp_arena *arena, mcp_error *err)
{
    config_document document = { 0 };
    const char *text = NULL;
    size_t length = 0;
    const char *path = mcp_arena_printf(arena, "%s/casparian.toml", out->dir);
    if (!path)
        return no_memory(err);
    mcp_status st = casparian_bundle_text(&text, &length, arena, path, CASPARIAN_BUNDLE_TEXT_MAX,
                                          err);
    if (st == MCP_OK)
        st = config_toml_read(&document, arena, text, length, path, err);
    out->manifest = document.root;
    return st == MCP_OK ? check_manifest(out, arena, err) : st;
}

/* ---- texts ----------------------------------------------------------------------------------- */

static mcp_status read_source(casparian_bundle *out, mcp_arena *arena, mcp_error *err)
{
    mcp_status st = casparian_bundle_text(&out->source, &out->source_length, arena, out->entrypoint,
                                          CASPARIAN_BUNDLE_TEXT_MAX, err);
    if (st == MCP_OK && strlen(out->source) != out->source_length)
        st = mcp_error_set(err, MCP_E_PARSE, "%s has a NUL: it is no Python", out->entrypoint);
    return st;
}

/* The output that a path "schemas/<output>.schema.json" is of; 0: it is another file. */
static size_t output_of(const char *path, const char **name)
{
    size_t length = strlen(path), end = sizeof schema_end - 1, begin = strlen("schemas/");
    if (length <= begin + end || strncmp(path, "schemas/", begin) != 0 ||
        strcmp(path + length - end, schema_end) != 0)
        return 0;
    *name = path + begin;
    return length - begin - end;
}

/* Makes {output: schema} of the schema files: one text, read once. */
static mcp_status read_schemas(casparian_bundle *out, mcp_arena *arena, mcp_error *err)
{
    mcp_buf all;
    mcp_status st = MCP_OK;
    size_t count = 0;
    mcp_buf_init(&all, CASPARIAN_BUNDLE_TEXT_MAX);
    mcp_buf_putc(&all, '{');
    for (size_t i = 0; i < out->file_count && st == MCP_OK; i++) {
        const char *name = NULL, *text = NULL;
        size_t text_length = 0, length = output_of(out->files[i].path, &name);
        const char *path = mcp_arena_printf(arena, "%s/%s", out->dir, out->files[i].path);
        const mcp_json *one = NULL;
        if (length == 0)
            continue;
        st = path ? casparian_bundle_text(&text, &text_length, arena, path,
                                          CASPARIAN_BUNDLE_TEXT_MAX, err)
                  : no_memory(err);
        if (st == MCP_OK)
            st = mcp_json_read(&one, arena, text, text_length, err);
        if (st == MCP_OK && memchr(name, '"', length))
            st = mcp_error_set(err, MCP_E_PARSE, "%s: no name of an output", path);
        mcp_buf_printf(&all, "%s\"%.*s\":", count++ ? "," : "", (int)length, name);
        mcp_buf_append(&all, text, text_length);
    }
    mcp_buf_putc(&all, '}');
    if (st == MCP_OK && all.status != MCP_OK)
        st = mcp_error_set(err, all.status, "%s: the schemas are too long", out->dir);
    if (st == MCP_OK)
        st = mcp_json_read(&out->schemas, arena, all.data, all.length, err);
    mcp_buf_clear(&all);
    return st;
}

static mcp_status read_lockfile(casparian_bundle *out, mcp_arena *arena, mcp_error *err)
{
    size_t length = 0;
    const char *path = mcp_arena_printf(arena, "%s/uv.lock", out->dir);
    if (!path)
        return no_memory(err);
    if (access(path, F_OK) != 0)
        return MCP_OK;
    return casparian_bundle_text(&out->lockfile, &length, arena, path, CASPARIAN_BUNDLE_TEXT_MAX,
                                 err);
}

mcp_status casparian_bundle_read(casparian_bundle *out, mcp_arena *arena, const char *dir,
                                 mcp_error *err)
{
    *out = (casparian_bundle){ .dir = mcp_arena_strdup(arena, dir) };
    if (!out->dir)
        return no_memory(err);
    mcp_status st = read_files(out, arena, err);
    if (st == MCP_OK)
        st = read_manifest(out, arena, err);
    if (st == MCP_OK && out->runtime == CASPARIAN_PYTHON)
        st = read_source(out, arena, err);
    if (st == MCP_OK)
        st = read_schemas(out, arena, err);
    return st == MCP_OK ? read_lockfile(out, arena, err) : st;
}

mcp_status casparian_module_read(casparian_bundle *out, mcp_arena *arena, const char *path,
                                 mcp_error *err)
{
    const char *slash = strrchr(path, '/');
    *out = (casparian_bundle){
        .entrypoint = mcp_arena_strdup(arena, path),
        .dir = slash ? mcp_arena_strndup(arena, path, slash > path ? (size_t)(slash - path) : 1)
                     : NULL,
    };
    if (!slash)
        return mcp_error_set(err, MCP_E_PARAMS, "%s is no absolute path", path);
    return out->dir && out->entrypoint ? read_source(out, arena, err) : no_memory(err);
}

/* ---- hashes ---------------------------------------------------------------------------------- */

static const casparian_bundle_file *file_of(const casparian_bundle *bundle)
{
    size_t prefix = strlen(bundle->dir) + 1;
    for (size_t i = 0; i < bundle->file_count; i++) {
        if (strcmp(bundle->files[i].path, bundle->entrypoint + prefix) == 0)
            return &bundle->files[i];
    }
    return NULL;
}

/* Whether a file is a part of the code besides the entrypoint: what has a part of its own in the
 * hash, or only says what the others are, is not. */
static bool is_more_code(const casparian_bundle *bundle, const casparian_bundle_file *file)
{
    static const char *const others[] = { "casparian.toml", "bundle.index.json", "bundle.sig",
                                          "uv.lock" };
    const char *name = NULL;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (strcmp(file->path, others[i]) == 0)
            return false;
    }
    return file != file_of(bundle) && output_of(file->path, &name) == 0;
}

/* The code as one text: that of the module, or the hash of the program. Where more files belong to
 * it, the paths and hashes of all, after a byte that no module begins with: a line of the list must
 * not be a line of code as well. */
static void write_code(mcp_buf *out, const casparian_bundle *bundle)
{
    const casparian_bundle_file *entrypoint = file_of(bundle);
    size_t more = 0;
    for (size_t i = 0; i < bundle->file_count; i++)
        more += is_more_code(bundle, &bundle->files[i]);
    if (more == 0 && bundle->source)
        mcp_buf_append(out, bundle->source, bundle->source_length);
    else if (more == 0)
        mcp_buf_printf(out, "binary_sha256:%s", entrypoint->hash);
    else
        mcp_buf_putc(out, '\x01');
    for (size_t i = 0; more > 0 && i < bundle->file_count; i++) {
        const casparian_bundle_file *file = &bundle->files[i];
        if (file == entrypoint || is_more_code(bundle, file))
            mcp_buf_printf(out, "%s sha256:%s\n", file->path, file->hash);
    }
}

static void write_canonical(mcp_buf *out, const mcp_json *json, mcp_error *err)
{
    if (json && mcp_json_count(json))
        keys_canonical(out, json, err);
    else
        mcp_buf_puts(out, "{}");
}

mcp_status casparian_bundle_hash(char out[CASPARIAN_HASH_SIZE], const casparian_bundle *bundle,
                                 mcp_error *err)
{
    mcp_buf code, manifest, schemas;
    mcp_buf_init(&code, CANONICAL_MAX);
    mcp_buf_init(&manifest, CANONICAL_MAX);
    mcp_buf_init(&schemas, CANONICAL_MAX);
    write_code(&code, bundle);
    write_canonical(&manifest, bundle->manifest, err);
    write_canonical(&schemas, bundle->schemas, err);
    const char *parts[] = { code.length ? code.data : "", bundle->lockfile, manifest.data,
                            schemas.data };
    mcp_status st = code.status || manifest.status || schemas.status || !manifest.data ||
                            !schemas.data
                        ? no_memory(err)
                        : casparian_hash_parts(out, parts, 4, err);
    mcp_buf_clear(&code);
    mcp_buf_clear(&manifest);
    mcp_buf_clear(&schemas);
    return st;
}

const char *casparian_bundle_listed(const mcp_json *list, const char *path)
{
    for (size_t i = 0; i < mcp_json_count(list); i++) {
        const mcp_json *entry = mcp_json_item(list, i);
        const char *name = mcp_json_get_string(entry, "path");
        if (name && strcmp(name, path) == 0)
            return mcp_json_get_string(entry, "sha256");
    }
    return NULL;
}
