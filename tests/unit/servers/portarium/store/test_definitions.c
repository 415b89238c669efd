/*
 * test_definitions.c - a definition is kept only where it was committed.
 */
#include "../store_rig.h"
#include "store/definitions.h"

static store_rig rig;
static portarium_shapes *shapes;

#define WORKFLOW(name)                                                                             \
    "{\"schemaVersion\":1,\"workflowId\":\"wf\",\"workspaceId\":\"ws-1\",\"name\":\"" name         \
    "\",\"version\":1,\"active\":true,\"executionTier\":\"Auto\",\"actions\":[{\"actionId\":"      \
    "\"a\",\"order\":1,\"portFamily\":\"SoftwareDev\",\"operation\":\"control:noop\"}]}"

static void open_rig(engine *engine)
{
    store_open(&rig, engine);
    store_expect(&rig, portarium_shapes_new(&shapes, portarium_files, &rig.err), MCP_OK);
    store_expect(&rig, portarium_definitions_new(&rig.settings.definitions, shapes, &rig.err),
                 MCP_OK);
}

static void close_rig(void)
{
    portarium_definitions_free(rig.settings.definitions);
    portarium_shapes_free(shapes);
    store_close(&rig);
}

/* The next command of the same transaction. */
static portarium_tx *next(void)
{
    store_expect(&rig, portarium_tx_end(&rig.tx, &rig.err), MCP_OK);
    store_expect(&rig, portarium_tx_begin(&rig.tx, &rig.err), MCP_OK);
    return &rig.tx;
}

static void add(portarium_tx *tx, const char *text)
{
    store_expect(&rig, portarium_definition_add(tx, "wf", 1, store_json(&rig, text), &rig.err),
                 MCP_OK);
}

static void expect(portarium_tx *tx, const char *name)
{
    const portarium_workflow *workflow = NULL;
    store_expect(&rig, portarium_definition_get(&workflow, tx, "wf", 1, &rig.err), MCP_OK);
    assert_string_equal(workflow->name, name);
}

static void a_version_that_was_rolled_back_is_not_kept(void **state)
{
    const portarium_workflow *workflow = NULL;
    open_rig(*state);
    add(store_begin(&rig), WORKFLOW("lost"));
    expect(next(), "lost"); /* as the start of a run in the same group of commands reads it */
    db_rollback(rig.tx.session);
    store_expect(&rig, portarium_definition_get(&workflow, store_begin(&rig), "wf", 1, &rig.err),
                 MCP_E_NOT_FOUND);
    add(&rig.tx, WORKFLOW("stored"));
    expect(next(), "stored");
    store_commit(&rig);
    expect(store_begin(&rig), "stored");
    store_commit(&rig);
    close_rig();
}

static void a_committed_version_is_read_once(void **state)
{
    const portarium_workflow *first = NULL, *second = NULL;
    open_rig(*state);
    add(store_begin(&rig), WORKFLOW("stored"));
    store_commit(&rig);
    store_expect(&rig, portarium_definition_get(&first, store_begin(&rig), "wf", 1, &rig.err),
                 MCP_OK);
    store_commit(&rig);
    store_expect(&rig, portarium_definition_get(&second, store_begin(&rig), "wf", 1, &rig.err),
                 MCP_OK);
    assert_ptr_equal(first, second);
    store_commit(&rig);
    close_rig();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ENGINE_TESTS(a_version_that_was_rolled_back_is_not_kept),
        ENGINE_TESTS(a_committed_version_is_read_once),
    };
    return cmocka_run_group_tests(tests, NULL, engine_stop_all);
}
