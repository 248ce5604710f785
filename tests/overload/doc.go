// Overload shows what the real program does when far more is asked of it than
// it can do. It starts the server on a database file, has processes of their
// own put it under strain, scene by scene, and a well-behaved client ask it
// meanwhile, and holds what the client and the kernel saw against what is
// promised.
//
//	go run ./tests/overload
//	go run ./tests/overload -connections 500 -seconds 2 -scenes idle,crowd,stop
//
// The well-behaved client has eight connections and makes 200 requests a second
// in all, whether or not the last ones are answered: webhooks that wait for the
// end of a stored run. Its 99th percentile in a scene is the median of that of
// several rounds, and so is the one at rest, of rounds right before and right
// after the scene: a machine is not as fast in one minute as in the next.
//
// The scenes:
//
//	idle     the well-behaved client alone, which the others are held against
//	crowd    thousands of open connections, each of which now and then sends
//	senders  connections that send a byte at a time, or stop half way
//	readers  connections that ask for much and read nothing of it
//	bodies   connections that each send a large body, at once or slowly
//	queue    more runs than may wait, by number and by the size of their input
//	noisy    one trigger that is flooded, beside others that are not
//	limit    a client beyond its rate, and one that waits as it is told
//	stop     SIGTERM under load, again and again
//
// Exit code 1 means that something promised was not kept.
package main
