/** A function of the expression language, as it is offered. */
export type Offered = { name: string; takes: string; about: string }

const table = `
len(value)|How many items, keys or characters there are
filter(list, condition)|The items for which the condition holds: filter(input.orders, .total > 10)
map(list, expression)|What the expression gives for each item: map(input.orders, .id)
find(list, condition)|The first item for which the condition holds
findIndex(list, condition)|The position of the first such item
findLast(list, condition)|The last item for which the condition holds
findLastIndex(list, condition)|The position of the last such item
all(list, condition)|Whether the condition holds for all items
any(list, condition)|Whether it holds for at least one
none(list, condition)|Whether it holds for none
one(list, condition)|Whether it holds for exactly one
count(list, condition)|For how many items the condition holds
sum(list, expression)|The sum of the items, or of what the expression gives
groupBy(list, expression)|An object with the items by what the expression gives
sortBy(list, expression)|The items in the order of what the expression gives; "desc" as third argument turns it
sort(list)|The items in order; "desc" as second argument turns it
first(list)|The first item
last(list)|The last item
take(list, n)|The first n items
reverse(list)|The items from the end to the start
uniq(list)|The items without repetitions
concat(list, list)|Lists one after the other
flatten(list)|The items of lists within the list
join(list, text)|The items as one text with a text between them
keys(object)|The keys, sorted
values(object)|The values, in the order of their keys
get(value, key)|The member or item, nil without one
toPairs(object)|A list of [key, value]
fromPairs(list)|An object of a list of [key, value]
upper(text)|In capitals
lower(text)|In small letters
trim(text)|Without blanks at both ends
trimPrefix(text, start)|Without this start
trimSuffix(text, end)|Without this end
split(text, by)|The parts between a text
splitAfter(text, by)|The parts, each with the text behind it
replace(text, old, new)|With each old replaced by new
repeat(text, n)|The text n times
indexOf(text, part)|Where the part first stands, -1 when it does not
lastIndexOf(text, part)|Where the part last stands
hasPrefix(text, start)|Whether it begins so
hasSuffix(text, end)|Whether it ends so
toBase64(text)|The text in base64
fromBase64(text)|The text of base64
toJSON(value)|The value as JSON text
fromJSON(text)|The value of JSON text
string(value)|The value as text
int(value)|The whole number
float(value)|The number
type(value)|The kind of the value as a word
abs(number)|Without its sign
ceil(number)|The next whole number above
floor(number)|The next whole number below
round(number)|The nearest whole number
max(numbers)|The largest
min(numbers)|The smallest
mean(numbers)|The average
median(numbers)|The one in the middle
bitand(a, b)|Bits set in both
bitor(a, b)|Bits set in one or both
bitxor(a, b)|Bits set in one of them
bitnand(a, b)|Bits set in the first alone
bitnot(a)|The bits turned
bitshl(a, n)|Shifted left
bitshr(a, n)|Shifted right
bitushr(a, n)|Shifted right without sign`

/** The functions that expressions may call. */
export const functions: Offered[] = table
  .trim()
  .split('\n')
  .map((line) => {
    const [call = '', about = ''] = line.split('|')
    return { name: call.slice(0, call.indexOf('(')), takes: call.slice(call.indexOf('(')), about }
  })

/** The operators that are written as words. */
export const operators: Offered[] = [
  { name: 'and', takes: '', about: 'Both hold; also &&' },
  { name: 'or', takes: '', about: 'At least one holds; also ||' },
  { name: 'not', takes: '', about: 'Does not hold; also !' },
  { name: 'in', takes: '', about: 'Is an item of the list, or a key of the object' },
  { name: 'contains', takes: '', about: 'The text holds another' },
  { name: 'startsWith', takes: '', about: 'The text begins with another' },
  { name: 'endsWith', takes: '', about: 'The text ends with another' },
  { name: 'matches', takes: '', about: 'The text fits a regular expression' },
  { name: 'true', takes: '', about: 'Yes' },
  { name: 'false', takes: '', about: 'No' },
  { name: 'nil', takes: '', about: 'No value; also null' },
]
