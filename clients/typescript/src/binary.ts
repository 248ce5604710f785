import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, join, resolve } from 'node:path'

const hint = 'hint: install blueprintd, or build it with `make build`, and set BLUEPRINTD_BINARY=/path/to/blueprintd'

/** Finds the program: by option, by the environment variable BLUEPRINTD_BINARY, on the PATH. */
export function findBinary(option?: string): string {
  if (option) return named(option, 'the option binary')
  const variable = process.env['BLUEPRINTD_BINARY']
  if (variable) return named(variable, 'BLUEPRINTD_BINARY')
  const name = process.platform === 'win32' ? 'blueprintd.exe' : 'blueprintd'
  for (const folder of (process.env['PATH'] ?? '').split(delimiter)) {
    if (folder && isProgram(join(folder, name))) return join(folder, name)
  }
  throw new Error(`blueprintd not found: neither the option binary nor BLUEPRINTD_BINARY names one, and none is on the PATH.\n${hint}`)
}

function named(path: string, by: string): string {
  const full = resolve(path)
  if (!isProgram(full)) throw new Error(`${by} names ${full}, which is no program.\n${hint}`)
  return full
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}
