"""The prediction server: several models behind HTTP, in one queue, computed by a worker process.

    HTTP ──> gate ──> routes ──> jobs ──> queue ──> dispatcher ══ pipe ══> worker ──> engine
             gate.py  routes/    jobs.py  batching.py  dispatcher.py       worker.py

The web process parses requests and never computes; the worker computes and never parses. So the event loop stays
responsive, and a worker that crashes loses only the batch that it was computing.
"""
