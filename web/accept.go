package web

import (
	"strconv"
	"strings"
)

// weightOf gives how much a header like Accept or Accept-Encoding asks for a
// thing by its name: 0 is not at all, 1 is most (RFC 9110, 12.4.2).
func weightOf(header []string, name string) float64 {
	for item := range strings.SplitSeq(strings.Join(header, ","), ",") {
		item, parameters, _ := strings.Cut(item, ";")
		if !strings.EqualFold(strings.TrimSpace(item), name) {
			continue
		}
		for parameter := range strings.SplitSeq(parameters, ";") {
			key, value, _ := strings.Cut(strings.TrimSpace(parameter), "=")
			if strings.EqualFold(key, "q") {
				weight, err := strconv.ParseFloat(value, 64)
				if err != nil || weight < 0 {
					return 0
				}
				return min(weight, 1)
			}
		}
		return 1
	}
	return 0
}
