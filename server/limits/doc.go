// Package limits stands before every handler and keeps clients from using up
// the server: by too many connections or requests, by many bodies that arrive
// slowly or all at once, by answers that nobody fetches. What it refuses, it
// refuses with 503 and Retry-After before memory grows. Only bodies that have
// no room wait for it for a while, and small ones never do.
//
// Everything here follows real time, whatever the clock of the service: it is
// about sockets.
package limits
