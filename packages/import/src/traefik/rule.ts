import { cidrOf, routeHost } from '../http/addresses.ts'
import type { Condition } from '../http/conditions.ts'
import type { PathCondition } from '../http/model.ts'
import { exactPath, isRegex, pathPattern, pathStart, wholePattern } from '../http/paths.ts'

const MOST_DEPTH = 32

/** Reads a rule such as ``Host(`a`) && !PathPrefix(`/x`)``. An invalid rule becomes an unknown condition. */
export function readRule(text: string): Condition {
  const tokens = text.match(/`[^`]*`|"(?:\\.|[^"\\])*"|[A-Za-z]+|&&|\|\||[!(),]|\S/g) ?? []
  const reader = new Reader(tokens)
  const found = reader.any(0)
  return reader.isAtEnd && found !== null ? found : unknown('the rule is not valid')
}

function unknown(why: string): Condition {
  return { kind: 'unknown', why }
}

class Reader {
  readonly #tokens: readonly string[]
  #at = 0

  constructor(tokens: readonly string[]) {
    this.#tokens = tokens
  }

  get isAtEnd(): boolean {
    return this.#at === this.#tokens.length
  }

  any(depth: number): Condition | null {
    return this.#list('||', 'any', () => this.#list('&&', 'all', () => this.#single(depth)))
  }

  #list(sign: string, kind: 'any' | 'all', read: () => Condition | null): Condition | null {
    const of: Condition[] = []
    do {
      const next = read()
      if (next === null) return null
      of.push(next)
    } while (this.#takes(sign))
    return of.length === 1 ? (of[0] ?? null) : { kind, of }
  }

  #single(depth: number): Condition | null {
    if (depth > MOST_DEPTH) return null
    if (this.#takes('!')) {
      const of = this.#single(depth + 1)
      return of === null ? null : { kind: 'not', of }
    }
    if (this.#takes('(')) {
      const inner = this.any(depth + 1)
      return this.#takes(')') ? inner : null
    }
    const name = this.#tokens[this.#at++] ?? ''
    if (!/^[A-Za-z]+$/.test(name) || !this.#takes('(')) return null
    const values: string[] = []
    while (!this.#takes(')')) {
      const value = this.#tokens[this.#at++] ?? ''
      if (!/^[`"]/.test(value)) return null
      values.push(value.startsWith('`') ? value.slice(1, -1) : value.slice(1, -1).replaceAll(/\\(.)/g, '$1'))
      this.#takes(',')
    }
    return readTest(name.toLowerCase(), values)
  }

  #takes(sign: string): boolean {
    if (this.#tokens[this.#at] !== sign) return false
    this.#at++
    return true
  }
}

function readTest(name: string, values: readonly string[]): Condition {
  const any = (read: (value: string) => Condition): Condition => ({ kind: 'any', of: values.map(read) })
  const path = (found: PathCondition | null): Condition =>
    found === null ? unknown('the gateway cannot compare the path') : { kind: 'path', path: found }
  const [first = '', second] = values
  switch (name) {
    case 'host':
      return any((value) => {
        const host = routeHost(value)
        return host === null || host.startsWith('*')
          ? unknown(`${value.slice(0, 60)} is not a valid hostname`)
          : { kind: 'host', host }
      })
    case 'hostregexp':
      return any((value) => {
        const regex = /\{\w+(:|\})/.test(value) ? '' : wholePattern(`(?i)${value}`)
        return isRegex(regex)
          ? { kind: 'header', header: { name: ':authority', value: { regex } } }
          : unknown('the pattern of the host has named groups, or is not valid RE2 syntax')
      })
    case 'path':
      return any((value) => path(/[{}]/.test(value) ? null : exactPath(value)))
    case 'pathprefix':
      return any((value) => path(/[{}]/.test(value) ? null : pathStart(value)))
    case 'pathregexp':
      return any((value) => path(pathPattern(wholePattern(value))))
    case 'method':
    case 'methods':
      return any((value) => ({ kind: 'method', method: value.toUpperCase() }))
    case 'header':
    case 'headers':
    case 'headerregexp':
    case 'headersregexp': {
      const regex = wholePattern(second ?? '')
      const isPattern = name.includes('regexp')
      if (
        !/^[\w!#$%&'*+.^`|~-]+$/.test(first) ||
        second === undefined ||
        /[^\x20-\x7e]/.test(second) ||
        (isPattern && !isRegex(regex))
      )
        return unknown('the gateway cannot compare the header')
      return { kind: 'header', header: { name: first.toLowerCase(), value: isPattern ? { regex } : { exact: second } } }
    }
    case 'query': {
      const [key = '', value] = second === undefined ? first.split('=', 2) : [first, second]
      if (key === '' || key.length > 256 || value === undefined) return unknown('the query parameter has no value')
      return { kind: 'query', query: { name: key, value: { exact: value } } }
    }
    case 'clientip':
      return any((value) => {
        const cidr = cidrOf(value)
        return cidr === null ? unknown(`${value.slice(0, 60)} is not an address`) : { kind: 'address', cidr }
      })
    default:
      return unknown(`the matcher ${name.slice(0, 40)} has no counterpart`)
  }
}
