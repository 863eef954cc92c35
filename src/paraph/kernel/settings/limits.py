"""Settings of limits: the sizes of what clients send and store, and how often they may try."""

from pydantic import BaseModel, Field


class LimitSettings(BaseModel):
    """The largest uploads, bodies and stores, and the ceilings of calls and of wrong codes."""

    upload_limit_mb: int = Field(50, ge=1, description="Largest upload, in MiB.")
    page_limit: int = Field(2000, ge=1, description="Most pages of an upload.")
    free_space_mb: int = Field(
        512, ge=0, description="Free disk space, in MiB, below which uploads are refused; 0: none."
    )
    sandbox_storage_mb: int = Field(
        1024, ge=0, description="What an organization may store in the sandbox, in MiB; 0: no limit."
    )
    production_storage_mb: int = Field(
        0, ge=0, description="What an organization may store in production, in MiB; 0: no limit."
    )
    sandbox_requests: int = Field(
        100_000,
        ge=0,
        description="Signature requests of an organization in the sandbox before the oldest make room; 0: no limit.",
    )
    kept_templates: int = Field(
        1_000, ge=0, description="Templates of an organization in the sandbox before the oldest make room; 0: no limit."
    )
    kept_drafts: int = Field(
        200, ge=0, description="Drafts of an organization on the plan Free before the oldest make room; 0: no limit."
    )
    kept_bulk_rows: int = Field(
        5_000,
        ge=0,
        description="Rows of bulk sends of an organization on the plan Free before the oldest make room; 0: no limit.",
    )
    rate_limit_factor: int = Field(
        1, ge=1, description="What an organization's ceilings of calls and of messages are multiplied by."
    )
    wrong_codes_per_destination: int = Field(
        30, ge=1, description="Wrong codes for one address or number, in all requests, before none is taken for a day."
    )
    wrong_codes_per_organization: int = Field(
        500, ge=1, description="Wrong codes in the requests of one organization before none is taken for an hour."
    )
    web_sends_free: int = Field(
        5, ge=0, description="Requests that an organization on the plan Free may send from the dashboard in a month."
    )
    web_sends_pro: int = Field(
        100, ge=0, description="Requests that an organization on the plan Pro may send from the dashboard in a month."
    )
