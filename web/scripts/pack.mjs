// Replaces the files of dist/ that gzip makes smaller by name.gz; the server sends these as they are. The page stays:
// the server writes into it.
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
