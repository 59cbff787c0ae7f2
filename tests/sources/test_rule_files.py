"""The files of rules: one or a folder, each judged by itself, read again when they change."""

from pathlib import Path

import pytest

from adapter.errors import InputError
from adapter.sources.rule_files import Reread, RuleFiles

QUEUE = """
rules:
- seriesQuery: queue_length{pod!=""}
  resources: {overrides: {pod: {resource: pod}, namespace: {resource: namespace}}}
  metricsQuery: max(<<.Series>>{<<.LabelMatchers>>}) by (<<.GroupBy>>)
"""
OTHER = QUEUE.replace("queue_length", "other")
BAD = "rules: [{seriesQuery: up}]\n"


def folder(path: Path, **texts: str) -> Path:
    """Write files NAME.yaml."""
    for name, text in texts.items():
        (path / f"{name}.yaml").write_text(text)
    return path


def settled(files: RuleFiles) -> Reread | None:
    """Look until what is new counts: a change is seen once, and then again."""
    assert files.look() is None
    return files.look()


def queries(files: RuleFiles) -> list[str]:
    return [rule.series_query for rule in files.rules.rules]


def test_the_rules_of_a_folder_follow_each_other_by_file_name(tmp_path: Path) -> None:
    files = RuleFiles(folder(tmp_path, b=OTHER, a=QUEUE))

    assert queries(files) == ['queue_length{pod!=""}', 'other{pod!=""}']


def test_hidden_files_folders_and_other_endings_are_not_read(tmp_path: Path) -> None:
    folder(tmp_path, a=QUEUE)
    (tmp_path / ".b.yaml").write_text(BAD)
    (tmp_path / "c.yml").write_text(BAD)
    (tmp_path / "d.yaml").mkdir()

    assert len(RuleFiles(tmp_path).rules.rules) == 1


def test_at_the_start_the_problems_of_every_file_are_told_together(tmp_path: Path) -> None:
    with pytest.raises(InputError) as raised:
        RuleFiles(folder(tmp_path, a=BAD, b=QUEUE, c="rules: 5\n"))

    assert [problem.file for problem in raised.value.problems] == [
        str(tmp_path / name) for name in ("a.yaml", "c.yaml")
    ]


@pytest.mark.parametrize("name", ["missing.yaml", "."])
def test_a_missing_file_and_an_empty_folder_are_problems(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError):
        RuleFiles(tmp_path / name)


def test_without_a_change_there_is_no_news(tmp_path: Path) -> None:
    files = RuleFiles(folder(tmp_path, a=QUEUE))
    (tmp_path / "a.yaml").touch()

    assert [files.look() for _ in range(3)] == [None] * 3


def test_a_change_counts_once_two_looks_saw_the_same(tmp_path: Path) -> None:
    files = RuleFiles(folder(tmp_path, a=QUEUE))
    folder(tmp_path, a=QUEUE + "- half a ru")
    assert files.look() is None
    folder(tmp_path, a=OTHER)
    assert files.look() is None

    news = files.look()

    assert news is not None
    assert (news.changed, news.problems) == (True, ())
    assert queries(files) == ['other{pod!=""}']
    assert files.look() is None


def test_a_bad_file_keeps_its_rules_while_the_others_change(tmp_path: Path) -> None:
    files = RuleFiles(folder(tmp_path, a=QUEUE, b=QUEUE))
    first = files.rules.rules[0]
    folder(tmp_path, a=BAD, b=OTHER)

    news = settled(files)

    assert news is not None
    assert news.changed
    assert [problem.file for problem in news.problems] == [str(tmp_path / "a.yaml")]
    assert files.rules.rules[0] is first
    assert queries(files) == ['queue_length{pod!=""}', 'other{pod!=""}']
    assert files.refused == news.problems


def test_a_file_that_stays_bad_is_told_once(tmp_path: Path) -> None:
    files = RuleFiles(folder(tmp_path, a=QUEUE, b=QUEUE))
    folder(tmp_path, a=BAD)
    settled(files)
    folder(tmp_path, b=OTHER)

    news = settled(files)

    assert news is not None
    assert news.problems == ()
    assert len(files.refused) == 1


