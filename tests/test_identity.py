"""Who a call is: strong ids alone, else id, request, time and text together."""

import pytest

from schemas.reading import Piece
from schemas.vocabulary import PieceKind
from transforms.identity import call_id, is_strong

ANSWER = [Piece(PieceKind.ANSWER, "4")]
STRONG = "chatcmpl-5d41402abc4b2a76b9719d911017c592"


@pytest.mark.parametrize(
    "response_id",
    [
        STRONG,
        "msg_01XFDUDYJgAACzvnptvVoYEL",
        "msg_bdrk_01XFDUDYJgAACzvnptvVoYEL",
        "resp_68af4030baa48193b0b43b4c2a176a1a0e6967589f080e77",
        "gen-1793700000-kJ8aaf3HOq2Xz7IPqb2z",
        "kJ8aaf3HOq2Xz7IPqb2z0Qk",
        "0f3e8a52-9c1d-4b7e-8a21-5f6c7d8e9a0b",
    ],
)
def test_long_random_forms_are_strong(response_id: str) -> None:
    assert is_strong(response_id)


@pytest.mark.parametrize(
    "response_id",
    ["chatcmpl-123", "call_0", "resp_1", "msg_01a", "chatcmpl-REDACTED_1", "", "chatcmpl-xxxxxxxxxxxxxxxxxxxxxxxx",
     "00000000-0000-0000-0000-000000000000", "a-conversation-of-ours"],
)  # fmt: skip
def test_counters_and_placeholders_are_weak(response_id: str) -> None:
    assert not is_strong(response_id)


def test_a_strong_id_alone_is_the_identity() -> None:
    assert call_id(STRONG, {"a": 1}, 1, ANSWER) == call_id(STRONG, None, 2, [])


def test_a_weak_id_is_not_enough() -> None:
    one = call_id("chatcmpl-123", {"a": 1}, 1, ANSWER)
    assert one == call_id("chatcmpl-123", {"a": 1}, 1, [Piece(PieceKind.ANSWER, "", part=1), *ANSWER])
    others = [
        call_id("chatcmpl-124", {"a": 1}, 1, ANSWER),
        call_id("chatcmpl-123", {"a": 2}, 1, ANSWER),
        call_id("chatcmpl-123", {"a": 1}, 2, ANSWER),
        call_id("chatcmpl-123", {"a": 1}, 1, [Piece(PieceKind.THINKING, "4")]),
    ]
    assert len({one, *others}) == 5


def test_the_order_of_a_requests_keys_is_no_matter() -> None:
    assert call_id(None, {"a": 1, "b": 2}, 1, ANSWER) == call_id(None, {"b": 2, "a": 1}, 1, ANSWER)


def test_an_answer_from_a_cache_is_another_call_than_the_one_that_was_paid_for() -> None:
    assert call_id(STRONG, None, 1, ANSWER) != call_id(STRONG, None, 1, ANSWER, from_cache=True)
