import { passwordStrengthText } from '../../text/sign-in'

/** Estimates how hard a password is to guess, without a dictionary file: enough to warn of weak ones. */

/** The server refuses fewer characters. */
export const shortest = 10
/** The server refuses more bytes. */
export const longest = 1000

/** 0: not accepted. 1 weak, 2 fair, 3 good, 4 strong. */
export type Strength = { level: 0 | 1 | 2 | 3 | 4; word: string; advice: string }

const common = [
  'password',
  'passwort',
  'qwerty',
  'qwertz',
  'azerty',
  'letmein',
  'welcome',
  'iloveyou',
  'admin',
  'administrator',
  'changeme',
  'secret',
  'login',
  'master',
  'monkey',
  'dragon',
  'sunshine',
  'princess',
  'football',
  'baseball',
  'superman',
  'batman',
  'trustno',
  'blueprintd',
  'blueprint',
  'dashboard',
  'test',
  'abc',
  'hallo',
  'hello',
]
const rows = [
  'abcdefghijklmnopqrstuvwxyz',
  '01234567890',
  'qwertyuiop',
  'qwertzuiop',
  'asdfghjkl',
  'zxcvbnm',
  'yxcvbnm',
]

/** Rates a password; known are texts that attackers would try first: the email, the name. */
export function strengthOf(password: string, known: string[] = []): Strength {
  const characters = [...password]
  if (characters.length === 0)
    return {
      level: 0,
      word: '',
      advice: passwordStrengthText.useAtLeastCharactersAFew(shortest),
    }
  if (new TextEncoder().encode(password).length > longest)
    return { level: 0, word: passwordStrengthText.tooLong, advice: passwordStrengthText.useAtMostBytes(longest) }
  if (characters.length < shortest) {
    const missing = shortest - characters.length
    return {
      level: 0,
      word: passwordStrengthText.tooShort,
      advice: passwordStrengthText.addCharacters(missing),
    }
  }
  if (known.some((text) => text.includes('@') && text.trim().toLowerCase() === password.trim().toLowerCase()))
    return { level: 0, word: passwordStrengthText.yourEmail, advice: passwordStrengthText.thePasswordMustNotBeYour }
  const bits = bitsOf(password, known)
  if (bits < 36)
    return {
      level: 1,
      word: passwordStrengthText.weak,
      advice: passwordStrengthText.commonWordsNamesKeyboardRows,
    }
  if (bits < 46) return { level: 2, word: passwordStrengthText.fair, advice: passwordStrengthText.addOneOrTwoMoreWords }
  if (bits < 70) return { level: 3, word: passwordStrengthText.good, advice: passwordStrengthText.hardToGuess }
  return { level: 4, word: passwordStrengthText.strong, advice: passwordStrengthText.veryHardToGuess }
}

// The bits of a search that knows common words, the user's data, rows of keys and repetitions.
function bitsOf(password: string, known: string[]): number {
  let text = password.toLowerCase()
  let bits = 0
  const words = [...known.flatMap((one) => [one, ...one.split(/[^\p{L}\p{N}]+/u)]), ...common]
    .map((word) => word.toLowerCase())
    .filter((word) => word.length >= 3)
  words.sort((a, b) => b.length - a.length)
  for (const word of words) {
    while (text.includes(word)) {
      text = text.replace(word, '\u0000')
      bits += 6 // one of a few dozen
    }
  }
  const letters = [...text].filter((letter) => letter !== '\u0000')
  const each = Math.log2(alphabetOf(password))
  letters.forEach((letter, index) => {
    bits += cheap(letters, index) ? 1 : each * plainness(letter)
  })
  return bits
}

// A character that follows from the previous ones: a repetition, or the next of a row of keys.
function cheap(letters: string[], index: number): boolean {
  if (index === 0) return false
  const [before, letter] = [letters[index - 1]!, letters[index]!]
  if (before === letter) return true
  if (rows.some((row) => row.includes(before + letter) || row.includes(letter + before))) return true
  for (const period of [2, 3, 4])
    if (
      index >= period &&
      letters.slice(index - period, index).join('') === letters.slice(index - 2 * period, index - period).join('') &&
      letters[index - period] === letter
    )
      return true
  return false
}

// Letters of words are more predictable than other characters.
function plainness(letter: string): number {
  return /\p{L}/u.test(letter) ? 0.62 : 0.85
}

function alphabetOf(password: string): number {
  let size = 0
  if (/[a-z]/.test(password)) size += 26
  if (/[A-Z]/.test(password)) size += 26
  if (/[0-9]/.test(password)) size += 10
  if (/[^A-Za-z0-9]/.test(password)) size += 32
  return Math.max(size, 10)
}
