"""What a discovery may be about: rules of one sort, and the catalogue of what they offer."""

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol, TypeVar

from adapter.engine.standings import Offering, Ruling, Standing, Standings
from adapter.engine.survey import Survey
from adapter.model.kinds import Kinds


class Published(Protocol):
    """What is offered, immutable, what is withheld, and which rules could not be discovered."""

    @property
    def offers(self) -> Collection[object]:
        """Give every offer."""
        ...

    @property
    def withheld(self) -> Collection[object]:
        """Give every offer that is not served, with the reason."""
        ...

    @property
    def failed(self) -> Collection[object]:
        """Give the rules that failed."""
        ...


Catalogued = TypeVar("Catalogued", bound=Published)
Catalogued_co = TypeVar("Catalogued_co", bound=Published, covariant=True)


class Subject(Protocol[Ruling, Offering, Catalogued_co]):
    """What a discovery is about: what series make of rules of one sort."""

    @property
    def name(self) -> str:
        """Give the API group, under which it is counted."""
        ...

    async def find(
        self, survey: Survey, query: str, rules: Sequence[Ruling], kinds: Kinds
    ) -> Mapping[Ruling, Standing[Offering]]:
        """Give what each of `rules`, whose series query is `query`, offers now.

        Raises a SourceError, or ValueError when `query` is no series selector.
        """
        ...

    def catalogue(self, standings: Standings[Ruling, Offering]) -> Catalogued_co:
        """Give what is offered by rules that stand so."""
        ...

    def doubts(self, standings: Standings[Ruling, Offering], kinds: Kinds) -> list[str]:
        """Give a line for each thing about rules that their author should know."""
        ...

    def reminders(self, standings: Standings[Ruling, Offering], kinds: Kinds) -> list[str]:
        """Give a line for each rule that is off for now: these are told again and again."""
        ...
