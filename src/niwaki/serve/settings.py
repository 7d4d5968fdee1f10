"""The settings of a server, each with its limits. The command line and Python give the same ones."""

from niwaki.core.settings import Settings, setting


class ServeSettings(Settings):
    """How a server listens, batches and rejects."""

    host: str = setting("127.0.0.1", "address to listen on; 0.0.0.0 for all")
    port: int = setting(8000, "port to listen on; 0 chooses a free one", ge=0, le=65535)
    engine: str = setting("auto", "engine of all models")
    threads: int = setting(0, "threads of the worker; 0: all cores", ge=0, le=1024)
    cache_bytes: int = setting(256 << 20, "encoder outputs kept in memory for the heads of a folder", ge=0, le=1 << 40)
    timeout_seconds: float = setting(10.0, "deadline of a request that states none", gt=0, le=600)
    queue_seconds: float = setting(1.0, "work that may wait, in seconds; more is answered with 429", gt=0, le=600)
    queue_requests: int = setting(4096, "requests that may wait", ge=1, le=1_000_000)
    batch_seconds: float = setting(0.1, "time that a batch may take, from the measured speed", gt=0, le=60)
    batch_tokens: int = setting(16384, "tokens of a batch at most", ge=1, le=1 << 24)
    max_body_bytes: int = setting(1 << 20, "size of a request's body", ge=1024, le=1 << 30)
    max_texts: int = setting(1024, "texts in a request", ge=1, le=1_000_000)
    max_characters: int = setting(100_000, "characters of a text", ge=1, le=10_000_000)
    body_seconds: float = setting(10.0, "time in which headers and body of a request must arrive", gt=0, le=600)
    drain_seconds: float = setting(30.0, "time for open requests after SIGTERM", ge=0, le=600)
    goodbye_seconds: float = setting(
        0.5, "time after SIGTERM in which new requests are still accepted, so that load balancers notice", ge=0, le=600
    )
    restart_seconds: float = setting(10.0, "a worker that is stuck for so long is replaced", gt=0, le=3600)
    api_keys: list[str] = setting([], "keys of which a request must give one; none: everybody may ask")
