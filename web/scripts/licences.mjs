// Writes dist/licences.txt: the licence of every library in the build. A licence that is not on the list below fails the
// build, so that it is reviewed first.
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'

const root = new URL('../', import.meta.url)
const allowed = ['MIT', 'ISC', '0BSD', 'BSD-2-Clause', 'BSD-3-Clause', 'Apache-2.0', 'Unlicense'] // as SPDX names them
const { packages } = JSON.parse(readFileSync(new URL('package-lock.json', root), 'utf8'))
const parts = []
for (const [folder, { version, dev, license, optional }] of Object.entries(packages).sort(([a], [b]) =>
  a < b ? -1 : 1,
)) {
  const at = new URL(`${folder}/`, root)
  if (!folder || dev || optional || !existsSync(at)) continue
  const name = folder.replace(/^.*node_modules\//, '')
  if (name.startsWith('@types/') || name === 'typescript' || name === 'type-fest') continue // types are not in the build
  if (!allowed.includes(license))
    throw new Error(
      `${name} has the licence ${license}; review it, and add it to ${import.meta.url} if it is acceptable`,
    )
  const file = readdirSync(at).find((entry) => /^licen[cs]e/i.test(entry))
  const text = file ? readFileSync(new URL(file, at), 'utf8').replaceAll('\r\n', '\n').trim() : `Licence: ${license}`
  parts.push(`${name} ${version}\n\n${text}\n`)
}
writeFileSync(
  new URL('dist/licences.txt', root),
  `The dashboard holds parts of these libraries.\n\n${parts.join(`\n${'-'.repeat(80)}\n\n`)}`,
)
