"""Answers a column of a Spark table with a pandas UDF. Every executor opens the model once, from a folder that all can read.

spark-submit examples/spark_udf.py MODEL TABLE.parquet OUT.parquet
"""

import sys
from collections.abc import Callable, Iterator

import pandas as pd

SCHEMA = "label string, probability double"


def answers_of(model: str) -> Callable[[Iterator[pd.Series]], Iterator[pd.DataFrame]]:
    """A function of batches of texts, as Spark calls it in its executors. Missing texts get missing answers."""

    def answers(batches: Iterator[pd.Series]) -> Iterator[pd.DataFrame]:
        import niwaki

        predictor = niwaki.load(model, threads=1)  # Spark runs one task on each core
        for texts in batches:
            given = texts[texts.notna() & (texts.str.strip() != "")]
            found = predictor.predict(given.tolist()) if len(given) else []
            table = pd.DataFrame(
                {"label": [one.label for one in found], "probability": [one.probability for one in found]},
                index=given.index,
            )
            yield table.reindex(texts.index)

    return answers


def main(model: str, source: str, out: str) -> None:
    from pyspark.sql import SparkSession
    from pyspark.sql.functions import pandas_udf

    spark = SparkSession.builder.getOrCreate()
    rows = spark.read.parquet(source)
    rows.withColumn("answer", pandas_udf(answers_of(model), SCHEMA)(rows["text"])).write.parquet(out)


if __name__ == "__main__":
    main(*sys.argv[1:])
