-- A service tier in the price table's words: default, batch, flex, priority or fast; another word as it is, which has
-- no price; null where a word leaves it to the provider ('auto') or there is none.
CREATE MACRO standard_tier(tier) AS (
    CASE lower(replace(tier, 'SERVICE_TIER_', ''))
        WHEN 'standard' THEN 'default'
        WHEN 'standard_only' THEN 'default'
        WHEN 'on_demand' THEN 'default'
        WHEN 'auto' THEN NULL
        WHEN 'unspecified' THEN NULL
        ELSE lower(replace(tier, 'SERVICE_TIER_', ''))
    END
);
