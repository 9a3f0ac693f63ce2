"""Effort: what was asked for in every spelling, and which effort ran."""

import json
from datetime import date, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from schemas.model_profiles import ModelProfile, bare_name, model_profiles, profile_of
from schemas.reading import Asked
from schemas.vocabulary import Effort, EffortChange, EffortSource, ThinkingSwitch
from tests.conftest import SHARED
from transforms.asked import asked_openai_shaped, spelled
from transforms.effort import AppliedEffort, applied, applied_by_fallback, to_effort

OFF, ON, ADAPTIVE = ThinkingSwitch.OFF, ThinkingSwitch.ON, ThinkingSwitch.ADAPTIVE
NOTHING = AppliedEffort(None, None, None)


@pytest.mark.parametrize(
    ("raw", "level"),
    [
        *((level.value, level) for level in Effort),
        ("LOW", Effort.LOW),
        (" High ", Effort.HIGH),
        ("x-high", Effort.XHIGH),
        ("EFFORT_MEDIUM", Effort.MEDIUM),
        ("THINKING_LEVEL_MINIMAL", Effort.MINIMAL),
        ("default", None),
        ("ultra", None),
        ("true", None),
        ("2048", None),
        ("", None),
        (None, None),
    ],
)
def test_to_effort(raw: str | None, level: Effort | None) -> None:
    assert to_effort(raw) is level


@pytest.mark.parametrize(
    ("value", "text"),
    [("High", "High"), (True, "true"), (False, "false"), (0.5, "0.5"), (2048, "2048"), (0, "0")]
    + [(nothing, None) for nothing in (None, "", {}, {"effort": "low"}, ["low"])],
)
def test_spelled(value: object, text: str | None) -> None:
    assert spelled(value) == text


def level(effort: Effort, raw: str | None = None) -> tuple[None, None, Effort, str]:
    return (None, None, effort, raw or effort.value)


