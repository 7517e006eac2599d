"""`ceibo ask`: hands out what to measure next."""

from ceibo.cli.common import AsJson, File, Fixed, New, Storage, StudyName, where_of
from ceibo.cli.handed import Count, Shared, print_handed
from ceibo.cli.opening import begin_if_new
from ceibo.cli.source import load
from ceibo.cli.words import read_words


def ask(  # noqa: PLR0913 - one parameter per option of the command
    file: File,
    count: Count = 1,
    fixed: Fixed = None,
    shared: Shared = None,
    new: New = False,
    study_name: StudyName = None,
    storage: Storage = None,
    json: AsJson = False,
) -> None:
    """Hand out the next trial to measure; it stays pending until told, failed or released."""
    loaded = load(file, study_name)
    held = read_words(fixed or [], loaded.space, "--fixed")
    trials = begin_if_new(loaded, storage, new).ask(count, fixed=held, shared=shared)
    print_handed(loaded, [file, *where_of(study_name, storage)], trials, json)
