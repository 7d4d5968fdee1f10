"""The demo from Python: run, predict, measure. Takes minutes on two cores; a second call reuses the finished run.

python examples/quickstart.py
"""

import sys

import niwaki


def main(folder: str = "runs/rotten_tomatoes", recipe: str = "rotten_tomatoes") -> None:
    run = niwaki.run(recipe, out=folder)
    sys.stdout.write(f"{run!r}\n")

    model = niwaki.load(folder)  # the stage that the report recommends
    texts = ["a film to see twice", "two hours I will not get back"]
    for text, answer in zip(texts, model.predict(texts), strict=True):
        sys.stdout.write(f"{answer}  {text}\n")

    with niwaki.meter() as window:  # energy of a thousand predictions
        model.predict(texts * 500)
    sys.stdout.write(f"{window.reading}\n")


if __name__ == "__main__":
    main()
