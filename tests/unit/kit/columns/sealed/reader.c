/*
 * reader.c - the sealed process of the tests: a program that is nothing else. It is built without
 * sanitizers, so that it starts under a limit of its address space.
 */
#include <string.h>

#include "columns/sealed/sealed.h"

int main(int argc, char **argv)
{
    return argc > 1 && strcmp(argv[1], COLUMNS_SEALED_COMMAND) == 0 ? columns_sealed_main() : 2;
}
