"""`niwaki doctor`: what it prints and when it fails. What it finds is tested in tests/test_doctor.py."""

import json

import pytest

from niwaki import doctor

FINE = {"name": "cores", "found": "2", "use": "2 threads", "why": "one per core", "fault": ""}
BROKEN = {"name": "disk", "found": "1 GB", "use": "-", "why": "", "fault": "too little space"}


@pytest.fixture
def found(monkeypatch):
    """Lets the examination find what a test says, and keeps the folders that were examined."""

    def find(*findings):
        faults = [finding["fault"] for finding in findings if finding["fault"]]
        result = {"fine": not faults, "faults": faults, "findings": list(findings)}
        folders = []
        monkeypatch.setattr(doctor, "examine", lambda out: folders.append(str(out)) or result)
        return folders

    return find


def test_findings_are_a_table_with_reasons(niwaki, found):
    folders = found(FINE)
    result = niwaki("doctor", "--out", "somewhere")
    assert result.code == 0 and folders == ["somewhere"]
    assert result.out.splitlines() == [
        "name   found  use        remark",
        "cores  2      2 threads  one per core",
        "fine",
    ]


def test_faults_are_listed_and_give_exit_code_1(niwaki, found):
    found(FINE, BROKEN)
    result = niwaki("doctor")
    assert result.code == 1
    assert result.out.splitlines()[-2:] == ["disk   1 GB   -          too little space", "to fix: too little space"]


def test_json_holds_all_findings(niwaki, found):
    found(BROKEN)
    result = niwaki("doctor", "--json")
    assert result.code == 1 and json.loads(result.out)["findings"] == [BROKEN]
