-- The spend as charges in the shape of FOCUS, for FinOps tools (use --format csv or parquet).
-- grain: one row per charge and token bucket; a charge is one UTC day of one model, tier, team, user, key and effort
-- reads: focus_charges
-- parameters: since, until (dates, both inclusive)
--
-- A null BilledCost is not known, never 0; what the columns hold is said in the view.
SELECT * EXCLUDE (x_Date)
FROM focus_charges
WHERE (getvariable('since') IS NULL OR x_Date >= getvariable('since')::DATE)
    AND (getvariable('until') IS NULL OR x_Date <= getvariable('until')::DATE)
ORDER BY x_Date, ProviderName, ServiceName, x_ServiceTier, SubAccountName, ResourceId, x_UserId, x_EffortApplied, x_CostSource, SkuMeter;
