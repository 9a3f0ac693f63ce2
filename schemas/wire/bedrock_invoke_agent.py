"""Trace events of Bedrock agents: what is read of them (botocore's model of bedrock-agent-runtime).

A trace's steps (``preProcessingTrace``, ``routingClassifierTrace``, ``orchestrationTrace``, ``postProcessingTrace``, …)
hold the same members. A field that is not here is not read.
"""

from typing import Annotated

from pydantic import ConfigDict
from pydantic.alias_generators import to_camel

from schemas.wire.lenient import Count, OrNull, Text, WireModel


class AgentModel(WireModel):
    """Fields in the API's camel case."""

    model_config = ConfigDict(alias_generator=to_camel)


class Usage(AgentModel):
    """The counts of one invocation of a model."""

    input_tokens: Count = None
    output_tokens: Count = None


class Metadata(AgentModel):
    """What is known of an invocation beside its text."""

    usage: Annotated[Usage | None, OrNull] = None


class TextPart(AgentModel):
    """A text within something else."""

    text: Text = None


class ReasoningContent(AgentModel):
    """The model's own thinking; its text is missing where the model gave none as such."""

    reasoning_text: Annotated[TextPart | None, OrNull] = None


class Rationale(AgentModel):
    """What the agent takes for the model's thinking."""

    rationale: Text = None


class ModelInvocationInput(AgentModel):
    """Which model an invocation runs on."""

    trace_id: Text = None
    foundation_model: Text = None


class ModelInvocationOutput(AgentModel):
    """One answer of a model: this is what is paid for."""

    trace_id: Text = None
    metadata: Annotated[Metadata | None, OrNull] = None
    reasoning_content: Annotated[ReasoningContent | None, OrNull] = None
    parsed_response: Annotated[Rationale | None, OrNull] = None


class Observation(AgentModel):
    """What a step led to."""

    type: Text = None
    final_response: Annotated[TextPart | None, OrNull] = None


class Step(AgentModel):
    """One step of an agent; each event holds one of the members."""

    model_invocation_input: Annotated[ModelInvocationInput | None, OrNull] = None
    model_invocation_output: Annotated[ModelInvocationOutput | None, OrNull] = None
    rationale: Annotated[TextPart | None, OrNull] = None
    observation: Annotated[Observation | None, OrNull] = None


class TraceEvent(AgentModel):
    """One trace event; the collaborator's name says that another agent works for this one."""

    event_time: Text = None
    collaborator_name: Text = None
