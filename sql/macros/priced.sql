-- What a count of tokens costs, in 1e-12 dollars: whole numbers, several times as fast as decimals of 38 digits and as
-- exact. The rate is in 1e-12 dollars a token, or in a thousandth of that where it is a finer one; then the cost is
-- rounded half up.
CREATE MACRO priced(tokens, rate, fine) AS (
    CASE WHEN fine THEN ((tokens::HUGEINT * rate + 500) // 1000)::BIGINT ELSE tokens * rate END
);
