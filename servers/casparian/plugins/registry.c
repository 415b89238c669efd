/*
 * registry.c - finding and loading plugins.
 *
 * Nothing is kept but what costs a process: the path of the interpreter, and what Python's parser
 * said of a module, by the hash of its text. Everything else is read again each time, so that a
 * changed file is seen at once.
 */
#include "plugins/registry.h"

#include <dirent.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "keys/canonical.h"
#include "plugins/bundle.h"
#include "plugins/declared.h"
#include "plugins/metadata.h"
#include "plugins/trust.h"

enum { KNOWN_MAX = 256, NAMES_MAX = 4096, NEAR_DISTANCE = 3, VENV_DIGITS = 16 };

/* What Python said of a module. */
struct known {
    struct known *next;
    char hash[KEYS_HEX_SIZE];
    char *json;
    size_t length;
};

struct casparian_registry {
    mcp_arena *arena;
    casparian_registry_options options;

    pthread_mutex_t lock; /* of what follows */
    char *python;         /* NULL: not found yet */
    struct known *known;
    size_t known_count;
};

static mcp_status no_memory(mcp_error *err)
{
    return mcp_error_set(err, MCP_E_NOMEM, "no memory for plugins");
}

/* ---- making ---------------------------------------------------------------------------------- */

static const char *keep(casparian_registry *self, const char *text, size_t *failures)
{
    const char *copy = mcp_arena_strdup(self->arena, text);
    *failures += text && !copy;
    return copy;
}

static const char *const *keep_all(casparian_registry *self, const char *const *texts, size_t count,
                                   size_t *failures)
{
    const char **copies = mcp_arena_array(self->arena, count + 1, sizeof *copies);
    *failures += !copies;
    for (size_t i = 0; copies && i < count; i++)
        copies[i] = keep(self, texts[i], failures);
    return copies;
}

static void keep_settings(casparian_registry *self, const casparian_registry_options *from,
                          size_t *failures)
{
    casparian_plugin_settings *settings = mcp_arena_array(self->arena, from->setting_count + 1,
                                                          sizeof *settings);
    casparian_signer *signers = mcp_arena_array(self->arena, from->signer_count + 1,
                                                sizeof *signers);
    *failures += !settings + !signers;
    for (size_t i = 0; settings && i < from->setting_count; i++) {
        const casparian_plugin_settings *one = &from->settings[i];
        settings[i] = *one;
        settings[i].id = keep(self, one->id, failures);
        settings[i].patterns = keep_all(self, one->patterns, one->pattern_count, failures);
        settings[i].env = keep_all(self, one->env, one->env_count, failures);
    }
    for (size_t i = 0; signers && i < from->signer_count; i++) {
        signers[i] = from->signers[i];
        signers[i].name = keep(self, from->signers[i].name, failures);
    }
    self->options.settings = settings;
    self->options.signers = signers;
}

static mcp_status check_settings(const casparian_registry_options *options, mcp_error *err)
{
    for (size_t i = 0; i < options->setting_count; i++) {
        const char *id = options->settings[i].id;
        if (!id || !casparian_plugin_id_is_valid(id))
            return mcp_error_set(err, MCP_E_PARAMS, "[plugins.%s]: that is no id of a plugin",
                                 id ? id : "");
    }
    return MCP_OK;
}

mcp_status casparian_registry_new(casparian_registry **out,
                                  const casparian_registry_options *options, mcp_error *err)
{
    size_t failures = 0;
    mcp_status st = check_settings(options, err);
    if (st != MCP_OK)
        return st;
    casparian_registry *self = calloc(1, sizeof *self);
    mcp_arena *arena = mcp_arena_new(0);
    if (!self || !arena) {
        free(self);
        mcp_arena_free(arena);
        return no_memory(err);
    }
    self->arena = arena;
    pthread_mutex_init(&self->lock, NULL);
    self->options = *options;
    self->options.home = keep(self, options->home, &failures);
    self->options.shipped = keep(self, options->shipped, &failures);
    self->options.python = keep(self, options->python, &failures);
    self->options.dev_paths = keep_all(self, options->dev_paths, options->dev_path_count,
                                       &failures);
    keep_settings(self, options, &failures);
    if (failures) {
        casparian_registry_free(self);
        return no_memory(err);
    }
    *out = self;
    return MCP_OK;
}

