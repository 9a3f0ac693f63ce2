"""A policy file, read strictly: whatever is not clear is an error that says where it stands."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from schemas.policy import Policy
from schemas.yaml_text import load_yaml


class PolicyError(ValueError):
    """A policy that cannot be used; the text is one line that says where and what."""


def load_policy(path: Path) -> Policy:
    """Read a policy file.

    Raises:
        PolicyError: it is not there, no YAML, or says something that is no policy.
    """
    try:
        text = path.read_text("utf-8")
        _refuse_repeated_keys(text)
        content = load_yaml(text)
        if not content or not isinstance(content, dict):
            raise PolicyError(f"{path}: says no policy; it needs defaults:, rules:, holds: or forget:")
        return Policy.model_validate(content)
    except OSError as error:
        raise PolicyError(f"{path}: {error.strerror}") from None
    except ValidationError as error:
        raise PolicyError(f"{path}: {'; '.join(map(_told, error.errors()))}") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise PolicyError(f"{path}: {' '.join(str(error).split())}") from None


def _told(fault: Mapping[str, Any]) -> str:
    place: Sequence[object] = fault["loc"]
    named = "".join(f"[{part + 1}]" if isinstance(part, int) else f".{part}" for part in place).lstrip(".")
    return f"{named or 'the file'}: {str(fault['msg']).removeprefix('Value error, ')}"


def _refuse_repeated_keys(text: str) -> None:
    """YAML takes the last of two equal keys, without a word."""
    nodes = [yaml.compose(text, Loader=yaml.SafeLoader)]
    while nodes:
        node = nodes.pop()
        if isinstance(node, yaml.SequenceNode):
            nodes += node.value
        elif isinstance(node, yaml.MappingNode):
            seen = set()
            for key, value in node.value:
                if key.value in seen:
                    raise yaml.MarkedYAMLError(problem=f"the key {key.value} comes twice", problem_mark=key.start_mark)
                seen.add(key.value)
                nodes.append(value)
