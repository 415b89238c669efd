/*
 * weblog_native.c - the plugin weblog_native: access logs of web servers.
 */
#include "parsers/weblog_native/weblog.h"

int main(int argc, char **argv)
{
    return casparian_parser_main(&casparian_weblog, argc, argv);
}