SPELLINGS: list[tuple[dict[str, Any], tuple[ThinkingSwitch | None, int | None, Effort | None, str | None]]] = [
    ({"reasoning_effort": "high"}, level(Effort.HIGH)),
    ({"reasoning_effort": "HIGH"}, level(Effort.HIGH, "HIGH")),
    ({"reasoning_effort": "default"}, (None, None, None, "default")),
    ({"reasoning_effort": "ultra"}, (None, None, None, "ultra")),
    ({"reasoning_effort": 0.5}, (None, None, None, "0.5")),
    ({"reasoning_effort": 2048}, (None, None, None, "2048")),
    ({"reasoning_effort": True}, (ON, None, None, "true")),
    ({"reasoning_effort": False}, (OFF, None, None, "false")),
    ({"reasoning_effort": None}, (None, None, None, None)),
    ({"reasoning": {"effort": "xhigh", "summary": "auto"}}, level(Effort.XHIGH)),
    ({"reasoning": {"reasoning_effort": "low"}}, level(Effort.LOW)),
    ({"reasoning": {"max_tokens": 2000}}, (None, 2000, None, None)),
    ({"reasoning": {"enabled": True}}, (ON, None, None, None)),
    ({"reasoning": {"enable": False}}, (OFF, None, None, None)),
    ({"reasoning": {"exclude": True}}, (None, None, None, None)),
    ({"reasoning": {"effort": "high", "enabled": True}}, (ON, None, Effort.HIGH, "high")),
    ({"thinking": {"type": "enabled", "budget_tokens": 2048}}, (ON, 2048, None, None)),
    ({"thinking": {"type": "disabled"}}, (OFF, None, None, None)),
    ({"thinking": {"type": "adaptive"}}, (ADAPTIVE, None, None, None)),
    ({"thinking": {"type": "between_tools"}}, (None, None, None, "between_tools")),
    ({"thinking": {"clear_thinking": False}}, (None, None, None, None)),
    ({"thinking": "high"}, level(Effort.HIGH)),
    ({"thinking": "disabled"}, (OFF, None, None, None)),
    ({"think": False}, (OFF, None, None, None)),
    ({"think": True}, (ON, None, None, None)),
    ({"think": "max"}, level(Effort.MAX)),
    ({"enable_thinking": False}, (OFF, None, None, None)),
    ({"enable_thinking": True, "thinking_budget": 512}, (ON, 512, None, None)),
    ({"thinking_budget": 0}, (OFF, 0, None, None)),
    ({"thinking_budget": -1}, (ADAPTIVE, None, None, None)),
    ({"thinking_budget": "512"}, (None, 512, None, None)),
    ({"thinking_budget": "high"}, (None, None, None, "high")),
    ({"thinking_budget": 10**30}, (None, None, None, str(10**30))),
    ({"thinking_token_budget": 512.0}, (None, 512, None, None)),
    ({"nvext": {"max_thinking_tokens": 64}}, (None, 64, None, None)),
    ({"chat_template_kwargs": {"enable_thinking": False}}, (OFF, None, None, None)),
    ({"chat_template_kwargs": {"thinking": True, "reasoning_budget": 99}}, (ON, 99, None, None)),
    ({"chat_template_args": {"reasoning_effort": "low"}}, level(Effort.LOW)),
    ({"chat_template_kwargs": {"low_effort": True}}, level(Effort.LOW, "low_effort")),
    (
        {"chat_template_kwargs": {"enable_thinking": False}, "reasoning_effort": "high"},
        (OFF, None, Effort.HIGH, "high"),
    ),
    ({"disable_reasoning": True}, (OFF, None, None, None)),
    ({"prompt_mode": "reasoning"}, (ON, None, None, None)),
    ({"output_config": {"effort": "max"}}, level(Effort.MAX)),
    ({"extra_body": {"google": {"thinking_config": {"thinking_level": "LOW"}}}}, level(Effort.LOW, "LOW")),
    ({"extra_body": {"extra_body": {"google": {"thinking_config": {"thinking_budget": 0}}}}}, (OFF, 0, None, None)),
    ({"google": {"thinking_config": {"thinking_budget": -1, "include_thoughts": True}}}, (ADAPTIVE, None, None, None)),
    ({"extra_body": {"enable_thinking": True}}, (ON, None, None, None)),
    ({"parameters": {"enable_thinking": True, "thinking_budget": 100}}, (ON, 100, None, None)),
    ({"reasoning_effort": "high", "think": False}, (OFF, None, Effort.HIGH, "high")),
    ({"reasoning_effort": "default", "output_config": {"effort": "low"}}, level(Effort.LOW)),
    ({"include_reasoning": True, "reasoning_format": "parsed", "verbosity": "high"}, (None, None, None, None)),
    (
        {"reasoning": {"effort": "low"}, "input": [{"type": "configuration_update", "reasoning": {"effort": "high"}}]},
        level(Effort.HIGH),
    ),
    (
        {
            "messages": [
                {"role": "system", "configuration_update": {"reasoning": {"effort": "high"}}},
                {"role": "system", "configuration_update": {"reasoning": {"effort": "low"}}},
                {"role": "user", "content": "q"},
            ]
        },
        level(Effort.LOW),
    ),
    (
        {"reasoning_effort": "low", "input": [{"type": "configuration_update", "tools": []}, "text", None]},
        level(Effort.LOW),
    ),
]


@pytest.mark.parametrize(("request_body", "expected"), SPELLINGS)
def test_every_spelling(
    request_body: dict[str, Any], expected: tuple[ThinkingSwitch | None, int | None, Effort | None, str | None]
) -> None:
    asked = asked_openai_shaped(request_body)
    assert (asked.thinking, asked.budget, asked.effort, asked.effort_raw) == expected


