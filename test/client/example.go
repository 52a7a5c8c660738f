// Calls operations of each resource of the service at BASE_URL with the API key KEY, through the client that oapi-codegen generates.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"example.com/app/advocacy"
)

var uuid = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f-]{27}`)
var usedOperations = map[string]bool{}

// response is a response of the generated client.
type response interface{ StatusCode() int }

// must returns a successful response.
func must[R response](r R, err error) R {
	check(err)
	assert(r.StatusCode() < 300, r)
	return r
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func assert(isTrue bool, what any) {
	if !isTrue {
		panic(fmt.Sprintf("%+v", what))
	}
}

func pointer[T any](value T) *T { return &value }

func amount(decimal string) (a advocacy.Amount) {
	check(a.FromAmount1(decimal))
	return a
}

func main() {
	ctx := context.Background()
	baseURL := os.Getenv("BASE_URL")
	prepare := func(_ context.Context, request *http.Request) error {
		request.Header.Set("Authorization", "Bearer "+os.Getenv("KEY"))
		usedOperations[request.Method+" "+uuid.ReplaceAllString(request.URL.Path, "{id}")] = true
		return nil
	}
	client, err := advocacy.NewClientWithResponses(baseURL, advocacy.WithRequestEditorFn(prepare))
	check(err)
	unique := fmt.Sprint(time.Now().UnixNano())

	me := must(client.GetMeWithResponse(ctx)).JSON200
	assert(me.Member != nil && me.Key.Access == "full", me)

	key := &advocacy.CreateTagParams{IdempotencyKey: pointer("go-" + unique)}
	tag := must(client.CreateTagWithResponse(ctx, key, advocacy.CreateTag{Name: "Go " + unique})).JSON201
	again := must(client.CreateTagWithResponse(ctx, key, advocacy.CreateTag{Name: "Go " + unique})).JSON201
	assert(*again == *tag, again)
	tag = must(client.UpdateTagWithResponse(ctx, tag.Id, advocacy.UpdateTag{Name: "Renamed " + unique})).JSON200
	assert(*must(client.GetTagWithResponse(ctx, tag.Id)).JSON200 == *tag, tag)
	tags := *must(client.ListTagsWithResponse(ctx, &advocacy.ListTagsParams{Search: &unique})).JSON200
	assert(slices.Equal(tags, []advocacy.Tag{*tag}), tags)

	group := must(client.CreateGroupWithResponse(ctx, nil, advocacy.CreateGroup{Name: "Readers " + unique})).JSON201
	group = must(client.UpdateGroupWithResponse(ctx, group.Id, advocacy.UpdateGroup{Description: pointer("Readers.")})).JSON200
	assert(*must(client.GetGroupWithResponse(ctx, group.Id)).JSON200 == *group, group)
	groups := *must(client.ListGroupsWithResponse(ctx, &advocacy.ListGroupsParams{Search: &unique})).JSON200
	assert(slices.Equal(groups, []advocacy.Group{*group}), groups)

	newMember := advocacy.CreateMember{Name: "Kim", Email: unique + "@example.com", Groups: &[]advocacy.Id{group.Id}}
	member := must(client.CreateMemberWithResponse(ctx, nil, newMember)).JSON201
	member = must(client.UpdateMemberWithResponse(ctx, member.Id, advocacy.UpdateMember{Name: pointer("Kim Lee")})).JSON200
	assert(must(client.GetMemberWithResponse(ctx, member.Id)).JSON200.Name == "Kim Lee", member)
	members := *must(client.ListMembersWithResponse(ctx, &advocacy.ListMembersParams{Search: &unique})).JSON200
	assert(len(members) == 1 && members[0].Id == member.Id, members)
	assert(must(client.DeleteMemberWithResponse(ctx, member.Id)).JSON200.Id == member.Id, member)
	accepted := must(client.AcceptInvitationWithResponse(ctx, nil)).JSON200
	assert(accepted.Member.Id == me.Member.Id, accepted)

	domain := must(client.CreateDomainWithResponse(ctx, nil, advocacy.CreateDomain{Slug: unique + ".example.com"})).JSON201
	notFoundURL := "https://example.com/not-found"
	domain = must(client.UpdateDomainWithResponse(ctx, domain.Id, advocacy.UpdateDomain{NotFoundUrl: &notFoundURL})).JSON200
	assert(domain.NotFoundUrl == notFoundURL, domain)
	assert(*must(client.GetDomainWithResponse(ctx, domain.Id)).JSON200 == *domain, domain)
	domains := *must(client.ListDomainsWithResponse(ctx, &advocacy.ListDomainsParams{Search: &unique})).JSON200
	assert(slices.Equal(domains, []advocacy.Domain{*domain}), domains)

	question := must(client.CreateInspirationQuestionWithResponse(ctx, nil, advocacy.CreateInspirationQuestion{
		Question: "What did you learn last week?",
		Icon:     pointer(advocacy.Icon("book")),
		Groups:   &[]advocacy.Id{group.Id},
	})).JSON201
	must(client.GetInspirationQuestionWithResponse(ctx, question.Id))
	ofGroup := &advocacy.ListInspirationQuestionsParams{GroupIds: &[]advocacy.Id{group.Id}}
	questions := *must(client.ListInspirationQuestionsWithResponse(ctx, ofGroup)).JSON200
	assert(len(questions) == 1 && questions[0].Id == question.Id, questions)
	inactive := advocacy.UpdateInspirationQuestion{IsActive: pointer(false)}
	assert(!must(client.UpdateInspirationQuestionWithResponse(ctx, question.Id, inactive)).JSON200.IsActive, question)
	assert(must(client.DeleteInspirationQuestionWithResponse(ctx, question.Id)).JSON200.Id == question.Id, question)

	pillar := must(client.CreateContentPillarWithResponse(ctx, nil, advocacy.CreateContentPillar{
		Title: "Go " + unique,
		Color: "red",
	})).JSON201
	assert(pillar.AuthorId == me.Member.Id, pillar)
	green := advocacy.UpdateContentPillar{Color: pointer(advocacy.UpdateContentPillarColor("green"))}
	pillar = must(client.UpdateContentPillarWithResponse(ctx, pillar.Id, green)).JSON200
	assert(*must(client.GetContentPillarWithResponse(ctx, pillar.Id)).JSON200 == *pillar, pillar)
	pillars := *must(client.ListContentPillarsWithResponse(ctx, nil)).JSON200
	assert(slices.Contains(pillars, *pillar), pillars)

	targetShares := &advocacy.WholeNumber{}
	check(targetShares.FromWholeNumber0(9007199254740991))
	resource := advocacy.CreateCampaign_Resources_Item{}
	check(resource.FromCampaignResource(advocacy.CampaignResource{Url: "https://example.com/video.mp4"}))
	campaign := must(client.CreateCampaignWithResponse(ctx, nil, advocacy.CreateCampaign{
		Name:                 "Go " + unique,
		Status:               "draft",
		DestinationUrl:       "https://example.com/product",
		StartDate:            "2026-01-01",
		EndDate:              "2099-12-31T23:00:00+01:00",
		ShareRewardAmount:    amount("1.50"),
		ClickRewardAmount:    amount("0.05"),
		MaxRewardPerEmployee: amount("50"),
		TotalBudget:          amount("1000"),
		TargetShares:         targetShares,
		Domain:               &domain.Slug,
		TagIds:               &[]advocacy.Id{tag.Id},
		ContentPillarId:      &pillar.Id,
		Resources:            &[]advocacy.CreateCampaign_Resources_Item{resource},
	})).JSON201
	assert(*campaign.TargetShares == 9007199254740991, campaign)
	published := advocacy.UpdateCampaign{Status: pointer(advocacy.UpdateCampaignStatus("published"))}
	must(client.UpdateCampaignWithResponse(ctx, campaign.Id, published))
	assert(must(client.GetCampaignWithResponse(ctx, campaign.Id)).JSON200.Status == "published", campaign)
	brief := must(client.GetCampaignBriefWithResponse(ctx, campaign.Id)).JSON200
	assert(brief.ShareRewardAmount == "1.50" && brief.ContentPillar.Id == pillar.Id && len(brief.Resources) == 1, brief)
	share := must(client.CreateShareWithResponse(ctx, campaign.Id, nil)).JSON201
	assert(share.MemberId == me.Member.Id && share.Link == nil, share)
	shares := *must(client.ListSharesWithResponse(ctx, campaign.Id, nil)).JSON200
	assert(len(shares) == 1, shares)
	ofTag := &advocacy.ListCampaignsParams{TagIds: &[]advocacy.Id{tag.Id}, IncludeArchived: pointer(true)}
	campaigns := *must(client.ListCampaignsWithResponse(ctx, ofTag)).JSON200
	assert(len(campaigns) == 1 && campaigns[0].Shares == 1 && *campaigns[0].HasShared, campaigns)

	must(client.DeleteTagWithResponse(ctx, tag.Id))
	must(client.DeleteContentPillarWithResponse(ctx, pillar.Id))

	rejected, err := client.CreateTagWithResponse(ctx, nil, advocacy.CreateTag{Name: "a,b"})
	check(err)
	assert(rejected.JSON422.Error.Code == "unprocessable_entity", rejected)

	documented, err := http.Get(baseURL + "/openapi.json")
	check(err)
	defer documented.Body.Close()
	var document struct{ Paths map[string]map[string]any }
	check(json.NewDecoder(documented.Body).Decode(&document))
	for path, methods := range document.Paths {
		for method := range methods {
			delete(usedOperations, strings.ToUpper(method)+" "+path)
		}
	}
	assert(len(usedOperations) == 0, usedOperations)
	fmt.Println("The operations work as documented.")
}
