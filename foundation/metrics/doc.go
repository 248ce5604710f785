// Package metrics counts what a program does and writes it down in the text
// format that Prometheus and its kin read, version 0.0.4.
//
// Rooms keep counters and histograms, whose labels and bounds are fixed when
// they are made: what is counted never makes a new series, so that no caller
// can fill the memory of whoever reads them. Counting takes one atomic
// addition and no memory. Once somebody asks, a [Page] is made of them.
package metrics
