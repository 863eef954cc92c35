"""The ``paraph`` command. The module of a subcommand is imported only when it is called."""

import importlib
from difflib import get_close_matches
from typing import Any

import click

from paraph import __version__
from paraph.kernel.errors import DomainError

_COMMANDS = {
    "serve": "serve.command",
    "web": "web.command",
    "worker": "worker.command",
    "migrate": "installation.migrate",
    "organization": "organization.command",
    "application": "application.command",
    "member": "people.member",
    "key": "application.keys",
    "retention": "organization.retention",
    "person": "people.person",
    "erase": "people.erase",
    "branding": "organization.branding",
    "operator": "people.operators",
    "activity": "people.activity",
    "usage": "organization.usage",
    "inbox": "messages.inbox",
    "webhook": "messages.webhook",
    "request": "request.command",
    "check": "installation.check",
    "backup": "backup.backup",
    "restore": "backup.restore",
    "verify-store": "installation.verify_store",
    "secret": "installation.secret",
    "storage": "installation.storage",
    "export": "backup.export",
    "import": "backup.import_",
    "log": "log.command",
    "verify": "verify.command",
}
"""The module and function of each command, in the order of the help."""


class _Commands(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  click's form
        return list(_COMMANDS)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Name the command that was most likely meant if there is none of the given name."""
        name = args[0]
        if name not in _COMMANDS and (similar := get_close_matches(name, _COMMANDS, n=1)):
            ctx.fail(f"No such command {name!r}. Did you mean {similar[0]!r}?")
        return super().resolve_command(ctx, args)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002  click's form
        if cmd_name not in _COMMANDS:
            return None
        module, _, name = _COMMANDS[cmd_name].partition(".")
        command: click.Command = getattr(importlib.import_module(f"paraph.cli.{module}"), name)
        return command

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except DomainError as refusal:
            raise _Failure(refusal.message) from refusal
        except Exception as error:
            from paraph.database.outage import refusal_sentence

            if sentence := refusal_sentence(error):
                raise _Failure(sentence) from error
            raise


class _Failure(click.ClickException):
    """End the command with one sentence on stderr and exit status 1."""

    def show(self, file: Any = None) -> None:
        from paraph.cli.options import visible

        click.echo(visible(self.message), err=True, file=file)


@click.group(cls=_Commands)
@click.version_option(__version__, prog_name="paraph")
def main() -> None:
    """Paraph, a self-hosted electronic-signature service."""