def test_a_file_that_is_good_again_is_no_longer_refused(tmp_path: Path) -> None:
    path = folder(tmp_path, a=QUEUE) / "a.yaml"
    files = RuleFiles(path)
    path.write_text(BAD)
    settled(files)
    path.write_text(OTHER)

    settled(files)

    assert files.refused == ()
    assert queries(files) == ['other{pod!=""}']


def test_a_new_file_brings_its_rules_and_one_taken_away_takes_them_along(tmp_path: Path) -> None:
    files = RuleFiles(folder(tmp_path, a=QUEUE))
    folder(tmp_path, b=OTHER)
    (tmp_path / "a.yaml").unlink()

    settled(files)

    assert queries(files) == ['other{pod!=""}']


def test_a_new_file_that_is_bad_brings_nothing(tmp_path: Path) -> None:
    files = RuleFiles(folder(tmp_path, a=QUEUE))
    folder(tmp_path, b=BAD)

    news = settled(files)

    assert news is not None
    assert (news.changed, len(news.problems)) == (False, 1)
    assert queries(files) == ['queue_length{pod!=""}']


def test_a_file_that_is_gone_or_not_text_is_refused_and_its_rules_stay(tmp_path: Path) -> None:
    path = folder(tmp_path, a=QUEUE) / "a.yaml"
    files = RuleFiles(path)
    path.unlink()
    settled(files)
    gone = str(files.refused[0])
    path.write_bytes(b"\xff")
    settled(files)

    assert "cannot be read: No such file" in gone
    assert "cannot be read: 'utf-8' codec" in str(files.refused[0])
    assert queries(files) == ['queue_length{pod!=""}']


def test_a_folder_without_files_is_refused_and_all_rules_stay(tmp_path: Path) -> None:
    files = RuleFiles(folder(tmp_path, a=QUEUE))
    (tmp_path / "a.yaml").unlink()

    news = settled(files)

    assert news is not None
    assert not news.changed
    assert "no file *.yaml is in this folder" in str(files.refused[0])
    assert queries(files) == ['queue_length{pod!=""}']


def test_a_mounted_config_map_is_read_when_its_link_turns(tmp_path: Path) -> None:
    """As the kubelet mounts it: NAME -> ..data/NAME, ..data -> a folder with the contents."""
    for version, text in (("..1", QUEUE), ("..2", OTHER)):
        (tmp_path / version).mkdir()
        (tmp_path / version / "a.yaml").write_text(text)
    (tmp_path / "..data").symlink_to("..1")
    (tmp_path / "a.yaml").symlink_to("..data/a.yaml")
    files = RuleFiles(tmp_path)
    (tmp_path / "..fresh").symlink_to("..2")
    (tmp_path / "..fresh").rename(tmp_path / "..data")

    settled(files)

    assert queries(files) == ['other{pod!=""}']


def test_warnings_are_those_of_the_files_read_anew(tmp_path: Path) -> None:
    doubtful = QUEUE.replace("max(", "sum(").replace(" by (<<.GroupBy>>)", "")
    files = RuleFiles(folder(tmp_path, a=doubtful, b=QUEUE))
    folder(tmp_path, b=doubtful)

    news = settled(files)

    assert news is not None
    assert {warning.file for warning in news.warnings} == {str(tmp_path / "b.yaml")}


def test_another_address_of_prometheus_is_warned_of_once(tmp_path: Path) -> None:
    helm = "prometheus: {url: 'http://HOST'}\nrules: {custom: []}\n"
    moved = (
        "Prometheus's address has changed, and is read at the start only; start the adapter anew,"
        " and it asks the new one"
    )
    path = folder(tmp_path, a=helm.replace("HOST", "old")) / "a.yaml"
    files = RuleFiles(path)
    told: list[list[str]] = []
    for host in ("new", "new", "old"):
        path.write_text(f"# {len(told)}\n" + helm.replace("HOST", host))
        news = settled(files)
        assert news is not None
        told.append([str(warning) for warning in news.warnings])

    assert told == [
        [f"{path}: prometheus: {moved}"],
        [],
        [],
    ]
