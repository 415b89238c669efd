/*
 * value.c - values on their way to PostgreSQL and back.
 *
 * The type of each parameter is known from the server. Text and bytes are sent unchanged where that
 * type is text or bytea; a number, and a text for another type, is sent as text, which the server
 * parses by the type's rules. Results are binary, which is exact; the types of the SQL of db.h are
 * read, and any other is refused by name of its column.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "db/postgres/postgres_int.h"

/* The numbers of types, from PostgreSQL's pg_type.dat; they never change. */
enum {
    TYPE_BOOL = 16,
    TYPE_BYTEA = 17,
    TYPE_NAME = 19,
    TYPE_INT8 = 20,
    TYPE_INT2 = 21,
    TYPE_INT4 = 23,
    TYPE_TEXT = 25,
    TYPE_OID = 26,
    TYPE_JSON = 114,
    TYPE_FLOAT4 = 700,
    TYPE_FLOAT8 = 701,
    TYPE_UNKNOWN = 705,
    TYPE_BPCHAR = 1042,
    TYPE_VARCHAR = 1043,
    TYPE_NUMERIC = 1700,
    TYPE_VOID = 2278
};

enum { NUMBER_ROOM = 32, ROOM_MAX = 1 << 30 };

/* The lists that libpq wants, carved from the link's room. */
struct parameters {
    const char **values;
    int *lengths;
    int *formats; /* 1: binary */
    char *bytes;  /* for numbers and copies */
};

static bool is_text(Oid type)
{
    return type == TYPE_TEXT || type == TYPE_VARCHAR || type == TYPE_BPCHAR || type == TYPE_NAME ||
           type == TYPE_JSON || type == TYPE_UNKNOWN;
}

static bool goes_as_it_is(const db_value *value, Oid type)
{
    return value->kind == DB_BLOB ||
           (value->kind == DB_TEXT && (is_text(type) || type == TYPE_BYTEA));
}

/* The size of a value as text. */
static size_t room_for(const db_value *value, Oid type)
{
    if (value->kind == DB_NULL || goes_as_it_is(value, type))
        return 0;
    return value->kind == DB_TEXT ? value->length + 1 : NUMBER_ROOM;
}

static mcp_status carve(struct parameters *out, pg_link *self, const pg_statement *statement,
                        const db_call *call, mcp_error *err)
{
    size_t lists = call->count *
                   (sizeof *out->values + sizeof *out->lengths + sizeof *out->formats);
    size_t bytes = 1;

    for (size_t i = 0; i < call->count; i++)
        bytes += room_for(&call->values[i], statement->types[i]);
    mcp_buf_reset(&self->room);
    char *room = mcp_buf_reserve(&self->room, lists + bytes);
    if (!room)
        return mcp_error_set(err, self->room.status == MCP_E_LIMIT ? MCP_E_LIMIT : MCP_E_NOMEM,
                             "no room for the values of a statement");
    out->values = (const char **)(void *)room;
    out->lengths = (int *)(void *)(out->values + call->count);
    out->formats = out->lengths + call->count;
    out->bytes = (char *)(out->formats + call->count);
    return MCP_OK;
}

/* Write a value as text. @return the place of the next one */
static char *write_text(char *at, const db_value *value)
{
    if (value->kind == DB_INT)
        snprintf(at, NUMBER_ROOM, "%" PRId64, value->integer);
    else if (value->kind == DB_DOUBLE)
        snprintf(at, NUMBER_ROOM, "%.17g", value->real);
    else {
        memcpy(at, value->bytes, value->length);
        at[value->length] = '\0';
        return at + value->length + 1;
    }
    return at + NUMBER_ROOM;
}

static mcp_status fill(struct parameters *all, const pg_statement *statement, const db_call *call,
                       mcp_error *err)
{
    for (size_t i = 0; i < call->count; i++) {
        const db_value *value = &call->values[i];
        bool is_binary = goes_as_it_is(value, statement->types[i]);

        if (value->length > ROOM_MAX)
            return mcp_error_set(err, MCP_E_LIMIT, "a value is longer than 1 GiB");
        all->formats[i] = is_binary;
        all->lengths[i] = is_binary ? (int)value->length : 0;
        all->values[i] = is_binary ? value->bytes : NULL;
        if (value->kind == DB_NULL || is_binary)
            continue;
        all->values[i] = all->bytes;
        all->bytes = write_text(all->bytes, value);
    }
    return MCP_OK;
}

mcp_status pg_send(pg_link *self, const pg_statement *statement, const db_call *call,
                   mcp_error *err)
{
    struct parameters all = { 0 };

    if (call->count != statement->count)
        return mcp_error_set(err, MCP_E_PARAMS, "a statement has %zu parameters, %zu were given",
                             statement->count, call->count);
    self->sent++;
    mcp_status st = carve(&all, self, statement, call, err);
    if (st == MCP_OK)
        st = fill(&all, statement, call, err);
    if (st == MCP_OK && !pg_lib.PQsendQueryPrepared(self->conn, statement->name, (int)call->count,
                                                    all.values, all.lengths, all.formats, 1))
        st = pg_lose(self, err);
    return st;
}

