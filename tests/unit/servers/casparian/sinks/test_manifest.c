/*
 * test_manifest.c - manifests: what they say, their chain and signature; what verifying finds; and
 * from a row to its source.
 */
#include "sink_rig.h"

#include "keys/canonical.h"
#include "sinks/lineage.h"
#include "sinks/verify.h"

/* RFC 8032, section 7.1, test 1. */
static const uint8_t seed[KEYS_SEED_SIZE] = {
    0x9d, 0x61, 0xb1, 0x9d, 0xef, 0xfd, 0x5a, 0x60, 0xba, 0x84, 0x4a, 0xf4, 0x92, 0xec, 0x2c, 0xc4,
    0x44, 0x49, 0xc5, 0x69, 0x7b, 0x32, 0x69, 0x19, 0x70, 0x3b, 0xac, 0x03, 0x1c, 0xae, 0x7f, 0x60,
};

static const casparian_manifest_input inputs[] = {
    { "/in/a.csv", 10, 1700000000, HASH_A, "ok", 3 },
    { "/in/copy of a.csv", 10, 1700000001, HASH_A, "ok", 0 },
    { "/in/\xFF.csv", 5, 1700000002, HASH_B, "failed", 0 },
    { "/in/late.csv", 7, 1700000003, NULL, "changed", 0 },
};

static const mcp_json *read_json(rig *rig, const char *file)
{
    const mcp_json *json = NULL;
    const char *text = text_of(rig, file);

    MUST(rig, mcp_json_read(&json, rig->arena, text, strlen(text), &rig->err));
    return json;
}

/* A job of one output, with facts of its own. */
static void write_with(rig *rig, const char *uri, const char *job,
                       const casparian_manifest_facts *facts)
{
    casparian_commit *commit = NULL;
    casparian_sink *sink = open_sink_of(rig, uri, job, false, 0);
    casparian_sink_output *output = add_table(rig, sink, &rig->events, 0);
    casparian_sink_file *file = begin_file(rig, sink);

    MUST(rig, append_events(rig, file, output, 0, 3));
    MUST(rig, casparian_sink_file_commit(file, HASH_A, &rig->err));
    MUST(rig, casparian_commit_prepare(&commit, sink, facts, &rig->err));
    MUST(rig, casparian_commit_apply(commit, &rig->err));
    casparian_commit_free(commit);
}

static casparian_manifest_facts full_facts(rig *rig)
{
    const mcp_json *policy = NULL;
    static const char text[] = "{\"max_quarantine_pct\":10.0,\"allow_quarantine\":true}";

    MUST(rig, mcp_json_read(&policy, rig->arena, text, sizeof text - 1, &rig->err));
    return (casparian_manifest_facts){ .created_at = "2024-05-06T07:08:10Z",
                                       .program = "casparian 0.1.0",
                                       .artifact_hash = HASH_B,
                                       .signer = "alice",
                                       .approval_id = "ap-1",
                                       .decided_by = "cli:bob@host",
                                       .decided_at = "2024-05-06T07:00:00Z",
                                       .snapshot_sha256 = HASH_A,
                                       .quarantine = policy,
                                       .inputs = inputs,
                                       .input_count = 4 };
}

/* ---- what it says ---------------------------------------------------------------------------- */

