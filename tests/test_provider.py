"""Whose model it is, and who sends the bill."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.model_profiles import bare_name
from schemas.providers import Providers, providers, vendor_of_model
from transforms.provider import Billing, provider_of

OPENAI_URL = "https://api.openai.com/v1/chat/completions"


@pytest.mark.parametrize(
    ("model", "vendor"),
    [
        ("claude-opus-4-8", "anthropic"),
        ("us.anthropic.claude-haiku-4-5-20251001-v1:0", "anthropic"),
        ("arn:aws:bedrock:us-east-1:0:inference-profile/us.anthropic.claude-sonnet-4-6", "anthropic"),
        ("databricks-claude-3-7-sonnet", "anthropic"),
        ("openai.gpt-oss-120b-1:0", "openai"),
        ("openai/gpt-oss-20b", "openai"),
        ("o4-mini-2025-04-16", "openai"),
        ("ft:gpt-4o-mini-2024-07-18:team::id", "openai"),
        ("gpt-35-turbo", "openai"),
        ("gpt-neox-20b", "eleutherai"),
        ("publishers/google/models/gemini-2.5-flash", "google"),
        ("gemma3:1b", "google"),
        ("deepseek-r1-distill-llama-70b", "deepseek"),
        ("qwen2.5:14b", "alibaba"),
        ("/models/Qwen3-8B-Q4_K_M.gguf", "alibaba"),
        ("llama3.2:3b-instruct-fp16", "meta"),
        ("@cf/meta/llama-3.3-70b-instruct-fp8-fast", "meta"),
        ("meta-llama/Meta-Llama-3.1-8B-Instruct-Turbo", "meta"),
        ("llama-3.1-sonar-small-128k-online", "perplexity"),
        ("nvidia/llama-3.1-nemotron-70b-instruct", "nvidia"),
        ("x-ai/grok-4.1-fast", "xai"),
        ("open-mistral-nemo", "mistral"),
        ("zai-org/GLM-5.2", "zai"),
        ("zai-glm-4.7", "zai"),
        ("moonshotai/Kimi-K2-Instruct-0905:groq", "moonshot"),
        ("stability-ai/stable-diffusion", "stability"),
        ("amazon.nova-lite-v1:0", "amazon"),
        ("openrouter/auto", None),
        ("my-deployment", None),
        ("", None),
    ],
)
def test_vendor_of_model(model: str, vendor: str | None) -> None:
    assert vendor_of_model(model) == vendor


@pytest.mark.parametrize(
    ("model", "url", "expected"),
    [
        ("gpt-5", OPENAI_URL, ("openai", None)),
        ("gpt-5", "https://unit.openai.azure.com/openai/deployments/x/chat/completions?api-version=1", "azure"),
        ("grok-4", "https://unit.services.ai.azure.com/models/chat/completions", ("xai", "azure")),
        ("claude-opus-5", "https://bedrock-runtime.us-east-1.amazonaws.com/model/x/invoke", ("anthropic", "bedrock")),
        ("openai.gpt-5.5", "https://bedrock-mantle.us-east-2.api.aws/openai/v1/responses", ("openai", "bedrock")),
        ("gemini-3-pro", "https://us-central1-aiplatform.googleapis.com/v1/x:generateContent", ("google", "vertex")),
        ("gemini-3-pro", "https://aiplatform.googleapis.com/v1/x:generateContent", ("google", "vertex")),
        ("gemini-3-pro", "https://generativelanguage.googleapis.com/v1beta/x:generateContent", ("google", None)),
        ("qwen-plus", "https://dashscope-intl.aliyuncs.com/compatible-mode/v1/chat/completions", ("alibaba", None)),
        ("kimi-k2.5", "https://dashscope.aliyuncs.com/compatible-mode/v1/chat/completions", ("moonshot", "alibaba")),
        ("groq/compound", "https://api.groq.com/openai/v1/chat/completions", ("groq", None)),
        ("gpt-oss:120b", "https://ollama.com/api/chat", ("openai", "ollama")),
        ("gpt-oss:120b", "http://localhost:11434/api/chat", ("openai", None)),
        ("qwen3", "http://user:pw@127.0.0.1:8000/v1/chat/completions", ("alibaba", None)),
        ("gpt-5", "https://API.OpenAI.com:443", ("openai", None)),
        ("gpt-5", "/v1/chat/completions", ("openai", None)),
        (None, "https://api.anthropic.com/v1/messages", ("anthropic", None)),
        ("my-model", "https://api.groq.com/openai/v1/chat/completions", ("vendor", "groq")),
        ("my-model", "https://notopenrouter.ai/v1", ("vendor", None)),
    ],
)
def test_by_host(model: str | None, url: str, expected: tuple[str, str | None] | str) -> None:
    if isinstance(expected, str):
        expected = ("openai", expected)
    assert provider_of(model, url=url, stated=None, vendor="vendor", hint=None) == expected


@pytest.mark.parametrize(
    ("stated", "biller"),
    [
        ("azure", "azure"),
        ("AZURE_OPENAI", "azure"),
        ("az.ai.openai", "azure"),
        ("bedrock_converse", "bedrock"),
        ("amazon-bedrock", "bedrock"),
        ("aws.bedrock", "bedrock"),
        ("vertex_ai-anthropic_models", "vertex"),
        ("gcp.vertex_ai", "vertex"),
        ("together_ai", "together"),
        ("vercel-gateway", "vercel"),
        ("OpenRouter", "openrouter"),
        ("openai", None),
        ("custom_openai", None),
        ("ollama", None),
        ("hosted_vllm", None),
        ("self-hosted", None),
        ("", None),
    ],
)
def test_by_stated_name(stated: str, biller: str | None) -> None:
    billing = provider_of("claude-opus-5", url=None, stated=stated, vendor="openai", hint=None)
    assert billing == Billing("anthropic", biller)


def test_a_vendors_name_is_a_shape_and_bills_nothing() -> None:
    """LiteLLM states ``openai`` for every compatible server."""
    local = provider_of("qwen3", url="http://10.0.0.7:8000/v1", stated="openai", vendor="openai", hint=None)
    assert local == Billing("alibaba", None)
    assert provider_of("unit", url=None, stated="gemini", vendor="openai", hint=None) == Billing("google", None)


def test_host_beats_stated_beats_hint() -> None:
    url = "https://openrouter.ai/api/v1/chat/completions"
    assert provider_of("gpt-5", url=url, stated="azure", vendor=None, hint="groq").billed_by == "openrouter"
    assert provider_of("gpt-5", url="http://localhost", stated="azure", vendor=None, hint="groq").billed_by == "azure"
    assert provider_of("gpt-5", url=None, stated="openai", vendor=None, hint="groq").billed_by == "groq"


def test_nothing_known() -> None:
    assert provider_of(None, url=None, stated=None, vendor=None, hint=None) == Billing(None, None)


_TEXT = st.none() | st.text(max_size=30)


@given(_TEXT, _TEXT, _TEXT, _TEXT)
def test_any_text_is_read(model: str | None, url: str | None, stated: str | None, hint: str | None) -> None:
    billing = provider_of(model, url=url, stated=stated, vendor="openai", hint=hint)
    assert billing.provider is not None
    assert billing.billed_by != billing.provider


def test_family_names_are_spelled_as_they_are_looked_for() -> None:
    names = [name for family in providers().families.values() for name in family]
    assert [name for name in names if bare_name(name) != name] == []


def test_the_file_says_each_thing_once() -> None:
    fields = providers().model_dump()
    fields["families"]["openai"] = (*fields["families"]["openai"], "claude")
    with pytest.raises(ValueError, match="said twice: claude"):
        Providers.model_validate(fields)
