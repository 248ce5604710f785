package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
)

// signer gives the headers that prove who sends a delivery and, where they do,
// say which one it is.
type signer func(secret string, d *delivery) []string

// hmacOf is the hexadecimal HMAC-SHA256 of a text.
func hmacOf(secret, text string) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(text))
	return hex.EncodeToString(mac.Sum(nil))
}

// unsigned shows only which delivery it is.
func unsigned(_ string, d *delivery) []string { return []string{"Idempotency-Key", d.id} }

// signPlain signs the body alone.
func signPlain(secret string, d *delivery) []string {
	return []string{"X-Webhook-Signature", hmacOf(secret, string(d.body)), "Idempotency-Key", d.id}
}

// signGitHub signs as GitHub does.
func signGitHub(secret string, d *delivery) []string {
	return []string{"X-Hub-Signature-256", "sha256=" + hmacOf(secret, string(d.body)), "X-GitHub-Delivery", d.id, "X-GitHub-Event", "push"}
}

// signStripe signs as Stripe does: with the time, and the id in the body.
func signStripe(secret string, d *delivery) []string {
	at := strconv.FormatInt(now().Unix(), 10)
	return []string{"Stripe-Signature", "t=" + at + ",v1=" + hmacOf(secret, at+"."+string(d.body))}
}

// signSlack signs as Slack does, version 0.
func signSlack(secret string, d *delivery) []string {
	at := strconv.FormatInt(now().Unix(), 10)
	return []string{"X-Slack-Request-Timestamp", at, "X-Slack-Signature", "v0=" + hmacOf(secret, "v0:"+at+":"+string(d.body))}
}
