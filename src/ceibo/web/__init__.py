"""The page of a live study in a browser on the same computer: `ceibo serve`.

server      a socket, a link with a token, a process that ends with Ctrl-C
security    who may ask: token, host, origin, sizes; the headers of every answer
app         the addresses of the page
session     the study behind the page: read, written and believed in threads
actions     what a form asks for: tell, correct, void, fail, withdraw, enqueue, ask
entries     what was typed, as measurements and settings
profiler    slices through a setting that follow the hand; pure
maps        two parameters as a map of mean, uncertainty, improvement or chance
parity      what was measured against what the others predict
pages       the page itself; plan, answers, trial_view, shell are its parts
"""

try:
    import starlette  # noqa: F401 - says at once what is missing
    import uvicorn  # noqa: F401 - likewise
except ImportError as error:
    raise ImportError(
        "ceibo serve needs Starlette and uvicorn: pip install 'path/to/the/clone[web]'"
    ) from error
