/*
 * config.c - reads config.json.
 *
 * All keys are checked, also those that this version does not model (unsupported.c refuses them
 * later), so that a wrong type is found anywhere. The format ignores unknown keys; a key of an
 * older format gets a warning with its new name. Source: the case page, section 2.
 */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "case/read/readers.h"

static const char *const cut_formulations[] = { "single", "multi", NULL };
static const char *const backends[] = { "auto", "own", "clp", NULL };
static const char *const cut_methods[] = { "level1", "lml1", "domination", NULL };
static const char *const inflow_methods[] = { "penalty", "none", "truncation",
                                              "truncation_with_penalty", NULL };
static const char *const compatibilities[] = { "cobre-0.5", NULL };
static const char *const storage_bounds[] = { "hard", "soft", NULL };
static const char *const policy_types[] = { "outer", "inner", NULL };
static const char *const policy_modes[] = { "fresh", "warm_start", "resume", NULL };
static const char *const selections[] = { "pacf", "pacf_annual", "fixed", NULL };
static const char *const rule_types[] = { "iteration_limit", "time_limit", "bound_stalling",
                                          "simulation", NULL };
static const char *const schemes[] = { "in_sample", "out_of_sample", "external", NULL };
static const char *const inflow_schemes[] = { "in_sample", "out_of_sample", "external",
                                              "historical", NULL };

/* The members that are kept; `ignored` takes those that are only checked. */
struct members {
    cobre_raw_config kept;
    struct {
        const mcp_json *object, *simulation_source, *training_source, *rules;
        const char *text;
        int64_t integer;
        double real;
        bool flag;
    } ignored;
};

#define KEPT(path, type, flags, member) COBRE_F(struct members, path, type, flags, kept.member)
#define PRESET(path, type, flags, member, preset)                                                  \
    COBRE_P(struct members, path, type, flags, kept.member, preset)
#define CHOICE(path, flags, member, choices, preset)                                               \
    COBRE_C(struct members, path, flags, kept.member, choices, preset)
#define SEEN(path, type, flags, member) COBRE_F(struct members, path, type, flags, ignored.member)

