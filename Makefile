# One gate for people and machines alike.
.PHONY: check test format

check:
	.ci/run

test:
	pytest -n auto

format:
	ruff format .
	ruff check --fix .
