"""``python -m pipelines``: the same as the command ``thinkledger``."""

from pipelines.cli import main

if __name__ == "__main__":
    main()