def test_what_else_is_asked() -> None:
    asked = asked_openai_shaped(
        {"model": "gpt-5", "stream": True, "max_completion_tokens": 9, "max_tokens": 8, "service_tier": "flex"}
        | {"user": "u1", "safety_identifier": "s1"}
    )
    assert asked == Asked(model="gpt-5", stream=True, max_output_tokens=9, service_tier="flex", user_id="u1")
    assert asked_openai_shaped({"safety_identifier": "s1", "stream": False}) == Asked(stream=False, user_id="s1")
    assert asked_openai_shaped({"parameters": {"max_tokens": 7}}) == Asked(max_output_tokens=7)
    assert asked_openai_shaped({"model": 3, "stream": "yes", "max_tokens": True, "user": {"id": 1}}) == Asked()


_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(["low", "off", "-1"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["effort", "type", "reasoning", "enabled", "thinking_config", "extra_body", "google"])
            | st.text(max_size=3),
            inner,
            max_size=4,
        )
    ),
    max_leaves=8,
)
_NAMES = ["model", "stream", "input", "messages", "reasoning_effort", "reasoning", "thinking", "think", "extra_body"]
_NAMES += ["chat_template_kwargs", "thinking_budget", "nvext", "google", "parameters", "output_config", "max_tokens"]
_TURN = st.fixed_dictionaries({"role": st.sampled_from(["system", "user", "tool"]), "content": _JSON}) | _JSON


@given(st.dictionaries(st.sampled_from(_NAMES), _JSON, max_size=6))
def test_any_request_is_read(request_body: dict[str, Any]) -> None:
    asked = asked_openai_shaped(request_body)
    assert asked.budget is None or 0 <= asked.budget < 2**63
    assert asked.effort is None or asked.effort_raw is not None
    assert asked.effort_raw != ""


@given(
    st.dictionaries(st.sampled_from(["messages", "input", "instructions"]), st.lists(_TURN, max_size=4) | _JSON),
    st.sampled_from(["qwen3-8b", "gpt-oss-20b", "llama-3.3-nemotron-super-49b-v1.5", "glm-4.5"]),
)
def test_any_prompt_is_read(request_body: dict[str, Any], model: str) -> None:
    assert asked_openai_shaped({"model": model, **request_body}).model == model


def in_prompt(model: str, *, system: str = "", user: str = "Hi.") -> str | None:
    turns = [{"role": "system", "content": system}, {"role": "user", "content": user}]
    return asked_openai_shaped({"model": model, "messages": turns}).effort_raw


class TestProse:
    """Words of the prompt."""

    @pytest.mark.parametrize(
        ("model", "reads"),
        [
            ("Qwen/Qwen3-32B", True),
            ("qwen3:4b", True),
            ("Qwen3-1.7B-Q4_K_M", True),
            ("accounts/fireworks/models/qwen3-30b-a3b", True),
            ("qwen/qwen3-235b-a22b-2507", False),
            ("qwen3-coder-480b", False),
            ("qwen3.5-27b", False),
            ("deepseek/deepseek-r1-0528-qwen3-8b", False),
            ("nvidia/nemotron-nano-9b-v2:free", True),
            ("nvidia/nemotron-3-nano-30b-a3b", False),
            ("gpt-5.5", False),
        ],
    )
    def test_only_the_families_that_read_the_words(self, model: str, *, reads: bool) -> None:
        assert in_prompt(model, user="Is 91 prime? /no_think") == ("/no_think" if reads else None)

    @pytest.mark.parametrize(
        "text", ["see example.org/think", "</think>", "a/think", "/thinking", "/think/aloud", "/no_thinking", "./think"]
    )
    def test_a_word_within_another_is_none(self, text: str) -> None:
        assert in_prompt("qwen3-8b", user=text) is None

    @pytest.mark.parametrize("text", ["/think", "/no_think, no: /think", "Go on.\n/think", "(/think)", "好/think。"])
    def test_the_last_word_counts(self, text: str) -> None:
        assert in_prompt("qwen3-8b", user=text) == "/think"

    def test_of_a_long_text_the_ends_are_looked_at(self) -> None:
        filler = "word " * 5000
        assert in_prompt("qwen3-8b", user=f"/no_think {filler}") == "/no_think"
        assert in_prompt("qwen3-8b", user=f"{filler} /no_think") == "/no_think"
        assert in_prompt("qwen3-8b", user=f"{filler} /no_think {filler}") is None

    def test_words_of_the_system_alone(self) -> None:
        assert in_prompt("gpt-oss-20b", system="Reasoning: low") == "Reasoning: low"
        assert in_prompt("gpt-oss-20b", user="Reasoning: low") is None
        assert in_prompt("gpt-oss-20b", system="Reasoning: lower it") is None

    def test_a_budget_or_an_odd_value_in_a_field_beats_the_prompt(self) -> None:
        turns = [{"role": "user", "content": "/no_think"}]
        request = {"model": "qwen3-8b", "messages": turns}
        assert asked_openai_shaped({**request, "thinking_budget": 512}).effort_raw is None
        assert asked_openai_shaped({**request, "reasoning_effort": "default"}).effort_raw == "default"

    def test_off_in_prose_asks_for_none(self) -> None:
        asked = Asked(thinking=OFF, effort_raw="/no_think")
        assert run(asked, "qwen3-8b", "low") == AppliedEffort(Effort.LOW, EffortSource.RESPONSE, EffortChange.RAISED)


