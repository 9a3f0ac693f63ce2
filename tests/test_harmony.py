"""Harmony's channels, raw, malformed and with their special tokens dropped, through ``split``."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.vocabulary import SplitRule, TagPolicy, ThinkingSource
from transforms.inline_tags import Split, split

END = "<|end|><|start|>assistant"


def cut(text: str, *, model: str | None = "gpt-oss-20b", native: str | None = None) -> Split | None:
    return split(text, policy=TagPolicy.LEADING, model=model, native=native, failed=False)


def outline(text: str, *, model: str | None = "gpt-oss-20b", native: str | None = None) -> list[tuple[str, str]]:
    found = cut(text, model=model, native=native)
    assert found is not None
    assert (found.rule, found.source) == (SplitRule.CHANNEL, ThinkingSource.CHANNEL)
    return [(part.kind.value, part.text) for part in found.parts]


@pytest.mark.parametrize("model", ["gpt-oss-20b", "openai/gpt-oss-120b", "beam-1", None])
def test_raw_channels_need_no_name(model: str | None) -> None:
    text = f"<|channel|>analysis<|message|>a{END}<|channel|>final<|message|>ans<|return|>"
    assert outline(text, model=model) == [("thinking", "a"), ("answer", "ans")]


def test_preamble_calls_and_thinking_keep_their_order() -> None:
    text = (
        f"<|channel|>analysis<|message|>Need the weather.{END}<|channel|>commentary<|message|>Let me look.{END}"
        '<|channel|>commentary to=functions.get_weather <|constrain|>json<|message|>{"city":"Bonn"}<|call|>'
        f"<|start|>assistant<|channel|>analysis<|message|>It rains.{END}<|channel|>final<|message|>Rain.\n<|return|>"
    )
    assert outline(text) == [
        ("thinking", "Need the weather."),
        ("commentary", "Let me look."),
        ("tool_call", ""),
        ("thinking", "It rains."),
        ("answer", "Rain.\n"),
    ]


def test_messages_are_parts_of_their_own() -> None:
    found = cut(f"<|channel|>analysis<|message|>a{END}<|channel|>analysis<|message|>b<|end|>")
    assert found is not None
    assert [part.part for part in found.parts] == [0, 1]


@pytest.mark.parametrize(
    "text",
    [
        "<|channel|>analysis<|message|>a",
        "<|channel|>analysis<|message|>a<|end|>",
        f"<|channel|>analysis<|message|>a{END}",
    ],
)
def test_a_text_cut_before_the_final_channel_has_no_answer(text: str) -> None:
    assert outline(text) == [("thinking", "a")]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        (
            "analysis<|message|>a<|end|><|start|>assistant<|channel|>final<|message|>b",
            [("thinking", "a"), ("answer", "b")],
        ),
        ("<|channel|>analysis<|channel|>analysis<|message|>a<|end|>", [("thinking", "a")]),
        ("<|channel|>analysis<|message|>a<|channel|>final<|message|>b", [("thinking", "a"), ("answer", "b")]),
        (
            "<|channel|>analysis<|message|>a<|end|>assistant<|channel|>final<|message|>b",
            [("thinking", "a"), ("answer", "b")],
        ),
        (
            "<|channel|>analysis a<|end|><|start|>assistant<|channel|>final b<|return|>",
            [("thinking", "a"), ("answer", "b")],
        ),
        ("<|channel|>final <|constrain|>json<|message|>{}<|return|>", [("answer", "{}")]),
        ("<|start|>assistant<|message|>b<|return|>", [("answer", "b")]),
        ("<|start|>assistant to=functions.f<|channel|>commentary json<|message|>{}<|call|>", [("tool_call", "")]),
        ("<|channel|>commentaryto=functions.f<|message|>{}<|call|>", [("tool_call", "")]),
        ("<|channel|>analysis to=functions.f code<|message|>{}<|call|>", [("tool_call", "")]),
        ("<|channel|>commentary to=f<|message|>{}<|call|>", [("tool_call", "")]),
        ("<|channel|>final<|message|>b<|end|>and c", [("answer", "b"), ("answer", "and c")]),
        ("<|channel|>analysis", []),
    ],
)
def test_malformed_headers(text: str, parts: list[tuple[str, str]]) -> None:
    assert outline(text) == parts


def test_the_servers_own_tools_are_no_calls_for_the_client() -> None:
    text = (
        "<|channel|>analysis to=python code<|message|>1+1<|call|><|start|>python to=assistant<|channel|>analysis"
        f'<|message|>2{END}<|channel|>commentary to=browser.search<|message|>{{"q":"x"}}<|call|>'
        "<|start|>assistant<|channel|>final<|message|>2"
    )
    assert outline(text) == [("thinking", "1+1"), ("answer", "2")]


def test_other_roles_turns_are_not_this_calls() -> None:
    text = "<|channel|>final<|message|>ans<|end|><|start|>user<|message|>and then?<|end|>"
    assert outline(text) == [("answer", "ans")]


@pytest.mark.parametrize(
    ("native", "parts"), [("a", [("answer", "b")]), ("other", [("thinking", "a"), ("answer", "b")])]
)
def test_thinking_that_a_field_holds_too_counts_once(native: str, parts: list[tuple[str, str]]) -> None:
    text = f"<|channel|>analysis<|message|>a{END}<|channel|>final<|message|>b<|return|>"
    assert outline(text, native=native) == parts


# --- special tokens dropped -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", ["gpt-oss-20b", "some-model", None])
def test_stripped_tokens_need_both_markers(model: str | None) -> None:
    assert outline("analysisWe need 2+2.assistantfinalFour", model=model) == [
        ("thinking", "We need 2+2."),
        ("answer", "Four"),
    ]


def test_stripped_calls() -> None:
    text = 'analysisNeed it.assistantcommentary to=functions.f json{"a":1}assistantanalysisDone.assistantfinalOk'
    assert outline(text) == [("thinking", "Need it."), ("tool_call", ""), ("thinking", "Done."), ("answer", "Ok")]
    assert outline('commentary to=functions.get_weather json{"a":1}') == [("tool_call", "")]
    assert cut('commentary to=functions.get_weather json{"a":1}', model="deepseek-r1") is None


def test_behind_the_final_marker_all_is_answer() -> None:
    assert outline("analysisx assistantfinaly assistantfinal z") == [
        ("thinking", "x"),
        ("answer", "y assistantfinal z"),
    ]


@pytest.mark.parametrize("model", ["gpt-oss-20b", "deepseek-r1", None])
@pytest.mark.parametrize(
    "text",
    [
        "analysis of the data shows growth.",
        "Analysis: fine. assistantfinal",
        "analysis ends where `assistantfinal` stands.",
        "final",
        "commentary on the game",
        "The token `<|channel|>` opens a channel: <|channel|>analysis<|message|>.",
    ],
)
def test_honest_answers_stay(text: str, model: str | None) -> None:
    assert cut(text, model=model) is None


@pytest.mark.parametrize(
    "text",
    [
        "analysisWe need 2+2. It is",
        f"We need 2+2.{END}<|channel|>final<|message|>Four<|return|>",
    ],
    ids=["no final marker", "the first header is lost"],
)
def test_unsplittable(text: str) -> None:
    found = cut(text)
    assert found is not None
    assert found.rule is SplitRule.UNSPLITTABLE
    assert [(part.kind.value, part.text) for part in found.parts] == [("answer", text)]
    assert cut(text, model="deepseek-r1") is None


TOKENS = ("<|start|>", "<|channel|>", "<|message|>", "<|end|>", "<|call|>", "<|return|>", "<|constrain|>")
WORDS = ("assistant", "analysis", "commentary", "final", " to=functions.f", " to=python", "x", " ", "\n", "json")


@given(st.lists(st.sampled_from(TOKENS + WORDS), max_size=16).map("".join))
def test_no_header_is_too_malformed(text: str) -> None:
    found = cut(text)
    for part in found.parts if found else []:
        assert bool(part.text) is (part.kind.value != "tool_call")
        assert part.text in text