static const cobre_field fields[] = {
    SEEN("$schema", TEXT, COBRE_OPTIONAL, text),
    SEEN("modeling", OBJECT, 0, object),
    SEEN("training", OBJECT, COBRE_REQUIRED, object),
    SEEN("upper_bound_evaluation", OBJECT, 0, object),
    SEEN("policy", OBJECT, 0, object),
    SEEN("simulation", OBJECT, 0, object),
    SEEN("exports", OBJECT, 0, object),
    SEEN("estimation", OBJECT, 0, object),
    PRESET("training.enabled", BOOL, 0, training_enabled, 1),
    KEPT("training.tree_seed", INT64, COBRE_OPTIONAL, tree_seed),
    KEPT("training.forward_passes", UINT32, COBRE_REQUIRED | COBRE_POSITIVE, forward_passes),
    KEPT("training.stopping_rules", ARRAY, COBRE_REQUIRED, rules_json),
    KEPT("training.stopping_mode", TEXT, 0, stopping_mode),
    CHOICE("training.cut_formulation", COBRE_OPTIONAL, cut_formulation, cut_formulations, 0),
    KEPT("training.forward_pass", OBJECT, COBRE_OPTIONAL, forward_pass),
    SEEN("training.forward_pass.type", TEXT, 0, text),
    SEEN("training.cut_selection", OBJECT, 0, object),
    PRESET("training.cut_selection.enabled", BOOL, COBRE_OPTIONAL, cut_selection_enabled, 0),
    CHOICE("training.cut_selection.method", COBRE_OPTIONAL, cut_method, cut_methods, -1),
    PRESET("training.cut_selection.threshold", UINT32, COBRE_OPTIONAL, cut_threshold, 0),
    KEPT("training.cut_selection.memory_window", UINT32, COBRE_OPTIONAL, cut_memory_window),
    KEPT("training.cut_selection.domination_epsilon", REAL,
         COBRE_OPTIONAL | COBRE_NOT_NEGATIVE | COBRE_UNBOUNDED, cut_epsilon),
    PRESET("training.cut_selection.check_frequency", UINT32, COBRE_OPTIONAL, cut_check_frequency,
           5),
    PRESET("training.cut_selection.cut_activity_tolerance", REAL,
           COBRE_OPTIONAL | COBRE_NOT_NEGATIVE | COBRE_UNBOUNDED, cut_tolerance, 0),
    PRESET("training.cut_selection.basis_activity_window", UINT32, COBRE_OPTIONAL, cut_basis_window,
           5),
    KEPT("training.cut_selection.max_active_per_stage", UINT32, COBRE_OPTIONAL | COBRE_POSITIVE,
         cut_max_active),
    SEEN("training.solver", OBJECT, 0, object),
    CHOICE("training.solver.backend", COBRE_OPTIONAL, backend, backends, 0),
    SEEN("training.solver.retry_max_attempts", UINT32, 0, integer),
    SEEN("training.solver.retry_time_budget_seconds", REAL, COBRE_UNBOUNDED, real),
    KEPT("training.scenario_source", OBJECT, COBRE_OPTIONAL, training_source.json),
    SEEN("modeling.inflow_non_negativity", OBJECT, 0, object),
    CHOICE("modeling.inflow_non_negativity.method", 0, inflow_method, inflow_methods, 0),
    SEEN("modeling.inflow_non_negativity.penalty_cost", REAL, COBRE_UNBOUNDED, real),
    CHOICE("modeling.compatibility", COBRE_OPTIONAL, compatibility, compatibilities, -1),
    CHOICE("modeling.storage_bounds", 0, storage_bounds, storage_bounds, 0),
    PRESET("modeling.cycle_rounds", UINT32, COBRE_POSITIVE, cycle_rounds, 2),
    PRESET("simulation.enabled", BOOL, 0, simulation_enabled, 0),
    PRESET("simulation.num_scenarios", UINT32, 0, scenarios, 2000),
    CHOICE("simulation.policy_type", 0, policy_type, policy_types, 0),
    SEEN("simulation.output_path", TEXT, COBRE_OPTIONAL, text),
    SEEN("simulation.output_mode", TEXT, COBRE_OPTIONAL, text),
    SEEN("simulation.io_channel_capacity", UINT32, 0, integer),
    KEPT("simulation.scenario_source", OBJECT, COBRE_OPTIONAL, simulation_source.json),
    KEPT("policy.path", TEXT, 0, policy_path),
    CHOICE("policy.mode", 0, policy_mode, policy_modes, 0),
    PRESET("policy.validate_compatibility", BOOL, 0, validate_compatibility, 1),
    SEEN("policy.checkpointing", OBJECT, 0, object),
    PRESET("policy.checkpointing.enabled", BOOL, COBRE_OPTIONAL, checkpoints, 1),
    PRESET("policy.checkpointing.initial_iteration", UINT32, COBRE_OPTIONAL, first_checkpoint, 1),
    PRESET("policy.checkpointing.interval_iterations", UINT32, COBRE_OPTIONAL, checkpoint_interval,
           0),
    PRESET("policy.checkpointing.store_basis", BOOL, COBRE_OPTIONAL, store_basis, 1),
    SEEN("policy.checkpointing.compress", BOOL, COBRE_OPTIONAL, flag),
    KEPT("policy.boundary", OBJECT, COBRE_OPTIONAL, boundary),
    PRESET("exports.states", BOOL, 0, export_states, 0),
    PRESET("exports.stochastic", BOOL, 0, export_stochastic, 0),
    PRESET("estimation.max_order", UINT32, 0, max_order, 6),
    CHOICE("estimation.order_selection", 0, order_selection, selections, 0),
    PRESET("estimation.min_observations_per_season", UINT32, 0, min_observations, 30),
    KEPT("estimation.max_coefficient_magnitude", REAL,
         COBRE_OPTIONAL | COBRE_POSITIVE | COBRE_UNBOUNDED, max_coefficient),
    PRESET("upper_bound_evaluation.enabled", BOOL, COBRE_OPTIONAL, upper_bound_enabled, 0),
    PRESET("upper_bound_evaluation.initial_iteration", UINT32, COBRE_OPTIONAL | COBRE_POSITIVE,
           upper_bound_first, 1),
    PRESET("upper_bound_evaluation.interval_iterations", UINT32, COBRE_OPTIONAL | COBRE_POSITIVE,
           upper_bound_interval, 10),
    SEEN("upper_bound_evaluation.lipschitz", OBJECT, COBRE_OPTIONAL, object),
    KEPT("upper_bound_evaluation.lipschitz.mode", TEXT, COBRE_OPTIONAL, lipschitz_mode),
    KEPT("upper_bound_evaluation.lipschitz.fallback_value", REAL,
         COBRE_OPTIONAL | COBRE_NOT_NEGATIVE, lipschitz_fallback),
    PRESET("upper_bound_evaluation.lipschitz.scale_factor", REAL, COBRE_OPTIONAL | COBRE_POSITIVE,
           lipschitz_scale, 1),
    COBRE_FIELDS_END
};

