/*
 * regions.h - the columns and the rows of a stage's program by region: the one table from which
 * layout, size, costs by category and results follow.
 *
 * A region is a kind of column or row. It has a class of entities, and the same number of places
 * for each of them: place k of entity e is e * width + k in results. In a program an entity that
 * needs no column has none; its places in results are zero. Method page, 2.1, 2.2 and 16.
 */
#ifndef SDDP_PROGRAM_REGIONS_H
#define SDDP_PROGRAM_REGIONS_H

#include <stdbool.h>
#include <stddef.h>

/* In the order of the columns. Flows are m3/s, powers MW. */
typedef enum column_region {
    REGION_STORAGE,       /* hydro, hm3: at the end of the stage */
    REGION_BLOCK_STORAGE, /* hydro and block but the last, hm3; chronological stages */
    REGION_INFLOW,        /* hydro: realized, fixed */
    REGION_INCOMING,      /* hydro, hm3: at the start, fixed */
    REGION_THETA,         /* opening of the next stage, or one: future cost, thousands */
    REGION_LEVEL,         /* multi-cut with CVaR: the level y */
    REGION_TAIL,          /* opening; the same: what theta exceeds the level by */
    REGION_TURBINED,      /* hydro and block */
    REGION_SPILLED,       /* hydro and block */
    REGION_DIVERTED,      /* hydro and block */
    REGION_GENERATION,    /* hydro and block: of plants with a production function */
    REGION_THERMAL,       /* thermal and block */
    REGION_DIRECT,        /* line and block */
    REGION_REVERSE,       /* line and block */
    REGION_DEFICIT,       /* bus, segment and block */
    REGION_EXCESS,        /* bus and block */
    REGION_SOURCE,        /* non-controllable source and block */
    REGION_CONTRACT,      /* contract and block, MW of either type */
    REGION_PUMPED,        /* pumping station and block */
    REGION_INFLOW_SLACK,  /* hydro: added to keep the inflow from being negative */
    REGION_EVAPORATION,   /* hydro */
    REGION_EVAPORATION_BELOW,
    REGION_EVAPORATION_ABOVE,
    REGION_WITHDRAWAL_BELOW, /* hydro */
    REGION_WITHDRAWAL_ABOVE,
    REGION_OUTFLOW_BELOW, /* hydro and block, and the next three */
    REGION_OUTFLOW_ABOVE,
    REGION_TURBINED_BELOW,
    REGION_GENERATION_BELOW,
    REGION_STORAGE_BELOW,  /* hydro, hm3: the largest gap of the stage to a soft minimum */
    REGION_FILLING_BELOW,  /* hydro, hm3: missing to the growth that filling asks for */
    REGION_FILLING_TARGET, /* hydro, hm3: missing to the minimum when filling ends */
    REGION_GENERIC_BELOW,  /* row of a generic constraint: what its left side lacks */
    REGION_GENERIC_ABOVE,  /* the same: what it exceeds its bound by */
    REGION_COUNT
} column_region;

typedef enum row_region {
    ROW_BALANCE, /* hydro, and block in chronological stages: water */
    ROW_HELD,    /* as ROW_BALANCE: an absent plant keeps its storage */
    ROW_LOAD,    /* bus and block */
    ROW_OUTFLOW_MIN,
    ROW_OUTFLOW_MAX,
    ROW_TURBINED_MIN,
    ROW_GENERATION_MIN,
    ROW_PLANE,       /* hydro, plane and block */
    ROW_EVAPORATION, /* hydro */
    ROW_STORAGE_MIN, /* as ROW_BALANCE */
    ROW_FILLING,     /* hydro, and the next */
    ROW_FILLING_TARGET,
    ROW_GENERIC, /* row of a generic constraint */
    ROW_TAIL,    /* opening of the next stage */
    ROW_REGION_COUNT
} row_region;

/* The columns of costs.parquet that are prices of columns, in their order (output page, 5.1). */
typedef enum cost_category {
    COST_THERMAL,
    COST_CONTRACT,
    COST_DEFICIT,
    COST_EXCESS,
    COST_STORAGE,
    COST_FILLING,
    COST_OUTFLOW_BELOW, /* the first of six hydro violations */
    COST_OUTFLOW_ABOVE,
    COST_TURBINED,
    COST_GENERATION,
    COST_EVAPORATION,
    COST_WITHDRAWAL,
    COST_INFLOW,
    COST_GENERIC,
    COST_SPILLAGE, /* and diversion */
    COST_FPHA,
    COST_CURTAILMENT,
    COST_EXCHANGE,
    COST_PUMPING,
    COST_CATEGORIES,
    COST_FUTURE = COST_CATEGORIES, /* not of the stage itself */
    COST_NONE
} cost_category;

typedef enum region_class {
    CLASS_STUDY, /* one entity */
    CLASS_HYDRO,
    CLASS_BUS,
    CLASS_THERMAL,
    CLASS_LINE,
    CLASS_SOURCE,
    CLASS_CONTRACT,
    CLASS_STATION,
    CLASS_CONSTRAINT /* the rows of generic constraints at the stage */
} region_class;

typedef enum region_width {
    WIDTH_STAGE, /* one place */
    WIDTH_BLOCK,
    WIDTH_BALANCE, /* by block in chronological stages, else one */
    WIDTH_INNER,   /* by block but the last in chronological stages, else none */
    WIDTH_SEGMENT, /* segment * blocks + block, for the largest number of segments of a bus */
    WIDTH_PLANE,   /* plane * blocks + block, for the largest number of planes of a plant */
    WIDTH_OPENING  /* by opening of the next stage with multi-cut, else one */
} region_width;

/* Bounds of a column or row, and the price of a column in currency. */
typedef struct region_line {
    double lower, upper, price;
} region_line;

struct program_site; /* context.h */

/* Describe place k of an entity; false: the program has none there, nor at a higher place. */
typedef bool region_rule(region_line *out, const struct program_site *site, size_t entity,
                         size_t k);

typedef struct region_row {
    region_class entities;
    region_width width;
    cost_category category; /* of columns */
    region_rule *rule;
} region_row;

extern const region_row region_columns[REGION_COUNT];
extern const region_row region_rows[ROW_REGION_COUNT];

/* Entities of a region at a stage, and places of each. */
size_t region_entities(const region_row *region, const struct program_site *site);
size_t region_places(const region_row *region, const struct program_site *site);

#endif
