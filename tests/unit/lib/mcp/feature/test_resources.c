/*
 * test_resources.c - resources/list, resources/templates/list, resources/read, and loading.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "feature_call.h"
#include "mcp/features.h"
#include "oom.h"

/* clang-format off */
#define FILE_OF(text) { "resources.json", text, sizeof text - 1 }
/* clang-format on */

static mcp_arena *arena;
static mcp__features *set;
static mcp_server_options options;
static char set_data[] = "data of the set";

/* ---- a set of resources --------------------------------------------------------------------- */

static mcp_status read_plain(mcp_call *call, void *data)
{
    assert_string_equal(data, "data of the set");
    assert_string_equal(mcp_call_name(call), "fix://plain");
    assert_int_equal(mcp_json_count(mcp_call_arguments(call)), 0);
    return mcp_call_contents_text(call, NULL, NULL, "two\nlines", 9);
}

static mcp_status read_bytes(mcp_call *call, void *data)
{
    (void)data;
    return mcp_call_contents_blob(call, NULL, "image/png", "\x00\x01\x02\xff", 4);
}

static mcp_status read_folder(mcp_call *call, void *data)
{
    (void)data;
    mcp_call_contents_text(call, "fix://folder/a", "text/plain", "A", 1);
    return mcp_call_contents_blob(call, "fix://folder/b", NULL, "B", 1);
}

static mcp_status read_nothing(mcp_call *call, void *data)
{
    (void)call;
    (void)data;
    return MCP_OK;
}

static mcp_status read_gone(mcp_call *call, void *data)
{
    const char *why = mcp_arg_string(call, "why");

    (void)data;
    if (why && strcmp(why, "disk") == 0)
        return mcp_error_set(mcp_call_error(call), MCP_E_IO, "/secret/disk is on fire");
    if (why && strcmp(why, "words") == 0)
        return mcp_error_set(mcp_call_error(call), MCP_E_RESOURCE, "the run has no output yet");
    return MCP_E_RESOURCE;
}

/* Answers which row it was and with what. */
static mcp_status echo(mcp_call *call, const char *row)
{
    mcp_json_writer writer;
    mcp_buf text;
    mcp_status st;

    mcp_buf_init(&text, 1 << 16);
    mcp_json_writer_init(&writer, &text);
    mcp_write_object(&writer);
    mcp_write_member_string(&writer, "row", row);
    mcp_write_member_value(&writer, "with", mcp_call_arguments(call));
    mcp_write_end(&writer);
    st = mcp_call_contents_text(call, NULL, NULL, text.data, text.length);
    mcp_buf_clear(&text);
    return st;
}

static mcp_status read_config(mcp_call *call, void *data)
{
    (void)data;
    return echo(call, "config");
}

static mcp_status read_entities(mcp_call *call, void *data)
{
    (void)data;
    return echo(call, "entities");
}

static mcp_status read_any(mcp_call *call, void *data)
{
    (void)data;
    return echo(call, "any");
}

static const char definitions[] =
    "{\"resources\":["
    "{\"uri\":\"fix://plain\",\"name\":\"plain\",\"title\":\"Plain\",\"mimeType\":\"text/plain\","
    "\"size\":9,\"icons\":[{\"src\":\"data:,\"}],\"_meta\":{\"k\":1},\"x-own\":{\"title\":1},"
    "\"annotations\":{\"audience\":[\"user\"],\"priority\":0.5,"
    "\"lastModified\":\"2025-01-12T15:00:58Z\"}},"
    "{\"uri\":\"fix://bytes\",\"name\":\"bytes\"},"
    "{\"uri\":\"fix://folder\",\"name\":\"folder\",\"mimeType\":\"inode/directory\"},"
    "{\"uri\":\"fix://nothing\",\"name\":\"nothing\"},"
    "{\"uri\":\"fix://case/exact/config\",\"name\":\"exact\"}],"
    "\"resourceTemplates\":["
    "{\"uriTemplate\":\"fix://any/{+rest}\",\"name\":\"any\"},"
    "{\"uriTemplate\":\"fix://gone/{why}\",\"name\":\"gone\"},"
    "{\"uriTemplate\":\"fix://strict/{dir}/config\",\"name\":\"strict\"},"
    "{\"uriTemplate\":\"fix://case/{case_dir}/config\",\"name\":\"config\",\"title\":\"Config\","
    "\"description\":\"d\",\"mimeType\":\"application/json\"},"
    "{\"uriTemplate\":\"fix://case/{case_dir}/entities/{type}\",\"name\":\"entities\"},"
    "{\"uriTemplate\":\"fix://{host}/{a}/entities/{b}\",\"name\":\"late\"}]}";

