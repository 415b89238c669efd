/*
 * evtx_native.c - the plugin evtx_native: Windows event logs.
 */
#include "parsers/evtx_native/evtx.h"

int main(int argc, char **argv)
{
    return casparian_parser_main(&casparian_evtx, argc, argv);
}