static const cobre_field boundary_fields[] = {
    KEPT("path", TEXT, COBRE_REQUIRED, boundary_path),
    KEPT("source_stage", UINT32, COBRE_REQUIRED, boundary_stage), COBRE_FIELDS_END
};

/* ---- stopping rules -------------------------------------------------------------------------- */

#define RULE(path, type, flags, member) COBRE_F(cobre_raw_rule, path, type, flags, member)

static const cobre_field rule_type[] = {
    COBRE_C(cobre_raw_rule, "type", COBRE_REQUIRED, type, rule_types, -1), COBRE_FIELDS_END
};

static const cobre_field limit_fields[] = {
    RULE("limit", UINT32, COBRE_REQUIRED | COBRE_POSITIVE, limit), COBRE_FIELDS_END
};
static const cobre_field time_fields[] = {
    RULE("seconds", REAL, COBRE_REQUIRED | COBRE_NOT_NEGATIVE | COBRE_UNBOUNDED, seconds),
    COBRE_FIELDS_END
};
static const cobre_field stalling_fields[] = {
    RULE("iterations", UINT32, COBRE_REQUIRED | COBRE_POSITIVE, iterations),
    RULE("tolerance", REAL, COBRE_REQUIRED | COBRE_NOT_NEGATIVE | COBRE_UNBOUNDED, tolerance),
    COBRE_FIELDS_END
};
static const cobre_field simulation_fields[] = {
    RULE("replications", UINT32, COBRE_REQUIRED | COBRE_POSITIVE, replications),
    RULE("period", UINT32, COBRE_REQUIRED | COBRE_POSITIVE, period),
    RULE("bound_window", UINT32, COBRE_REQUIRED | COBRE_POSITIVE, bound_window),
    RULE("distance_tol", REAL, COBRE_REQUIRED | COBRE_NOT_NEGATIVE | COBRE_UNBOUNDED, distance_tol),
    RULE("bound_tol", REAL, COBRE_REQUIRED | COBRE_NOT_NEGATIVE | COBRE_UNBOUNDED, bound_tol),
    COBRE_FIELDS_END
};
static const cobre_field *const rule_fields[] = {
    [COBRE_RULE_ITERATION_LIMIT] = limit_fields,
    [COBRE_RULE_TIME_LIMIT] = time_fields,
    [COBRE_RULE_BOUND_STALLING] = stalling_fields,
    [COBRE_RULE_SIMULATION] = simulation_fields,
};