void casparian_registry_free(casparian_registry *self)
{
    if (!self)
        return;
    while (self->known) {
        struct known *next = self->known->next;
        free(self->known->json);
        free(self->known);
        self->known = next;
    }
    free(self->python);
    pthread_mutex_destroy(&self->lock);
    mcp_arena_free(self->arena);
    free(self);
}

/* ---- Python ---------------------------------------------------------------------------------- */

/* The venv that a human made for a lockfile; NULL: there is none. */
static const char *venv_of(const casparian_registry *self, mcp_arena *arena,
                           const casparian_bundle *bundle)
{
    uint8_t digest[MCP_SHA256_SIZE];
    char hash[KEYS_HEX_SIZE];
    if (!bundle->lockfile || !self->options.home ||
        mcp_sha256(digest, bundle->lockfile, strlen(bundle->lockfile), NULL) != MCP_OK)
        return NULL;
    keys_hex(hash, digest);
    const char *path = mcp_arena_printf(arena, "%s/venvs/%.*s/bin/python", self->options.home,
                                        VENV_DIGITS, hash);
    return path && access(path, X_OK) == 0 ? path : NULL;
}

/* @param out in the arena; NULL where there is no interpreter */
static mcp_status python_of(const char **out, casparian_registry *self, mcp_arena *arena,
                            const casparian_bundle *bundle, mcp_error *err)
{
    const char *found = NULL;
    const char *venv = self->options.python ? NULL : venv_of(self, arena, bundle);
    mcp_status st = MCP_OK;
    if (venv) {
        *out = venv;
        return MCP_OK;
    }
    pthread_mutex_lock(&self->lock);
    if (!self->python)
        st = casparian_python_find(&found, arena, self->options.python, err);
    if (found)
        self->python = strdup(found);
    if (st == MCP_OK && !self->python)
        st = no_memory(err);
    *out = st == MCP_OK ? mcp_arena_strdup(arena, self->python) : NULL;
    pthread_mutex_unlock(&self->lock);
    if (st == MCP_E_NOT_FOUND)
        return mcp_error_set(err, MCP_E_UNSUPPORTED,
                             "no Python interpreter runs; install python3 or set [plugins] python");
    return st == MCP_OK && !*out ? no_memory(err) : st;
}

/* The known answer for a module, copied into the arena. */
static const char *recall(casparian_registry *self, mcp_arena *arena, const char *hash,
                          size_t *length)
{
    const char *copy = NULL;
    pthread_mutex_lock(&self->lock);
    for (struct known *one = self->known; one && !copy; one = one->next) {
        if (strcmp(one->hash, hash) == 0) {
            *length = one->length;
            copy = mcp_arena_strndup(arena, one->json, one->length);
        }
    }
    pthread_mutex_unlock(&self->lock);
    return copy;
}

/* Keeps an answer, if there is memory; the oldest goes. */
static void remember(casparian_registry *self, const char *hash, const mcp_json *json)
{
    mcp_buf text;
    mcp_json_writer writer;
    struct known *one = calloc(1, sizeof *one);

    mcp_buf_init(&text, CASPARIAN_BUNDLE_TEXT_MAX);
    mcp_json_writer_init(&writer, &text);
    mcp_write_value(&writer, json);
    if (!one || mcp_json_writer_status(&writer) != MCP_OK) {
        free(one);
        mcp_buf_clear(&text);
        return;
    }
    memcpy(one->hash, hash, sizeof one->hash);
    one->json = mcp_buf_take(&text, &one->length);
    pthread_mutex_lock(&self->lock);
    one->next = self->known;
    self->known = one;
    if (++self->known_count > KNOWN_MAX) {
        struct known **last = &self->known;
        while ((*last)->next)
            last = &(*last)->next;
        free((*last)->json);
        free(*last);
        *last = NULL;
        self->known_count--;
    }
    pthread_mutex_unlock(&self->lock);
}

static mcp_status metadata_of(const mcp_json **out, casparian_registry *self, mcp_arena *arena,
                              const casparian_bundle *bundle, const char *python, mcp_error *err)
{
    uint8_t digest[MCP_SHA256_SIZE];
    char hash[KEYS_HEX_SIZE];
    size_t length = 0;
    mcp_status st = mcp_sha256(digest, bundle->source, bundle->source_length, err);
    if (st != MCP_OK)
        return st;
    keys_hex(hash, digest);
    const char *known = recall(self, arena, hash, &length);
    if (known)
        return mcp_json_read(out, arena, known, length, err);
    st = casparian_python_metadata(out, arena, python, bundle->source, bundle->source_length, err);
    if (st == MCP_OK)
        remember(self, hash, *out);
    else if (st == MCP_E_PARSE) {
        mcp_error why = err ? *err : (mcp_error)MCP_ERROR_INIT;
        mcp_error_set(err, MCP_E_PARSE, "%s: %s", bundle->entrypoint, why.message);
    }
    return st;
}

