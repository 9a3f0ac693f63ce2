-- Who stays: the best row of an id; live rows beside a live one, which earlier runs settled; and of the rows whose
-- text is another than the best one's, one for each distinct text.
CREATE TABLE conflicts AS
SELECT rivals.part, rivals.row
FROM rivals
JOIN prints AS loser USING (part, row, text, chars)
JOIN prints AS winner
    ON winner.part = rivals.winner_part
    AND winner.row = rivals.winner_row
    AND winner.text = rivals.text
    AND winner.chars = rivals.chars
WHERE loser.head <> winner.head
QUALIFY row_number() OVER (PARTITION BY rivals.id, rivals.text, loser.whole ORDER BY rivals.place) = 1;

CREATE TABLE settled AS
SELECT
    contest.*,
    conflicts.part IS NOT NULL AS id_conflict,
    winner.own AS winner_own,
    winner.live AS winner_live,
    contest.place = 1
        OR id_conflict
        OR (contest.live AND winner.live AND NOT contest.again) AS stays
FROM contest
JOIN contest AS winner ON winner.id = contest.id AND winner.place = 1
LEFT JOIN conflicts ON conflicts.part = contest.part AND conflicts.row = contest.row;
