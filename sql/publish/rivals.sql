-- Finished rows that may be another call than the finished row which beats them, since texts may differ. Answers are
-- compared where both have one, else the thinking. Only the winner is compared with the others, so that a thousand
-- records of one id are a thousand comparisons.
CREATE TABLE rivals AS
SELECT
    loser.id,
    loser.place,
    loser.part,
    loser.row,
    winner.part AS winner_part,
    winner.row AS winner_row,
    CASE
        WHEN loser.answer_chars > 0 AND winner.answer_chars > 0 THEN 'answer'
        ELSE 'thinking'
    END AS text,
    CASE text
        WHEN 'answer' THEN least(loser.answer_chars, winner.answer_chars)
        ELSE least(loser.thinking_chars, winner.thinking_chars)
    END AS chars
FROM contest AS loser
JOIN contest AS winner ON winner.id = loser.id AND winner.place = 1
WHERE NOT loser.again
    AND loser.place > 1
    AND loser.fate = 0
    AND NOT (loser.live AND winner.live)
    AND (
        (loser.answer_chars > 0 AND winner.answer_chars > 0)
        OR (loser.thinking_chars > 0 AND winner.thinking_chars > 0)
    );

CREATE TABLE wanted AS
SELECT part, row, text, chars FROM rivals
UNION
SELECT winner_part, winner_row, text, chars FROM rivals;
