/*
 * test_registry.c - plugins are found, described without being executed, and run only where
 * somebody answers for them.
 */
#include "plugins/registry.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "keys/base64.h"
#include "keys/canonical.h"
#include "mcp/hash.h"
#include "plugins/bundle.h"
#include "scratch.h"

typedef struct home {
    scratch folder;
    mcp_arena *arena;
    casparian_registry_options options;
    casparian_registry *registry;
    casparian_plugin plugin;
    casparian_plugin_problem problem;
    mcp_error err;
    mcp_buf index; /* of what is shipped */
} home;

static home all;

/* The module says that it ran, if it ever does. */
static const char module[] =
    "open('made-by-a-module', 'w')\n"
    "name = 'demo'\n"
    "version = '1.0.0'\n"
    "topics = ['texts']\n"
    "outputs = {'rows': {'columns': [{'name': 'a', 'type': 'int64', 'nullable': False}]}}\n"
    "import subprocess\n"
    "def parse(path):\n"
    "    yield {'a': 1}\n";

static const char manifest[] = "name = \"demo\"\n"
                               "version = \"1.0.0\"\n"
                               "protocol_version = \"0.1\"\n"
                               "runtime_kind = \"python_shim\"\n"
                               "entrypoint = \"demo.py\"\n";

static const char *path_of(home *self, const char *relative)
{
    return mcp_arena_strdup(self->arena, scratch_path(&self->folder, relative));
}

static void write_text(home *self, const char *folder, const char *name, const char *text)
{
    char relative[300];
    snprintf(relative, sizeof relative, "%s/%s", folder, name);
    scratch_write(&self->folder, relative, text, strlen(text));
}

static int set_up(void **state)
{
    memset(&all, 0, sizeof all);
    scratch_open(&all.folder);
    all.arena = mcp_arena_new(0);
    mcp_buf_init(&all.index, 65536);
    all.options.home = path_of(&all, "home");
    all.options.shipped = path_of(&all, "shipped");
    write_text(&all, "shipped", "index.json", "{\"plugins\":[]}");
    unlink("made-by-a-module");
    *state = &all;
    return 0;
}

static int tear_down(void **state)
{
    home *self = *state;
    assert_int_not_equal(access("made-by-a-module", F_OK), 0);
    casparian_registry_free(self->registry);
    mcp_buf_clear(&self->index);
    mcp_arena_free(self->arena);
    scratch_close(&self->folder);
    return 0;
}

static void hash_text(char out[KEYS_HEX_SIZE], const char *text)
{
    uint8_t digest[MCP_SHA256_SIZE];
    mcp_sha256(digest, text, strlen(text), NULL);
    keys_hex(out, digest);
}

/* Another version of the plugin, in its texts. */
static const char *with_version(home *self, const char *text, const char *version)
{
    const char *at = strstr(text, "1.0.0");
    return mcp_arena_printf(self->arena, "%.*s%s%s", (int)(at - text), text, version, at + 5);
}

static void ship(home *self, const char *version)
{
    char folder[100], first[KEYS_HEX_SIZE], second[KEYS_HEX_SIZE];
    const char *own_manifest = with_version(self, manifest, version);
    const char *own_module = with_version(self, module, version);
    snprintf(folder, sizeof folder, "shipped/demo/%s", version);
    write_text(self, folder, "casparian.toml", own_manifest);
    write_text(self, folder, "demo.py", own_module);
    hash_text(first, own_manifest);
    hash_text(second, own_module);
    mcp_buf_printf(&self->index,
                   "%s{\"name\":\"demo\",\"version\":\"%s\",\"runtime\":\"python\",\"files\":["
                   "{\"path\":\"casparian.toml\",\"sha256\":\"%s\"},"
                   "{\"path\":\"demo.py\",\"sha256\":\"%s\"}]}",
                   self->index.length ? "," : "", version, first, second);
    write_text(self, "shipped", "index.json",
               mcp_arena_printf(self->arena, "{\"plugins\":[%s]}", self->index.data));
}

