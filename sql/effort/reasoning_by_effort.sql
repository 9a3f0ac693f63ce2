-- How many reasoning tokens a call takes at each applied effort, by model.
-- grain: one row per provider, model and applied effort, of the models with the most calls that had one
-- reads: calls
-- parameters: since, until (dates, both inclusive); top (how many models, 12 by default)
--
-- The mean is taken over the calls that report a count. Teams ask for more effort where the work is harder, so a
-- difference between efforts is what was spent, not what the effort alone caused.
WITH
    asked AS (
        SELECT provider, model, effort_applied, reasoning_tokens
        FROM calls
        WHERE effort_applied IS NOT NULL
            AND (getvariable('since') IS NULL OR date >= getvariable('since')::DATE)
            AND (getvariable('until') IS NULL OR date <= getvariable('until')::DATE)
    ),

    ranked AS (
        SELECT
            provider,
            model,
            row_number() OVER (ORDER BY count(*) DESC, provider, model) AS place
        FROM asked
        GROUP BY provider, model
        QUALIFY place <= coalesce(getvariable('top')::INTEGER, 12)
    )

SELECT
    place,
    ranked.provider,
    ranked.model,
    effort_applied,
    count(*) AS calls,
    count(reasoning_tokens) AS calls_with_count,
    sum(reasoning_tokens) AS reasoning_tokens,
    round(avg(reasoning_tokens), 1) AS mean_reasoning_tokens
FROM asked
JOIN ranked
    ON ranked.provider IS NOT DISTINCT FROM asked.provider
    AND ranked.model IS NOT DISTINCT FROM asked.model
GROUP BY ALL
ORDER BY place, effort_applied;
