package blueprint

import (
	"strconv"
	"time"
)

// TimeFormat is the format of Time: RFC 3339 in UTC with three decimals.
const TimeFormat = "2006-01-02T15:04:05.000Z"

// Time is a time in milliseconds since 1970. Zero is none, null in JSON.
type Time int64

// lastTime is the latest time in TimeFormat.
var lastTime = time.Date(9999, 12, 31, 23, 59, 59, int(999*time.Millisecond), time.UTC)

// TimeOf truncates t to milliseconds, at most in the year 9999; zero stays zero.
func TimeOf(t time.Time) Time {
	switch {
	case t.IsZero():
		return 0
	case t.After(lastTime):
		t = lastTime
	}
	return Time(t.UnixMilli())
}

// Time returns the time in UTC, or the zero time.Time.
func (t Time) Time() time.Time {
	if t == 0 {
		return time.Time{}
	}
	return time.UnixMilli(int64(t)).UTC()
}

// String returns the time in TimeFormat, or "".
func (t Time) String() string {
	if t == 0 {
		return ""
	}
	return string(t.append(make([]byte, 0, len(TimeFormat))))
}

// append appends the time in TimeFormat. It is faster than a custom layout of package
// time, and a record has many times.
func (t Time) append(to []byte) []byte {
	at := t.Time()
	milliseconds := at.Nanosecond() / int(time.Millisecond)
	to = at.AppendFormat(to, time.RFC3339)
	return append(to[:len(to)-1], '.', byte('0'+milliseconds/100), byte('0'+milliseconds/10%10), byte('0'+milliseconds%10), 'Z')
}

func (t Time) MarshalJSON() ([]byte, error) {
	if t == 0 {
		return []byte("null"), nil
	}
	return append(t.append(append(make([]byte, 0, len(TimeFormat)+2), '"')), '"'), nil
}

// UnmarshalJSON accepts any RFC 3339 time and null.
func (t *Time) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		*t = 0
		return nil
	}
	text, err := strconv.Unquote(string(data))
	if err != nil {
		return Errorf(CodeBadRequest, "a time must be an RFC 3339 string")
	}
	parsed, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return Errorf(CodeBadRequest, "%q is not an RFC 3339 time", text)
	}
	*t = TimeOf(parsed)
	return nil
}
