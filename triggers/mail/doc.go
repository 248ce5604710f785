// Package mail receives mail by SMTP for the mailboxes of triggers, and reads
// it.
//
// # What is accepted
//
// A recipient is refused (550) unless it is the plain form of a mailbox that
// takes mail now: letters and digits, an @ and the server's mail domain, in any
// letter case. Nothing that could mean "pass it on" is understood: no source
// route, no quotes, no %, no other domain. There is no code here that sends.
//
// Once a message is there, each of its recipients decides about it, and what it
// decided is on the disk, before the sender hears 250. It hears 451 when one of
// them could not for a reason that may pass (the sender comes again, and who
// decided already knows the message), and 554 when one refuses for good. Of a
// message that is refused before anybody can decide - it is too large, or cannot
// be read - each recipient is told as well. An announced size (RFC 1870) that is
// too large is therefore refused at RCPT, when it is known to whom.
//
// # Lines
//
// A line ends with CR LF, and a message with CR LF . CR LF, and with nothing
// else. A CR or an LF alone in a command ends the connection; in a message the
// whole message is refused (554) once its end has come, and the connection ends,
// so that no server on the way and this one can disagree about where a message
// ends. BDAT is not offered, and what was sent in clear text behind STARTTLS ends
// the connection. The guardedConn of a connection ensures that, between the network and
// the SMTP library, which gets one command at a time.
//
// # Limits
//
// Options has those that can be chosen. The others: 2,048 bytes a command,
// 64 KiB a line of a message, 1,000 commands a connection, 64 KiB and 200
// fields a header, 100 parts, 10 levels of parts, 1 MiB of text and as much of
// HTML that is handed over as such (a longer part is an attachment). All messages
// together take at most 128 MiB at once, and eight of them, two from one address,
// may be larger than 1 MiB; what is beyond is told 452. A message of which not
// 30 KiB, or the end, come within half a minute is broken off.
//
// # Who sent it
//
// SPF (RFC 7208), DKIM (RFC 6376) and DMARC (RFC 7489, with the tree walk of
// its successor in place of a list of public suffixes) are looked up for each
// message, whoever sends it, within ten seconds and 40 questions, two seconds
// each. What they say is reported; whether it matters is the trigger's matter.
package mail