static bool is_readable(Oid type)
{
    switch (type) {
    case TYPE_BOOL:
    case TYPE_BYTEA:
    case TYPE_INT2:
    case TYPE_INT4:
    case TYPE_INT8:
    case TYPE_OID:
    case TYPE_FLOAT4:
    case TYPE_FLOAT8:
    case TYPE_NUMERIC:
    case TYPE_VOID:
        return true;
    default:
        return is_text(type);
    }
}

mcp_status pg_check_types(const PGresult *row, mcp_error *err)
{
    for (int i = 0; i < pg_lib.PQnfields(row); i++)
        if (!is_readable(pg_lib.PQftype(row, i)))
            return mcp_error_set(err, MCP_E_UNSUPPORTED,
                                 "database: the type of the column \"%s\" is not read; cast it to "
                                 "TEXT, BIGINT, DOUBLE PRECISION or BYTEA",
                                 pg_lib.PQfname(row, i));
    return MCP_OK;
}

static uint64_t unsigned_at(const char *bytes, int length)
{
    uint64_t number = 0;

    for (int i = 0; i < length; i++)
        number = number << 8 | (unsigned char)bytes[i];
    return number;
}

static int64_t signed_at(const char *bytes, int length)
{
    uint64_t number = unsigned_at(bytes, length);

    switch (length) {
    case 2:
        return (int16_t)number;
    case 4:
        return (int32_t)number;
    default:
        return (int64_t)number;
    }
}

static double real_at(const char *bytes, int length)
{
    uint64_t bits = unsigned_at(bytes, length);
    uint32_t half = (uint32_t)bits;
    float single = 0.0F;
    double number = 0.0;

    if (length == 4) {
        memcpy(&single, &half, sizeof single);
        return (double)single;
    }
    memcpy(&number, &bits, sizeof number);
    return number;
}

/*
 * NUMERIC as it is sent: the count of base-10000 digits, the weight of the first, the sign, the
 * decimal places to show, then the digits, two bytes each.
 */
struct numeric {
    int count;
    int weight;
    bool is_negative;
    const char *digits;
};

static unsigned digit_of(const struct numeric *n, int i)
{
    return i < n->count ? (unsigned)unsigned_at(n->digits + 2 * i, 2) : 0;
}

/* Whole, and small enough that no step overflows (18 decimal digits and some). */
static bool int_of_numeric(int64_t *out, const struct numeric *n)
{
    int64_t number = 0;

    if (n->count > n->weight + 1 || n->weight > 4)
        return false;
    for (int i = 0; i <= n->weight; i++)
        if (__builtin_mul_overflow(number, 10000, &number) ||
            __builtin_sub_overflow(number, (int64_t)digit_of(n, i), &number))
            return false;
    /* Counted downwards, because the least integer has no positive twin. */
    if (!n->is_negative && __builtin_sub_overflow((int64_t)0, number, &number))
        return false;
    *out = number;
    return true;
}

/* The nearest double, by way of "0.<digits>e<weight>"; digits past the 30th group change
 * nothing. */
static double real_of_numeric(const struct numeric *n)
{
    char text[200];
    size_t length = (size_t)snprintf(text, sizeof text, "%s0.", n->is_negative ? "-" : "");

    for (int i = 0; i < n->count && i < 30; i++)
        length += (size_t)snprintf(text + length, sizeof text - length, "%04u", digit_of(n, i));
    snprintf(text + length, sizeof text - length, "0e%d", 4 * (n->weight + 1));
    return strtod(text, NULL);
}

static db_value numeric_at(const char *bytes, int length)
{
    struct numeric n = { 0 };
    int64_t number = 0;

    if (length < 8)
        return db_null();
    unsigned sign = (unsigned)unsigned_at(bytes + 4, 2);
    n.count = (int)unsigned_at(bytes, 2);
    n.weight = (int)signed_at(bytes + 2, 2);
    n.is_negative = sign == 0x4000;
    n.digits = bytes + 8;
    if (length < 8 + 2 * n.count || (sign != 0 && sign != 0x4000))
        return db_text_n("NaN", 3); /* or an infinity: unsupported, and reading it fails */
    return int_of_numeric(&number, &n) ? db_int(number) : db_double(real_of_numeric(&n));
}

db_value pg_cell(const PGresult *row, int column)
{
    const char *bytes = pg_lib.PQgetvalue(row, 0, column);
    int length = pg_lib.PQgetlength(row, 0, column);

    if (pg_lib.PQgetisnull(row, 0, column))
        return db_null();
    switch (pg_lib.PQftype(row, column)) {
    case TYPE_BOOL:
        return db_int(bytes[0] != 0);
    case TYPE_INT2:
    case TYPE_INT4:
    case TYPE_INT8:
        return db_int(signed_at(bytes, length));
    case TYPE_OID:
        return db_int((int64_t)unsigned_at(bytes, length));
    case TYPE_FLOAT4:
    case TYPE_FLOAT8:
        return db_double(real_at(bytes, length));
    case TYPE_NUMERIC:
        return numeric_at(bytes, length);
    case TYPE_BYTEA:
        return db_blob(bytes, (size_t)length);
    case TYPE_VOID:
        return db_null();
    default:
        return db_text_n(bytes, (size_t)length);
    }
}
