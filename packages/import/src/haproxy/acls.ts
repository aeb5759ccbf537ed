import { cidrOf, routeHost } from '../http/addresses.ts'
import type { Condition } from '../http/conditions.ts'
import type { PathCondition } from '../http/model.ts'
import { escapeRegex, exactPath, isRegex, pathPattern, pathStart, wholePattern } from '../http/paths.ts'

/** Properties that all requests on a port share. */
export interface PortFacts {
  readonly isTls: boolean
  readonly port: number
}

/** Reads the test of an acl, such as `path_beg -i /api /v1`, as a condition. */
export function readTest(words: readonly string[], facts: PortFacts): Condition {
  const [fetch = '', ...rest] = words
  const { flags, method, values } = readFlags(rest)
  if (flags.has('-f')) return unknown('the importer does not read values from files')
  const { name, argument, suffix, converters } = readFetch(fetch)
  const way = method ?? (suffix === '' ? 'str' : suffix)
  const lower = flags.has('-i') || converters.includes('lower')
  const any = (read: (value: string) => Condition): Condition => ({ kind: 'any', of: values.map(read) })
  if (name === 'always_true' || name === 'always_false') return { kind: 'always', value: name === 'always_true' }
  if (name === 'ssl_fc') return { kind: 'always', value: facts.isTls }
  if (name === 'dst_port') return portCondition(values, facts.port)
  if (name === 'src') {
    return any((value) => {
      const cidr = cidrOf(value)
      return cidr === null ? unknown(`${value} is not an address`) : { kind: 'address', cidr }
    })
  }
  if (name === 'method') return any((value) => ({ kind: 'method', method: value }))
  // The samples `url` and `pathq` contain the query, so only a test for their start is a test of the path.
  if (name === 'path' || ((name === 'url' || name === 'pathq') && way === 'beg'))
    return any((value) => pathCondition(value, way, lower))
  const isHost = (name === 'hdr' && argument.toLowerCase() === 'host') || name === 'ssl_fc_sni' || name === 'base_host'
  if (isHost) return way === 'found' ? { kind: 'always', value: true } : any((value) => hostCondition(value, way))
  if (name === 'hdr' && /^[\w!#$%&'*+.^`|~-]+$/.test(argument)) {
    const header = argument.toLowerCase()
    if (way === 'found') return { kind: 'header', header: { name: header, value: { regex: '.*' } } }
    return any((value) => {
      const regex = patternOf(value, way, lower)
      if (regex === null) return unknown(`the comparison -m ${way} has no counterpart`)
      const isExact = way === 'str' && !lower && !/[^\x20-\x7e]/.test(value)
      return { kind: 'header', header: { name: header, value: isExact ? { exact: value } : { regex } } }
    })
  }
  if (name === 'url_param' && argument !== '' && argument.length <= 256 && way === 'str') {
    return any((value) => ({ kind: 'query', query: { name: argument, value: { exact: value } } }))
  }
  return unknown(`${fetch.slice(0, 60)} has no counterpart`)
}

function unknown(why: string): Condition {
  return { kind: 'unknown', why }
}

function readFlags(words: readonly string[]): { flags: Set<string>; method: string | null; values: string[] } {
  const flags = new Set<string>()
  let method: string | null = null
  const values: string[] = []
  let isOpen = true
  for (let index = 0; index < words.length; index++) {
    const word = words[index] ?? ''
    if (!isOpen || !word.startsWith('-')) {
      isOpen = false
      values.push(word)
    } else if (word === '--') isOpen = false
    else if (word === '-m') method = words[++index] ?? ''
    else if (['-f', '-M', '-u'].includes(word)) {
      flags.add('-f')
      if (word !== '-M') index++
    } else flags.add(word)
  }
  return { flags, method, values }
}

interface Fetch {
  /** The name of the sample without its suffix, such as `path` or `hdr`. */
  readonly name: string
  readonly argument: string
  /** The kind of comparison in the sample's name, such as `beg` in `path_beg`; empty for an exact comparison. */
  readonly suffix: string
  readonly converters: readonly string[]
}

const SAME: Readonly<Record<string, string>> = {
  ...{ 'req.hdr': 'hdr', 'req.fhdr': 'hdr', fhdr: 'hdr', urlp: 'url_param' },
}

function readFetch(text: string): Fetch {
  const [head = '', ...converters] = text.split(/,(?![^(]*\))/)
  const [, whole = '', argument = ''] = /^([\w.]+)(?:\(([^)]*)\))?$/.exec(head) ?? []
  const found = /^(path|pathq|url|hdr|req\.hdr)_(beg|end|sub|dir|dom|reg|len|cnt|ip|val)$/.exec(whole)
  const name = found?.[1] ?? whole
  const [key = ''] = argument.split(',')
  const isKnown = converters.every((each) => ['lower', 'host_only', 'field(1,:)', "field(1,':')"].includes(each))
  return {
    name: isKnown ? (SAME[name] ?? name) : text,
    argument: key,
    suffix: found?.[2] ?? '',
    converters,
  }
}

