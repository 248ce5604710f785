package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
)

// signatureNamespace limits a signature to this purpose: one that the same key made for Git,
// for example, does not verify as that of a release.
const (
	signatureNamespace = "blueprintd-release"
	signatureSuffix    = ".sig"
)

// checkKey verifies that a key can be used before everything is built.
func checkKey(key string) error {
	if key == "" {
		return nil
	}
	if _, err := os.Stat(key); err != nil {
		return fmt.Errorf("the signing key: %w\nhint: ssh-keygen -t ed25519 -f %s creates one", err, key)
	}
	if _, err := exec.LookPath("ssh-keygen"); err != nil {
		return fmt.Errorf("ssh-keygen is missing: %w\nhint: install OpenSSH, such as with apt-get install openssh-client", err)
	}
	return nil
}

// sign writes the signature of a file beside it. ssh-keygen may ask for a passphrase, or for
// a touch of a hardware key.
func sign(path, key string) error {
	if key == "" {
		fmt.Fprintln(os.Stderr, "not signed: no signing key was given")
		return nil
	}
	if err := os.Remove(path + signatureSuffix); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	command := exec.Command("ssh-keygen", "-q", "-Y", "sign", "-f", key, "-n", signatureNamespace, path)
	command.Stdin, command.Stdout, command.Stderr = os.Stdin, os.Stderr, os.Stderr
	if err := command.Run(); err != nil {
		return fmt.Errorf("sign %s with %s: %w", path, key, err)
	}
	return nil
}
