/*
 * test_identity.c - the golden vectors of names and keys (casparian's data model, 9.2 and 9.5).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "sinks/identity.h"

#define PROTOCOL_HASH "75cece4d63ee64f4cc23eb28562ad3c8d0bc36442d58e3af63fbd03c904df8e4"
#define TARGET_KEY "f7c642c033f30cb44bb9a30d71e8fae4216e7b676ebdd975fbf7b54417ebffa1"

static void names_become_safe(void **state)
{
    static const struct {
        const char *name, *safe;
    } rows[] = {
        { "events", "events" },
        { "_a1", "_a1" },
        { "Orders/2024", "orders_2024_8ed2798a" },
        { "", "output_e3b0c442" },
    };
    char safe[CASPARIAN_SAFE_ID_SIZE], file[CASPARIAN_FILE_NAME_SIZE];
    char longest[CASPARIAN_OUTPUT_ID_MAX + 2];

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_int_equal(casparian_safe_output_id(safe, rows[i].name, NULL), MCP_OK);
        assert_string_equal(safe, rows[i].safe);
    }
    /* Runs become one '_', at the ends none; nothing is left of the last. */
    assert_int_equal(casparian_safe_output_id(safe, "-- A__b  C! --", NULL), MCP_OK);
    assert_memory_equal(safe, "a_b_c_", 6);
    assert_int_equal(strlen(safe), 6 + 8);
    assert_int_equal(casparian_safe_output_id(safe, "\xC3\xA9", NULL), MCP_OK);
    assert_memory_equal(safe, "output_", 7);
    assert_int_equal(casparian_output_file_name(file, "events", "42", "parquet", NULL), MCP_OK);
    assert_string_equal(file, "events_73475cb40a568e8d.parquet");

    memset(longest, 'X', sizeof longest);
    longest[CASPARIAN_OUTPUT_ID_MAX] = '\0';
    assert_int_equal(casparian_output_file_name(file, longest, "42", "parquet", NULL), MCP_OK);
    assert_int_equal(strlen(file), CASPARIAN_OUTPUT_ID_MAX + 9 + 17 + strlen(".parquet"));
    longest[CASPARIAN_OUTPUT_ID_MAX] = 'X';
    longest[CASPARIAN_OUTPUT_ID_MAX + 1] = '\0';
    assert_int_equal(casparian_output_file_name(file, longest, "42", "parquet", NULL), MCP_E_LIMIT);
}

static void tables_and_stages_have_names(void **state)
{
    char name[CASPARIAN_FILE_NAME_SIZE];

    (void)state;
    assert_int_equal(casparian_output_table_name(name, "events", PROTOCOL_HASH, NULL), MCP_OK);
    assert_string_equal(name, "events__schema_75cece4d");
    assert_int_equal(casparian_output_table_name(name, "events", NULL, NULL), MCP_OK);
    assert_string_equal(name, "events");
    assert_int_equal(casparian_stage_name(name, "events", "42", NULL), MCP_OK);
    assert_string_equal(name, "__cf_stage_dc3571ad42fedd62");
}

static void keys_are_those_of_the_page(void **state)
{
    static const casparian_target with_schema = { "events", "parquet://./output/", "append",
                                                  "events__schema_75cece4d", PROTOCOL_HASH };
    static const casparian_target without = { "events", "parquet://./output/", "append", "events",
                                              NULL };
    static const casparian_materialization what = { 1, 1700000000, 1234, "artifact", TARGET_KEY };
    char key[CASPARIAN_HASH_SIZE];

    (void)state;
    assert_int_equal(casparian_target_key(key, &with_schema, NULL), MCP_OK);
    assert_string_equal(key, TARGET_KEY);
    assert_int_equal(casparian_target_key(key, &without, NULL), MCP_OK);
    assert_string_equal(key, "f986d37d6518aea32bdcb56227c4366827b8c77248d9c511cb96e2c3bebf3c3d");
    assert_int_equal(casparian_materialization_key(key, &what, NULL), MCP_OK);
    assert_string_equal(key, "5ad79c22f22221b292853797b0c498eaf0dc6133a4a34bfef5ee8262aa0d72d5");
    assert_int_equal(casparian_artifact_hash(key, "src", "lock", "{}", "{}", NULL), MCP_OK);
    assert_string_equal(key, "153b7e716f103781137561af5c7d92e8f1119eccc5f7fafd5f7d4d60c224908e");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_become_safe),
        cmocka_unit_test(tables_and_stages_have_names),
        cmocka_unit_test(keys_are_those_of_the_page),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
