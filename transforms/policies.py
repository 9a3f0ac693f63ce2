"""The policy in force as a file of the lake: written under a new name, known through the pointer only."""

from functools import lru_cache
from pathlib import Path

from schemas.lake import Pointer, RunContext
from schemas.policy import PolicyInForce
from transforms.durable import write_text


def policy_of(lake: Path, pointer: Pointer) -> PolicyInForce | None:
    """The policy in force; null where there is none."""
    return _read(lake / pointer.retention) if pointer.retention else None


@lru_cache(maxsize=8)
def _read(path: Path) -> PolicyInForce:
    """A file never changes once it has its name, and every partition asks for it."""
    return PolicyInForce.model_validate_json(path.read_bytes())


def write_policy(run: RunContext, policy: PolicyInForce) -> str:
    """Write a policy under a new name; gives it, relative to the lake."""
    path = f"retention/policy-{run.generation:06d}-{run.token}.json"
    (run.lake / path).parent.mkdir(exist_ok=True)
    write_text(run.lake / path, policy.model_dump_json(indent=1, exclude_unset=True))
    return path
