"""`python -m niwaki` is the program `niwaki`."""

from niwaki.cli import main

if __name__ == "__main__":
    main()
