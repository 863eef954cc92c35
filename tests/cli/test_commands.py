"""The command itself: what it lists is there, and quick to say."""

import click
import pytest
from click.testing import CliRunner

from paraph.cli import _COMMANDS, main


@pytest.mark.parametrize("name", _COMMANDS)
def test_every_command_explains_itself(name: str) -> None:
    said = CliRunner().invoke(main, [name, "--help"])
    assert said.exit_code == 0
    command = main.get_command(click.Context(main), name)
    assert command
    leaves = list(command.commands.values()) if isinstance(command, click.Group) else [command]
    for leaf in leaves:
        assert leaf.help
        assert "--data-dir" in {option for parameter in leaf.params for option in parameter.opts}


@pytest.mark.parametrize(
    "name", ["organization", "application", "branding", "inbox", "log", "verify", "migrate", "verify-store"]
)
def test_operators_commands_speak_json(name: str) -> None:
    command = main.get_command(click.Context(main), name)
    assert command
    leaves = list(command.commands.values()) if isinstance(command, click.Group) else [command]
    for leaf in leaves:
        assert "--json" in {option for parameter in leaf.params for option in parameter.opts}


def test_a_command_that_was_mistyped_is_named() -> None:
    said = CliRunner().invoke(main, ["verfy", "signed.pdf"])
    assert said.exit_code == 2 and "No such command 'verfy'. Did you mean 'verify'?" in said.output
    assert "Did you mean" not in CliRunner().invoke(main, ["xyz"]).output
    assert CliRunner().invoke(main, ["verify", "--help"]).exit_code == 0
