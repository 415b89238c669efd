/*
 * allow.c - see allow.h.
 *
 * What is missing here on purpose: what reads or names files (read_*, glob, sniff_csv, parquet_*),
 * runs text as SQL (query, query_table, json_execute_serialized_sql), shows the state of the engine
 * (duckdb_*, pragma_*, current_setting, getvariable, version), writes (write_log, nextval,
 * setseed), or is internal.
 */
#include "query/allow.h"

/* clang-format off */
static const char *const functions[] = {
    /* operators */
    "!", "!__postfix", "!~~", "!~~*", "%", "&", "&&", "*", "**", "+", "-", "->", "->>", "/", "//",
    "<->", "<<", "<=>", "<@", ">>", "@", "@>", "^", "^@", "|", "||", "~", "~~", "~~*", "~~~",
    /* aggregates */
    "any_value", "approx_count_distinct", "approx_quantile", "approx_top_k", "arbitrary", "arg_max",
    "arg_max_null", "arg_min", "arg_min_null", "argmax", "argmin", "array_agg", "avg", "bit_and",
    "bit_or", "bit_xor", "bitstring_agg", "bool_and", "bool_or", "corr", "count", "count_if",
    "count_star", "countif", "covar_pop", "covar_samp", "entropy", "favg", "first", "fsum",
    "group_concat", "histogram", "histogram_exact", "kahan_sum", "kurtosis", "kurtosis_pop", "last",
    "list", "listagg", "mad", "max", "max_by", "mean", "median", "min", "min_by", "mode", "product",
    "quantile", "quantile_cont", "quantile_disc", "regr_avgx", "regr_avgy", "regr_count",
    "regr_intercept", "regr_r2", "regr_slope", "regr_sxx", "regr_sxy", "regr_syy",
    "reservoir_quantile", "sem", "skewness", "stddev", "stddev_pop", "stddev_samp", "string_agg",
    "sum", "sum_no_overflow", "sumkahan", "var_pop", "var_samp", "variance",
    /* windows */
    "cume_dist", "dense_rank", "fill", "first_value", "lag", "last_value", "lead", "nth_value",
    "ntile", "percent_rank", "rank", "rank_dense", "row_number",
    /* dates and times */
    "age", "century", "current_date", "current_localtime", "current_localtimestamp", "date_add",
    "date_diff", "date_part", "date_sub", "date_trunc", "datediff", "datepart", "datesub",
    "datetrunc", "day", "dayname", "dayofmonth", "dayofweek", "dayofyear", "decade", "epoch",
    "epoch_ms", "epoch_ns", "epoch_us", "era", "get_current_time", "get_current_timestamp", "hour",
    "isodow", "isoyear", "julian", "last_day", "make_date", "make_time", "make_timestamp",
    "make_timestamp_ms", "make_timestamp_ns", "make_timestamptz", "microsecond", "millennium",
    "millisecond", "minute", "month", "monthname", "nanosecond", "now", "quarter", "second",
    "strftime", "strptime", "time_bucket", "timezone", "timezone_hour", "timezone_minute",
    "to_centuries", "to_days", "to_decades", "to_hours", "to_microseconds", "to_millennia",
    "to_milliseconds", "to_minutes", "to_months", "to_quarters", "to_seconds", "to_timestamp",
    "to_weeks", "to_years", "today", "transaction_timestamp", "try_strptime", "week", "weekday",
    "weekofyear", "year", "yearweek",
    /* JSON */
    "array_to_json", "from_json", "from_json_strict", "json", "json_array", "json_array_length",
    "json_contains", "json_exists", "json_extract", "json_extract_path", "json_extract_path_text",
    "json_extract_string", "json_group_array", "json_group_object", "json_group_structure",
    "json_keys", "json_merge_patch", "json_object", "json_pretty", "json_quote", "json_structure",
    "json_transform", "json_transform_strict", "json_type", "json_valid", "json_value",
    "row_to_json", "to_json",
    /* lists, structs, maps, unions, enums */
    "apply", "array_aggr", "array_aggregate", "array_append", "array_apply", "array_cat",
    "array_concat", "array_contains", "array_cosine_distance", "array_cosine_similarity",
    "array_cross_product", "array_distance", "array_distinct", "array_dot_product", "array_extract",
    "array_filter", "array_grade_up", "array_has", "array_has_all", "array_has_any",
    "array_indexof", "array_inner_product", "array_intersect", "array_length",
    "array_negative_dot_product", "array_negative_inner_product", "array_pop_back",
    "array_pop_front", "array_position", "array_prepend", "array_push_back", "array_push_front",
    "array_reduce", "array_resize", "array_reverse", "array_reverse_sort", "array_select",
    "array_slice", "array_sort", "array_to_string", "array_to_string_comma_default",
    "array_transform", "array_unique", "array_value", "array_where", "array_zip", "cardinality",
    "element_at", "enum_code", "enum_first", "enum_last", "enum_range", "enum_range_boundary",
    "filter", "flatten", "generate_series", "generate_subscripts", "grade_up", "list_aggr",
    "list_aggregate", "list_any_value", "list_append", "list_apply", "list_approx_count_distinct",
    "list_avg", "list_bit_and", "list_bit_or", "list_bit_xor", "list_bool_and", "list_bool_or",
    "list_cat", "list_concat", "list_contains", "list_cosine_distance", "list_cosine_similarity",
    "list_count", "list_distance", "list_distinct", "list_dot_product", "list_element",
    "list_entropy", "list_extract", "list_filter", "list_first", "list_grade_up", "list_has",
    "list_has_all", "list_has_any", "list_histogram", "list_indexof", "list_inner_product",
    "list_intersect", "list_kurtosis", "list_kurtosis_pop", "list_last", "list_mad", "list_max",
    "list_median", "list_min", "list_mode", "list_negative_dot_product",
    "list_negative_inner_product", "list_pack", "list_position", "list_prepend", "list_product",
    "list_reduce", "list_resize", "list_reverse", "list_reverse_sort", "list_select", "list_sem",
    "list_skewness", "list_slice", "list_sort", "list_stddev_pop", "list_stddev_samp",
    "list_string_agg", "list_sum", "list_transform", "list_unique", "list_value", "list_var_pop",
    "list_var_samp", "list_where", "list_zip", "map", "map_concat", "map_contains",
    "map_contains_entry", "map_contains_value", "map_entries", "map_extract", "map_extract_value",
    "map_from_entries", "map_keys", "map_values", "range", "reduce", "row", "struct_concat",
    "struct_contains", "struct_extract", "struct_extract_at", "struct_has", "struct_indexof",
    "struct_insert", "struct_pack", "struct_position", "struct_update", "union_extract",
    "union_tag", "union_value", "unnest",
    /* numbers, texts and the rest */
    "abs", "acos", "acosh", "add", "aggregate", "alias", "ascii", "asin", "asinh", "atan", "atan2",
    "atanh", "bar", "base64", "bin", "bit_count", "bit_length", "bit_position", "bitstring", "cbrt",
    "ceil", "ceiling", "char_length", "character_length", "chr", "coalesce", "concat", "concat_ws",
    "contains", "cos", "cosh", "cot", "current_schema", "damerau_levenshtein", "decode", "degrees",
    "divide", "editdist3", "encode", "ends_with", "equi_width_bins", "even", "exp", "factorial",
    "fdiv", "floor", "fmod", "format", "formatReadableDecimalSize", "formatReadableSize",
    "format_bytes", "from_base64", "from_binary", "from_hex", "gamma", "gcd", "gen_random_uuid",
    "geomean", "geometric_mean", "get_bit", "greatest", "greatest_common_divisor", "hamming",
    "hash", "hex", "if", "ifnull", "ilike_escape", "instr", "isfinite", "isinf", "isnan", "jaccard",
    "jaro_similarity", "jaro_winkler_similarity", "lcase", "lcm", "least", "least_common_multiple",
    "left", "left_grapheme", "len", "length", "length_grapheme", "levenshtein", "lgamma",
    "like_escape", "ln", "log", "log10", "log2", "lower", "lpad", "ltrim", "md5", "md5_number",
    "md5_number_lower", "md5_number_upper", "mismatches", "mod", "multiply", "nextafter",
    "nfc_normalize", "not_ilike_escape", "not_like_escape", "nullif", "nvl", "octet_length", "ord",
    "parse_dirname", "parse_dirpath", "parse_filename", "parse_path", "pi", "position", "pow",
    "power", "prefix", "printf", "radians", "random", "regexp_escape", "regexp_extract",
    "regexp_extract_all", "regexp_full_match", "regexp_matches", "regexp_replace",
    "regexp_split_to_array", "regexp_split_to_table", "repeat", "replace", "reverse", "right",
    "right_grapheme", "round", "round_even", "roundbankers", "rpad", "rtrim", "set_bit", "sha1",
    "sha256", "sign", "signbit", "sin", "sinh", "split", "split_part", "sqrt", "starts_with",
    "str_split", "str_split_regex", "string_split", "string_split_regex", "string_to_array",
    "strip_accents", "strlen", "strpos", "substr", "substring", "substring_grapheme", "subtract",
    "suffix", "tan", "tanh", "to_base", "to_base64", "to_binary", "to_hex", "translate", "trim",
    "trunc", "typeof", "ucase", "unbin", "unhex", "unicode", "upper", "url_decode", "url_encode",
    "uuid", "uuid_extract_timestamp", "uuid_extract_version", "uuidv4", "uuidv7", "wavg",
    "weighted_avg", "xor",
};
/* clang-format on */

static const char *const table_functions[] = {
    "range", "generate_series", "unnest", "json_each", "json_tree",
};

static const char *const system_tables[] = { "sqlite_master", "information_schema.*" };

#define COUNT(list) (sizeof(list) / sizeof(list)[0])

const columns_sealed_rules casparian_query_rules = {
    .functions = functions,
    .function_count = COUNT(functions),
    .table_functions = table_functions,
    .table_function_count = COUNT(table_functions),
    .system_tables = system_tables,
    .system_table_count = COUNT(system_tables),
};
