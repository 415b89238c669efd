/**
 * allow.h - what a query may use: functions, table functions and the catalog's own tables.
 *
 * A list of what is allowed, so a function that nobody has thought of, as of a newer engine, is
 * refused.
 *
 * Source: casparian's tools, 5.1, layer 2.
 */
#ifndef CASPARIAN_QUERY_ALLOW_H
#define CASPARIAN_QUERY_ALLOW_H

#include "columns/sealed/sealed.h"

extern const columns_sealed_rules casparian_query_rules;

#endif