static void a_manifest_says_what_was_done(void **state)
{
    rig *rig = *state;
    const casparian_manifest_facts facts = full_facts(rig);
    char expected[2000];
    struct stat about;

    write_with(rig, ".", "42", &facts);
    const mcp_json *json = read_json(rig, "_casparian/42.manifest.json");
    assert_int_equal(fstatat(rig->folder.fd, EVENTS ".parquet", &about, 0), 0);
    /* The members as RFC 8785 sorts them; the hash of the output is looked at below. */
    snprintf(
        expected, sizeof expected,
        "{\"approval\":{\"approval_id\":\"ap-1\",\"decided_at\":\"2024-05-06T07:00:00Z\","
        "\"decided_by\":\"cli:bob@host\",\"snapshot_sha256\":\"" HASH_A "\"},"
        "\"content_sha256\":\"%s\",\"created_at\":\"2024-05-06T07:08:10Z\",\"inputs\":["
        "{\"mtime\":1700000000,\"path\":\"/in/a.csv\",\"rows\":3,\"sha256\":\"" HASH_A "\","
        "\"size\":10,\"status\":\"ok\"},"
        "{\"mtime\":1700000001,\"path\":\"/in/copy of a.csv\",\"rows\":0,\"sha256\":\"" HASH_A
        "\",\"size\":10,\"status\":\"ok\"},"
        "{\"mtime\":1700000002,\"path\":\"/in/\xEF\xBF\xBD.csv\",\"rows\":0,\"sha256\":\"" HASH_B
        "\",\"size\":5,\"status\":\"failed\"},"
        "{\"mtime\":1700000003,\"path\":\"/in/late.csv\",\"rows\":0,\"size\":7,"
        "\"status\":\"changed\"}],\"job_id\":\"42\",\"outputs\":[{\"bytes\":%lld,"
        "\"file\":\"" EVENTS ".parquet\",\"name\":\"events\",\"rows\":3,\"sha256\":\"%s\"}],"
        "\"plugin\":{\"artifact_hash\":\"" HASH_B "\",\"id\":\"demo\",\"signer\":\"alice\","
        "\"version\":\"1.2.0\"},\"previous\":null,\"program\":\"casparian 0.1.0\","
        "\"quarantine\":{\"allow_quarantine\":true,\"max_quarantine_pct\":10},"
        "\"schemas\":{\"events\":\"%s\"},\"version\":2}",
        mcp_json_get_string(json, "content_sha256"), (long long)about.st_size,
        mcp_json_get_string(mcp_json_pointer(json, "/outputs/0"), "sha256"), rig->events.hash);
    assert_string_equal(text_of(rig, "_casparian/42.manifest.json"), expected);
}

static void manifests_are_a_chain(void **state)
{
    rig *rig = *state;
    char hash[KEYS_HEX_SIZE];
    uint8_t digest[MCP_SHA256_SIZE];

    /* In the order of their commits, not of their names. */
    write_job(rig, ".", "9", 0, 3);
    write_job(rig, ".", "10", 0, 3);
    write_job(rig, ".", "2", 0, 3);
    assert_true(
        mcp_json_is_null(mcp_json_get(read_json(rig, "_casparian/9.manifest.json"), "previous")));
    const char *first = text_of(rig, "_casparian/9.manifest.json");
    MUST(rig, mcp_sha256(digest, first, strlen(first), &rig->err));
    keys_hex(hash, digest);
    assert_string_equal(
        mcp_json_get_string(read_json(rig, "_casparian/10.manifest.json"), "previous"), hash);
    const char *second = text_of(rig, "_casparian/10.manifest.json");
    MUST(rig, mcp_sha256(digest, second, strlen(second), &rig->err));
    keys_hex(hash, digest);
    assert_string_equal(
        mcp_json_get_string(read_json(rig, "_casparian/2.manifest.json"), "previous"), hash);
}

/* ---- verifying ------------------------------------------------------------------------------- */

static void keep_finding(void *data, casparian_finding_kind kind, const char *file, const char *why)
{
    char *text = data;
    size_t length = strlen(text);

    assert_true(strlen(why) > 0);
    snprintf(text + length, 2000 - length, "%s %s\n", casparian_finding_text(kind), file);
}

static const char *verify(rig *rig, const uint8_t *key)
{
    static char found[2000];
    casparian_verified verified;

    found[0] = '\0';
    MUST(rig, casparian_verify(&verified, rig->folder.fd, key, keep_finding, found, &rig->err));
    return found;
}

