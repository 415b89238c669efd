/*
 * test_series.c - rules about autoregressive inflows and their estimation, one broken at a time.
 */
#include "broken.h"

#define PHYSICAL COBRE_KIND_PHYSICAL_CONSTRAINT
#define COVERAGE COBRE_KIND_COVERAGE_MISMATCH
#define RANGE COBRE_KIND_OUT_OF_RANGE
#define REFERENCE COBRE_KIND_MISSING_REFERENCE

#define AR "scenarios/inflow_ar_coefficients.parquet"
#define ANNUAL "scenarios/inflow_annual_component.parquet"
#define HISTORY "scenarios/inflow_history.parquet"

#define SEASONS                                                                                    \
    "'season_definitions':{'cycle_type':'monthly','seasons':["                                     \
    "{'id':0,'label':'January','month_start':1},{'id':1,'label':'February','month_start':2},"      \
    "{'id':2,'label':'March','month_start':3}]}"

#define STAGES_OF_SEASONS                                                                          \
    "{'policy_graph':{'type':'finite_horizon','annual_discount_rate':0.1}," SEASONS ",'stages':["  \
    "{'id':0,'start_date':'2030-01-01','end_date':'2030-02-01','num_scenarios':3,'season_id':0,"   \
    "'state_variables':{'inflow_lags':true},'blocks':[{'id':0,'name':'ALL','hours':744}]},"        \
    "{'id':1,'start_date':'2030-02-01','end_date':'2030-03-01','num_scenarios':3,'season_id':1,"   \
    "'blocks':[{'id':0,'name':'ALL','hours':672}]},"                                               \
    "{'id':2,'start_date':'2030-03-01','end_date':'2030-04-01','num_scenarios':3,'season_id':2,"   \
    "'blocks':[{'id':0,'name':'ALL','hours':744}]}]}"

/* Hydro 1 has two coefficients in stage 1, hydro 2 an annual component in stage 2. */
static const base_file given[] = {
    { STAGES, STAGES_OF_SEASONS },
    { AR, "hydro_id i32: 1 1; stage_id i32: 1 1; lag i32: 1 2; coefficient f64: 0.5 -0.1;"
          "residual_std_ratio f64: 0.9 0.9" },
    { ANNUAL, "hydro_id i32: 2; stage_id i32: 2; annual_coefficient f64: 0.2;"
              "annual_mean_m3s f64: 7; annual_std_m3s f64: 1" },
    { INITIAL, "{'storage':[{'hydro_id':2,'value_hm3':30},{'hydro_id':1,'value_hm3':80.5}],"
               "'filling_storage':[],'past_inflows':[{'hydro_id':1,'values_m3s':[30,31],"
               "'season_ids':[2,1]}]}" },
    { NULL, NULL },
};

static void coefficients(void **state)
{
    static const broken rows[] = {
        { AR, "lag i32: 1 2", "lag i32: 1 3", PHYSICAL, 5, 1, "lag", NULL, 1 }, /* past too short */
        { AR, "lag i32: 1 2", "lag i32: 2 3", PHYSICAL, 5, 1, "lag", NULL, 1 },
        { AR, "ratio f64: 0.9 0.9", "ratio f64: 0.9 0.8", RANGE, 5, 1, "residual_std_ratio", NULL,
          0 },
        { AR, "stage_id i32: 1 1", "stage_id i32: -4 -4", COVERAGE, 4, 1, "stage_id", NULL, 0 },
        { ANNUAL, "stage_id i32: 2", "stage_id i32: -4", COVERAGE, 4, 2, "stage_id", NULL, 0 },
        { INFLOW, NULL, NULL, COVERAGE, 4, 1, "stage_id", AR, 1 }, /* and of the annual component */
        { STAGES, "'num_scenarios':3,'season_id':1,", "'num_scenarios':3,", PHYSICAL, 5, 1,
          "stage_id", AR, 0 },
        { STAGES, "'num_scenarios':3,'season_id':2,", "'num_scenarios':3,", PHYSICAL, 5, 2,
          "stage_id", ANNUAL, 0 },
        { INFLOW, "std_m3s f64: 9 10 12", "std_m3s f64: 9 0 12", PHYSICAL, 5, 1, "std_m3s", NULL,
          0 },
        { INITIAL, "'values_m3s':[30,31],'season_ids':[2,1]", "'values_m3s':[30]", PHYSICAL, 5, 1,
          "past_inflows", NULL, 0 },
        { INITIAL, "[{'hydro_id':1,'values_m3s':[30,31],'season_ids':[2,1]}]", "[]", PHYSICAL, 5,
          NONE, "past_inflows", NULL, 0 },
        { INITIAL, "'season_ids':[2,1]", "'season_ids':[2,7]", PHYSICAL, 5, 1,
          "past_inflows.season_ids", NULL, 0 },
        { INITIAL, "'past_inflows':[", "'past_inflows':[{'hydro_id':9,'values_m3s':[1]},",
          REFERENCE, 3, 9, "past_inflows.hydro_id", NULL, 0 },
    };

    BROKEN_RUN_ON(*state, given, rows, COBRE_SEVERITY_ERROR);
}

