package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"

	"blueprintd/blueprint"
)

// The data of runs is most of a database, and SQLite cannot notice a flipped bit in it:
// it checks the structure of its pages, not their content. So records, states and
// journal entries each end with a checksum of four bytes over the content and the
// place that it belongs to. It can be checked without the master key.
const checksumSize = 4

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func checksum(data []byte, place string) uint32 {
	return crc32.Update(crc32.ChecksumIEEE([]byte(place)), castagnoli, data)
}

// withChecksum returns a content with its checksum, nil for none. It may use the
// capacity of data.
func withChecksum(data []byte, place string) any {
	if data == nil {
		return nil
	}
	return binary.BigEndian.AppendUint32(data, checksum(data, place))
}

// checked removes the checksum from a stored value. If the content is not what was
// stored there, it returns an error that says how to find out more.
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

// recordPlace and the two functions below return the place of run data, to which its
// checksum is bound.
func recordPlace(id string) string { return "record/" + id }
func statePlace(id string) string  { return "state/" + id }
func entryPlace(execution, position int64) string {
	return fmt.Sprintf("journal/%d/%d", execution, position)
}

// checkedRun removes the checksums from a stored run that has ended.
func checkedRun(stored *blueprint.StoredExecution) error {
	return errors.Join(checked(&stored.Record, recordPlace(stored.Row.ID)), checked(&stored.State, statePlace(stored.Row.ID)))
}

// damagedPart returns the error for data that is damaged on the disk.
func damagedPart(err error) error {
	return &blueprint.Error{
		Code: blueprint.CodeInternal, Message: "a part of the database is damaged",
		Hint: "blueprintd doctor --full tells which; restore a backup with blueprintd restore",
		Err:  fmt.Errorf("%w; blueprintd doctor --full tells more", err),
	}
}