/* ---- loading --------------------------------------------------------------------------------- */

/* Where a plugin is. */
struct place {
    casparian_origin origin;
    const char *id, *version; /* by the folders; NULL: of a dev plugin */
    const char *path;         /* a folder, or a module of a dev plugin */
    const char *given;        /* of a dev plugin: the path as it was named */
    const mcp_json *pinned;   /* of a shipped plugin */
    bool is_module;
};

static void take_settings(const casparian_registry *self, casparian_plugin *plugin)
{
    for (size_t i = 0; i < self->options.setting_count; i++) {
        if (strcmp(self->options.settings[i].id, plugin->id) == 0)
            plugin->settings = self->options.settings[i];
    }
}

/* An installed plugin is what was imported, or it is not installed. */
static void check_import(const casparian_registry *self, casparian_plugin *plugin)
{
    char hash[CASPARIAN_HASH_SIZE] = "";
    if (plugin->origin != CASPARIAN_INSTALLED || !self->options.imported)
        return;
    if (!self->options.imported(self->options.data, hash, plugin->id, plugin->version)) {
        plugin->is_trusted = false;
        plugin->reason = "It was never imported.";
        return;
    }
    if (strcmp(hash, plugin->artifact_hash) == 0)
        return;
    plugin->is_trusted = false;
    plugin->is_modified = true;
    plugin->reason = "It is not what was imported.";
}

static mcp_status describe(casparian_plugin *out, casparian_registry *self, mcp_arena *arena,
                           const struct place *place, const casparian_bundle *bundle,
                           mcp_error *err)
{
    const casparian_registry_options *options = &self->options;
    casparian_trust trust = { .allow_unsigned_python = options->allow_unsigned_python,
                              .allow_unsigned_native = options->allow_unsigned_native,
                              .allow_dev_plugins = options->allow_dev_plugins,
                              .signers = options->signers,
                              .signer_count = options->signer_count };
    const mcp_json *metadata = NULL;
    mcp_status st = MCP_OK;

    *out = (casparian_plugin){ .runtime = bundle->runtime,
                               .origin = place->origin,
                               .dir = bundle->dir,
                               .entrypoint = bundle->entrypoint,
                               .is_module = place->is_module };
    if (bundle->runtime == CASPARIAN_PYTHON) {
        st = python_of(&out->python, self, arena, bundle, err);
        if (st == MCP_OK)
            st = metadata_of(&metadata, self, arena, bundle, out->python, err);
    } else {
        st = casparian_plugin_host(&out->host, arena, bundle->entrypoint, self->options.shipped,
                                   err);
    }
    if (st == MCP_OK)
        st = casparian_declared_read(out, arena, bundle, metadata, err);
    if (st == MCP_OK && place->id &&
        (strcmp(out->id, place->id) != 0 || strcmp(out->version, place->version) != 0))
        st = mcp_error_set(err, MCP_E_PARSE, "%s is a folder of %s %s, and its plugin is %s %s",
                           bundle->dir, place->id, place->version, out->id, out->version);
    if (st == MCP_OK)
        st = casparian_bundle_hash(out->artifact_hash, bundle, err);
    if (st == MCP_OK)
        st = casparian_trust_decide(out, arena, &trust, bundle, place->pinned, err);
    if (st != MCP_OK)
        return st;
    check_import(self, out);
    take_settings(self, out);
    out->display = place->given ? place->given
                                : mcp_arena_printf(arena, "%s@%s", out->id, out->version);
    return out->display ? MCP_OK : no_memory(err);
}

static mcp_status load(casparian_plugin *out, casparian_registry *self, mcp_arena *arena,
                       const struct place *place, mcp_error *err)
{
    casparian_bundle bundle;
    mcp_status st = place->is_module ? casparian_module_read(&bundle, arena, place->path, err)
                                     : casparian_bundle_read(&bundle, arena, place->path, err);
    return st == MCP_OK ? describe(out, self, arena, place, &bundle, err) : st;
}

