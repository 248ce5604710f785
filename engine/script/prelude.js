// What stands between a script and the child process. It runs before the script
// and in the same world, so the script can break it and then breaks only itself:
// whatever comes out of here is taken for what it is, a claim. The bounds are
// kept here so that what is too large never leaves the virtual machine. Texts
// are joined by + alone: a template literal asks String.prototype how.
(most => {
  'use strict'
  const { parse, stringify, rawJSON } = JSON
  const { defineProperty } = Object
  const { construct } = Reflect
  const AnError = Error, AString = String
  const slice = Function.prototype.call.bind(AString.prototype.slice)

  const state = { ended: false, output: '', tooLarge: false, result: false, thrown: '', log: '', lines: 0, size: 0 }

  const hidden = (object, key, value) => defineProperty(object, key, { value, writable: true, enumerable: false, configurable: true })

  const shown = value => {
    if (typeof value === 'string') return value
    try {
      if (value instanceof AnError) return value.name + ': ' + value.message
      if (typeof value === 'object' && value !== null) {
        const text = stringify(value)
        if (typeof text === 'string') return text
      }
      return AString(value)
    } catch {
      return '(a value that cannot be shown)'
    }
  }

  const note = (level, args) => {
    if (state.lines > most.lines || state.size > most.log) return
    let line = ''
    for (let i = 0; i < args.length && line.length <= most.log; i++) line += (i > 0 ? ' ' : '') + shown(args[i])
    if (state.lines === most.lines || state.size + line.length > most.log) {
      level = 'warn'
      line = 'the log of this script is full; the rest is dropped'
      state.size = most.log + 1
    }
    state.size += line.length
    // One by one: an array of them would ask the script how it is to be written.
    state.log += (state.lines++ > 0 ? ',' : '') + '[' + stringify(level) + ',' + stringify(line) + ']'
  }

  const console = {}
  const levels = { log: 'info', info: 'info', debug: 'debug', trace: 'debug', warn: 'warn', error: 'error' }
  for (const name in levels) {
    const level = levels[name]
    hidden(console, name, (...args) => note(level, args))
  }
  hidden(globalThis, 'console', console)

  hidden(BigInt.prototype, 'toJSON', function toJSON() { return rawJSON(AString(this)) })

  const setClock = (now, still) => {
    const Real = Date, tick = Real.now, begin = tick()
    const instant = still ? () => now : () => now + tick() - begin
    const Shifted = function (...args) {
      if (!new.target) return new Real(instant()).toString()
      return construct(Real, args.length > 0 ? args : [instant()], new.target)
    }
    defineProperty(Shifted, 'name', { value: 'Date', configurable: true })
    defineProperty(Shifted, 'length', { value: 7, configurable: true })
    defineProperty(Shifted, 'prototype', { value: Real.prototype, writable: false })
    hidden(Shifted, 'now', instant)
    hidden(Shifted, 'parse', Real.parse)
    hidden(Shifted, 'UTC', Real.UTC)
    hidden(Real.prototype, 'constructor', Shifted)
    hidden(globalThis, 'Date', Shifted)
  }

  // Chance that follows from a seed of two times 32 bits: numbers of 53 bits.
  const setChance = (a, b) => {
    const { imul } = Math
    const next = () => {
      a = a + 0x9e3779b9 | 0
      b = imul(b ^ b >>> 15, 0x2c1b3c6d) + a | 0
      let mixed = imul(b ^ b >>> 16, 0x21f0aaad)
      mixed = imul(mixed ^ mixed >>> 15, 0x735a2d97)
      return (mixed ^ mixed >>> 15) >>> 0
    }
    hidden(Math, 'random', () => ((next() >>> 5) * 0x4000000 + (next() >>> 6)) / 0x20000000000000)
  }

  const cut = text => typeof text === 'string' ? slice(text, 0, most.thrown) : ''

  const caught = error => {
    let name = '', message = '', stack = ''
    try {
      if (error instanceof AnError) {
        name = cut(AString(error.name))
        message = cut(AString(error.message))
        stack = cut(error.stack)
      } else {
        message = cut(shown(error))
        name = error === null ? 'null' : 'thrown'
      }
    } catch {
      message = '(an error that cannot be shown)'
    }
    state.thrown = '{"name":' + stringify(name) + ',"message":' + stringify(message) + ',"stack":' + stringify(stack) + '}'
    state.ended = true
  }

  const act = {
    // The name of this function marks in a stack where the script's own frames end.
    async '(sandbox)'(script, values) {
      let text
      try {
        const value = await script(values.input, values.inputData, values.variables, values.nodes)
        try {
          text = stringify(value)
        } catch (error) {
          state.result = true
          throw error
        }
      } catch (error) {
        return caught(error)
      }
      if (text === undefined) text = 'null'
      if (text.length > most.output) state.tooLarge = true
      else state.output = text
      state.ended = true
    },
  }

  return (script, values, now, still, seedHigh, seedLow) => {
    if (script === undefined) {
      return '{"ended":' + state.ended + ',"tooLarge":' + state.tooLarge + ',"result":' + state.result + ',"log":[' + state.log + ']' +
        (state.output === '' ? '' : ',"output":' + state.output) + (state.thrown === '' ? '' : ',"thrown":' + state.thrown) + '}'
    }
    setClock(now, still)
    if (seedHigh !== 0 || seedLow !== 0) setChance(seedHigh, seedLow)
    const seen = parse(values)
    const denied = seen.denied ?? []
    for (let i = 0; i < denied.length; i++) {
      const get = () => { throw new AnError('variable "' + denied[i] + '" is secret, and the user who started this run may not use it') }
      defineProperty(seen.variables, denied[i], { get, enumerable: true, configurable: true })
    }
    act['(sandbox)'](script, seen)
  }
})
