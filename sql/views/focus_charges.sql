-- The spend in the shape of the FinOps Open Cost and Usage Specification (FOCUS 1.2), for tools that read it.
-- grain: one row per charge and token bucket; a charge is one UTC day of one model, tier, team and API key
-- reads: call_costs
--
-- Columns without the prefix x_ are FOCUS's. A bucket's cost is at list or contract prices; where a cost was reported,
-- what it differs by is a row of its own (bucket reported_difference, or reported where there is no price at all), so
-- that BilledCost adds up to the cost of the calls. A null cost is not known: FOCUS asks for a number, a tool that
-- needs one must leave those rows out (WHERE BilledCost IS NOT NULL) and say so. Answers out of a gateway's cache are
-- no charges.
CREATE VIEW focus_charges AS
WITH
    charges AS (
        SELECT
            date,
            provider,
            billed_by,
            model,
            tier_used,
            team,
            api_key_id,
            cost_source,
            price_id,
            price_version,
            list_cost_usd IS NOT NULL AS priced,
            count(*) AS calls,
            sum(
                input_tokens - coalesce(cached_input_tokens, 0)
                - greatest(coalesce(cache_write_tokens, 0), coalesce(cache_write_1h_tokens, 0))
            ) AS input_tokens,
            sum(cached_input_tokens) AS cached_input_tokens,
            sum(greatest(cache_write_tokens, cache_write_1h_tokens)) AS cache_write_tokens,
            sum(output_tokens - reasoning_tokens) FILTER (WHERE reasoning_tokens <= output_tokens) AS answer_tokens,
            sum(reasoning_tokens) FILTER (WHERE reasoning_tokens <= output_tokens) AS reasoning_tokens,
            sum(output_tokens) FILTER (WHERE (reasoning_tokens <= output_tokens) IS NOT TRUE) AS output_tokens,
            sum(input_cost_usd) FILTER (WHERE list_cost_usd IS NOT NULL) AS input_usd,
            sum(cached_input_cost_usd) FILTER (WHERE list_cost_usd IS NOT NULL) AS cached_input_usd,
            sum(cache_write_cost_usd) FILTER (WHERE list_cost_usd IS NOT NULL) AS cache_write_usd,
            sum(answer_cost_usd) FILTER (WHERE list_cost_usd IS NOT NULL) AS answer_usd,
            sum(reasoning_cost_usd) FILTER (WHERE list_cost_usd IS NOT NULL) AS reasoning_usd,
            sum(output_cost_usd) FILTER (WHERE list_cost_usd IS NOT NULL AND reasoning_cost_usd IS NULL) AS output_usd,
            sum(list_cost_usd) AS list_usd,
            sum(cost_usd) AS cost_usd
        FROM call_costs
        WHERE cache_hit IS NOT TRUE
        GROUP BY ALL
    ),

    buckets AS (
        SELECT
            * EXCLUDE (
                input_tokens, cached_input_tokens, cache_write_tokens, answer_tokens, reasoning_tokens, output_tokens
            ),
            unnest([
                {'bucket': 'input', 'tokens': input_tokens, 'usd': input_usd},
                {'bucket': 'cached_input', 'tokens': cached_input_tokens, 'usd': cached_input_usd},
                {'bucket': 'cache_write', 'tokens': cache_write_tokens, 'usd': cache_write_usd},
                {'bucket': 'answer', 'tokens': answer_tokens, 'usd': answer_usd},
                {'bucket': 'reasoning', 'tokens': reasoning_tokens, 'usd': reasoning_usd},
                {'bucket': 'output_not_split', 'tokens': output_tokens, 'usd': output_usd},
                {
                    'bucket': 'request',
                    'tokens': NULL,
                    'usd': nullif(
                        list_usd - coalesce(input_usd, 0) - coalesce(cached_input_usd, 0)
                        - coalesce(cache_write_usd, 0) - coalesce(answer_usd, 0) - coalesce(reasoning_usd, 0)
                        - coalesce(output_usd, 0),
                        0
                    )
                },
                {
                    'bucket': CASE WHEN list_usd IS NULL THEN 'reported' ELSE 'reported_difference' END,
                    'tokens': NULL,
                    'usd': CASE
                        WHEN cost_source = 'reported' AND list_usd IS NULL THEN cost_usd
                        WHEN cost_source = 'reported' THEN nullif(cost_usd - list_usd, 0)
                    END
                }
            ], recursive := true)
        FROM charges
    )

SELECT
    usd AS BilledCost,
    usd AS EffectiveCost,
    CASE WHEN cost_source = 'list' THEN usd END AS ListCost,
    usd AS ContractedCost,
    'USD' AS BillingCurrency,
    date_trunc('month', date)::TIMESTAMP AT TIME ZONE 'UTC' AS BillingPeriodStart,
    (date_trunc('month', date) + INTERVAL 1 MONTH)::TIMESTAMP AT TIME ZONE 'UTC' AS BillingPeriodEnd,
    date::TIMESTAMP AT TIME ZONE 'UTC' AS ChargePeriodStart,
    (date + INTERVAL 1 DAY)::TIMESTAMP AT TIME ZONE 'UTC' AS ChargePeriodEnd,
    CASE WHEN bucket = 'reported_difference' THEN 'Adjustment' ELSE 'Usage' END AS ChargeCategory,
    NULL::VARCHAR AS ChargeClass,
    concat_ws(' ', model, replace(bucket, '_', ' ')) AS ChargeDescription,
    'Usage-Based' AS ChargeFrequency,
    tokens::BIGINT AS ConsumedQuantity,
    CASE WHEN tokens IS NOT NULL THEN 'Tokens' END AS ConsumedUnit,
    CASE WHEN tier_used = 'default' THEN 'Standard' WHEN tier_used IS NOT NULL THEN 'Dynamic' END AS PricingCategory,
    coalesce(billed_by, provider) AS ProviderName,
    provider AS PublisherName,
    coalesce(billed_by, provider) AS InvoiceIssuerName,
    'AI and Machine Learning' AS ServiceCategory,
    'Generative AI' AS ServiceSubcategory,
    model AS ServiceName,
    api_key_id AS ResourceId,
    CASE WHEN api_key_id IS NOT NULL THEN 'API key' END AS ResourceType,
    team AS SubAccountName,
    price_id AS SkuPriceId,
    bucket AS SkuMeter,
    cost_source AS x_CostSource,
    price_version AS x_PriceVersion,
    tier_used AS x_ServiceTier,
    calls AS x_Calls,
    date AS x_Date
FROM buckets
WHERE tokens IS NOT NULL OR usd IS NOT NULL;
