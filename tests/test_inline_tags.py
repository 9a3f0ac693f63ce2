"""Inline tags: each policy at the level of the function, the registry of delimiters, and what no split may do."""

import re
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from schemas.delimiters import Pair, Registry, delimiters_for, registry
from schemas.vocabulary import PieceKind, SplitRule, TagPolicy, ThinkingSource
from tests.conftest import SHARED
from transforms.inline_tags import Split, split

TAG_CASES = SHARED / "cases" / "tags.jsonl"


def cut(
    text: str,
    policy: TagPolicy = TagPolicy.LEADING,
    *,
    model: str | None = "deepseek-r1",
    native: str | None = None,
    failed: bool = False,
    signed: bool = False,
) -> Split | None:
    return split(text, policy=policy, model=model, native=native, failed=failed, signed=signed)


def joined(found: Split | None, kind: PieceKind) -> str | None:
    """All parts of a kind as the call's column has them."""
    texts = [part.text for part in found.parts if part.kind is kind] if found else []
    return "\n\n".join(texts) or None


def thinking(found: Split | None) -> str | None:
    return joined(found, PieceKind.THINKING)


def answer(found: Split | None) -> str | None:
    return joined(found, PieceKind.ANSWER)


def outline(found: Split | None) -> list[tuple[str, str]]:
    assert found is not None
    return [(part.kind.value, part.text) for part in found.parts]


def shared_cases() -> list[dict[str, Any]]:
    return [orjson.loads(line) for line in TAG_CASES.read_bytes().splitlines()] if TAG_CASES.is_file() else []


@pytest.mark.skipif(not TAG_CASES.is_file(), reason=f"the shared cases are not at {TAG_CASES}")
@pytest.mark.parametrize("case", shared_cases(), ids=lambda case: case["id"])
def test_shared_case(case: dict[str, Any]) -> None:
    [line], [expect] = case["lines"], case["expect"]
    text = line["response"]["choices"][0]["message"]["content"]
    found = cut(text, model=line["response"]["model"])
    assert thinking(found) == expect["thinking"]
    assert (answer(found) if found else text) == expect["answer"]
    if "split_rule" in expect:
        assert found is not None
        assert found.rule == expect["split_rule"]


# --- leading: the start of the text -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "rule", "thought", "said"),
    [
        ("<think>a then b</think>\nThe answer is 42.", SplitRule.LEADING_PAIR, "a then b", "The answer is 42."),
        ("a then b</think>\nThe answer is 42.", SplitRule.MISSING_OPEN, "a then b", "The answer is 42."),
        ("<think>a then b", SplitRule.UNCLOSED, "a then b", None),
    ],
)
def test_deepseek_r1(text: str, rule: SplitRule, thought: str, said: str | None) -> None:
    found = cut(text)
    assert found is not None
    assert (found.rule, found.source) == (rule, ThinkingSource.TAG)
    assert (thinking(found), answer(found)) == (thought, said)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "The answer is 42.",
        "Models print a <think> tag before they answer.",
        "First <think>a</think> then.",
        "Write `</think>` to close.",
        "Use ``</think>`` to close, and `this` too.",
        "Use this:\n```\n<think>x</think>\n```\ndone",
        "~~~xml\n</think>\n~~~\ndone</think>",
        "An open fence runs to the end:\n```\na</think>b",
        "line\n<think>b</think>\nrest",
        '<div class="think">x</div>',
        'He gave <reasoning type="short">x</reasoning>.',
        "detailed thinking on",
    ],
)
def test_text_stays_as_it_is(text: str) -> None:
    assert cut(text) is None


def test_a_failed_call_is_split_like_any_other() -> None:
    assert thinking(cut("<think>a</think>b", failed=True)) == "a"


def test_the_first_closing_tag_ends_the_trace_even_where_pairs_nest() -> None:
    assert outline(cut("<think>a <think>b</think> c</think>ans")) == [
        ("thinking", "a <think>b"),
        ("answer", "c</think>ans"),
    ]


