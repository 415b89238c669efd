/*
 * test_policy_tools.c - policies as tools and resources show them.
 *
 * The sample (policy_sample.h) has two cuts of an earlier training in its first stage and then two
 * an iteration; in the second stage six an iteration; in the last none. Its intercepts are
 * 100.5 (t + 1) + i thousand, its coefficients -0.1 (i + 1) / (j + t + 1) thousand.
 */
#include "../policy/policy_sample.h"
#include "../served.h"

#include "features/resources.h"
#include "policy/save.h"

static sample policies[3];

static int setup(void **state)
{
    return served_open(state, false);
}

static void save(const struct served *served, const char *path, size_t index, uint32_t iterations)
{
    sample_init(&policies[index], iterations);
    assert_int_equal(policy_save(served->folder.fd, path, &policies[index].policy, NULL, NULL),
                     MCP_OK);
}

static char *inspect(const struct served *served, const char *name, const char *more)
{
    return mcp_arena_printf(served->arena, "{'policy_dir':'%s/%s'%s}", served->folder.path, name,
                            more);
}

static void a_policy_is_summarised(void **state)
{
    struct served *served = *state;
    bool is_error = true;

    save(served, "out/policy", 0, 3);
    size_t descriptors = scratch_open_descriptors();
    const mcp_json *summary = served_call(served, "cobre/inspect-policy",
                                          inspect(served, "out/policy", ""), &is_error);
    assert_false(is_error);
    assert_at(summary, "",
              "{'stages':3,'total_cuts':26,'state_dimension':2,'cuts_per_stage':[8,18,0]}",
              served->arena);
    assert_int_equal(scratch_open_descriptors(), descriptors);
}

static void a_stage_is_shown_in_currency(void **state)
{
    struct served *served = *state;
    bool is_error = true;
    double number = 0;

    save(served, "p", 0, 3);
    const mcp_json *stage = served_call(served, "cobre/inspect-policy",
                                        inspect(served, "p", ",'stage':2"), &is_error);
    assert_false(is_error);
    assert_at(stage, "/stage", "2", served->arena);
    assert_at(stage, "/cuts", "18", served->arena);
    assert_at(stage, "/state_dimension", "2", served->arena);
    assert_at(stage, "/coefficients_truncated", "true", served->arena);
    assert_int_equal(mcp_json_count(mcp_json_get(stage, "intercepts")), 18);
    assert_int_equal(mcp_json_count(mcp_json_get(stage, "coefficients_sample")), 10);
    assert_at(stage, "/intercepts/0", "201000", served->arena);
    assert_at(stage, "/intercepts/17", "218000", served->arena);
    assert_true(mcp_json_double(mcp_json_pointer(stage, "/coefficients_sample/9/1"), &number));
    assert_true(fabs(number + 1000.0 / 3) < 1e-9);
    stage = served_call(served, "cobre/inspect-policy", inspect(served, "p", ",'stage':3"), NULL);
    assert_at(stage, "",
              "{'stage':3,'cuts':0,'state_dimension':2,'intercepts':[],'coefficients_sample':[],"
              "'coefficients_truncated':false}",
              served->arena);
}

static void stages_and_policies_that_are_not_there(void **state)
{
    struct served *served = *state;
    static const char *const stages[] = { ",'stage':4", ",'stage':9223372036854775807",
                                          ",'stage':1e30" };

    save(served, "p", 0, 3);
    for (size_t i = 0; i < 3; i++) {
        const mcp_json *record = served_refusal(served, "cobre/inspect-policy",
                                                inspect(served, "p", stages[i]), "OutOfRange");
        assert_at(record, "/context/field", "'stage'", served->arena);
        assert_at(record, "/context/max", "3", served->arena);
    }
    served_refusal(served, "cobre/inspect-policy", inspect(served, "none", ""), "OutputNotFound");
    scratch_write(&served->folder, "empty/x", "", 0);
    served_refusal(served, "cobre/inspect-policy", inspect(served, "empty", ""), "OutputNotFound");
    served_refusal(served, "cobre/inspect-policy", "{'policy_dir':'/etc'}", "MissingFile");
    scratch_write(&served->folder, "p/cuts/stage_001.bin", "no such table", 13);
    served_refusal(served, "cobre/inspect-policy", inspect(served, "p", ""), "OutputCorrupted");
    served_refusal(served, "cobre/inspect-policy", inspect(served, "p", ",'stage':2"),
                   "OutputCorrupted");
    scratch_write(&served->folder, "p/metadata.json", "[]", 2);
    served_refusal(served, "cobre/inspect-policy", inspect(served, "p", ""), "OutputCorrupted");
}