static void install(home *self)
{
    write_text(self, "home/plugins/demo/1.0.0/any/any", "casparian.toml", manifest);
    write_text(self, "home/plugins/demo/1.0.0/any/any", "demo.py", module);
}

/* Signs what is installed. */
static void sign(home *self, const keys_pair *pair, const char *signer)
{
    char first[KEYS_HEX_SIZE], second[KEYS_HEX_SIZE];
    uint8_t digest[MCP_SHA256_SIZE], signature[KEYS_SIGNATURE_SIZE];
    mcp_buf text;
    hash_text(first, manifest);
    hash_text(second, module);
    const char *index = mcp_arena_printf(
        self->arena,
        "{\"files\":[{\"path\":\"casparian.toml\",\"sha256\":\"%s\"},"
        "{\"path\":\"demo.py\",\"sha256\":\"%s\"}],\"signer\":\"%s\"}",
        first, second, signer);
    mcp_sha256(digest, index, strlen(index), NULL);
    assert_int_equal(keys_sign(signature, pair, digest, sizeof digest, NULL), MCP_OK);
    mcp_buf_init(&text, 1000);
    keys_base64(&text, signature, sizeof signature);
    write_text(self, "home/plugins/demo/1.0.0/any/any", "bundle.index.json", index);
    write_text(self, "home/plugins/demo/1.0.0/any/any", "bundle.sig", text.data);
    mcp_buf_clear(&text);
}

static casparian_registry *open_registry(home *self)
{
    if (!self->registry &&
        casparian_registry_new(&self->registry, &self->options, &self->err) != MCP_OK)
        fail_msg("%s", self->err.message);
    return self->registry;
}

/* Finds a plugin by the JSON of a reference. */
static mcp_status resolve(home *self, const char *json, const char *real_path)
{
    const mcp_json *value = NULL;
    casparian_plugin_ref ref;
    mcp_status st = mcp_json_read(&value, self->arena, json, strlen(json), &self->err);
    if (st == MCP_OK)
        st = casparian_plugin_ref_read(&ref, self->arena, value, &self->err);
    return st == MCP_OK
               ? casparian_registry_resolve(&self->plugin, &self->problem, self->arena,
                                            open_registry(self), &ref, real_path, &self->err)
               : st;
}

static void finds(home *self, const char *json, const char *display)
{
    if (resolve(self, json, NULL) != MCP_OK)
        fail_msg("%s", self->err.message);
    assert_string_equal(self->plugin.display, display);
}

static mcp_status verify(home *self)
{
    return casparian_registry_verify(&self->problem, self->arena, open_registry(self),
                                     &self->plugin, &self->err);
}

/* ---- finding --------------------------------------------------------------------------------- */

static void a_shipped_plugin_is_described(void **state)
{
    home *self = *state;
    ship(self, "1.0.0");
    finds(self, "\"demo\"", "demo@1.0.0");
    assert_int_equal(self->plugin.origin, CASPARIAN_SHIPPED);
    assert_true(self->plugin.is_trusted);
    assert_int_equal(self->plugin.topic_count, 1);
    assert_string_equal(self->plugin.topics[0], "texts");
    assert_string_equal(self->plugin.default_output, "rows");
    assert_int_equal(self->plugin.schemas.count, 1);
    assert_string_equal(self->plugin.schemas.items[0].columns[0].name, "a");
    assert_false(self->plugin.schemas.items[0].columns[0].is_nullable);
    assert_int_equal(self->plugin.import_warning_count, 1);
    assert_string_equal(self->plugin.import_warnings[0], "it imports subprocess");
    assert_int_equal(verify(self), MCP_OK);
}

