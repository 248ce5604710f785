package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"

	"blueprintd/blueprint"
)

// What runs leave behind is most of a database, and SQLite cannot tell when a
// bit of it has turned: it checks how its pages hang together, not what is in
// them. So records, states and journal entries each end with a checksum of four
// bytes, which covers the content and the place that it belongs to. It can
// be checked without the master key.
const checksumSize = 4

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func checksum(data []byte, place string) uint32 {
	return crc32.Update(crc32.ChecksumIEEE([]byte(place)), castagnoli, data)
}

// withChecksum returns what to store for a content, nil for none. It may use the room
// behind the content.
func withChecksum(data []byte, place string) any {
	if data == nil {
		return nil
	}
	return binary.BigEndian.AppendUint32(data, checksum(data, place))
}

// checked takes the checksum off what is stored. A content that is not what was
// stored there is an error that says how to find out more.
func checked(stored *[]byte, place string) error {
	if *stored == nil {
		return nil
	}
	end := len(*stored) - checksumSize
	if end < 0 || binary.BigEndian.Uint32((*stored)[end:]) != checksum((*stored)[:end], place) {
		*stored = nil
		return damagedPart(fmt.Errorf("the checksum of %s does not fit", place))
	}
	*stored = (*stored)[:end:end]
	return nil
}

// The places of what a run leaves behind.
func recordPlace(id string) string { return "record/" + id }
func statePlace(id string) string  { return "state/" + id }
func entryPlace(execution, position int64) string {
	return fmt.Sprintf("journal/%d/%d", execution, position)
}

// checkedRun takes the checksums off what is stored of a run that has ended.
func checkedRun(stored *blueprint.StoredExecution) error {
	return errors.Join(checked(&stored.Record, recordPlace(stored.Row.ID)), checked(&stored.State, statePlace(stored.Row.ID)))
}

// damagedPart explains an error that damage on the disk has caused.
func damagedPart(err error) error {
	return &blueprint.Error{
		Code: blueprint.CodeInternal, Message: "a part of the database is damaged",
		Hint: "blueprintd doctor --full tells which; restore a backup with blueprintd restore",
		Err:  fmt.Errorf("%w; blueprintd doctor --full tells more", err),
	}
}
