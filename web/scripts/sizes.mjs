// Prints what a first visit loads: the page, and every script and style that it names, gzipped.
import { readFileSync, readdirSync } from 'node:fs'
import { gzipSync } from 'node:zlib'

const dist = new URL('../dist/', import.meta.url)
const zipped = (name) => gzipSync(readFileSync(new URL(name, dist)), { level: 9 }).length
const page = readFileSync(new URL('index.html', dist), 'utf8')
const first = ['index.html', ...[...page.matchAll(/(?:src|href)="\/(assets\/[^"]+)"/g)].map((found) => found[1])]
const limit = 300 * 1024

let sum = 0
for (const name of first) {
  const size = zipped(name)
  sum += size
  console.log(`${String(size).padStart(8)}  ${name}`)
}
console.log(`${String(sum).padStart(8)}  bytes gzipped are loaded first (limit ${limit})`)
const later = readdirSync(new URL('assets/', dist))
  .map((name) => `assets/${name}`)
  .filter((name) => !first.includes(name))
console.log(
  `${String(later.reduce((total, name) => total + zipped(name), 0)).padStart(8)}  bytes gzipped in ${later.length} files are loaded when they are needed`,
)
if (sum > limit) process.exit(1)
