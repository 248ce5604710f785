package expression

import (
	"maps"
	"slices"
)

// function is one entry of the table of functions.
type function struct {
	least, most int // arguments
	run         func(*invocation) any
}

// invocation is one call; its methods return the arguments by kind.
type invocation struct {
	*evaluation
	name      string
	arguments []any
}

// functions are all functions except predicates. Each spends its budget beforehand.
var functions = map[string]function{
	"len":      {1, 1, length},
	"type":     {1, 1, typeName},
	"string":   {1, 1, func(i *invocation) any { return i.textOf(i.arguments[0]) }},
	"int":      {1, 1, toInt},
	"float":    {1, 1, toFloat},
	"toJSON":   {1, 1, func(i *invocation) any { return i.jsonOf(i.arguments[0]) }},
	"fromJSON": {1, 1, fromJSON},

	"abs":     {1, 1, abs},
	"ceil":    {1, 1, rounding},
	"floor":   {1, 1, rounding},
	"round":   {1, 1, rounding},
	"max":     {1, maxOperations, extreme},
	"min":     {1, maxOperations, extreme},
	"mean":    {1, maxOperations, mean},
	"median":  {1, maxOperations, median},
	"bitand":  {2, 2, bitwise(func(x, y int64) int64 { return x & y })},
	"bitor":   {2, 2, bitwise(func(x, y int64) int64 { return x | y })},
	"bitxor":  {2, 2, bitwise(func(x, y int64) int64 { return x ^ y })},
	"bitnand": {2, 2, bitwise(func(x, y int64) int64 { return x &^ y })},
	"bitshl":  {2, 2, bitwise(func(x, y int64) int64 { return x << uint64(y) })},
	"bitshr":  {2, 2, bitwise(func(x, y int64) int64 { return x >> uint64(y) })},
	"bitushr": {2, 2, bitwise(func(x, y int64) int64 { return int64(uint64(x) >> uint64(y)) })},
	"bitnot":  {1, 1, bitNot},

	"trim":        {1, 2, trim},
	"trimPrefix":  {1, 2, trimEnd},
	"trimSuffix":  {1, 2, trimEnd},
	"upper":       {1, 1, changeCase},
	"lower":       {1, 1, changeCase},
	"split":       {2, 3, split},
	"splitAfter":  {2, 3, split},
	"replace":     {3, 4, replace},
	"repeat":      {2, 2, repeat},
	"join":        {1, 2, join},
	"indexOf":     {2, 2, indexOf},
	"lastIndexOf": {2, 2, indexOf},
	"hasPrefix":   {2, 2, hasEnd},
	"hasSuffix":   {2, 2, hasEnd},
	"toBase64":    {1, 1, toBase64},
	"fromBase64":  {1, 1, fromBase64},

	"first":     {1, 1, first},
	"last":      {1, 1, last},
	"get":       {2, 2, get},
	"take":      {2, 2, take},
	"reverse":   {1, 1, reverse},
	"uniq":      {1, 1, uniq},
	"concat":    {1, maxOperations, concat},
	"flatten":   {1, 1, flatten},
	"sort":      {1, 2, sortList},
	"keys":      {1, 1, keys},
	"values":    {1, 1, values},
	"toPairs":   {1, 1, toPairs},
	"fromPairs": {1, 1, fromPairs},
}

// functionNames are suggested for unknown functions.
var functionNames = slices.AppendSeq(slices.Collect(maps.Keys(functions)), maps.Keys(predicates))

// text returns an argument that must be a string.
func (i *invocation) text(position int) string {
	text, ok := i.arguments[position].(string)
	if !ok {
		panic(failf("%s takes a string, not %s", i.name, KindOf(i.arguments[position])))
	}
	return text
}

// texts returns the first n arguments, all strings, and spends the steps for one scan.
func (i *invocation) texts(n int) []string {
	result, size := make([]string, n), 0
	for position := range result {
		text := i.text(position)
		result[position] = text
		size += len(text)
	}
	i.scan(size)
	return result
}

// items returns an argument that must be an array.
func (i *invocation) items(position int) []any {
	items, ok := i.arguments[position].([]any)
	if !ok {
		panic(failf("%s takes an array, not %s", i.name, KindOf(i.arguments[position])))
	}
	return items
}

// objectArgument returns the first argument, which must be an object, with its keys sorted.
func (i *invocation) objectArgument() (map[string]any, []string) {
	object, ok := i.arguments[0].(map[string]any)
	if !ok {
		panic(failf("%s takes an object, not %s", i.name, KindOf(i.arguments[0])))
	}
	size := 0
	for key := range object {
		size += 24 + len(key)/64
	}
	i.work(size)
	i.memory(16 * len(object))
	names := make([]string, 0, len(object))
	for key := range object {
		names = append(names, key)
	}
	slices.Sort(names)
	return object, names
}

// whole returns an argument that must be a whole number.
func (i *invocation) whole(position int) int64 {
	n, ok := i.number(i.arguments[position])
	if !ok || !n.whole {
		panic(failf("%s takes a whole number within 64 bits, not %s", i.name, KindOf(i.arguments[position])))
	}
	return n.integer
}

// has reports whether an optional argument is present.
func (i *invocation) has(position int) bool { return position < len(i.arguments) }