@pytest.mark.parametrize("closing", ["</think >", "</THINK>", "</Think\n>", "</think\t>"])
def test_closing_tags_may_hold_white_space_and_any_case(closing: str) -> None:
    assert outline(cut(f"<think>a{closing}b")) == [("thinking", "a"), ("answer", "b")]
    assert outline(cut(f"a{closing}b")) == [("thinking", "a"), ("answer", "b")]


def test_a_stray_closing_tag_ahead_of_the_answer_is_removed() -> None:
    found = cut("</mm:think>\n\nans", model="MiniMax-M3")
    assert found is not None
    assert (found.rule, outline(found)) == (SplitRule.MISSING_OPEN, [("answer", "ans")])


@pytest.mark.parametrize(
    "model",
    ["gpt-4o", "openai/gpt-5.5", "o3-mini", "chatgpt-4o-latest", "claude-opus-4-8", "us.anthropic.claude-3-haiku"],
)
def test_quiet_families_keep_a_lone_closing_tag(model: str) -> None:
    assert cut("End the block with </think> and go on.", model=model) is None
    assert thinking(cut("<thinking>a</thinking>b", model=model)) == "a"


@pytest.mark.parametrize(
    "model", [None, "", "gpt-oss-120b", "ft:gpt-4o:acme", "qwen3-14b-claude-4.5-distill", "acme/gpt-5-distill-qwen3-4b"]
)
def test_other_models_may_have_skipped_the_opening_tag(model: str | None) -> None:
    assert thinking(cut("a</think>b", model=model)) == "a"


def test_prefilled_claude_lacks_the_opening_tag() -> None:
    assert outline(cut("a</thinking>b", model="claude-3-opus")) == [("thinking", "a"), ("answer", "b")]


# --- leading: further blocks and white space --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        (
            "<think>a</think>x\n<think>b</think>y",
            [("thinking", "a"), ("answer", "x"), ("thinking", "b"), ("answer", "y")],
        ),
        ("a</think>x\n  <think>b</think>y", [("thinking", "a"), ("answer", "x"), ("thinking", "b"), ("answer", "y")]),
        ("<think>a</think>\n<think>b</think>\nx", [("thinking", "a"), ("thinking", "b"), ("answer", "x")]),
        ("<think>a</think> <think>b</think>x", [("thinking", "a"), ("thinking", "b"), ("answer", "x")]),
        ("<think>a</think>x <think>b</think>y", [("thinking", "a"), ("answer", "x <think>b</think>y")]),
        ("<think>a</think>x\n<think>b", [("thinking", "a"), ("answer", "x\n<think>b")]),
        ("<think>a</think>x\n    <think>b</think>", [("thinking", "a"), ("answer", "x\n    <think>b</think>")]),
        (
            "<think>a</think>x\n```\n<think>b</think>\n```\n<think>c</think>y",
            [("thinking", "a"), ("answer", "x\n```\n<think>b</think>\n```"), ("thinking", "c"), ("answer", "y")],
        ),
        (
            "<think>```</think>x\n<think>b</think>y",
            [("thinking", "```"), ("answer", "x"), ("thinking", "b"), ("answer", "y")],
        ),
        ("<think>a</think>x\n<reason>b</reason>y", [("thinking", "a"), ("answer", "x\n<reason>b</reason>y")]),
    ],
)
def test_further_blocks(text: str, parts: list[tuple[str, str]]) -> None:
    assert outline(cut(text)) == parts


def test_touching_blocks_are_one_text_that_keeps_its_inner_white_space() -> None:
    found = cut(
        "<reasoning> User asks</reasoning><reasoning> for Latin.\n</reasoning>Salve", model="openai.gpt-oss-20b-1:0"
    )
    assert outline(found) == [("thinking", "User asks for Latin."), ("answer", "Salve")]


