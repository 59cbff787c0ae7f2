"""The command: what it says before it serves, and that a word makes it check."""

from pathlib import Path

import pytest

from adapter.cli import main

BAD = "rules:\n- seriesQuery: up\n"


def test_every_problem_is_one_line_on_standard_error_and_the_exit_code_is_two(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.yaml").write_text(BAD)

    code = main(["/adapter", f"--config={tmp_path}"])

    told = capsys.readouterr().err.splitlines()
    assert code == 2
    assert [line.partition(": metricsQuery")[0] for line in told] == [
        f"gpu-metrics-adapter: {tmp_path / name}:2: rule 1" for name in ("a.yaml", "b.yaml")
    ]


@pytest.mark.parametrize(
    ("config", "words"),
    [("missing.yaml", "No such file or directory"), ("", "no file *.yaml is in this folder")],
)
def test_rules_that_are_not_there_are_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], config: str, words: str
) -> None:
    assert main([f"--config={tmp_path / config}"]) == 2
    assert words in capsys.readouterr().err


def test_a_stray_word_does_not_check(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["/adapter", "--no-such-flag"]) == 2
    assert "unknown flag --no-such-flag" in capsys.readouterr().err


def test_the_word_check_checks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.yaml").write_text(BAD)

    assert main(["/adapter", "check", str(tmp_path)]) == 2
    assert "1 error" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("argv", "words"),
    [(["--help"], "gpu-metrics-adapter [flags]"), (["check", "--help"], "check FILE... [flags]")],
)
def test_each_has_its_help(argv: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        main(argv)

    assert left.value.code == 0
    assert words in capsys.readouterr().out
