/*
 * main.c - the launcher as a program: the child's program takes its place by exec.
 */
#include <stddef.h>

#include "proc/launcher/launcher.h"

int main(void)
{
    launcher_run(NULL, NULL);
    return 0;
}
