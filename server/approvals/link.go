// Package approvals serves approval links: addresses at which a person answers one question of
// a run without an account. A link is signed, not stored. It names a node of a run, so that it
// can be sent before the node asks, and the same link is made again after a crash.
package approvals

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"regexp"
	"strconv"

	"blueprintd/blueprint"
	"blueprintd/foundation/secret"
)

// path is the path of a link, which ends in its token.
const path = "/answer/"

// Link is an approval link.
type Link struct {
	ExecutionID string
	NodeID      string // the address of the node that asks
	// MadeByNode is the address of the node that uses the link; "" for one that a user copied.
	MadeByNode string
	MadeByUser string
	Expires    blueprint.Time // of one that a user copied; 0 for others, which expire with their question
}

const (
	format  = 1             // of a token
	macSize = aes.BlockSize // of a link
)

// longestToken bounds the addresses of nodes in it, which may be nested.
const longestToken = 8 << 10

// Signer makes links.
type Signer struct {
	Key  []byte        // of the database; all processes of a server share it
	Host func() string // the host root of the server
}

// URL returns the address of a link, and its token, which is secret.
func (s Signer) URL(l Link) (address, token string) {
	token = s.token(l)
	return s.Host() + path + token, token
}

// token returns the parts of a link, encrypted with their MAC as the initialization vector: the
// same link always has the same token, which can neither be read nor changed.
func (s Signer) token(l Link) string {
	data := []byte{format}
	for _, part := range []string{l.ExecutionID, l.NodeID, l.MadeByNode, l.MadeByUser, strconv.FormatInt(int64(l.Expires), 36)} {
		data = binary.AppendUvarint(data, uint64(len(part)))
		data = append(data, part...)
	}
	mac := s.sign("link", string(data))[:macSize]
	s.encrypt(mac, data)
	return secret.EncodeToken(append(mac, data...))
}

// encrypt encrypts data in place, or decrypts it.
func (s Signer) encrypt(mac, data []byte) {
	block, err := aes.NewCipher(s.sign("encryption"))
	if err != nil {
		panic("approvals: " + err.Error()) // the key has the right size
	}
	cipher.NewCTR(block, mac).XORKeyStream(data, data)
}

// sign returns the MAC of texts for one purpose.
func (s Signer) sign(purpose string, texts ...string) []byte {
	mac := hmac.New(sha256.New, s.Key)
	for _, text := range append([]string{purpose}, texts...) {
		mac.Write(binary.AppendUvarint(nil, uint64(len(text))))
		mac.Write([]byte(text))
	}
	return mac.Sum(nil)
}

// open returns the link with a token, false for a token that was not made with the key.
func (s Signer) open(token string) (l Link, ok bool) {
	if len(token) > longestToken {
		return l, false
	}
	data, err := secret.DecodeToken(token)
	if err != nil || len(data) < 1+macSize {
		return l, false
	}
	mac, data := data[:macSize:macSize], data[macSize:]
	s.encrypt(mac, data)
	if !hmac.Equal(mac, s.sign("link", string(data))[:macSize]) || data[0] != format {
		return l, false
	}
	data = data[1:]
	var expires string
	for _, part := range []*string{&l.ExecutionID, &l.NodeID, &l.MadeByNode, &l.MadeByUser, &expires} {
		length, size := binary.Uvarint(data)
		if size <= 0 || length > uint64(len(data)-size) {
			return l, false
		}
		*part, data = string(data[size:size+int(length)]), data[size+int(length):]
	}
	at, err := strconv.ParseInt(expires, 36, 64)
	l.Expires = blueprint.Time(at)
	return l, len(data) == 0 && err == nil
}

// anyLink matches links in a text.
var anyLink = regexp.MustCompile(`https?://[^\s"'<>|]*` + path + `[A-Za-z0-9_-]+`)

// LinksIn returns the links in a text.
func LinksIn(text string) []string { return anyLink.FindAllString(text, -1) }

// ID returns a short id of the link with a token, which does not reveal it.
func ID(token string) string {
	sum := sha256.Sum256([]byte("link/" + token))
	return hex.EncodeToString(sum[:6])
}

// ForNode returns the link to a question for the node that uses it, and its token.
func (s Signer) ForNode(executionID, questionAddress, usedBy string) (address, token string) {
	return s.URL(Link{ExecutionID: executionID, NodeID: questionAddress, MadeByNode: usedBy})
}
