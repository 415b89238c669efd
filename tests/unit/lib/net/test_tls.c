/*
 * test_tls.c - HTTP inside TLS, spoken by OpenSSL's own client over a real socket.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cmocka.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include "rig.h"
#include "scratch.h"
#include "site.h"

static site page;
static rig *server;
static scratch folder;
static char got[1 << 20];

/* A key, and a certificate for it that it signs itself; into two files. */
static void make_pair(const char *certificate, const char *key)
{
    EVP_PKEY *pair = EVP_EC_gen("P-256");
    X509 *paper = X509_new();
    FILE *file;

    assert_non_null(pair);
    X509_set_version(paper, 2);
    ASN1_INTEGER_set(X509_get_serialNumber(paper), 1);
    X509_gmtime_adj(X509_getm_notBefore(paper), -3600);
    X509_gmtime_adj(X509_getm_notAfter(paper), 3600);
    X509_set_pubkey(paper, pair);
    X509_NAME_add_entry_by_txt(X509_get_subject_name(paper), "CN", MBSTRING_ASC,
                               (const unsigned char *)"localhost", -1, -1, 0);
    X509_set_issuer_name(paper, X509_get_subject_name(paper));
    assert_true(X509_sign(paper, pair, EVP_sha256()) > 0);
    file = fopen(certificate, "w");
    assert_int_equal(PEM_write_X509(file, paper), 1);
    fclose(file);
    file = fopen(key, "w");
    assert_int_equal(PEM_write_PrivateKey(file, pair, NULL, NULL, 0, NULL, NULL), 1);
    fclose(file);
    X509_free(paper);
    EVP_PKEY_free(pair);
}

static int set_up(void **state)
{
    (void)state;
    scratch_open(&folder);
    make_pair(scratch_path(&folder, "c.pem"), scratch_path(&folder, "k.pem"));
    site_init(&page);
    page.options.head_timeout_ms = 400;
    page.options.idle_timeout_ms = 400;
    server = rig_start(&page.options, scratch_path(&folder, "c.pem"),
                       scratch_path(&folder, "k.pem"), NULL);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    rig_end(server);
    scratch_close(&folder);
    return 0;
}

/* ---- a client -------------------------------------------------------------------------------- */

typedef struct tls_client {
    SSL_CTX *context;
    SSL *ssl;
    int fd;
} tls_client;

static tls_client client_new(void)
{
    tls_client client = { .context = SSL_CTX_new(TLS_client_method()) };
    struct timeval wait = { .tv_sec = CLIENT_WAIT_MS / 1000 };

    client.ssl = SSL_new(client.context);
    client.fd = client_open(rig_port(server));
    setsockopt(client.fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait);
    SSL_set_fd(client.ssl, client.fd);
    return client;
}

static void client_free(tls_client *client)
{
    SSL_free(client->ssl);
    SSL_CTX_free(client->context);
    close(client->fd);
    ERR_clear_error();
}

static tls_client connected(void)
{
    tls_client client = client_new();

    assert_int_equal(SSL_connect(client.ssl), 1);
    return client;
}

static void say(tls_client *client, const char *text)
{
    assert_int_equal(SSL_write(client->ssl, text, (int)strlen(text)), (int)strlen(text));
}

/* Up to `wanted`, or to the end where it is NULL. */
static size_t hear(tls_client *client, char *out, size_t size, const char *wanted)
{
    size_t length = 0;

    out[0] = '\0';
    while (!wanted || !strstr(out, wanted)) {
        size_t count = 0;
        if (SSL_read_ex(client->ssl, out + length, size - 1 - length, &count) != 1) {
            assert_null(wanted);
            break;
        }
        length += count;
        out[length] = '\0';
    }
    return length;
}

/* ---- tests ----------------------------------------------------------------------------------- */

static void serves_both_versions(void **state)
{
    static const int versions[] = { TLS1_2_VERSION, TLS1_3_VERSION };

    (void)state;
    for (int i = 0; i < 2; i++) {
        tls_client client = client_new();
        SSL_set_min_proto_version(client.ssl, versions[i]);
        SSL_set_max_proto_version(client.ssl, versions[i]);
        assert_int_equal(SSL_connect(client.ssl), 1);
        say(&client, "GET /facts HTTP/1.1\r\nHost: a\r\n\r\n");
        hear(&client, got, sizeof got, "tls=1\n");
        say(&client, "GET /last HTTP/1.1\r\nHost: a\r\n\r\n");
        hear(&client, got, sizeof got, NULL);
        assert_non_null(strstr(got, "bye"));
        assert_true(SSL_get_shutdown(client.ssl) & SSL_RECEIVED_SHUTDOWN); /* an end in order */
        client_free(&client);
    }
}