static char *compare(const struct served *served, const char *names, const char *more)
{
    char *list = mcp_arena_strdup(served->arena, "");

    for (const char *c = names; *c; c++)
        list = mcp_arena_printf(served->arena, "%s%s'%s/%c'", list, c > names ? "," : "",
                                served->folder.path, *c);
    return mcp_arena_printf(served->arena, "{'policy_dirs':[%s]%s}", list, more);
}

static void of_several_policies_the_broken_one_is_named(void **state)
{
    struct served *served = *state;

    save(served, "a", 0, 3);
    save(served, "b", 0, 3);
    scratch_write(&served->folder, "b/cuts/stage_001.bin", "no such table", 13);
    const mcp_json *broken = served_refusal(served, "cobre/compare-policies",
                                            compare(served, "ab", ""), "OutputCorrupted");
    assert_at(broken, "/context/file",
              mcp_arena_printf(served->arena, "'%s/b'", served->folder.path), served->arena);
}

static void two_policies_are_compared(void **state)
{
    struct served *served = *state;
    bool is_error = true;

    save(served, "a", 0, 3);
    save(served, "b", 1, 4);
    policies[1].policy.metadata.final_lower_bound = 1.25e6;
    policies[1].policy.metadata.best_upper_bound = 1e6;
    policies[0].policy.metadata.final_lower_bound = 1e6;
    assert_int_equal(policy_save(served->folder.fd, "a", &policies[0].policy, NULL, NULL), MCP_OK);
    assert_int_equal(policy_save(served->folder.fd, "b", &policies[1].policy, NULL, NULL), MCP_OK);
    const mcp_json *all = served_call(served, "cobre/compare-policies", compare(served, "ab", ""),
                                      &is_error);
    assert_false(is_error);
    assert_at(all, "/compatible", "true", served->arena);
    assert_at(all, "/policies/0/total_cuts", "26", served->arena);
    assert_at(all, "/policies/0/final_upper_bound", "null", served->arena);
    assert_at(all, "/policies/0/final_gap", "null", served->arena);
    assert_at(all, "/policies/1/iterations", "4", served->arena);
    assert_at(all, "/policies/1/final_gap", "-0.25", served->arena);
    /* The first has no upper bound. */
    assert_at(all, "/deltas", "{'lb_delta':250000,'lb_delta_pct':0.25,'cut_count_delta':8}",
              served->arena);
    const mcp_json *part = served_call(served, "cobre/compare-policies",
                                       compare(served, "ba", ",'metrics':['cut_counts']"), NULL);
    assert_at(part, "/deltas", "{'cut_count_delta':-8}", served->arena);
    assert_null(mcp_json_pointer(part, "/policies/0/iterations"));
    part = served_call(served, "cobre/compare-policies",
                       compare(served, "ab", ",'metrics':['state_dimension']"), NULL);
    assert_at(part, "/deltas", "{}", served->arena);
    assert_at(served_call(served, "cobre/compare-policies", compare(served, "aba", ""), NULL),
              "/deltas", "null", served->arena);
}

static void policies_that_do_not_match_are_no_error(void **state)
{
    struct served *served = *state;
    bool is_error = true;

    save(served, "a", 0, 3);
    sample_init(&policies[1], 3);
    policies[1].policy.stage_count = 2;
    assert_int_equal(policy_save(served->folder.fd, "b", &policies[1].policy, NULL, NULL), MCP_OK);
    const mcp_json *all = served_call(served, "cobre/compare-policies", compare(served, "aab", ""),
                                      &is_error);
    assert_false(is_error);
    assert_at(all, "/compatible", "false", served->arena);
    assert_at(all, "/deltas", "null", served->arena);
    assert_at(all, "/incompatibility/kind", "'IncompatibleRuns'", served->arena);
    assert_at(all, "/incompatibility/context/field", "'stages'", served->arena);
    assert_at(all, "/incompatibility/context/run_a_value", "3", served->arena);
    assert_at(all, "/incompatibility/context/run_b_value", "2", served->arena);

    served_refusal(served, "cobre/compare-policies", compare(served, "a", ""), "SchemaViolation");
    served_refusal(served, "cobre/compare-policies", compare(served, "an", ""), "OutputNotFound");
    served_refusal(served, "cobre/compare-policies", "{'policy_dirs':['/etc','/etc']}",
                   "MissingFile");
    served_refusal(served, "cobre/compare-policies", "{'policy_dirs':['/x\\u0000','/y']}",
                   "SchemaViolation");
    char many[102] = { 0 };
    memset(many, 'a', 101);
    served_refusal(served, "cobre/compare-policies", compare(served, many, ""), "OutOfRange");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, served_close)
    const struct CMUnitTest tests[] = {
        TEST(a_policy_is_summarised),
        TEST(a_stage_is_shown_in_currency),
        TEST(stages_and_policies_that_are_not_there),
        TEST(of_several_policies_the_broken_one_is_named),
        TEST(two_policies_are_compared),
        TEST(policies_that_do_not_match_are_no_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