static void references_have_many_forms(void **state)
{
    home *self = *state;
    ship(self, "1.0.0");
    ship(self, "1.2.0");
    ship(self, "2.0.0-rc.1");
    finds(self, "\"demo\"", "demo@1.2.0"); /* the highest that is stable */
    finds(self, "\"demo@1.0.0\"", "demo@1.0.0");
    finds(self, "{\"plugin\":\"demo\",\"version\":\"2.0.0-rc.1\"}", "demo@2.0.0-rc.1");
    finds(self, "\"{\\\"plugin\\\":\\\"demo\\\"}\"", "demo@1.2.0");
    assert_int_equal(resolve(self, "17", NULL), MCP_E_PARAMS);
    assert_int_equal(resolve(self, "{\"version\":\"1.0.0\"}", NULL), MCP_E_PARAMS);
    assert_int_equal(resolve(self, "\"demo@3.0.0\"", NULL), MCP_E_NOT_FOUND);
    assert_non_null(strstr(self->err.message, "demo has no version 3.0.0"));
}

static void a_wrong_id_has_its_nearest(void **state)
{
    home *self = *state;
    ship(self, "1.0.0");
    assert_int_equal(resolve(self, "\"dmeo\"", NULL), MCP_E_NOT_FOUND);
    assert_string_equal(self->problem.code, "not_found");
    assert_string_equal(self->problem.nearest[0], "demo");
    assert_null(self->problem.nearest[1]);
    assert_int_equal(resolve(self, "\"something_else\"", NULL), MCP_E_NOT_FOUND);
    assert_null(self->problem.nearest[0]);
}

static void a_listing_has_plugins_and_faults(void **state)
{
    home *self = *state;
    casparian_plugin_list list;
    ship(self, "1.0.0");
    ship(self, "1.2.0");
    write_text(self, "home/parsers", "mine.py", "def parse(path): pass\n");
    write_text(self, "home/parsers", "wrong.py", "def parse(:\n");
    write_text(self, "home/parsers", "notes.txt", "x");
    assert_int_equal(
        casparian_registry_list(&list, self->arena, open_registry(self), false, &self->err),
        MCP_OK);
    assert_int_equal(list.count, 2);
    assert_string_equal(list.items[0].display, "demo@1.2.0");
    assert_int_equal(list.fault_count, 0);
    assert_int_equal(
        casparian_registry_list(&list, self->arena, open_registry(self), true, &self->err), MCP_OK);
    assert_int_equal(list.count, 3);
    assert_string_equal(list.items[2].id, "mine");
    assert_string_equal(list.items[2].version, "0.0.0-dev");
    assert_int_equal(list.fault_count, 1);
    assert_non_null(strstr(list.faults[0].path, "wrong.py"));
    assert_non_null(strstr(list.faults[0].message, "line 1"));
}

static void a_path_is_a_module_or_a_folder(void **state)
{
    home *self = *state;
    self->options.allow_dev_plugins = true;
    write_text(self, "work", "only.py", "name = 'mine'\ndef parse(path): pass\n");
    assert_int_equal(resolve(self, "{\"path\":\"./work\"}", path_of(self, "work")), MCP_OK);
    assert_string_equal(self->plugin.id, "mine");
    assert_string_equal(self->plugin.display, "./work");
    assert_true(self->plugin.is_trusted && self->plugin.is_unsigned);
    write_text(self, "work", "second.py", "def parse(path): pass\n");
    assert_int_equal(resolve(self, "{\"path\":\"./work\"}", path_of(self, "work")), MCP_E_PARAMS);
    assert_string_equal(self->problem.code, "invalid_arguments");
    assert_int_equal(resolve(self, "{\"path\":\"w/second.py\"}", path_of(self, "work/second.py")),
                     MCP_OK);
    assert_string_equal(self->plugin.id, "second");
}

/* ---- declarations ---------------------------------------------------------------------------- */

static mcp_status resolve_module(home *self, const char *source)
{
    write_text(self, "work", "one.py", source);
    return resolve(self, "{\"path\":\"one.py\"}", path_of(self, "work/one.py"));
}

