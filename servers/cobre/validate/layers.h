/**
 * layers.h - the validation layers that compare files; each adds its findings to the report.
 *
 * None of them stops at its first finding. They run on input without errors of layer 2. Source: the
 * errors page, sections 5.3 to 5.7.
 */
#ifndef COBRE_VALIDATE_LAYERS_H
#define COBRE_VALIDATE_LAYERS_H

#include "case/input.h"

/** Layers 3 to 5, in order. */
void cobre_check_layers(const cobre_input *input);

/** Layer 3: every id that a file mentions exists. */
void cobre_check_references(const cobre_input *input);

/** Layer 4: statistics cover every entity in every study stage. */
void cobre_check_coverage(const cobre_input *input);

/** Layer 5a: bounds, cascades and lives of hydros, lines and thermals. */
void cobre_check_plants(const cobre_input *input);

/** Layer 5b: the stages, the policy graph and the series. */
void cobre_check_stages(const cobre_input *input);

/** Layer 5b: the order of the penalties. */
void cobre_check_penalties(const cobre_input *input);

/** Layers 4 and 5: geometry, evaporation, planes and production models of hydros. */
void cobre_check_models(const cobre_input *input);

/** Layers 3 and 5: schemes, sampling, correlation, and settings that hang together. */
void cobre_check_scenarios(const cobre_input *input);

/** Layers 4 and 5: autoregressive inflows and their estimation from history. */
void cobre_check_series(const cobre_input *input);

/** Layers 3 and 5: the terms of generic constraints. */
void cobre_check_constraints(const cobre_input *input);

/** Layer 5: features of the format that this version does not model. */
void cobre_check_unsupported(const cobre_input *input);

/** The start of a finding at a record of a registry. */
cobre_finding cobre_finding_at(cobre_severity severity, cobre_kind kind, int layer,
                               cobre_registry registry, const cobre_entity *record,
                               const char *field);

/** The start of a finding about a whole file or one of its settings. */
cobre_finding cobre_finding_in(cobre_severity severity, cobre_kind kind, int layer,
                               const char *file, const char *field);

/** The start of a finding at a cell of a Parquet file; the entity is the row's. */
cobre_finding cobre_finding_row(cobre_severity severity, cobre_kind kind, int layer,
                                const cobre_input *input, cobre_file_id file, size_t column,
                                size_t row);

/**
 * Add a finding of PhysicalConstraint; `format` is its message and its detail.
 *
 * @param rule the rule's name: "geometry_ascends"
 */
void cobre_report_rule(const cobre_input *input, cobre_finding *finding, const char *rule,
                       const char *suggestion, const char *format, ...) MCP_PRINTF(5, 6);

/** Add a finding of IncompatibleSettings about the finding's field, in the same way. */
void cobre_report_setting(const cobre_input *input, cobre_finding *finding, const char *suggestion,
                          const char *format, ...) MCP_PRINTF(4, 5);

/** Add a finding of MissingReference: no record of that id. A warning says that the entry is
 *  ignored. */
void cobre_report_reference(const cobre_input *input, cobre_finding *finding, const char *field,
                            int64_t id, cobre_registry registry);

/**
 * The entities with noise, by their index in the registry: those with a row of statistics in a
 * study stage, and a deviation where that is asked for. NULL, reported, when memory is out.
 */
const bool *cobre_noisy_entities(const cobre_input *input, cobre_file_id stats,
                                 cobre_registry registry, bool by_deviation, size_t *count);

#endif
