-- Hashes of the texts that have to be compared, for one part: of the first characters that both have, and of all.
INSERT INTO prints
SELECT
    wanted.part,
    wanted.row,
    wanted.text,
    wanted.chars,
    hash(left(CASE wanted.text WHEN 'answer' THEN texts.answer ELSE texts.thinking END, wanted.chars)),
    hash(CASE wanted.text WHEN 'answer' THEN texts.answer ELSE texts.thinking END)
FROM texts
JOIN wanted ON wanted.part = $part AND wanted.row = texts.row;