static void what_is_no_literal_is_incomplete(void **state)
{
    home *self = *state;
    assert_int_equal(resolve_module(self, "name = 'a' + 'b'\ntopics = [x]\nclass X: pass\n"
                                          "outputs = {'o': X()}\ndef parse(path): pass\n"),
                     MCP_OK);
    assert_true(self->plugin.has_incomplete_metadata);
    assert_string_equal(self->plugin.id, "one");
    assert_int_equal(self->plugin.output_count, 0);
}

static void literals_may_stand_side_by_side(void **state)
{
    home *self = *state;
    assert_int_equal(resolve_module(self, "name, version, topics = 'orders', '1.2.3', ['shop']\n"
                                          "def parse(path): pass\n"),
                     MCP_OK);
    assert_string_equal(self->plugin.id, "orders");
    assert_string_equal(self->plugin.version, "1.2.3");
    assert_string_equal(self->plugin.topics[0], "shop");
    assert_false(self->plugin.has_incomplete_metadata);
}

static void wrong_declarations_are_refused(void **state)
{
    static const struct {
        const char *source, *message;
    } rows[] = {
        { "x = 1\n", "no function parse" },
        { "name = 'Not An Id'\ndef parse(p): pass\n", "it has no name" },
        { "version = 'one'\ndef parse(p): pass\n", "no semantic version" },
        { "outputs = {'Rows': {}}\ndef parse(p): pass\n", "no name of an output" },
        { "outputs = {'r': {'columns': [{'name': 'a', 'type': 'integre'}]}}\ndef parse(p): pass\n",
          "/r/columns/0/type" },
        { "def parse(p)\n", "line 1" },
    };
    home *self = *state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(resolve_module(self, rows[i].source), MCP_E_PARSE);
        assert_string_equal(self->problem.code, "plugin_error");
        if (!strstr(self->err.message, rows[i].message))
            fail_msg("%s: %s", rows[i].message, self->err.message);
    }
}

static void wrong_manifests_are_refused(void **state)
{
    static const struct {
        const char *from, *to, *message;
    } rows[] = {
        { "entrypoint", "entry", "no known key" },
        { "demo.py", "../demo.py", "inside the folder" },
        { "demo.py", "/bin/sh", "inside the folder" },
        { "demo.py", "other.py", "there is no such file" },
        { "0.1", "0.2", "protocol_version is 0.1" },
        { "python_shim", "java", "runtime_kind" },
        { "1.0.0", "1", "semantic version" },
        { "\"demo\"", "\"other\"", "not those of casparian.toml" },
        { "python_shim", "native_exec", "platform_os" },
    };
    home *self = *state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *at = strstr(manifest, rows[i].from);
        write_text(self, "bundle", "casparian.toml",
                   mcp_arena_printf(self->arena, "%.*s%s%s", (int)(at - manifest), manifest,
                                    rows[i].to, at + strlen(rows[i].from)));
        write_text(self, "bundle", "demo.py", module);
        assert_int_equal(resolve(self, "{\"path\":\"bundle\"}", path_of(self, "bundle")),
                         MCP_E_PARSE);
        if (!strstr(self->err.message, rows[i].message))
            fail_msg("%s: %s", rows[i].message, self->err.message);
    }
}

static void a_bundle_has_no_links(void **state)
{
    home *self = *state;
    write_text(self, "bundle", "casparian.toml", manifest);
    write_text(self, "bundle", "demo.py", module);
    assert_int_equal(symlink("/etc/passwd", path_of(self, "bundle/data")), 0);
    assert_int_equal(resolve(self, "{\"path\":\"bundle\"}", path_of(self, "bundle")), MCP_E_DENIED);
    assert_non_null(strstr(self->err.message, "regular files and folders only"));
}

