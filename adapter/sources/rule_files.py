"""The files that hold the rules: one, or each `*.yaml` of a folder, read again while we run.

Contents are compared, not times: a mounted ConfigMap is replaced by turning a link.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from adapter.errors import InputError, Problem
from adapter.rules.config import RulesFile, load
from adapter.rules.merging import merged

_PATTERN = "*.yaml"
_CURE = "mount it there, or leave --config out for the built-in DCGM rules"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reread:
    """What a change of the files came to.

    `rules` are those to serve from now on, `changed` whether they differ from before. `problems`
    and `warnings` are of the files that were read anew.
    """

    rules: RulesFile
    changed: bool
    problems: tuple[Problem, ...] = ()
    warnings: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Content:
    """The texts of the files by name, or why a file, or all of them, cannot be read."""

    texts: Mapping[str, str | Problem] = field(default_factory=dict)
    fault: Problem | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Judged:
    """One file: its rules as they were last good, and what is wrong with it since."""

    text: str | Problem
    rules: RulesFile | None
    problems: tuple[Problem, ...] = ()


class RuleFiles:
    """The rules at `path`, a file or a folder of `*.yaml`, each of which is judged by itself.

    Names that begin with a dot and other endings are not read. The rules of several files follow
    each other in the order of their names. A file that turns bad keeps the rules it had; a file
    of a folder that is taken away takes its rules along.
    """

    def __init__(self, path: Path) -> None:
        """Read all files; raises InputError with every problem of every file."""
        self._path = path
        self._seen = self._content()
        self._fault: Problem | None = self._seen.fault
        self._judged = {name: _judged(name, text) for name, text in self._seen.texts.items()}
        self._taken = self._seen
        if refused := self.refused:
            raise InputError(refused)
        self.rules = self._merged()
        self._url = self.rules.prometheus_url

    @property
    def refused(self) -> tuple[Problem, ...]:
        """Give the problems of the files as they stand now, in the files' order."""
        problems = [problem for one in self._judged.values() for problem in one.problems]
        return (*([self._fault] if self._fault else []), *problems)

    def look(self) -> Reread | None:
        """Read the files; give what a change came to, once two looks in a row saw the same.

        Until then somebody may still be writing.
        """
        before, self._seen = self._seen, self._content()
        if self._seen != before or self._seen == self._taken:
            return None
        return self._take(self._seen)

    def _take(self, content: _Content) -> Reread:
        self._taken, self._fault = content, content.fault
        if content.fault:
            return Reread(rules=self.rules, changed=False, problems=(content.fault,))
        earlier, self._judged = self._judged, {}
        for name, text in content.texts.items():
            self._judged[name] = _judged(name, text, earlier.get(name))
        anew = [one for name, one in self._judged.items() if one is not earlier.get(name)]
        read = [one.rules for one in anew if one.rules and not one.problems]
        before, self.rules = self.rules, self._merged()
        warnings = [warning for rules in read for warning in rules.warnings]
        return Reread(
            rules=self.rules,
            changed=_parts(self.rules) != _parts(before),
            problems=tuple(problem for one in anew for problem in one.problems),
            warnings=(*warnings, *self._moved(before)),
        )

    def _moved(self, before: RulesFile) -> list[Problem]:
        url = self.rules.prometheus_url
        if url in {self._url, before.prometheus_url}:
            return []
        fault = "Prometheus's address has changed, and is read at the start only"
        cure = "start the adapter anew, and it asks the new one"
        return [Problem(file=str(self._path), key="prometheus", fault=fault, cure=cure)]

    def _merged(self) -> RulesFile:
        return merged({name: one.rules for name, one in self._judged.items() if one.rules})

    def _content(self) -> _Content:
        names = names_at(self._path)
        if isinstance(names, Problem):
            return _Content(fault=names)
        return _Content(texts={name: text_at(name) for name in names})


def names_at(path: Path) -> list[str] | Problem:
    """Give the files of rules at `path`, itself or those of a folder; a problem for none."""
    try:
        names = [str(one) for one in _files(path)] if path.is_dir() else [str(path)]
    except OSError as error:
        return _unreadable(str(path), error)
    fault = f"no file {_PATTERN} is in this folder"
    return names or Problem(file=str(path), fault=fault, cure=_CURE)


def _files(folder: Path) -> list[Path]:
    # A link that leads nowhere is what a mounted ConfigMap leaves of a key that is gone.
    found = (one for one in folder.glob(_PATTERN) if not one.name.startswith("."))
    return sorted(one for one in found if one.is_file())


def text_at(name: str) -> str | Problem:
    """Give the text of a file of rules, or why it cannot be read."""
    try:
        return Path(name).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        return _unreadable(name, error)


def _judged(name: str, text: str | Problem, earlier: _Judged | None = None) -> _Judged:
    if earlier and earlier.text == text:
        return earlier
    kept = earlier.rules if earlier else None
    if isinstance(text, Problem):
        return _Judged(text=text, rules=kept, problems=(text,))
    try:
        return _Judged(text=text, rules=load(text, name))
    except InputError as error:
        return _Judged(text=text, rules=kept, problems=error.problems)


def _unreadable(name: str, error: OSError | UnicodeDecodeError) -> Problem:
    fault = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return Problem(file=name, fault=f"the rules file cannot be read: {fault}", cure=_CURE)


def _parts(rules: RulesFile) -> tuple[object, ...]:
    # Rules are equal only when they are one object: those of a file that was not read anew.
    return rules.rules, rules.external_rules, rules.resource_rules