/* Change one byte of a file. */
static void change(const rig *rig, const char *file, off_t at)
{
    char byte = 0;
    int fd = openat(rig->folder.fd, file, O_RDWR | O_CLOEXEC);

    assert_true(fd >= 0);
    assert_int_equal(pread(fd, &byte, 1, at), 1);
    byte ^= 1;
    assert_int_equal(pwrite(fd, &byte, 1, at), 1);
    close(fd);
}

static void verifying_finds_what_was_changed(void **state)
{
    rig *rig = *state;
    casparian_verified verified;
    struct stat about;

    write_job(rig, ".", "42", 0, 1000);
    write_job(rig, ".", "43", 0, 1000);
    write_job(rig, ".", "44", 0, 1000);
    assert_string_equal(verify(rig, NULL), "");
    MUST(rig, casparian_verify(&verified, rig->folder.fd, NULL, NULL, NULL, &rig->err));
    assert_int_equal(verified.manifests, 3);
    assert_int_equal(verified.outputs, 3);
    assert_int_equal(verified.failures, 0);
    assert_int_equal(fstatat(rig->folder.fd, EVENTS ".parquet", &about, 0), 0);
    assert_true(verified.bytes > (uint64_t)about.st_size);

    scratch_write(&rig->folder, "stranger.parquet", "x", 1);
    assert_string_equal(verify(rig, NULL), "unlisted stranger.parquet\n");
    unlinkat(rig->folder.fd, "stranger.parquet", 0);
    change(rig, EVENTS ".parquet", about.st_size / 2);
    assert_string_equal(verify(rig, NULL), "changed " EVENTS ".parquet\n");
    unlinkat(rig->folder.fd, EVENTS ".parquet", 0);
    assert_string_equal(verify(rig, NULL), "missing " EVENTS ".parquet\n");
}

static void verifying_finds_what_the_chain_lost(void **state)
{
    rig *rig = *state;

    write_job(rig, ".", "42", 0, 10);
    write_job(rig, ".", "43", 0, 10);
    write_job(rig, ".", "44", 0, 10);
    /* A digit of the job's id: the hash of 42 is another one, and 43 follows nothing. */
    const char *text = text_of(rig, "_casparian/42.manifest.json");
    change(rig, "_casparian/42.manifest.json", strstr(text, "created_at") - text + 15);
    assert_string_equal(verify(rig, NULL), "chain _casparian/43.manifest.json\n"
                                           "damaged _casparian/42.manifest.json\n");
    unlinkat(rig->folder.fd, "_casparian/42.manifest.json", 0);
    assert_non_null(strstr(verify(rig, NULL), "chain _casparian/43.manifest.json\nunlisted "));
    scratch_write(&rig->folder, "_casparian/45.manifest.json", "[]", 2);
    assert_non_null(strstr(verify(rig, NULL), "damaged _casparian/45.manifest.json\n"));
}

static void signatures_are_verified(void **state)
{
    rig *rig = *state;
    casparian_manifest_facts facts = full_facts(rig);
    keys_pair *pair = NULL, *other = NULL;
    uint8_t key[KEYS_PUBLIC_SIZE], wrong[KEYS_PUBLIC_SIZE];

    MUST(rig, keys_pair_new(&pair, seed, &rig->err));
    MUST(rig, keys_pair_new(&other, NULL, &rig->err));
    keys_pair_public(pair, key);
    keys_pair_public(other, wrong);
    facts.key = pair;
    write_with(rig, ".", "42", &facts);
    assert_string_equal(verify(rig, key), "");
    assert_string_equal(verify(rig, wrong), "signature _casparian/42.manifest.json\n");
    facts.key = NULL;
    write_with(rig, ".", "43", &facts);
    assert_string_equal(verify(rig, key), "unsigned _casparian/43.manifest.json\n");
    assert_string_equal(verify(rig, NULL), "");
    /* The last of the chain, so that no other manifest tells. */
    unlinkat(rig->folder.fd, "_casparian/43.manifest.json", 0);
    const char *text = text_of(rig, "_casparian/42.manifest.json");
    change(rig, "_casparian/42.manifest.json", strstr(text, "cli:bob") - text + 4);
    assert_non_null(strstr(verify(rig, NULL), "signature _casparian/42.manifest.json\n"));
    keys_pair_free(pair);
    keys_pair_free(other);
}

