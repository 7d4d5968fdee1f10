"""GET /: a page to try the served models. One document without other files, so that it works offline."""

import base64
import hashlib
from functools import cache
from importlib.resources import files

from fastapi import APIRouter
from fastapi.responses import Response

router = APIRouter()


@router.get("/", include_in_schema=False)
async def playground() -> Response:
    page, headers = document()
    return Response(page, media_type="text/html; charset=utf-8", headers=headers)


@cache
def document() -> tuple[str, dict[str, str]]:
    """The page with its style and script inside, and headers that forbid everything else."""
    folder = files("niwaki.serve") / "playground"
    page = (folder / "page.html").read_text(encoding="utf-8")
    digests = {}
    for name in ("page.css", "page.js"):
        content = (folder / name).read_text(encoding="utf-8")
        digests[name] = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        page = page.replace(f"/* {name} */", content)
    policy = (
        f"default-src 'none'; script-src 'sha256-{digests['page.js']}'; style-src 'sha256-{digests['page.css']}'; "
        "connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
    return page, {
        "content-security-policy": policy,
        "x-content-type-options": "nosniff",
        "referrer-policy": "no-referrer",
    }