@pytest.mark.parametrize(
    ("behind", "said"),
    [
        ("\ndef f():\n    return  1\n", "def f():\n    return  1\n"),
        ("  \n\n    indented\n", "    indented\n"),
        ("   same line", "same line"),
        ("\r\n\r\nans", "ans"),
        ("\n \t\n", None),
        ("", None),
    ],
)
def test_only_white_space_around_the_block_is_trimmed(behind: str, said: str | None) -> None:
    found = cut(f"<think>\n\n a\n\n b </think>{behind}")
    assert thinking(found) == "a\n\n b"
    assert answer(found) == said


def test_an_empty_block_is_no_thinking() -> None:
    found = cut("<think>\n\n</think>\n\nans")
    assert found is not None
    assert (found.rule, outline(found)) == (SplitRule.LEADING_PAIR, [("answer", "ans")])


# --- leading: beside native thinking ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("<think>\na\n</think>b", [("answer", "b")]),
        ("<think>other</think>b", [("thinking", "other"), ("answer", "b")]),
        ("<think></think>b", [("answer", "b")]),
        ("<reasoning>a</reasoning>b\n<reasoning>c</reasoning>", [("answer", "b\n<reasoning>c</reasoning>")]),
        ("<think>a</think>", []),
    ],
)
def test_a_leading_complete_block_is_removed_beside_native_thinking(text: str, parts: list[tuple[str, str]]) -> None:
    assert outline(cut(text, native=" a\n")) == parts


@pytest.mark.parametrize("text", ["Say <think>x</think> please", "a</think>b", "<think>never closed"])
def test_other_tags_are_text_beside_native_thinking(text: str) -> None:
    assert cut(text, native="a") is None
    assert cut(text, TagPolicy.FIRST_CLOSE, native="a") is None


def test_blank_native_thinking_does_not_switch_tag_reading_off() -> None:
    assert thinking(cut("a</think>b", native=" \n")) == "a"


# --- paired_pi --------------------------------------------------------------------------------------------------------

PI = TagPolicy.PAIRED_PI


def test_pi_reads_every_complete_pair_in_source_order() -> None:
    found = cut("Hi. <think>a</think> Then <thinking>b</thinking> end.", PI, model="MiniMax-M2.5")
    assert found is not None
    assert (found.rule, found.source) == (SplitRule.PAIRED_PI, ThinkingSource.TAG)
    assert outline(found) == [
        ("answer", "Hi."),
        ("thinking", "a"),
        ("answer", "Then"),
        ("thinking", "b"),
        ("answer", "end."),
    ]
    assert len({part.part for part in found.parts}) == 5


@pytest.mark.parametrize("text", ["<think>a", "x <think>a", "a</think>b", "no tags"])
def test_pi_leaves_what_is_no_pair(text: str) -> None:
    assert cut(text, PI) is None


def test_pi_leaves_an_unclosed_tag_behind_a_pair() -> None:
    assert outline(cut("<think>a</think>x <think>b", PI)) == [("thinking", "a"), ("answer", "x <think>b")]
    assert outline(cut("<thinking>open <think>a</think>x", PI)) == [
        ("answer", "<thinking>open"),
        ("thinking", "a"),
        ("answer", "x"),
    ]


def test_pi_skips_empty_pairs() -> None:
    assert outline(cut("a <think> </think> b<think>c</think>", PI)) == [
        ("answer", "a"),
        ("answer", "b"),
        ("thinking", "c"),
    ]


@pytest.mark.parametrize("state", [{"native": "n"}, {"failed": True}, {"signed": True}], ids=str)
def test_pi_does_not_read(state: dict[str, Any]) -> None:
    text = "<think>a</think>b"
    assert cut(text, PI, **state) is None
    assert cut(text, PI) is not None


# --- paired_merge (netresearch/t3x-nr-llm ADR-016) --------------------------------------------------------------------

MERGE = TagPolicy.PAIRED_MERGE


