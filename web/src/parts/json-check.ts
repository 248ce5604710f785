/** Where and why a text is no JSON: line and column count from 1. */
export type JsonFault = { line: number; column: number; message: string }

/**
 * Finds the first fault of a JSON text; undefined for a good one. Browsers tell the place each in their own way or not
 * at all, so we look ourselves.
 */
export function checkJson(text: string): JsonFault | undefined {
  const reader = new Reader(text)
  try {
    reader.blank()
    reader.value(0)
    reader.blank()
    if (reader.at < text.length) reader.fail('nothing may follow the value')
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
    if (depth > deepest) this.fail('nested too deep')
    const char = this.text[this.at]
    if (char === undefined) this.fail('a value is missing at the end')
    if (char === '{') return this.list(depth, '}', () => this.entry(depth))
    if (char === '[') return this.list(depth, ']', () => this.value(depth + 1))
    if (char === '"') return this.string()
    if (char === "'") this.fail('texts stand in double quotes')
    const word = this.matched(/[A-Za-z_]+/y)
    if (word) {
      if (!['true', 'false', 'null'].includes(word))
        this.fail(`"${word.slice(0, 40)}" is no value; a text stands in double quotes`)
      this.at += word.length
      return
    }
    const number = this.matched(/-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?/y)
    if (!number) this.fail(`"${char}" cannot begin a value`)
    this.at += number.length
    if (/[\d.\w]/.test(this.text[this.at] ?? '')) this.fail('this number is malformed')
  }

  private entry(depth: number): void {
    const char = this.text[this.at]
    if (char !== '"')
      this.fail(char === undefined ? 'a closing } is missing' : 'a key in double quotes must stand here')
    this.string()
    this.blank()
    if (this.text[this.at] !== ':') this.fail('a colon must follow the key')
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
      if (char === undefined) this.fail(`the closing ${end} is missing`, start)
      if (char !== ',') this.fail(`a comma or ${end} must stand here`)
      const comma = this.at++
      this.blank()
      if (this.text[this.at] === end) this.fail('no comma may stand after the last one', comma)
    }
  }

  private string(): void {
    const start = this.at++
    for (;;) {
      this.at += this.matched(/[^"\\\u0000-\u001f]*/y).length
      const char = this.text[this.at]
      if (char === '"') return void this.at++
      if (char === undefined) this.fail('the closing quote of this text is missing', start)
      if (char !== '\\') this.fail('a line break or control character in a text must be written as \\n or \\u000a')
      const escape = this.matched(/\\(["\\/bfnrt]|u[0-9a-fA-F]{4})/y)
      if (!escape) this.fail('this escape is unknown')
      this.at += escape.length
    }
  }

  private matched(pattern: RegExp): string {
    pattern.lastIndex = this.at
    return pattern.exec(this.text)?.[0] ?? ''
  }
}
