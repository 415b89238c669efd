/*
 * banned.h - functions that do not compile in lib/, kit/ and servers/.
 *
 * The build includes this file before each of our C files (tests excepted). The headers that
 * declare the banned functions come first, because afterwards even a declaration would be refused.
 * Names that are also good nouns (`system`, `rand`) and `printf`, which the format attribute needs,
 * are banned as calls only.
 */
#ifndef CAUSEWAY_BANNED_H
#define CAUSEWAY_BANNED_H

#include <alloca.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>

#undef alloca
#undef strcpy
#undef strcat
#undef strncpy
#undef strtok
#undef sprintf
#pragma GCC poison strcpy strcat sprintf strncpy strtok gets atoi alloca gmtime localtime popen

#undef rand
#undef system
#define rand(...) banned_rand_is_not_random_use_mcp_random(__VA_ARGS__)
#define system(...) banned_system_starts_a_shell_use_kit_proc(__VA_ARGS__)

#ifdef CAUSEWAY_BAN_PRINTF
#undef printf
#define printf(...) banned_printf_in_the_library(__VA_ARGS__)
#endif

#endif
