/*
 * weblog.h - the parser of access logs.
 */
#ifndef CASPARIAN_PARSERS_WEBLOG_NATIVE_WEBLOG_H
#define CASPARIAN_PARSERS_WEBLOG_NATIVE_WEBLOG_H

#include "parsers/input/parser.h"

extern const casparian_parser casparian_weblog;

#endif