function portCondition(values: readonly string[], port: number): Condition {
  const numbers = values.filter((value) => value !== 'eq')
  if (numbers.length === 0 || !numbers.every((value) => /^\d+$/.test(value)))
    return unknown('the acl compares a range of ports')
  return { kind: 'always', value: numbers.some((value) => Number(value) === port) }
}

function pathCondition(value: string, way: string, isCaseless: boolean): Condition {
  const regex = patternOf(value, way, isCaseless)
  const path: PathCondition | null =
    way === 'str' && !isCaseless
      ? exactPath(value)
      : way === 'beg' && !isCaseless
        ? pathStart(value)
        : regex === null
          ? null
          : pathPattern(regex)
  if (path !== null) return { kind: 'path', path }
  return unknown(
    way === 'reg' ? 'the pattern is not valid RE2 syntax' : `the path ${value.slice(0, 60)} has no counterpart`,
  )
}

function hostCondition(value: string, way: string): Condition {
  const host = routeHost(value)
  if (way === 'str')
    return host === null ? unknown(`${value.slice(0, 60)} is not a valid hostname`) : { kind: 'host', host }
  const wildcard = way === 'end' && value.startsWith('.') ? routeHost(`*${value}`) : null
  if (wildcard !== null) return { kind: 'host', host: wildcard }
  const regex = way === 'end' ? `(?i).*${escapeRegex(value)}(:[0-9]+)?` : patternOf(value, way, true)
  if (regex === null || !isRegex(regex)) return unknown(`the comparison of the host with -m ${way} has no counterpart`)
  return { kind: 'header', header: { name: ':authority', value: { regex } } }
}

/** Returns a pattern for the whole value; null when the kind of comparison cannot be a pattern. */
function patternOf(value: string, way: string, isCaseless: boolean): string | null {
  const flags = isCaseless ? '(?i)' : ''
  const text = escapeRegex(value)
  switch (way) {
    case 'str':
      return flags + text
    case 'beg':
      return `${flags}${text}.*`
    case 'end':
      return `${flags}.*${text}`
    case 'sub':
      return `${flags}.*${text}.*`
    case 'dir':
      return `${flags}(.*/)?${escapeRegex(value.replaceAll(/^\/|\/$/g, ''))}(/.*)?`
    case 'dom':
      return `${flags}(.*[/.:])?${escapeRegex(value.replaceAll(/^\.|\.$/g, ''))}([/.:].*)?`
    case 'reg': {
      const regex = wholePattern(flags + value)
      return isRegex(regex) ? regex : null
    }
    default:
      return null
  }
}

const PREDEFINED: Readonly<Record<string, readonly string[]>> = {
  ...{ TRUE: ['always_true'], FALSE: ['always_false'], METH_CONNECT: ['method', 'CONNECT'] },
  ...{ METH_DELETE: ['method', 'DELETE'], METH_GET: ['method', 'GET', 'HEAD'], METH_HEAD: ['method', 'HEAD'] },
  ...{ METH_OPTIONS: ['method', 'OPTIONS'], METH_POST: ['method', 'POST'], METH_PUT: ['method', 'PUT'] },
  ...{ LOCALHOST: ['src', '127.0.0.1/8', '::1'], HTTP: ['always_true'], HTTP_URL_SLASH: ['path', '-m', 'beg', '/'] },
}

/**
 * Reads the condition of a line, such as `if a !b or { path /c }` or `unless …`. A line without a condition always
 * applies.
 */
export function readCondition(
  words: readonly string[],
  acls: ReadonlyMap<string, readonly (readonly string[])[]>,
  facts: PortFacts,
): Condition {
  const [first, ...rest] = words
  if (first === undefined) return { kind: 'always', value: true }
  if (first !== 'if' && first !== 'unless') return unknown(`${first.slice(0, 40)} is not understood`)
  const choices: Condition[][] = [[]]
  for (let index = 0; index < rest.length; index++) {
    let word = rest[index] ?? ''
    if (word === 'or' || word === '||') {
      choices.push([])
      continue
    }
    let isNegated = false
    while (word.startsWith('!')) {
      isNegated = !isNegated
      word = word === '!' ? (rest[++index] ?? '') : word.slice(1)
    }
    let found: Condition
    if (word === '{') {
      const end = rest.indexOf('}', index)
      found = end === -1 ? unknown('found { without }') : readTest(rest.slice(index + 1, end), facts)
      index = end === -1 ? rest.length : end
    } else {
      const tests = acls.get(word) ?? (Object.hasOwn(PREDEFINED, word) ? [PREDEFINED[word] ?? []] : null)
      found =
        tests === null
          ? unknown(`there is no acl ${word.slice(0, 40)}`)
          : { kind: 'any', of: tests.map((test) => readTest(test, facts)) }
    }
    choices.at(-1)?.push(isNegated ? { kind: 'not', of: found } : found)
  }
  const whole: Condition = { kind: 'any', of: choices.map((of) => ({ kind: 'all', of })) }
  return first === 'if' ? whole : { kind: 'not', of: whole }
}
