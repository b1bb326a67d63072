"""What frameworks load by names: applications that a function makes, tasks, settings of Django, pages."""

from __future__ import annotations

from pathlib import Path

from tests.table import table
from tests.workloads.cases import DOCKERFILE, compose, need

SERVES = "from vllm import LLM\nllm = LLM('a/b', tensor_parallel_size=2)\n"
MAKES = "from vllm import LLM\ndef create_app(name=''):\n    return LLM('a/b', tensor_parallel_size=2)\n"
MAIN = SERVES.replace("llm =", "    llm =")
HAS_ONE = f"app = make()\n{MAKES}"


@table(
    "command, code, verdict",
    [
        ("uvicorn --factory t:create_app", MAKES, "needed"),
        ("uvicorn t:create_app", MAKES, "needed"),
        ("uvicorn t:app", HAS_ONE, "not-needed"),
        ("gunicorn 't:create_app()'", MAKES, "needed"),
        ("gunicorn \"t:create_app('a')\"", MAKES, "needed"),
        ("waitress-serve --call t:create_app", MAKES, "needed"),
        ("flask --app t run", MAKES, "needed"),
        ("flask --app t run", HAS_ONE, "not-needed"),
        ("flask --app t run", f"from flask import Flask\nweb = Flask('a')\n{MAKES}", "not-needed"),
        ("flask --app t run", f"from flask import current_app as app\n{MAKES}", "not-needed"),
        ("flask --app t:create_app run", HAS_ONE, "needed"),
        ("uwsgi --ini own.ini", MAKES, "needed"),
        ("uvicorn t:app", f"app = 1\nif __name__ == '__main__':\n    {MAIN}", "not-needed"),
        ("gunicorn -c conf.py t:app", HAS_ONE, "likely"),
    ],
)
def test_functions_that_make_what_is_served(tmp_path: Path, command: str, code: str, verdict: str) -> None:
    files = {"compose.yaml": compose(command), "Dockerfile": DOCKERFILE, "t.py": code,
             "own.ini": "[uwsgi]\nmodule = t:create_app()\n",
             "conf.py": "def post_fork(server, worker):\n    import t\n    t.create_app()\n"}  # fmt: skip
    assert need(tmp_path, files).verdict == verdict


SETS = "import os\nos.environ.setdefault('DJANGO_SETTINGS_MODULE', 'site1.settings')\n"
WSGI = f"from django.core.wsgi import get_wsgi_application\n{SETS}application = get_wsgi_application()\n"
MANAGE = f"import sys\nfrom django.core.management import execute_from_command_line as run\n{SETS}run(sys.argv)\n"
SETTINGS = "ROOT_URLCONF = 'site1.urls'\nINSTALLED_APPS = ['django.contrib.admin', 'shop']\n"
URLS = "from django.urls import include, path\nurlpatterns = [path('', include('shop.urls'))]\n"
SHOP = "from django.urls import path\nfrom .views import ask\nurlpatterns = [path('', ask)]\n"
READY = "from django.apps import AppConfig\nclass Shop(AppConfig):\n    def ready(self):\n        import site1.big\n"
COMMAND = (
    "from django.core.management.base import BaseCommand\nclass Command(BaseCommand):\n    def handle(self):\n"
    "        import site1.big\n"
)
DJANGO = {
    "manage.py": MANAGE, "site1/__init__.py": "", "site1/wsgi.py": WSGI, "site1/settings.py": SETTINGS,
    "site1/urls.py": URLS, "site1/big.py": SERVES, "shop/__init__.py": "", "shop/urls.py": SHOP,
    "shop/views.py": "def ask(request): return 1\n",
}  # fmt: skip
FINDS = "from hydra.utils import get_method\nget_method(%s)()\n"
CELERY = "from celery import Celery\napp = Celery('t'%s)\n"
JOBS = "from apscheduler.schedulers.blocking import BlockingScheduler as S\ns = S()\ns.add_job('t:create_app')\n"


@table(
    "command, files, verdict",
    [
        ("python run.py", {"run.py": "import uvicorn\nuvicorn.run('t:create_app', factory=True)\n"}, "needed"),
        ("python run.py", {"run.py": "import uvicorn\nuvicorn.run('t:app')\n"}, "not-needed"),
        ("python run.py", {"run.py": JOBS}, "likely"),
        ("python run.py", {"run.py": FINDS % "'site1.big.llm'"}, "likely"),
        ("python run.py", {"run.py": FINDS % "named()"}, "unknown"),
        ("celery -A run worker", {"run.py": CELERY % ""}, "not-needed"),
        ("celery -A run worker", {"run.py": CELERY % ", include=['site1.big']"}, "likely"),
        ("celery -A run worker", {"run.py": CELERY % ", include=[named()]"}, "unknown"),
        ("celery -A run worker",
         {"run.py": f"{CELERY % ''}app.autodiscover_tasks(['site1'])\n", "site1/tasks.py": "import site1.big\n"},
         "likely"),
        ("celery -A run worker", {"run.py": f"{CELERY % ''}app.autodiscover_tasks()\n"}, "unknown"),
        ("gunicorn site1.wsgi", {}, "not-needed"),
        ("gunicorn site1.wsgi", {"shop/views.py": f"{SERVES}def ask(request): return 1\n"}, "likely"),
        ("gunicorn site1.wsgi", {"shop/apps.py": READY}, "likely"),
        ("gunicorn site1.wsgi", {"site1/wsgi.py": WSGI.replace("site1", "gone")}, "unknown"),
        ("gunicorn site1.wsgi", {"site1/settings.py": "from .base import *\n", "site1/base.py": SETTINGS,
                                 "shop/models.py": "import site1.big\n"}, "likely"),
        ("python manage.py runserver", {"shop/management/commands/train.py": COMMAND}, "not-needed"),
        ("python manage.py train", {"shop/management/commands/train.py": COMMAND}, "likely"),
        ("streamlit run run.py", {"run.py": "import streamlit as st\n"}, "not-needed"),
        ("streamlit run run.py", {"run.py": "import streamlit as st\n", "pages/1_big.py": SERVES}, "likely"),
        ("streamlit run run.py", {"run.py": "import streamlit as st\nst.Page('site1/big.py')\n"}, "likely"),
    ],
)
def test_modules_that_frameworks_load_by_name(
    tmp_path: Path, command: str, files: dict[str, str], verdict: str
) -> None:
    own = {"compose.yaml": compose(command), "Dockerfile": DOCKERFILE, "t.py": MAKES}
    assert need(tmp_path, {**own, **DJANGO, **files}).verdict == verdict