static void read_rule(cobre_reader *reader, const mcp_json *json, size_t index,
                      cobre_raw_rule *rule)
{
    char prefix[64];

    snprintf(prefix, sizeof prefix, "training.stopping_rules[%zu]", index);
    if (!cobre_reader_is_object(reader, json, prefix))
        return;
    snprintf(prefix, sizeof prefix, "training.stopping_rules[%zu].", index);
    cobre_read_fields(reader, json, prefix, rule_type, rule);
    if (!reader->failed)
        cobre_read_fields(reader, json, prefix, rule_fields[rule->type], rule);
}

static void read_rules(cobre_reader *reader, cobre_raw_config *config)
{
    if (reader->failed)
        return;
    config->rule_count = mcp_json_count(config->rules_json);
    config->rules = cobre_reader_array(reader, config->rule_count, sizeof *config->rules);
    for (size_t i = 0; i < config->rule_count && !reader->failed; i++)
        read_rule(reader, mcp_json_item(config->rules_json, i), i, &config->rules[i]);
}

/* ---- scenario sources ------------------------------------------------------------------------ */

static const cobre_field source_fields[] = {
    COBRE_F(cobre_raw_source, "seed", INT64, COBRE_OPTIONAL, seed),
    COBRE_F(cobre_raw_source, "historical_years", ANY, COBRE_OPTIONAL, historical_years),
    COBRE_C(cobre_raw_source, "inflow.scheme", 0, inflow, inflow_schemes, 0),
    COBRE_C(cobre_raw_source, "load.scheme", 0, load, schemes, 0),
    COBRE_C(cobre_raw_source, "ncs.scheme", 0, ncs, schemes, 0),
    COBRE_FIELDS_END
};

/* The only object of the format where an unknown key is an error. */
static void check_class_keys(cobre_reader *reader, const mcp_json *source, const char *prefix,
                             const char *class)
{
    const mcp_json *object = mcp_json_get(source, class);
    char path[128];

    for (size_t i = 0; i < mcp_json_count(object) && !reader->failed; i++) {
        const char *name = mcp_json_name(object, i, NULL);
        if (strcmp(name, "scheme") == 0)
            continue;
        snprintf(path, sizeof path, "%s%s.%.40s", prefix, class, name);
        cobre_reader_violation(reader, path, "no key but scheme", "an unknown key",
                               "Remove the key; a class of scenario_source takes scheme alone.");
    }
}

static void check_year(cobre_reader *reader, const char *path, int64_t number)
{
    if (!reader->failed && (number < 1 || number > 9999))
        cobre_reader_range(reader, path, (double)number, 1, 9999, "must be a year, 1 to 9999");
}

struct years {
    int64_t from, to;
};

static const cobre_field year_fields[] = {
    COBRE_F(struct years, "from", INT32, COBRE_REQUIRED, from),
    COBRE_F(struct years, "to", INT32, COBRE_REQUIRED, to), COBRE_FIELDS_END
};

static void check_year_range(cobre_reader *reader, const mcp_json *json, const char *path)
{
    struct years given;
    char prefix[128];

    snprintf(prefix, sizeof prefix, "%.100s.", path);
    cobre_read_fields(reader, json, prefix, year_fields, &given);
    if (reader->failed)
        return;
    if (given.from > given.to)
        cobre_reader_range(reader, path, (double)given.from, -INFINITY, (double)given.to,
                           "must not begin after it ends");
    check_year(reader, path, given.from);
    check_year(reader, path, given.to);
}

static void check_years(cobre_reader *reader, const mcp_json *list, const char *path)
{
    int64_t number = 0;

    if (mcp_json_is_object(list)) {
        check_year_range(reader, list, path);
        return;
    }
    if (!mcp_json_is_array(list)) {
        cobre_reader_type(reader, path, "array or object", list);
        return;
    }
    for (size_t i = 0; i < mcp_json_count(list) && !reader->failed; i++) {
        if (!mcp_json_int(mcp_json_item(list, i), &number))
            cobre_reader_type(reader, path, "array of integers", mcp_json_item(list, i));
        else
            check_year(reader, path, number);
    }
}