/* Without lags as states the past is not asked for; a lag that then counts as 0 is a warning. That
 * of the annual component of hydro 2 is in each row. */
static void without_lag_states_a_missing_past_warns(void **state)
{
    static const broken rows[] = {
        { INITIAL, "'past_inflows':[{'hydro_id':1", "'past_inflows':[{'hydro_id':9", REFERENCE, 3,
          9, "past_inflows.hydro_id", NULL, 2 },
        { INITIAL, "'values_m3s':[30,31],'season_ids':[2,1]", "'values_m3s':[30]", PHYSICAL, 5, 1,
          "past_inflows", NULL, 1 },
        { INITIAL, ",'past_inflows':[{'hydro_id':1,'values_m3s':[30,31],'season_ids':[2,1]}]", "",
          PHYSICAL, 5, 1, "past_inflows", NULL, 1 },
        { INITIAL, ",'season_ids':[2,1]", "", PHYSICAL, 5, 2, "past_inflows", NULL, 0 },
    };
    base_file context[5];

    memcpy(context, given, sizeof context);
    char *text = strdup(STAGES_OF_SEASONS);
    assert_non_null(text);
    memcpy(strstr(text, "true"), "null", 4);
    memcpy(strstr(text, "'inflow_lags':null"), "'inflow_lagz':null", 18);
    context[0].text = text;
    BROKEN_RUN_ON(*state, context, rows, COBRE_SEVERITY_WARNING);
    free(text);
}

/* Three years of three months for both hydros; days since 1970: 2020-01-15 is 18276. */
#define DATES "18276 18307 18336 18642 18673 18701 19007 19038 19066"
static const base_file history[] = {
    { STAGES, STAGES_OF_SEASONS },
    { CONFIG, "{'training':{'forward_passes':1,'stopping_rules':["
              "{'type':'iteration_limit','limit':9}]},"
              "'estimation':{'min_observations_per_season':3}}" },
    { HISTORY, "hydro_id i32: 1 1 1 1 1 1 1 1 1 2 2 2 2 2 2 2 2 2; date date: " DATES " " DATES
               "; value_m3s f64: 9 8 7 6 5 4 3 2 1 1 2 3 4 5 6 7 8 9" },
    { INITIAL, "{'storage':[{'hydro_id':2,'value_hm3':30},{'hydro_id':1,'value_hm3':80.5}],"
               "'filling_storage':[],'past_inflows':[{'hydro_id':1,'values_m3s':[30]}]}" },
    { NULL, NULL },
};

