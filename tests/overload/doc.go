// Overload checks how the real program behaves far beyond its capacity. It starts
// the server on a database file and, scene by scene, puts a load on it from other
// processes while a well-behaved client sends requests. It compares what the client
// and the kernel saw with what is promised.
//
//	go run ./tests/overload
//	go run ./tests/overload -connections 500 -seconds 2 -scenes idle,crowd,stop
//
// The well-behaved client sends 200 requests a second over eight connections,
// whether or not the previous ones were answered, to webhooks that wait for the end
// of a stored run. Its 99th percentile in a scene is the median over several rounds.
// It is compared with the median of idle rounds right before and right after the
// scene, because the speed of a machine varies from minute to minute.
//
// The scenes:
//
//	idle     the well-behaved client alone, the baseline of the other scenes
//	crowd    thousands of open connections, each with an occasional request
//	senders  connections that send a byte at a time, or stop half way
//	readers  connections that request large responses and never read them
//	bodies   connections that each send a large body, at once or slowly
//	queue    more runs than may wait, by number and by the size of their input
//	noisy    one trigger that is flooded, beside others that are not
//	limit    a client beyond its rate, and one that obeys Retry-After
//	stop     SIGTERM under load, repeatedly
//
// Exit code 1 means that a check failed.
package main
