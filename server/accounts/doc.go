// Package accounts lets people sign in to the dashboard with a password. It
// holds the rules: what a password may be, how it is hashed, how often somebody
// may be wrong, and what a link to set one is good for. The database is the
// store's.
//
// No answer tells whether an account exists: an unknown email takes as long as
// a wrong password, is refused in the same words, and waits as long after too
// many failures.
//
// A flood from one network takes only its share of the hashes that can be made.
// A device where an account has signed in before counts its own wrong passwords,
// and never waits for those of others.
package accounts
