/*
 * test_protect_fork.c - the protections of children that are forks of a server: all of
 * test_protect.c.
 */
#define GUEST_IS_FORKED
#include "test_protect.c"
