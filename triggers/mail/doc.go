// Package mail receives mail over SMTP for the mailboxes of triggers, and parses
// it. It never sends mail.
//
// # Recipients
//
// A recipient is refused with 550 unless it is the plain address of an active
// mailbox: letters and digits, an @ and the server's mail domain, compared
// without regard to case. Source routes, quoted local parts, % and other domains
// are not supported, so the server cannot be used as a relay.
//
// The reply to a message is 250 only once the decision of every recipient is durable. It is
// 451 if one of them failed with a temporary error (the sender then retries, and recipients
// that have decided recognize the message), and 554 if one of them refused permanently. A
// message that is refused before its recipients can decide, because it is too large or
// malformed, is reported to each of them. For that reason an announced size (RFC 1870) that
// is too large is refused at RCPT and not at MAIL.
//
// # Line endings
//
// Lines end with CR LF and messages with CR LF . CR LF only, which prevents SMTP
// smuggling. A bare CR or LF in a command ends the connection. In a message it
// causes a 554 after the end of the message, and then ends the connection. BDAT is
// not offered, and data sent in clear text after STARTTLS ends the connection.
// guardedConn enforces this below the SMTP library, which receives one command at
// a time.
//
// # Limits
//
// Options holds the configurable limits. The others are 2,048 bytes per command,
// 64 KiB per message line, 1,000 commands per connection, 64 KiB and 200 fields
// per header, 100 parts, 10 levels of nesting, and 1 MiB each of text and HTML (a
// longer part becomes an attachment). By default all messages together may use
// 128 MiB of memory, and eight of them, two per network, may be larger than
// 1 MiB; beyond that the reply is 452. A transfer slower than 1 KiB per second is
// aborted after 30 seconds.
//
// # Sender authentication
//
// SPF (RFC 7208), DKIM (RFC 6376) and DMARC (RFC 7489, with the DNS tree walk of its
// successor in place of the public suffix list) are evaluated for every message, within 10
// seconds and 40 lookups of at most 2 seconds each. This package reports the results; the
// trigger decides about the consequences.
package mail