static void check_source(cobre_reader *reader, const cobre_raw_source *source, const char *prefix)
{
    bool is_historical = source->inflow == COBRE_HISTORICAL;
    bool needs_seed = source->inflow != COBRE_IN_SAMPLE || source->load != COBRE_IN_SAMPLE ||
                      source->ncs != COBRE_IN_SAMPLE;
    char path[96];

    snprintf(path, sizeof path, "%shistorical_years", prefix);
    if (source->historical_years && !mcp_json_is_null(source->historical_years)) {
        if (is_historical)
            check_years(reader, source->historical_years, path);
        else
            cobre_reader_violation(reader, path, "a class whose scheme is historical", "none",
                                   "Remove historical_years or make inflow historical.");
    }
    snprintf(path, sizeof path, "%sseed", prefix);
    if (!reader->failed && needs_seed && !mcp_json_is_number(mcp_json_get(source->json, "seed")))
        cobre_reader_missing(reader, path);
}

static void read_source(cobre_reader *reader, const char *prefix, cobre_raw_source *source)
{
    const mcp_json *json = source->json && mcp_json_is_object(source->json) ? source->json : NULL;

    cobre_read_fields(reader, json, prefix, source_fields, source);
    if (!json)
        return;
    check_class_keys(reader, json, prefix, "inflow");
    check_class_keys(reader, json, prefix, "load");
    check_class_keys(reader, json, prefix, "ncs");
    if (!reader->failed)
        check_source(reader, source, prefix);
}

/* ---- cut selection --------------------------------------------------------------------------- */

static void check_basis_window(cobre_reader *reader, const cobre_raw_config *config)
{
    if (config->cut_basis_window < 1 || config->cut_basis_window > 31)
        cobre_reader_range(reader, "training.cut_selection.basis_activity_window",
                           (double)config->cut_basis_window, 1, 31, "must lie in 1 to 31");
}

/* ---- keys of older formats ------------------------------------------------------------------- */

static const struct moved {
    const char *pointer; /* its path */
    const char *field;
    const char *advice;
} moved[] = {
    { "/stages", "stages", "The stages are listed in stages.json." },
    { "/num_openings", "num_openings", "Set num_scenarios of each stage in stages.json." },
    { "/cut_selection", "cut_selection", "Move it to training.cut_selection." },
    { "/training/seed", "training.seed", "Move it to training.tree_seed." },
    { "/simulation/sampling_scheme", "simulation.sampling_scheme",
      "Give the schemes in simulation.scenario_source." },
    { "/exports/training", "exports.training", "Training results are always written." },
    { "/exports/cuts", "exports.cuts", "Remove it." },
    { "/exports/vertices", "exports.vertices", "Remove it." },
    { "/exports/simulation", "exports.simulation", "Set simulation.enabled." },
    { "/exports/forward_detail", "exports.forward_detail", "Remove it." },
    { "/exports/backward_detail", "exports.backward_detail", "Remove it." },
    { "/exports/compression", "exports.compression", "Remove it." },
};

static void warn_moved(cobre_reader *reader, const mcp_json *root)
{
    for (size_t i = 0; i < sizeof moved / sizeof moved[0]; i++) {
        if (!mcp_json_pointer(root, moved[i].pointer))
            continue;
        cobre_finding finding = cobre_reader_finding(reader, COBRE_KIND_SCHEMA_VIOLATION,
                                                     moved[i].field);
        finding.severity = COBRE_SEVERITY_WARNING;
        finding.message = cobre_report_text(reader->report, "%s is not read here any more",
                                            moved[i].field);
        finding.suggestion = moved[i].advice;
        cobre_report_add(reader->report, &finding);
    }
}

/* ---- the file -------------------------------------------------------------------------------- */

