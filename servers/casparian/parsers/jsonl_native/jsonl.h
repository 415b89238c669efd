/*
 * jsonl.h - the parser of lines of JSON.
 */
#ifndef CASPARIAN_PARSERS_JSONL_NATIVE_JSONL_H
#define CASPARIAN_PARSERS_JSONL_NATIVE_JSONL_H

#include "parsers/input/parser.h"

extern const casparian_parser casparian_jsonl;

#endif
