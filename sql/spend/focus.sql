-- The spend as charges in the shape of FOCUS, for FinOps tools (use --format csv or parquet).
-- grain: one row per charge and token bucket; a charge is one UTC day of one model, tier, team and API key
-- reads: focus_charges, calls
-- parameters: since, until (dates, both inclusive; the newest call's date alone by default)
--
-- A null BilledCost is not known, never 0; what the columns hold is said in the view.
WITH days AS (
    SELECT
        coalesce(getvariable('until')::DATE, max(date)) AS until,
        coalesce(getvariable('since')::DATE, coalesce(getvariable('until')::DATE, max(date))) AS since
    FROM calls
)

SELECT * EXCLUDE (x_Date)
FROM focus_charges
WHERE x_Date >= (SELECT since FROM days) AND x_Date <= (SELECT until FROM days)
ORDER BY x_Date, ProviderName, ServiceName, x_ServiceTier, SubAccountName, ResourceId, x_CostSource, SkuPriceId, SkuMeter;