static void a_bundle_has_a_thousand_files(void **state)
{
    home *self = *state;
    write_text(self, "bundle", "casparian.toml", manifest);
    write_text(self, "bundle", "demo.py", module);
    for (int i = 0; i < 998; i++) {
        char name[40];
        snprintf(name, sizeof name, "data/%03d", i);
        write_text(self, "bundle", name, "");
    }
    assert_int_equal(resolve(self, "{\"path\":\"bundle\"}", path_of(self, "bundle")), MCP_OK);
    write_text(self, "bundle", "data/more", "");
    assert_int_equal(resolve(self, "{\"path\":\"bundle\"}", path_of(self, "bundle")), MCP_E_LIMIT);
    assert_non_null(strstr(self->err.message, "more than 1000 files"));
}

/* ---- trust ----------------------------------------------------------------------------------- */

static void may_not_run(home *self, const char *reason, const char *suggestion)
{
    assert_int_equal(verify(self), MCP_E_DENIED);
    assert_string_equal(self->problem.code, "plugin_not_trusted");
    assert_non_null(strstr(self->err.message, reason));
    assert_non_null(strstr(self->problem.suggestion, suggestion));
}

static void a_shipped_plugin_that_was_changed_does_not_run(void **state)
{
    home *self = *state;
    ship(self, "1.0.0");
    write_text(self, "shipped/demo/1.0.0", "demo.py", with_version(self, module, "1.0.0 "));
    assert_int_equal(resolve(self, "\"demo\"", NULL), MCP_E_PARSE); /* its version is wrong now */
    write_text(self, "shipped/demo/1.0.0", "demo.py",
               mcp_arena_printf(self->arena, "%s\n", module));
    finds(self, "\"demo\"", "demo@1.0.0");
    may_not_run(self, "demo.py differs", "again");
}

static void a_file_besides_could_be_imported(void **state)
{
    home *self = *state;
    ship(self, "1.0.0");
    write_text(self, "shipped/demo/1.0.0", "subprocess.py", "x = 1\n");
    finds(self, "\"demo\"", "demo@1.0.0");
    may_not_run(self, "subprocess.py differs", "again");
}

static void an_unsigned_plugin_needs_the_flag(void **state)
{
    home *self = *state;
    install(self);
    finds(self, "\"demo\"", "demo@1.0.0");
    assert_true(self->plugin.is_unsigned);
    may_not_run(self, "No allowed signer", "allow_unsigned_python = true");
    casparian_registry_free(self->registry);
    self->registry = NULL;
    self->options.allow_unsigned_python = true;
    finds(self, "\"demo\"", "demo@1.0.0");
    assert_int_equal(verify(self), MCP_OK);
    assert_true(self->plugin.is_unsigned);
}

static void a_signature_of_an_allowed_signer_counts(void **state)
{
    home *self = *state;
    keys_pair *pair = NULL;
    casparian_signer signer = { .name = "lab_2026" };
    assert_int_equal(keys_pair_new(&pair, NULL, NULL), MCP_OK);
    keys_pair_public(pair, signer.key);
    self->options.signers = &signer;
    self->options.signer_count = 1;
    install(self);
    sign(self, pair, "lab_2026");
    finds(self, "\"demo\"", "demo@1.0.0");
    assert_true(self->plugin.is_trusted);
    assert_false(self->plugin.is_unsigned);
    assert_string_equal(self->plugin.signer, "lab_2026");
    write_text(self, "home/plugins/demo/1.0.0/any/any", "more.py", "x = 1\n");
    finds(self, "\"demo\"", "demo@1.0.0");
    may_not_run(self, "more.py is not what lab_2026 signed", "casparian plugin import");
    keys_pair_free(pair);
}

