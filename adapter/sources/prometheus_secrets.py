"""Keeps credentials out of messages, whoever wrote them."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from urllib.parse import quote

from adapter.errors import SourceError

_SHORTEST = 4
_HIDDEN = "[hidden]"
# httpx goes on with what stands in the URL, which whoever redirects may have filled with secrets.
_REDIRECT = re.compile(r"(Invalid URL in location header).*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Secrets:
    """Texts that no message may show, in each spelling in which they may appear.

    What is shorter than four characters is not looked for: it stands in any text by chance.
    """

    spellings: tuple[str, ...]

    @classmethod
    def of(cls, texts: Iterable[str]) -> "Secrets":
        """Keep `texts` plain, as a URL quotes them and as Python prints them."""
        found = {one for text in texts for one in _spellings(text) if len(one) >= _SHORTEST}
        return cls(tuple(sorted(found, key=len, reverse=True)))

    def hidden(self, text: str) -> str:
        """Give `text` without them."""
        for spelling in self.spellings:
            text = text.replace(spelling, _HIDDEN)
        return _REDIRECT.sub(r"\1", text)

    def without(self, error: SourceError) -> SourceError:
        """Give `error`, or where it or what caused it shows one of them, a copy that does not.

        The copy stands alone, so that a traceback shows none of its causes either.
        """
        if all(self.hidden(text) == text for text in _texts(error)):
            return error
        return type(error)(self.hidden(str(error)))


def _spellings(text: str) -> set[str]:
    return {text, quote(text), quote(text, safe=""), repr(text)[1:-1]}


def _texts(error: BaseException) -> Iterator[str]:
    seen: list[BaseException | None] = [None]
    waiting: list[BaseException | None] = [error]
    while waiting:
        one = waiting.pop()
        if one is None or any(one is other for other in seen):
            continue
        seen.append(one)
        yield str(one)
        waiting += [one.__cause__, one.__context__]
