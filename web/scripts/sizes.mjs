// Prints the gzipped sizes of what a first visit loads: the page, and the scripts and styles that it references.
import { readFileSync, readdirSync, statSync } from 'node:fs'
import { gzipSync } from 'node:zlib'

const dist = new URL('../dist/', import.meta.url)
const sizeOf = (name) => statSync(new URL(name, dist)).size
const page = readFileSync(new URL('index.html', dist), 'utf8')
const named = [...page.matchAll(/(?:src|href)="\/(assets\/[^"]+)"/g)].map((found) => `${found[1]}.gz`)
const limit = 300 * 1024

let sum = gzipSync(page).length
console.log(`${String(sum).padStart(8)}  index.html`)
for (const name of named) {
  const size = sizeOf(name)
  sum += size
  console.log(`${String(size).padStart(8)}  ${name}`)
}
console.log(`${String(sum).padStart(8)}  bytes gzipped are loaded first (limit ${limit})`)
const later = readdirSync(new URL('assets/', dist))
  .map((name) => `assets/${name}`)
  .filter((name) => !named.includes(name))
console.log(
  `${String(later.reduce((total, name) => total + sizeOf(name), 0)).padStart(8)}  bytes gzipped in ${later.length} files are loaded when they are needed`,
)
if (sum > limit) process.exit(1)
