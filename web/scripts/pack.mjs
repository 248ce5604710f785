// Replaces the files of dist/ that gzip makes smaller by name.gz, which the server sends unchanged. It leaves index.html,
// into which the server inserts values.
import { readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'

const dist = new URL('../dist/', import.meta.url)
for (const entry of readdirSync(dist, { recursive: true, withFileTypes: true })) {
  if (!entry.isFile() || entry.name === 'index.html') continue
  const file = `${entry.parentPath}/${entry.name}`
  const plain = readFileSync(file)
  const packed = gzipSync(plain, { level: 9 })
  if (packed.length >= plain.length) continue
  writeFileSync(`${file}.gz`, packed)
  rmSync(file)
}