static void a_signature_of_anybody_else_does_not_count(void **state)
{
    home *self = *state;
    keys_pair *pair = NULL, *other = NULL;
    casparian_signer signer = { .name = "lab_2026" };
    assert_int_equal(keys_pair_new(&pair, NULL, NULL), MCP_OK);
    assert_int_equal(keys_pair_new(&other, NULL, NULL), MCP_OK);
    keys_pair_public(pair, signer.key);
    self->options.signers = &signer;
    self->options.signer_count = 1;
    install(self);
    sign(self, other, "lab_2026");
    finds(self, "\"demo\"", "demo@1.0.0");
    may_not_run(self, "No allowed signer", "allow_unsigned_python");
    keys_pair_free(pair);
    keys_pair_free(other);
}

static void a_plugin_in_development_needs_the_flag(void **state)
{
    home *self = *state;
    assert_int_equal(resolve_module(self, "def parse(path): pass\n"), MCP_OK);
    may_not_run(self, "not allowed", "--allow-dev-plugins");
}

static void a_change_after_the_look_is_seen(void **state)
{
    home *self = *state;
    self->options.allow_dev_plugins = true;
    assert_int_equal(resolve_module(self, "def parse(path): pass\n"), MCP_OK);
    assert_int_equal(verify(self), MCP_OK);
    write_text(self, "work", "one.py", "def parse(path): return 1\n");
    assert_int_equal(verify(self), MCP_E_EXISTS);
    assert_string_equal(self->problem.code, "plugin_modified");
    unlink(path_of(self, "work/one.py"));
    assert_int_equal(verify(self), MCP_E_EXISTS);
}

static bool imported(void *data, char hash[CASPARIAN_HASH_SIZE], const char *id,
                     const char *version)
{
    (void)id;
    (void)version;
    memcpy(hash, data, CASPARIAN_HASH_SIZE);
    return true;
}

static void an_installed_plugin_is_the_imported_one(void **state)
{
    home *self = *state;
    char hash[CASPARIAN_HASH_SIZE] = "another";
    self->options.allow_unsigned_python = true;
    self->options.imported = imported;
    self->options.data = hash;
    install(self);
    finds(self, "\"demo\"", "demo@1.0.0");
    assert_false(self->plugin.is_trusted);
    memcpy(hash, self->plugin.artifact_hash, sizeof hash);
    finds(self, "\"demo\"", "demo@1.0.0");
    assert_true(self->plugin.is_trusted);
}

/* Data, 9.5: the text of a module alone, no lockfile, no manifest, no schemas. The value is of
 * `printf 'x = 1\n\x1f\x1f{}\x1f{}\x1f' | sha256sum`. */
static void the_hash_of_a_module_is_that_of_the_page(void **state)
{
    home *self = *state;
    casparian_bundle bundle;
    char hash[CASPARIAN_HASH_SIZE];
    write_text(self, "work", "one.py", "x = 1\n");
    assert_int_equal(
        casparian_module_read(&bundle, self->arena, path_of(self, "work/one.py"), NULL), MCP_OK);
    assert_int_equal(casparian_bundle_hash(hash, &bundle, NULL), MCP_OK);
    assert_string_equal(hash, "ce680dbce27a63a706093e9ba83136aa3b0c15b2b592e38dfec333862d26986c");
}

static void hash_bundle(home *self, char out[CASPARIAN_HASH_SIZE], const char *folder)
{
    casparian_bundle bundle;
    assert_int_equal(casparian_bundle_read(&bundle, self->arena, path_of(self, folder), &self->err),
                     MCP_OK);
    assert_int_equal(casparian_bundle_hash(out, &bundle, NULL), MCP_OK);
}

/* The name of a file is chosen to be a line of Python, so that the file is a line of the code. */
static void a_file_is_no_line_of_the_code(void **state)
{
    home *self = *state;
    char hash[KEYS_HEX_SIZE], first[CASPARIAN_HASH_SIZE], second[CASPARIAN_HASH_SIZE];
    hash_text(hash, "");
    write_text(self, "one", "casparian.toml", manifest);
    write_text(self, "one", "demo.py", module);
    write_text(self, "one", "print('other') #", "");
    write_text(self, "two", "casparian.toml", manifest);
    write_text(self, "two", "demo.py",
               mcp_arena_printf(self->arena, "%s\nprint('other') # sha256:%s", module, hash));
    hash_bundle(self, first, "one");
    hash_bundle(self, second, "two");
    assert_string_not_equal(first, second);
}