static const mcp_resource rows[] = {
    { "fix://plain", read_plain, MCP_READS, 0 },
    { "fix://bytes", read_bytes, MCP_READS, 0 },
    { "fix://folder", read_folder, MCP_READS, 0 },
    { "fix://nothing", read_nothing, MCP_READS, 0 },
    { "fix://case/{case_dir}/config", read_config, MCP_READS, 0 },
    { "fix://case/exact/config", read_any, MCP_READS, 250 },
    { "fix://gone/{why}", read_gone, MCP_READS, 0 },
    { "fix://case/{case_dir}/entities/{type}", read_entities, MCP_READS, 0 },
    { "fix://{host}/{a}/entities/{b}", read_any, MCP_READS, 0 },
    { "fix://any/{+rest}", read_any, MCP_READS, 0 },
    { "fix://strict/{dir}/config", read_config, MCP_READS | MCP_ENCODED_SLASHES, 0 },
    { 0 }
};

static const mcp_file files[] = { FILE_OF(definitions), { 0 } };

static const mcp_features features = { .files = files, .resources = rows, .data = set_data };

static int set_up(void **state)
{
    (void)state;
    arena = mcp_arena_new(0);
    options = feature_options();
    if (!arena || mcp__features_new(&set, &options, NULL) != MCP_OK)
        return -1;
    return mcp__resources_load(set, &features, NULL) == MCP_OK ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    mcp__features_drop(set);
    mcp_arena_free(arena);
    return 0;
}

static mcp_status list(mcp_call *call)
{
    return mcp__list_answer(&set->resources, call);
}

static mcp_status templates(mcp_call *call)
{
    return mcp__list_answer(&set->templates, call);
}

static mcp_status read_one(mcp_call *call)
{
    call->features = set;
    return mcp__resources_read(call);
}

static const mcp_json *read_uri(const char *uri)
{
    const char *params = mcp_arena_printf(arena, "{\"uri\":\"%s\"}", uri);

    return feature_ask(read_one, &options, MCP_2025_11_25, params, arena);
}

/* ---- lists ---------------------------------------------------------------------------------- */

static void test_lists_in_the_order_of_the_file(void **state)
{
    const mcp_json *message = feature_ask(list, &options, MCP_2025_11_25, NULL, arena);
    const mcp_json *entries = mcp_json_pointer(message, "/result/resources");

    (void)state;
    assert_int_equal(mcp_json_count(entries), 5);
    assert_string_equal(mcp_json_get_string(mcp_json_item(entries, 0), "uri"), "fix://plain");
    assert_string_equal(mcp_json_get_string(mcp_json_item(entries, 4), "uri"),
                        "fix://case/exact/config");
    message = feature_ask(templates, &options, MCP_2025_11_25, NULL, arena);
    entries = mcp_json_pointer(message, "/result/resourceTemplates");
    assert_int_equal(mcp_json_count(entries), 6);
    assert_json(mcp_json_item(entries, 3),
                "{\"uriTemplate\":\"fix://case/{case_dir}/config\",\"name\":\"config\","
                "\"title\":\"Config\",\"description\":\"d\",\"mimeType\":\"application/json\"}",
                arena);
}

