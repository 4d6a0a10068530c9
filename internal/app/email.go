package app

import (
	"net/url"
	"time"

	"deed.example/deed/internal/email"
	"deed.example/deed/internal/mailer"
	"deed.example/deed/internal/sqldb"
	"deed.example/deed/internal/worker"
)

// newEmails returns the service behind /account/email. If a mail server is configured,
// it sets the dispatcher that sends what is due.
func (a *App) newEmails(base *url.URL) *email.Service {
	store := sqldb.Emails{DB: a.DB, Now: a.now}
	if a.mailer != nil {
		a.Emails = &email.Dispatcher{Queue: store, Sender: a.mailer, Now: a.now, Link: func(token string) string {
			return base.JoinPath("email", "unsubscribe", token).String()
		}}
	}
	return &email.Service{Store: store, On: a.mailer != nil, Now: a.now}
}

// openMailer opens the mail server, if one is configured.
func (a *App) openMailer() (err error) {
	if a.config.EmailServer != "" {
		a.mailer, err = a.config.newMailer(a.now)
	}
	return err
}

func (c *Config) newMailer(now func() time.Time) (*mailer.Mailer, error) {
	return mailer.New(mailer.Config{Server: c.EmailServer, From: c.EmailFrom, Roots: c.Hooks.MailRoots, Now: now})
}

// emailRows returns the e-mail that is to be sent, for the worker.
func (a *App) emailRows() []worker.Rows {
	if a.Emails == nil {
		return nil
	}
	return []worker.Rows{{Name: "e-mail", Due: a.Emails.Due, Advance: a.Emails.Advance, Slots: 4, Timeout: 2 * mailer.Timeout}}
}
