"""`ceibo confirm`: hands out a last look, trials that go into the answer."""

from ceibo.cli.common import AsJson, File, Fixed, Storage, StudyName, where_of
from ceibo.cli.handed import Count, Shared, print_handed
from ceibo.cli.opening import open_study
from ceibo.cli.source import load
from ceibo.cli.words import read_words


def confirm(  # noqa: PLR0913 - one parameter per option of the command
    file: File,
    count: Count = 1,
    fixed: Fixed = None,
    shared: Shared = None,
    study_name: StudyName = None,
    storage: Storage = None,
    json: AsJson = False,
) -> None:
    """Hand out a last look: trials that make the answer surer instead of searching on.

    A setting that was measured may come again. `ceibo best` says how close the answer is.
    """
    loaded = load(file, study_name)
    held = read_words(fixed or [], loaded.space, "--fixed")
    trials = open_study(loaded, storage).confirm(count, fixed=held, shared=shared)
    print_handed(loaded, [file, *where_of(study_name, storage)], trials, json)