/* title, _meta and lastModified came with 2025-06-18, icons with 2025-11-25. */
static void test_entries_have_what_their_revision_knows(void **state)
{
    static const struct {
        mcp_revision revision;
        const char *entry;
    } wanted[] = {
        { MCP_2024_11_05, "{\"uri\":\"fix://plain\",\"name\":\"plain\",\"mimeType\":\"text/plain\","
                          "\"size\":9,\"x-own\":{\"title\":1},"
                          "\"annotations\":{\"audience\":[\"user\"],\"priority\":0.5}}" },
        { MCP_2025_03_26, "{\"uri\":\"fix://plain\",\"name\":\"plain\",\"mimeType\":\"text/plain\","
                          "\"size\":9,\"x-own\":{\"title\":1},"
                          "\"annotations\":{\"audience\":[\"user\"],\"priority\":0.5}}" },
        { MCP_2025_06_18,
          "{\"uri\":\"fix://plain\",\"name\":\"plain\",\"title\":\"Plain\","
          "\"mimeType\":\"text/plain\",\"size\":9,\"_meta\":{\"k\":1},"
          "\"x-own\":{\"title\":1},\"annotations\":{\"audience\":[\"user\"],\"priority\":0.5,"
          "\"lastModified\":\"2025-01-12T15:00:58Z\"}}" },
        { MCP_2025_11_25, "{\"uri\":\"fix://plain\",\"name\":\"plain\",\"title\":\"Plain\","
                          "\"mimeType\":\"text/plain\",\"size\":9,\"_meta\":{\"k\":1},"
                          "\"icons\":[{\"src\":\"data:,\"}],\"x-own\":{\"title\":1},"
                          "\"annotations\":{\"audience\":[\"user\"],\"priority\":0.5,"
                          "\"lastModified\":\"2025-01-12T15:00:58Z\"}}" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        const mcp_json *message = feature_ask(list, &options, wanted[i].revision, NULL, arena);
        assert_json(mcp_json_pointer(message, "/result/resources/0"), wanted[i].entry, arena);
    }
}

/* ---- reading -------------------------------------------------------------------------------- */

static void test_reads_text_and_bytes_and_several(void **state)
{
    (void)state;
    assert_json(mcp_json_get(read_uri("fix://plain"), "result"),
                "{\"contents\":[{\"uri\":\"fix://plain\",\"mimeType\":\"text/plain\","
                "\"text\":\"two\\nlines\"}]}",
                arena);
    assert_json(mcp_json_get(read_uri("fix://bytes"), "result"), /* RFC 4648 section 4 */
                "{\"contents\":[{\"uri\":\"fix://bytes\",\"mimeType\":\"image/png\","
                "\"blob\":\"AAEC/w==\"}]}",
                arena);
    assert_json(mcp_json_get(read_uri("fix://folder"), "result"),
                "{\"contents\":[{\"uri\":\"fix://folder/a\",\"mimeType\":\"text/plain\","
                "\"text\":\"A\"},{\"uri\":\"fix://folder/b\",\"mimeType\":\"inode/directory\","
                "\"blob\":\"Qg==\"}]}",
                arena);
}

static void assert_read(const char *uri, const char *row, const char *with)
{
    const mcp_json *message = read_uri(uri);
    const char *text = mcp_json_string(mcp_json_pointer(message, "/result/contents/0/text"), NULL);
    const mcp_json *got = NULL;

    if (!text || mcp_json_read(&got, arena, text, strlen(text), NULL) != MCP_OK)
        fail_msg("%s was not read", uri);
    assert_string_equal(mcp_json_get_string(got, "row"), row);
    assert_json(mcp_json_get(got, "with"), with, arena);
}

static void test_looks_for_the_uri_then_the_templates_in_order(void **state)
{
    (void)state;
    assert_read("fix://case/exact/config", "any", "{}");
    assert_read("fix://case/%2Fdata%2Fa/config", "config", "{\"case_dir\":\"/data/a\"}");
    assert_read("fix://case/a/entities/hydros", "entities",
                "{\"case_dir\":\"a\",\"type\":\"hydros\"}");
    assert_read("fix://elsewhere/a/entities/hydros", "any",
                "{\"host\":\"elsewhere\",\"a\":\"a\",\"b\":\"hydros\"}");
    assert_read("fix://any/a/b", "any", "{\"rest\":\"a/b\"}");
}

static void test_raw_slashes_come_last(void **state)
{
    (void)state;
    assert_read("fix://case//data/a/config", "config", "{\"case_dir\":\"/data/a\"}");
    assert_read("fix://case//data/a/entities/hydros", "entities",
                "{\"case_dir\":\"/data/a\",\"type\":\"hydros\"}");
    /* any/{+rest} takes it as it stands, so the leniency for config is never asked */
    assert_read("fix://any/x/config", "any", "{\"rest\":\"x/config\"}");
}

static void test_a_template_may_refuse_raw_slashes(void **state)
{
    (void)state;
    assert_read("fix://strict/a%2Fb/config", "config", "{\"dir\":\"a/b\"}");
    assert_rpc_error(read_uri("fix://strict/a/b/config"), -32002, "fix://strict/a/b/config");
}

static void test_what_is_not_there_is_named(void **state)
{
    const mcp_json *message = read_uri("fix://nowhere");

    (void)state;
    assert_rpc_error(message, -32002, "fix://nowhere");
    assert_json(mcp_json_pointer(message, "/error/data"), "{\"uri\":\"fix://nowhere\"}", arena);
    message = read_uri("fix://gone/now");
    assert_rpc_error(message, -32002, "fix://gone/now");
    assert_json(mcp_json_pointer(message, "/error/data"), "{\"uri\":\"fix://gone/now\"}", arena);
    message = read_uri("fix://gone/words");
    assert_rpc_error(message, -32002, "the run has no output yet");
    assert_json(mcp_json_pointer(message, "/error/data"), "{\"uri\":\"fix://gone/words\"}", arena);
}

static void test_other_failures_are_not_told_apart(void **state)
{
    const mcp_json *message = read_uri("fix://gone/disk");

    (void)state;
    assert_rpc_error(message, -32603, "");
    assert_null(
        strstr(mcp_json_string(mcp_json_pointer(message, "/error/message"), NULL), "secret"));
    assert_null(mcp_json_pointer(message, "/error/data"));
    assert_rpc_error(read_uri("fix://nothing"), -32603, "");
}

static void test_wants_a_uri(void **state)
{
    static const char *const wrong[] = { NULL,
                                         "{}",
                                         "{\"uri\":null}",
                                         "{\"uri\":1}",
                                         "{\"uri\":[\"fix://plain\"]}",
                                         "{\"uri\":\"\"}",
                                         "{\"uri\":\"fix://plain\\u0000\"}",
                                         "{\"URI\":\"fix://plain\"}" };

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_rpc_error(feature_ask(read_one, &options, MCP_2025_06_18, wrong[i], arena), -32602,
                         "uri");
    assert_rpc_error(read_uri("fix://case/%2/config"), -32602, "%");
    assert_rpc_error(read_uri("fix://case/%00/config"), -32602, "NUL");
    assert_rpc_error(read_uri("fix://case/%ff/config"), -32602, "UTF-8");
}

static mcp_status check_time(mcp_call *call)
{
    mcp_status st = read_one(call);

    assert_int_equal(call->plan.timeout_ms,
                     strcmp(call->request.name, "fix://plain") ? 250 : 60000);
    assert_int_equal(call->plan.flags, MCP_READS);
    return st;
}

static void test_a_row_may_have_its_own_time(void **state)
{
    (void)state;
    feature_ask(check_time, &options, MCP_2025_06_18, "{\"uri\":\"fix://plain\"}", arena);
    feature_ask(check_time, &options, MCP_2025_06_18, "{\"uri\":\"fix://case/exact/config\"}",
                arena);
}

/* ---- loading -------------------------------------------------------------------------------- */

static mcp_status load(const char *text, const mcp_resource *table, mcp_error *err)
{
    const mcp_file one[] = { { text ? "resources.json" : NULL, text, text ? strlen(text) : 0 },
                             { 0 } };
    const mcp_features more_features = { .files = one, .resources = table };
    mcp__features *fresh = NULL;
    mcp_status st;

    assert_int_equal(mcp__features_new(&fresh, &options, NULL), MCP_OK);
    st = mcp__resources_load(fresh, &more_features, err);
    mcp__features_drop(fresh);
    return st;
}

static const mcp_resource one_row[] = { { "a:b", read_nothing, MCP_READS, 0 }, { 0 } };
static const mcp_resource one_template[] = { { "a:{b}", read_nothing, MCP_READS, 0 }, { 0 } };
static const mcp_resource no_rows[] = { { 0 } };

static void test_file_and_table_must_name_the_same(void **state)
{
    static const mcp_resource twice[] = { { "a:b", read_nothing, 0, 0 },
                                          { "a:b", read_nothing, 0, 0 },
                                          { 0 } };
    static const mcp_resource idle[] = { { "a:b", NULL, 0, 0 }, { 0 } };
    static const mcp_resource writes[] = { { "a:b", read_nothing, MCP_WRITES, 0 }, { 0 } };
    static const struct {
        const char *text;
        const mcp_resource *table;
        const char *words;
    } wrong[] = {
        { NULL, one_row, "missing" },
        { "[]", one_row, "not an object" },
        { "{", one_row, "" },
        { "{\"resource\":[]}", no_rows, "'resource'" },
        { "{\"resources\":{}}", no_rows, "'resources'" },
        { "{}", one_row, "no entry" },
        { "{\"resources\":[{\"uri\":\"a:b\",\"name\":\"b\"}]}", no_rows, "no row" },
        { "{\"resources\":[{\"uri\":\"a:b\",\"name\":\"b\"},{\"uri\":\"a:b\",\"name\":\"c\"}]}",
          one_row, "duplicate" },
        { "{\"resources\":[{\"uri\":\"a:b\",\"name\":\"b\"}]}", twice, "two rows" },
        { "{\"resources\":[{\"uri\":\"a:b\",\"name\":\"b\"}]}", idle, "no function" },
        { "{\"resources\":[{\"uri\":\"a:b\",\"name\":\"b\"}]}", writes, "MCP_WRITES" },
        { "{\"resources\":[{\"name\":\"b\"}]}", one_row, "without 'uri'" },
        { "{\"resources\":[1]}", one_row, "without 'uri'" },
        { "{\"resources\":[{\"uri\":\"a:b\"}]}", one_row, "'name'" },
        { "{\"resources\":[{\"uri\":\"a:b\",\"name\":1}]}", one_row, "'name'" },
        { "{\"resources\":[{\"uri\":\"a:b\",\"name\":\"b\",\"size\":1.5}]}", one_row, "'size'" },
        { "{\"resources\":[{\"uri\":\"a:b\",\"name\":\"b\",\"size\":1.0}]}", one_row, "'size'" },
        { "{\"resources\":[{\"uri\":\"a:b\",\"name\":\"b\",\"title\":null}]}", one_row,
          "'title' is of type null, not string" },
        { "{\"resources\":[{\"uri\":\"a:b\",\"name\":\"b\",\"x\":1,\"x\":2}]}", one_row,
          "duplicate member 'x'" },
        { "{\"resources\":[{\"uri\":\"a:b\",\"name\":\"b\",\"size\":-1}]}", one_row, "'size'" },
        { "{\"resources\":[{\"uri\":\"a:b\",\"name\":\"b\",\"name\":\"c\"}]}", one_row,
          "duplicate" },
        { "{\"resources\":[{\"uri\":\"/a/b\",\"name\":\"b\"}]}", one_row, "scheme" },
        { "{\"resources\":[{\"uri\":\"a:{b}\",\"name\":\"b\"}]}", one_template, "wrong one" },
        { "{\"resourceTemplates\":[{\"uriTemplate\":\"a:b\",\"name\":\"b\"}]}", one_row,
          "wrong one" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        mcp_error err = MCP_ERROR_INIT;
        assert_int_equal(load(wrong[i].text, wrong[i].table, &err), MCP_E_PARAMS);
        if (strncmp(err.message, "resources.json: ", 16) != 0 ||
            !strstr(err.message, wrong[i].words))
            fail_msg("row %zu: %s", i, err.message);
    }
}

static void test_a_template_that_cannot_be_matched_stops_the_start(void **state)
{
    static const mcp_resource table[] = { { "a:{b}{c}", read_nothing, 0, 0 }, { 0 } };
    mcp_error err = MCP_ERROR_INIT;

    (void)state;
    assert_int_equal(load("{\"resourceTemplates\":[{\"uriTemplate\":\"a:{b}{c}\",\"name\":\"b\"}]}",
                          table, &err),
                     MCP_E_PARAMS);
    assert_non_null(strstr(err.message, "a:{b}{c}"));
}

static void test_an_empty_table_is_a_table(void **state)
{
    (void)state;
    assert_int_equal(load(NULL, no_rows, NULL), MCP_OK);
    assert_int_equal(load("{}", no_rows, NULL), MCP_OK);
    assert_int_equal(load("{\"resources\":[],\"resourceTemplates\":[]}", no_rows, NULL), MCP_OK);
}

static void test_an_unlisted_resource_is_read_by_its_uri(void **state)
{
    static const mcp_resource more[] = { { "b:page", read_folder, MCP_READS | MCP_UNLISTED, 0 },
                                         { 0 } };
    static const char text[] = "{\"resources\":[{\"uri\":\"b:page\",\"name\":\"page\"}]}";
    const mcp_file one[] = { FILE_OF(text), { 0 } };
    const mcp_features more_features = { .files = one, .resources = more };

    (void)state;
    assert_int_equal(mcp__resources_load(set, &more_features, NULL), MCP_OK);
    assert_int_equal(
        mcp_json_count(mcp_json_pointer(feature_ask(list, &options, MCP_2025_06_18, NULL, arena),
                                        "/result/resources")),
        5);
    assert_int_equal(mcp_json_count(mcp_json_pointer(read_uri("b:page"), "/result/contents")), 2);
}

static void test_sets_add_up_but_do_not_overlap(void **state)
{
    static const mcp_resource more[] = { { "b:more", read_nothing, 0, 0 }, { 0 } };
    static const char text[] = "{\"resources\":[{\"uri\":\"b:more\",\"name\":\"more\"}]}";
    const mcp_file one[] = { FILE_OF(text), { 0 } };
    const mcp_features more_features = { .files = one, .resources = more };
    mcp_error err = MCP_ERROR_INIT;

    (void)state;
    assert_int_equal(mcp__resources_load(set, &more_features, NULL), MCP_OK);
    assert_int_equal(
        mcp_json_count(mcp_json_pointer(feature_ask(list, &options, MCP_2025_06_18, NULL, arena),
                                        "/result/resources")),
        6);
    assert_int_equal(mcp__resources_load(set, &more_features, &err), MCP_E_PARAMS);
    assert_non_null(strstr(err.message, "b:more"));
}

static mcp_status load_all(void *data)
{
    mcp__features *fresh = NULL;
    mcp_status st = mcp__features_new(&fresh, &options, NULL);

    (void)data;
    if (st == MCP_OK)
        st = mcp__resources_load(fresh, &features, NULL);
    mcp__features_drop(fresh);
    return st;
}

static void test_memory_can_run_out_anywhere(void **state)
{
    (void)state;
    oom_walk(load_all, NULL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_lists_in_the_order_of_the_file),
        TEST(test_entries_have_what_their_revision_knows),
        TEST(test_reads_text_and_bytes_and_several),
        TEST(test_looks_for_the_uri_then_the_templates_in_order),
        TEST(test_raw_slashes_come_last),
        TEST(test_a_template_may_refuse_raw_slashes),
        TEST(test_what_is_not_there_is_named),
        TEST(test_other_failures_are_not_told_apart),
        TEST(test_wants_a_uri),
        TEST(test_a_row_may_have_its_own_time),
        TEST(test_file_and_table_must_name_the_same),
        TEST(test_a_template_that_cannot_be_matched_stops_the_start),
        TEST(test_an_empty_table_is_a_table),
        TEST(test_an_unlisted_resource_is_read_by_its_uri),
        TEST(test_sets_add_up_but_do_not_overlap),
        TEST(test_memory_can_run_out_anywhere),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
