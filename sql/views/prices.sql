-- The price table in force: what a million tokens cost, by model, tier, time and length of the input.
-- grain: one row per price_key, tier, period, part of the UTC day and band of input tokens; they never overlap
-- reads: prices/prices-….parquet ('thinkledger prices' writes it); empty before that
CREATE VIEW prices AS
SELECT $columns
FROM $rows;
