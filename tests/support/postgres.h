/*
 * postgres.h - a private PostgreSQL for a test program, started by tests/support/postgres.
 *
 * It is started when it is first asked for and ended by postgres_stop, or by itself when the
 * program is gone.
 */
#ifndef TESTS_POSTGRES_H
#define TESTS_POSTGRES_H

/* "postgres://causeway:PASSWORD@127.0.0.1:PORT/postgres"; a failure ends the test. */
const char *postgres_url(void);

/* The same server by its socket, without a password. */
const char *postgres_socket_url(void);

/* The folder that it lives in. */
const char *postgres_folder(void);

/* End it; fine when it never ran. */
void postgres_stop(void);

#endif
