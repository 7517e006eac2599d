"""`python -m ceibo` is the command `ceibo`."""

from ceibo.cli import main

if __name__ == "__main__":
    main()
