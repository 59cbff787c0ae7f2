"""Several files of rules as one."""

from adapter.rules.config import load
from adapter.rules.merging import merged

RULE = '{seriesQuery: up, metricsQuery: "<<.Series>>{<<.LabelMatchers>>}"}'


def helm(host: str) -> str:
    return f"prometheus: {{url: 'http://{host}'}}\nrules: {{custom: [{RULE}]}}\n"


def test_rules_follow_each_other_and_keep_their_numbers_and_files() -> None:
    files = {name: load(f"rules: [{RULE}]", name) for name in ("a", "b")}

    assert [str(rule) for rule in merged(files).rules] == ["a:1: rule 1", "b:1: rule 1"]


def test_the_first_address_counts_and_another_one_is_warned_of() -> None:
    files = {name: load(helm(host), name) for name, host in (("a", "p"), ("b", "q"), ("c", "p"))}

    together = merged(files)

    assert together.prometheus_url == "http://p"
    clashes = [str(one) for one in together.warnings if one.key == "prometheus"]
    assert clashes == [
        "b: prometheus: another address than in a, which is the one asked; give --prometheus-url"
    ]


def test_no_file_has_no_rules() -> None:
    assert merged({}).rules == ()
