/*
 * test_ephemeral.c - proposed schemas: they come back as they were, expire, and become code that
 * Python reads as the same schemas.
 */
#include <dirent.h>
#include <sys/stat.h>

#include "jobs/state/uuid.h"
#include "store_rig.h"

/* A column of every type, with names and patterns that need care in a literal. */
static const char all_types[] =
    "{\"trades\":{\"output_name\":\"trades\",\"mode\":\"allow_extra\",\"columns\":["
    "{\"name\":\"id\",\"type\":\"int64\",\"nullable\":false},"
    "{\"name\":\"say \\\"hi\\\" \\\\ it's\",\"type\":\"string\"},"
    "{\"name\":\"tab\\there\\u0001\\u007f\",\"type\":\"boolean\"},"
    "{\"name\":\"größe €\",\"type\":\"float64\"},"
    "{\"name\":\"price\",\"type\":{\"kind\":\"decimal\",\"precision\":18,\"scale\":4}},"
    "{\"name\":\"day\",\"type\":\"date\",\"format\":\"%d/%m/%Y\"},"
    "{\"name\":\"at\",\"type\":{\"kind\":\"timestamp_tz\",\"timezone\":\"Europe/Berlin\"}},"
    "{\"name\":\"t\",\"type\":\"time\"},{\"name\":\"d\",\"type\":\"duration\"},"
    "{\"name\":\"b\",\"type\":\"binary\"},{\"name\":\"ts\",\"type\":\"timestamp\"}]},"
    "\"notes\":{\"output_name\":\"notes\",\"columns\":[{\"name\":\"text\",\"type\":\"string\"}]}}";

static void a_proposal_comes_back(void **state)
{
    casparian_ephemeral made;
    casparian_ephemeral read;
    struct stat what;
    char path[160];
    store_rig rig;
    (void)state;
    rig_init(&rig);
    rig_open(&rig);
    const casparian_schemas schemas = rig_schemas(&rig, all_types);
    rig_expect(&rig,
               casparian_ephemeral_propose(&made, rig.store, rig.arena, &schemas, "ai_iteration",
                                           NULL, &rig.err),
               MCP_OK);
    assert_true(casparian_ephemeral_id_is_valid(made.id));
    assert_int_equal(made.expires_ms - made.created_ms, 7 * INT64_C(86400000));
    snprintf(path, sizeof path, "%s/ai/contracts/%s/schemas.json", rig.home, made.id);
    assert_int_equal(stat(path, &what), 0);
    assert_int_equal(what.st_mode & 0777, 0600);
    rig_expect(&rig, casparian_ephemeral_use(rig.store, made.id, 17, &rig.err), MCP_OK);
    rig_expect(&rig, casparian_ephemeral_load(&read, rig.store, rig.arena, made.id, &rig.err),
               MCP_OK);
    assert_int_equal(read.last_job, 17);
    assert_int_equal(read.schemas.count, schemas.count);
    for (size_t i = 0; i < schemas.count; i++)
        assert_string_equal(casparian_schemas_find(&read.schemas, schemas.items[i].output)->hash,
                            schemas.items[i].hash);
    assert_int_equal(
        casparian_ephemeral_propose(&made, rig.store, rig.arena, &schemas, "other", NULL, &rig.err),
        MCP_E_PARAMS);
    rig_close(&rig);
}

static void an_id_is_never_a_path(void **state)
{
    static const char *const ids[] = { "",
                                       "eph_",
                                       "../state",
                                       "eph_../../state.sqlite",
                                       NULL,
                                       "eph_00000000-0000-4000-8000-00000000000",
                                       "eph_00000000-0000-4000-8000-0000000000000",
                                       "eph_00000000-0000-4000-8000-00000000000G" };
    casparian_ephemeral read;
    store_rig rig;
    (void)state;
    rig_init(&rig);
    rig_open(&rig);
    for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++)
        assert_int_equal(casparian_ephemeral_load(&read, rig.store, rig.arena, ids[i], &rig.err),
                         MCP_E_PARAMS);
    assert_int_equal(casparian_ephemeral_load(&read, rig.store, rig.arena,
                                              "eph_00000000-0000-4000-8000-000000000000", &rig.err),
                     MCP_E_NOT_FOUND);
    rig_close(&rig);
}

