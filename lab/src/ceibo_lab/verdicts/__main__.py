"""Prints what the records of a folder say."""

import argparse
from pathlib import Path

from ceibo_lab.library import Library
from ceibo_lab.records import read
from ceibo_lab.verdicts import answers, inputs, many, outcomes


def main() -> None:
    options = argparse.ArgumentParser(description="What records say, by the rules of their plans.")
    options.add_argument("folder", type=Path, help="of records")
    library = Library(read(options.parse_args().folder).done)
    kinds = {case.kind for case in library.cases}
    for plan in (outcomes, inputs, many, answers):
        if kinds & set(plan.KINDS):
            for ask in plan.QUESTIONS:
                print(ask(library))


if __name__ == "__main__":
    main()
