import { callText, functionsText } from '../text/forms'

/** A function of the expression language, as suggested. */
export type Offered = { name: string; takes: string; about: string }

const calls = `
len(value)
filter(list, condition)
map(list, expression)
find(list, condition)
findIndex(list, condition)
findLast(list, condition)
findLastIndex(list, condition)
all(list, condition)
any(list, condition)
none(list, condition)
one(list, condition)
count(list, condition)
sum(list, expression)
groupBy(list, expression)
sortBy(list, expression)
sort(list)
first(list)
last(list)
take(list, n)
reverse(list)
uniq(list)
concat(list, list)
flatten(list)
join(list, text)
keys(object)
values(object)
get(value, key)
toPairs(object)
fromPairs(list)
upper(text)
lower(text)
trim(text)
trimPrefix(text, start)
trimSuffix(text, end)
split(text, by)
splitAfter(text, by)
replace(text, old, new)
repeat(text, n)
indexOf(text, part)
lastIndexOf(text, part)
hasPrefix(text, start)
hasSuffix(text, end)
toBase64(text)
fromBase64(text)
toJSON(value)
fromJSON(text)
string(value)
int(value)
float(value)
type(value)
abs(number)
ceil(number)
floor(number)
round(number)
max(numbers)
min(numbers)
mean(numbers)
median(numbers)
bitand(a, b)
bitor(a, b)
bitxor(a, b)
bitnand(a, b)
bitnot(a)
bitshl(a, n)
bitshr(a, n)
bitushr(a, n)`

/** The functions that expressions may call. */
export const functions: Offered[] = calls
  .trim()
  .split('\n')
  .map((call) => {
    const name = call.slice(0, call.indexOf('('))
    return { name, takes: call.slice(name.length), about: callText[name as keyof typeof callText] }
  })

/** The operators written as words. */
export const operators: Offered[] = [
  { name: 'and', takes: '', about: functionsText.bothAreTrueAlso },
  { name: 'or', takes: '', about: functionsText.atLeastOneIsTrueAlso },
  { name: 'not', takes: '', about: functionsText.isNotTrueAlso },
  { name: 'in', takes: '', about: functionsText.isAnItemOfTheList },
  { name: 'contains', takes: '', about: functionsText.theTextContainsAnotherText },
  { name: 'startsWith', takes: '', about: functionsText.theTextStartsWithAnotherText },
  { name: 'endsWith', takes: '', about: functionsText.theTextEndsWithAnotherText },
  { name: 'matches', takes: '', about: functionsText.theTextMatchesARegular },
  { name: 'true', takes: '', about: functionsText.true },
  { name: 'false', takes: '', about: functionsText.false },
  { name: 'nil', takes: '', about: functionsText.noValueAlsoNull },
]
