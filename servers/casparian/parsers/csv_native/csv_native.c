/*
 * csv_native.c - the plugin csv_native: delimited text.
 */
#include "parsers/csv_native/csv.h"

int main(int argc, char **argv)
{
    return casparian_parser_main(&casparian_csv, argc, argv);
}
