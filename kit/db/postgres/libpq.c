/*
 * libpq.c - opening libpq once.
 */
#include "db/postgres/libpq.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#define LIBPQ "libpq.so.5"

struct pg_functions pg_lib;
static bool is_open;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* The library stays open: it may have threads of its own. POSIX lets dlsym() give functions; C
 * does not let a void * be assigned to one. */
static void begin(void)
{
    void *handle = dlopen(LIBPQ, RTLD_NOW | RTLD_LOCAL);
    bool is_whole = handle != NULL;

#define X(name)                                                                                    \
    if (is_whole) {                                                                                \
        void *symbol = dlsym(handle, #name);                                                       \
        memcpy(&pg_lib.name, &symbol, sizeof symbol);                                              \
        is_whole = symbol != NULL;                                                                 \
    }
    PG_FUNCTIONS(X)
#undef X
    is_open = is_whole;
}

mcp_status pg_lib_open(mcp_error *err)
{
    pthread_once(&once, begin);
    return is_open ? MCP_OK
                   : mcp_error_set(err, MCP_E_UNSUPPORTED,
                                   "no PostgreSQL database can be used: " LIBPQ
                                   " cannot be loaded (Debian: libpq5); sqlite:PATH needs none");
}