static void names_of_files_are_one_line(void **state)
{
    home *self = *state;
    casparian_bundle bundle;
    write_text(self, "one", "casparian.toml", manifest);
    write_text(self, "one", "demo.py", module);
    write_text(self, "one", "a\nb", "");
    assert_int_equal(casparian_bundle_read(&bundle, self->arena, path_of(self, "one"), &self->err),
                     MCP_E_DENIED);
    assert_non_null(strstr(self->err.message, "control character"));
}

/* ---- versions -------------------------------------------------------------------------------- */

/* The order is that of semver.org, section 11, and some of our own. */
static void versions_are_ordered(void **state)
{
    static const char *const order[] = { "",
                                         "one",
                                         "0.9.9",
                                         "1.0.0-alpha",
                                         "1.0.0-alpha.1",
                                         "1.0.0-alpha.beta",
                                         "1.0.0-beta",
                                         "1.0.0-beta.2",
                                         "1.0.0-beta.11",
                                         "1.0.0-rc.1",
                                         "1.0.0",
                                         "1.0.9",
                                         "1.0.10",
                                         "1.2.0",
                                         "2.0.0",
                                         "10.0.0" };
    (void)state;
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        assert_int_equal(casparian_version_is_valid(order[i]), i >= 2);
        for (size_t k = 0; k < sizeof order / sizeof *order; k++) {
            int found = casparian_version_compare(order[i], order[k]);
            assert_true(i < k ? found < 0 : i > k ? found > 0 : found == 0);
        }
    }
    assert_int_equal(casparian_version_compare("1.0.0+a", "1.0.0+b"), 0);
    assert_false(casparian_version_is_valid("1.0"));
    assert_false(casparian_version_is_valid("01.0.0"));
    assert_false(casparian_version_is_valid("1.0.0-01"));
    assert_false(casparian_version_is_valid("1.0.0-"));
    assert_true(casparian_version_is_valid("1.0.0+01"));
    assert_true(casparian_version_is_prerelease("1.0.0-rc.1+x"));
    assert_false(casparian_version_is_prerelease("1.0.0+x-y"));
}

#define WITH_HOME(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_HOME(a_shipped_plugin_is_described),
        WITH_HOME(references_have_many_forms),
        WITH_HOME(a_wrong_id_has_its_nearest),
        WITH_HOME(a_listing_has_plugins_and_faults),
        WITH_HOME(a_path_is_a_module_or_a_folder),
        WITH_HOME(what_is_no_literal_is_incomplete),
        WITH_HOME(literals_may_stand_side_by_side),
        WITH_HOME(wrong_declarations_are_refused),
        WITH_HOME(wrong_manifests_are_refused),
        WITH_HOME(a_bundle_has_no_links),
        WITH_HOME(a_bundle_has_a_thousand_files),
        WITH_HOME(a_shipped_plugin_that_was_changed_does_not_run),
        WITH_HOME(a_file_besides_could_be_imported),
        WITH_HOME(an_unsigned_plugin_needs_the_flag),
        WITH_HOME(a_signature_of_an_allowed_signer_counts),
        WITH_HOME(a_signature_of_anybody_else_does_not_count),
        WITH_HOME(a_plugin_in_development_needs_the_flag),
        WITH_HOME(a_change_after_the_look_is_seen),
        WITH_HOME(an_installed_plugin_is_the_imported_one),
        WITH_HOME(the_hash_of_a_module_is_that_of_the_page),
        WITH_HOME(a_file_is_no_line_of_the_code),
        WITH_HOME(names_of_files_are_one_line),
        cmocka_unit_test(versions_are_ordered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
