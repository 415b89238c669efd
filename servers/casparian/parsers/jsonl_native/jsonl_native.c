/*
 * jsonl_native.c - the plugin jsonl_native: lines of JSON.
 */
#include "parsers/jsonl_native/jsonl.h"

int main(int argc, char **argv)
{
    return casparian_parser_main(&casparian_jsonl, argc, argv);
}
