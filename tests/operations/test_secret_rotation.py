"""A flow that begins under one secret, goes on under the next, and ends after the first is gone."""

from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from allauth.mfa.models import Authenticator
from django.apps import apps
from django.conf import settings as django_settings
from django.db import connection

from paraph.account_mail.mail_account import hand_over
from paraph.flow.sealing.context import development
from paraph.flow.signing.sign import Signature
from paraph.flow.signing.sign import sign as sign_verb
from paraph.kernel import clock, tokens
from paraph.kernel.errors import DomainError
from paraph.kernel.secrets import Secrets
from paraph.operations import secret_rotation as rotation
from paraph.operations.check.machine import secret_key
from paraph.operations.secret_rotation import rotate, status
from paraph.signature_requests import links
from paraph.signature_requests.fields import entry as field_values
from paraph.signature_requests.links import new_salt, signer_of, token
from paraph.signature_requests.marks import signature_of
from paraph.signature_requests.models import Field, Signer
from paraph.storage import objects, store
from paraph.tenants import installation
from paraph.tenants.accounts import decrypt_factor, encrypt_factor
from paraph.tenants.applications import encrypted_secret, webhook_secret
from paraph.tenants.installation import fingerprint_in_use, secret_is_ours
from paraph.tenants.models import Application, Installation, User
from paraph.transparency.models import LogKey
from tests.dashboard.conftest import BrowserClient
from tests.factories import TYPED, VISITOR, Scene, scene, sign
from tests.flow.test_jobs import work_off
from tests.tenancy import create_application, create_organization

pytestmark = pytest.mark.django_db

OLD, NEW, NEWEST = b"o" * 40, b"n" * 40, b"N" * 40
Use = Callable[..., None]