static void older_versions_are_refused(void **state)
{
    tls_client client = client_new();

    (void)state;
    SSL_set_security_level(client.ssl, 0);
    SSL_set_max_proto_version(client.ssl, TLS1_1_VERSION);
    assert_int_not_equal(SSL_connect(client.ssl), 1);
    client_free(&client);
}

static void chooses_http_1_1(void **state)
{
    const unsigned char *chosen = NULL;
    unsigned length = 0;
    tls_client client = client_new();

    (void)state;
    SSL_set_alpn_protos(client.ssl, (const unsigned char *)"\x02h2\x08http/1.1", 12);
    assert_int_equal(SSL_connect(client.ssl), 1);
    SSL_get0_alpn_selected(client.ssl, &chosen, &length);
    assert_int_equal(length, 8);
    assert_memory_equal(chosen, "http/1.1", 8);
    client_free(&client);
    client = client_new();
    SSL_set_alpn_protos(client.ssl, (const unsigned char *)"\x02h2", 3);
    assert_int_not_equal(SSL_connect(client.ssl), 1);
    assert_int_equal(ERR_GET_REASON(ERR_peek_error()), SSL_R_TLSV1_ALERT_NO_APPLICATION_PROTOCOL);
    client_free(&client);
}

static void large_bodies_go_both_ways(void **state)
{
    static char large[(2 << 20) + 1024];
    static char back[(2 << 20) + 1024];
    size_t size = 2 << 20;
    tls_client client = connected();
    int head = snprintf(large, sizeof large,
                        "POST /echo HTTP/1.1\r\nHost: a\r\n"
                        "Connection: close\r\nContent-Length: %zu\r\n\r\n",
                        size);

    (void)state;
    for (size_t i = 0; i < size; i++)
        large[(size_t)head + i] = (char)(i * 37 >> 4);
    assert_int_equal(SSL_write(client.ssl, large, (int)((size_t)head + size)), (size_t)head + size);
    size_t length = hear(&client, back, sizeof back, NULL);
    const char *body = strstr(back, "\r\n\r\n");
    assert_non_null(body);
    assert_int_equal(length - (size_t)(body + 4 - back), size);
    assert_memory_equal(body + 4, large + head, size);
    client_free(&client);
}

static void streams_and_hang_ups(void **state)
{
    tls_client client = connected();

    (void)state;
    say(&client, "GET /stream HTTP/1.1\r\nHost: a\r\n\r\n");
    site_wait(&page.holding, 1);
    site_write(&page, server, 0, "data: one\n\n");
    hear(&client, got, sizeof got, "data: one\n\n");
    SSL_shutdown(client.ssl); /* in order */
    site_wait(&page.hung_up, 1);
    client_free(&client);
    client = connected();
    say(&client, "GET /hold HTTP/1.1\r\nHost: a\r\n\r\n");
    site_wait(&page.holding, 2);
    client_free(&client); /* just gone */
    site_wait(&page.hung_up, 2);
}

/* A record in single bytes, and several requests in one record. */
static char shared_bytes[300 * 1024];
static atomic_int released;

static void count_release(void *owner)
{
    (void)owner;
    atomic_fetch_add(&released, 1);
}

static void write_shared(void *data)
{
    mcp__shared run = { shared_bytes, sizeof shared_bytes, count_release, NULL };

    (void)data;
    assert_int_equal(mcp__http_write(site_held(&page, 0), "before", 6, NULL), MCP_OK);
    assert_int_equal(mcp__http_write_shared(site_held(&page, 0), &run, NULL), MCP_OK);
    assert_int_equal(mcp__http_write(site_held(&page, 0), "after", 5, NULL), MCP_OK);
}

/* What all readers share is sealed for each from where it lies, and given back. */
static void shared_bytes_are_sealed_where_they_lie(void **state)
{
    static char out[400 * 1024];
    tls_client client = connected();

    (void)state;
    memset(shared_bytes, 's', sizeof shared_bytes);
    atomic_store(&released, 0);
    say(&client, "GET /stream HTTP/1.1\r\nHost: localhost\r\n\r\n");
    hear(&client, out, sizeof out, "\r\n\r\n");
    rig_call(server, write_shared, NULL);
    hear(&client, out, sizeof out, "after\r\n");
    assert_memory_equal(out, "6\r\nbefore\r\n4b000\r\ns", 19);
    assert_int_equal(strspn(out + 18, "s"), sizeof shared_bytes);
    assert_string_equal(out + 18 + sizeof shared_bytes, "\r\n5\r\nafter\r\n");
    site_wait(&released, 1);
    client_free(&client);
}