void cobre_read_config(cobre_reader *reader, const mcp_json *root, cobre_input *input)
{
    struct members members = { .kept = { .json = root } };
    cobre_raw_config *config = &members.kept;

    cobre_read_fields(reader, root, "", fields, &members);
    if (!reader->failed && config->boundary)
        cobre_read_fields(reader, config->boundary, "policy.boundary.", boundary_fields, &members);
    read_rules(reader, config);
    if (!reader->failed)
        check_basis_window(reader, config);
    read_source(reader, "training.scenario_source.", &config->training_source);
    read_source(reader, "simulation.scenario_source.", &config->simulation_source);
    if (!reader->failed)
        warn_moved(reader, root);
    /* Every int64 is a seed, COBRE_ABSENT too. */
    config->has_tree_seed = mcp_json_is_number(mcp_json_pointer(root, "/training/tree_seed"));
    input->config = *config;
}

/* ---- the shape ------------------------------------------------------------------------------- */

#define RULE_SHAPE(table, type)                                                                    \
    {                                                                                              \
        .tables = { rule_type, table }, .tag = "type", .tag_value = type                           \
    }

static const cobre_shape limit_rule = RULE_SHAPE(limit_fields, "iteration_limit");
static const cobre_shape time_rule = RULE_SHAPE(time_fields, "time_limit");
static const cobre_shape stalling_rule = RULE_SHAPE(stalling_fields, "bound_stalling");
static const cobre_shape simulation_rule = RULE_SHAPE(simulation_fields, "simulation");
static const cobre_shape any_rule = {
    .kind = COBRE_SHAPE_EITHER,
    .either = (const cobre_shape *const[]){ &limit_rule, &time_rule, &stalling_rule,
                                            &simulation_rule, NULL },
};
static const cobre_shape rules = { .kind = COBRE_SHAPE_LIST, .of = &any_rule };

static const cobre_shape year = { .kind = COBRE_SHAPE_INTEGER, .min = 1, .max = 9999 };
static const cobre_shape year_list = { .kind = COBRE_SHAPE_LIST, .of = &year };
static const cobre_joint year_joints[] = { { "from", &year }, { "to", &year }, { NULL, NULL } };
static const cobre_shape year_range = { .tables = { year_fields }, .joints = year_joints };
static const cobre_shape years = {
    .kind = COBRE_SHAPE_EITHER,
    .either = (const cobre_shape *const[]){ &year_list, &year_range, NULL },
};
static const cobre_joint source_joints[] = { { "historical_years", &years }, { NULL, NULL } };

/* A class that is not in_sample asks for a seed. */
#define ASKS_FOR_SEED(class)                                                                       \
    "{\"if\":{\"properties\":{\"" class                                                            \
        "\":{\"properties\":{\"scheme\":{\"not\":{\"const\":"                                      \
        "\"in_sample\"}}},\"required\":[\"scheme\"]}},\"required\":[\"" class                      \
        "\"]},"                                                                                    \
        "\"then\":{\"required\":[\"seed\"],\"properties\":{\"seed\":{\"type\":\"integer\"}}}}"

static const cobre_shape source = {
    .tables = { source_fields },
    .joints = source_joints,
    .is_closed = true,
    .rules = "[" ASKS_FOR_SEED("inflow") "," ASKS_FOR_SEED("load") "," ASKS_FOR_SEED("ncs") "]",
};
static const cobre_shape boundary = { .tables = { boundary_fields } };
static const cobre_shape basis_window = { .kind = COBRE_SHAPE_INTEGER, .min = 1, .max = 31 };
static const cobre_joint joints[] = {
    { "training.stopping_rules", &rules },
    { "training.scenario_source", &source },
    { "training.cut_selection.basis_activity_window", &basis_window },
    { "simulation.scenario_source", &source },
    { "policy.boundary", &boundary },
    { NULL, NULL },
};

const cobre_shape cobre_shape_config = { .tables = { fields }, .joints = joints };
