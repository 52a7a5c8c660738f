"""Calls every operation of the service at BASE_URL with the API key KEY, through the client that openapi-python-client generates."""

import json
import os
import re
import urllib.request
import uuid

from workspace_advocacy_client import AuthenticatedClient, models
from workspace_advocacy_client.api.caller import accept_invitation, get_me
from workspace_advocacy_client.api.campaigns import (
    create_campaign,
    create_share,
    get_campaign,
    get_campaign_brief,
    list_campaigns,
    list_shares,
    update_campaign,
)
from workspace_advocacy_client.api.content_pillars import (
    create_content_pillar,
    delete_content_pillar,
    get_content_pillar,
    list_content_pillars,
    update_content_pillar,
)
from workspace_advocacy_client.api.domains import create_domain, get_domain, list_domains, update_domain
from workspace_advocacy_client.api.groups import create_group, get_group, list_groups, update_group
from workspace_advocacy_client.api.inspiration_questions import (
    create_inspiration_question,
    delete_inspiration_question,
    get_inspiration_question,
    list_inspiration_questions,
    update_inspiration_question,
)
from workspace_advocacy_client.api.members import create_member, delete_member, get_member, list_members, update_member
from workspace_advocacy_client.api.tags import create_tag, delete_tag, get_tag, list_tags, update_tag

BASE_URL = os.environ["BASE_URL"]
UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f-]{27}")

used_operations = set()


def note_operation(request):
    used_operations.add(f"{request.method} {UUID.sub('{id}', request.url.path)}")


client = AuthenticatedClient(
    base_url=BASE_URL,
    token=os.environ["KEY"],
    raise_on_unexpected_status=True,
    httpx_args={"event_hooks": {"request": [note_operation]}},
)


def call(operation, *args, **options):
    """Returns the parsed body of a successful response."""
    parsed = operation.sync(*args, client=client, **options)
    assert parsed is not None and not isinstance(parsed, models.ErrorResponse), parsed
    return parsed


unique = uuid.uuid4().hex[:8]

me = call(get_me)
assert me.member and me.key.access == "full", me

idempotency_key = str(uuid.uuid4())
tag = call(create_tag, body=models.CreateTag(name=f"Python {unique}"), idempotency_key=idempotency_key)
assert call(create_tag, body=models.CreateTag(name=f"Python {unique}"), idempotency_key=idempotency_key) == tag
tag = call(update_tag, tag.id, body=models.UpdateTag(name=f"Renamed {unique}"))
assert call(get_tag, tag.id) == tag
assert call(list_tags, search=unique) == [tag]

group = call(create_group, body=models.CreateGroup(name=f"Readers {unique}"))
group = call(update_group, group.id, body=models.UpdateGroup(description="People who read examples."))
assert call(get_group, group.id) == group
assert call(list_groups, search=unique) == [group]

member = call(create_member, body=models.CreateMember(name="Kim", email=f"{unique}@example.com", groups=[group.id]))
member = call(update_member, member.id, body=models.UpdateMember(name="Kim Lee"))
assert call(get_member, member.id) == member
assert call(list_members, search=unique) == [member]
assert call(delete_member, member.id).id == member.id
assert call(accept_invitation) == me

domain = call(create_domain, body=models.CreateDomain(slug=f"{unique}.example.com"))
assert call(get_domain, domain.id) == domain
assert call(list_domains, search=unique) == [domain]
not_found_url = "https://example.com/not-found"
assert (
    call(update_domain, domain.id, body=models.UpdateDomain(not_found_url=not_found_url)).not_found_url == not_found_url
)

question = call(
    create_inspiration_question,
    body=models.CreateInspirationQuestion(
        question="What did you learn last week?", icon=models.Icon.BOOK, groups=[group.id]
    ),
)
assert call(get_inspiration_question, question.id) == question
assert call(list_inspiration_questions, group_ids=[group.id], page_size=10) == [question]
inactive = call(update_inspiration_question, question.id, body=models.UpdateInspirationQuestion(is_active=False))
assert inactive.is_active is False
assert call(delete_inspiration_question, question.id).id == question.id

pillar = call(
    create_content_pillar,
    body=models.CreateContentPillar(title=f"Python {unique}", color=models.CreateContentPillarColor.RED),
)
assert pillar.author_id == me.member.id
assert call(get_content_pillar, pillar.id) == pillar
assert pillar in call(list_content_pillars, sort_by=models.ListContentPillarsSortBy.TITLE)
green = models.UpdateContentPillar(color=models.UpdateContentPillarColor.GREEN)
assert call(update_content_pillar, pillar.id, body=green).color == "green"

draft = call(
    create_campaign,
    body=models.CreateCampaign(
        name=f"Python {unique}",
        description="",
        share_context="",
        objective="",
        status=models.CreateCampaignStatus.DRAFT,
        destination_url="https://example.com/product",
        start_date="2026-01-01",
        end_date="2099-12-31T23:00:00+01:00",
        share_reward_amount="1.50",
        click_reward_amount=0.05,
        max_reward_per_employee=50,
        total_budget=1000,
        target_shares="9007199254740991",
        domain=domain.slug,
        tag_ids=[tag.id],
        group_ids=[group.id],
        content_pillar_id=pillar.id,
        resources=[
            "https://example.com/map.pdf",
            models.CampaignResource(url="https://example.com/video.mp4", type_=models.ResourceType.VIDEO),
        ],
    ),
)
assert draft.target_shares == 9007199254740991, draft
published = models.UpdateCampaign(status=models.UpdateCampaignStatus.PUBLISHED, target_shares=None)
campaign = call(update_campaign, draft.id, body=published)
assert (campaign.status, campaign.target_shares) == ("published", None), campaign
assert call(get_campaign, draft.id) == campaign
brief = call(get_campaign_brief, draft.id)
assert brief.tags == [tag] and brief.share_reward_amount == "1.50" and brief.content_pillar.id == pillar.id, brief
assert [resource.type_ for resource in brief.resources] == [None, "video"], brief
share = call(create_share, draft.id)
assert share.member_id == me.member.id and share.link is None, share
assert call(list_shares, draft.id) == [share]
campaigns = call(list_campaigns, tag_ids=[tag.id], filter_=models.ListCampaignsFilter.ACTIVE, include_archived=True)
assert [(found.id, found.shares, found.has_shared) for found in campaigns] == [(draft.id, 1, True)], campaigns

assert call(delete_tag, tag.id).id == tag.id
assert call(delete_content_pillar, pillar.id).id == pillar.id

rejected = create_tag.sync(client=client, body=models.CreateTag(name="a,b"))
assert isinstance(rejected, models.ErrorResponse) and rejected.error.code == "unprocessable_entity", rejected

with urllib.request.urlopen(f"{BASE_URL}/openapi.json") as response:
    paths = json.load(response)["paths"]
documented = {f"{method.upper()} {path}" for path, methods in paths.items() for method in methods}
assert used_operations <= documented, used_operations - documented
print("The operations work as documented.")