def run(
    asked: Asked, model: str | None, reported: str | None = None, *, is_echo: bool = False, failed: bool = False
) -> AppliedEffort:
    return applied(asked, reported=reported, is_echo=is_echo, model=model, called_at=None, failed=failed)


def wants(effort: Effort) -> Asked:
    return Asked(effort=effort, effort_raw=effort.value)


class TestApplied:
    """Which effort ran, and who says so."""

    def test_nothing_asked_and_nothing_reported(self) -> None:
        assert run(Asked(), "gpt-6-sol") == NOTHING
        assert run(Asked(thinking=ON, budget=2048), "claude-opus-4-8") == NOTHING
        assert run(Asked(effort_raw="default"), "qwen3-32b") == NOTHING

    def test_sent(self) -> None:
        expected = AppliedEffort(Effort.HIGH, EffortSource.REQUEST, EffortChange.SAME)
        assert run(wants(Effort.HIGH), "gpt-5") == expected
        assert run(wants(Effort.HIGH), "nobody-knows-it") == expected
        assert run(wants(Effort.HIGH), None) == expected

    def test_sent_but_not_on_the_scale(self) -> None:
        """DeepSeek V4 maps medium to another level and says nothing of it: no claim that it ran unchanged."""
        assert run(wants(Effort.MEDIUM), "deepseek-v4-flash") == (Effort.MEDIUM, EffortSource.REQUEST, None)

    def test_reported(self) -> None:
        assert run(wants(Effort.NONE), "gpt-6-astra", "low") == (Effort.LOW, EffortSource.RESPONSE, EffortChange.RAISED)
        assert run(wants(Effort.MAX), "gpt-5", "high") == (Effort.HIGH, EffortSource.RESPONSE, EffortChange.LOWERED)
        assert run(wants(Effort.LOW), "gpt-5", "low") == (Effort.LOW, EffortSource.RESPONSE, EffortChange.SAME)
        assert run(Asked(thinking=OFF), "x", "low") == (Effort.LOW, EffortSource.RESPONSE, EffortChange.RAISED)

    def test_an_echo_only_repeats(self) -> None:
        echo = run(wants(Effort.HIGH), "qwen3", "high", is_echo=True)
        assert echo == (Effort.HIGH, EffortSource.RESPONSE_ECHO, EffortChange.SAME)
        own_word = run(Asked(), "qwen3", "medium", is_echo=True)
        assert own_word == (Effort.MEDIUM, EffortSource.RESPONSE, None)
        assert run(wants(Effort.LOW), "qwen3", "medium", is_echo=True).source is EffortSource.RESPONSE

    def test_a_report_outside_the_vocabulary_is_not_replaced_by_the_request(self) -> None:
        assert run(wants(Effort.MAX), "deepseek-v4-pro", "ultra") == NOTHING

    def test_no_scale_no_effort(self) -> None:
        assert run(wants(Effort.HIGH), "o1-mini") == NOTHING
        assert run(wants(Effort.HIGH), "glm-4.7-flash", "high", is_echo=True) == NOTHING
        assert run(Asked(thinking=OFF), "claude-sonnet-4-5") == NOTHING

    def test_failed(self) -> None:
        assert run(wants(Effort.NONE), "gpt-6-astra", "low", failed=True) == NOTHING

    def test_switched_off(self) -> None:
        off = Asked(thinking=OFF)
        assert run(off, "gpt-6-astra") == (Effort.LOW, EffortSource.MODEL_PROFILE, EffortChange.RAISED)
        assert run(off, "gpt-5-nano") == (Effort.MINIMAL, EffortSource.MODEL_PROFILE, EffortChange.RAISED)
        assert run(off, "gpt-5.4") == (Effort.NONE, EffortSource.REQUEST, EffortChange.SAME)
        assert run(off, "nobody-knows-it") == NOTHING
        assert run(off, "gemini-2.5-flash") == NOTHING

    def test_switched_off_where_the_switch_ends_thinking(self) -> None:
        """Claude's and DeepSeek's scales have no none, yet ``thinking: disabled`` stops the thinking."""
        for model in ("claude-opus-4-8", "deepseek-v4-flash"):
            assert run(Asked(thinking=OFF), model) == (Effort.NONE, EffortSource.REQUEST, EffortChange.SAME)
        assert run(Asked(thinking=OFF), "gemini-3.1-pro-preview") == NOTHING

    def test_an_explicit_value_beats_the_switch(self) -> None:
        high = Asked(thinking=OFF, effort=Effort.HIGH, effort_raw="high")
        assert run(high, "gpt-6-sol") == (Effort.HIGH, EffortSource.REQUEST, EffortChange.SAME)
        assert run(Asked(thinking=OFF, effort_raw="default"), "gpt-6-astra") == NOTHING
        assert run(Asked(thinking=OFF, effort_raw="false"), "gpt-6-astra").effort is Effort.LOW


