"""Texts of a stream's events to one text, where it is not said whether each event repeats those before it.

DashScope and Reka send snapshots or pieces under the same keys, and the request's flag may not be logged: the texts
themselves decide (protocols-openai-shaped 2.7).
"""

from itertools import pairwise


def are_snapshots(texts: list[str]) -> bool:
    """Tell whether each text repeats the one before: an empty text behind a full one shows that they are pieces."""
    filled = _from_first_filled(texts)
    return len(filled) > 1 and all(other.startswith(one) for one, other in pairwise(filled))


def joined(texts: list[str], *, snapshots: bool) -> str:
    """The whole text: the last snapshot that is not empty, or all pieces one behind the other."""
    if not snapshots:
        return "".join(texts)
    return next((text for text in reversed(texts) if text), "")


def _from_first_filled(texts: list[str]) -> list[str]:
    first = next((place for place, text in enumerate(texts) if text), len(texts))
    return texts[first:]
