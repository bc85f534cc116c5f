#!/usr/bin/env python3
"""tests/tiers/report tells a test that has skipped itself from one that could not be run."""
import importlib.machinery
import importlib.util
import pathlib
import subprocess
import sys
import tempfile

REPORT = pathlib.Path(__file__).resolve().parent.parent / "tiers" / "report"
PROJECT = """cmake_minimum_required(VERSION 3.20)
project(endings NONE)
enable_testing()
add_test(NAME passes COMMAND true)
add_test(NAME fails COMMAND false)
add_test(NAME skips_by_exit_code COMMAND sh -c "exit 77")
set_tests_properties(skips_by_exit_code PROPERTIES SKIP_RETURN_CODE 77)
add_test(NAME skips_by_what_it_prints COMMAND echo "[  SKIPPED ]")
set_tests_properties(skips_by_what_it_prints PROPERTIES SKIP_REGULAR_EXPRESSION "SKIPPED")
add_test(NAME skips_for_want_of_a_program COMMAND sh -c "echo 'SKIPPED: no tshark: tests/install-packages test'; exit 77")
set_tests_properties(skips_for_want_of_a_program PROPERTIES SKIP_RETURN_CODE 77)
add_test(NAME has_no_program COMMAND /nonexistent)
add_test(NAME sets_up COMMAND false)
set_tests_properties(sets_up PROPERTIES FIXTURES_SETUP guest)
add_test(NAME needs_the_fixture COMMAND true)
set_tests_properties(needs_the_fixture PROPERTIES FIXTURES_REQUIRED guest)
"""
WANTED = {"tshark": ["skips_for_want_of_a_program"]}
EXPECTED = {"skips_for_want_of_a_program": "skipped", "passes": "passed", "fails": "failed", "skips_by_exit_code": "skipped", "skips_by_what_it_prints": "skipped",
            "has_no_program": "failed", "sets_up": "failed", "needs_the_fixture": "failed"}


def load_report():
    loader = importlib.machinery.SourceFileLoader("report", str(REPORT))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("report", loader))
    loader.exec_module(module)
    return module


def main():
    sys.dont_write_bytecode = True
    with tempfile.TemporaryDirectory() as folder:
        results = pathlib.Path(folder) / "results.xml"
        (pathlib.Path(folder) / "CMakeLists.txt").write_text(PROJECT, encoding="utf-8")
        subprocess.run(["cmake", "-B", folder, "-S", folder], check=True, stdout=subprocess.DEVNULL)
        subprocess.run(["ctest", "--test-dir", folder, "--output-junit", results], check=False, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
        report = load_report()
        ended = {name: how for name, (how, _) in report.read(results).items()}
        wanted = report.wanted(results)
    for name, how in EXPECTED.items():
        if ended.get(name) != how:
            print(f"{name}: {how} was expected, and {ended.get(name)} is reported")
    if wanted != WANTED:
        print(f"skipped for want of {WANTED} was expected, and {wanted} is reported")
    return 0 if ended == EXPECTED and wanted == WANTED else 1


if __name__ == "__main__":
    sys.exit(main())
