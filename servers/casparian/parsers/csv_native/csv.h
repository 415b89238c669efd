/*
 * csv.h - the parser of delimited text.
 */
#ifndef CASPARIAN_PARSERS_CSV_NATIVE_CSV_H
#define CASPARIAN_PARSERS_CSV_NATIVE_CSV_H

#include "parsers/input/parser.h"

extern const casparian_parser casparian_csv;

#endif
