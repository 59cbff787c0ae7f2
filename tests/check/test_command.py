"""`check FILE...`: what it tells of files alone, in which form, and with which exit code."""

import io
from pathlib import Path

import pytest

from adapter.check.checking import check_alone
from adapter.check.files import read_files
from adapter.check.printing import print_tables
from adapter.cli import main
from tests.check.files import BAD, CLEAN, DOUBTFUL, checked, told, write

DATA = Path(__file__).parents[1] / "rules/data"


class Terminal(io.StringIO):
    """A text file that says it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("text", "flags", "code"),
    [
        (CLEAN, [], 0),
        (CLEAN, ["--strict"], 0),
        (DOUBTFUL, [], 0),
        (DOUBTFUL, ["--strict"], 1),
        (BAD, [], 2),
        (BAD + DOUBTFUL[1:].partition("\n")[2], ["--strict"], 2),
    ],
)
def test_the_exit_code_tells_errors_and_when_strict_warnings(
    tmp_path: Path, text: str, flags: list[str], code: int
) -> None:
    assert main(["check", *flags, *write(tmp_path, rules=text)]) == code


@pytest.mark.parametrize(
    "before", [["check"], ["/adapter", "check"], ["--v=4", "--prometheus-verb", "POST", "check"]]
)
def test_check_is_the_first_word_that_is_no_flag(tmp_path: Path, before: list[str]) -> None:
    assert main([*before, *write(tmp_path, rules=CLEAN)]) == 0


def test_the_flags_of_the_server_may_stand_beside_it(tmp_path: Path) -> None:
    [file] = write(tmp_path, rules=BAD)

    assert main(["check", "/adapter", "--secure-port=6443", f"--config={file}"]) == 2


@pytest.mark.parametrize("argv", [["check"], ["check", "--outptu=json", "x"]])
def test_without_a_file_or_with_a_wrong_flag_nothing_is_checked(
    argv: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(argv) == 2
    assert capsys.readouterr().err.startswith("gpu-metrics-adapter: command line: ")


def test_every_file_is_told_of_with_line_rule_and_cure(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = write(tmp_path, good=CLEAN, bad=BAD)

    main(["check", *files, str(tmp_path / "missing.yaml")])

    out = capsys.readouterr().out
    assert f"{files[0]}: nothing to say" in out
    assert f"{files[1]}: 1 error" in out
    assert "2     1     error  metricsQuery: missing or empty" in out
    assert "-> write one such as <<.Series>>{<<.LabelMatchers>>}" in out
    assert "the rules file cannot be read: No such file or directory" in out


def test_of_a_folder_each_file_is_judged_by_itself(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = write(tmp_path, a=BAD, b=DOUBTFUL)

    document = checked(capsys, str(tmp_path))

    assert document["files"] == files
    assert document["summary"] == {"errors": 1, "warnings": 1, "notes": 0}


def test_a_file_with_errors_is_told_its_warnings_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    document = checked(capsys, *write(tmp_path, rules=BAD + DOUBTFUL.partition("rules:\n")[2]))

    assert document["summary"] == {"errors": 1, "warnings": 1, "notes": 0}


def test_the_walk_throughs_helm_values_are_no_error_and_say_that_they_do_not_aggregate(
    capsys: pytest.CaptureFixture[str],
) -> None:
    document = checked(capsys, str(DATA / "walkthrough-values.yaml"))

    places = [line.partition(": it does not aggregate")[0] for line in told(document)]
    assert places == ["5/1 metricsQuery", "13/2 metricsQuery"]


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (("queue_length", "jobs_total"), "jobs_total is a counter and is read as it stands"),
        (
            ("<<.LabelMatchers>>}", "<<.LabelMatchers>>}[1m]"),
            "with sample values it is not PromQL",
        ),
        (("metricsQuery", "name: {as: a/b%}\n  metricsQuery"), "every name has % and / in it"),
        (("max(<<.", "max(rate(<<."), "with sample values it is not PromQL"),
        ((" by (<<.GroupBy>>)", ""), "the aggregation drops exported_pod, exported_namespace"),
        (
            ('{exported_pod!=""}', '{exported_pod!="",site="a"}'),
            'site="a" stands in seriesQuery only, so this query reads other series as well',
        ),
        (
            ("{overrides: {", "{overrides: {pod: {resource: pod}, "),
            "pod, exported_pod all mean pods",
        ),
    ],
)
def test_doubts_that_the_file_alone_raises(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], change: tuple[str, str], fault: str
) -> None:
    document = checked(capsys, *write(tmp_path, rules=CLEAN.replace(*change)))

    [line] = told(document)
    assert line.partition(": ")[2].startswith(fault)


def test_rules_of_all_sections_are_listed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    external = CLEAN.replace("rules:", "externalRules:").replace("max(", "sum(")

    document = checked(capsys, *write(tmp_path, rules=CLEAN + external))

    listed = [(rule["section"], rule["rule"], rule["line"]) for rule in document["rules"]]
    assert listed == [("rules", 1, 3), ("externalRules", 1, 8)]


@pytest.mark.parametrize(("out", "coloured"), [(io.StringIO(), False), (Terminal(), True)])
def test_colours_are_for_terminals(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, out: io.StringIO, coloured: bool
) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.delenv("NO_COLOR", raising=False)
    [file] = write(tmp_path, rules=BAD)

    print_tables(check_alone(read_files([Path(file)])), out)

    assert ("\x1b[" in out.getvalue()) is coloured


def test_a_prometheus_that_does_not_answer_is_an_error_beside_what_files_tell(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    document = checked(
        capsys, "--prometheus-url=http://127.0.0.1:1", *write(tmp_path, rules=DOUBTFUL)
    )

    assert document["summary"] == {"errors": 1, "warnings": 1, "notes": 0}
    assert document["findings"][-1]["file"] == "Prometheus"
