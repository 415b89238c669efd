/*
 * studies.h - the studies that the benches of the solver train: made-up cases of a given shape.
 *
 * Deterministic: a shape gives the same case everywhere. Inflows are truncated at zero; loads are
 * certain.
 */
#ifndef BENCH_STUDIES_H
#define BENCH_STUDIES_H

#define KIT_STAGES 120
#define KIT_ENTITIES 160
#include "../../tests/unit/servers/cobre/sddp/cases.h"

enum { STUDY_LAGS_MAX = 6 };

typedef struct study_shape {
    size_t stages, hydros, thermals, buses;
    uint32_t openings;
    size_t blocks; /* of a stage, up to KIT_BLOCKS */
    uint32_t lags; /* of the inflow model, up to STUDY_LAGS_MAX; 0: inflows are independent */
} study_shape;

/* Makes the case of a shape; one kit at a time has the lags of its shape. */
typedef void study_maker(case_kit *out, const study_shape *shape);

/* The case 1dtoy of the data set; the shape does not matter. */
study_maker study_toy;

/* The shape of the Brazilian system as long-term studies see it: 4 equivalent reservoirs, 95
 * thermals, 4 subsystems and a node between them, with the shape's stages and openings. */
study_maker study_brazil;

/* Plants in cascades of up to four, and thermals. */
study_maker study_cascades;

#endif
