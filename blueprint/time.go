package blueprint

import (
	"strconv"
	"time"
)

// TimeFormat is how every instant is written: RFC 3339 in UTC with exactly
// three decimals.
const TimeFormat = "2006-01-02T15:04:05.000Z"

// Time is an instant in milliseconds since 1970. Zero means "none" and is
// null in JSON.
type Time int64

// lastTime is the last instant that TimeFormat can write.
var lastTime = time.Date(9999, 12, 31, 23, 59, 59, int(999*time.Millisecond), time.UTC)

// TimeOf cuts t to milliseconds; the zero time.Time gives zero. What lies
// after the year 9999 becomes its last instant.
func TimeOf(t time.Time) Time {
	switch {
	case t.IsZero():
		return 0
	case t.After(lastTime):
		t = lastTime
	}
	return Time(t.UnixMilli())
}

// Time returns the instant in UTC, or the zero time.Time for none.
func (t Time) Time() time.Time {
	if t == 0 {
		return time.Time{}
	}
	return time.UnixMilli(int64(t)).UTC()
}

// String returns the instant in TimeFormat, or "" for none.
func (t Time) String() string {
	if t == 0 {
		return ""
	}
	return string(t.append(make([]byte, 0, len(TimeFormat))))
}

// append writes the instant in TimeFormat. Package time is quick with RFC 3339 as
// it stands and slow with a layout of one's own, and a record has many instants.
func (t Time) append(to []byte) []byte {
	at := t.Time()
	milliseconds := at.Nanosecond() / int(time.Millisecond)
	to = at.AppendFormat(to, time.RFC3339)
	return append(to[:len(to)-1], '.', byte('0'+milliseconds/100), byte('0'+milliseconds/10%10), byte('0'+milliseconds%10), 'Z')
}

// MarshalJSON writes the instant as a string in TimeFormat, none as null.
func (t Time) MarshalJSON() ([]byte, error) {
	if t == 0 {
		return []byte("null"), nil
	}
	return append(t.append(append(make([]byte, 0, len(TimeFormat)+2), '"')), '"'), nil
}

// UnmarshalJSON reads what MarshalJSON writes, and any RFC 3339 instant.
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
