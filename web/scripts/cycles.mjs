// Fails on import cycles between the files of src/ or between its folders. Type imports and dynamic imports count too: no
// part of a cycle can be understood, tested or moved alone.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

const source = fileURLToPath(new URL('../src/', import.meta.url))

/** The files of src/ that a file imports, as paths relative to src/. */
function importsOf(file) {
  return ts
    .preProcessFile(readFileSync(join(source, file), 'utf8'), true, true)
    .importedFiles.flatMap(({ fileName }) => {
      if (!fileName.startsWith('.')) return []
      const to = join(source, dirname(file), fileName)
      const found = ['', '.ts', '.tsx', '/index.ts', '/index.tsx']
        .map((ending) => to + ending)
        .find((path) => /\.\w+$/.test(path) && existsSync(path))
      if (!found) throw new Error(`src/${file}: ${fileName} is not a file`)
      const within = relative(source, found)
      return /\.tsx?$/.test(found) && !within.startsWith('..') ? [within] : []
    })
}

/** A shortest cycle of a graph (a map of names to sets of names); undefined when there is none. */
function cycleOf(graph) {
  let shortest
  for (const start of graph.keys()) {
    const from = new Map([[start, undefined]])
    const queue = [start]
    for (const at of queue) {
      if (graph.get(at).has(start)) {
        const cycle = [start]
        for (let back = at; back !== start; back = from.get(back)) cycle.splice(1, 0, back)
        if (!shortest || cycle.length < shortest.length) shortest = cycle
        break
      }
      for (const next of graph.get(at)) {
        if (from.has(next)) continue
        from.set(next, at)
        queue.push(next)
      }
    }
  }
  return shortest
}

const files = readdirSync(source, { recursive: true }).filter((name) => /\.tsx?$/.test(name))
const byFile = new Map(files.map((file) => [file, new Set(importsOf(file))]))
const byFolder = new Map(files.map((file) => [dirname(file), new Set()]))
const examples = new Map() // "folder folder" to one import that makes the edge
for (const [file, imports] of byFile) {
  for (const to of imports) {
    const [here, there] = [dirname(file), dirname(to)]
    if (here === there) continue
    byFolder.get(here).add(there)
    if (!examples.has(`${here} ${there}`)) examples.set(`${here} ${there}`, `src/${file} imports src/${to}`)
  }
}

const fileCycle = cycleOf(byFile)
const folderCycle = cycleOf(byFolder)

/** One line per import of a cycle. */
const steps = (cycle, line) => cycle.map((one, i) => `  ${line(one, cycle[(i + 1) % cycle.length])}`).join('\n')
if (fileCycle)
  console.error(`import cycle of files:\n${steps(fileCycle, (from, to) => `src/${from} imports src/${to}`)}`)
if (folderCycle)
  console.error(`import cycle of folders:\n${steps(folderCycle, (from, to) => examples.get(`${from} ${to}`))}`)
if (fileCycle || folderCycle) {
  console.error('hint: move the shared part to a folder below both, or pass it as an argument')
  process.exit(1)
}
console.log(`no import cycles in ${byFile.size} files, ${byFolder.size} folders`)
