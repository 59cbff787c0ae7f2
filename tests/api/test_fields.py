"""Field selectors on names and namespaces."""

import pytest

from adapter.api.fields import parse_fields
from adapter.errors import BadRequest
from tests.api.world import ref


@pytest.mark.parametrize(
    ("text", "selected"),
    [
        ("", True),
        (" , ", True),
        ("metadata.name=a", True),
        ("metadata.name==a", True),
        (" metadata.name = a ", True),
        ("metadata.name!=a", False),
        ("metadata.name=b", False),
        ("metadata.name=", False),
        ("metadata.namespace=ml,metadata.name=a", True),
        ("metadata.namespace=dev,metadata.name=a", False),
        ("metadata.namespace!=dev,metadata.name!=b", True),
    ],
)
def test_all_requirements_must_hold(text: str, *, selected: bool) -> None:
    assert parse_fields(text).matches(ref("a", "ml")) is selected


@pytest.mark.parametrize("text", ["a", "status.phase=Running", "metadata.name", "=a", "a=b=c"])
def test_what_is_not_known_is_refused(text: str) -> None:
    with pytest.raises(BadRequest, match="fieldSelector: "):
        parse_fields(text)