def test_merge_reads_inline_beside_native() -> None:
    found = cut("foo<think>a</think>bar\n<THINK>b</THINK>", MERGE, native="n", failed=True)
    assert found is not None
    assert found.rule is SplitRule.PAIRED_MERGE
    assert outline(found) == [("answer", "foo"), ("thinking", "a"), ("answer", "bar"), ("thinking", "b")]


def test_merge_does_not_collapse_spaces() -> None:
    assert answer(cut("<think>a</think>if x:\n    y  =\t1", MERGE)) == "if x:\n    y  =\t1"


@pytest.mark.parametrize("text", ["<think>never closed", "plain", "a</think>b"])
def test_merge_leaves_what_is_no_pair(text: str) -> None:
    assert cut(text, MERGE) is None


# --- first_close ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "rule", "thought", "said"),
    [
        ("<think>a</think>b", SplitRule.FIRST_CLOSE, "a", "b"),
        ("a</think>b</think>c", SplitRule.FIRST_CLOSE, "a", "b</think>c"),
        ("so <think>a</think>b", SplitRule.FIRST_CLOSE, "so a", "b"),
        ("Close with `</think>`.", SplitRule.FIRST_CLOSE, "Close with `", "`."),
        ("<think>a", SplitRule.UNCLOSED, "a", None),
    ],
)
def test_first_close(text: str, rule: SplitRule, thought: str, said: str | None) -> None:
    found = cut(text, TagPolicy.FIRST_CLOSE)
    assert found is not None
    assert (found.rule, thinking(found), answer(found)) == (rule, thought, said)


def test_first_close_leaves_a_text_without_a_trace() -> None:
    assert cut("The answer is 42.", TagPolicy.FIRST_CLOSE) is None


# --- the registry -----------------------------------------------------------------------------------------------------


def spelled(pair: Pair) -> list[tuple[str, str]]:
    """Each spelling of the opening mark with one of the closing mark, as a model writes them."""
    shut = [*pair.close, *[pair.close[-1]] * len(pair.open)]
    return [(opened.replace("*", "6124c78e"), shut[n].replace("*", "6124c78e")) for n, opened in enumerate(pair.open)]


EVERY_PAIR = [
    pytest.param(pair, opened, closed, id=f"{pair.name}:{opened!r}")
    for pair in registry().pairs
    for opened, closed in spelled(pair)
]


@pytest.mark.parametrize(("pair", "opened", "closed"), EVERY_PAIR)
def test_every_pair_of_the_registry(pair: Pair, opened: str, closed: str) -> None:
    model = pair.models or "some-model"
    assert outline(cut(f"{opened}a{closed}b", model=model)) == [("thinking", "a"), ("answer", "b")]
    assert outline(cut(f"{opened}a", model=model)) == [("thinking", "a")]
    alone = cut(f"a{closed}b", model=model)
    assert (alone is not None and alone.rule is SplitRule.MISSING_OPEN) is pair.closes_alone
    for wrapper, end in zip(pair.answer_open, pair.answer_close, strict=False):
        wrapped = f"{opened}a{closed}\n{wrapper}\nb\n{end}\n"
        assert outline(cut(wrapped, model=model)) == [("thinking", "a"), ("answer", "b")]


def test_kimi_k3_pieces_may_have_spaces_between() -> None:
    text = "<|open|> think <|sep|>a<|close|> think <|sep|>\n<|open|> response <|sep|>b<|close|>response<|sep|>"
    assert outline(cut(text, model="kimi-k3")) == [("thinking", "a"), ("answer", "b")]


def test_the_label_of_gemma_is_no_thinking() -> None:
    assert outline(cut("<|channel>thought\na<channel|>b<turn|>", model="gemma-4")) == [
        ("thinking", "a"),
        ("answer", "b"),
    ]
    assert thinking(cut("<|channel>thoughtful<channel|>b", model="gemma-4")) == "thoughtful"


def test_prose_delimiters_are_read_for_their_family_alone() -> None:
    text = "Here's my thought process: a\nHere is my response:\nb"
    assert outline(cut(text, model="ibm/granite-3.2-8b")) == [("thinking", "a"), ("answer", "b")]
    assert cut(text, model="deepseek-r1") is None