/* Set the end of a proposal's life to the past, as time would. */
static void age(store_rig *rig, const char *id)
{
    char path[200];
    char text[2000];
    snprintf(path, sizeof path, "%s/ai/contracts/%s/metadata.json", rig->home, id);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    size_t length = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[length] = '\0';
    char *at = strstr(text, "\"expires_at_ms\":");
    assert_non_null(at);
    at[strlen("\"expires_at_ms\":")] = '0';
    at += strlen("\"expires_at_ms\":") + 1;
    memmove(at, at + strspn(at, "0123456789"), strlen(at + strspn(at, "0123456789")) + 1);
    file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void a_proposal_expires_and_is_removed(void **state)
{
    casparian_ephemeral old;
    casparian_ephemeral young;
    int64_t count = 0;
    store_rig rig;
    (void)state;
    rig_init(&rig);
    rig_open(&rig);
    const casparian_schemas schemas = rig_schemas(&rig, all_types);
    rig_expect(&rig,
               casparian_ephemeral_propose(&old, rig.store, rig.arena, &schemas, "ai_iteration",
                                           NULL, &rig.err),
               MCP_OK);
    rig_expect(&rig,
               casparian_ephemeral_propose(&young, rig.store, rig.arena, &schemas, "cli_preview",
                                           NULL, &rig.err),
               MCP_OK);
    age(&rig, old.id);
    assert_int_equal(casparian_ephemeral_load(&old, rig.store, rig.arena, old.id, &rig.err),
                     MCP_E_NOT_FOUND);
    rig_expect(&rig, casparian_ephemeral_sweep(rig.store, &count, &rig.err), MCP_OK);
    assert_int_equal(count, 1);
    rig_expect(&rig, casparian_ephemeral_load(&young, rig.store, rig.arena, young.id, &rig.err),
               MCP_OK);
    rig_close(&rig);
}

/* Somebody has put folders into it, deeper than any that is removed. */
static void one_that_cannot_be_removed_keeps_no_other(void **state)
{
    char path[400];
    casparian_ephemeral old;
    int64_t count = 0;
    store_rig rig;
    (void)state;
    rig_init(&rig);
    rig_open(&rig);
    const casparian_schemas schemas = rig_schemas(&rig, all_types);
    for (int i = 0; i < 12; i++) {
        rig_expect(&rig,
                   casparian_ephemeral_propose(&old, rig.store, rig.arena, &schemas, "ai_iteration",
                                               NULL, &rig.err),
                   MCP_OK);
        age(&rig, old.id);
        int length = snprintf(path, sizeof path, "%s/ai/contracts/%s", rig.home, old.id);
        for (int depth = 0; i == 5 && depth < 70; depth++) {
            length += snprintf(path + length, sizeof path - (size_t)length, "/d");
            assert_int_equal(mkdir(path, 0700), 0);
        }
    }
    assert_int_equal(casparian_ephemeral_sweep(rig.store, &count, &rig.err), MCP_E_LIMIT);
    assert_int_equal(count, 11);
    rig_close(&rig);
}

/* ---- promotion ------------------------------------------------------------------------------- */

/*
 * Reads the literal `outputs`, brings each output into the canonical form that data 2.1 defines,
 * and prints its name and SHA-256. It knows nothing of the C code.
 */
static const char reader[] =
    "import ast, hashlib, json, sys\n"
    "tree = ast.parse(open(sys.argv[1], encoding='utf-8').read())\n"
    "assert len(tree.body) == 1 and tree.body[0].targets[0].id == 'outputs'\n"
    "def text(s):\n"
    "    short = {'\"': '\\\\\"', '\\\\': '\\\\\\\\', '\\b': '\\\\b', '\\f': '\\\\f', '\\n': "
    "'\\\\n', '\\r': '\\\\r', '\\t': '\\\\t'}\n"
    "    return '\"' + ''.join(short.get(c) or ('\\\\u%04x' % ord(c) if ord(c) < 32 else c) for c "
    "in s) + '\"'\n"
    "def value(v):\n"
    "    if isinstance(v, dict):\n"
    "        return '{' + ','.join(text(k) + ':' + value(v[k]) for k in sorted(v)) + '}'\n"
    "    if isinstance(v, list):\n"
    "        return '[' + ','.join(map(value, v)) + ']'\n"
    "    return text(v) if isinstance(v, str) else json.dumps(v)\n"
    "for name, output in ast.literal_eval(tree.body[0].value).items():\n"
    "    output['output_name'] = name\n"
    "    print(name, hashlib.sha256(value(output).encode()).hexdigest())\n";

static void python_reads_the_same_schemas(void **state)
{
    casparian_promotion code;
    char module[128];
    char script[128];
    char line[256];
    char name[80];
    char hash[80];
    int pipes[2];
    size_t seen = 0;
    store_rig rig;
    (void)state;
    rig_init(&rig);
    rig_open(&rig);
    const casparian_schemas schemas = rig_schemas(&rig, all_types);
    snprintf(module, sizeof module, "%s/made.py", rig.home);
    snprintf(script, sizeof script, "%s/reader.py", rig.home);
    rig_expect(&rig,
               casparian_promote(&code, rig.arena, &schemas,
                                 "eph_00000000-0000-4000-8000-000000000000", module, &rig.err),
               MCP_OK);
    assert_int_equal(code.count, 1);
    FILE *file = fopen(module, "w");
    assert_non_null(file);
    fwrite(code.files[0].text, 1, code.files[0].length, file);
    fclose(file);
    file = fopen(script, "w");
    assert_non_null(file);
    fputs(reader, file);
    fclose(file);

    assert_int_equal(pipe(pipes), 0);
    pid_t child = fork();
    if (child == 0) {
        dup2(pipes[1], STDOUT_FILENO);
        execlp("python3", "python3", "-I", "-S", script, module, (char *)NULL);
        _exit(127);
    }
    close(pipes[1]);
    file = fdopen(pipes[0], "r");
    while (fgets(line, sizeof line, file)) {
        assert_int_equal(sscanf(line, "%79s %79s", name, hash), 2);
        const casparian_definition *schema = casparian_schemas_find(&schemas, name);
        assert_non_null(schema);
        assert_string_equal(hash, schema->hash);
        seen++;
    }
    fclose(file);
    int status = -1;
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
    assert_int_equal(seen, schemas.count);
    rig_close(&rig);
}

static void a_schema_file_has_the_form_of_the_protocol(void **state)
{
    casparian_promotion code;
    store_rig rig;
    (void)state;
    rig_init(&rig);
    const casparian_schemas schemas = rig_schemas(
        &rig, "{\"x\":{\"output_name\":\"x\",\"columns\":[{\"name\":\"ts\",\"type\":{\"kind\":"
              "\"timestamp_tz\",\"timezone\":\"UTC\"},\"nullable\":false}]}}");
    rig_expect(&rig,
               casparian_promote(&code, rig.arena, &schemas, NULL, "/a/x.schema.json", &rig.err),
               MCP_OK);
    const mcp_json *json = rig_json(&rig, code.files[0].text);
    const mcp_json *column = mcp_json_item(mcp_json_get(json, "columns"), 0);
    assert_string_equal(mcp_json_get_string(column, "name"), "ts");
    assert_string_equal(mcp_json_get_string(mcp_json_get(column, "data_type"), "tz"), "UTC");

    const casparian_schemas both = rig_schemas(&rig, all_types);
    assert_int_equal(casparian_promote(&code, rig.arena, &both, NULL, "/a/x.schema.json", &rig.err),
                     MCP_E_PARAMS);
    assert_int_equal(casparian_promote(&code, rig.arena, &both, NULL, "/a/x.sh", &rig.err),
                     MCP_E_PARAMS);
    rig_expect(&rig, casparian_promote(&code, rig.arena, &both, NULL, "/a/", &rig.err), MCP_OK);
    assert_int_equal(code.count, 2);
    assert_string_equal(code.files[0].path, "/a/trades.schema.json");
    assert_string_equal(code.files[1].path, "/a/notes.schema.json");
    rig_close(&rig);
}

/* ---- the store ------------------------------------------------------------------------------- */

static void the_state_is_private_and_a_newer_one_is_refused(void **state)
{
    struct stat what;
    char path[128];
    casparian_store *other = NULL;
    store_rig rig;
    (void)state;
    rig_init(&rig);
    assert_int_equal(rmdir(rig.home), 0);
    rig_open(&rig);
    assert_int_equal(stat(rig.home, &what), 0);
    assert_int_equal(what.st_mode & 0777, 0700);
    snprintf(path, sizeof path, "%s/state.sqlite", rig.home);
    assert_int_equal(stat(path, &what), 0);
    assert_int_equal(what.st_mode & 0777, 0600);
    rig_sql(&rig, "INSERT INTO db_migrations (number, name, sha256, run_at) "
                  "VALUES (900, '900-future.sql', 'x', 0)");
    assert_int_equal(casparian_store_open(&other, &rig.options, &rig.err), MCP_E_UNSUPPORTED);
    assert_non_null(strstr(rig.err.message, "newer"));
    assert_non_null(strstr(rig.err.message, path));
    rig_close(&rig);
}

static void policies_are_laid_over_each_other(void **state)
{
    const casparian_quarantine_settings settings = { .has_pct = true, .max_quarantine_pct = 50 };
    const casparian_quarantine contract = { .has_allow = true, .allow = true };
    const casparian_quarantine request = { .has_count = true, .max_count = 7 };
    (void)state;
    casparian_quarantine policy = casparian_quarantine_of_run(&settings, &contract, &request);
    assert_true(policy.allow);
    assert_int_equal(casparian_quarantine_judge(&policy, 3, 3), CASPARIAN_VERDICT_QUARANTINED);
    assert_int_equal(casparian_quarantine_judge(&policy, 3, 4), CASPARIAN_VERDICT_THRESHOLD);
    assert_int_equal(casparian_quarantine_judge(&policy, 100, 8), CASPARIAN_VERDICT_THRESHOLD);
    assert_int_equal(casparian_quarantine_judge(&policy, 0, 0), CASPARIAN_VERDICT_CLEAN);
    policy = casparian_quarantine_of_run(&(casparian_quarantine_settings){ .has_pct = false }, NULL,
                                         NULL);
    assert_int_equal(casparian_quarantine_judge(&policy, 99, 1), CASPARIAN_VERDICT_NOT_ALLOWED);
    policy.allow = true; /* 10 % are allowed, strictly more are too many */
    assert_int_equal(casparian_quarantine_judge(&policy, 90, 10), CASPARIAN_VERDICT_QUARANTINED);
    assert_int_equal(casparian_quarantine_judge(&policy, 899, 101), CASPARIAN_VERDICT_THRESHOLD);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_proposal_comes_back),
        cmocka_unit_test(an_id_is_never_a_path),
        cmocka_unit_test(a_proposal_expires_and_is_removed),
        cmocka_unit_test(one_that_cannot_be_removed_keeps_no_other),
        cmocka_unit_test(python_reads_the_same_schemas),
        cmocka_unit_test(a_schema_file_has_the_form_of_the_protocol),
        cmocka_unit_test(the_state_is_private_and_a_newer_one_is_refused),
        cmocka_unit_test(policies_are_laid_over_each_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
