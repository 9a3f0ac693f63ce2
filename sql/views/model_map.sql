-- Which prices each model of the lake has, and by which rule that was found; price_key is null where it has none.
-- grain: one row per provider, billed_by, protocol and model, as the calls say them
-- reads: prices/model_map-….parquet ('thinkledger prices' writes it, every run of 'normalise' adds to it)
CREATE VIEW model_map AS
SELECT $columns
FROM $rows;