/* ---- finding --------------------------------------------------------------------------------- */

/* Places, as they are found. */
struct places {
    mcp_arena *arena;
    struct place *items;
    size_t count;
    bool is_truncated, is_out_of_memory;
};

static void add_place(struct places *self, struct place place)
{
    if (!self->items)
        self->items = mcp_arena_array(self->arena, CASPARIAN_PLUGINS_MAX, sizeof *self->items);
    if (!self->items || !place.path)
        self->is_out_of_memory = true;
    else if (self->count == CASPARIAN_PLUGINS_MAX)
        self->is_truncated = true;
    else
        self->items[self->count++] = place;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The names in a folder, sorted, without hidden ones; NULL and 0: it cannot be read. */
static const char **names_of(size_t *count, struct places *self, const char *path)
{
    DIR *folder = path ? opendir(path) : NULL;
    const char **names = folder ? mcp_arena_array(self->arena, NAMES_MAX, sizeof *names) : NULL;
    *count = 0;
    for (struct dirent *entry = names ? readdir(folder) : NULL; entry && *count < NAMES_MAX;
         entry = readdir(folder)) {
        if (entry->d_name[0] == '.')
            continue;
        names[*count] = mcp_arena_strdup(self->arena, entry->d_name);
        *count += names[*count] != NULL;
    }
    if (folder)
        closedir(folder);
    if (*count)
        qsort(names, *count, sizeof *names, by_name);
    return names;
}

static mcp_status find_shipped(struct places *self, const casparian_registry *registry,
                               mcp_error *err)
{
    const char *text = NULL, *root = registry->options.shipped;
    size_t length = 0;
    const mcp_json *json = NULL;
    const char *path = root ? mcp_arena_printf(self->arena, "%s/index.json", root) : NULL;
    if (!root)
        return MCP_OK;
    if (!path)
        return no_memory(err);
    mcp_status st = casparian_bundle_text(&text, &length, self->arena, path,
                                          CASPARIAN_BUNDLE_TEXT_MAX, err);
    if (st == MCP_OK)
        st = mcp_json_read(&json, self->arena, text, length, err);
    if (st != MCP_OK)
        return st;
    const mcp_json *plugins = mcp_json_get(json, "plugins");
    for (size_t i = 0; i < mcp_json_count(plugins); i++) {
        const mcp_json *one = mcp_json_item(plugins, i);
        struct place place = { .origin = CASPARIAN_SHIPPED,
                               .id = mcp_json_get_string(one, "name"),
                               .version = mcp_json_get_string(one, "version"),
                               .pinned = mcp_json_get(one, "files") };
        if (!place.id || !place.version)
            continue;
        place.path = mcp_arena_printf(self->arena, "%s/%s/%s", root, place.id, place.version);
        add_place(self, place);
    }
    return MCP_OK;
}

/* The folder of an installed version that fits this system: "<os>/<arch>" or "any/any". */
static const char *platform_folder(mcp_arena *arena, const char *version)
{
    struct utsname host;
    if (uname(&host) == 0) {
        char *path = mcp_arena_printf(arena, "%s/%s/%s", version, host.sysname, host.machine);
        for (char *c = path ? path + strlen(version) + 1 : NULL; c && *c != '/'; c++)
            *c = (char)(*c >= 'A' && *c <= 'Z' ? *c + ('a' - 'A') : *c);
        if (path && access(path, F_OK) == 0)
            return path;
    }
    const char *any = mcp_arena_printf(arena, "%s/any/any", version);
    return any && access(any, F_OK) == 0 ? any : NULL;
}

static void find_installed(struct places *self, const casparian_registry *registry)
{
    size_t id_count, version_count;
    const char *home = registry->options.home;
    const char *root = home ? mcp_arena_printf(self->arena, "%s/plugins", home) : NULL;
    const char **ids = names_of(&id_count, self, root);
    for (size_t i = 0; i < id_count; i++) {
        const char *folder = mcp_arena_printf(self->arena, "%s/%s", root, ids[i]);
        const char **versions = names_of(&version_count, self, folder);
        for (size_t k = 0; k < version_count; k++) {
            const char *version = mcp_arena_printf(self->arena, "%s/%s", folder, versions[k]);
            const char *path = version ? platform_folder(self->arena, version) : NULL;
            if (path)
                add_place(self, (struct place){ .origin = CASPARIAN_INSTALLED,
                                                .id = ids[i],
                                                .version = versions[k],
                                                .path = path });
        }
    }
}

static bool is_python_name(const char *name)
{
    size_t length = strlen(name);
    return length > 3 && strcmp(name + length - 3, ".py") == 0;
}

static void find_modules(struct places *self, const char *folder)
{
    size_t count;
    const char **names = names_of(&count, self, folder);
    for (size_t i = 0; i < count; i++) {
        const char *path = mcp_arena_printf(self->arena, "%s/%s", folder, names[i]);
        if (is_python_name(names[i]))
            add_place(self, (struct place){ .origin = CASPARIAN_DEV,
                                            .path = path,
                                            .given = path,
                                            .is_module = true });
    }
}

static void find_dev(struct places *self, const casparian_registry *registry)
{
    const char *home = registry->options.home;
    if (home)
        find_modules(self, mcp_arena_printf(self->arena, "%s/parsers", home));
    for (size_t i = 0; i < registry->options.dev_path_count; i++)
        find_modules(self, registry->options.dev_paths[i]);
}

/* ---- listing --------------------------------------------------------------------------------- */

static int by_id_and_version(const void *a, const void *b)
{
    const casparian_plugin *one = a, *other = b;
    bool is_dev = one->origin == CASPARIAN_DEV, other_is_dev = other->origin == CASPARIAN_DEV;
    if (is_dev != other_is_dev)
        return is_dev - other_is_dev;
    int order = strcmp(one->id, other->id);
    if (order == 0)
        order = casparian_version_compare(other->version, one->version);
    return order ? order : strcmp(one->dir, other->dir);
}

mcp_status casparian_registry_list(casparian_plugin_list *out, mcp_arena *arena,
                                   casparian_registry *self, bool include_dev, mcp_error *err)
{
    struct places places = { .arena = arena };
    mcp_error why = MCP_ERROR_INIT;
    mcp_status shipped = find_shipped(&places, self, &why);
    find_installed(&places, self);
    if (include_dev)
        find_dev(&places, self);
    casparian_plugin *items = mcp_arena_array(arena, places.count + 1, sizeof *items);
    casparian_plugin_fault *faults = mcp_arena_array(arena, places.count + 1, sizeof *faults);
    if (places.is_out_of_memory || !items || !faults || shipped == MCP_E_NOMEM)
        return no_memory(err);
    *out = (casparian_plugin_list){ .items = items,
                                    .faults = faults,
                                    .is_truncated = places.is_truncated };
    if (shipped != MCP_OK)
        faults[out->fault_count++] = (casparian_plugin_fault){
            .path = self->options.shipped, .message = mcp_arena_strdup(arena, why.message)
        };
    for (size_t i = 0; i < places.count; i++) {
        mcp_status st = load(&items[out->count], self, arena, &places.items[i], &why);
        if (st == MCP_OK)
            out->count++;
        else if (st == MCP_E_NOMEM)
            return no_memory(err);
        else
            faults[out->fault_count++] = (casparian_plugin_fault){
                .path = places.items[i].path, .message = mcp_arena_strdup(arena, why.message)
            };
    }
    if (out->count)
        qsort(items, out->count, sizeof *items, by_id_and_version);
    return MCP_OK;
}

/* ---- references ------------------------------------------------------------------------------ */

static mcp_status read_object(casparian_plugin_ref *out, const mcp_json *json, mcp_error *err)
{
    *out = (casparian_plugin_ref){ .id = mcp_json_get_string(json, "plugin"),
                                   .version = mcp_json_get_string(json, "version"),
                                   .path = mcp_json_get_string(json, "path") };
    if ((!out->id && !out->path) || (out->id && out->path))
        return mcp_error_set(err, MCP_E_PARAMS,
                             "a plugin is named by {\"plugin\": id, \"version\": v}, "
                             "{\"path\": p}, or \"id@version\"");
    return MCP_OK;
}

mcp_status casparian_plugin_ref_read(casparian_plugin_ref *out, mcp_arena *arena,
                                     const mcp_json *json, mcp_error *err)
{
    size_t length = 0;
    const char *text = mcp_json_string(json, &length);
    const mcp_json *inner = NULL;

    if (mcp_json_is_object(json))
        return read_object(out, json, err);
    if (text && text[0] == '{' && mcp_json_read(&inner, arena, text, length, NULL) == MCP_OK)
        return read_object(out, inner, err);
    if (!text || length == 0 || strlen(text) != length)
        return read_object(out, NULL, err);
    const char *at = strchr(text, '@');
    *out = (casparian_plugin_ref){ .id = text };
    if (!at)
        return MCP_OK;
    out->id = mcp_arena_strndup(arena, text, (size_t)(at - text));
    out->version = at + 1;
    return out->id ? MCP_OK : no_memory(err);
}

/* ---- resolving ------------------------------------------------------------------------------- */

/* Levenshtein's distance, for texts of at most CASPARIAN_PLUGIN_ID_MAX bytes. */
static size_t distance(const char *a, const char *b)
{
    size_t row[CASPARIAN_PLUGIN_ID_MAX + 2], length = strlen(b);
    if (strlen(a) > CASPARIAN_PLUGIN_ID_MAX || length > CASPARIAN_PLUGIN_ID_MAX)
        return SIZE_MAX;
    for (size_t k = 0; k <= length; k++)
        row[k] = k;
    for (size_t i = 0; a[i]; i++) {
        size_t corner = row[0];
        row[0] = i + 1;
        for (size_t k = 0; k < length; k++) {
            size_t above = row[k + 1], best = corner + (a[i] != b[k]);
            best = above + 1 < best ? above + 1 : best;
            best = row[k] + 1 < best ? row[k] + 1 : best;
            corner = above;
            row[k + 1] = best;
        }
    }
    return row[length];
}

/* The nearest ids, the nearest first; those that have the text in them count as near. */
static void set_nearest(casparian_plugin_problem *problem, const struct places *places,
                        const char *id)
{
    size_t count = 0;
    for (size_t near = 0; near <= NEAR_DISTANCE + 1; near++) {
        for (size_t i = 0; i < places->count && count < CASPARIAN_NEAREST_MAX; i++) {
            const char *other = places->items[i].id;
            size_t apart = distance(id, other);
            if (apart > NEAR_DISTANCE)
                apart = *id && strstr(other, id) ? NEAR_DISTANCE + 1 : SIZE_MAX;
            bool is_new = apart == near;
            for (size_t k = 0; k < count; k++)
                is_new = is_new && strcmp(problem->nearest[k], other) != 0;
            if (is_new)
                problem->nearest[count++] = other;
        }
    }
}

/* Whether a place is to be taken instead of the one found so far. */
static bool is_better(const struct place *place, const struct place *found, const char *version)
{
    if (version)
        return !found && strcmp(place->version, version) == 0;
    if (!found)
        return true;
    bool is_stable = !casparian_version_is_prerelease(place->version);
    bool found_is_stable = !casparian_version_is_prerelease(found->version);
    if (is_stable != found_is_stable)
        return is_stable;
    return casparian_version_compare(place->version, found->version) > 0;
}

static mcp_status find_id(struct place *out, casparian_plugin_problem *problem,
                          casparian_registry *self, mcp_arena *arena,
                          const casparian_plugin_ref *ref, mcp_error *err)
{
    struct places places = { .arena = arena };
    const struct place *found = NULL;
    bool is_known = false;

    find_installed(&places, self); /* they come before what is shipped */
    mcp_status st = find_shipped(&places, self, err);
    if (st != MCP_OK)
        return st;
    for (size_t i = 0; i < places.count; i++) {
        if (strcmp(places.items[i].id, ref->id) != 0)
            continue;
        is_known = true;
        if (is_better(&places.items[i], found, ref->version))
            found = &places.items[i];
    }
    if (found) {
        *out = *found;
        return MCP_OK;
    }
    set_nearest(problem, &places, ref->id);
    problem->suggestion = "casparian_plugins lists what there is.";
    if (is_known)
        return mcp_error_set(err, MCP_E_NOT_FOUND, "the plugin %.80s has no version %.80s", ref->id,
                             ref->version);
    return mcp_error_set(err, MCP_E_NOT_FOUND, "there is no plugin %.80s", ref->id);
}

/* A module, a folder with casparian.toml, or a folder with exactly one module. */
static mcp_status find_path(struct place *out, mcp_arena *arena, const casparian_plugin_ref *ref,
                            const char *real_path, mcp_error *err)
{
    struct places modules = { .arena = arena };
    struct stat found;
    const char *manifest = mcp_arena_printf(arena, "%s/casparian.toml", real_path);

    *out = (struct place){ .origin = CASPARIAN_DEV, .path = real_path, .given = ref->path };
    if (!manifest)
        return no_memory(err);
    if (stat(real_path, &found) != 0)
        return mcp_error_set(err, MCP_E_NOT_FOUND, "there is no '%s'", ref->path);
    out->is_module = S_ISREG(found.st_mode) && is_python_name(real_path);
    if (out->is_module || (S_ISDIR(found.st_mode) && access(manifest, F_OK) == 0))
        return MCP_OK;
    if (S_ISDIR(found.st_mode))
        find_modules(&modules, real_path);
    if (modules.count != 1)
        return mcp_error_set(
            err, MCP_E_PARAMS,
            "there is no plugin at %s: one is a .py file, a folder with casparian.toml, or "
            "a folder with exactly one .py file",
            ref->path);
    out->path = modules.items[0].path;
    out->is_module = true;
    return MCP_OK;
}

static const char *code_of(mcp_status st)
{
    if (st == MCP_E_NOT_FOUND)
        return "not_found";
    return st == MCP_E_PARAMS ? "invalid_arguments" : "plugin_error";
}

mcp_status casparian_registry_resolve(casparian_plugin *out, casparian_plugin_problem *problem,
                                      mcp_arena *arena, casparian_registry *self,
                                      const casparian_plugin_ref *ref, const char *real_path,
                                      mcp_error *err)
{
    casparian_plugin_problem unused;
    struct place place = { .path = NULL };
    problem = problem ? problem : &unused;
    *problem = (casparian_plugin_problem){ .code = NULL };
    mcp_status st = ref->id ? find_id(&place, problem, self, arena, ref, err)
                            : find_path(&place, arena, ref, real_path, err);
    if (st == MCP_OK)
        st = load(out, self, arena, &place, err);
    if (st != MCP_OK)
        problem->code = code_of(st);
    return st;
}

/* ---- before a job ---------------------------------------------------------------------------- */

/* Loads the same plugin once more. */
static mcp_status load_again(casparian_plugin *out, casparian_registry *self, mcp_arena *arena,
                             const casparian_plugin *plugin, mcp_error *err)
{
    struct places places = { .arena = arena };
    struct place place = { .origin = plugin->origin,
                           .path = plugin->is_module ? plugin->entrypoint : plugin->dir,
                           .given = plugin->origin == CASPARIAN_DEV ? plugin->display : NULL,
                           .is_module = plugin->is_module };
    mcp_status st = plugin->origin == CASPARIAN_SHIPPED ? find_shipped(&places, self, err) : MCP_OK;
    for (size_t i = 0; i < places.count; i++) {
        if (strcmp(places.items[i].path, plugin->dir) == 0)
            place.pinned = places.items[i].pinned;
    }
    return st == MCP_OK ? load(out, self, arena, &place, err) : st;
}

mcp_status casparian_registry_verify(casparian_plugin_problem *problem, mcp_arena *arena,
                                     casparian_registry *self, const casparian_plugin *plugin,
                                     mcp_error *err)
{
    casparian_plugin_problem unused;
    casparian_plugin now = { .id = NULL };
    problem = problem ? problem : &unused;
    *problem = (casparian_plugin_problem){ .code = "plugin_not_trusted" };
    if (plugin->is_modified) {
        problem->code = "plugin_modified";
        problem->suggestion = casparian_trust_suggestion(plugin);
        return mcp_error_set(err, MCP_E_EXISTS, "the plugin %s may not run. %s", plugin->display,
                             plugin->reason);
    }
    if (!plugin->is_trusted) {
        problem->suggestion = casparian_trust_suggestion(plugin);
        return mcp_error_set(err, MCP_E_DENIED, "the plugin %s may not run. %s", plugin->display,
                             plugin->reason);
    }
    mcp_status st = load_again(&now, self, arena, plugin, err);
    if (st == MCP_E_NOMEM)
        return st;
    if (st != MCP_OK || strcmp(now.artifact_hash, plugin->artifact_hash) != 0) {
        problem->code = "plugin_modified";
        problem->suggestion = "Start again with the plugin as it is now.";
        return mcp_error_set(err, MCP_E_EXISTS,
                             "the plugin %s was changed or removed since it was looked up",
                             plugin->display);
    }
    if (!now.is_trusted) {
        problem->suggestion = casparian_trust_suggestion(&now);
        return mcp_error_set(err, MCP_E_DENIED, "the plugin %s may not run. %s", plugin->display,
                             now.reason);
    }
    problem->code = NULL;
    return MCP_OK;
}