def test_wrappers_are_content_for_other_families() -> None:
    assert answer(cut("<think>a</think><answer>b</answer>", model="deepseek-r1")) == "<answer>b</answer>"
    assert answer(cut("<think>\na\n</think>\n<answer>\nb\n</answer>", model="Hunyuan-A13B-Instruct")) == "b"
    assert answer(cut("a\n</think>\n<response>\nb\n</response>", model="ERNIE-4.5-21B-Thinking")) == "b"


def test_minimax_mixes_its_spellings() -> None:
    assert outline(cut("<think>a</mm:think>b", model="MiniMax-M2.5")) == [("thinking", "a"), ("answer", "b")]


@pytest.mark.parametrize(
    "fault",
    [
        {"pairs": [{"name": "x", "open": ["<x>"], "close": ["</x>"], "nedle": "</"}]},
        {"pairs": [{"name": "x", "open": ["<x>"], "close": ["[/x]"]}]},
        {"pairs": [{"name": "x", "open": ["<x>"], "close": ["</x>"]}] * 2},
        {"policies": {"paired_pi": ["nobody"]}},
        {"pairs": [{"name": "x", "open": ["<x>"], "close": ["</x>"], "needle": "x"}]},
    ],
    ids=["unknown field", "needle not in the tag", "name twice", "unknown pair", "needle with letters"],
)
def test_a_faulty_registry_is_refused(fault: dict[str, Any]) -> None:
    sound: dict[str, Any] = {"pairs": [], "quiet_families": [], "harmony_models": "x", "policies": {}}
    assert Registry.model_validate(sound).pairs == ()
    with pytest.raises(ValidationError):
        Registry.model_validate(sound | fault)


# --- what no split may do ---------------------------------------------------------------------------------------------

DELIMITER = re.compile(
    "|".join(
        pattern.pattern for pattern in (delimiters_for(None).opened, *(c.marks for c in delimiters_for(None).lone))
    ),
    re.IGNORECASE,
)
TAGS = ("<think>", "</think>", "</think >", "<THINK>", "[THINK]", "[/THINK]", "◁think▷", "◁/think▷", "</thinking>")
WORDS = ("`", "```\n", "\n", "\n\n", " ", "    ", "<", "</", "a", "b c", "é", "<b>", "</b>", "<thinking>")
PIECES = st.sampled_from(TAGS + WORDS)
TEXTS = st.one_of(st.lists(PIECES, max_size=14).map("".join), st.text(max_size=40))


def bare(text: str) -> str:
    """The characters that are neither white space nor delimiters."""
    return "".join(DELIMITER.sub("", text).split())


@given(TEXTS, st.sampled_from(TagPolicy), st.sampled_from([None, "deepseek-r1", "gpt-4o"]))
def test_splitting_loses_delimiters_and_white_space_alone(text: str, policy: TagPolicy, model: str | None) -> None:
    found = cut(text, policy, model=model)
    if found is not None:
        assert bare("\n".join(part.text for part in found.parts)) == bare(text)
        assert all(part.text.strip() for part in found.parts)


@given(TEXTS)
def test_thinking_and_answer_are_cut_from_the_text_as_they_stand(text: str) -> None:
    found = cut(text)
    for part in found.parts if found else []:
        assert bare(part.text) in bare(text)
        if part.kind is PieceKind.ANSWER:
            assert part.text in text


@given(st.text(alphabet="ab <>/[]`\n|", max_size=60))
def test_a_text_without_tags_stays(text: str) -> None:
    assert all(cut(text, policy) is None for policy in TagPolicy)


@given(TEXTS, st.text(max_size=10))
def test_native_thinking_never_gives_more_blocks(text: str, native: str) -> None:
    alone, beside = cut(text), cut(text, native=native)
    if beside is not None:
        assert alone is not None
        assert len(beside.parts) <= len(alone.parts)
