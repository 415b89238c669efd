/*
 * The catalogue: its names, its three forms, and that its schemas take what the reducers take.
 */
#include "../world.h"

#include "commands/catalogue.h"
#include "mcp/schema.h"

/* The names as the contract spells them (REQ-MCP-13), with the number of commands of each (section
 * 3.1). */
static const struct {
    const char *name;
    size_t commands;
} categories[] = {
    { "Simulation", 1 },
    { "Star CRUD", 3 },
    { "Star hierarchy", 2 },
    { "Group CRUD", 3 },
    { "Group hierarchy", 3 },
    { "Small body fields", 3 },
    { "Protoplanetary disks", 4 },
    { "Nebulae", 3 },
    { "Rings", 2 },
    { "Snapshot", 1 },
};

static void test_listing(void **unused)
{
    world w = world_new();
    mcp_json_writer writer;
    mcp_buf buf;
    (void)unused;

    mcp_buf_init(&buf, 1 << 20);
    mcp_json_writer_init(&writer, &buf);
    universe_catalogue_json(&writer, NULL);
    const mcp_json *listing = json_of(w.arena, buf.data, buf.length);
    assert_int_equal(mcp_json_count(mcp_json_get(listing, "commandTypes")), 25);
    mcp_buf_reset(&buf);
    assert_int_equal(universe_catalogue_markdown(&buf, NULL), MCP_OK);
    for (size_t i = 0; i < sizeof categories / sizeof categories[0]; i++) {
        const mcp_json *category = mcp_json_item(mcp_json_get(listing, "categories"), i);
        assert_string_equal(mcp_json_get_string(category, "name"), categories[i].name);
        assert_int_equal(mcp_json_count(mcp_json_get(category, "commands")),
                         categories[i].commands);
        assert_ptr_equal(universe_category_find(mcp_json_get_string(category, "id")),
                         &universe_categories[i]);
        const char *heading = mcp_arena_printf(w.arena, "## %s (%zu command", categories[i].name,
                                               categories[i].commands);
        assert_non_null(strstr(buf.data, heading));
    }
    assert_json(&w, mcp_json_pointer(listing, "/categories/1/commands/0"),
                "{'type':'addStar','required':['id','payload'],'optional':[]}");
    assert_json(&w, mcp_json_pointer(listing, "/categories/0/commands/0"),
                "{'type':'tick','required':[],'optional':['dt']}");
    assert_null(universe_category_find("stars"));
    mcp_buf_reset(&buf);
    universe_catalogue_markdown(&buf, universe_category_find("rings"));
    assert_non_null(strstr(buf.data, "`updateRing`"));
    assert_null(strstr(buf.data, "`tick`"));
    mcp_buf_clear(&buf);
    world_free(&w);
}

static mcp_schema *compile(mcp_buf *text, mcp_arena *arena)
{
    mcp_schema *schema = NULL;
    mcp_error err = MCP_ERROR_INIT;

    if (mcp_schema_compile(&schema, json_of(arena, text->data, text->length), NULL, &err) != MCP_OK)
        fail_msg("%s", err.message);
    return schema;
}

static bool takes(const mcp_schema *schema, world *w, const char *command)
{
    return mcp_schema_check(schema, json(w, command), w->arena, NULL, NULL) == MCP_OK;
}

