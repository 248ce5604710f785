import { jsonCheckText } from '../text/parts'

/** Where and why a text is not JSON; line and column start at 1. */
export type JsonFault = { line: number; column: number; message: string }

/**
 * Finds the first fault of a JSON text; undefined for a valid one. Browsers report the position in different ways or
 * not at all, so it is searched here.
 */
export function checkJson(text: string): JsonFault | undefined {
  const reader = new Reader(text)
  try {
    reader.blank()
    reader.value(0)
    reader.blank()
    if (reader.at < text.length) reader.fail(jsonCheckText.unexpectedTextAfterTheValue)
    return undefined
  } catch (fault) {
    if (!(fault instanceof Fault)) throw fault
    const before = text.slice(0, fault.at).split('\n')
    return { line: before.length, column: before.at(-1)!.length + 1, message: fault.message }
  }
}

class Fault extends Error {
  constructor(
    message: string,
    readonly at: number,
  ) {
    super(message)
  }
}

const deepest = 500

class Reader {
  at = 0
  constructor(private readonly text: string) {}

  fail(message: string, at = this.at): never {
    throw new Fault(message, at)
  }

  blank(): void {
    this.at += this.matched(/[ \t\r\n]*/y).length
  }

  value(depth: number): void {
    if (depth > deepest) this.fail(jsonCheckText.tooManyNestedLevels)
    const char = this.text[this.at]
    if (char === undefined) this.fail(jsonCheckText.missingValueAtTheEnd)
    if (char === '{') return this.list(depth, '}', () => this.entry(depth))
    if (char === '[') return this.list(depth, ']', () => this.value(depth + 1))
    if (char === '"') return this.string()
    if (char === "'") this.fail(jsonCheckText.textMustBeInDoubleQuotes)
    const word = this.matched(/[A-Za-z_]+/y)
    if (word) {
      if (!['true', 'false', 'null'].includes(word)) this.fail(jsonCheckText.isNotAValueTextMust(word.slice(0, 40)))
      this.at += word.length
      return
    }
    const number = this.matched(/-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?/y)
    if (!number) this.fail(jsonCheckText.unexpected(char))
    this.at += number.length
    if (/[\d.\w]/.test(this.text[this.at] ?? '')) this.fail(jsonCheckText.invalidNumber)
  }

  private entry(depth: number): void {
    const char = this.text[this.at]
    if (char !== '"') this.fail(char === undefined ? jsonCheckText.missing : jsonCheckText.expectedAKeyInDoubleQuotes)
    this.string()
    this.blank()
    if (this.text[this.at] !== ':') this.fail(jsonCheckText.expectedAfterTheKey)
    this.at++
    this.blank()
    this.value(depth + 1)
  }

  private list(_depth: number, end: string, one: () => void): void {
    const start = this.at++
    this.blank()
    if (this.text[this.at] === end) return void this.at++
    for (;;) {
      one()
      this.blank()
      const char = this.text[this.at]
      if (char === end) return void this.at++
      if (char === undefined) this.fail(jsonCheckText.missing2(end), start)
      if (char !== ',') this.fail(jsonCheckText.expectedOr(end))
      const comma = this.at++
      this.blank()
      if (this.text[this.at] === end) this.fail(jsonCheckText.trailingComma, comma)
    }
  }

  private string(): void {
    const start = this.at++
    for (;;) {
      this.at += this.matched(/[^"\\\u0000-\u001f]*/y).length
      const char = this.text[this.at]
      if (char === '"') return void this.at++
      if (char === undefined) this.fail(jsonCheckText.missingClosingQuote, start)
      if (char !== '\\') this.fail(jsonCheckText.escapeControlCharacters)
      const escape = this.matched(/\\(["\\/bfnrt]|u[0-9a-fA-F]{4})/y)
      if (!escape) this.fail(jsonCheckText.unknownEscapeSequence)
      this.at += escape.length
    }
  }

  private matched(pattern: RegExp): string {
    pattern.lastIndex = this.at
    return pattern.exec(this.text)?.[0] ?? ''
  }
}
