/*
 * scale.h - the size of a bench: in full for figures, small for the smoke run in `make test`.
 */
#ifndef BENCH_SCALE_H
#define BENCH_SCALE_H

/** A count, a size or a time: `full` in `make bench`; `small` in a smoke run, which compiles the
 *  same program with BENCH_SMOKE, shows that it works, and prints figures that mean nothing. */
#ifdef BENCH_SMOKE
#define BENCH(full, small) small
#else
#define BENCH(full, small) full
#endif

#endif
