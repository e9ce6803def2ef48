package slack_test

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	driftdslack "github.com/driftd/driftd/internal/notify/slack"
)

func TestSettings(t *testing.T) {
	t.Parallel()
	bot, app := file(t, botToken), file(t, appToken)
	tests := map[string]struct {
		set  settings
		want string
	}{
		"nothing":             {settings{}, "setting token_file is missing"},
		"both":                {settings{"token_file": bot, "webhook_url_file": bot}, "exclude each other"},
		"no channel":          {settings{"token_file": bot}, "setting channel is missing"},
		"channel name":        {settings{"token_file": bot, "channel": "#alerts"}, `setting channel is "#alerts": want the channel's ID`},
		"webhook and channel": {settings{"webhook_url_file": bot, "channel": channel}, "setting channel needs token_file"},
		"webhook and buttons": {settings{"webhook_url_file": bot, "app_token_file": app}, "setting app_token_file needs token_file"},
		"webhook and users":   {settings{"webhook_url_file": bot, "users": []string{alice}}, "setting users needs app_token_file"},
		"no buttons":          {settings{"token_file": bot, "channel": channel, "groups": []string{team}}, "setting groups needs app_token_file"},
		"user's name":         {settings{"token_file": bot, "channel": channel, "app_token_file": app, "users": []string{"@alice"}}, `setting users has "@alice"`},
		"group's name":        {settings{"token_file": bot, "channel": channel, "app_token_file": app, "groups": []string{alice}}, `setting groups has "U0ALICE00"`},
		"api":                 {settings{"token_file": bot, "channel": channel, "api_url": "http://slack.example.org/api/"}, "setting api_url"},
		"timeout":             {settings{"token_file": bot, "channel": channel, "timeout": time.Duration(0)}, "setting timeout"},
		"pace":                {settings{"token_file": bot, "channel": channel, "pace": -time.Second}, "setting pace"},
		"no file":             {settings{"token_file": "/nowhere/token", "channel": channel}, "setting token_file: read secret file /nowhere/token"},
		"swapped":             {settings{"token_file": app, "channel": channel}, "setting token_file: the file holds another kind of token (xapp-…)"},
		"swapped app":         {settings{"token_file": bot, "channel": channel, "app_token_file": bot}, "setting app_token_file: the file holds another kind of token (xoxb-…)"},
		"two lines":           {settings{"token_file": file(t, botToken+"\n"+botToken), "channel": channel}, "more than a token"},
		"no address":          {settings{"webhook_url_file": file(t, "s3cr3t")}, "setting webhook_url_file: the file must contain an address"},
		"http address":        {settings{"webhook_url_file": file(t, "http://hooks.example.org/s3cr3t")}, "setting webhook_url_file: the file must contain an address"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := open(driftdslack.Definition(), test.set, slog.New(slog.DiscardHandler))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %q", err, test.want)
			}
			checkNoSecrets(t, fmt.Sprint(err))
		})
	}
}

func TestReceivers(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t)
	if r := mustOpen(t, w.settings(nil)); r.Notifier == nil || r.Listener != nil || r.Mirror != nil {
		t.Errorf("receiver without buttons: %+v, want only a Notifier", r)
	}
	if r := mustOpen(t, w.buttons(nil)); r.Listener == nil {
		t.Errorf("receiver with buttons: no Listener")
	}
	if d := driftdslack.Definition(); d.Type != "slack" {
		t.Errorf("type %q", d.Type)
	}
	withoutUsers := mustOpen(t, w.buttons(settings{"users": []string{}, "groups": []string{}}))
	deliver(t, withoutUsers, firstMessage(), "")
	if got := render(t, w.all()[0].Blocks); strings.Contains(got, "(Ack") {
		t.Errorf("buttons without users and groups:\n%s", got)
	}
}
