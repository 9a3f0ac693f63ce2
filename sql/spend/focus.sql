-- The spend as charges in the shape of FOCUS, for FinOps tools (use --format csv or parquet).
-- grain: one row per charge and token bucket; a charge is one UTC day of one model, tier, team and API key
-- reads: focus_charges
-- parameters: since, until (dates, both inclusive; the newest call's date alone by default)
--
-- A null BilledCost is not known, never 0; what the columns hold is said in the view.
SELECT * EXCLUDE (x_Date)
FROM focus_charges
WHERE x_Date >= coalesce(getvariable('since')::DATE, getvariable('until')::DATE, newest_date())
    AND x_Date <= coalesce(getvariable('until')::DATE, newest_date())
ORDER BY x_Date, ProviderName, ServiceName, x_ServiceTier, SubAccountName, ResourceId, x_CostSource, SkuPriceId, SkuMeter;
