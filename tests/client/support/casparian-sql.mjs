/*
 * casparian-sql.mjs - statements that casparian refuses, and those that only look like them, over a
 * catalog with the outputs of fix_parser.
 */

export const REFUSED = [
    'SELECT 1; DROP TABLE x', 'SELECT 1;/**/DELETE FROM x', 'SELECT /* ; */ 1 /* /* */ */ ; DROP VIEW fix_order_lifecycle', "SELECT * FROM read_csv('/etc/passwd')",
    "SELECT * FROM '/etc/passwd'", "SELECT * FROM read_text('/etc/passwd')", "SELECT * FROM read_blob('/etc/passwd')", "SELECT * FROM glob('/**')",
    "COPY (SELECT 1) TO '/tmp/x'", "COPY (SELECT 1) TO '/proc/self/fd/100' (FORMAT PARQUET, USE_TMP_FILE false)", "EXPLAIN ANALYZE COPY (SELECT 1) TO 'x'", 'EXPLAIN ANALYZE INSERT INTO fix_order_lifecycle SELECT 1',
    'WITH x AS (SELECT 1) INSERT INTO y SELECT * FROM x', "ATTACH 'x.db'", 'INSTALL httpfs', 'LOAD httpfs', 'SET enable_external_access=true', 'PRAGMA version',
    'FROM fix_order_lifecycle', 'SHOW TABLES', 'VALUES (1)', 'DESCRIBE fix_order_lifecycle', 'EXPLAIN ANALYZE SELECT 1', "SELECT getenv('HOME')",
    "SELECT current_setting('temp_directory')", 'SELECT * FROM duckdb_settings()', 'SELECT * FROM duckdb_views()', "SELECT * FROM parquet_metadata('x')",
    "SELECT * FROM '/proc/self/fd/3'", "SELECT * FROM read_parquet('/proc/self/fd/100')", 'CREATE MACRO f() AS 1', 'SELECT * FROM duckdb_secrets()',
    "SELECT * FROM query('SELECT 1')", "SELECT * FROM query_table('x')", "SELECT * FROM 'https://127.0.0.1/x.parquet'", "SELECT * FROM 's3://bucket/x.parquet'",
    'SELECT 1\uFF1B DROP TABLE x', 'SELECT 1\u037E DROP TABLE x', 'SELECT 1\0; DROP TABLE x', '',
];
export const ALLOWED = [
    'SELECT 1 -- comment', 'SELECT 1 AS "drop"', "SELECT 'DELETE; COPY' AS a", 'SELECT count(*) FROM fix_order_lifecycle;', 'EXPLAIN SELECT * FROM fix_order_lifecycle',
    'SELECT * FROM sqlite_master', 'SELECT * FROM information_schema.columns LIMIT 3'
];