@pytest.fixture
def use(settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Use:
    """Return what gives this process the secrets, as if it had been started with them."""

    def use(newest: bytes, *earlier: bytes) -> None:
        settings.SECRETS = Secrets(newest, earlier, fingerprint_in_use)
        settings.SECRET_KEY = tokens.derive(newest, "django").hex()
        settings.SECRET_KEY_FALLBACKS = [tokens.derive(each, "django").hex() for each in earlier]
        installation._read.clear()

    settings.DATA_DIR = tmp_path
    monkeypatch.setattr(installation, "_read", [])
    Installation.objects.all().delete()
    LogKey.objects.all().delete()  # a check in a thread may have made one, under the secret of the run
    monkeypatch.setattr(installation, "NOTICED_SECONDS", 0.0)
    monkeypatch.setattr(rotation, "NOTICED_SECONDS", 0.0)
    use(OLD)
    assert secret_is_ours()
    return use


def guess(made: Scene, position: int, code: str) -> Signer:
    signer = Signer.objects.select_related("request").get(pk=made.signers[position].pk)
    return sign_verb(signer, Signature(code, TYPED, None, "en"), VISITOR)


def account() -> User:
    user = User(email="a@b.example")
    user.set_password("x")
    user.save()
    return user


def linked(address: str) -> None:
    """Raise where the address of a download is not accepted."""
    parts = urlsplit(address)
    query = {name: values[0] for name, values in parse_qs(parts.query).items()}
    objects.check_link(parts.path.removeprefix("/files/"), query["expires"], query["filename"], query["signature"])


def test_a_flow_lives_through_a_rotation(use: Use) -> None:
    made = scene(signers=3, notify_signers_on_completion=True)
    Application.objects.update(webhook_secret_encrypted=encrypted_secret("hook"))
    given = [token(signer) for signer in made.signers]
    ticket = links.ticket(made.signers[0], links.IN_MAIL)
    codes = [made.code(0), made.code(1)]
    address = store.presign("documents/a.pdf", "a.pdf")
    root = development().root
    guess(made, 0, codes[0])

    use(NEW, OLD)
    assert secret_is_ours() and status()["in_use"] == "earlier"
    assert [signer_of(link) for link in given] == made.signers
    rotated = rotate()
    assert rotated["done"] and rotated["in_use"] == "newest" and rotated["links_until"]
    guess(made, 1, codes[1])
    linked(address)
    assert links.holds(made.signers[0], ticket)

    use(NEW)
    assert secret_is_ours() and status()["done"]
    assert [token(signer) for signer in made.signers] == given
    assert [signer_of(link) for link in given] == made.signers
    assert links.holds(made.signers[0], ticket)
    assert webhook_secret(bytes(Application.objects.get().webhook_secret_encrypted)) == "hook"
    assert development().root == root
    sign(made, 2)
    work_off()
    made.request.refresh_from_db()
    assert made.request.finalized
    with pytest.raises(DomainError, match="This link is not valid"):
        linked(address)

    use(OLD)
    assert not secret_is_ours()
    with pytest.raises(ValueError, match="does not open"):
        signature_of(Signer.objects.get(pk=made.signers[0].pk))
    with pytest.raises(DomainError, match="does not open"):
        development()


def test_what_signers_entered_lives_through_a_rotation(use: Use) -> None:
    made = scene(signers=2, fields=[{"name": "iban"}])
    [first, second] = Field.objects.order_by("signer__order")
    for signer, field in zip(made.signers, (first, second), strict=True):
        field_values.write(signer, {field.pk: f"DE0{signer.order}"})
        signer.save(update_fields=["fields_encrypted"])
    use(NEW, OLD)
    assert rotate()["done"]
    use(NEW)
    entered = [field_values.values_of(signer) for signer in Signer.objects.order_by("order")]
    assert entered == [{first.pk: "DE01"}, {second.pk: "DE02"}]


def test_every_encrypted_column_is_encrypted_anew() -> None:
    all_columns = {(model, column.name) for model in apps.get_models() for column in model._meta.fields}
    encrypted = {(model, name) for model, name in all_columns if name.endswith("_encrypted")}
    assert encrypted == {(each.rows.model, each.name) for several in rotation._COLUMNS.values() for each in several}


def test_a_machine_that_knows_the_first_secret_alone_reads_what_the_others_write_until_the_rotation(use: Use) -> None:
    use(NEW, OLD)
    made = scene(signers=2)
    signed = sign(made)
    link, sealed = token(made.signers[1]), encrypted_secret("hook")
    user = account()
    session = user.get_session_auth_hash()
    use(OLD)
    assert signature_of(Signer.objects.get(pk=signed.pk)) == TYPED
    assert (signer_of(link), webhook_secret(sealed)) == (made.signers[1], "hook")
    assert user.get_session_auth_hash() == session


def test_links_of_every_generation_open_and_no_others(use: Use) -> None:
    made = scene(signers=3)
    signers = made.signers
    for number, newest in enumerate((NEW, NEWEST)):
        before = [token(signer) for signer in signers]
        use(newest, django_settings.SECRETS.newest)
        rotate()
        use(newest)
        assert [token(signer) for signer in signers] == before
        signers[number].token_salt = new_salt()
        signers[number].save()
    assert [len(signer.token_salt) for signer in signers] == [18, 18, 16]
    assert [signer_of(token(signer)) for signer in signers] == signers
    assert len({token(signer) for signer in signers}) == 3

    salt, current = bytes(signers[1].token_salt), token(signers[1])
    signers[1].token_salt = salt[:16]  # a salt of 16 bytes belongs to an earlier key
    assert token(signers[1]) != current and signer_of(token(signers[1])) is None


def test_a_replaced_key_makes_no_tickets_any_more(use: Use, monkeypatch: pytest.MonkeyPatch, made: Scene) -> None:
    use(NEW, OLD)
    rotate()
    use(OLD)
    monkeypatch.setattr(installation, "agreed", lambda **_: Installation())
    later = clock.now() + links.IN_MAIL
    with monkeypatch.context() as patch:
        patch.setattr(clock, "now", lambda: later)
        forged = links.ticket(made.signers[0], links.IN_MAIL)
    monkeypatch.undo()
    use(NEW)
    assert not links.holds(made.signers[0], forged)


def test_what_is_written_with_the_earlier_secret_meanwhile_is_told_and_found(use: Use) -> None:
    sign(scene())
    user = account()
    Authenticator.objects.create(user=user, type="totp", data={"secret": encrypt_factor("totp")})
    codes = {"seed": encrypt_factor("seed"), "used_mask": 3}
    Authenticator.objects.create(user=user, type="recovery_codes", data=codes)
    hand_over("a@b.example", "en", "s", "t")
    use(NEW, OLD)
    assert rotate()["left"]["account_mails"] == 1
    work_off()
    with connection.cursor() as cursor:
        cursor.execute("UPDATE procrastinate_jobs SET status = 'succeeded'")
    assert status()["done"]

    use(OLD)
    late = encrypt_factor("late")
    use(NEW, OLD)
    Authenticator.objects.filter(type="totp").update(data={"secret": late})
    assert status()["left"]["second_factors"] == 1 and not status()["done"]
    assert rotate()["done"]
    use(NEW)
    assert decrypt_factor(Authenticator.objects.get(type="totp").data["secret"]) == "late"
    seed = Authenticator.objects.get(type="recovery_codes").data
    assert (decrypt_factor(seed["seed"]), seed["used_mask"]) == ("seed", 3)


def test_members_stay_logged_in(use: Use) -> None:
    user, client = account(), BrowserClient()
    client.force_login(user)
    use(NEW, OLD)
    rotate()
    for secrets in ((NEW, OLD), (NEW,)):
        use(*secrets)
        client.get("/app/")
        assert "_auth_user_id" in client.session


def test_what_no_secret_opens_is_named_and_left(use: Use, made: Scene) -> None:
    Application.objects.update(webhook_secret_encrypted=b"x" * 40)
    use(NEW, OLD)
    application = made.request.application_id
    assert rotate()["unreadable"] == [f"webhook_secret_encrypted of application {application}"]


def test_a_machine_that_lacks_the_secret_in_use_rotates_nothing(use: Use) -> None:
    use(NEW)
    assert secret_key().status == "failed"
    assert secret_key().sentence.startswith("The secret key of this machine is not that of the installation")
    with pytest.raises(DomainError, match="The secret in use is not known here"):
        rotate()
    use(NEW, OLD)
    assert secret_key().status == "warning"


def test_the_secret_is_known_by_its_fingerprint_or_else_by_what_it_opens(use: Use) -> None:
    create_application(create_organization("Acme", "pro").pk, "sandbox", "backend")
    Installation.objects.all().delete()
    use(NEW)
    assert not secret_is_ours() and not Installation.objects.exists()
    use(OLD)
    assert secret_is_ours() and Installation.objects.exists()
