"""Who the provider of a call is, and who sends the bill where that is another (design 2)."""

from typing import NamedTuple

from schemas.providers import biller_named, biller_of_host, vendor_named, vendor_of_host, vendor_of_model


class Billing(NamedTuple):
    """Whose model or API shape it is; who bills, where that is another. Null where nobody knows, or nobody bills."""

    provider: str | None
    billed_by: str | None


def provider_of(
    model: str | None, *, url: str | None, stated: str | None, vendor: str | None, hint: str | None
) -> Billing:
    """Say whose model a call ran on and who bills it.

    The provider is known by the model's family, else by the host that was called, else by the name that the envelope
    states, else it is the protocol's ``vendor``. The biller is the host's, else the one stated, else the one that the
    body itself gives away (``hint``).
    """
    host = _host_of(url) if url else None
    provider = (
        (vendor_of_model(model) if model else None)
        or (vendor_of_host(host) if host else None)
        or (vendor_named(stated) if stated else None)
        or vendor
    )
    biller = (
        (biller_of_host(host) if host else None)
        or (biller_named(stated) if stated else None)
        or (biller_named(hint) if hint else None)
    )
    return Billing(provider, biller if biller != provider else None)


def _host_of(url: str) -> str | None:
    _, _, rest = url.partition("://")
    if not rest:
        return None
    authority = rest.partition("/")[0].partition("?")[0]
    return authority.rpartition("@")[2].partition(":")[0].lower() or None
