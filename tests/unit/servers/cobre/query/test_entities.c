/*
 * test_entities.c - the dictionary of entities: quoted names, broken lines, ids and names.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "query/entities.h"
#include "scratch.h"

#define HEADER "entity_type_code,entity_id,name,bus_id,system_id\n"

struct world {
    scratch folder;
    mcp_arena *arena;
    query_entities entities;
};

static struct world world;

static int set_up(void **state)
{
    (void)state;
    scratch_open(&world.folder);
    world.arena = mcp_arena_new(0);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    mcp_arena_free(world.arena);
    scratch_close(&world.folder);
    return 0;
}

static mcp_status read_text(const char *text)
{
    scratch_write(&world.folder, QUERY_ENTITIES, text, strlen(text));
    return query_entities_read(&world.entities, world.folder.fd, world.arena, NULL);
}

static void names_are_read_as_they_were_written(void **state)
{
    (void)state;
    assert_int_equal(read_text(HEADER "0,1,\"Alto, \"\"o\"\" rio\",0,0\r\n1,-2,Gas,0,0\n2,3,,3,0"),
                     MCP_OK);
    assert_int_equal(world.entities.count, 3);
    const query_entity *items = world.entities.items;
    assert_string_equal(items[0].name, "Alto, \"o\" rio");
    assert_int_equal(items[1].code, QUERY_THERMAL);
    assert_int_equal(items[1].id, -2);
    assert_string_equal(items[1].name, "Gas");
    assert_string_equal(items[2].name, "");
    assert_int_equal(read_text(HEADER "0,1,\"two\nlines\",0,0\n"), MCP_OK);
    assert_string_equal(world.entities.items[0].name, "two\nlines");
    assert_int_equal(read_text(HEADER), MCP_OK);
    assert_int_equal(world.entities.count, 0);
}

static void other_files_are_no_dictionary(void **state)
{
    static const char *const texts[] = {
        "",
        "a,b\n",
        HEADER "0,1,x,0\n",
        HEADER "0,1,x,0,0,0\n",
        HEADER "0,one,x,0,0\n",
        HEADER ",1,x,0,0\n",
        HEADER "0,1,\"x,0,0\n",
        HEADER "0,1,\"x\"y,0,0\n",
        HEADER "\n",
    };

    (void)state;
    assert_int_equal(query_entities_read(&world.entities, world.folder.fd, world.arena, NULL),
                     MCP_E_NOT_FOUND);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        if (read_text(texts[i]) != MCP_E_PARSE)
            fail_msg("text %zu is taken", i);
}

static void an_integer_is_an_id_and_all_else_a_name(void **state)
{
    int64_t ids[4];
    int64_t id = 0;

    (void)state;
    assert_int_equal(read_text(HEADER "0,1,A,0,0\n0,2,A,0,0\n1,1,A,0,0\n0,3,1,0,0\n"), MCP_OK);
    assert_int_equal(query_entities_find(ids, &world.entities, QUERY_HYDRO, "A"), 2);
    assert_int_equal(ids[0] + ids[1], 3);
    assert_int_equal(query_entities_find(ids, &world.entities, QUERY_HYDRO, "1"), 1);
    assert_int_equal(ids[0], 1); /* not the one that is called 1 */
    assert_int_equal(query_entities_find(NULL, &world.entities, QUERY_HYDRO, "a"), 0);
    assert_int_equal(query_entities_find(NULL, &world.entities, QUERY_BUS, "A"), 0);
    assert_false(query_entity_id(&id, ""));
    assert_false(query_entity_id(&id, "-"));
    assert_false(query_entity_id(&id, " 1"));
    assert_false(query_entity_id(&id, "1.0"));
    assert_true(query_entity_id(&id, "-007"));
    assert_int_equal(id, -7);
    assert_true(query_entity_id(&id, "9223372036854775808"));
    assert_int_equal(id, INT64_MIN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(names_are_read_as_they_were_written, set_up, tear_down),
        cmocka_unit_test_setup_teardown(other_files_are_no_dictionary, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_integer_is_an_id_and_all_else_a_name, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
