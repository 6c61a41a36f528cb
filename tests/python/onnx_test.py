"""ONNX's node tests, for every operator that gpucall's operations cover."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest

import gpucall

pytest.importorskip("onnx", reason="the onnx package makes the cases")

import onnx_cases
from onnx_operators import OPERATORS

# Cases that pass at least: none may come to be left out unseen.
AT_LEAST = 1007
Outcomes = dict[str, dict[str, str]]


@pytest.fixture(scope="module")
def outcomes(c: gpucall.Client) -> Outcomes:
    """Of each operator, of each of its cases: "" or the reason that it was left out.

    What is wrong begins with "WRONG".
    """
    found: Outcomes = {}
    for operator, cases in onnx_cases.cases().items():
        for case in cases:
            try:
                reason = onnx_cases.outcome(case, c)
            except AssertionError as error:
                reason = f"WRONG: {error}"
            found.setdefault(operator, {})[case.name] = reason
    return found


@pytest.mark.parametrize("operator", OPERATORS)
def test_operator(operator: str, outcomes: Outcomes) -> None:
    wrong = [r for r in outcomes[operator].values() if r.startswith("WRONG")]
    assert not wrong, "\n".join(wrong)


def test_report(outcomes: Outcomes, capsys: pytest.CaptureFixture[str]) -> None:
    with capsys.disabled():
        print("\n".join(("", *report(outcomes))))
    reasons = [reason for cases in outcomes.values() for reason in cases.values()]
    assert not [reason for reason in reasons if reason.startswith("WRONG")]
    assert reasons.count("") >= AT_LEAST


def report(outcomes: Outcomes) -> Iterator[str]:
    """A line for each operator that has a row, then why other cases were left out."""
    covered = 0
    for operator, cases in sorted(outcomes.items()):
        counts = Counter(cases.values())
        covered += counts[""] > 0
        if counts[""] or operator in OPERATORS:
            passed = counts.pop("", 0)
            left_out = "; ".join(f"{n} left out: {why}" for why, n in counts.items())
            yield f"{operator}: {passed} of {len(cases)} pass. {left_out}".rstrip()
    others = Counter(
        reason
        for operator, cases in outcomes.items()
        if operator not in OPERATORS
        for reason in cases.values()
        if reason
    )
    yield "Other operators, cases left out: " + "; ".join(
        f"{count} {reason}" for reason, count in others.most_common()
    )
    total = [reason for cases in outcomes.values() for reason in cases.values()]
    yield (
        f"ONNX: {total.count('')} of {len(total)} cases pass, of {covered} operators; "
        "the others are left out for the reasons above"
    )
