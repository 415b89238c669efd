/*
 * test_arguments.c - the forms of arguments that are converted; all others are checked unchanged.
 *
 * The directory is opened after the arguments were checked: MissingFile means that they are valid.
 */
#include "../served.h"

static int setup(void **state)
{
    return served_open(state, true);
}

static void phases_of_one_become_their_element(void **state)
{
    struct served *served = *state;

    /* The arguments are valid, so the directory is opened. */
    served_refusal(served, "cobre/run", "{'phases':['training'],'case_dir':'/nowhere'}",
                   "MissingFile");
    served_refusal(served, "cobre/run", "{'case_dir':'/nowhere','phases':['none']}", "InvalidEnum");
    served_refusal(served, "cobre/run", "{'case_dir':'/nowhere','phases':[['both']]}",
                   "TypeMismatch");
    served_refusal(served, "cobre/run", "{'case_dir':'/nowhere','phases':[]}", "TypeMismatch");
    served_refusal(served, "cobre/run", "{'case_dir':'/nowhere','phases':['both','both']}",
                   "TypeMismatch");
    served_refusal(served, "cobre/run", "{'phases':['both']}", "SchemaViolation");
}

static void whole_numbers_become_entity_ids(void **state)
{
    struct served *served = *state;
    static const struct {
        const char *filters, *kind;
    } rows[] = {
        { "{'entity_id':7}", "MissingFile" },
        { "{'limit':5,'entity_id':-9223372036854775808,'columns':['stage_id']}", "MissingFile" },
        { "{'entity_id':'7'}", "MissingFile" },
        { "{'entity_id':['7','8']}", "MissingFile" },
        { "{'entity_id':7.5}", "TypeMismatch" },
        { "{'entity_id':null}", "TypeMismatch" },
        { "{'entity_id':7,'limit':0}", "OutOfRange" },
        { "{'entity_id':7,'limit':10001}", "OutOfRange" },
        { "{'entity_id':7,'other':1}", "SchemaViolation" },
        { "[7]", "TypeMismatch" },
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char arguments[200];
        snprintf(arguments, sizeof arguments,
                 "{'output_dir':'/x','entity_type':'hydros','filters':%s}", rows[i].filters);
        served_refusal(served, "cobre/query-results", arguments, rows[i].kind);
    }
}

static void the_directory_of_the_lines_is_known_by_its_name(void **state)
{
    struct served *served = *state;

    served_refusal(served, "cobre/query-results", "{'output_dir':'/x','entity_type':'exchanges'}",
                   "MissingFile");
    served_refusal(served, "cobre/query-results", "{'output_dir':'/x','entity_type':'exchange'}",
                   "InvalidEnum");
}

/* Rewritten, "phases\0" would be "phases". */
static void names_with_nul_are_not_made_fit(void **state)
{
    struct served *served = *state;

    served_refusal(served, "cobre/run", "{'case_dir\\u0000':'/x','phases':['both']}",
                   "TypeMismatch");
    served_refusal(
        served, "cobre/query-results",
        "{'output_dir':'/x','entity_type':'hydros','filters':{'entity_id':7,'x\\u0000':1}}",
        "TypeMismatch");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(phases_of_one_become_their_element, setup, served_close),
        cmocka_unit_test_setup_teardown(whole_numbers_become_entity_ids, setup, served_close),
        cmocka_unit_test_setup_teardown(the_directory_of_the_lines_is_known_by_its_name, setup,
                                        served_close),
        cmocka_unit_test_setup_teardown(names_with_nul_are_not_made_fit, setup, served_close),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
