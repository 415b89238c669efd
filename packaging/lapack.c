/*
 * lapack.c - what packaging/lapack.mjs puts in place of parts of LAPACK that want the library of
 * Fortran: the message of a wrong argument, and the size of blocks.
 */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

/* As in LAPACK's own ilaenv for DGETRF, the only routine here that asks. */
#define BLOCK 64

int ilaenv_(void);
void xerbla_(const char *routine, const int *argument, size_t length);

int ilaenv_(void)
{
    return BLOCK;
}

void xerbla_(const char *routine, const int *argument, size_t length)
{
    (void)fprintf(stderr, "LAPACK: %.*s was called with a wrong argument %d\n", (int)length,
                  routine, *argument);
    abort();
}
