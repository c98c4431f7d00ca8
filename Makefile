# Run `make help` first.
PYTHON ?= python3
VENV   := .venv
PY     := $(VENV)/bin/python
READY  := $(VENV)/.installed
ARGS   ?=
FAST   := not (rehearsal or training or tools or services)

export PYTHONDONTWRITEBYTECODE := 1

.DEFAULT_GOAL := help
.PHONY: help venv tools up down rehearsal status logs kubectl-config kubectl gcloud-env pulumi preview comment schema docs test test-fast lint bench lock bump clean

help: ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/; s/[$$][$$]/$$/g' | expand -t 18

venv: $(READY)

$(READY): requirements-dev.txt
	@command -v $(PYTHON) >/dev/null || \
	  { echo "error: there is no $(PYTHON); name a Python 3.11 or newer: make $(MAKECMDGOALS) PYTHON=python3.12" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "error: Python 3.11 or newer is needed, $$($(PYTHON) --version 2>&1) was found; name another: make $(MAKECMDGOALS) PYTHON=python3.12" >&2; exit 1; }
	@echo "Python environment: $(VENV)"
	@$(PYTHON) -m venv $(VENV)
	@$(PY) -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-dev.txt
	@touch $@

tools: venv ## build the rehearsal's programs that are missing
	@$(PY) -m rehearsal tools

up: venv ## everything: tools, rehearsal, `pulumi up`, the jobs and their timeline
	@$(PY) -m operations.stack.up $(if $(KUBECTL_PORT),--kubectl-port $(KUBECTL_PORT)) $(ARGS)

down: venv ## `pulumi destroy`, a check that nothing is left, stop
	@$(PY) -m operations.stack.down $(ARGS)

rehearsal: venv ## only the rehearsal: Google's APIs with nothing in them
	@$(PY) -m rehearsal up

status: venv ## the rehearsal's programs, and what died
	@$(PY) -m rehearsal status

logs: venv ## a program's log: make logs ARGS=google
	@$(PY) -m rehearsal logs $(ARGS)

kubectl-config: venv ## a kubeconfig for your own kubectl; prints its path
	@$(PY) -m rehearsal kubeconfig $(ARGS)

kubectl: venv ## kubectl against the rehearsal: make kubectl ARGS='get nodes'
	@config=$$($(PY) -m rehearsal kubeconfig) && kubectl --kubeconfig "$$config" --cache-dir .rehearsal/kubectl-cache $(ARGS)

gcloud-env: venv ## settings that point your own gcloud at the rehearsal: eval "$$(make -s gcloud-env)"
	@$(PY) -m rehearsal gcloud-env

pulumi: venv ## the engine on the local stack: make pulumi ARGS='preview --diff'
	@$(PY) -m rehearsal exec -- pulumi $(ARGS) --stack local

preview: venv ## an environment from nothing, offline: make preview ENV=prod [BASE=main]; without ENV: the local stack
	@$(if $(ENV),$(PY) -m operations.preview.preview $(ENV) $(if $(BASE),--base $(BASE)) $(ARGS),$(PY) -m rehearsal exec -- pulumi preview $(ARGS) --stack local)

comment: venv ## in GitHub Actions: post the offline previews (FROM, a folder of their --comment files) on the pull request
	@$(PY) -m operations.preview.pull_request $(FROM)

lint: venv ## style, types, the direction of imports, and the workflows of GitHub Actions
	@$(PY) -m ruff check .
	@$(VENV)/bin/lint-imports --no-logo
	@$(PY) -m mypy
	@$(VENV)/bin/basedpyright
	@$(PY) -m rehearsal tools --checkers
	@.rehearsal/bin/actionlint -shellcheck= -pyflakes= .github/workflows/*.yml
	@$(VENV)/bin/zizmor --offline --quiet --no-progress .github/workflows

test-fast: venv ## tests that need no rehearsal, no built program and no network: one to two minutes
	@$(PY) -m pytest -m '$(FAST)' $(ARGS)

test: venv tools lint ## every test, from unit to rehearsal
	@$(PY) -m pytest $(ARGS)

schema: venv ## write the schema of stack files, and name it in each
	@$(PY) -m operations.json_schema

docs: venv ## write the documents that are made from the program and its tests
	@$(PY) tests/support/documents.py

bench: venv tools ## figures, as ratios in one run
	@$(PY) -m bench $(ARGS)

lock: ## pin the Python packages anew (needs uv)
	uv pip compile -q --generate-hashes --no-emit-index-url --no-header --python-version 3.11 requirements.in -o requirements.txt
	uv pip compile -q --generate-hashes --no-emit-index-url --no-header --python-version 3.11 requirements-dev.in -o requirements-dev.txt
	for image in tools/images/*.in; do uv pip compile -q --generate-hashes --no-emit-index-url --no-header --python-version 3.11 $$image -o $${image%.in}.txt; done

bump: venv ## move a controller to another version, everywhere: make bump KUEUE=0.19.2 (or JOBSET, KUBERAY; needs Go)
	@$(PY) -m operations.bump $(foreach name,KUEUE JOBSET KUBERAY,$(if $($(name)),$(name)=$($(name))))

clean: ## stop the rehearsal and forget its state (built programs stay in the cache)
	@[ ! -x $(PY) ] || $(PY) -m rehearsal down
	@rm -rf .rehearsal
