"""``thinkledger prices``: put a dated price table in force. Calls stay as they are; their costs are views over it."""

from pathlib import Path
from typing import NamedTuple

import click
import orjson
from rich.console import Console
from rich.table import Table

from pipelines import query
from pipelines.options import lake_option
from pipelines.wrong_use import WrongUseError
from schemas.prices import Basis, overrides
from transforms.contract_prices import ContractError, lay_over, read_contract
from transforms.lake import Lake, NotALakeError
from transforms.lock import LakeLockedError
from transforms.object_pointer import StoreError
from transforms.prices import content_hash, list_prices, package_version, with_keys

_MODELS = """
SELECT provider, billed_by, model, string_agg(DISTINCT rule, ', ' ORDER BY rule) AS rule, bool_or(price_key IS NOT NULL)
    AS priced
FROM model_map
GROUP BY ALL
ORDER BY ALL
"""


class Written(NamedTuple):
    """What was put in force, and how many of the lake's models it prices."""

    version: str
    rows: int
    contract_rows: int
    overridden_rows: int
    models: int
    priced: int
    unpriced: list[dict[str, str | None]]


@click.command(name="prices")
@lake_option
@click.option(
    "--from",
    "contract",
    type=click.Path(dir_okay=False),
    metavar="FILE.csv",
    help="Contract prices, which count above the list's.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(lake: str, contract: str | None, as_json: bool) -> None:  # noqa: FBT001 - click passes by name
    """Write the price table of the installed genai-prices package into the lake, and match the lake's models to it.

    FILE.csv has a line for each contract rate, in US dollars per million tokens: provider (who bills), model, input,
    output and, where they apply, tier, valid_from, valid_to (exclusive), over_input_tokens, cached_input, cache_write,
    cache_write_1h and reasoning. Prices are in force until the next 'thinkledger prices'; no call file changes.
    """
    written = run(lake, Path(contract) if contract else None)
    if as_json:
        click.echo(orjson.dumps(written._asdict()))
    else:
        print_written(written, Console())


def run(lake: Path | str, contract: Path | None = None) -> Written:
    """Put prices in force.

    Raises:
        WrongUseError: the contract says no prices, or the lake cannot be written now. Nothing changed.
    """
    try:
        listed, version = list_prices(), package_version()
        own = lay_over(read_contract(contract), listed) if contract else []
        if contract:
            version += f" and {contract.name}"
        prices = with_keys([*listed, *own])
        version += f", overrides {overrides().version}, sha256 {content_hash(prices)}"
        opened = Lake.open(lake)
        context = opened.begin_run(owner="thinkledger prices")
    except (ContractError, NotALakeError, LakeLockedError, StoreError, OSError) as error:
        raise WrongUseError(str(error)) from error
    try:
        opened.commit_prices(context, prices, version)
    except BaseException:
        opened.abort(context)
        raise
    models = query.ask(str(lake), _MODELS, {}).to_pylist()
    return Written(
        version=version,
        rows=len(prices),
        contract_rows=sum(price.basis is Basis.CONTRACT for price in prices),
        overridden_rows=sum(price.overridden for price in prices),
        models=len(models),
        priced=sum(model["priced"] for model in models),
        unpriced=[{key: model[key] for key in _MODEL} for model in models if not model["priced"]],
    )


_MODEL = ("provider", "billed_by", "model", "rule")


def print_written(written: Written, console: Console) -> None:
    """Print what is in force now, and which models have no price."""
    console.print(f"prices in force: {written.version}", highlight=False)
    console.print(
        f"{written.rows:,} rows, {written.contract_rows:,} of the contract, {written.overridden_rows:,} from published "
        f"discounts that the package does not know; {written.priced:,} of the lake's {written.models:,} models are "
        f"priced, {len(written.unpriced):,} are not",
        highlight=False,
    )
    if written.unpriced:
        table = Table(title="without a price: what they cost is not known", title_justify="left", box=None)
        for name in _MODEL:
            table.add_column(name.replace("_", " "), overflow="fold")
        for model in written.unpriced:
            table.add_row(*(model[name] or "·" for name in _MODEL))
        console.print(table)