static void records_may_be_cut_anywhere(void **state)
{
    tls_client client = connected();
    BIO *memory = BIO_new(BIO_s_mem());
    char *bytes = NULL;

    (void)state;
    BIO_up_ref(memory);
    SSL_set0_wbio(client.ssl, memory);
    say(&client, "GET /hello HTTP/1.1\r\nHost: a\r\n\r\nGET /last HTTP/1.1\r\nHost: a\r\n\r\n");
    long length = BIO_get_mem_data(memory, &bytes);
    for (long i = 0; i < length; i++)
        assert_true(client_send(client.fd, bytes + i, 1));
    hear(&client, got, sizeof got, "bye");
    assert_non_null(strstr(got, "hello"));
    BIO_free(memory);
    client_free(&client);
}

static void nonsense_is_answered_by_an_alert_and_closed(void **state)
{
    int fd = client_open(rig_port(server));
    unsigned char alert[7];

    (void)state;
    /* Data before any handshake. */
    client_send(fd,
                "\x17\x03\x03\x00\x04"
                "data",
                9);
    client_read_exactly(fd, alert, sizeof alert);
    assert_int_equal(alert[0], 21); /* RFC 8446 section 5.1: content type alert */
    assert_int_equal(alert[5], 2);  /* fatal */
    assert_true(client_is_closed_within(fd, 2000));
    close(fd);
    fd = client_open(rig_port(server));
    client_say(fd, "GET /hello HTTP/1.1\r\nHost: a\r\n\r\n"); /* plain, to a TLS port */
    assert_true(client_is_closed_within(fd, 2000));
    close(fd);
    assert_int_equal(page.heads, 0);
}

static void a_handshake_that_does_not_end_is_cut_off(void **state)
{
    int fd = client_open(rig_port(server));

    (void)state;
    client_send(fd, "\x16\x03\x01\x02\x00\x01", 6);
    assert_true(client_is_closed_within(fd, 2000));
    close(fd);
}

static void a_broken_record_ends_the_connection(void **state)
{
    tls_client client = connected();

    (void)state;
    say(&client, "GET /hold HTTP/1.1\r\nHost: a\r\n\r\n");
    site_wait(&page.holding, 1);
    client_send(client.fd,
                "\x17\x03\x03\x00\x14"
                "aaaaaaaaaaaaaaaaaaaa",
                25);
    site_wait(&page.hung_up, 1);
    client_free(&client);
}

/* ---- files ----------------------------------------------------------------------------------- */

static mcp_status make_context(const char *certificate, const char *key, mcp_error *err)
{
    mcp__tls_context *context = NULL;

    mcp_status st = mcp__tls_context_new(&context, certificate, key, err);
    mcp__tls_context_free(context);
    return st;
}

static void wrong_files_are_named(void **state)
{
    char certificate[SCRATCH_PATH_MAX + 16];
    char key[SCRATCH_PATH_MAX + 16];
    mcp_error err = MCP_ERROR_INIT;

    (void)state;
    snprintf(certificate, sizeof certificate, "%s/c.pem", folder.path);
    snprintf(key, sizeof key, "%s/k.pem", folder.path);
    make_pair(scratch_path(&folder, "c2.pem"), scratch_path(&folder, "k2.pem"));
    assert_int_equal(make_context(certificate, key, &err), MCP_OK);
    assert_int_equal(make_context(scratch_path(&folder, "none.pem"), key, &err), MCP_E_PARAMS);
    assert_non_null(strstr(err.message, "none.pem cannot be used: No such file or directory"));
    assert_int_equal(make_context(certificate, certificate, &err), MCP_E_PARAMS);
    assert_non_null(strstr(err.message, "the key "));
    assert_int_equal(make_context(certificate, scratch_path(&folder, "k2.pem"), &err),
                     MCP_E_PARAMS);
    assert_non_null(strstr(err.message, "k2.pem"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(serves_both_versions, set_up, tear_down),
        cmocka_unit_test_setup_teardown(older_versions_are_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(chooses_http_1_1, set_up, tear_down),
        cmocka_unit_test_setup_teardown(large_bodies_go_both_ways, set_up, tear_down),
        cmocka_unit_test_setup_teardown(streams_and_hang_ups, set_up, tear_down),
        cmocka_unit_test_setup_teardown(shared_bytes_are_sealed_where_they_lie, set_up, tear_down),
        cmocka_unit_test_setup_teardown(records_may_be_cut_anywhere, set_up, tear_down),
        cmocka_unit_test_setup_teardown(nonsense_is_answered_by_an_alert_and_closed, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_handshake_that_does_not_end_is_cut_off, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_broken_record_ends_the_connection, set_up, tear_down),
        cmocka_unit_test_setup_teardown(wrong_files_are_named, set_up, tear_down),
    };

    return cmocka_run_group_tests_name("TLS", tests, NULL, NULL);
}
