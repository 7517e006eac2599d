"""The tests of this folder need the packages of the extra `web`."""

import starlette  # noqa: F401 - without it the folder is left out
import uvicorn  # noqa: F401 - likewise
