"""The commands: each explains itself, speaks JSON, and is noted before it shows or changes anything."""

from click.testing import CliRunner

from paraph.cli import _COMMANDS, main
from paraph.cli.session import _UNNOTED
from tests.config.test_documentation import commands

PARTS = {"serve", "web", "worker"}
WITHOUT_NOTES = PARTS | {"verify", "log verify"}
"""Commands that are no look at anybody's rows and no change, beside those of ``_UNNOTED``: the service itself, whose
start is logged; files alone, and logs of others, without the service. All others are noted."""


def test_every_command_explains_itself_and_all_but_the_service_speak_json() -> None:
    for path, command in commands(main).items():
        options = {option for parameter in command.params for option in parameter.opts}
        assert command.help and "--data-dir" in options, path
        assert ("--json" in options) == (path not in PARTS), path
    for name in _COMMANDS:
        assert CliRunner().invoke(main, [name, "--help"]).exit_code == 0, name


def test_commands_without_a_note_are_counted_by_name() -> None:
    """So that a new one is noted, unless somebody says here that it need not be."""
    assert commands(main).keys() >= _UNNOTED | WITHOUT_NOTES
    assert len(_UNNOTED) == 10 and not {"person show", "inbox", "backup", "request list", "member list"} & _UNNOTED


def test_a_command_that_was_mistyped_is_named() -> None:
    said = CliRunner().invoke(main, ["verfy", "signed.pdf"])
    assert said.exit_code == 2 and "No such command 'verfy'. Did you mean 'verify'?" in said.output
    assert "Did you mean" not in CliRunner().invoke(main, ["xyz"]).output