class TestProfiles:
    """A model's profile is found in every host's spelling, and never another model's."""

    @pytest.mark.parametrize(
        ("model", "name"),
        [
            ("gpt-5-nano-2025-08-07", "gpt-5"),
            ("gpt-5.4-mini-2026-03-17", "gpt-5.2"),
            ("gpt-5.2_2025-12-11", "gpt-5.2"),
            ("gpt-5-pro-2025-10-06", "gpt-5-pro"),
            ("gpt-5.3-codex", "gpt-5-codex"),
            ("openai.gpt-oss-20b-1:0", "gpt-oss"),
            ("gpt-oss:120b", "gpt-oss"),
            ("anthropic/claude-opus-4.8", "claude-opus-4-7"),
            ("anthropic/claude-4.6-sonnet-20260217", "claude-opus-4-6"),
            ("us.anthropic.claude-opus-4-5-20251101-v1:0", "claude-opus-4-5"),
            ("claude-opus-5@20261001", "claude-sonnet-5"),
            ("claude-mythos-1", "claude-fable-5"),
            ("accounts/fireworks/models/glm-4p6", "glm-4.5"),
            ("zai-glm-4.7", "glm-4.5"),
            ("z-ai/glm-5.3", "glm-5.3"),
            ("models/gemini-3-flash-preview", "gemini-3-flash"),
            ("google/gemini-3.1-flash-lite-preview:free", "gemini-3.1-flash-lite"),
        ],
    )
    def test_spellings(self, model: str, name: str) -> None:
        profile = profile_of(model, None)
        assert profile is not None
        assert profile.names[0] == name

    @pytest.mark.parametrize("model", ["gpt-5.7", "gpt-5-7-nano", "claude-opus-4-9", "o30", "qwen3-5-9b", ""])
    def test_another_version_is_another_model(self, model: str) -> None:
        assert profile_of(model, None) is None

    def test_a_dated_profile_holds_on_its_days_only(self) -> None:
        last_day = 20_658  # 2026-07-24
        assert profile_of("deepseek-chat", last_day) is not None
        assert profile_of("deepseek-chat", last_day + 1) is None
        assert profile_of("deepseek-chat", None) is None

    @pytest.mark.parametrize("day", ["2026-07-25", "2026-11-30"])
    def test_what_a_host_is_said_to_make_of_a_level_is_not_applied(self, day: str) -> None:
        profile = profile_of("deepseek-v4", None)
        assert profile is not None
        [remap] = [remap for remap in profile.remaps if remap.seen == date.fromisoformat(day)]
        assert remap.levels["medium"] is Effort.HIGH
        called_at = int(datetime.fromisoformat(f"{day}T12:00:00Z").timestamp() * 1_000_000)
        asked = wants(Effort.MEDIUM)
        ran = applied(asked, reported=None, is_echo=False, model="deepseek-v4", called_at=called_at, failed=False)
        assert ran == AppliedEffort(Effort.MEDIUM, EffortSource.REQUEST, None)

    def test_names_are_unique_on_any_day(self) -> None:
        undated = [p for p in model_profiles() if p.valid_from is None and p.valid_to is None]
        names = [name for profile in undated for name in profile.names]
        assert sorted(names) == sorted(set(names))

    @pytest.mark.parametrize(
        "wrong",
        [
            {"names": ["x-1"], "scale": ["high", "low"]},
            {"names": ["x-1"], "scale": ["low"], "default": "high"},
            {"names": ["openai/x-1"]},
            {
                "names": ["x-1"],
                "scale": ["low"],
                "remaps": [{"host": "x", "seen": "2026-07-25", "levels": {"max": "high"}, "source": "x"}],
            },
            {"names": ["x-1"], "scael": ["low"]},
        ],
    )
    def test_a_wrong_profile_is_refused(self, wrong: dict[str, Any]) -> None:
        with pytest.raises(ValidationError):
            ModelProfile.model_validate(wrong | {"source": "test"})

    @given(st.text(max_size=40))
    def test_any_name_is_read(self, model: str) -> None:
        assert bare_name(bare_name(model)) is not None
        profile_of(model, 20_000)


