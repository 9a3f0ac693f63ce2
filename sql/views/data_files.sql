-- Every file on the disk that holds rows, live or no longer: superseded files stay for a grace, then the next run
-- removes them. Spill files are those of readers' databases.
-- grain: one row per file
-- reads: lake.json and the names of files
CREATE VIEW data_files AS
WITH
    place AS (SELECT coalesce(getvariable('lake'), '.') AS lake),

    listed AS (
        SELECT
            map_values(calls) || map_values(rejects) AS data,
            map_values(costs) AS costs
        FROM read_json(
            coalesce(getvariable('lake'), '.') || '/lake.json',
            columns = {
                calls: 'MAP(VARCHAR, STRUCT(path VARCHAR))',
                rejects: 'MAP(VARCHAR, STRUCT(path VARCHAR))',
                costs: 'MAP(VARCHAR, STRUCT(path VARCHAR))'
            }
        )
    ),

    live AS (SELECT unnest(data).path AS path FROM listed UNION ALL SELECT unnest(costs).path FROM listed),

    found AS (
        SELECT substr(file, length(place.lake) + 2) AS path
        FROM
            glob(
                list_transform(
                    ['calls/**/*.parquet', 'rejects/**/*.parquet', 'costs/**/*.parquet', '*.tmp/**'],
                    lambda pattern: coalesce(getvariable('lake'), '.') || '/' || pattern
                )
            ),
            place
    )

SELECT
    path,
    CASE WHEN path LIKE '%.parquet' THEN split_part(path, '/', 1) ELSE 'spill' END AS kind,
    try_cast(regexp_extract(path, '-(\d{6,})-([0-9a-f]+)\.parquet$', 1) AS BIGINT) AS generation,
    nullif(regexp_extract(path, '-(\d{6,})-([0-9a-f]+)\.parquet$', 2), '') AS token,
    path IN (SELECT live.path FROM live) AS is_live
FROM found;
