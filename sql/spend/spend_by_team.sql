-- What each team spent in a month, and how much of its budget that is.
-- grain: one row per month and team; a team with a budget and no calls has a row in every month of the answer
-- reads: call_costs
-- parameters: since, until (dates, both inclusive); budgets (a CSV file with the columns team and budget_usd, dollars
-- per month, and, where a budget is one month's only, month as 2026-11)
--
-- A null team is not known, a null budget_usd is no budget. budget_used is the known cost's part of the budget: where
-- cost_coverage is below 1, more was used. A budget is a whole month's, even where since or until cut the month.
WITH
    spent AS (
        SELECT
            date_trunc('month', date)::DATE AS month,
            team,
            count(*) AS calls,
            sum(output_tokens) AS output_tokens,
            sum(reasoning_tokens) AS reasoning_tokens,
            sum(cost_usd) AS cost_usd,
            count(*) - count(cost_usd) AS calls_without_cost,
            round(count(cost_usd) / count(*), 4) AS cost_coverage
        FROM call_costs
        WHERE (getvariable('since') IS NULL OR date >= getvariable('since')::DATE)
            AND (getvariable('until') IS NULL OR date <= getvariable('until')::DATE)
        GROUP BY ALL
    ),

    -- Without a file there is nothing to read: the table function must not be bound to it.
    listed AS (
        SELECT team::VARCHAR AS team, month::VARCHAR AS month, budget_usd::DECIMAL(38, 12) AS budget_usd
        FROM query(
            CASE
                WHEN getvariable('budgets') IS NULL
                THEN 'SELECT NULL AS team, NULL AS month, NULL AS budget_usd WHERE false'
                ELSE 'SELECT NULL AS team, NULL AS month, NULL AS budget_usd WHERE false UNION ALL BY NAME '
                    || 'FROM read_csv(''' || replace(getvariable('budgets'), '''', '''''') || ''', all_varchar = true)'
            END
        )
    ),

    budgets AS (
        SELECT months.month, listed.team, coalesce(max_by(budget_usd, listed.month), max(budget_usd)) AS budget_usd
        FROM (SELECT DISTINCT month FROM spent WHERE month IS NOT NULL) AS months
        JOIN listed ON listed.month IS NULL OR listed.month = strftime(months.month, '%Y-%m')
        GROUP BY ALL
    )

SELECT
    month,
    team,
    coalesce(calls, 0) AS calls,
    output_tokens,
    reasoning_tokens,
    CASE WHEN calls IS NULL THEN 0 ELSE cost_usd END::DECIMAL(38, 12) AS cost_usd,
    coalesce(calls_without_cost, 0) AS calls_without_cost,
    cost_coverage,
    budget_usd,
    round(CASE WHEN calls IS NULL THEN 0 ELSE cost_usd END::DOUBLE / nullif(budget_usd::DOUBLE, 0), 4) AS budget_used,
    budget_usd - CASE WHEN calls IS NULL THEN 0 ELSE cost_usd END AS budget_left_usd
FROM spent
FULL JOIN budgets USING (month, team)
ORDER BY month NULLS LAST, cost_usd DESC NULLS LAST, team;