class TestFallback:
    """What a fallback ran."""

    def test_is_compared_with_what_was_asked(self) -> None:
        ran = run(wants(Effort.LOW), "claude-opus-4-8")
        assert applied_by_fallback(ran, wants(Effort.MAX)).change is EffortChange.LOWERED
        assert applied_by_fallback(ran, Asked()) == AppliedEffort(Effort.LOW, EffortSource.REQUEST, None)

    def test_a_level_that_it_lacks_is_not_sent(self) -> None:
        asked = wants(Effort.XHIGH)
        assert applied_by_fallback(run(asked, "claude-opus-4-6"), asked) == NOTHING


def _shared(name: str) -> list[dict[str, Any]]:
    path = SHARED / "cases" / name
    cases = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    if not cases:
        pytest.skip("no shared/cases beside the repository")
    return [case for case in cases if "contents" not in case["lines"][0]["request"]]


@pytest.mark.parametrize("name", ["effort.jsonl", "failures.jsonl"])
def test_shared_cases(name: str) -> None:
    for case in _shared(name):
        [exchange], [expected] = case["lines"], case["expect"]
        asked = asked_openai_shaped(exchange["request"])
        response = exchange["response"]
        ran = applied(
            asked,
            reported=response.get("reasoning", {}).get("effort"),
            is_echo=False,
            model=response.get("model") or asked.model,
            called_at=None,
            failed="error" in response,
        )
        came_out = {
            "thinking_requested": asked.thinking,
            "thinking_budget_requested": asked.budget,
            "effort_requested": asked.effort,
            "effort_applied": ran.effort,
            "effort_applied_source": ran.source,
            "effort_change": ran.change,
        }
        named = {column: value for column, value in expected.items() if column in came_out}
        assert came_out | named == came_out, case["id"]
