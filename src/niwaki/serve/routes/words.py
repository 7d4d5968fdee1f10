"""POST /v1/words: which words of a text an answer depends on. Each word is left out once (`answers/_occlusion.py`)."""

from fastapi import APIRouter, Request
from fastapi.responses import Response
from pydantic import BaseModel, ConfigDict, Field

from niwaki.answers._occlusion import can_be_left_out, changes, without, words_of
from niwaki.serve.app import json_response, serving_of
from niwaki.serve.jobs import ServeError
from niwaki.serve.routes.predict import usage
from niwaki.serve.serving import answer

router = APIRouter()


class WordsBody(BaseModel):
    """A request for the words that an answer depends on."""

    model_config = ConfigDict(extra="forbid")

    input: str | list[str] = Field(description="a text, or a pair of texts as a list of two")
    model: str = Field("", description="name of the model; by default the first one")
    timeout_ms: int | None = Field(None, ge=1, description="time after which the answer is no longer needed")


@router.post("/v1/words")
async def words(request: Request, body: WordsBody) -> Response:
    """Leave out each word of a text in turn, and compare the answers: `changes` says how much each word had supported the answer."""
    serving = serving_of(request)
    model = serving.choose(body.model)
    given: str | tuple[str, ...] = body.input if isinstance(body.input, str) else tuple(body.input)
    every, omitted = words_of(given), can_be_left_out(given)
    if not omitted:
        raise ServeError(422, "invalid_input", "input: give a text of two words or more")
    most = serving.settings.max_texts - 1
    if len(omitted) > most:
        raise ServeError(422, "too_many_words", f"input: give a text of 2 to {most} words (given: {len(omitted)})")
    inputs = [given, *(without(given, word) for word in omitted)]
    plain = [list(one) if isinstance(one, tuple) else one for one in inputs]
    job = await answer(serving, request.receive, model, plain, body.timeout_ms)
    whole, *rest = [dict(found) for found in job.answers if not isinstance(found, str)]
    found = changes(whole, rest)
    if found is None:
        kind = serving.dispatcher.about[model]["kind"]
        raise ServeError(422, "wrong_model", f"model {model!r}: its answers ({kind}) have no single number to compare")
    by_word = dict(zip(omitted, found, strict=True))
    listed = [{"text": word.text, "side": word.side, "change": by_word.get(word)} for word in every]
    return json_response({"model": model, "answer": whole, "words": listed, "usage": usage(job)})
