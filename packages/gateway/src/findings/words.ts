import { toJson, type Value } from '@portico/cel'
import type { Need, Relation } from '@portico/cel/explain'

/** The wording of explanations: plain sentences, values as JSON. */

const RELATION_WORDS: Readonly<Record<Relation, string>> = {
  equals: 'is',
  differs: 'is not',
  oneOf: 'is one of',
  noneOf: 'is none of',
  contains: 'has',
  lacks: 'does not have',
  startsWith: 'begins with',
  startsOtherwise: 'does not begin with',
  endsWith: 'ends with',
  endsOtherwise: 'does not end with',
  matches: 'matches',
  matchesNot: 'does not match',
  less: 'is less than',
  atMost: 'is at most',
  greater: 'is greater than',
  atLeast: 'is at least',
  present: 'is present',
  absent: 'is missing',
}

/** `jwt.sub is "ann" (it is "eve")`. */
export function wordsOf({ text, wanted, path, found, relation, value }: Need, isKept: boolean): string {
  if (path === null || relation === null) return `\`${text}\` is ${wanted}`
  const needed = [path.join('.'), RELATION_WORDS[relation], ...(value === undefined ? [] : [json(value)])].join(' ')
  if (!isKept) return needed
  return `${needed} (${found === undefined ? 'it is missing' : `it is ${json(found as Value)}`})`
}

function json(value: Value): string {
  return cut(JSON.stringify(toJson(value, { values: 50, characters: 400 })))
}

export function cut(text: string, most = 200): string {
  return text.length > most ? `${text.slice(0, most - 1)}…` : text
}

/** Adds a full stop, unless the text ends with punctuation. */
export function sentence(text: string): string {
  return /[.!?…]$/.test(text) ? text : `${text}.`
}

export function isoTime(millis: number): string {
  return new Date(millis).toISOString()
}