static void tables_are_counted(void **state)
{
    rig *rig = *state;
    struct engine duckdb = { .api = NULL };
    duckdb_result result;

    write_job(rig, "duckdb://x.db?table=mine", "42", 0, 10);
    write_job(rig, "duckdb://x.db?table=mine", "43", 0, 10);
    assert_string_equal(verify(rig, NULL), "");
    MUST(rig, engine_open_file(&duckdb, scratch_path(&rig->folder, "x.db"), false, &rig->err));
    MUST(rig, engine_query(&duckdb, &result,
                           "CREATE MACRO x() AS TABLE SELECT 1; "
                           "SELECT 1",
                           MCP_E_IO, &rig->err));
    duckdb.api->destroy_result(&result);
    engine_close(&duckdb);
    assert_string_equal(verify(rig, NULL), "");
    write_job(rig, "duckdb://x.db?table=mine&mode=replace", "44", 0, 10);
    assert_string_equal(verify(rig, NULL), "changed x.db\nchanged x.db\n");
    unlinkat(rig->folder.fd, "x.db", 0);
    assert_string_equal(verify(rig, NULL), "missing x.db\nmissing x.db\nmissing x.db\n");
}

/* ---- lineage --------------------------------------------------------------------------------- */

static void a_row_leads_to_its_source(void **state)
{
    rig *rig = *state;
    const casparian_manifest_facts facts = full_facts(rig);
    const casparian_lineage_row row = { "events", "42", HASH_A, 17 };
    casparian_lineage found = { .manifest = NULL };

    write_with(rig, ".", "42", &facts);
    MUST(rig, casparian_lineage_find(&found, rig->folder.fd, &row, rig->arena, &rig->err));
    assert_string_equal(found.manifest, "42.manifest.json");
    assert_string_equal(found.file, EVENTS ".parquet");
    assert_int_equal(found.path_count, 2);
    assert_string_equal(found.paths[0], "/in/a.csv");
    assert_string_equal(found.paths[1], "/in/copy of a.csv");
    assert_int_equal(found.row, 17);
    assert_string_equal(found.plugin, "demo");
    assert_string_equal(found.version, "1.2.0");
    assert_string_equal(found.signer, "alice");
    assert_string_equal(found.approval_id, "ap-1");
    assert_string_equal(found.decided_by, "cli:bob@host");
    assert_false(found.is_signed);

    static const struct {
        casparian_lineage_row row;
        const char *named;
    } rows[] = {
        { { "events", "41", HASH_A, 1 }, "'41'" },
        { { "event", "42", HASH_A, 1 }, "'event'" },
        { { "events", "42", HASH_B, 1 }, HASH_B }, /* that file failed */
        { { "events", "../42", HASH_A, 1 }, "'../42'" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_int_equal(
            casparian_lineage_find(&found, rig->folder.fd, &rows[i].row, rig->arena, &rig->err),
            MCP_E_NOT_FOUND);
        assert_non_null(strstr(rig->err.message, rows[i].named));
    }
    change(rig, "_casparian/42.manifest.json", 0);
    assert_int_equal(casparian_lineage_find(&found, rig->folder.fd, &row, rig->arena, &rig->err),
                     MCP_E_PARSE);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, rig_open, rig_close)
    const struct CMUnitTest tests[] = {
        CASE(a_manifest_says_what_was_done),    CASE(manifests_are_a_chain),
        CASE(verifying_finds_what_was_changed), CASE(verifying_finds_what_the_chain_lost),
        CASE(signatures_are_verified),          CASE(tables_are_counted),
        CASE(a_row_leads_to_its_source),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
