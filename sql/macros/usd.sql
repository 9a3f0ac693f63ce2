-- Dollars from 1e-12 dollars.
CREATE MACRO usd(amount) AS (amount * 0.000000000001::DECIMAL(12, 12))::DECIMAL(38, 12);