static void test_schemas(void **unused)
{
    static const char *const good[] = {
        "{'type':'tick'}",
        "{'type':'tick','dt':-1.5}",
        "{'type':'attachStar','childId':'a','parentId':'b'}",
        "{'type':'updateStar','id':'a','payload':{'mass':1,'unknown':[]}}",
        "{'type':'addStar','id':'sol','payload':{'name':'Sol','mass':1000,'radius':5,'color':'#FFD2A1',"
        "'parentId':null,'orbitalDistance':0,'orbitalSpeed':0,'ring':" RING "}}",
        "{'type':'setNebulae','nebulae':{'n':" NEBULA("n") "}}",
        "{'type':'moveToGroup','childId':'a','childType':'group','targetGroupId':null}",
        "{'type':'replaceSnapshot','snapshot':{'stars':{},'rootIds':[]}}",
        "{'type':'addGroup','id':'g','payload':{'name':'','children':[{'id':'a','type':'system'}],'parentGroupId':null}}",
    };
    static const char *const bad[] = {
        "{'type':'explode'}",
        "{'type':'tick','dt':'1'}",
        "{'type':'tick','step':1}",
        "{'type':'attachStar','childId':'a'}",
        "{'type':'addStar','id':'a','payload':{'name':'x'}}",
        "{'type':'updateStar','id':'a','payload':{'mass':-1}}",
        "{'type':'updateStar','id':'a','payload':{'eccentricity':1}}",
        "{'type':'moveToGroup','childId':'a','childType':'planet','targetGroupId':null}",
        "{'type':'removeStar','id':''}",
    };
    world w = world_new();
    mcp_json_writer writer;
    mcp_buf buf;
    (void)unused;

    mcp_buf_init(&buf, 1 << 20);
    mcp_json_writer_init(&writer, &buf);
    universe_commands_schema(&writer);
    assert_int_equal(mcp_json_writer_status(&writer), MCP_OK);
    mcp_schema *all = compile(&buf, w.arena);
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        if (!takes(all, &w, good[i]))
            fail_msg("refused: %s", good[i]);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        if (takes(all, &w, bad[i]))
            fail_msg("taken: %s", bad[i]);
    for (size_t i = 0; i < UNIVERSE_COMMANDS; i++) { /* each alone takes its own and no other */
        mcp_buf_reset(&buf);
        mcp_json_writer_init(&writer, &buf);
        universe_command_schema(&writer, &universe_command_types[i]);
        mcp_schema *one = compile(&buf, w.arena);
        for (size_t g = 0; g < sizeof good / sizeof good[0]; g++) {
            const char *type = mcp_json_get_string(json(&w, good[g]), "type");
            assert_int_equal(takes(one, &w, good[g]),
                             strcmp(type, universe_command_types[i].type) == 0);
        }
        mcp_schema_free(one);
    }
    mcp_schema_free(all);
    mcp_buf_clear(&buf);
    world_free(&w);
}

/* One after the other they are accepted, and each does something; there are some of every
 * command. */
static void test_examples(void **unused)
{
    world w = world_new();
    (void)unused;

    for (size_t i = 0; i < UNIVERSE_COMMANDS; i++) {
        const universe_command_type *type = &universe_command_types[i];
        for (const char *at = universe_command_examples(type); *at;) {
            size_t length = strcspn(at, "\n");
            const mcp_json *command = json_of(w.arena, at, length);
            assert_string_equal(mcp_json_get_string(command, "type"), type->type);
            assert_int_equal(
                universe_apply(&w.outcome, w.state, command, at, length, &w.rules, w.arena, NULL),
                MCP_OK);
            if (w.outcome.verdict != UNIVERSE_APPLIED)
                fail_msg("%.*s came to %s", (int)length, at, w.outcome.events);
            at += length + (at[length] == '\n');
        }
    }
    world_free(&w);
}

/* A category may be called by its name too; asked for alone it brings its schemas. */
static void test_category_alone(void **unused)
{
    world w = world_new();
    mcp_json_writer writer;
    mcp_buf buf;
    (void)unused;

    assert_ptr_equal(universe_category_find("Star CRUD"), &universe_categories[1]);
    assert_ptr_equal(universe_category_find("RINGS"), &universe_categories[8]);
    mcp_buf_init(&buf, 1 << 20);
    mcp_json_writer_init(&writer, &buf);
    universe_catalogue_json(&writer, &universe_categories[1]);
    const mcp_json *listing = json_of(w.arena, buf.data, buf.length);
    const mcp_json *needed = mcp_json_pointer(
        listing, "/categories/0/commands/0/schema/properties/payload/required");
    assert_json(&w, needed,
                "['name','mass','radius','color','parentId','orbitalDistance','orbitalSpeed']");
    mcp_buf_clear(&buf);
    world_free(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_listing),
        cmocka_unit_test(test_schemas),
        cmocka_unit_test(test_examples),
        cmocka_unit_test(test_category_alone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
