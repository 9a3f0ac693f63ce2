-- Where rows are, the rows that may be one call, and the hashes of their texts.
CREATE TABLE parts (part INTEGER, path VARCHAR, own BOOLEAN, slot BIGINT);

CREATE TABLE candidates (
    part INTEGER,
    row BIGINT,
    slot BIGINT,
    own BOOLEAN, -- of the partition that is published, else of a neighbour
    live BOOLEAN, -- settled by an earlier run
    id VARCHAR,
    fate TINYINT, -- 0 finished, 1 partial, 2 error
    usage BIGINT,
    version INTEGER,
    source_file VARCHAR,
    source_position BIGINT,
    thinking_chars BIGINT, -- null where the text was purged
    answer_chars BIGINT,
    thinking_purged_at TIMESTAMPTZ,
    answer_purged_at TIMESTAMPTZ
);

CREATE TABLE prints (part INTEGER, row BIGINT, text VARCHAR, chars BIGINT, head UBIGINT, whole UBIGINT);
