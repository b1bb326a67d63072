"""Names of programs."""

from __future__ import annotations

from shmlint.syntax.shell_programs import may_be_function
from tests.table import table


@table(
    ("names", "expected"),
    [
        ("load_config parse_args setup run_hooks configure load-config before_run set_display append_args", True),
        ("cd echo [ . git pip3.11 python3 nvidia-ctk docker-compose ./x /bin/x x.sh x.py log_info print_help", False),
    ],
)
def test_what_may_be_a_function(names: str, expected: bool) -> None:
    assert {name: may_be_function(name) for name in names.split()} == dict.fromkeys(names.split(), expected)
