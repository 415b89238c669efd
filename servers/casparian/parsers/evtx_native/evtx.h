/*
 * evtx.h - the parser of Windows event logs.
 */
#ifndef CASPARIAN_PARSERS_EVTX_NATIVE_EVTX_H
#define CASPARIAN_PARSERS_EVTX_NATIVE_EVTX_H

#include "parsers/input/parser.h"

extern const casparian_parser casparian_evtx;

#endif