static void estimation(void **state)
{
    static const broken rows[] = {
        { STAGES, SEASONS ",", "", PHYSICAL, 5, NONE, "season_definitions", NULL, 0 },
        { HISTORY, NULL,
          "hydro_id i32: 1 1 1 1 1 1 1 1 1; date date: " DATES "; value_m3s f64: 9 8 7 6 5 4 3 2 1",
          PHYSICAL, 5, 2, NULL, NULL, 0 },
        { HISTORY, NULL, /* hydro 2 lacks February 2021, between 2020 and 2022 */
          "hydro_id i32: 1 1 1 1 1 1 1 1 1 2 2 2 2 2 2 2 2; date date: " DATES
          " 18276 18307 18336 18642 18701 19007 19038 19066;"
          "value_m3s f64: 9 8 7 6 5 4 3 2 1 1 2 3 4 5 6 7 8",
          PHYSICAL, 5, 2, "date", NULL, 0 },
        { HISTORY, NULL, /* a day of April: in no season */
          "hydro_id i32: 1 1 1 1 1 1 1 1 1 2 2 2 2 2 2 2 2 2 2; date date: " DATES " " DATES
          " 19093; value_m3s f64: 9 8 7 6 5 4 3 2 1 1 2 3 4 5 6 7 8 9 9",
          PHYSICAL, 5, 2, "date", NULL, 0 },
        { HISTORY, NULL,
          "hydro_id i32: 1 1 1 1 1 1 1 1 1 2 2 2 2 2 2 2 2 2 3; date date: " DATES " " DATES
          " 18276; value_m3s f64: 9 8 7 6 5 4 3 2 1 1 2 3 4 5 6 7 8 9 9",
          REFERENCE, 3, 3, "hydro_id", NULL, 0 },
        /* hydro 2 has two values of January, in one year, and three years of the other months */
        { HISTORY, NULL,
          "hydro_id i32: 1 1 1 1 1 1 1 1 1 2 2 2 2 2 2 2 2; date date: " DATES
          " 18276 18277 18307 18336 18673 18701 19038 19066;"
          "value_m3s f64: 9 8 7 6 5 4 3 2 1 1 2 3 4 5 6 7 8",
          PHYSICAL, 5, 2, "date", NULL, 0 },
        { CONFIG, "'estimation':{", "'estimation':{'order_selection':'pacf_annual',", PHYSICAL, 5,
          1, "date", HISTORY, 1 }, /* 9 observations of each hydro */
        { CONFIG, "'estimation':{", "'estimation':{'max_order':61,", COBRE_KIND_OUT_OF_RANGE, 5,
          NONE, "estimation.max_order", NULL, 0 },
        { STAGES, "'num_scenarios':3,'season_id':1,", "'num_scenarios':3,", PHYSICAL, 5, 1,
          "season_id", NULL, 0 },
    };

    BROKEN_RUN_ON(*state, history, rows, COBRE_SEVERITY_ERROR);
}

static void estimation_warns(void **state)
{
    static const broken rows[] = {
        { CONFIG, "'min_observations_per_season':3", "'min_observations_per_season':4", PHYSICAL, 5,
          1, "date", HISTORY, 5 }, /* of 2 hydros and 3 seasons */
        { HISTORY, NULL,           /* two values of hydro 1 in January 2020 */
          "hydro_id i32: 1 1 1 1 1 1 1 1 1 1 2 2 2 2 2 2 2 2 2; date date: 18277 " DATES " " DATES
          "; value_m3s f64: 9 9 8 7 6 5 4 3 2 1 1 2 3 4 5 6 7 8 9",
          PHYSICAL, 5, 1, "date", NULL, 0 },
        { STAGES, "{'id':2,'label':'March','month_start':3}",
          "{'id':2,'label':'March','month_start':3},{'id':3,'label':'May','month_start':5}",
          PHYSICAL, 5, NONE, "date", HISTORY, 1 }, /* and the season is used by no stage */
        { CONFIG, "'estimation':{", "'estimation':{'order_selection':'fixed',",
          COBRE_KIND_INCOMPATIBLE_SETTINGS, 5, NONE, "estimation.order_selection", NULL, 0 },
    };

    BROKEN_RUN_ON(*state, history, rows, COBRE_SEVERITY_WARNING);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(coefficients),
        cmocka_unit_test(without_lag_states_a_missing_past_warns),
        cmocka_unit_test(estimation),
        cmocka_unit_test(estimation_warns),
    };

    return cmocka_run_group_tests(tests, engine_setup, engine_teardown);
}
